"""Spring-damper scenes as event-selected systems, against closed forms, rk4 with short steps, and solve_ess."""

import warnings

import numba
import numpy as np
import pytest
from scipy.optimize import brentq

import stickslip as ss
from stickslip.methods.event_selected.contact_events import smallest
from stickslip.scenes.springs import plate_on_springs, preloaded_hopper

G = 9.81
SHARP = {"eps": 1e-8, "rtol": 1e-10, "atol": 1e-12}


def after(scene: ss.Scene, time: float, steps: int = 20, v=None, **options) -> ss.Simulation:
    sim = ss.Simulation(scene, "event-selected", dt=time / steps, **options)
    if v is not None:
        sim.set_state(v=v)
    sim.step(steps)
    return sim


def hop(preload: float, stiffness: float = 200.0, drop: float = 1.0) -> tuple[float, float, float]:
    """Touchdown, stance [s] and lowest gap [m] of 1 kg on an undamped leg, in closed form."""
    fall, w, c = np.sqrt(2 * drop / G), np.sqrt(stiffness), (preload - G) / stiffness

    def gap(t: float) -> float:
        return c * (1 - np.cos(w * t)) - G * fall / w * np.sin(w * t)

    stance = brentq(gap, 0.5 * np.pi / w, 1.9 * np.pi / w, xtol=1e-14)
    return fall, stance, gap(stance / 2)


def test_the_hopper_s_numbers():
    fall, stance, lowest = hop(0.0)
    assert (fall, stance, 1 + lowest) == pytest.approx((0.451523641, 0.244112946, 0.633923341), abs=1e-9)
    scene = preloaded_hopper(preload=0.0).scene
    touchdown = after(scene, fall, **SHARP)
    assert touchdown.state.q[0] + 1.0 == pytest.approx(0.0, abs=1e-7)
    assert after(scene, fall + stance / 2, **SHARP).state.q[0] + 2.0 == pytest.approx(0.633923341, abs=1e-6)
    end = after(scene, 1.147160228, **SHARP)
    assert end.state.q[0] == pytest.approx(0.0, abs=1e-6)
    assert end.state.v[0] == pytest.approx(0.0, abs=1e-6)
    assert (end.stepper.crossings, end.stepper.violations) == (2, 0)


@pytest.mark.parametrize("preload", [5.0, 20.0])
def test_a_preloaded_leg_in_closed_form(preload):
    fall, stance, lowest = hop(preload)
    scene = preloaded_hopper(preload=preload).scene
    low = after(scene, fall + stance / 2, **SHARP)
    assert low.state.q[0] + 1.0 == pytest.approx(lowest, abs=1e-7)
    sim = after(scene, 50 * (2 * fall + stance), 500, **SHARP)
    assert sim.state.q[0] == pytest.approx(0.0, abs=1e-5)  # fifty hops
    assert sim.stepper.crossings == 100


def test_the_error_falls_with_the_square_of_eps():
    fall, stance, _ = hop(20.0)
    scene, time = preloaded_hopper().scene, 1.3 * fall + stance
    exact = -1.0 + G * fall * 0.3 * fall - G / 2 * (0.3 * fall) ** 2
    eps = np.array([1e-2, 1e-3, 1e-4])
    error = [
        abs(after(scene, time, eps=e, rtol=1e-12, atol=1e-13).state.q[0] - exact) for e in eps
    ]  # fmt: skip
    slopes = -np.diff(np.log10(error))
    assert np.all(np.abs(slopes - 2.0) < 0.2), (error, slopes)


def ball() -> ss.Scene:
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    scene.add_sphere(0.1, pos=(0, 0, 0.15), mass=1.0)
    return scene


def box() -> ss.Scene:
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.2), mass=1.0)
    return scene


