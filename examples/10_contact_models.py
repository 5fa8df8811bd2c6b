"""One block, four contact models: its penetration, its lift when it slides, and its creep when it rests.

The block stands on its four lower corners, each with stiffness K and damping B if the model has them (springs, by
``stiffness_per="point"``). Rigid contacts show none of the three; springs sink in by m·g/(4 K); with the convex
relaxation a sliding block separates slightly and a resting block creeps. Bilateral contacts are joints, so that a
dragged block does not move at all.
"""

import numpy as np

import stickslip as ss

MASS, MU, G, K, B, DT = 1.0, 0.5, 9.81, 1e4, 50.0, 1e-3
MODELS = {"soft": "expo", "Coulomb": "coulomb", "relaxed": "relaxed", "bilateral": "bilateral"}


def simulate(method: str, seconds: float, drag: float = 0.0) -> ss.Simulation:
    """The block on a plane, dragged along x with ``drag`` [N]; soft contacts start at their static penetration."""
    scene = ss.Scene()
    scene.add_plane(friction=MU, stiffness=K, damping=B)
    sink = MASS * G / (4 * K) if method in ("expo", "relaxed") else 0.0
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.05 - sink), mass=MASS)
    options = {"stiffness_per": "point"} if method == "expo" else {}
    sim = ss.Simulation(scene, method=method, dt=DT, **options)
    sim.inputs.wrench[1, 0] = drag  # force on link 1, the block, world axes
    sim.step(round(seconds / DT))
    return sim


print("model       method       depth [mm]   lift at 2 m/s [mm]   creep [mm/s]")
for name, method in MODELS.items():
    depth = 0.05 - simulate(method, 0.2).state.q[2]
    holds, slides = 0.8 * MU * MASS * G, 2.0 * MU * MASS * G  # N, below and above the friction limit
    sliding = simulate(method, 2.0 / (MU * G), slides)  # until its speed is 2 m/s
    lift = sliding.state.q[2] - 0.05
    creep = simulate(method, 0.4, holds).state.v[0]
    moved = f"{1e3 * lift:z20.4f}" if sliding.state.v[0] > 1.0 else f"{'does not slide':>20}"
    print(f"{name:11} {method:11} {1e3 * depth:z11.4f} {moved} {1e3 * creep:z14.4f}")

R = 1 / (DT * (DT * K + B))  # 1/kg, of each relaxed contact
theory = 1e3 * np.array([MASS * G / (4 * K), R * DT * 0.8 * MU * MASS * G / 4])
print(f"theory: soft and relaxed depth {theory[0]:.4f} mm, relaxed creep {theory[1]:.4f} mm/s")
