"""Coulomb's law against closed forms: inclines, rolling, bouncing, Painlevé's rod, the wedge, a disc in all directions.

Impacts and transitions happen within a time step, so that instants are right within dt; velocities under constant
forces are exact, whatever dt, and positions those of semi-implicit Euler.
"""

import numpy as np
import pytest

import stickslip as ss
from stickslip.solvers import make_solver

G = 9.81
SOLVERS = [name for name in ss.METHODS["coulomb"].capabilities.variants if name != "path"]
SLOW_ON_WEDGE = {"fixed-point", "pgs", "admm", "fischer-newton"}
"""Solvers that come to a standstill above their tolerance where two friction cones just see each other."""
ON_WEDGE = [name for name in SOLVERS if name not in {*SLOW_ON_WEDGE, "fischer-newton+interior-point"}]
_beside = pytest.mark.filterwarnings("ignore::stickslip.errors.UnconvergedWarning")
ON_WEDGE.append(pytest.param("fischer-newton+interior-point", marks=_beside))  # twice its tolerance in a step, at most
BESIDE_PAINLEVE = {"fixed-point", "fischer-newton", "admm"}
"""Solvers that do not find the impulse that stops a sliding contact in the paradox."""
COARSE = {"admm"}
"""Solvers that do not get to 1e-12 just below the paradox."""

solvers = pytest.mark.parametrize("solver", SOLVERS)


def simulation(scene: str, method: str, dt: float | None = None, options: dict | None = None, **parameters):
    """A bundled scene with its velocity and the controls of its start."""
    entry = ss.SCENES[scene]
    setup = entry.build(**parameters)
    sim = ss.Simulation(setup.scene, method=method, dt=dt or entry.dt or 0.01, **(options or {}))
    if setup.velocity is not None:
        sim.set_state(v=setup.velocity)
    if setup.controller is not None:
        setup.controller.bind(sim.model)
        sim.set_control(setup.controller(0.0, sim.state.q, sim.state.v))
    return sim


@solvers
@pytest.mark.parametrize("excess", [1e-3, -1e-3])
def test_a_block_on_an_incline_sticks_or_slides(solver, excess):
    """On both sides of tan θ = μ within a thousandth; sliding accelerates with g·(sin θ − μ·cos θ)."""
    angle = 0.3
    mu = np.tan(angle) * (1 + excess)
    sim = simulation("incline", f"coulomb/{solver}", angle=angle, friction=mu)
    sim.step(50)
    speed = 0.5 * G * (np.sin(angle) - mu * np.cos(angle)) if excess < 0 else 0.0
    assert np.linalg.norm(sim.state.v[:3]) == pytest.approx(speed, abs=1e-7)
    assert (speed == 0.0) or speed > 1e-3


@solvers
def test_a_sliding_ball_rolls_at_five_sevenths(solver):
    """v = v₀ − μ·g·t until t = 2·v₀/(7·μ·g), within a step, and 5·v₀/7 from then on."""
    speed, mu = 2.0, 0.5
    sim = simulation("ball", f"coulomb/{solver}", 1e-3, speed=speed, friction=mu)
    rolls_at = 2 * speed / (7 * mu * G)
    steps = int(rolls_at / sim.dt)
    sim.step(steps)
    assert sim.state.v[0] == pytest.approx(speed - mu * G * steps * sim.dt, abs=1e-8)
    assert sim.state.v[0] - 0.1 * sim.state.v[4] > 1e-4  # it still slides
    for _ in range(20):
        sim.step(1)
        np.testing.assert_allclose(sim.state.v, [5 / 7 * speed, 0, 0, 0, 50 / 7 * speed, 0], atol=1e-6)


@solvers
@pytest.mark.parametrize("mu", [0.5, 0.05])
def test_a_ball_rolls_down_an_incline(solver, mu):
    """With 5/7·g·sin θ where μ ≥ 2/7·tan θ, else it slides with g·(sin θ − μ·cos θ)."""
    angle = 0.3
    sim = simulation("ball-rolling", f"coulomb/{solver}", angle=angle, friction=mu)
    sim.step(50)
    rolling, sliding = 5 / 7 * np.sin(angle), np.sin(angle) - mu * np.cos(angle)
    assert (rolling > sliding) == (mu > 2 / 7 * np.tan(angle))
    assert np.linalg.norm(sim.state.v[:3]) == pytest.approx(0.5 * G * max(rolling, sliding), rel=1e-6)


