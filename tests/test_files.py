"""Files appear whole or not at all, and unfinished ones of killed processes are removed."""

import os
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest

import stickslip as ss
from stickslip import file_lock, files
from stickslip.cli.view import view
from stickslip.errors import InputError, RecordingError
from stickslip.problem_files import FCLibSolution, ProblemFile, ProblemWriter, write_fclib
from stickslip.problem_files.fclib import write_fclib_solution
from stickslip.record import load
from stickslip.record.picture.video import find_ffmpeg


@pytest.fixture
def small_disk():
    """Writes beyond 10 kB of a file fail, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, ignored)


def test_a_file_takes_its_place_at_the_end(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")
    path.chmod(0o640)
    with files.write_whole(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
        assert part.suffix == ".csv"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["table.csv"]


def test_a_full_disk_leaves_what_was_there(tmp_path, small_disk):
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises(RecordingError, match=r"cannot write .*table\.csv.*File too large"):
        files.write_text(path, "new" * 10_000)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_an_error_of_the_writer_passes_and_leaves_nothing(tmp_path):
    def write():
        with files.write_whole(tmp_path / "a.png") as part:
            part.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write()
    assert not os.listdir(tmp_path)


def test_data_and_models_are_not_replaced_by_something_else(tmp_path):
    data, model, script = tmp_path / "run.h5", tmp_path / "r.XML", tmp_path / "r.py"
    data.write_bytes(files.SIGNATURE + b"and so on")
    model.write_text("<mujoco/>")
    script.write_text("pass")
    for path, what in ((data, "an HDF5 file"), (model, "a model file"), (script, "a Python file")):
        before = path.read_bytes()
        with pytest.raises(RecordingError, match=f"is {what}, which would be lost"):
            files.write_text(path, "a table")
        assert path.read_bytes() == before
    files.write_text(model, "<robot/>", kind=files.MODEL)
    files.write_text(tmp_path / "new.xml", "whatever")
    with pytest.raises(InputError, match="csv and gif: expected two files"):
        files.check_distinct(csv=tmp_path / "a", qpos=None, gif=tmp_path / "." / "a", frames=tmp_path / "b")


def test_devices_and_links(tmp_path):
    files.write_text("/dev/null", "nothing")
    assert not os.path.isfile("/dev/null")
    (tmp_path / "link.txt").symlink_to(tmp_path / "there.txt")
    files.write_text(tmp_path / "link.txt", "through")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "there.txt").read_text() == "through"
    with pytest.raises(RecordingError, match="does not exist"):
        files.write_text(tmp_path / "no" / "a.txt", "")


def test_what_killed_processes_left_is_removed(tmp_path):
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    ended = int(done.stdout)
    left, held = tmp_path / f"{files.BESIDE}{ended}-0.png", tmp_path / f"{files.BESIDE}{ended}-1.png"
    running = tmp_path / f"{files.BESIDE}{os.getpid()}-0.h5"
    mine = tmp_path / "notes.123.new"
    for path in (left, held, running, mine):
        path.touch()
    lock = file_lock.hold(held)
    files.write_text(tmp_path / "a.txt", "")
    lock.release()
    assert not left.exists()
    assert held.exists(), "somebody writes it"
    assert running.exists()
    assert mine.exists()


def test_two_processes_do_not_write_to_one_folder(tmp_path):
    with files.folder_to_oneself(tmp_path / "runs"), pytest.raises(RecordingError, match="in use"):  # noqa: SIM117
        with files.folder_to_oneself(tmp_path / "runs"):
            pass
    with files.folder_to_oneself(tmp_path / "runs"):
        pass


@pytest.mark.parametrize("write", ["capture", "fclib", "solution"])
def test_problem_files_on_a_full_disk(write, tmp_path, small_disk):
    """The HDF5 library would crash; instead there is one line, and an earlier file stays as it was."""
    from made_up_problems import cube

    path, W = tmp_path / "file.h5", np.diag(np.arange(1.0, 301.0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**26, resource.RLIM_INFINITY))
    problem = ss.solvers.FrictionProblem(W, np.ones(300), np.full(100, 0.5))
    before = b""
    if write != "capture":
        write_fclib(path, ss.solvers.FrictionProblem(W[:3, :3], np.ones(3), np.full(1, 0.5)))
        write_fclib(path, problem) if write == "solution" else None
        before = path.read_bytes()
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**16 if write == "capture" else 9000, resource.RLIM_INFINITY))

    def capture():
        with ProblemWriter(path) as writer:
            for _ in range(50):
                writer.append(cube())

    zero = FCLibSolution(np.zeros(300), np.zeros(300))
    writers = {
        "capture": capture,
        "fclib": lambda: write_fclib(path, problem),
        "solution": lambda: write_fclib_solution(path, zero),
    }
    with pytest.raises(RecordingError, match="File too large"):
        writers[write]()
    assert os.listdir(tmp_path) == ["file.h5"]
    if write == "capture":
        with ProblemFile(path) as file:
            list(file)
    else:
        assert path.read_bytes() == before


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("recording") / "run.h5"
    ss.Simulation(ss.scenes.find("ball")[1].scene, "semi-implicit-euler").run(0.5, record=path)
    return path


@pytest.mark.parametrize(
    "write", ["csv", "contacts", "gif", "mp4", "frames", "plot", "qpos", "share", "scene", "reference"]
)
def test_no_writer_leaves_a_part_of_a_file(write, tmp_path, recording, small_disk):
    """Each writer of whole files meets the full disk while it writes."""
    if write == "mp4" and find_ffmpeg() is None:
        pytest.skip("FFmpeg is not installed")
    log, out = load(recording), tmp_path / "file"
    figure = log.plot("energy").figure
    motion = ss.control.Reference(np.arange(99.0), *np.random.default_rng(0).random((3, 99, 1)), np.ones((99, 1, 2)))
    writers = {
        "csv": lambda: log.to_csv(f"{out}.csv"),
        "contacts": lambda: log.to_csv(f"{out}.csv", "contacts"),
        "gif": lambda: log.gif(f"{out}.gif", fps=10, size=(160, 90)),
        "mp4": lambda: log.video(f"{out}.mp4", fps=10, size=(160, 90)),
        "frames": lambda: log.frames(tmp_path, fps=10, size=(160, 90)),
        "plot": lambda: files.save_figure(figure, f"{out}.pdf"),
        "qpos": lambda: log.to_qpos().save(f"{out}.npz"),
        "share": lambda: view([str(recording)], share=out.with_suffix(".html")),
        "scene": lambda: ss.scenes.find("ball")[1].scene.save(f"{out}.xml"),
        "reference": lambda: motion.save(f"{out}.npz"),
    }
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
    with pytest.raises(RecordingError, match="File too large"):
        writers[write]()
    assert not os.listdir(tmp_path)