@pytest.mark.parametrize(
    ("scene", "v", "time", "tolerance"),
    [
        (ball(), [1.0, 0.3, 0, 0, 0, 2.0], 0.3, 6e-4),  # rk4's error: its anchor rolls along to first order
        (box(), [0.5, 0, 0, 0, 1.0, 0], 0.3, 3e-5),
        (ss.SCENES["incline"].build().scene, None, 0.3, 1e-6),
        (ss.SCENES["chain"].build(links=3, height=0.2).scene, None, 0.4, 1e-6),
    ],
    ids=["ball", "box", "incline", "chain"],
)
def test_agreement_with_short_steps(scene, v, time, tolerance):
    sim = after(scene, time, 30, v=v, eps=1e-7, rtol=1e-8, atol=1e-10)
    short = ss.Simulation(scene, "rk4", dt=2e-5)
    if v is not None:
        short.set_state(v=v)
    short.step(round(time / 2e-5))
    np.testing.assert_allclose(sim.state.q, short.state.q, rtol=0, atol=tolerance)
    assert sim.stepper.crossings > 0


def test_short_steps_go_to_the_law_of_slip():
    """A box lands tilted and twists: the direction of friction turns with every step of rk4, and at once here, so that
    rk4 comes nearer only slowly as its steps become shorter."""
    v = [0.5, 0.2, 0, 1.0, 0.5, 0.2]
    limit, distances = after(box(), 0.3, 30, v=v, rtol=1e-8, atol=1e-10).state.q, []
    for dt in (8e-5, 2e-5, 5e-6):
        short = ss.Simulation(box(), "rk4", dt=dt)
        short.set_state(v=v)
        short.step(round(0.3 / dt))
        distances.append(np.linalg.norm(short.state.q[:2] - limit[:2]))
    assert distances[0] < 4e-4
    assert distances[2] < 0.85 * distances[1] < 0.8 * distances[0]


def test_solo12_falls_as_with_short_steps():
    setup, ends = ss.SCENES["solo12-drop"].build(), []
    for method, dt in (("rk4", 2e-5), ("event-selected", 1e-3)):
        sim = ss.Simulation(setup.scene, method, dt=dt)
        sim.run(0.25, controller=setup.controller, record_dt=0.25, progress=False)
        ends.append(sim.state.q.copy())
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-5)


def test_the_step_does_not_decide_the_motion():
    ends = [after(ball(), 0.5, steps, v=[1.0, 0.3, 0, 0, 0, 2.0]).state.q for steps in (5, 500)]
    np.testing.assert_allclose(*ends, rtol=0, atol=2e-5)


def test_at_rest_it_rests():
    sim = after(ball(), 3.0, 30)
    assert sim.state.q[2] == pytest.approx(0.1 - G / 1e5, abs=1e-8)
    assert np.abs(sim.state.v).max() < 1e-7
    crossings = sim.stepper.crossings
    sim.step(10)
    assert (sim.stepper.crossings, sim.stepper.chattering) == (crossings, 0)


