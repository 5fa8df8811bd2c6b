"""What a compiled time step works with: constants, scratch and options; and why the loop ends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip.dynamics.delassus import ContactRows, make_contact_rows
from stickslip.dynamics.drives import Drives
from stickslip.dynamics.fluid_forces import Fluid
from stickslip.methods.base import FASTEST
from stickslip.model.arrays import Inertia, JointForces, Support, Tree
from stickslip.solvers.splitting.cone_sweeps import Contacts as Cones
from stickslip.solvers.storage import SMALL

MOST_DENSE = 300
"""Largest number of contacts and limits of an LCP."""
DONE, FULL, ROOM, UNCONVERGED, FAST, PARADOX, LARGE, PYTHON, OPEN = range(9)
REASONS = {
    DONE: "all steps are done",
    FULL: "a buffer of the contact search is full; it is grown",
    ROOM: "there are more contacts, or more pairs of them that share a tree, than there is room for; it is grown",
    UNCONVERGED: "the solver did not converge",
    FAST: f"a velocity is not a number or beyond {FASTEST:g}",
    PARADOX: "a sliding contact is in Painlevé's paradox; the first one is kept",
    LARGE: f"there are more than {SMALL // 3} contacts and limits (LCPs: {MOST_DENSE}), and the solver needs a dense "
    "matrix",
    OPEN: "a joint or a closed loop would be left open",
    PYTHON: "the method's choices are not compiled; stepper.why_stages() says which",
}
"""Why a compiled call ends."""
NEEDED = -1
"""Impulses are needed: no end of a call."""
COULOMB, RELAXED, ANITESCU_POTRA = range(3)
"""Laws: what is added to normal velocities. Stewart–Trinkle's is Coulomb's with a feedback of 1."""


class Bodies(NamedTuple):
    """The constant arrays of a model."""

    tree: Tree
    support: Support
    inertia: Inertia
    passive: JointForces
    """Joint forces without limits."""
    limits: JointForces
    """Joint forces with limits."""
    actuators: Drives
    fluid: Fluid
    radius: np.ndarray
    """(nl,) distance of the farthest point of each link's shapes from its origin [m]."""


class Space(NamedTuple):
    """Scratch of the contact problem, for up to N contacts and limits."""

    rows: ContactRows
    ids: np.ndarray
    """(N,) ids as in ``Matrices.pair``."""
    links: np.ndarray
    """(2, N) the two links of each."""
    W: np.ndarray
    """Used as (3n, 3n) where there is room for it."""
    cones: Cones
    p: np.ndarray
    """(3N,) impulses [N s]."""
    u: np.ndarray
    """(3N,) velocities of the rows [m/s]."""
    change: np.ndarray
    """(nv,) M⁻¹·Gᵀ·p, then v⁺."""
    law: np.ndarray
    """(4, N) offset that the law demands, offset with a bounded recovery [m/s], R_n and R_t [1/kg]."""
    owner: np.ndarray
    """(N,) the contact that a block of torsional or rolling friction belongs to, and ``factor`` (N,) μ_t or μ_r [m];
    of dry friction of joints, its bound [N s or N m s]."""
    factor: np.ndarray
    report: np.ndarray
    """(13,) numbers of the last step, at RESIDUAL, ITERATIONS, …"""


class StepOptions(NamedTuple):
    """The options of the method, of its formulation and of its solver."""

    law: int
    """COULOMB, RELAXED or ANITESCU_POTRA."""
    polygons: bool
    """Whether cones are polygonal, else they are circular."""
    sparse: bool
    """Whether the solver takes CSR matrices of many contacts."""
    grouped: bool
    """Whether there are groups of subcontacts, of which the primaries carry impulses."""
    largest: bool
    """Whether the primary is the subcontact of the largest gap."""
    touch: float
    """Gap up to which contacts of ANITESCU_POTRA count [m]; NaN: those that would be met within the step."""
    dt: float
    """[s]."""
    margin: float
    """Gap below which contacts are found [m], if ``reach`` is zero or nothing moves."""
    reach: float
    """The margin grows by this time [s] times the largest speed."""
    cell: float
    """Size of the broad phase's cells [m]."""
    feedback: float
    """Part of an overlap that is undone in a step."""
    rest_speed: float
    """Contacts that are approached more slowly do not bounce [m/s]."""
    recovery_speed: float
    """The fastest recovery of contacts and slides [m/s]."""
    recovery_rate: float
    """The fastest recovery of hinges and ball joints [rad/s]."""
    least: float
    """The least W of a recovering contact [1/kg]."""
    friction_ratio: float
    """R of normals over R of tangents."""
    warm: bool
    """Whether solvers start from the last step's impulses."""
    working_set: bool
    """Whether a pivoting method begins with the contacts that are met without impulses."""
    watch: bool
    """Whether a contact in Painlevé's paradox ends the call."""


def make_space(support: Support, contacts: int, dense: int = SMALL // 3, least: int = 1) -> Space:
    """Scratch for so many contacts; W is dense up to ``dense`` of them. Rows have room for at least ``least``
    velocities."""
    n = 3 * contacts
    R, weight, b, p, u = np.zeros((5, n))
    return Space(
        rows=make_contact_rows(support, contacts, least),
        ids=np.zeros(contacts, dtype=np.int64),
        links=np.zeros((2, contacts), dtype=np.int64),
        W=np.zeros(9 * dense**2),
        cones=Cones(np.zeros((contacts, 6)), R, weight, b, np.zeros(contacts)),
        p=p,
        u=u,
        change=np.zeros(len(support.dof_link)),
        law=np.zeros((4, contacts)),
        owner=np.zeros(contacts, dtype=np.int64),
        factor=np.zeros(contacts),
        report=np.zeros(13),
    )
