"""Discrete rotation: momentum, its derivatives, and a body free of torques."""

import numpy as np
import pytest

from stickslip.methods.variational.bodies import Centred, make_pose, next_pose, put_rotation, spinning_body
from stickslip.methods.variational.discrete_rotation import (
    OK,
    SPINNING,
    discrete_energy,
    momentum_after,
    momentum_before,
    momentum_jacobian,
    spin_root,
    turn_jacobian,
    world_momentum,
)

DT = 0.01


def random_inertia(rng):
    A = rng.normal(size=(3, 3))
    return np.stack([np.zeros((3, 3)), A @ A.T + np.eye(3)])


def one_body(J, mass=1.0):
    """Bodies without a tree: what momentum and energy need."""
    return Centred(None, np.array([0.0, mass]), J, np.zeros((2, 3)), np.zeros(0, dtype=np.int64), *np.zeros((2, 2, 3)))


def random_pose(rng):
    pose, q = make_pose(2), rng.normal(size=4)
    pose.pos[1] = rng.normal(size=3)
    put_rotation(pose, 1, *(q / np.linalg.norm(q)))
    return pose


def test_momentum_leaves_as_it_arrives():
    """R·P(ω) = R⁺·P₋(ω)."""
    rng = np.random.default_rng(0)
    for size in (1e-3, 1.0, 100.0, 199.0):
        J, pose, after = random_inertia(rng), random_pose(rng), make_pose(2)
        w = rng.normal(size=3)
        nu = np.zeros((2, 6))
        nu[1, 3:] = size * w / np.linalg.norm(w)
        assert next_pose(pose, nu, DT, after) == OK
        left = pose.rot[1] @ momentum_after(J, 1, DT, *nu[1, 3:])
        arrived = after.rot[1] @ momentum_before(J, 1, DT, *nu[1, 3:])
        np.testing.assert_allclose(left, arrived, atol=1e-13 * max(1.0, size * np.abs(J).max()))
        assert abs(np.linalg.norm(after.quat[1]) - 1.0) < 1e-15


def test_jacobians_are_derivatives():
    rng = np.random.default_rng(1)
    J, pose, after = random_inertia(rng), random_pose(rng), make_pose(2)
    for size in (0.0, 3.0, 150.0):
        w, dP, T = rng.normal(size=3), np.empty((3, 3)), np.empty((3, 3))
        w *= size / np.linalg.norm(w)
        momentum_jacobian(J, 1, DT, *w, dP)
        turn_jacobian(DT, *w, T)
        nu, step = np.zeros((2, 6)), 1e-4
        for k in range(3):
            change = np.eye(3)[k] * step
            P = [np.array(momentum_after(J, 1, DT, *(w + s * change))) for s in (1.0, -1.0)]
            np.testing.assert_allclose(dP[:, k], (P[0] - P[1]) / (2 * step), atol=1e-6)
            quats = []
            for s in (1.0, -1.0):
                nu[1, 3:] = w + s * change
                next_pose(pose, nu, DT, after)
                quats.append(after.quat[1].copy())
            nu[1, 3:] = w
            next_pose(pose, nu, DT, after)
            a, v = after.quat[1, 0], after.quat[1, 1:]
            d = (quats[0] - quats[1]) / (2 * step)
            turn = 2.0 * (a * d[1:] - d[0] * v - np.cross(v, d[1:]))
            np.testing.assert_allclose(T[:, k], turn, atol=1e-9)
        s = spin_root(DT, *w)
        cross = np.cross(w, np.eye(3)).T
        np.testing.assert_allclose(T @ (s * np.eye(3) + cross) / 2, np.eye(3), atol=1e-13)
        np.testing.assert_allclose(cross @ [1.0, 2.0, 3.0], np.cross(w, [1.0, 2.0, 3.0]))


def step_free(J, w, dt, sign):
    """ω⁺ with P(ω⁺) = P₋(ω), by Newton's method; ``sign`` −1 exchanges the gyroscopic term's."""
    before = np.array(momentum_before(J, 1, dt, *w) if sign > 0 else momentum_after(J, 1, dt, *w))
    new, A = w.copy(), np.empty((3, 3))
    for _ in range(20):
        residual = np.array(momentum_after(J, 1, dt, *new)) - before
        momentum_jacobian(J, 1, dt, *new, A)
        change = np.linalg.solve(A, residual)
        new = new - change
        if np.abs(change).max() < 1e-15:
            break
    return new


def test_a_body_free_of_torques_flips():
    """Dzhanibekov: J = diag(1, 2, 3), ω = (0.1, 2, 0.1), 2000 steps of 0.01 s."""
    J, about = np.stack([np.zeros((3, 3)), np.diag([1.0, 2.0, 3.0])]), np.zeros(3)
    bodies, pose, nu, out = one_body(J), make_pose(2), np.zeros((2, 6)), np.empty(6)
    nu[1, 3:] = 0.1, 2.0, 0.1
    next_pose(pose, nu, DT, pose)
    momenta, spin, energy = [], [], []
    for _ in range(2000):
        world_momentum(bodies, pose, nu, DT, about, out)
        momenta.append(out.copy())
        spin.append(nu[1, 4])
        energy.append(discrete_energy(bodies, about, pose, nu, DT)[0])
        nu[1, 3:] = step_free(J, nu[1, 3:], DT, 1)
        assert next_pose(pose, nu, DT, pose) == OK
    assert np.abs(np.array(momenta) - momenta[0]).max() < 1e-10
    assert min(spin) < -1.9
    assert abs(np.linalg.norm(pose.quat[1]) - 1.0) < 1e-12
    assert np.ptp(energy) < 1e-3 * energy[0]


def test_the_other_sign_never_flips():
    J, w = np.stack([np.zeros((3, 3)), np.diag([1.0, 2.0, 3.0])]), np.array([0.1, 2.0, 0.1])
    for _ in range(2000):
        w = step_free(J, w, DT, -1)
    np.testing.assert_allclose(w, [0.1, 2.0, 0.1], atol=1e-10)


def test_free_fall_keeps_the_energy():
    J, gravity = np.stack([np.zeros((3, 3)), np.eye(3)]), np.array([0.5, 0.0, -9.81])
    bodies, pose, nu = one_body(J, 2.0), make_pose(2), np.zeros((2, 6))
    nu[1, :3] = 1.0, 2.0, 3.0
    next_pose(pose, nu, DT, pose)
    energy = []
    for _ in range(200):
        energy.append(sum(discrete_energy(bodies, gravity, pose, nu, DT)))
        nu[1, :3] += DT * gravity
        next_pose(pose, nu, DT, pose)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-13, atol=1e-11)


@pytest.mark.parametrize("speed", [200.0, 1e9, np.nan])
def test_half_a_turn_in_a_step_is_refused(speed):
    pose, nu = make_pose(3), np.zeros((3, 6))
    nu[2, 4] = speed
    assert spin_root(DT, 0.0, speed, 0.0) == -1.0
    assert next_pose(pose, nu, DT, make_pose(3)) == SPINNING
    assert spinning_body(nu, DT) == 2
    nu[2, 4] = 199.99
    assert next_pose(pose, nu, DT, make_pose(3)) == OK
    assert spinning_body(nu, DT) == 0
