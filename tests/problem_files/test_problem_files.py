"""Problem files: what is in them, that nothing changes on the way, and what is said of damaged and foreign ones."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import h5py
import made_up_problems
import numpy as np
import pytest
from made_up_problems import cube, rod, two_spheres

from stickslip.errors import InputError, RecordingError
from stickslip.hdf5 import Output
from stickslip.problem_files import problem_file
from stickslip.problem_files.problem_file import ProblemFile, ProblemWriter, changed_problems, store_solver_data
from stickslip.problem_files.problem_frame import GROUPS, columns

SHAPES = {  # the field list of the convention, for 2 bodies, 1 contact and no constraints
    "timestep": (),
    "bodies/positions": (2, 3),
    "bodies/quaternions": (2, 4),
    "bodies/velocities": (12,),
    "bodies/forces": (12,),
    "bodies/masses": (2,),
    "bodies/world_inertia_tensors": (6, 3),
    "bodies/ids": (2,),
    "bodies/states": (2,),
    "contacts/points": (1, 3),
    "contacts/normals": (1, 3),
    "contacts/gaps": (1,),
    "contacts/mu_s": (1, 2),
    "contacts/mu_k": (1, 3),
    "contacts/pairs": (1, 2),
    "constraints/rows": (0,),
    "constraints/violations": (0,),
    "constraints/time_derivative": (0,),
    "constraints/bounds": (0, 2),
    "constraints/pairs": (0, 2),
    "constraints/Jacobian": (0, 12),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "problems.h5"


def write(path, *frames, **options):
    with ProblemWriter(path, **options) as writer:
        for frame in frames:
            writer.append(frame)


def same(one, other):
    for group, kind in GROUPS.items():
        for name in columns(kind):
            a, b = getattr(getattr(one, group), name), getattr(getattr(other, group), name)
            assert a.dtype == b.dtype
            assert a.tobytes() == b.tobytes(), f"{group}/{name}"


def test_round_trip_is_exact(path):
    rng = np.random.default_rng(0)
    frames = [cube(rng.normal(size=6)), two_spheres(0.1 + 1e-17), rod()]
    frames[0] = replace(
        frames[0],
        tangents=rng.normal(size=(4, 3)),
        restitution=rng.random(4),
        groups=np.array([0, 1, 4]),
        solver_data={"lemke": {"residuals": rng.random(5)}},
        time=0.125,
        step=7,
    )
    write(path, *frames)
    with ProblemFile(path) as file:
        assert file.numbers == [1, 2, 3]
        for frame, read in zip(frames, file, strict=True):
            same(frame, read)
            assert (read.timestep, read.time, read.step) == (frame.timestep, frame.time, frame.step)
        read = file.read(1)
    for name in ("tangents", "restitution", "groups"):
        assert np.array_equal(getattr(read, name), getattr(frames[0], name))
    assert np.array_equal(read.solver_data["lemke"]["residuals"], frames[0].solver_data["lemke"]["residuals"])


def test_any_tool_finds_the_listed_fields(path):
    write(path, two_spheres(), scene="two spheres")
    found = {}
    with h5py.File(path) as file:
        assert list(file) == ["mbs_frame000001"]
        frame = file["mbs_frame000001"]
        frame.visititems(lambda name, item: found.update({name: item.shape}) if hasattr(item, "shape") else None)
        assert found == SHAPES
        assert set(frame) == {"timestep", "bodies", "contacts", "constraints", "solver_data"}
        assert frame["contacts/pairs"][:].tolist() == [[1, 2]]
        assert frame["bodies/masses"].attrs["units"] == "kg"
        assert file.attrs["scene"] == "two spheres"
        assert file.attrs["normal_convention"].startswith("from the first to the second body")


def test_frames_are_added_to_an_earlier_file(path):
    write(path, cube())
    write(path, cube(), two_spheres(), append=True)
    with ProblemFile(path) as file:
        assert file.numbers == [1, 2, 3]
    write(path, cube())
    with ProblemFile(path) as file:
        assert file.numbers == [1]


def test_histories_are_stored_beside_their_frame(path):
    write(path, cube(), cube())
    for _ in range(2):  # the second time in place of the first
        with changed_problems(path) as file:
            store_solver_data(file, 2, "stewart-trinkle-lcp-lemke", {"residuals": np.array([1.0, 0.1])}, iterations=1)
    with ProblemFile(path) as file:
        assert not file.read(1).solver_data
        assert file.read(2).solver_data["stewart-trinkle-lcp-lemke"]["residuals"].tolist() == [1.0, 0.1]
        same(file.read(1), file.read(2))


KILLED = """
import sys
sys.path.insert(0, sys.argv[1])
from made_up_problems import cube
from stickslip.problem_files.problem_file import ProblemWriter
writer = ProblemWriter(sys.argv[2])
while True:
    writer.append(cube())
    print(writer.flushed, flush=True)
