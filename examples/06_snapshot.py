"""Snapshots: go back and continue with the same bits as without interruption, contacts and controller included."""

import numpy as np

import stickslip as ss


class Integral:
    """PD control with an integral term. Two methods put the state of the controller into snapshots."""

    def __init__(self, robot: ss.Robot) -> None:
        self.pd = ss.control.PD(robot, kp=10.0, kd=0.2)

    def bind(self, model: ss.Model) -> None:
        self.pd.bind(model)
        self.home, self.sum = model.state().q[7:], np.zeros(model.nu)

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        self.sum += 0.02 * (self.home - q[7:])
        return self.pd(t, q, v) + self.sum

    def get_state(self) -> np.ndarray:
        return self.sum.copy()

    def set_state(self, value: np.ndarray) -> None:
        self.sum = value.copy()


scene = ss.Scene()
scene.add_plane(friction=0.8)
robot = scene.add_robot("solo12", pos=(0, 0, 0.30))
sim = ss.Simulation(scene)

sim.run(0.3, controller=Integral(robot))
middle = sim.snapshot()
print(f"snapshot at {sim.time:.2f} s, in contact: {np.count_nonzero(middle.memory['anchored'])} feet")

sim.run(0.3)
first = sim.state.copy()
sim.restore(middle)
sim.run(0.3)
same = np.array_equal(first.q, sim.state.q) and np.array_equal(first.v, sim.state.v)
print(f"once more from there to {sim.time:.2f} s: {'identical bits' if same else 'DIFFERENT'}")

sim.restore(middle)
sim.inputs.wrench[1, 0] = 5.0  # what if somebody pushes the base with 5 N along x?
sim.run(0.3)
print(f"with a push of 5 N: base {sim.state.q[0] - first.q[0]:+.4f} m further along x")