def test_a_graze_is_harmless():
    """A point on a spring swings until it just reaches the floor, without speed."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_plane(friction=0.0)
    scene.add_body("point", joint="slide", axis=(0, 0, 1), pos=(0, 0, 0.05), stiffness=100.0).set_inertia(
        1.0, inertia=(1, 1, 1)
    ).add_contact_point("tip")
    scene.set_home("point", 0.05)
    sim = after(scene, 2.0, 40)
    assert sim.state.q[0] == pytest.approx(0.05 * np.cos(20.0), abs=1e-5)


def test_a_force_that_is_no_number_is_a_divergence():
    sim = ss.Simulation(ball(), "event-selected", dt=1e-2)
    sim.inputs.applied[2] = 1e300
    with pytest.raises(ss.errors.DivergedError):
        sim.step(3)


def test_a_leg_that_could_carry_more_than_its_weight_comes_to_rest_on_its_stop():
    """Preload 20 N, weight 9.81 N: neither pressing nor free is at rest; it chatters, and the simulation goes on."""
    sim = after(preloaded_hopper(1.001, preload=20.0, damping=100.0).scene, 3.0, 30)
    assert abs(sim.state.q[0] + 0.001) < 1e-5
    assert abs(sim.state.v[0]) < 1e-2
    assert sim.stepper.chattering > 0


@pytest.mark.parametrize(
    ("stiffness", "damping", "dt"), [(1e5, 300.0, 1.0), (1e4, 2000.0, 0.5), (200.0, 100.0, 2.0), (1e5, 2e4, 1e-3)]
)
def test_chatter_of_stiff_legs_stays_on_the_stop_whatever_the_step(stiffness, damping, dt):
    scene = preloaded_hopper(1.001, preload=20.0, stiffness=stiffness, damping=damping).scene
    sim = ss.Simulation(scene, "event-selected", dt=dt)
    sim.step(round(max(0.5, dt) / dt))
    ends = []
    for _ in range(4):
        sim.step(1)
        ends.append([sim.state.q[0] + 0.001, sim.state.v[0]])
    assert np.all(np.abs(ends) < [1e-3, 0.1])
    assert sim.stepper.chattering > 0


def leg_among(bystanders: int) -> ss.Scene:
    """A leg that will chatter; balls that fall from far above; a mass that swings on a spring, 10 rad/s, by 0.1 m."""
    scene = ss.Scene()
    scene.add_plane(stiffness=1e5, damping=300.0, preload=20.0, friction=0.0)
    leg = scene.add_body("leg", joint="slide", axis=(0, 0, 1), pos=(0, 0, 1.001))
    leg.add_sphere(0.1, mass=1.0, collide=False)
    leg.add_contact_point("foot", pos=(0, 0, -1))
    swing = scene.add_body("swing", joint="slide", axis=(1, 0, 0), pos=(0, 0, 9.0), stiffness=100.0)
    swing.add_sphere(0.1, mass=1.0, collide=False)
    scene.set_home("swing", 0.1)
    for i in range(bystanders):
        scene.add_sphere(0.1, pos=(3.0 * i + 5.0, 0, 1000.0), mass=1.0)
    return scene


def test_others_move_on_while_one_leg_chatters():
    sim = after(leg_among(5), 1.0, 4, eps=1e-8)
    assert sim.stepper.chattering == 4
    assert sim.stepper.crossings < 4000
    assert sim.state.q[0] == pytest.approx(-0.001, abs=1e-4)
    assert sim.state.q[1] == pytest.approx(0.1 * np.cos(10.0), abs=2e-6)
    np.testing.assert_allclose(sim.state.q[4::7], 1000.0 - G / 2, rtol=0, atol=2e-6)


def test_chatter_goes_on_from_a_snapshot_to_the_bit():
    sim = after(leg_among(1), 0.5, 5)
    saved, ends = sim.snapshot(), []
    for _ in range(2):
        sim.restore(saved)
        sim.step(4)
        ends.append(np.concatenate([sim.state.q, sim.state.v]))
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize(("time", "q", "v"), [(0.5, -0.95, 0.0), (0.2, -1.1, 0.01)], ids=["lifted", "pushed in"])
def test_a_state_written_directly_has_a_new_mask(time, q, v):
    ends = []
    for direct in (True, False):
        sim = after(preloaded_hopper().scene, time, 20, recovery_time=0)
        if direct:
            sim.state.q[0], sim.state.v[0] = q, v
        else:
            sim.set_state(q=[q], v=[v])
        sim.step(2)
        ends.append([sim.state.q[0], sim.state.v[0]])
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-6)


@pytest.mark.parametrize("start", [-0.2, -0.2003, -0.2011])
def test_a_mocap_body_that_touches_between_two_steps(start):
    """It stands still within a step, so that no guard is crossed where it meets the ball."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box((0.1, 1, 1), pos=(start, 0, 0), mocap=True, name="paddle", friction=0.0, stiffness=1e5, damping=0.0)
    scene.add_sphere(0.1, mass=1.0, friction=0.0)
    sim = ss.Simulation(scene, "event-selected", dt=1e-3)
    sim.prescribe("paddle", lambda t: (start + 2.0 * t, 0, 0))
    sim.step(50)
    assert 1.99 < sim.state.v[0] < 5.0
    assert sim.stepper.crossings >= 1


