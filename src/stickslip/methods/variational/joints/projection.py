"""Projection of the initial poses onto closed joints, which later steps keep closed.

Newton's method on g(Q) = 0 along M⁻¹·Gᵀ: every iteration moves the bodies by the smallest u, in kinetic energy, with
G·u = −g, so that light bodies move more than heavy ones. Then V ← V + u with G·V = 0. Redundant loops are solved in the
least-squares sense (``maximal.constraints``). Rotors and springs do not resist.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stickslip.dynamics.configuration import difference, integrate
from stickslip.dynamics.crba import crba
from stickslip.dynamics.data import make_data
from stickslip.errors import InputError
from stickslip.maximal.constraints import Constraints
from stickslip.maximal.cut import cut
from stickslip.maximal.joints import Joint
from stickslip.model.model import Model

CLOSED = 1e-12
"""Error of closed joints [m or rad], times the size of the mechanism if that is larger than 1 m."""
ROUND_OFF = 1e3
"""Multiple of that error at which Newton's method may end if the error no longer decreases."""
ITERATIONS = 50
FARTHEST = 0.5
"""Largest displacement of an iteration [m or rad]; longer ones are shortened."""


class Projection(NamedTuple):
    """Closed joints, and their errors before."""

    Q: np.ndarray
    """(7(nl − 1),) poses of the link frames."""
    V: np.ndarray
    """(6(nl − 1),) their velocities."""
    position: float
    """Largest |g| before [m or rad]."""
    velocity: float
    """Largest |G·V| before, at the corrected poses [m/s or rad/s]."""
    moved: float
    """Largest displacement or rotation of a body by the correction [m or rad]."""


class Projector:
    """Closes the joints of one model and extra ones."""

    def __init__(self, model: Model, extra: Sequence[Joint] = ()) -> None:
        self._free = cut(model)
        self._constraints, self._data = Constraints(model, self._free, extra), make_data(self._free)

    def _look(self, Q: np.ndarray) -> float:
        """Largest error at Q."""
        free, data = self._free, self._data
        crba(free.tree, free.support, free.inertia, Q, data.kin, data.mass)
        self._constraints.look(data.kin)
        return float(np.max(np.abs(self._constraints.violation), initial=0.0))

    def _correct(self, rates: np.ndarray) -> np.ndarray:
        """(nv,) the smallest motion that removes these rates (nb,)."""
        if not self._constraints.factorised:
            self._constraints.factorise(self._data.mass.M)
        return self._constraints.correct(-rates)

    def project(self, Q, V, *, keep: float = 0.0) -> Projection:
        """Closed joints near the poses Q (7(nl − 1),) and velocities V (6(nl − 1),) of ``to_bodies``. Errors of at most
        ``keep`` [m or rad] are not corrected."""
        free, constraints = self._free, self._constraints
        first, Q, V = np.array(Q, dtype=float), np.array(Q, dtype=float), np.array(V, dtype=float)
        closed = CLOSED * max(1.0, float(np.abs(Q).max(initial=0.0)))
        position = error = best = self._look(Q)
        if position > max(keep, closed):
            for _ in range(ITERATIONS):
                step = self._correct(constraints.violation)
                step *= FARTHEST / max(float(np.abs(step).max()), FARTHEST)
                integrate(free.tree, Q, step, 1.0, Q)
                error = self._look(Q)
                if error <= closed or best <= error <= ROUND_OFF * closed:
                    break
                best = min(best, error)
            if not error <= ROUND_OFF * closed:
                worst = constraints.names[int(np.argmax(constraints.per_joint(constraints.violation)))]
                raise InputError(
                    f"initial joints: expected poses from which they can be closed, got errors of up to {position:.3g} "
                    f"[m or rad], and {error:.3g} in joint {worst!r} after {ITERATIONS} Newton iterations; "
                    "start nearer to a closed configuration, or check the lengths of the loop"
                )
        velocity = float(np.max(np.abs(constraints.velocity_errors(V)), initial=0.0))
        if velocity > closed:
            V += self._correct(constraints.velocity_errors(V))
        moved = np.empty(free.nv)
        difference(free.tree, first, Q, moved)
        farthest = float(np.linalg.norm(moved.reshape(-1, 3), axis=1).max(initial=0.0))
        return Projection(Q, V, position, velocity, farthest)


def project(model: Model, extra: Sequence[Joint], Q, V, *, keep: float = 0.0) -> Projection:
    """``Projector(model, extra).project(Q, V)``."""
    return Projector(model, extra).project(Q, V, keep=keep)
