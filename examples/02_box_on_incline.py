"""A box on an incline: it sticks below the friction angle and slides above it, as Coulomb says.

The friction angle is atan(mu); above it the acceleration is g (sin a - mu cos a).
"""

import numpy as np

import stickslip as ss

MU, G = 0.3, 9.81


def slide(degrees: float, seconds: float = 1.0) -> tuple[float, float]:
    """Acceleration down the slope over the second half of the run [m/s²], distance over the whole of it [m]."""
    angle = np.deg2rad(degrees)
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    flat = (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)  # the rotation that lies on the plane
    scene = ss.Scene()
    scene.add_plane(normal=normal, friction=MU)
    scene.add_box((0.2, 0.2, 0.05), pos=0.025 * normal, quat=flat, mass=1.0)
    sim = ss.Simulation(scene)
    log = sim.run(seconds)
    speed = np.linalg.norm(log.v[:, :3], axis=1)
    half = len(log) // 2
    acceleration = (speed[-1] - speed[half]) / (log.time[-1] - log.time[half])
    return acceleration, float(np.linalg.norm(log.q[-1, :3] - log.q[0, :3]))


print(f"mu = {MU}: the friction angle is {np.rad2deg(np.arctan(MU)):.2f} degrees")
print("angle [deg]   a [m/s²]   theory [m/s²]   distance [m]")
for degrees in (5.0, 10.0, 15.0, 16.5, 17.0, 20.0, 30.0, 40.0):
    a = np.deg2rad(degrees)
    theory = max(0.0, G * (np.sin(a) - MU * np.cos(a)))
    acceleration, distance = slide(degrees)
    print(f"{degrees:11.1f} {acceleration:10.4f} {theory:15.4f} {distance:14.5f}  {'slides' if theory else 'sticks'}")
