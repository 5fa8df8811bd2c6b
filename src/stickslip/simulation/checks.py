"""Checks of user values before kernels use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip.errors import expected
from stickslip.model.model import Model

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation


def checked_control(model: Model, value: Any) -> np.ndarray:
    """Check controls: (nu,) and finite."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise expected("control", f"{model.nu} numbers, one per actuator", value) from None
    if array.shape != (model.nu,):
        wanted = f"an array of shape ({model.nu},), one per actuator"
        raise expected("control", wanted, array.shape, "see model.actuator_names")
    if not np.all(np.isfinite(array)):
        k = int(np.flatnonzero(~np.isfinite(array))[0])
        raise expected(f"control of {model.actuator_names[k]!r}", "a finite number", float(array[k]))
    return array


def check_arrays(sim: Simulation) -> None:
    """Check that arrays which a user has replaced have the type and shape of ours, since kernels rely on it."""
    m = sim.model
    for name, array, shape in (
        ("state.q", sim.state.q, (m.nq,)),
        ("state.v", sim.state.v, (m.nv,)),
        ("state.act", sim.state.act, (m.na,)),
        ("inputs.control", sim.inputs.control, (m.nu,)),
        ("inputs.applied", sim.inputs.applied, (m.nv,)),
        ("inputs.wrench", sim.inputs.wrench, (m.nlink, 6)),
    ):
        ours = isinstance(array, np.ndarray) and array.shape == shape and array.dtype == np.float64
        if not (ours and array.flags.c_contiguous and array.flags.writeable):
            raise expected(f"sim.{name}", f"a float64 array of shape {shape}", array, "write into it: a[:] = …")
