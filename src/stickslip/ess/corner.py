"""Several guards at one point: saltation matrices, and the B-derivative of the flow through all of them.

At ρ the guards k ∈ K meet, η_k = Dh_k(ρ). Near ρ the flow is, to first order, that of the corner field, which has the
constant value f_b = f(ρ, b) for each mask b of crossed guards. Crossing one guard from f⁻ to f⁺ takes a displacement
δ, measured at equal times, to

    Ξ·δ = δ + (f⁺ − f⁻)·(η·δ)/(η·f⁻)

because δ meets the guard τ = −(η·δ)/(η·f⁻) later than the trajectory through ρ. A displacement crosses K in the order
of these times, and each of the |K|! orders has its own product Ξ_σm … Ξ_σ1. Together they form one continuous,
piecewise-linear map B(δx). The orders are not enumerated: for a given δx, cross the guard with the smallest τ_k,
replace f⁻ by f⁺, and repeat |K| times. With s_k = η_k·δ and r_bk = η_k·f_b stored, a crossing costs O(|K| + n):

    j = argmin −s_k/r_bk,  a = s_j/r_bj,  δ ← δ + a·(f_b' − f_b),  s_k ← s_k + a·(r_b'k − r_bk)

A field is evaluated when a displacement first reaches its mask; of the 2^|K| masks few are usually needed.

Guards that are near ρ but not on it (near-simultaneous crossings) have offsets c_k = h_k(ρ): then s_k = η_k·δ + c_k,
and the displacement of a finite δx is the difference of two such paths, Φ(δx) − Φ(0), piecewise affine (``finite``).

Sizes: n states, m guards in all, |K| of them here. Literature: Burden, Sastry, Koditschek, Revzen, *Event-selected
vector field discontinuities yield piecewise-differentiable flows* (2016); Council, Revzen, Burden, *Representing and
computing the B-derivative of the piecewise-differentiable flow of a class of nonsmooth vector fields* (2022).
Differs from the paper in: displacements are taken at equal times, so that a path is exactly a product of saltation
matrices; products η·f are stored, so that a crossing needs no matrix; offsets; guards that re-arm others (``reset``);
liveness is required only of guards that are still to be crossed, which leaves B continuous.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.errors import expected, number

UNKNOWN = -1
"""Entry of ``Fields.successors`` for a field that has not been evaluated yet."""


def saltation(before: Any, after: Any, eta: Any, liveness: float = 0.0) -> np.ndarray:
    """Ξ = I + (f⁺ − f⁻)·η/(η·f⁻), (n, n), from the fields before and after a guard with gradient ``eta``, each (n,)."""
    before, after, eta = (np.asarray(v, dtype=float) for v in (before, after, eta))
    rate = float(eta @ before)
    if not rate > liveness:
        raise expected("the guard's rate η·f⁻", f"more than {liveness:g} (liveness)", rate, "the flow must cross it")
    return np.eye(len(eta)) + np.outer(after - before, eta / rate)


class Fields(NamedTuple):
    """The part of the corner field evaluated so far, for up to p masks; in mask 0 nothing is crossed."""

    values: np.ndarray
    """(p, n) f_b."""
    rates: np.ndarray
    """(p, |K|) η_k·f_b."""
    successors: np.ndarray
    """(p, |K|) the mask after crossing k, or UNKNOWN."""


class Walk(NamedTuple):
    """Scratch of ``follow``."""

    levels: np.ndarray
    """(|K|,) s_k."""
    done: np.ndarray
    """(|K|,) bool, crossed."""
    missing: np.ndarray
    """(3,) row, mask and guard at which an unknown field was needed."""


@kernel
def follow(fields, eta, offsets, dx, out, orders, walk):
    """Write B of the rows ``dx`` (c, n) to ``out`` and their ``orders`` (c, |K|), from row ``missing[0]`` on.

    Returns False if a field is missing; that row must be repeated once the field is known."""
    guards, n = eta.shape
    levels, done = walk.levels, walk.done
    for c in range(walk.missing[0], dx.shape[0]):
        for i in range(n):
            out[c, i] = dx[c, i]
        for k in range(guards):
            done[k] = False
            levels[k] = offsets[k]
            for i in range(n):
                levels[k] += eta[k, i] * dx[c, i]
        mask = 0
        for crossing in range(guards):
            j, first = -1, np.inf
            for k in range(guards):
                if not done[k]:
                    time = -levels[k] / fields.rates[mask, k]
                    if time < first:
                        j, first = k, time
            after = fields.successors[mask, j]
            if after == UNKNOWN:
                walk.missing[0], walk.missing[1], walk.missing[2] = c, mask, j
                return False
            for i in range(n):
                out[c, i] -= first * (fields.values[after, i] - fields.values[mask, i])
            for k in range(guards):
                levels[k] -= first * (fields.rates[after, k] - fields.rates[mask, k])
            done[j] = True
            orders[c, crossing] = j
            mask = after
    return True


class Corner:
    """The flow through the guards K that meet at ρ, to first order; made by ``corner``.

    ``corner(dx)`` is B(δx); ``order(dx)`` the order in which dx crosses; ``saltation(order)`` the ordered product."""

    def __init__(
        self,
        field: Callable[[np.ndarray], np.ndarray],
        eta: np.ndarray,
        crossed: np.ndarray,
        guards: np.ndarray,
        reset: np.ndarray,
        offsets: np.ndarray,
        liveness: float = 0.0,
    ) -> None:
        self._field = field
        self._reset = reset
        self._liveness = liveness
        self.eta = eta
        """(|K|, n) gradients of the guards."""
        self.guards = guards
        """(|K|,) their numbers."""
        self.offsets = offsets
        """(|K|,) h_k(ρ); zero where they meet exactly."""
        size, n = eta.shape
        self._masks: list[np.ndarray] = []
        self._known: dict[bytes, int] = {}
        self._fields = Fields(np.zeros((4, n)), np.zeros((4, size)), np.full((4, size), UNKNOWN))
        self._walk = Walk(np.zeros(size), np.zeros(size, dtype=np.bool_), np.zeros(3, dtype=np.int64))
        self._none = np.zeros(size)
        self._mask(crossed.copy())

    @property
    def masks(self) -> int:
        """Number of fields f_b evaluated so far."""
        return len(self._masks)

    def __call__(self, dx: Any) -> np.ndarray:
        """B(δx) for one displacement (n,) or for the columns of (n, c), as if all guards met exactly at ρ."""
        rows, shape = self._rows(dx)
        return self._follow(rows, self._none)[0].T.reshape(shape)

    def finite(self, dx: Any) -> np.ndarray:
        """Φ(δx) − Φ(0) with the guards' offsets, for displacements as small as the distances between the guards."""
        rows, shape = self._rows(dx)
        moved = self._follow(np.vstack([np.zeros(rows.shape[1]), rows]), self.offsets)[0]
        return (moved[1:] - moved[0]).T.reshape(shape)

    def order(self, dx: Any) -> tuple[int, ...]:
        """The guards in the order in which a displacement (n,) crosses them; simultaneous ones in any order."""
        rows, shape = self._rows(dx)
        if len(shape) != 1:
            raise expected("dx", f"one displacement ({shape[0]},)", shape, "ask column by column")
        return tuple(int(self.guards[k]) for k in self._follow(rows, self._none)[1][0])

    def saltation(self, order: Sequence[int]) -> np.ndarray:
        """Ξ_σm … Ξ_σ1, (n, n), for the guards of the corner in a given order."""
        if sorted(order) != sorted(self.guards.tolist()):
            raise expected("order", f"the guards {self.guards.tolist()}, each once", list(order))
        place = {int(guard): k for k, guard in enumerate(self.guards)}
        product, mask = np.eye(self.eta.shape[1]), 0
        for k in (place[int(guard)] for guard in order):
            after = self._successor(mask, k)
            jump = self._fields.values[after] - self._fields.values[mask]
            product += np.outer(jump, self.eta[k] @ product / self._fields.rates[mask, k])
            mask = after
        return product

    def _rows(self, dx: Any) -> tuple[np.ndarray, tuple[int, ...]]:
        values = np.asarray(dx, dtype=float)
        n = self.eta.shape[1]
        finite = np.isfinite(values).all()
        if values.ndim not in (1, 2) or values.shape[0] != n or not finite:
            raise expected("dx", f"finite numbers, ({n},) or ({n}, columns)", values.shape if finite else dx)
        return np.ascontiguousarray(values.reshape(n, -1).T), values.shape

    def _follow(self, rows: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        out, orders = np.empty_like(rows), np.empty((len(rows), len(self.guards)), dtype=np.int64)
        self._walk.missing[0] = 0
        while not follow(self._fields, self.eta, offsets, rows, out, orders, self._walk):
            self._successor(int(self._walk.missing[1]), int(self._walk.missing[2]))
        return out, orders

    def _successor(self, mask: int, k: int) -> int:
        after = int(self._fields.successors[mask, k])
        if after == UNKNOWN:
            bits = self._masks[mask].copy()
            bits[self._reset[self.guards[k]]] = False
            bits[self.guards[k]] = True
            after = self._mask(bits)
            self._fields.successors[mask, k] = after
        return after

    def _mask(self, bits: np.ndarray) -> int:
        """The index of a mask; the field of a new mask is evaluated and checked."""
        known = self._known.get(bits.tobytes())
        if known is not None:
            return known
        value = self._field(bits.copy())
        rates = self.eta @ value
        for guard, rate in zip(self.guards, rates, strict=True):
            if not bits[guard] and not rate > self._liveness:
                crossed = np.flatnonzero(bits).tolist()
                what = f"∇h·f of guard {guard} where guards {crossed} are crossed"
                remedy = "the flow must come to each guard in every region before it"
                raise expected(what, f"more than {self._liveness:g} (liveness)", float(rate), remedy)
        new = len(self._masks)
        if new == len(self._fields.values):
            more = np.full_like(self._fields.successors, UNKNOWN)
            values, rows = (np.concatenate([a, np.zeros_like(a)]) for a in self._fields[:2])
            self._fields = Fields(values, rows, np.concatenate([self._fields.successors, more]))
        self._fields.values[new], self._fields.rates[new] = value, rates
        self._masks.append(bits)
        self._known[bits.tobytes()] = new
        return new


def corner(
    f: Callable[..., Any],
    Dh: Callable[..., Any],
    rho: Any,
    crossed: Any,
    guards: Any,
    reset: Any = None,
    *,
    h: Callable[..., Any] | None = None,
    args: tuple[Any, ...] = (),
    liveness: float = 0.0,
) -> Corner:
    """The corner at ``rho`` (n,) where ``guards`` meet, of the system f(x, b, *args) with gradients Dh(x, *args).

    ``crossed`` (m,) bool is the mask before the first of them is crossed; ``reset`` (m, m) bool says which guards each
    one re-arms. With ``h`` the guards need not meet exactly (``Corner.finite``). It is an error if ∇h·f ≤ ``liveness``
    for a guard that is still to be crossed, in a region that a displacement passes."""
    rho = np.array(rho, dtype=float)
    if rho.ndim != 1 or not np.isfinite(rho).all():
        raise expected("rho", "a state, finite numbers (n,)", rho)
    mask = np.array(crossed, dtype=np.bool_)
    if mask.ndim != 1:
        raise expected("crossed", "a flag for each guard, (m,)", crossed)
    m = len(mask)
    numbers = np.asarray(guards)
    whole = numbers.ndim == 1 and numbers.size > 0 and np.issubdtype(numbers.dtype, np.integer)
    if not whole or len(np.unique(numbers)) < len(numbers) or numbers.min() < 0 or numbers.max() >= m:
        raise expected("guards", f"different whole numbers from 0 to {m - 1}", guards)
    if mask[numbers].any():
        raise expected("guards", "guards that are not crossed yet", guards, f"crossed is {mask.tolist()}")
    arm = np.zeros((m, m), dtype=np.bool_) if reset is None else np.asarray(reset, dtype=np.bool_)
    if arm.shape != (m, m):
        raise expected("reset", f"a matrix ({m}, {m})", arm.shape)
    if arm[np.ix_(numbers, numbers)].any():
        raise expected("guards", "guards that do not re-arm each other", guards, "such guards cannot cross at once")
    eta = np.asarray(Dh(rho, *args), dtype=float)
    if eta.shape != (m, len(rho)):
        raise expected("Dh(rho)", f"a matrix ({m}, {len(rho)})", eta.shape)
    offsets = np.zeros(m) if h is None else np.asarray(h(rho, *args), dtype=float)
    if offsets.shape != (m,):
        raise expected("h(rho)", f"({m},)", offsets.shape)

    def field(bits: np.ndarray) -> np.ndarray:
        value = np.asarray(f(rho, bits, *args), dtype=float)
        if value.shape != rho.shape or not np.isfinite(value).all():
            raise expected("f(rho, b)", f"finite numbers ({len(rho)},)", value)
        return value

    rows = np.ascontiguousarray(eta[numbers])
    floor = number("liveness", liveness, least=0.0)
    return Corner(field, rows, mask, numbers.astype(np.int64), arm, offsets[numbers], floor)
