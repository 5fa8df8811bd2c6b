"""Expo: exponential integration of stiff viscoelastic contacts (Hammoud, Olivieri, Righetti, Carpentier, Del Prete).

Seen from the n contacts, the motion is p̈ = Υλ + p̈_free, λ = −K·Δp − B·Δṗ (eqs. 9–11). With Υ = J·M⁻¹·Jᵀ and p̈_free
frozen for one step this is linear, and is integrated exactly, however stiff. What the robot feels are two averages of
the contact forces (23), (25), each projected on the friction cone:

    λ̄  = 1/dt   ∫λ   moves the velocity:       v⁺ = v + dt·(a_free + M⁻¹Jᵀλ̄)
    λ̿  = 2/dt²  ∫∫λ  moves the configuration:  q⁺ = q ⊕ dt·(v + dt/2·(a_free + M⁻¹Jᵀλ̿))

First order in dt where Υ and p̈_free change; exact for constant ones. Sizes: Υ is 3n×3n; islands of contacts that share
no moving body are solved one by one. Cost per step: linear in the links, cubic in the contacts of an island.

Differs from the paper in: the averages come from the modes of the contact dynamics, in closed form, where all contacts
of an island have the same B/K (``math/modes.py``), else from Padé approximants of systems of half the size
(``math/viscoelastic_pade.py``), of an order and a number of repetitions that follow from the norm; the cone projection
scales the tangential force and keeps the normal one, as the authors' code does; detection and anchors are updated at
the beginning of a step instead of its end (the same thing); joint damping, springs, limits and servos are treated
implicitly, so that they do not limit dt; contact points on spheres and on moving bodies have the acceleration terms of
their wandering (``contact/contact_space.py``).
"""

from __future__ import annotations

from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import DAMPING, FRICTION, STIFFNESS
from stickslip.collision.pairs import Pairs
from stickslip.contact.contact_space import Islands, contact_acceleration, find_islands, make_islands
from stickslip.contact.spring_damper import spring_damper
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.crba import composite_inertia
from stickslip.dynamics.data import MassMatrix, make_data
from stickslip.dynamics.delassus import ContactRows, block, contact_jacobian, eliminate, make_contact_rows
from stickslip.dynamics.factor import ltdl_factor, solve, solve_l
from stickslip.dynamics.joint_forces import joint_gains
from stickslip.dynamics.kinematics import forward_accelerations
from stickslip.dynamics.rnea import bias_forces
from stickslip.errors import expected, number
from stickslip.math.eigen import Eigenbasis, make_eigenbasis
from stickslip.math.modes import modal_averages
from stickslip.math.pade import DEGREES
from stickslip.math.viscoelastic_pade import PadeWork, balanced_norm, choose, make_pade_work, pade_averages
from stickslip.model.model import Model, State
from stickslip.steppers.base import CONTACTS_FULL, DIVERGED, OK, Capabilities, Inputs, Stage, bounded
from stickslip.steppers.viscoelastic import Viscoelastic, detect, gather_forces, update_kinematics

AUTO, PADE = -1, -2
"""Instead of a number of matrix products: the modes where possible, or Padé approximants with order by tolerance."""


class ContactWork(NamedTuple):
    """Scratch of the contact dynamics; island matrices have room for m rows."""

    mass: MassMatrix
    rows: ContactRows
    islands: Islands
    basis: Eigenbasis
    pade: PadeWork
    S: np.ndarray
    """(m, m) K^½·Υ·K^½ of an island [1/s²]."""
    y: np.ndarray
    """(m,) scaled spring lengths, then ∫(y + βy′)."""
    w: np.ndarray
    """(m,) their rates, then ∫∫(y + βy′)."""
    c: np.ndarray
    """(m,) scaled free accelerations."""
    beta: np.ndarray
    """(m,) B/K [s]."""
    force1: np.ndarray
    """(capacity, 3) λ̄ in the contact frames [N]."""
    force2: np.ndarray
    """(capacity, 3) λ̿ [N]."""


class JointWork(NamedTuple):
    """Scratch per velocity."""

    stiffness: np.ndarray
    damping: np.ndarray
    free: np.ndarray
    """(nv,) accelerations without contacts."""
    mean: np.ndarray
    """(nv,) accelerations under λ̿, then the mean velocity of the step."""


@kernel
def free_motion(world, work, expo, joints, inputs, dt, q, v):
    """Mass matrix, its factor, and the accelerations of links and joints without contact forces."""
    support, mass, free = world.support, expo.mass, joints.free
    gather_forces(world, work, inputs, q, v)
    bias_forces(world.tree, support, world.inertia, work.f_ext, work.kin, free)
    composite_inertia(world.tree, support, world.inertia, work.kin, mass)
    joint_gains(world.tree, world.passive, world.actuators, q, v, inputs.control, joints.stiffness, joints.damping)
    for d in range(v.shape[0]):
        K, B = joints.stiffness[d], joints.damping[d]
        mass.M[support.start[d]] += dt * (B + dt * K)
        free[d] = work.tau[d] - free[d] - dt * K * v[d]
    ltdl_factor(support, mass.M, mass.L)
    solve(support, mass.L, free)
    forward_accelerations(world.tree, support, free, work.kin)