@pytest.mark.parametrize("e", [0.5, 0.7])
def test_a_bouncing_ball_comes_to_rest(e):
    """At t∞ = √(2h/g)·(1 + e)/(1 − e), of first order in dt: a bounce begins where the step does that would meet the
    floor, up to u·dt above it, and so takes up to 2·dt longer; approaches slower than 2·g·dt do not bounce, which ends
    the sum early by at most 4·dt/(1 − e)."""
    t_end = np.sqrt(2 / G) * (1 + e) / (1 - e)
    errors = []
    for dt in (2e-3, 1e-3):
        sim = simulation("bouncing-ball", "coulomb", dt, restitution=e)
        moved = 0.0
        while sim.time < t_end + 0.1:
            sim.step(1)
            if abs(sim.state.v[2]) > 1e-6:
                moved = sim.time
        assert sim.state.q[2] == pytest.approx(0.1, abs=1e-6)
        errors.append(abs(moved - t_end))
        bounces = np.log(2 * G * dt / np.sqrt(2 * G)) / np.log(e)
        assert errors[-1] < dt * (2 * bounces + 4 / (1 - e))
    assert errors[1] < 0.015 * t_end


@pytest.mark.parametrize("solver", ON_WEDGE)
@pytest.mark.parametrize("excess", [1e-3, -1e-3])
def test_a_wedge_holds_or_is_expelled(solver, excess):
    """On both sides of tan(half angle) = μ within a thousandth, expelled with the scene's closed form."""
    angle, force = 0.35, 10.0
    mu = np.tan(angle) * (1 + excess)
    sim = simulation("wedge", f"coulomb/{solver}", half_angle=angle, force=force, friction=mu)
    sim.step(20)
    s, c, t = np.sin(angle), np.cos(angle), np.tan(angle)
    normal = force / (c + mu * s + 2 * t * (s - mu * c))
    speed = 0.2 * 2 * normal * (s - mu * c) if excess < 0 else 0.0
    expected = np.array([0, 0, speed, 0, 0, 0, t * speed, t * speed])
    assert (speed == 0.0) or speed > 1e-3
    np.testing.assert_allclose(sim.state.v, expected, atol=1e-6)


def test_a_disc_stops_at_the_same_distance_in_all_directions():
    """Within 0.1 %, and at v²/(2·μ·g) less the half step of semi-implicit Euler."""
    distances = []
    for k in range(16):
        heading = 2 * np.pi * k / 16
        sim = simulation("sliding-disc", "coulomb", direction=heading)
        sim.step(80)
        assert np.abs(sim.state.v).max() < 1e-6
        distances.append(np.linalg.norm(sim.state.q[:2]))
        aside = sim.state.q[:2] @ [-np.sin(heading), np.cos(heading)]
        assert abs(aside) < 1e-6 * distances[-1]
    steps = int(2.0 / (0.3 * G * sim.dt))
    expected = sim.dt * (2.0 * steps - 0.3 * G * sim.dt * steps * (steps + 1) / 2)
    np.testing.assert_allclose(distances, expected, rtol=1e-6)
    assert expected == pytest.approx(2.0**2 / (2 * 0.3 * G) - 2.0 * sim.dt / 2, rel=1e-3)


@pytest.mark.filterwarnings("ignore::stickslip.errors.UnconvergedWarning")
@solvers
@pytest.mark.parametrize(
    ("scene", "parameters"),
    [("sliding-disc", {"direction": 0.3}), ("solo12-slip", {}), ("box-pile", {"friction": 0.1})],
)
def test_friction_opposes_sliding(solver, scene, parameters):
    """Within 1e-6 rad at every contact that slides with more than 1 mm/s, at its full strength μ·p_n."""
    chosen = make_solver(solver, tolerance=1e-12)
    sim = simulation(scene, "coulomb", options={"solver": chosen.solve}, **parameters)
    angles = []
    for _ in range(30):
        sim.step(1)
        problem, p = sim.problem, sim.result.z
        if sim.result.residual > 1e-11:  # the solver came to a standstill: nothing to be said of its law
            continue
        impulse, velocity = p.reshape(-1, 3), problem.function(p).reshape(-1, 3)
        speed = np.hypot(*velocity[:, 1:].T)
        for (normal, *friction), (_, *slip), mu in zip(
            impulse[speed > 1e-3], velocity[speed > 1e-3], problem.friction[speed > 1e-3], strict=True
        ):
            if normal > 1e-4:  # [N s]; a contact that carries something
                strength = np.hypot(*friction)
                assert strength == pytest.approx(mu * normal, rel=1e-6)
                across = friction[0] * slip[1] - friction[1] * slip[0]
                angles.append(np.arctan2(abs(across), -np.dot(friction, slip)))
    assert len(angles) > 20
    assert max(angles) < 1e-6


@pytest.mark.parametrize("solver", ["interior-point", "pgs", "admm"])
def test_friction_opposes_sliding_at_the_default_tolerance(solver):
    """Within 1e-6 rad in every step, at every contact that slides with more than 1 mm/s, however small its impulse."""
    sim = simulation("solo12-slip", "coulomb", options={"solver": make_solver(solver).solve})
    angles, least = [], np.inf
    for _ in range(250):
        sim.step(1)
        assert sim.result.success
        impulse, velocity = (z.reshape(-1, 3) for z in (sim.result.z, sim.problem.function(sim.result.z)))
        slides = (np.hypot(velocity[:, 1], velocity[:, 2]) > 1e-3) & (impulse[:, 0] > 0.0)
        p, u = impulse[slides, 1:], velocity[slides, 1:]
        angles.extend(np.arctan2(abs(p[:, 0] * u[:, 1] - p[:, 1] * u[:, 0]), -np.sum(p * u, axis=1)))
        least = min(least, impulse[slides, 0].min(initial=np.inf))
    assert len(angles) > 1000
    assert least < 5e-4  # [N s]
    assert max(angles) < 1e-6