def test_a_short_meeting_in_a_long_step():
    """A ball at 10 m/s hits another while both fall: in free flight nothing but max_step makes steps short."""
    scene = ss.Scene()
    scene.add_plane()
    scene.add_sphere(0.1, pos=(-3, 0.05, 2), mass=1.0)
    scene.add_sphere(0.1, pos=(0, 0, 2), mass=1.0)
    v = np.concatenate([[10.0], np.zeros(11)])
    long, short = after(scene, 0.6, 1, v), after(scene, 0.6, 600, v)
    assert (long.stepper.crossings, short.stepper.crossings) == (2, 2)
    np.testing.assert_allclose(long.state.v, short.state.v, rtol=0, atol=2e-3)
    assert after(scene, 0.2, 1, v, max_step=1e-3).stepper.substeps >= 200


def test_plate_against_solve_ess():
    n, height, tilt, time = 4, 1.3, 0.1, 1.0
    K, B, P, tips = 200.0 / n, 1.0 / n, 2.0 / n, np.linspace(-1.0, 1.0, n)

    def depth(x):  # of the tips behind the underside, along its normal
        across, above = tips - x[0], 1.0 - x[1]
        return above * np.cos(x[2]) + across * np.sin(x[2]), across * np.cos(x[2]) - above * np.sin(x[2])

    def f(x, b):
        deep, along = depth(x)
        rate = -x[4] * np.cos(x[2]) - x[3] * np.sin(x[2]) + along * x[5]
        force = np.where(b[::2], np.maximum(0.0, P + K * deep + B * rate), 0.0)
        push, turn = force.sum(), -(force * along).sum()
        return np.array([*x[3:], push * np.sin(x[2]), push * np.cos(x[2]) - G, 3.0 * turn])

    def h(x):
        return np.repeat(depth(x)[0], 2) * np.tile([1.0, -1.0], n)

    turns = np.kron(np.eye(n, dtype=bool), ~np.eye(2, dtype=bool))
    x0 = np.array([0.0, height, tilt, 0.0, 0.0, 0.0])
    truth = ss.solve_ess(f, h, None, (0.0, time), x0, 1e-5, reset=turns, rtol=1e-10, atol=1e-12, t_eval=[time])
    scene = plate_on_springs(n, height=height, tilt=tilt, preload=2.0).scene
    sim = after(scene, time, 20, rtol=1e-10, atol=1e-12)
    state = np.concatenate([sim.state.q + np.array([0.0, height, 0.0]), sim.state.v])
    np.testing.assert_allclose(state, truth.y[:, -1], rtol=0, atol=1e-6)
    assert sim.stepper.crossings == len(truth.crossings.t) > n


def test_a_new_state_has_a_new_mask():
    sim = after(preloaded_hopper().scene, hop(20.0)[0] + 0.05, 20)
    assert sim.stepper.flow.crossed[0]
    sim.set_state(q=[1.0], v=[0.0])
    sim.step(1)
    assert not sim.stepper.flow.crossed[0]
    assert sim.state.v[0] == pytest.approx(-G * sim.dt, rel=1e-9)


@pytest.mark.parametrize("name", ["solo12-drop", "plate-on-springs", "chain", "box-pile"])
def test_handles_have_the_types_that_are_compiled(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.errors.StickslipWarning)
        sim = ss.Simulation(ss.SCENES[name].build().scene, "event-selected")
    sim.stepper._handle_for(sim.inputs)
    assert numba.typeof(sim.stepper._system) == numba.typeof(smallest())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eps": 0.0}, "eps: expected a length > 0"),
        ({"eps": "narrow"}, "eps: expected a length > 0"),
        ({"rtol": 1e-20}, "rtol: expected a number ≥ 1e-13"),
        ({"atol": -1.0}, "atol: expected a number > 0"),
        ({"max_step": 0.0}, "max_step: expected a time > 0"),
        ({"rest": "detected"}, "event-selected has no such option"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ss.InputError, match=message):
        ss.Simulation(ball(), "event-selected", **options)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: plate_on_springs(1), "n: expected a whole number of springs"),
        (lambda: plate_on_springs(tilt=2.0), "tilt: expected an angle"),
        (lambda: plate_on_springs(height=0.5), "height: expected a height"),
        (lambda: preloaded_hopper(0.5), "height: expected a height"),
        (lambda: preloaded_hopper(preload=-1.0), "preload: expected a finite number ≥ 0"),
    ],
)
def test_bad_scenes(build, message):
    with pytest.raises(ss.InputError, match=message):
        build()
