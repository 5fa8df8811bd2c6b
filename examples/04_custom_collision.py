"""A collision function of your own: a ball rolls on the floor z = 0.05 sin(5x), which no bundled shape has.

Any stage of a step can be a Python function of the simulation; the other stages stay compiled.
"""

import numpy as np

import stickslip as ss

RADIUS, MASS = 0.1, 1.0


def height(x: float) -> tuple[float, float, float]:
    """The floor and its first and second derivative."""
    return 0.05 * np.sin(5 * x), 0.25 * np.cos(5 * x), -1.25 * np.sin(5 * x)


def bumpy_floor(sim: ss.Simulation) -> None:
    """Find where the ball (link 1) touches the world (link 0), and add the contact."""
    sim.contacts.clear()
    x, y, z = sim.kinematics.pos[1]
    s = x
    for _ in range(10):  # Newton: the foot of the perpendicular from the centre to the floor
        f, df, ddf = height(s)
        s -= (s - x + (f - z) * df) / (1.0 + df * df + (f - z) * ddf)
    f, df, _ = height(s)
    normal = np.array([-df, 0.0, 1.0]) / np.hypot(1.0, df)
    gap = np.dot([x - s, 0.0, z - f], normal) - RADIUS
    if gap < 0.0:
        point = np.array([x, y, z]) - RADIUS * normal  # on body 2, the ball
        # pair: a constant id, by which the contact law finds its anchor; rolling: the point moves over the ball
        sim.contacts.add(0, 1, point, normal, gap, pair=0, friction=0.8, rolling=True)


scene = ss.Scene()
scene.add_sphere(RADIUS, mass=MASS)
sim = ss.Simulation(scene, dt=2e-4, collision=bumpy_floor)

start = 0.05  # on a flank: above the valley at x = -pi/10
f, df, _ = height(start)
normal = np.array([-df, 0.0, 1.0]) / np.hypot(1.0, df)
sim.set_state(q=[*(np.array([start, 0.0, f]) + RADIUS * normal), 1, 0, 0, 0])
log = sim.run(2.0)

x, speed, spin = log.q[:, 0], np.linalg.norm(log.v[:, :3], axis=1), np.abs(log.v[:, 4])
energy = log.energy.sum(axis=1) + log.contact_energy
fastest = int(np.argmax(speed))
print(f"python stages {log.options['python_stages']}, {sim.steps} steps in {log.wall[-1]:.2f} s")
print(f"the ball swings between x = {x.min():.4f} and {x.max():.4f} m about the valley at {-np.pi / 10:.4f} m")
print(f"fastest: {speed[fastest]:.4f} m/s at x = {x[fastest]:.4f} m; rolling would be {RADIUS * spin[fastest]:.4f} m/s")
print(f"energy {energy[0]:.5f} J at the start, {energy[-1]:.5f} J at the end: rolling loses little")
