"""The scorecard says what is known in closed form, and catches recordings that lie."""

import math
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

import stickslip as ss
from stickslip.lab.compare import METRICS, Timing, score

MASS, MU, SPEED, DT, G = 2.0, 0.5, 1.0, 0.01, 9.81


def block(velocity=(SPEED, 0, 0, 0, 0, 0), friction=MU):
    scene = ss.Scene(name="block")
    scene.add_plane(friction=friction)
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.05), mass=MASS)
    return scene, np.array(velocity, dtype=float)


def run(made, method="coulomb", dt=DT, seconds=0.4, record=None, record_dt=None, **options):
    scene, velocity = made
    sim = ss.Simulation(scene, method, dt)
    sim.set_state(v=velocity)
    return sim.run(seconds, record=record, record_dt=record_dt or dt, **options)


@pytest.fixture(scope="module")
def truth(tmp_path_factory):
    """A block that slides for 0.2 s and then stands, by Coulomb's law."""
    path = tmp_path_factory.mktemp("block") / "run.h5"
    run(block(), record=path).close()
    return path


@pytest.fixture
def changed(truth, tmp_path):
    """The score of that recording after ``change(file)``, with options of ``score``."""

    def make(change, **options):
        path = shutil.copy(truth, tmp_path / "changed.h5")
        with h5py.File(path, "r+") as file:
            change(file)
        with ss.load(path) as log:
            return score(log, **options)

    return make


def of_frame(file, k):
    start = file["contact/start"][k : k + 2]
    return slice(*start)


def edit(name, where, change):
    """A function that changes rows of an array of a file."""

    def apply(file):
        values = file[name][()]
        rows = where(file) if callable(where) else where
        values[rows] = change(values[rows])
        file[name][...] = values

    return apply


# -- closed forms --------------------------------------------------------------------------------------------------


def test_a_sliding_block_keeps_all_laws(truth):
    with ss.load(truth) as log:
        scores = score(log)
    assert scores["energy_lost"] == pytest.approx(0.5 * MASS * SPEED**2, rel=1e-9)
    for name in ("penetration_max", "signorini", "cone", "dissipation", "momentum_error", "creep", "energy_gained"):
        assert abs(scores[name]) < 1e-8, name
    assert scores["unconverged"] == 0.0
    assert scores["joint_drift"] < 1e-12
    for name in ("real_time_factor", "us_per_step", "error_max", "error_rms", "error_final"):
        assert math.isnan(scores[name]), name


@pytest.mark.parametrize(("method", "sign"), [("semi-implicit-euler", 1.0), ("coulomb", 1.0), ("rk4", 0.0)])
def test_free_fall(method, sign):
    """Momentum is exact; positions that move with the new velocity lead by ½·g·dt·t, which is worth m·g times that."""
    scene = ss.Scene()
    scene.add_sphere(0.1, pos=(0, 0, 5), mass=MASS)
    log = run((scene, np.array([0.3, 0, 0, 1.0, 2.0, 3.0])), method, 1e-3, 0.5)
    scores = score(log)
    lost = sign * 0.5 * MASS * G**2 * 1e-3 * 0.5
    assert scores["energy_lost"] == pytest.approx(lost, abs=1e-8)
    assert scores["energy_gained"] < 1e-8
    assert scores["momentum_error"] < 1e-12
    for name in ("signorini", "cone", "dissipation", "creep"):
        assert math.isnan(scores[name]), name


@pytest.mark.filterwarnings("ignore::stickslip.errors.StartWarning")
def test_a_soft_block_is_a_little_soft():
    """It stands as deep as its weight presses the springs that its corners share, and does not creep."""
    scene = ss.Scene()
    scene.add_plane(friction=MU, stiffness=1e4, damping=100.0)
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.05 - MASS * G / 1e4), mass=MASS)
    scores = score(run((scene, np.zeros(6)), "semi-implicit-euler", 1e-3, 0.2))
    assert scores["penetration_mean"] == pytest.approx(MASS * G / 1e4, rel=1e-6)
    assert scores["creep"] < 1e-12
    assert scores["cone"] < 1e-12
    assert scores["signorini"] == 0.0


