"""Numba's types of what kernels are given."""

from __future__ import annotations

from typing import Any

from numba.core import types


def writable(kind: Any) -> Any:
    """The type of the same arrays, or tuples of arrays, without the mark of being read-only."""
    if isinstance(kind, types.Array):
        return kind if kind.mutable else kind.copy(readonly=False)
    if not isinstance(kind, types.BaseTuple):
        return kind
    given: Any = kind  # it yields the types of its entries
    parts = [writable(part) for part in given]
    same = all(new is old for new, old in zip(parts, given, strict=True))
    return kind if same else types.BaseTuple.from_types(parts, getattr(kind, "instance_class", None))