"""


def test_killed_writer_leaves_a_readable_file(path):
    command = [sys.executable, "-c", KILLED, os.path.dirname(made_up_problems.__file__), str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    while int(process.stdout.readline()) < 20:
        pass
    time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with ProblemFile(path) as file:
        assert len(file) >= 20
        for frame in file:
            same(frame, cube())


def test_the_file_at_the_target_is_whole_at_every_instant(path, monkeypatch):
    """Frames are added to a file beside it, so a kill between two writes of HDF5 cannot damage it."""
    replace, now = Output.replace, {}

    def watched(self, shown):
        assert path.read_bytes() == now.setdefault("bytes", path.read_bytes())
        replace(self, shown)
        now["bytes"] = path.read_bytes()
        copy = path.with_name("copy.h5")
        copy.write_bytes(now["bytes"])
        with ProblemFile(copy) as file:
            now["frames"] = len(file)
            for frame in file:
                same(frame, cube())
        copy.unlink()

    monkeypatch.setattr(Output, "replace", watched)
    monkeypatch.setattr(problem_file, "FLUSH_SECONDS", -1.0)
    with ProblemWriter(path) as writer:
        for number in range(1, 12):  # more than one leaf of HDF5's tree of names has room for
            writer.append(cube())
            assert now["frames"] == number
    assert path.read_bytes() == now["bytes"]
    assert os.listdir(path.parent) == [path.name]


def test_a_file_that_was_replaced_by_another_one_is_not_overwritten(path):
    writer = ProblemWriter(path)
    path.unlink()
    path.write_text("mine")
    with pytest.raises(RecordingError, match="another file"):
        writer.append(cube())
    assert path.read_text() == "mine"
    assert os.listdir(path.parent) == [path.name]


def test_foreign_and_missing_files(tmp_path):
    with pytest.raises(RecordingError, match="no such file"):
        ProblemFile(tmp_path / "none.h5")
    with pytest.raises(RecordingError, match="got a folder"):
        ProblemFile(tmp_path)
    text = tmp_path / "text.h5"
    text.write_text("not HDF5")
    with pytest.raises(RecordingError, match="not HDF5"):
        ProblemFile(text)
    with pytest.raises(RecordingError, match="another kind of file"):
        ProblemWriter(text)
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as file:
        file["x"] = 1
    for use in (ProblemFile, ProblemWriter):  # nor is it overwritten
        with pytest.raises(RecordingError, match="without groups mbs_frame"):
            use(other)
    with h5py.File(other) as file:
        assert list(file) == ["x"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda frame: frame.__delitem__("bodies"), "bodies/positions"),
        (lambda frame: frame.__delitem__("contacts/mu_k"), "contacts/mu_k"),
        (lambda frame: frame.__delitem__("timestep"), "timestep"),
        (lambda frame: _put(frame, "bodies/positions", np.zeros((2, 2))), r"shape \(2, 3\)"),
        (lambda frame: _put(frame, "bodies/velocities", np.full(12, np.nan)), "finite numbers"),
        (lambda frame: _put(frame, "bodies/masses", np.array([1.0, 0.0])), "positive masses"),
        (lambda frame: _put(frame, "bodies/quaternions", np.ones((2, 4))), "unit length"),
        (lambda frame: _put(frame, "bodies/states", np.zeros(2)), "states"),
        (lambda frame: _put(frame, "contacts/pairs", np.array([[1, 5]])), "ids of bodies"),
        (lambda frame: _put(frame, "contacts/normals", np.array([[1.0, 1.0, 0.0]])), "unit length"),
        (lambda frame: _put(frame, "contacts/gaps", np.array(["a"], dtype="S1")), "numbers"),
        (lambda frame: _put(frame, "timestep", -1.0), "positive number of seconds"),
    ],
)
def test_damaged_frames_are_named(path, damage, message):
    write(path, two_spheres(), two_spheres())
    with h5py.File(path, "r+") as file:
        damage(file["mbs_frame000002"])
    with ProblemFile(path) as file:
        same(file.read(1), two_spheres())
        with pytest.raises(RecordingError, match=f"mbs_frame000002 of .*{message}"):
            file.read(2)
        with pytest.raises(RecordingError, match="frame 9"):
            file.read(9)


def _put(frame, name, value):
    del frame[name]
    frame[name] = value


def test_truncated_file(path):
    write(path, *[cube()] * 5)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(RecordingError, match="cannot read"):
        ProblemFile(path)


def test_frames_are_checked_when_they_are_made():
    with pytest.raises(InputError, match="timestep"):
        cube(dt=0.0)
    with pytest.raises(InputError, match="groups"):
        replace(cube(), groups=np.array([0, 3]))
    with pytest.raises(InputError, match="tangents"):
        replace(cube(), tangents=np.zeros((3, 3)))