def test_work_of_motors_is_not_a_gain():
    """A motor lifts a weight on an arm: B stays where it was, to the order of the method."""
    scene = ss.Scene.from_xml("""
    <mujoco><worldbody><body><joint name="j" type="hinge" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .5 0 0" size=".05" mass="1"/></body></worldbody>
      <actuator><motor joint="j" gear="-4"/></actuator></mujoco>""")
    sim = ss.Simulation(scene, "rk4", 1e-3)
    log = sim.run(0.5, controller=lambda t, q, v: [1.0 + math.sin(9 * t)], record_dt=1e-3)
    scores = score(log)
    assert np.ptp(log.energy.sum(1)) > 0.5
    assert scores["energy_gained"] < 1e-7
    assert abs(scores["energy_lost"]) < 1e-7
    assert math.isnan(scores["momentum_error"])  # it hangs on the world


STRUCK = """
<mujoco><option gravity="0 0 0"/><worldbody>
  <body name="bat"><joint type="hinge" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .5 0 0" size=".05" mass="1"/></body>
  <body name="ball" pos=".4 0 -.2"><freejoint/><geom size=".1" mass=".5"/></body>{more}
  </worldbody>{loop}</mujoco>"""
BESIDE = '<body name="other" pos=".4 0 -.5"><freejoint/><geom size=".1" mass=".5"/></body>'


@pytest.mark.parametrize(
    ("more", "loop", "known"),
    [
        ("", "", True),
        (BESIDE, '<equality><connect body1="ball" body2="other" anchor="0 0 -.15"/></equality>', True),
        ("", '<equality><connect body1="ball" anchor="0 0 -.3"/></equality>', False),
        (BESIDE, '<equality><connect body1="ball" body2="bat" anchor="0 0 .1"/></equality>', True),
    ],
    ids=["bat on ball", "two balls tied", "ball tied to the world", "another ball, alone"],
)
def test_momentum_of_what_floats(more, loop, known):
    """A bat on a hinge hits a ball: the ball's momentum is the contact's impulse, whatever the hinge takes. What a loop
    ties to the world, or to what hangs on it, does not float."""
    scene = ss.Scene.from_xml(STRUCK.format(more=more, loop=loop))
    v = np.zeros(scene.compile().nv)
    v[0] = 3.0
    log = run((scene, v), "coulomb", 1e-3, 0.1)
    error = score(log)["momentum_error"]
    assert math.isnan(error) != known
    assert not known or error < 2e-3  # of 0.3 N s; the contact's axes, in which the impulse is recorded, turn by 3 mrad
    assert loop or np.abs(log.v[-1, 1:4]).max() > 0.5


def test_a_bounce_off_a_joint_limit_is_not_a_gain():
    """The springs of limits are in no recording, and count all the same."""
    scene = ss.Scene.from_xml("""
    <mujoco><worldbody><body><joint name="j" type="hinge" axis="0 1 0" limited="true" range="-90 20"/>
      <geom type="capsule" fromto="0 0 0 .5 0 0" size=".05" mass="1"/></body></worldbody></mujoco>""")
    log = ss.Simulation(scene, "rk4", 2e-4).run(0.5, record_dt=4e-4)
    assert log.q.max() > math.radians(20)
    scores = score(log)
    assert scores["energy_gained"] < 1e-4 * scores["energy_lost"]


def test_bodies_that_a_method_does_not_see_overlap():
    """Contacts of a function that knows only the floor: the upper box falls through the lower one, and none says so."""
    scene = ss.Scene()
    scene.add_plane()
    scene.add_box((0.4, 0.4, 0.2), pos=(0, 0, 0.1), mass=1.0)
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.3), mass=1.0)

    def floor(sim):
        sim.contacts.clear()
        for link, (x, y, z) in ((1, sim.state.q[:3]), (2, sim.state.q[7:10])):
            depth = z - (0.1 if link == 1 else 0.05)
            if depth < 0.0:
                sim.contacts.add(0, link, (x, y, 0.0), (0, 0, 1), depth, pair=link)

    sim = ss.Simulation(scene, "semi-implicit-euler", dt=2e-4, collision=floor)
    log = sim.run(0.15, record_dt=1e-3)
    assert log.penetration().max() < 0.01
    assert score(log)["penetration_max"] > 0.05


