"""The regulator: its linear model against differences of the dynamics, its recursion against SciPy's Riccati solver."""

import numpy as np
import pytest
from scipy.linalg import expm, solve_discrete_are

import stickslip as ss
from stickslip.control.references.jump import plan_jump
from stickslip.control.references.lqr import (
    GRIP,
    MEMORY,
    Contact,
    Weights,
    hold,
    linearise,
    regulator,
    stationary,
    step_back,
)

GROUND = Contact(1e5, 300.0)


@pytest.fixture(scope="module")
def plan():
    scene = ss.Scene()
    scene.add_plane(friction=1.0)
    scene.add_robot("solo12")
    return plan_jump(scene.compile(), stand=0.05, rest=0.05)


def acceleration(plan, k, q, v, u):
    """Forward dynamics with springs and dampers that give the planned forces at the planned state."""
    robot, force = plan.robot, plan.efforts.force[k]
    point, J, _ = robot.kinematics(q)
    stiff, damp = np.array([GRIP / MEMORY, GRIP / MEMORY, GROUND.stiffness]), np.array([GRIP, GRIP, GROUND.damping])
    tau = np.zeros(18)
    tau[robot.actuated] = u
    for i in np.flatnonzero(plan.stance[k]):
        tau += J[i].T @ (force[i] - stiff * (point[i] - plan.feet.position[k, i]) - damp * (J[i] @ v))
    return robot.dyn.aba(q, v, tau)


@pytest.mark.parametrize("instant", ["push", "flight"])
def test_linear_model_is_the_derivative_of_the_dynamics(plan, instant):
    k = 63 if instant == "push" else int(np.flatnonzero(~plan.stance.any(axis=1))[4])
    assert plan.stance[k].all() == (instant == "push")
    q, v, a = (part[k] for part in plan.motion)
    u, dyn, eps = plan.efforts.u[k], plan.robot.dyn, 1e-5
    np.testing.assert_allclose(acceleration(plan, k, q, v, u), a, atol=1e-2)
    A, air, B = linearise(plan.robot, q, v, a, plan.efforts.force[k], plan.stance[k], GROUND)
    if instant == "flight":
        np.testing.assert_allclose(A, air, atol=1e-12 * np.abs(A).max())
    scale = np.abs(A[18:]).max()
    for i, e in enumerate(np.eye(18)):
        ahead, behind = (acceleration(plan, k, dyn.integrate(q, e, step), v, u) for step in (eps, -eps))
        by_v = acceleration(plan, k, q, v + eps * e, u) - acceleration(plan, k, q, v - eps * e, u)
        np.testing.assert_allclose(A[18:, i], (ahead - behind) / (2 * eps), atol=1e-5 * scale)
        np.testing.assert_allclose(A[18:, 18 + i], by_v / (2 * eps), atol=1e-5 * scale)
    for i, e in enumerate(np.eye(12)):
        by_u = acceleration(plan, k, q, v, u + e) - acceleration(plan, k, q, v, u)
        np.testing.assert_allclose(B[18:, i], by_u, atol=1e-6 * np.abs(B).max())


def test_held_input_of_a_double_integrator():
    phi, gamma = hold(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]]), 0.3)
    np.testing.assert_allclose(phi, [[1.0, 0.3], [0.0, 1.0]], atol=1e-14)
    np.testing.assert_allclose(gamma, [[0.045], [0.3]], atol=1e-14)


@pytest.mark.parametrize("h", [1e-5, 2e-3, 1e-2])
def test_held_input_of_the_robot_is_scipys_exponential(plan, h):
    q, v, a = (part[63] for part in plan.motion)
    A, air, B = linearise(plan.robot, q, v, a, plan.efforts.force[63], plan.stance[63], GROUND)
    for matrix in (A, air):
        both = expm(np.block([[matrix, B], [np.zeros((12, 48))]]) * h)
        phi, gamma = hold(matrix, B, h)
        np.testing.assert_allclose(phi, both[:36, :36], atol=1e-6 * np.abs(both).max())
        np.testing.assert_allclose(gamma, both[:36, 36:], atol=1e-6 * np.abs(both[:36, 36:]).max())


def random_system(seed):
    rng = np.random.default_rng(seed)
    return expm(0.3 * rng.normal(size=(5, 5))), rng.normal(size=(5, 2)), np.diag(rng.uniform(0.5, 2.0, 5)), np.eye(2)


@pytest.mark.parametrize("seed", range(3))
def test_without_doubt_it_is_the_riccati_equation(seed):
    phi, gamma, Q, R = random_system(seed)
    P = stationary([(1.0, phi, gamma)], Q, R)
    np.testing.assert_allclose(P, solve_discrete_are(phi, gamma, Q, R), rtol=1e-4)


def test_with_doubt_no_other_gain_costs_less():
    """xᵀPx is the expected cost of a step with the gain, and any change of the gain adds to it."""
    (phi, gamma, Q, R), (other, weak, _, _) = random_system(0), random_system(1)
    modes, P, rng = [(0.7, phi, gamma), (0.3, other, 0.1 * weak)], np.eye(5), np.random.default_rng(2)
    before, gain = step_back(P, modes, Q, R)

    def cost(K):
        return Q + K.T @ R @ K + sum(p * (f - g @ K).T @ P @ (f - g @ K) for p, f, g in modes)

    np.testing.assert_allclose(before, cost(gain), atol=1e-12)
    for _ in range(20):
        worse = cost(gain + 0.1 * rng.normal(size=gain.shape)) - before
        assert np.linalg.eigvalsh(worse).min() > -1e-12


def test_gains_stabilise_the_stance_and_spare_flying_feet(plan):
    """Standing, with a controller of 100 Hz: errors die away, also of a foot that is not on the ground."""
    last = len(plan.time) - 1
    K = regulator(plan.robot, *rows(plan, last), 0.01, 0.01, GROUND, Weights())[0]
    q, v, a = (part[last] for part in plan.motion)
    A, air, B = linearise(plan.robot, q, v, a, plan.efforts.force[last], plan.stance[last], GROUND)
    phi, gamma = hold(A, B, 0.01)
    assert np.abs(np.linalg.eigvals(phi - gamma @ K)).max() < 1.0 - 1e-3
    Q, R = Weights().matrices(12)
    P = stationary([(1.0, phi, gamma)], 0.01 * Q, 0.01 * R)
    trusting = step_back(P, [(1.0, phi, gamma)], 0.01 * Q, 0.01 * R)[1]
    joints = np.r_[6:18, 24:36]  # of legs in the air under a base that is held

    def fastest(gain):
        free, push = hold(air[np.ix_(joints, joints)], B[joints], 0.01)
        return np.abs(np.linalg.eigvals(free - push @ gain[:, joints])).max()

    assert fastest(K) < 1.0 < fastest(trusting)


def rows(plan, k):
    """Motion, efforts and stance of one instant."""
    motion = type(plan.motion)(*(part[k : k + 1] for part in plan.motion))
    drive = type(plan.efforts)(*(part[k : k + 1] for part in plan.efforts))
    return motion, drive, plan.stance[k : k + 1]
