"""Time stepping that takes as many steps as it can in one compiled call, and the others stage by stage.

Steps are compiled for Coulomb's and for relaxed contacts, in joint coordinates without loops, with the detector
"convex" and the solver "pgs"; ``compiled_contacts.REASONS`` says which of them are left to the stages. Both ways call
the same kernels for each law and give the same results to round-off.
"""

from __future__ import annotations

import time as clock
from collections import Counter
from functools import cache
from inspect import getmembers, isfunction

from stickslip.methods.base import OK, Inputs
from stickslip.methods.rigid.assembly.compiled_matrices import make_blocks
from stickslip.methods.rigid.compiled_contacts import (
    BLOCKS,
    CONTACTS,
    DONE,
    MARGIN,
    PAIRS,
    RESIDUAL,
    ROOM,
    SWEEPS,
    Bodies,
    StepOptions,
    advance,
    make_space,
)
from stickslip.methods.rigid.coordinates.joint_coordinates import JointCoordinates
from stickslip.methods.rigid.formulations.coulomb import Coulomb
from stickslip.methods.rigid.formulations.formulation import Formulation
from stickslip.methods.rigid.formulations.relaxed import Relaxed
from stickslip.methods.rigid.time_stepping import TimeStepping
from stickslip.model.model import Model, State
from stickslip.solvers.base import SolverResult, Status
from stickslip.solvers.splitting.pgs import PGS
from stickslip.solvers.storage import SMALL

CONTACTS_AT_FIRST = SMALL // 3
"""Contacts and limits that there is room for at first; W is dense up to these."""


@cache
def keeps_law(kind: type[Formulation]) -> bool:
    """Whether a formulation is Coulomb's or relaxed, with every method as it is there: a subclass may have other
    options, but one that overrides an offset is another law."""
    return not kind.groups and any(
        issubclass(kind, law)
        and all(getattr(kind, name) is method for name, method in getmembers(law, isfunction) if name[:2] != "__")
        for law in (Coulomb, Relaxed)
    )


class CompiledStepping(TimeStepping):
    """Coulomb's and relaxed contacts; with ``compiled = False`` all steps are taken stage by stage."""

    compiled = True

    def __init__(self, model: Model, dt: float, variant: str, **options) -> None:
        super().__init__(model, dt, variant, **options)
        self._space, self._blocks = make_space(model.support, CONTACTS_AT_FIRST, 0), make_blocks(model.support, 1, 1)
        self.left_to_stages: Counter[int] = Counter()
        """Number of steps that the compiled loop has left to the stages, by reason (``compiled_contacts.REASONS``)."""

    def advance(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]:
        first, done, compiled = self.step, 0, self._compilable()
        while done < n:
            reason = PAIRS
            if compiled:
                steps, reason = self._advance_compiled(state, inputs, n - done)
                done += steps
            if reason == ROOM:
                self._make_room()
            elif done < n:
                if compiled:
                    self.left_to_stages[reason] += 1
                self.step = first + done
                status, _ = super().advance(state, inputs, 1)
                if status != OK:
                    return status, done
                done += 1
        return OK, n

    def _compilable(self) -> bool:
        solver = self.solver.named
        return (
            self.compiled
            and type(solver) is PGS
            and not solver.history
            and self.search.compiled
            and keeps_law(type(self.formulation))
            and getattr(self.formulation, "soft", None) is None
            and type(self.coordinates) is JointCoordinates
            and self.coordinates.bilateral() is None
        )

    def _step_options(self, solver: PGS, margin: float, reach: float, cell: float) -> StepOptions:
        formulation = self.formulation
        return StepOptions(
            relaxed=isinstance(formulation, Relaxed),
            dt=self.dt,
            margin=margin,
            reach=reach,
            cell=cell,
            feedback=formulation.feedback if isinstance(formulation, Coulomb) else 1.0,
            rest_speed=formulation.rest_speed,
            recovery_speed=formulation.recovery.speed,
            recovery_rate=formulation.recovery.rate,
            friction_ratio=formulation.friction_ratio if isinstance(formulation, Relaxed) else 1.0,
            tolerance=solver.tolerance,
            sweeps=solver.sweeps,
            patience=solver.patience,
            relaxation=solver.relaxation or 0.0,
            warm=self.warm_start,
            watch=isinstance(formulation, Coulomb) and getattr(self, "seen_paradox", None) is None,
        )

    def _make_room(self) -> None:
        """Make room for twice as much as the last compiled call asked for."""
        contacts, blocks = int(self._space.report[CONTACTS]), int(self._space.report[BLOCKS])
        if contacts > min(len(self._space.ids), len(self._impulses.arrays.pair)):
            self._space = make_space(self.model.support, 2 * contacts, len(self._space.sweeps.impulses))
            self._impulses.keep_room(2 * contacts)
        self._blocks = make_blocks(self.model.support, 2 * contacts, max(2 * blocks, len(self._blocks.other)))

    def _advance_compiled(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]:
        """Take up to n steps; returns how many, and why no more."""
        c, m, solver = self.coordinates, self.model, self.solver.named
        assert isinstance(c, JointCoordinates)
        assert isinstance(solver, PGS)
        if len(self._space.sweeps.impulses) != solver.acceleration:
            self._space = make_space(m.support, len(self._space.ids), solver.acceleration)
        mass, motion, limits, passive = c.arrays(self.dt, self.work.acceleration)
        bodies = Bodies(m.tree, m.support, m.inertia, passive, m.joint_forces, m.actuators, self.search.reach.radius)
        search, *margins = self.search.arrays()
        space = self._space
        begin = clock.perf_counter()
        done, reason = advance(
            bodies, search, inputs, c.kin, mass, motion, limits, self.contacts.arrays, self._impulses.arrays, space,
            self._blocks, self._step_options(solver, *margins), state.q, state.v, n,
        )  # fmt: skip
        if done:
            self.detector.margin = float(space.report[MARGIN])
            self._forget_problem()
            self._velocity, self._solved = state.v.copy(), True
        if done and reason == DONE:
            seconds, report = (clock.perf_counter() - begin) / n, space.report
            z, sweeps = space.p[: 3 * int(report[CONTACTS])].copy(), int(report[SWEEPS])
            self.solver.result = SolverResult(z, Status.CONVERGED, sweeps, float(report[RESIDUAL]), seconds)
        return done, reason