def test_times_are_those_of_the_stopwatch():
    log = run(block(), seconds=0.02)
    scores = score(log, timing=Timing(wall=0.5, steps=1000, span=2.0))
    assert scores["real_time_factor"] == 4.0
    assert scores["us_per_step"] == 500.0
    with pytest.raises(ss.InputError, match=r"timing\.wall"):
        Timing(wall=0.0, steps=1, span=1.0)


# -- recordings that lie ------------------------------------------------------------------------------------------


def test_a_force_that_pulls(changed):
    scores = changed(edit("contact/force", lambda f: of_frame(f, 30), lambda f: np.array([[-0.2], [1], [1], [1]]) * f))
    assert scores["signorini"] == pytest.approx(0.2 / 4, rel=0.1)  # a quarter of the weight pulled by a fifth


def test_a_force_across_a_gap(changed):
    scores = changed(edit("contact/gap", lambda f: of_frame(f, 30), lambda gap: gap + 3e-3))
    assert scores["signorini"] == pytest.approx(3e-3, rel=1e-6)


def test_a_gap_that_closes_in_the_step_is_none(changed):
    """A body that leaves at 0.5 m/s was on the surface 10 ms ago, when the step with its force began."""

    def leave(file):
        edit("contact/gap", lambda f: of_frame(f, 30), lambda gap: gap + 5e-3)(file)
        edit("contact/velocity", lambda f: of_frame(f, 30), lambda v: v + np.array([0.5, 0, 0]))(file)

    assert changed(leave)["signorini"] < 1e-8


def test_friction_outside_the_cone(changed):
    scores = changed(edit("contact/force", lambda f: of_frame(f, 10), lambda force: force * [1, 1.5, 1.5]))
    assert scores["cone"] == pytest.approx(0.5 * MU / 4, rel=0.6)  # the corner in front carries most


def test_half_of_the_friction(changed):
    scores = changed(edit("contact/force", slice(None), lambda force: force * [1, 0.5, 0.5]))
    assert scores["dissipation"] == pytest.approx(0.5, abs=1e-9)


def test_where_hardly_anything_slides_friction_cannot_fail(changed):
    """Slip of 10 µm, in all, with no friction at all: a hundredth of what 1 mm would be, times μ."""

    def stand(file):
        edit("contact/velocity", slice(None), lambda v: 0.0 * v + np.array([0, 1e-5 / 0.4, 0]))(file)
        edit("contact/force", slice(None), lambda force: 0.0 * force + np.array([MASS * G / 4, 0, 0]))(file)

    assert changed(stand)["dissipation"] == pytest.approx(MU * 0.01, rel=0.02)  # the first frame has no contact forces


def test_friction_across_the_motion(changed):
    scores = changed(edit("contact/force", slice(None), lambda force: force[:, [0, 2, 1]]))
    assert scores["dissipation"] == pytest.approx(1.0, abs=1e-6)
    assert scores["cone"] < 1e-8


def test_a_block_that_creeps(changed):
    scores = changed(edit("contact/velocity", slice(None), lambda v: v + np.array([0, 3e-4, 4e-4])))
    assert scores["creep"] == pytest.approx(5e-4, rel=1e-6)


def test_energy_from_nowhere(changed):
    scores = changed(edit("v", slice(30, None), lambda v: v + np.array([0, 0.2, 0, 0, 0, 0])))
    assert scores["energy_gained"] == pytest.approx(0.5 * MASS * 0.2**2, rel=1e-6)
    assert scores["momentum_error"] == pytest.approx(MASS * 0.2, rel=1e-6)


def test_contact_energy_counts_where_it_is_known(changed):
    assert changed(edit("contact_energy", 20, lambda _: 7.0))["energy_gained"] > 6.0
    assert changed(edit("contact_energy", slice(None), lambda e: e * np.nan))["energy_gained"] < 1e-8


