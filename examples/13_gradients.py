"""A cube is thrown, lands, slides and stops on a target: Gauss-Newton through contact, with exact gradients.

Every step of the variational method gives the derivative of the new state by the old one and by the forces, from the
implicit function theorem and the factors that solved the step. Their product along the motion is the derivative of the
final position by the initial velocity. With a relaxation > 0 contacts act slightly before they touch, so that the
derivative exists everywhere, also for a cube that did not touch at all.
"""

import numpy as np

import stickslip as ss

TARGET, DURATION = np.array([1.5, 0.8]), 1.2

scene = ss.Scene()
scene.add_plane(friction=0.4)
scene.add_box((0.2, 0.2, 0.2), mass=1.0, pos=(0, 0, 0.5), name="cube")
sim = ss.Simulation(scene, method="variational/circular", dt=0.02, relaxation=1e-4)


def throw(velocity):
    """The final position (2,) of the cube, and its derivative (2, 3) by the initial velocity (3,)."""
    sim.reset()
    sim.set_state(v=[*velocity, 0, 0, 0])
    J = np.zeros((12, 3))
    J[6:9] = np.eye(3)  # ∂(z, ν)/∂velocity at the beginning: rows δx, δθ, δv, δω
    for _ in range(round(DURATION / sim.dt)):
        sim.step()
        J = sim.stepper.gradient().matrix @ J
    return sim.state.q[:2].copy(), J[:2]


velocity = np.array([1.0, 0.0, 0.0])
print("throw  velocity [m/s]             stops at [m]        misses by [m]")
for k in range(12):
    place, J = throw(velocity)
    miss = TARGET - place
    print(f"{k:5}  {velocity[0]:8.4f} {velocity[1]:8.4f} {velocity[2]:8.4f}  {place[0]:8.4f} {place[1]:8.4f}"
          f"  {np.linalg.norm(miss):12.2e}")  # fmt: skip
    if np.linalg.norm(miss) < 1e-6:
        break
    step = np.linalg.lstsq(J, miss, rcond=None)[0]  # the smallest sufficient change of velocity, to first order
    velocity = velocity + step / max(1.0, np.linalg.norm(step))

small, (place, J) = 1e-5, throw(velocity)
differences = [(throw(velocity + e)[0] - throw(velocity - e)[0]) / (2 * small) for e in small * np.eye(3)]
print(f"gradient against central differences of whole throws: {np.abs(J - np.transpose(differences)).max():.1e}")
