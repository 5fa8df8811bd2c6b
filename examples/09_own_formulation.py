"""A collision routine, a formulation and a solver of your own, in three functions.

A ball rolls over a floor. Our own routine finds the floor, contacts are formulated without friction, and
a projected fixed-point iteration of five lines solves the problem. If a stage is left out, the built-in one runs.
"""

import numpy as np

import stickslip as ss
from stickslip.solvers import LinearProblem

scene = ss.Scene()
ball = scene.add_sphere(0.1, pos=(0, 0, 0.3), mass=1.0)


def floor(sim):
    """Collision: z = 0 against the ball, within 10 cm."""
    sim.contacts.clear()
    centre = sim.kinematics.pos[1]
    gap = centre[2] - 0.1
    if gap < 0.1:
        sim.contacts.add(0, 1, centre - [0, 0, 0.1], (0, 0, 1), gap, pair=0)


def frictionless(sim):
    """Formulation: 0 ≤ p ⟂ W_nn·p + u_n + ψ/dt ≥ 0, and the effect of p on the bodies."""
    m = sim.matrices  # the paper's preDynamics
    rows = np.arange(0, 3 * m.contacts, 3)  # normals; two tangents follow each
    W = m.delassus[np.ix_(rows, rows)]
    sim.problem = LinearProblem(W, m.free[rows] + m.gap / m.dt)

    def velocity(z):
        impulses = np.zeros(3 * m.contacts)
        impulses[rows] = z
        return m.new_velocity(impulses)

    sim.velocity_of = velocity


def fixed_point(problem, z):
    """Solver: z ← max(0, z − r·(A·z + b))."""
    z = np.zeros(problem.n)
    for _ in range(100):
        z = np.maximum(0.0, z - (problem.A @ z + problem.b) / np.maximum(problem.A.diagonal(), 1e-12))
    return z


own = {"collision": floor, "formulate": frictionless, "solver": fixed_point}
sim = ss.Simulation(scene, method="stewart-trinkle", dt=0.01, **own)
sim.set_state(v=[1.0, 0, 0, 0, 0, 0])
sim.step(100)
print(f"after 1 s the ball is at x = {sim.state.q[0]:.6f} m, z = {sim.state.q[2]:.6f} m")
print(f"it slides at {sim.state.v[0]:.6f} m/s and turns at {np.abs(sim.state.v[3:]).max():.6f} rad/s")
print(f"judge: natural residual {sim.result.residual:.1e} after {sim.steps} steps")
