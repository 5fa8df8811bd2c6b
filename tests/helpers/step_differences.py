"""A step of the variational method as a function of bodies, and its derivatives by differences."""

import numpy as np
from scipy.spatial.transform import Rotation

import stickslip as ss
from stickslip.dynamics.configuration import integrate
from stickslip.methods.base import Inputs
from stickslip.methods.variational.bodies import to_joint_state

SMALL = 3e-6
STENCIL = ((2, -1 / 12), (1, 8 / 12), (-1, -8 / 12), (-2, 1 / 12))
"""Central differences of the fourth order: near contacts a step is far from linear."""
BY = ("dz", "dnu", "du", "dapplied", "dwrench")


def simulation(model, method="variational", turn=None, v=None, **options):
    """At the initial configuration moved by ``turn`` (nv,), with velocities v."""
    sim = ss.Simulation(model, method=method, **({"dt": 0.01, "tolerance": 1e-12, "relaxation": 1e-4} | options))
    q = sim.state.q.copy()
    if turn is not None:
        integrate(sim.model.tree, q, np.asarray(turn, dtype=float), 1.0, q)
    sim.set_state(q, np.zeros(sim.model.nv) if v is None else v)
    return sim


def make_inputs(model, rng=None, size=0.0, control=None):
    """Random forces of some size on everything."""
    given = Inputs(np.zeros(model.nu), np.zeros(model.nv), np.zeros((model.nlink, 6)))
    if rng is not None:
        given.applied[:], given.wrench[1:] = (
            size * rng.normal(size=model.nv),
            size * rng.normal(size=(model.nlink - 1, 6)),
        )
    if control is not None:
        given.control[:] = control
    return given


class Bodies:
    """A stepper driven by poses and velocities of bodies, from where the simulation is."""

    def __init__(self, sim, inputs):
        self.sim, self.stepper, self.inputs, self.n = sim, sim.stepper, inputs, sim.model.nlink - 1
        self.stepper.take(sim.state)
        motion = self.stepper.motion
        self.start, self.q = (motion.pose.pos.copy(), motion.pose.quat.copy(), motion.nu.copy()), sim.state.q.copy()

    def step(self, change=None, inputs=None):
        """z⁺ (positions, rotations), ν⁺ from the start moved by ``change`` (12·n,), (δz, δν)."""
        (pos, quat, nu), motion, model = self.start, self.stepper.motion, self.sim.model
        dz, dnu = np.zeros((2, self.n, 6)) if change is None else np.reshape(change, (2, self.n, 6))
        turned = Rotation.from_quat(np.roll(quat, -1, axis=1)) * Rotation.from_rotvec(
            np.vstack([np.zeros(3), dz[:, 3:]])
        )
        motion.pose.pos[1:], motion.pose.rot[:], motion.nu[1:] = pos[1:] + dz[:, :3], turned.as_matrix(), nu[1:] + dnu
        motion.pose.quat[:] = np.roll(turned.as_quat(), 1, axis=1)
        motion.lam[:], self.stepper._memory.name[:] = 0.0, 0
        state = model.state(self.q, np.zeros(model.nv))
        to_joint_state(self.stepper.mechanism.bodies, motion.pose, motion.nu, state.q, np.zeros((model.nv, 12)),
                       np.zeros((3, 3)), state.q, state.v)  # fmt: skip
        self.stepper._q[:], self.stepper._v[:], self.stepper._known[0] = state.q, state.v, 1.0
        self.stepper.advance(state, self.inputs if inputs is None else inputs, 1)
        assert self.stepper.unconverged == 0, self.stepper.status
        return motion.pose.pos.copy(), motion.pose.rot.copy(), motion.nu.copy()

    def moved(self, k, size):
        """A step with parameter k of (z, ν, u, applied, wrench) changed."""
        if k < 12 * self.n:
            return self.step(size * np.eye(12 * self.n)[k])
        given = Inputs(*(array.copy() for array in self.inputs))
        k -= 12 * self.n
        for array in (given.control, given.applied, given.wrench.reshape(-1)[6:]):
            if k < array.size:
                array[k] += size
                return self.step(inputs=given)
            k -= array.size
        raise IndexError

    def difference(self, one, other):
        """(δz, δν) between two ends of a step."""
        turn = (Rotation.from_matrix(other[1]).inv() * Rotation.from_matrix(one[1])).as_rotvec()
        return np.concatenate([np.hstack([one[0] - other[0], turn])[1:].ravel(), (one[2] - other[2])[1:].ravel()])

    def derivatives(self, parameters):
        """(12·n, parameters) by differences."""
        base, columns = self.step(), []
        for k in range(parameters):
            columns.append(sum(w * self.difference(self.moved(k, m * SMALL), base) for m, w in STENCIL) / SMALL)
        self.step()
        return np.transpose(columns)


def stacked(gradient):
    """(12·n, parameters) of a StepGradient with forces."""
    return np.hstack([np.vstack([getattr(gradient, f"dz_{by}"), getattr(gradient, f"dnu_{by}")]) for by in BY])
