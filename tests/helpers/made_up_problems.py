"""Small problem frames made by hand: a cube on the floor, two spheres that collide, a rod on a joint with a limit."""

import numpy as np

from stickslip.problem_files.problem_frame import Bodies, Constraints, ContactRows, ProblemFrame, empty

G = 9.81


def bodies(positions, velocities, masses, tensors, forces=None, states=None):
    n = len(masses)
    weight = np.zeros((n, 6))
    weight[:, 2] = -G * np.asarray(masses)
    return Bodies(
        positions=np.array(positions, dtype=float),
        quaternions=np.tile((1.0, 0.0, 0.0, 0.0), (n, 1)),
        velocities=np.array(velocities, dtype=float).ravel(),
        forces=weight.ravel() if forces is None else np.array(forces, dtype=float).ravel(),
        masses=np.array(masses, dtype=float),
        world_inertia_tensors=np.concatenate(tensors),
        ids=np.arange(1, n + 1),
        states=np.ones(n, dtype=int) if states is None else np.array(states),
    )


def contacts(points, normals, gaps, mu, pairs):
    n = len(gaps)
    return ContactRows(
        points=np.array(points, dtype=float),
        normals=np.array(normals, dtype=float),
        gaps=np.array(gaps, dtype=float),
        mu_s=np.full((n, 2), mu),
        mu_k=np.tile((mu, mu, 0.0), (n, 1)),
        pairs=np.array(pairs),
    )


def cube(velocity=(0, 0, 0, 0, 0, 0), mu=0.5, dt=0.01, floor=(-1, 1)):
    """1 kg, edges of 0.2 m, on four corners; ``floor`` is the pair of ids of every contact."""
    corners = [(x, y, 0.0) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    normal = (0, 0, 1.0) if floor[1] == 1 else (0, 0, -1.0)
    return ProblemFrame(
        dt,
        bodies([(0, 0, 0.1)], velocity, [1.0], [np.eye(3) * 0.04 / 6]),
        contacts(corners, [normal] * 4, [0.0] * 4, mu, [floor] * 4),
        empty(Constraints),
    )


def two_spheres(speed=1.0, mu=0.5):
    """Radius 0.5, masses 1 and 3, the first moving at the second off its centre, no gravity."""
    tensors = [0.1 * m * np.eye(3) for m in (1.0, 3.0)]
    return ProblemFrame(
        0.01,
        bodies(
            [(0, 0, 0), (1, 0, 0)], [[speed, 0.3, 0, 0, 0, 2.0], np.zeros(6)], [1.0, 3.0], tensors, np.zeros((2, 6))
        ),
        contacts([(0.5, 0, 0)], [(1, 0, 0)], [0.0], mu, [(1, 2)]),
        empty(Constraints),
    )


def rod(angular=1.0, bounds=(0.0, np.inf)):
    """A rod of 1 kg and 1 m turning about y at its end, which the world holds; a limit stands in its way."""
    tensor = np.diag([1 / 12, 1 / 12, 1e-3])
    joint = np.zeros((5, 12))
    joint[0:3, 6:9] = np.eye(3)
    joint[0:3, 9:12] = [[0, 0.5, 0], [-0.5, 0, 0], [0, 0, 0]]  # the end is 0.5 m above the centre: v + ω × (0, 0, 0.5)
    joint[3, 9], joint[4, 11] = 1.0, 1.0
    limit = np.zeros((1, 12))
    limit[0, 10] = -1.0
    return ProblemFrame(
        0.01,
        bodies([(0, 0, -0.5)], [-0.5 * angular, 0, 0, 0, angular, 0], [1.0], [tensor], np.zeros((1, 6))),
        empty(ContactRows),
        Constraints(
            rows=np.array([5, 1]),
            violations=np.zeros(6),
            time_derivative=np.zeros(6),
            bounds=np.array([(-np.inf, np.inf)] * 5 + [bounds]),
            pairs=np.array([(-1, 1), (-1, 1)]),
            Jacobian=np.concatenate([joint, limit]),
        ),
    )
