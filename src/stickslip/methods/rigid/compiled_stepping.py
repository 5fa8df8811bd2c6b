"""Time stepping that takes as many steps as it can in one compiled call, and the others stage by stage.

Compiled are steps with joint coordinates without loops, the detector "convex" and the solver "pgs";
``compiled_contacts`` says which of them are left to the stages. Both ways give the same to round-off.
"""

from __future__ import annotations

import time as clock
from collections import Counter

from stickslip.collision.convex.compiled import Search
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.collision.soft_pairs.pairs import Pairs
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
    How,
    Memory,
    advance,
    make_space,
)
from stickslip.methods.rigid.coordinates.joint_coordinates import JointCoordinates
from stickslip.methods.rigid.formulations.coulomb import Coulomb
from stickslip.methods.rigid.formulations.relaxed import Relaxed
from stickslip.methods.rigid.time_stepping import TimeStepping
from stickslip.model.model import Model, State
from stickslip.solvers.base import SolverResult, Status
from stickslip.solvers.splitting.pgs import PGS
from stickslip.solvers.storage import SMALL

CONTACTS_AT_FIRST = SMALL // 3
"""Room; up to these W is dense."""


class CompiledStepping(TimeStepping):
    """Coulomb's and relaxed contacts; ``compiled = False`` takes all steps stage by stage."""

    compiled = True

    def __init__(self, model: Model, dt: float, variant: str, pairs: Pairs, **options) -> None:
        super().__init__(model, dt, variant, pairs, **options)
        self._space, self._blocks = make_space(model.support, CONTACTS_AT_FIRST, 0), make_blocks(model.support, 1, 1)
        self.left_to_stages: Counter[int] = Counter()
        """How many steps the compiled call has left to the stages, by reason: see ``compiled_contacts.REASONS``."""

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
            and type(self.detector) is ConvexDetector
            and (type(self.formulation) is Coulomb or (type(self.formulation) is Relaxed and not self.formulation.soft))
            and type(self.coordinates) is JointCoordinates
            and self.coordinates.bilateral() is None
        )

    def _how(self) -> How:
        solver, formulation, detector = self.solver.named, self.formulation, self.detector
        assert isinstance(solver, PGS)
        assert isinstance(detector, ConvexDetector)
        return How(
            relaxed=isinstance(formulation, Relaxed),
            dt=self.dt,
            margin=self.reach.at_rest(self.dt) if self._automatic_margin else detector.margin,
            reach=self.reach.seconds(self.dt) if self._automatic_margin else 0.0,
            cell=detector.cell,
            feedback=formulation.feedback if isinstance(formulation, Coulomb) else 1.0,
            rest_speed=formulation.rest_speed,
            friction_ratio=formulation.friction_ratio if isinstance(formulation, Relaxed) else 1.0,
            tolerance=solver.tolerance,
            sweeps=solver.sweeps,
            patience=solver.patience,
            relaxation=solver.relaxation or 0.0,
            warm=self.warm_start,
            watch=isinstance(formulation, Coulomb) and getattr(self, "seen_paradox", None) is None,
        )

    def _make_room(self) -> None:
        """Twice as much as the last compiled call asked for."""
        contacts, blocks = int(self._space.told[CONTACTS]), int(self._space.told[BLOCKS])
        if contacts > min(self._space.links.shape[1], len(self._impulses.pair)):
            self._space = make_space(self.model.support, 2 * contacts, len(self._space.sweeps.impulses))
            self._impulses.keep_room(2 * contacts)
        self._blocks = make_blocks(self.model.support, 2 * contacts, max(2 * blocks, len(self._blocks.other)))

    def _advance_compiled(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]:
        """Up to n steps: how many, and why no more."""
        c, d, memory, m, solver = self.coordinates, self.detector, self._impulses, self.model, self.solver.named
        assert isinstance(c, JointCoordinates)
        assert isinstance(d, ConvexDetector)
        assert isinstance(solver, PGS)
        if len(self._space.sweeps.impulses) != solver.acceleration:
            self._space = make_space(m.support, self._space.links.shape[1], solver.acceleration)
        mass, motion, limits, passive = c.arrays(self.dt, self.work.acceleration)
        bodies = Bodies(m.tree, m.support, m.inertia, passive, m.joint_forces, m.actuators, self.reach.radius)
        search = Search(d.geometry, d.rules, d.placed, d.grid, d.candidates, d.found, d.work, d.material)
        kept, space = Memory(memory.pair, memory.impulse, memory.joint), self._space
        begin = clock.perf_counter()
        done, reason = advance(
            bodies, search, inputs, c.kin, mass, motion, limits, self.contacts.arrays, kept, space, self._blocks,
            self._how(), state.q, state.v, n,
        )  # fmt: skip
        if done:
            d.margin = float(space.told[MARGIN])
            self._matrices = self._problem = self.velocity_of = self._groups = None
            self._velocity, self._solved = state.v.copy(), True
        if done and reason == DONE:
            seconds, told = (clock.perf_counter() - begin) / n, space.told
            z, sweeps = space.p[: 3 * int(told[CONTACTS])].copy(), int(told[SWEEPS])
            self.solver.result = SolverResult(z, Status.CONVERGED, sweeps, float(told[RESIDUAL]), seconds)
        return done, reason
