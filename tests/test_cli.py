"""The command line: what it prints, its exit status, and one-line errors without a traceback."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import stickslip as ss
from stickslip.cli import main


@pytest.fixture
def call(monkeypatch, capsys):
    """``call("run", "incline")`` → (exit status, stdout, stderr)."""

    def _call(*arguments):
        monkeypatch.setattr(sys, "argv", ["stickslip", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "150")
        with pytest.raises(SystemExit) as exit_:
            main()
        out, err = capsys.readouterr()
        return exit_.value.code or 0, out, err

    return _call


@pytest.mark.parametrize(
    "command",
    [
        (),
        ("run",),
        ("solve",),
        ("learn",),
        ("list",),
        ("doctor",),
        ("bench",),
        ("bench", "dynamics"),
        ("reproduce",),
        ("reproduce", "expo"),
    ],
    ids=" ".join,
)
def test_help_shows_an_example(call, command):
    status, out, _ = call(*command, "--help")
    assert status == 0
    if command not in ((), ("bench",), ("reproduce",)):
        assert "Example" in out
        assert "stickslip " + " ".join(command) in out


def test_version(call):
    assert call("--version") == (0, f"stickslip {ss.__version__}\n", "")


def test_list_names_everything(call):
    status, out, _ = call("list")
    assert status == 0
    for name in (*ss.SCENES, "solo12", "romeo", "a1", *ss.METHODS, "spring-damper"):
        assert name in out


def test_list_keeps_units_in_brackets(call, monkeypatch):
    _, out, _ = call("list")
    text = " ".join(out.replace("│", " ").split())
    for words in ("gap [m] below which contacts", "do not bounce [m/s]"):
        assert words in text


def test_failures_of_a_method_without_problems(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call("run", "incline", "--time", 0.01, "--method", "expo")[0] == 0
    status, _, err = call("run", "incline", "--time", 0.01, "--method", "expo", "--failures", "here")
    assert status == 2
    assert "failures: expo solves no complementarity problem" in err


def test_run_records_and_plots(call, tmp_path):
    record, plot = tmp_path / "run.h5", tmp_path / "run.png"
    status, out, _ = call("run", "incline", "--time", 0.2, "--record", record, "--plot", plot)
    assert status == 0
    assert "real-time factor" in out
    log = ss.load(record)
    assert log.outcome == "complete"
    assert log.time[-1] == pytest.approx(0.2)
    assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.filterwarnings("ignore::stickslip.errors.PainleveWarning")  # what painleve-rod is there to show
@pytest.mark.parametrize("scene", sorted(ss.SCENES))
def test_every_bundled_scene_runs(call, scene):
    status, out, err = call("run", scene, "--time", 0.1)
    assert (status, err) == (0, "")
    assert scene in out


def test_run_a_file(call, tmp_path):
    path = tmp_path / "ball.xml"
    path.write_text(
        "<mujoco><worldbody><geom type='plane' size='0 0 1'/>"
        "<body pos='0 0 1'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>"
    )
    status, out, _ = call("run", path, "--time", 0.1)
    assert status == 0
    assert "ball" in out


def test_run_a_urdf_on_a_floor(call, tmp_path):
    path = tmp_path / "ball.urdf"
    path.write_text(
        "<robot name='ball'><link name='ball'><inertial><mass value='1'/><inertia ixx='0.004' iyy='0.004' izz='0.004' "
        "ixy='0' ixz='0' iyz='0'/></inertial><collision><geometry><sphere radius='0.1'/></geometry></collision></link>"
        "</robot>"
    )
    assert "nothing in this scene can touch" in call("run", path, "--floating-base", "--time", 0.1)[1]
    status, out, _ = call("run", path, "--floating-base", "--floor", -0.15, "--time", 1.0)
    assert status == 0
    assert "weight 9.81 N" in out


def test_doctor_writes_its_findings(call, tmp_path):
    call("doctor", "romeo", "--json", tmp_path / "romeo.json")
    assert json.loads((tmp_path / "romeo.json").read_text())["summary"]


def test_doctor_exit_status(call, tmp_path):
    assert call("doctor", "solo12")[0] == 0
    bad = tmp_path / "bad.urdf"
    bad.write_text(
        "<robot name='r'><link name='base'/><link name='arm'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='5' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        "<joint name='j' type='continuous'><parent link='base'/><child link='arm'/></joint></robot>"
    )
    status, out, _ = call("doctor", bad)
    assert status == 1
    assert "arm" in out


MISSING = "/nowhere/robot.xml"


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("run", "solo12-dorp"), ("unknown scene 'solo12-dorp'", "did you mean 'solo12-drop'")),
        (("run", MISSING), (MISSING, "no such file")),
        (("run", "incline", "--method", "expoo"), ("unknown method 'expoo'", "semi-implicit-euler")),
        (("run", "incline", "--method", "semi-implicit-euler/pgs"), ("cannot be paired", "possible:")),
        (("run", "incline", "--dt", -1), ("dt: expected a positive number", "-1")),
        (("run", "incline", "--time", -1), ("duration: expected", "-1")),
        (("run", "incline", "--dt", "1e-300"), ("dt: expected", "from 1e-12")),
        (("run", "incline", "--dt", "nan"), ("dt: expected", "nan")),
        (("run", "incline", "--time", "1e300"), ("at most 1e+10 steps",)),
        (("run", "incline", "--time", "9e4", "--dt", "1e-5", "--record-dt", "1e-5"), ("one that fits the memory",)),
        (("run", "ball", "--method", "coulomb", "--failures", __file__), ("failures: expected a folder",)),
        (("run", "incline", "--time", "2s"), ("--time: expected a number, got '2s'", "stickslip run --help")),
        (("run", "incline", "--dt=1ms"), ("--dt: expected a number, got '1ms'",)),
        (("run", "incline", "--record", "x.csv"), ("record: expected a name that ends in .h5", "log.to_csv")),
        (("veiw", "ball"), ("unknown command 'veiw': did you mean 'view'",)),
        (("bench", "steps"), ("unknown command 'steps': did you mean 'step'",)),
        (("compare", "ball", "--methods", "expo", "rk4"), ("argument(s) (rk4)", "expo,coulomb", "compare --help")),
        (("run", "[/red].xml"), ("[/red].xml",)),
        (("compare", "ball", "--runs", "1000000"), ("runs: expected a whole number ≥ 1 and ≤ 20",)),
        (("compare", "ball", "--jobs", "99999999"), ("jobs: expected",)),
        (("compare", "ball", "--time", "1e300"), ("time: expected",)),
        (("compare", "ball", "--methods", "a" + 9000 * " " + "[["), ("--methods: expected names",)),
        (("view", "ball", "--port", 99999), ("Invalid value for '--port'",)),
        (("run", "incline", "--record", "/nowhere/run.h5"), ("/nowhere", "run.h5")),
        (("run", "incline", "--time", 0.01, "--plot", "/nowhere/x.png"), ("/nowhere/x.png", "cannot be written")),
        (("run", "incline", "--time", 0.01, "--plot", "x.foo"), ("x.foo", ".png")),
        (("run", "solo12"), ("is a robot, not a scene", "solo12-drop")),
        (("bench", "dynamics", "--out", "/proc/x"), ("/proc/x", "cannot be made")),
        (("bench", "dynamics", "--json", "/nowhere/x.json"), ("/nowhere", "does not exist")),
        (("doctor", "solo12", "--json", "/nowhere/x.json"), ("/nowhere", "does not exist")),
        (("run", "incline", "--record-dt", 1e-7), ("record_dt", "multiple of dt")),
        (
            ("run", "incline", "--method", "expo", "--option", "matmuls=2", "--option", "matmuls=3"),
            ("--option: expected matmuls once", "matmuls=2", "matmuls=3"),
        ),
        (("run", "ball", "--option", "dt=1"), ("--option: expected an option of the method, got 'dt=1'",)),
        (("run", "ball", "--record", "same.png", "--plot", "./same.png"), ("record and plot: expected two files",)),
        (("run", "x" * 5000), ("unknown scene",)),
        (("export", "r.h5", "--csv", "a", "--qpos", "a"), ("qpos and csv: expected two files",)),
        (("run", "incline", "--option", "matmuls"), ("--option: expected NAME=VALUE", "matmuls")),
        (("doctor", MISSING), (MISSING,)),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_bad_input_is_one_line_that_names_the_culprit(call, arguments, parts):
    status, out, err = call(*arguments)
    text = err if err else out
    assert status in (1, 2)
    assert "Traceback" not in out + err
    for part in parts:
        assert part in text
    if status == 2:
        assert err.startswith("error: ")
        assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("<mujoco><worldbody>", "line"),
        ("", "empty"),
        ("<html/>", "html"),
        ("<mujoco><worldbody><body><joint type='screw'/><geom size='1'/></body></worldbody></mujoco>", "screw"),
        ("<mujoco><worldbody/><actuator><motor joint='knee'/></actuator></mujoco>", "knee"),
    ],
    ids=["broken XML", "empty", "not a model", "unknown joint type", "unknown joint"],
)
def test_bad_files_are_one_line(call, tmp_path, content, part):
    path = tmp_path / "model.xml"
    path.write_text(content)
    status, _, err = call("run", path)
    assert status == 2
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "model.xml" in err
    assert part in err


@pytest.mark.filterwarnings("ignore::stickslip.errors.UnstableStepWarning")
@pytest.mark.filterwarnings("ignore::stickslip.errors.StickslipWarning")
def test_divergence_is_one_line(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, _, err = call("run", "solo12-drop", "--dt", 0.01)
    assert status == 2
    assert "try a smaller dt" in err
    assert err.count("error: ") == err.count("\n") == 1


def test_the_installed_command_works():
    """The entry point itself, in a process of its own."""
    result = subprocess.run(
        [sys.executable, "-m", "stickslip", "run", "tumble", "--time", "0.1"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "tumble" in result.stdout


def test_a_killed_run_leaves_a_readable_recording(tmp_path):
    """A real SIGKILL of a real run."""
    path = tmp_path / "killed.h5"
    command = [sys.executable, "-m", "stickslip", "run", "chain", "--time", "10000", "--record", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline and not (path.exists() and len(ss.load(path)) > 200):
            time.sleep(0.1)
        seen = len(ss.load(path))
        assert ss.load(path).outcome == "running"
    finally:
        process.kill()
        process.wait()
    log = ss.load(path)
    assert log.outcome == "killed"
    assert len(log) >= seen > 200
    for name in ("time", "q", "v", "pose", "energy", "steps"):
        assert len(getattr(log, name)) == len(log)
        assert np.all(np.isfinite(getattr(log, name)))
    np.testing.assert_allclose(np.diff(log.time), 0.01)
    assert log.contact_start[-1] == len(log.contact("force"))


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is not a signal that can be sent there")
def test_ctrl_c_says_what_is_left(tmp_path):
    """A real SIGINT of a real run. Shells start background jobs, of which this test may be one, with SIGINT ignored."""
    path = tmp_path / "run.h5"
    command = [sys.executable, "-m", "stickslip", "run", "chain", "--time", "10000", "--record", str(path)]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 240.0  # kernels may have to be compiled first
        while time.monotonic() < deadline and not (path.exists() and len(ss.load(path)) > 1):
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    log = ss.load(path)
    assert (process.returncode, log.outcome) == (130, "interrupted")
    assert "Traceback" not in err
    line = err.strip().splitlines()[-1]
    assert line.startswith("interrupted at t = ")
    assert f"{str(path)!r} holds {len(log)} frames up to {log.time[-1]:.6g} s" in line
    assert f"stickslip.load({str(path)!r})" in line


def test_ctrl_c_before_anything_is_recorded(call, monkeypatch, tmp_path):
    """An earlier recording is not taken for one of this run."""
    path = tmp_path / "earlier.h5"
    ss.Simulation(ss.SCENES["incline"].build().scene).run(0.1, record=path)

    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(ss.Simulation, "run", stopped)
    for arguments in ((), ("--record", path)):
        status, _, err = call("run", "incline", *arguments)
        assert status == 130
        assert err.startswith("interrupted at t = 0 s of 1 s; nothing was recorded")
    assert ss.load(path).outcome == "complete"


def test_readme_example_in_words():
    """The ten lines that users copy first."""
    scene = ss.Scene()
    scene.add_plane(friction=0.8)
    robot = scene.add_robot("solo12", pos=(0, 0, 0.35))
    sim = ss.Simulation(scene)
    log = sim.run(0.5, controller=ss.control.PD(robot, kp=10, kd=0.2))
    assert np.all(np.isfinite(log.q))
    assert log.q[0, 2] == pytest.approx(0.35)