def critical_friction(angle: float) -> float:
    """Above it a uniform rod that slides towards where it does not lean has no force that lets its end slide on."""
    return (np.tan(angle) + 4 / np.tan(angle)) / 3


leaning = pytest.mark.parametrize("angle", [0.6, np.arctan(2.0), 1.3])


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name not in COARSE])
@leaning
def test_painleve_s_rod_below_the_paradox(solver, angle):
    """The normal force that keeps the end on the floor, m·g/(1 + 3·cos²θ − 3·μ·sin θ·cos θ), grows without bound."""
    s, c = np.sin(angle), np.cos(angle)
    for part in (0.0, 0.5, 0.9, 0.99):
        mu = part * critical_friction(angle)
        options = {"solver_options": {"tolerance": 1e-12}}
        sim = simulation("painleve-rod", f"coulomb/{solver}", 1e-5, options, angle=angle, friction=mu)
        sim.step(1)
        force = G / (1 + 3 * c * c - 3 * mu * s * c)
        assert sim.contacts.arrays.force[0, 0] == pytest.approx(force, rel=1e-4)
        assert sim.contacts.arrays.force[0, 1] == pytest.approx(mu * force, rel=1e-4)  # towards x


@leaning
def test_the_paradox_is_reported_exactly_where_it_is(angle):
    """Below, a warning would be an error here."""
    for part, dt in ((1 - 1e-6, 1e-9), (1 + 1e-6, 1e-3)):
        sim = simulation("painleve-rod", "coulomb", dt, angle=angle, friction=part * critical_friction(angle))
        if part < 1.0:
            sim.step(1)
        else:
            with pytest.warns(ss.PainleveWarning, match="paradox, inconsistent: contact 0 of 'rod' on 'world'"):
                sim.step(1)


@pytest.mark.filterwarnings("ignore::stickslip.errors.PainleveWarning")
@pytest.mark.parametrize("solver", [name for name in SOLVERS if name not in BESIDE_PAINLEVE])
@leaning
def test_painleve_s_rod_jams_in_the_paradox(solver, angle):
    """No finite force lets the end slide on; an impulse stops it at once, however short the step."""
    mu = 1.05 * critical_friction(angle)
    s, c = np.sin(angle), np.cos(angle)
    for dt in (1e-3, 1e-5):
        sim = simulation("painleve-rod", f"coulomb/{solver}", dt, angle=angle, friction=mu)
        q = sim.state.q.copy()
        sim.step(1)
        tip = sim.dynamics.frame_jacobian(q, "tip")[:3] @ sim.state.v
        np.testing.assert_allclose(tip, 0.0, atol=1e-6)
        impulse = dt * sim.contacts.arrays.force[0]
        # of the end at rest after −1 m/s: W·p = (0, 1), W of a rod of 1 kg and 1 m
        W = np.array([[1 + 3 * c * c, -3 * s * c], [-3 * s * c, 1 + 3 * s * s]])
        np.testing.assert_allclose(impulse[:2], np.linalg.solve(W, [G * dt, 1.0]), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::stickslip.errors.StickslipWarning")
@solvers
def test_the_paradox_gives_numbers_with_every_solver(solver):
    """Those that do not find the jam say so, and nothing is NaN."""
    sim = simulation("painleve-rod", f"coulomb/{solver}")
    sim.step(100)
    assert np.all(np.isfinite(sim.state.q))
    assert sim.stepper.unconverged == 0 or solver in BESIDE_PAINLEVE


# -- what the relaxed contact problem keeps of it (creep and lift: test_relaxed_contact.py) -------------------------


def test_a_ball_by_relaxed_contacts_rolls_at_five_sevenths():
    """Friction acts at the floor, about which the angular momentum stays."""
    sim = simulation("ball", "relaxed", speed=2.0, friction=0.5)
    sim.step(200)
    np.testing.assert_allclose(sim.state.v, [10 / 7, 0, 0, 0, 100 / 7, 0], atol=1e-6)


def test_a_disc_by_relaxed_contacts_stops_at_the_same_distance_in_all_directions():
    """Isotropic as well, although it hovers while it slides and creeps to a stop."""
    distances = []
    for k in range(16):
        sim = simulation("sliding-disc", "relaxed", direction=2 * np.pi * k / 16)
        sim.step(90)
        distances.append(np.linalg.norm(sim.state.q[:2]))
    np.testing.assert_allclose(distances, distances[0], rtol=1e-3)
    assert distances[0] == pytest.approx(2.0**2 / (2 * 0.3 * G), rel=0.05)
