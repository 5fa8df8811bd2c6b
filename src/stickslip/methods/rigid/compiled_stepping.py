"""Time stepping that takes as many steps as it can in one compiled call, and the others stage by stage.

Steps are compiled for every formulation and every built-in solver, in both coordinates, with the detector of the
formulation. ``why_stages`` says what of a method's choices is not compiled; the steps that the compiled
loop leaves to the stages are counted by reason (``compiled_arrays.REASONS``). Both ways call the same kernels for
each law, and the same cores of solvers, and give the same results to round-off.
"""

from __future__ import annotations

import time as clock
from collections import Counter
from functools import cache
from inspect import getmembers, isfunction
from math import inf
from typing import Any, cast

import numpy as np

from stickslip.collision.contacts import ContactList
from stickslip.collision.polyhedral.peg_detector import PegDetector
from stickslip.files import memory
from stickslip.methods.base import DIVERGED, OK, Inputs
from stickslip.methods.handle import CompiledCall, Held
from stickslip.methods.rigid.assembly.compiled_matrices import make_blocks
from stickslip.methods.rigid.compiled_arrays import (
    ANITESCU_POTRA,
    COULOMB,
    DONE,
    FULL,
    MOST_DENSE,
    PARADOX,
    PYTHON,
    RELAXED,
    ROOM,
    UNCONVERGED,
    Bodies,
    StepOptions,
    make_space,
)
from stickslip.methods.rigid.compiled_joints import joint_rows_of
from stickslip.methods.rigid.compiled_loop import GroupSearch
from stickslip.methods.rigid.compiled_maximal import ClosingOptions
from stickslip.methods.rigid.compiled_problem import (
    ALLOWED,
    BLOCKS,
    CODE,
    CONTACTS,
    FOUND_BY,
    ITERATIONS,
    JOINTS,
    MARGIN,
    RESIDUAL,
    UNKNOWNS,
    UNSOLVED_STEPS,
    Chain,
    Plan,
    make_chain,
    make_plan,
)
from stickslip.methods.rigid.formulations.anitescu_potra import AnitescuPotra
from stickslip.methods.rigid.formulations.coulomb import Coulomb
from stickslip.methods.rigid.formulations.formulation import Formulation
from stickslip.methods.rigid.formulations.peg import Peg
from stickslip.methods.rigid.formulations.relaxed import Relaxed
from stickslip.methods.rigid.formulations.stewart_trinkle import StewartTrinkle
from stickslip.methods.rigid.impulse_memory import make_memory
from stickslip.methods.rigid.time_stepping import TimeStepping
from stickslip.model.model import Model, State
from stickslip.solvers.base import CODES, Solver, SolverResult
from stickslip.solvers.combination import Combination
from stickslip.solvers.core import Core
from stickslip.solvers.storage import SMALL

CONTACTS_AT_FIRST = SMALL // 3
"""Contacts and limits that there is room for at first; W is dense up to these."""
BLOCK_SIZE = 152
"""[bytes] for a pair of coupled contacts: nine numbers with their columns, and the number of the other contact."""
LAWS: dict[type[Formulation], int] = {
    Coulomb: COULOMB,
    Relaxed: RELAXED,
    StewartTrinkle: COULOMB,
    AnitescuPotra: ANITESCU_POTRA,
    Peg: COULOMB,
}
"""The formulations that are compiled, and their laws."""


@cache
def law_of(kind: type[Formulation]) -> type[Formulation] | None:
    """The compiled formulation that a class is, with every method as it is there: a subclass may have other options,
    but one that overrides an offset is another law."""
    for law in LAWS:
        own = (name for name, _ in getmembers(law, isfunction) if name[:2] != "__")
        if issubclass(kind, law) and all(getattr(kind, name) is getattr(law, name) for name in own):
            return law
    return None


def cores_of(solver: Solver | None, kind: str) -> tuple[Core, ...]:
    """The cores of a solver, one after another; none if it has to be called from Python."""
    if solver is None or solver.history:
        return ()
    if isinstance(solver, Combination):
        return solver.cores(kind)
    core = solver.compiled_core(kind)
    return () if core is None else (core,)


