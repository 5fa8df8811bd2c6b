"""Loops, stacks and many bodies: their facts derived once more, what is measured, and some trials."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize_scalar

import stickslip as ss
from stickslip.lab.truth.cases import CASES
from stickslip.lab.truth.cases.loops import measure as measure_loop
from stickslip.lab.truth.cases.many_bodies import measure_cube
from stickslip.lab.truth.cases.standing import measure_arch
from stickslip.lab.truth.facts import facts
from stickslip.lab.truth.lessons import FOUR
from stickslip.lab.truth.trial import FAIL, NOT_APPLICABLE, PASS, try_case

G = 9.81


def value(case: str, quantity: str) -> float:
    (fact,) = (fact for fact in facts()[case] if fact.quantity == quantity)
    return fact.value


def four_bar_potential(angle: float) -> float:
    """[J] with the crank turned by ``angle`` from upright; rods of 1 kg/m."""
    crank, coupler, rocker = 0.2, 0.6, 0.5
    joint, foot = crank * np.array([np.sin(angle), np.cos(angle)]), np.array([0.6, 0.0])
    across = foot - joint
    far = np.hypot(*across)
    along = (coupler**2 - rocker**2 + far**2) / (2 * far)
    pin = joint + along * across / far + np.sqrt(coupler**2 - along**2) * np.array([-across[1], across[0]]) / far
    return G * (crank * joint[1] + coupler * (joint[1] + pin[1]) + rocker * pin[1]) / 2


def bricard_potential(theta: float, sign: float) -> tuple[float, float]:
    """[J], and how far the ring is open [m], with hinge angles θ, φ, θ, φ, …; rods of 0.1 kg and 0.3 m."""
    phi = sign * np.arccos(-np.cos(theta) / (1.0 + np.cos(theta)))
    turn, place, energy = np.eye(3), np.array([0.3, 0.0, 0.0]), 0.0
    for k in range(1, 6):
        c, s, quarter = np.cos((theta, phi)[k % 2]), np.sin((theta, phi)[k % 2]), 1 if k % 2 else -1
        turn = turn @ np.array([[1, 0, 0], [0, 0, -quarter], [0, quarter, 0]]) @ [[c, -s, 0], [s, c, 0], [0, 0, 1]]
        end = place + turn @ [0.3, 0.0, 0.0]
        energy += 0.1 * G * (place[2] + end[2]) / 2
        place = end
    return energy, float(np.linalg.norm(place))


def test_swings_are_those_of_all_positions():
    angles = np.linspace(0, 2 * np.pi, 400)
    guess = angles[np.argmin([four_bar_potential(a) for a in angles])]
    lowest = minimize_scalar(four_bar_potential, bracket=(guess - 0.02, guess, guess + 0.02), tol=1e-12).fun
    assert value("four-bar", "swing") == pytest.approx(four_bar_potential(0.0) - lowest, rel=1e-5)
    limit = 2 * np.pi / 3 - 1e-9
    ring = [bricard_potential(theta, sign) for theta in np.linspace(-limit, limit, 4001) for sign in (-1, 1)]
    assert max(opening for _, opening in ring) < 1e-6
    swing = bricard_potential(2.0, 1)[0] - min(energy for energy, _ in ring)
    assert value("bricard", "swing") == pytest.approx(swing, rel=1e-5)


def test_the_box_with_balls_by_the_equations_of_motion():
    # unknowns: accelerations of box and balls, spin·r of the balls, friction of one ball
    equations = [[10, 0, 0, 25], [0, 1, 0, -1], [0, 0, 0.4, -1], [1, -1, -1, 0]]
    box, ball, _, grip = np.linalg.solve(equations, [150 - 0.4 * 35 * G, 0, 0, 0])
    assert grip < 0.8 * G
    assert value("balls-on-box", "box") == pytest.approx(box, rel=1e-6)
    assert value("balls-on-box", "balls") == pytest.approx(ball, rel=1e-6)


def stands(thickness: float, blocks: int, mu: float) -> bool:
    """Limit analysis in the plane: are there forces in the joints, at both ends of each, inside the friction cones?"""
    joints = np.linspace(0, np.pi, blocks + 1)
    inner, outer = 1 - thickness / 2, 1 + thickness / 2
    balance, load = np.zeros((3 * blocks, 3 * (blocks + 1))), np.zeros(3 * blocks)
    for k in range(blocks):
        corners = np.array([r * np.array([np.cos(a), np.sin(a)]) for a, r in
                            zip(joints[[k, k, k + 1, k + 1]], (inner, outer, outer, inner), strict=True)])  # fmt: skip
        after = np.roll(corners, -1, axis=0)
        cross = corners[:, 0] * after[:, 1] - after[:, 0] * corners[:, 1]
        area = cross.sum() / 2
        load[3 * k : 3 * k + 3] = 0, area, ((corners + after)[:, 0] * cross).sum() / 6
        for j, side in ((k, 1), (k + 1, -1)):
            out = np.array([np.cos(joints[j]), np.sin(joints[j])])
            for column, (r, force) in enumerate(((inner, [-out[1], out[0]]), (outer, [-out[1], out[0]]), (1, out))):
                fx, fy = side * np.asarray(force)
                balance[3 * k : 3 * k + 3, 3 * j + column] = fx, fy, r * (out[0] * fy - out[1] * fx)
    cone = np.kron(np.eye(blocks + 1), [[-mu, -mu, 1], [-mu, -mu, -1]])
    bounds = [(0, None), (0, None), (None, None)] * (blocks + 1)
    found = linprog(np.zeros(balance.shape[1]), cone, np.zeros(len(cone)), balance, load, bounds)
    return found.status == 0


def test_the_arch_by_limit_analysis():
    assert stands(0.110, 20, 0.8)
    assert not stands(0.105, 20, 0.8)
    assert stands(0.1076, 100, 0.8)
    assert not stands(0.107, 100, 0.8)


def log_of(name, method, dt, seconds, **parameters):
    setup = ss.SCENES[name].build(**parameters)
    return ss.Simulation(setup.scene, method, dt=dt, user=setup.user).run(seconds, record_dt=dt, progress=False)


def test_an_open_loop_is_measured():
    log = log_of("four-bar", "bilateral", 0.01, 0.05)
    assert measure_loop({"": log})["opening"] < 1e-9
    log.pose.flags.writeable = True
    log.pose[-1, log.link("rocker"), :3] += 0.003, 0.0, 0.004
    assert measure_loop({"": log})["opening"] == pytest.approx(0.005, rel=1e-6)


def test_overlap_and_sagging_are_measured():
    log = log_of("ball-cube", "coulomb", 0.01, 0.02, n=2)
    assert measure_cube({"": log})["overlap"] == 0.0
    log.pose.flags.writeable = True
    log.pose[1, 1, 2] = 0.1 - 0.004
    assert measure_cube({"": log})["overlap"] == pytest.approx(0.004, rel=1e-9)
    log = log_of("arch", "variational/none", 0.01, 0.02)
    log.pose.flags.writeable = True
    log.pose[-1, :, 2] = log.pose[0, :, 2] - 0.01
    assert measure_arch({"thin": log})["thin"] == pytest.approx(0.01, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "method", "outcome"),
    [
        ("balls-on-box", "coulomb", PASS),
        ("balls-on-box", "stewart-trinkle", PASS),
        ("balls-on-box", FOUR, FAIL),
        ("balls-on-box", "bilateral", NOT_APPLICABLE),
        ("peg-in-hole", "coulomb", PASS),
        ("peg-in-hole", "relaxed", FAIL),
        ("peg-in-hole", "stewart-trinkle, anticipating", FAIL),
        ("peg-in-hole", "euler", FAIL),
        ("four-bar", "variational", PASS),
        ("block-stack", "variational", PASS),
        ("block-stack", "mujoco", FAIL),
        ("ball-cube", "coulomb", PASS),
        ("ball-cube", "relaxed", FAIL),
    ],
)
def test_trials(name, method, outcome):
    trial = try_case(CASES[name], method, CASES[name].dts[0])
    assert trial.outcome == outcome, trial
    assert not trial.unexplained
    assert bool(trial.lessons) == (outcome == FAIL)


def test_a_block_stack_of_growing_masses():
    model = ss.SCENES["block-stack"].build(n=4, ratio=3.0).scene.compile()
    assert model.inertia.mass[1:] == pytest.approx([1.0, 3.0, 9.0, 27.0])