@kernel
def average_forces(world, work, expo, contacts, matmuls, tolerance, dt):
    """``force1`` and ``force2`` of every contact, not yet projected on the cones."""
    support, L = world.support, expo.mass.L
    for c in range(contacts.found[0]):
        contact_jacobian(support, work.kin, contacts.link1, contacts.link2, contacts.point, contacts.axes, c, expo.rows)
        eliminate(support, L, c, expo.rows)
    islands = expo.islands
    for i in range(find_islands(support, contacts, islands)):
        first, last = islands.start[i], islands.start[i + 1]
        n = 3 * (last - first)
        if n > expo.S.shape[0]:
            return CONTACTS_FULL
        contact_dynamics(world, work, expo, contacts, first, last)
        if not integrate_contacts(expo, n, matmuls, tolerance, dt):
            return DIVERGED
        for a in range(first, last):
            c = islands.order[a]
            root = sqrt(contacts.material[c, STIFFNESS])
            for r in range(3):
                expo.force1[c, r] = -root * expo.y[3 * (a - first) + r] / dt
                expo.force2[c, r] = -root * expo.w[3 * (a - first) + r] * 2.0 / (dt * dt)
    return OK


@kernel
def contact_dynamics(world, work, expo, contacts, first, last):
    """S, y, w, c and β of one island."""
    order, S, L = expo.islands.order, expo.S, expo.mass.L
    for a in range(first, last):
        i, c = 3 * (a - first), order[a]
        K = contacts.material[c, STIFFNESS]
        root = sqrt(K)
        acceleration = contact_acceleration(work.kin, contacts, c)
        for r in range(3):
            expo.beta[i + r] = contacts.material[c, DAMPING] / K
            expo.y[i + r] = root * contacts.stretch[c, r]
            expo.w[i + r] = root * contacts.velocity[c, r]
        expo.c[i] = root * acceleration[0]
        expo.c[i + 1] = root * acceleration[1]
        expo.c[i + 2] = root * acceleration[2]
        for b in range(first, a + 1):
            j = 3 * (b - first)
            scale = root * sqrt(contacts.material[order[b], STIFFNESS])
            block(world.support, L, expo.rows, c, order[b], S, i, j)
            for r in range(3):
                for s in range(3):
                    S[i + r, j + s] *= scale
            if b < a:
                for r in range(3):
                    for s in range(3):
                        S[j + s, i + r] = S[i + r, j + s]


@kernel
def integrate_contacts(expo, n, matmuls, tolerance, dt):
    """y ← ∫(y + βy′), w ← ∫∫(y + βy′) of one island; False if its modes cannot be found (never seen)."""
    beta = expo.beta
    alike = matmuls == AUTO
    for i in range(1, n):
        alike = alike and abs(beta[i] - beta[0]) <= 1e-12 * beta[0]
    if alike:
        return modal_averages(expo.S, n, beta[0], dt, expo.basis, expo.y, expo.w, expo.c)
    row, times = matmuls, 1
    if matmuls < 0:
        row, times = choose(balanced_norm(expo.S, n, beta, dt), tolerance, n)
    pade_averages(expo.S, n, beta, dt, row, times, expo.pade, expo.y, expo.w, expo.c)
    return True


@kernel
def project_on_cone(force, c, mu):
    """Normal force to zero if it pulls, tangential force scaled back to μ times the normal one (21), (22)."""
    fn = max(0.0, force[c, 0])
    size = sqrt(force[c, 1] * force[c, 1] + force[c, 2] * force[c, 2])
    force[c, 0] = fn
    if size > mu * fn:
        force[c, 1] *= mu * fn / size
        force[c, 2] *= mu * fn / size


@kernel
def add_contact_acceleration(world, expo, nc, force, free, out):
    """out = free + M⁻¹Jᵀλ."""
    support, rows, L = world.support, expo.rows, expo.mass.L
    for d in range(out.shape[0]):
        out[d] = 0.0
    for c in range(nc):
        f0, f1, f2 = force[c, 0], force[c, 1], force[c, 2]
        for k in range(rows.length[c]):
            out[rows.dofs[c, k]] += rows.Y[c, k, 0] * f0 + rows.Y[c, k, 1] * f1 + rows.Y[c, k, 2] * f2
    for d in range(out.shape[0]):
        out[d] /= L[support.start[d]]
    solve_l(support, L, out)
    for d in range(out.shape[0]):
        out[d] += free[d]


@kernel
def accelerate(world, work, expo, joints, contacts, inputs, matmuls, tolerance, dt, q, v):
    """``work.acceleration`` under λ̄ and ``joints.mean`` under λ̿."""
    free_motion(world, work, expo, joints, inputs, dt, q, v)
    nc = contacts.found[0]
    status = average_forces(world, work, expo, contacts, matmuls, tolerance, dt)
    if status != OK:
        return status
    for c in range(nc):
        project_on_cone(expo.force1, c, contacts.material[c, FRICTION])
        project_on_cone(expo.force2, c, contacts.material[c, FRICTION])
    add_contact_acceleration(world, expo, nc, expo.force1, joints.free, work.acceleration)
    add_contact_acceleration(world, expo, nc, expo.force2, joints.free, joints.mean)
    return OK