def test_forces_that_do_not_explain_the_motion(changed):
    """One step's normal force left out: its impulse is missing from then on."""
    scores = changed(edit("contact/force", lambda f: of_frame(f, 20), lambda force: 0.0 * force))
    assert scores["momentum_error"] == pytest.approx(MASS * G * DT, rel=0.2)


def test_bodies_in_the_floor(changed):
    scores = changed(edit("q", 12, lambda q: q - [0, 0, 0.004, 0, 0, 0, 0]))
    assert scores["penetration_max"] == pytest.approx(0.004, rel=1e-6)
    assert scores["penetration_mean"] == pytest.approx(0.004 / 41, rel=1e-4)
    assert scores["joint_drift"] == pytest.approx(0.004, rel=1e-6)  # the recorded pose says otherwise


def test_steps_that_did_not_converge(changed):
    assert changed(edit("unconverged", slice(30, None), lambda n: n + 10))["unconverged"] == 10 / 40


def test_a_run_that_diverged(changed, truth):
    """It counts up to its last finite frame, and is infinitely far from any reference."""

    def diverge(file):
        edit("q", slice(25, None), lambda q: q * np.nan)(file)
        edit("v", slice(30, None), lambda v: v * np.inf)(file)
        file["outcome"][()] = np.bytes_("diverged")

    with ss.load(truth) as reference:
        scores = changed(diverge, reference=reference)
    assert scores["error_max"] == scores["error_rms"] == scores["error_final"] == math.inf
    assert scores["energy_lost"] == pytest.approx(0.5 * MASS * SPEED**2, rel=1e-9)


# -- references ----------------------------------------------------------------------------------------------------


def test_errors_against_a_reference(changed, truth):
    """Shifted by 3 mm from frame 20 on, turned by 0.01 rad in the last: by so much, and by what matter moves then."""

    def move(file):
        edit("pose", (slice(20, None), 1, 1), lambda y: y + 3e-3)(file)
        edit("pose", (-1, 1, slice(3, 7)), lambda _: [math.cos(0.005), 0, 0, math.sin(0.005)])(file)

    with ss.load(truth) as reference:
        same, scores = changed(lambda file: None, reference=reference), changed(move, reference=reference)
    assert same["error_max"] == same["error_rms"] == same["error_final"] == 0.0
    spread = (0.2**2 + 0.2**2) / 12  # of a plate 0.2 m by 0.2 m about its middle
    last = 3e-3**2 + 4 * math.sin(0.005) ** 2 * spread
    assert scores["error_final"] == pytest.approx(math.sqrt(last), rel=1e-9)
    assert scores["error_max"] == scores["error_final"]
    assert scores["error_rms"] == pytest.approx(math.sqrt((20 * 3e-3**2 + last) / 41), rel=1e-9)


def test_between_frames_the_reference_goes_straight(truth):
    """Every third frame of a reference: exact at constant speed, and where the frames meet."""
    fall = ss.Scene(gravity=(0, 0, 0))
    fall.add_sphere(0.1, mass=1.0)
    velocity = np.array([1.0, 2.0, 3.0, 0, 0, 0])
    every, third = (run((fall, velocity), "rk4", DT, 0.3, record_dt=k * DT) for k in (1, 3))
    assert score(every, reference=third)["error_max"] < 1e-14
    assert score(third, reference=every)["error_max"] == 0.0
    assert math.isnan(score(third)["momentum_error"])  # of steps between frames no force is known
    assert score(every)["momentum_error"] < 1e-14


def test_another_scene_is_refused(truth):
    fall = ss.Scene()
    fall.add_sphere(0.1, name="other", mass=1.0)
    other = run((fall, np.zeros(6)), "rk4", DT, 0.02)
    with ss.load(truth) as log, pytest.raises(ss.InputError, match="same scene"):
        score(log, reference=other)


def test_a_metric_says_what_it_is():
    page = (Path(__file__).parents[3] / "docs" / "scorecard.md").read_text()
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.better in ("lower", "higher", "")
        assert metric.unit
        assert metric.title
        assert f"| `{name}` | {metric.unit} |" in page
        assert metric.meaning.endswith(".")