def _same(old: Any, new: Any) -> bool:
    """Whether two arguments are the same object, or options of the same numbers."""
    return old is new or (isinstance(old, StepOptions | ClosingOptions) and old == new)


class CompiledStepping(TimeStepping):
    """Time stepping with a compiled loop; with ``compiled = False`` all steps are taken stage by stage."""

    compiled = True

    def __init__(self, model: Model, dt: float, variant: str, **options) -> None:
        super().__init__(model, dt, variant, **options)
        support, least = self.coordinates.support, self.coordinates.widest
        self._space, self._blocks = make_space(support, CONTACTS_AT_FIRST, least=least), make_blocks(support, 1, 1)
        self._chain: Chain | None = None
        self._plan: Plan | None = None
        self._chosen: Any = None
        """What the cores were made for."""
        self._cores_kept: tuple[Core, ...] = ()
        self._held: Held | None = None
        self._joints = joint_rows_of(self.coordinates)
        self._changing: tuple[Any, ...] = ()
        """What the handle was made of, but for constants."""
        self.why_diverged = ""
        """Why a step was not tried."""
        self._unknowns = 0
        """Unknowns of LCPs that there must be room for."""
        self.left_to_stages: Counter[int] = Counter()
        """Number of steps that were taken by the stages, by reason (``compiled_arrays.REASONS``)."""

    def advance(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]:
        first, done, compiled = self.step, 0, self.compiled and not self.why_stages()
        while done < n:
            reason = PYTHON
            if compiled:
                steps, reason = self._advance_compiled(state, inputs, n - done, inf if self.solver.only_counts else 0.0)
                done += steps
                if reason == UNCONVERGED and self.solver.final:
                    self.step = first + done
                    self._keep_unsolved(state, inputs)
                    steps, reason = self._advance_compiled(state, inputs, 1, 1.0)
                    done += steps
            if reason == DONE:
                continue
            if reason == ROOM:
                if not self._make_room():
                    return DIVERGED, done
            elif reason == FULL:
                self._make_search_room()
            elif reason == PARADOX and self._keeps_paradox(state, inputs):
                continue
            elif done < n:
                self.left_to_stages[reason] += 1
                self.step = first + done
                status, _ = super().advance(state, inputs, 1)
                if status != OK:
                    return status, done
                done += 1
        return OK, n

    def _keep_unsolved(self, state: State, inputs: Inputs) -> None:
        """Keep the problem that the compiled loop has not solved, and its answer."""
        result, report = self._result(0.0), self.solver.report
        assert report is not None
        if not report.fits(len(result.z)):
            report.count_more(1)
            return
        self._begin(state, inputs)
        self._detect()
        self._formulate()
        report.keep(self.problem, result)

    def _keeps_paradox(self, state: State, inputs: Inputs) -> bool:
        """Whether the stages, up to the problem, find the contact in Painlevé's paradox and keep it. The compiled loop
        then takes the step, so that its bits are the same in runs that have seen a paradox before."""
        self._begin(state, inputs)
        self._detect()
        self._formulate()
        return getattr(self, "seen_paradox", None) is not None

    @property
    def polygons(self) -> bool:
        """Whether the cones of the problem are polygonal."""
        return self.formulation.form in ("lcp", "reduced")

    def why_stages(self) -> str:
        """What of the method's choices is not compiled, so that Python takes every step; empty if all is."""
        formulation, solver = self.formulation, self.solver
        if law_of(type(formulation)) is None:
            return f"the formulation {type(formulation).__name__} is not built in"
        if formulation.form == "mlcp":
            return "the form 'mlcp' has velocities as unknowns"
        if getattr(formulation, "soft", None) is not None:
            return "solref and solimp are read by Python"
        if solver.named is None:
            return "the solver is a Python function"
        if not self._cores():
            return f"the solver {self.variant}, with these options, runs in Python"
        if not (self.search.grouped if formulation.groups else self.search.compiled):
            return "the detector is called from Python"
        return ""

    def _cores(self) -> tuple[Core, ...]:
        """The core of the solver, and that of the second solver if there is one; kept until an option changes."""
        named, second = self.solver.named, self.solver.second
        chosen = (named, second, self.polygons, *(() if named is None else vars(named).values()))
        if chosen != self._chosen:
            kind = "lcp" if self.polygons else "cones"
            cores = cores_of(named, kind)
            if second is not None:
                more = cores_of(second, kind)
                cores = cores + more if len(cores) == len(more) == 1 else ()
            self._chosen, self._cores_kept, self._chain = chosen, cores, None
        return self._cores_kept

    def _step_options(self, margin: float, reach: float, cell: float) -> StepOptions:
        f, law = self.formulation, law_of(type(self.formulation))
        assert law is not None
        return StepOptions(
            law=LAWS[law],
            polygons=self.polygons,
            sparse=self._takes_sparse(law),
            grouped=f.groups,
            largest=getattr(f, "primary", "") == "largest",
            touch=np.nan if getattr(f, "touch", None) is None else f.touch,  # type: ignore[attr-defined]
            dt=self.dt,
            margin=margin,
            reach=reach,
            cell=cell,
            feedback=f.feedback if isinstance(f, Coulomb) else 1.0,
            rest_speed=f.rest_speed,
            recovery_speed=f.recovery.speed,
            recovery_rate=f.recovery.rate,
            least=f.recovery.least,
            friction_ratio=f.friction_ratio if isinstance(f, Relaxed) else 1.0,
            warm=self.warm_start,
            working_set=self.working_set and not self.solver.warm,
            watch=isinstance(f, Coulomb) and getattr(self, "seen_paradox", None) is None,
        )

    def _takes_sparse(self, law: type[Formulation]) -> bool:
        """Whether the solver may get a CSR matrix; the elimination of loops, or of contacts, leaves dense ones."""
        plain = not self.polygons and law is not AnitescuPotra and not self.coordinates.looped
        return plain and all(core.sparse for core in self._cores())

    def _make_room(self) -> bool:
        """Make room for half as much again as the last compiled call asked for. Contacts whose matrix would not fit the
        memory come from a motion that is lost: the answer is then False, and ``why_diverged`` says why."""
        report = self._space.report
        contacts, blocks, unknowns = int(report[CONTACTS]), int(report[BLOCKS]), int(report[UNKNOWNS])
        if 2 * blocks * BLOCK_SIZE > memory() / 4:
            needed = 2 * blocks * BLOCK_SIZE / 2**30
            self.why_diverged = (
                f"the matrix of {contacts} contacts needs {needed:.3g} GiB, so bodies lie inside each other, or dt "
                "is too long"
            )
            return False
        if contacts > min(len(self._space.ids), len(self._impulses.arrays.pair)):
            contacts = max(contacts * 3 // 2, CONTACTS_AT_FIRST)
            dense = min(contacts, MOST_DENSE) if self.polygons else SMALL // 3
            self._space = make_space(self.coordinates.support, contacts, dense, self.coordinates.widest)
            self._impulses.keep_room(contacts)
        self._chain = None
        self._unknowns = max(self._unknowns, unknowns * 3 // 2)
        self._blocks = make_blocks(self.coordinates.support, 2 * contacts, max(2 * blocks, len(self._blocks.other)))
        return True

    def _make_search_room(self) -> None:
        """Let the buffers of the contact search grow."""
        if isinstance(self.detector, PegDetector):
            self.detector.make_room(self.contacts)
            self._held = None
        else:
            self.search.shapes.make_room(self.contacts)

    def _prepare(self) -> tuple[Chain, Plan]:
        """The chain of solvers and the plan's scratch, made anew where options or the room have changed."""
        solver, cores, contacts = self.solver.named, self._cores(), len(self._space.ids)
        assert solver is not None
        if self._chain is None or self._plan is None:
            unknowns = 3 * min(contacts, SMALL // 3)
            if self.polygons:
                unknowns = max(self._unknowns, CONTACTS_AT_FIRST * (2 + self.formulation.directions))
            room = 3 * contacts if all(core.sparse for core in cores) else unknowns
            shared = solver.max_iterations if isinstance(solver, Combination) else None
            self._chain = make_chain(cores, solver.tolerance, shared, room)
            self._plan = make_plan(self.formulation.cone, contacts, unknowns, self.polygons)
        return self._chain, self._plan

    def _hold(self, state: State, inputs: Inputs) -> Held:
        """The arguments of the compiled loop; the last ones if nothing has been replaced since."""
        c = cast(Any, self.coordinates)
        chain, plan = self._prepare()
        self._impulses.make_room(0, c.joint_rows)
        mass, motion, limits = c.arrays(self.dt, self.work.acceleration)
        search, *margins = self.search.arrays()
        changing = (
            search, inputs, c.kin, mass, motion, limits, self.contacts.arrays, self._impulses.arrays, self._space,
            self._blocks, plan, chain, self._step_options(*margins), state.q, state.v, *self._joints.options(),
        )  # fmt: skip
        if self._held is None or not all(map(_same, self._changing, changing)):
            m, found = c.bodies_model, cast(Any, search)
            if isinstance(self.detector, PegDetector):
                found = GroupSearch(search, *self.detector.arrays())
            radius = self.search.reach.radius
            bodies = Bodies(m.tree, c.support, m.inertia, c.passive, m.joint_forces, c.drives, c.fluid, radius)
            self._held = Held((bodies, found, *changing[1:15], *self._joints.make(self._space), *changing[15:]))
            self._changing = changing
        return self._held

    def compiled_call(self, state: State, inputs: Inputs) -> CompiledCall | None:
        if not self.compiled or self.why_stages() or self._joints.why_alone:
            return None
        held, m = self._hold(state, inputs), self._impulses.arrays
        self._space.report[ALLOWED] = inf if self.solver.only_counts or self.solver.final else 0.0
        own = {"pair": m.pair, "impulse": m.impulse, "joint_impulse": m.joint, "report": self._space.report}
        loop = self._joints.loops[self.formulation.groups]
        return CompiledCall(
            loop, held, own, False, self.contacts.arrays.force, ("report",), ("report", UNSOLVED_STEPS)
        )  # fmt: skip

    def cores_at_hand(self) -> list[tuple[int, Any]]:
        return [(core.address(), core) for core in self._cores()]

    def fit_room(self, contacts: int) -> None:
        least = self.coordinates.widest
        self._space, self._chain = make_space(self.coordinates.support, contacts, least=least), None
        self.contacts = ContactList(self.contacts.kin, capacity=contacts)
        self._impulses.arrays = make_memory(contacts, len(self._impulses.arrays.joint))

    def _advance_compiled(self, state: State, inputs: Inputs, n: int, unsolved: float) -> tuple[int, int]:
        """Take up to n steps, at most so many of them with problems that are not solved; returns how many steps, and
        why no more."""
        self._joints.begin(state)
        held, space = self._hold(state, inputs), self._space
        begin = clock.perf_counter()
        space.report[UNSOLVED_STEPS], space.report[ALLOWED] = 0.0, unsolved
        done, reason = self._joints.loops[self.formulation.groups](held, n)
        self.solver.count(int(space.report[UNSOLVED_STEPS]), kept=unsolved < inf)
        if done:
            self._joints.end()
            self.detector.margin = float(space.report[MARGIN])
            self._forget_problem()
            self._velocity, self._solved, self._pulled = state.v.copy(), True, True
        if done and reason == DONE:
            self.solver.result = self._result((clock.perf_counter() - begin) / n)
        return done, reason

    def _result(self, seconds: float) -> SolverResult:
        """How the last step's problem was solved."""
        report, solver, space = self._space.report, self.solver.named, self._space
        n, by = int(report[UNKNOWNS]), ""
        assert self._plan is not None
        whole = not self.polygons and n == 3 * int(report[CONTACTS])
        z = space.p[:n].copy() if whole else self._plan.vector[1, :n].copy()
        if report[JOINTS] and self.formulation.form != "lcp":
            z = np.concatenate([self._impulses.arrays.joint[: int(report[JOINTS])], z])
        if isinstance(solver, Combination) and n:
            by = list(solver.parts)[int(report[FOUND_BY])]
        status = CODES[int(report[CODE])]
        return SolverResult(z, status, int(report[ITERATIONS]), float(report[RESIDUAL]), seconds, found_by=by)