@kernel
def integrate_state(world, acceleration, mean, dt, q, v):
    for d in range(v.shape[0]):
        mean[d] = v[d] + 0.5 * dt * mean[d]
        v[d] += dt * acceleration[d]
    integrate(world.tree, q, mean, dt, q)


@kernel
def step(world, work, expo, joints, contacts, anchors, inputs, matmuls, tolerance, dt, q, v):
    """One step: the table of contents of the method."""
    update_kinematics(world, work, q, v)
    status = detect(world, work, contacts)
    if status != OK:
        return status
    spring_damper(work.kin, contacts, anchors, dt)
    status = accelerate(world, work, expo, joints, contacts, inputs, matmuls, tolerance, dt, q, v)
    if status != OK:
        return status
    status = bounded(work.acceleration, v, dt)
    if status != OK:
        return status
    integrate_state(world, work.acceleration, joints.mean, dt, q, v)
    return OK


@kernel
def advance(world, work, expo, joints, contacts, anchors, inputs, matmuls, tolerance, dt, q, v, n):
    """n steps without Python in between; returns (status, steps done)."""
    for k in range(n):
        status = step(world, work, expo, joints, contacts, anchors, inputs, matmuls, tolerance, dt, q, v)
        if status != OK:
            return status, k
    return OK, n


class Expo(Viscoelastic):
    """Exponential integration of spring-damper contacts."""

    capabilities = Capabilities(
        summary="exponential integrator: exact for linear contact dynamics, any stiffness",
        laws=("spring-damper", "none"),
        honours=frozenset({"friction", "stiffness", "damping"}),
        order=1,
        reference="Hammoud et al., eqs. (11)–(30)",
    )
    replaceable = frozenset({"user", "collision", "integrate", "record"})
    options: ClassVar[dict[str, str]] = {
        **Viscoelastic.options,
        "matmuls": "'auto' (default): modes, Padé where contacts differ in B/K; 'pade'; or the order of 0 … 6 products",
        "tolerance": "relative error that chooses the order of a Padé approximant (default 1e-8)",
    }

    def __init__(
        self,
        model: Model,
        dt: float,
        law: str,
        pairs: Pairs,
        *,
        matmuls: int | str = "auto",
        tolerance: float = 1e-8,
        **options,
    ) -> None:
        super().__init__(model, dt, law, pairs, **options)
        named = {"auto": AUTO, "pade": PADE}
        if isinstance(matmuls, bool) or (matmuls not in named and matmuls not in range(len(DEGREES))):
            raise expected("matmuls", "'auto', 'pade' or a whole number from 0 to 6", matmuls)
        self.matmuls = named[matmuls] if isinstance(matmuls, str) else int(matmuls)
        self.tolerance = number("tolerance", tolerance, "a number from 1e-15 to 1", least=1e-15)
        self.joints = JointWork(*(np.zeros(model.nv) for _ in range(4)))
        self._make_work(len(self._buffer.pair), 3 * min(8, len(self._buffer.pair)))

    def _make_work(self, contacts: int, rows: int) -> None:
        """Scratch for so many contacts, and so many rows in one island."""
        self.expo = ContactWork(
            mass=make_data(self.model).mass,
            rows=make_contact_rows(self.model.support, contacts),
            islands=make_islands(self.model.nv, contacts),
            basis=make_eigenbasis(rows),
            pade=make_pade_work(rows),
            S=np.zeros((rows, rows)),
            y=np.zeros(rows),
            w=np.zeros(rows),
            c=np.zeros(rows),
            beta=np.zeros(rows),
            force1=np.zeros((contacts, 3)),
            force2=np.zeros((contacts, 3)),
        )

    def grow(self) -> None:
        """After CONTACTS_FULL: either the buffer of contacts or the matrix of an island was too small."""
        rows = len(self.expo.y)
        if len(self.contacts) > len(self._buffer.pair):
            self.contacts.grow()
        else:
            rows = min(2 * rows, 3 * len(self._buffer.pair))
        self._make_work(len(self._buffer.pair), rows)

    def advance(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]:
        fixed = (self.expo, self.joints, self._buffer, self.anchors, inputs, self.matmuls, self.tolerance)
        return advance(self.world, self.work, *fixed, self.dt, state.q, state.v, n)

    def stages(self) -> dict[str, Stage]:
        return {**super().stages(), "solve": self._solve, "integrate": self._integrate}

    def _solve(self, sim) -> None:
        if len(self._buffer.pair) > len(self.expo.force1):
            self._make_work(len(self._buffer.pair), len(self.expo.y))
        fixed = (self._buffer, sim.inputs, self.matmuls, self.tolerance, self.dt, sim.state.q, sim.state.v)
        while accelerate(self.world, self.work, self.expo, self.joints, *fixed) == CONTACTS_FULL:
            self.grow()

    def _integrate(self, sim) -> None:
        integrate_state(self.world, self.work.acceleration, self.joints.mean, self.dt, sim.state.q, sim.state.v)
