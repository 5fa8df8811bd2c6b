"""What leaves a recording for other programs is what is in it, to the last bit."""

import csv

import mujoco
import numpy as np
import pytest
from made_up_run import contacts, frame, made_up_model
from typer.testing import CliRunner

import stickslip as ss
from stickslip.cli import app
from stickslip.record import Recorder, export


@pytest.fixture(scope="module")
def drop(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "drop.h5"
    setup = ss.SCENES["solo12-drop"].build()
    ss.Simulation(setup.scene, "expo", 1e-3).run(0.25, controller=setup.controller, record=path).close()
    return path


@pytest.fixture
def log(drop):
    with ss.load(drop) as log:
        yield log


def test_qpos_replays_in_mujoco(log):
    time, qpos, qvel, ctrl, xml = log.to_qpos()
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    bodies = [model.body(name).id for name in log.names.links[1:]]
    assert np.array_equal(time, log.time)
    assert ctrl.shape == (len(time), model.nu)
    for i in range(len(time)):
        data.qpos[:], data.qvel[:] = qpos[i], qvel[i]
        mujoco.mj_forward(model, data)
        assert np.allclose(data.xpos[bodies], log.pose[i, 1:, :3], atol=1e-12)
        assert np.allclose(np.abs(np.sum(data.xquat[bodies] * log.pose[i, 1:, 3:], axis=1)), 1.0, atol=1e-12)
        mujoco.mj_energyVel(model, data)
        assert data.energy[1] == pytest.approx(log.energy[i, 0], rel=1e-9)  # so the velocities are MuJoCo's, too


def test_the_archive_holds_the_same(log, tmp_path):
    path = log.to_qpos().save(tmp_path / "drop.npz")
    with np.load(path) as archive:
        assert np.array_equal(archive["qpos"], log.q)
        assert np.array_equal(archive["qvel"], log.v)
        assert str(archive["xml"]) == log.scene_xml
    with pytest.raises(ss.InputError, match=r"ends in \.npz"):
        log.to_qpos().save(tmp_path / "drop.npy")


def test_a_recording_without_a_scene_has_no_qpos():
    model = made_up_model()
    with Recorder(None, model) as recorder:
        recorder.append(frame(model, 0), contacts(0))
    with pytest.raises(ss.RecordingError, match="holds its scene as MJCF"):
        recorder.log().to_qpos()


def read(path):
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    assert len(set(header)) == len(header)
    return {name: [row[k] for row in rows] for k, name in enumerate(header)}


@pytest.mark.parametrize("block", [3, 2000])
def test_every_bit_of_a_frame_is_in_the_table(log, tmp_path, monkeypatch, block):
    monkeypatch.setattr(export, "BLOCK", block)
    table = read(log.to_csv(tmp_path / "drop.csv"))
    values = {name: np.array(column, dtype=float) for name, column in table.items()}
    assert np.array_equal(values["time [s]"], log.time)
    columns = list(values)
    first = columns.index("q root x")
    assert np.array_equal(np.stack([values[name] for name in columns[first : first + 19]], axis=1), log.q)
    assert np.array_equal(values["v FL_KFE"], log.v[:, log.header.joint_v[log.names.joints.index("FL_KFE")]])
    assert np.array_equal(values["pose base_link z [m]"], log.pose[:, log.link("base_link"), 2])
    assert np.array_equal(values["kinetic energy [J]"], log.energy[:, 0])
    assert np.array_equal(values["control HR_HAA"], log.control[:, log.names.actuators.index("HR_HAA")])


@pytest.mark.parametrize("block", [3, 2000])
def test_every_bit_of_a_contact_is_in_the_table(log, tmp_path, monkeypatch, block):
    monkeypatch.setattr(export, "BLOCK", block)
    table = read(log.to_csv(tmp_path / "contacts.csv", "contacts"))
    assert len(log.contact("gap")) > 20
    assert np.array_equal(np.array(table["frame"], dtype=int), log.contact_frame())
    assert np.array_equal(np.array(table["gap [m]"], dtype=float), log.contact("gap"))
    assert np.array_equal(np.array(table["force tangent 2 [N]"], dtype=float), log.contact("force")[:, 2])
    assert np.array_equal(np.array(table["time [s]"], dtype=float), log.time[log.contact_frame()])
    assert table["link 2"] == [log.names.links[b] for b in log.contact("link2")]


def test_a_table_of_nothing(tmp_path):
    model = made_up_model()
    log = Recorder(None, model).log()
    assert set(map(len, read(log.to_csv(tmp_path / "a.csv")).values())) == {0}
    assert set(map(len, read(log.to_csv(tmp_path / "b.csv", "contacts")).values())) == {0}
    with pytest.raises(ss.InputError, match="'frames' or 'contacts'"):
        log.to_csv(tmp_path / "c.csv", "energies")


def invoke(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_export_from_the_command_line(drop, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    result = invoke("export", drop, "--qpos", out / "q.npz", "--csv", out / "f.csv", "--contacts-csv", out / "c.csv",
                    "--frames", out / "film", "--gif", out / "film.gif", "--video", out / "again.gif",
                    "--size", "64x36", "--fps", 10, "--camera=-60,20")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in out.iterdir()) == ["again.gif", "c.csv", "f.csv", "film", "film.gif", "q.npz"]
    assert sorted(path.name for path in (out / "film").iterdir()) == [f"frame-0000{k}.png" for k in range(3)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "at least one of --qpos"),
        (("--frames", "film", "--size", "big"), "WIDTHxHEIGHT"),
        (("--frames", "film", "--size", "8x8"), "from 16 to 8192"),
        (("--frames", "film", "--camera", "left"), "AZIMUTH,ELEVATION"),
        (("--frames", "film", "--camera=0,90"), "elevation: expected an angle"),
        (("--frames", "film", "--fps", "0"), "fps: expected"),
        (("--frames", "film", "--speed", "-1"), "speed: expected"),
        (("--frames", "film", "--follow", "tail"), "unknown link 'tail'"),
        (("--gif", "film.mp4"), r"ends in \.gif"),
        (("--video", "film.avi"), r"ends in \.mp4 or \.gif"),
        (("--csv", "nowhere/run.csv"), "does not exist"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_export_refuses_in_one_line(drop, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    result = invoke("export", drop, *words)
    assert isinstance(result.exception, ss.StickslipError)
    with pytest.raises(ss.StickslipError, match=message):
        raise result.exception
