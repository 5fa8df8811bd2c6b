"""Checks of user values before kernels use them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip.errors import expected, number, one_of, reals
from stickslip.methods.base import Inputs
from stickslip.model.model import Model, State

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation


def checked_control(model: Model, value: Any, what: str = "control") -> np.ndarray:
    """Check controls: (nu,) and finite; ``what`` names them."""
    wanted = f"{model.nu} numbers, one per actuator"
    array = reals(what, value, wanted)
    if array.shape != (model.nu,) and model.nu == 0:
        raise expected(what, "none, because the scene has no actuators", value, "motor=True gives a joint one")
    if array.shape != (model.nu,):
        wanted = f"an array of shape ({model.nu},), one per actuator"
        raise expected(what, wanted, array.shape if array.ndim else value, "see model.actuator_names")
    if not np.all(np.isfinite(array)):
        k = int(np.flatnonzero(~np.isfinite(array))[0])
        raise expected(f"{what} of {model.actuator_names[k]!r}", "a finite number", float(array[k]))
    return array


def with_named_controls(model: Model, control: np.ndarray, given: Mapping[str, float]) -> np.ndarray:
    """(nu,) the controls, with those that are given by the names of their actuators in their places."""
    result = control.copy()
    for name, value in given.items():
        one_of("actuator", name, model.actuator_names)
        result[model.actuator_names.index(name)] = number(f"control of {name!r}", value)
    return result


def in_one_array(model: Model) -> tuple[State, Inputs]:
    """A model's initial state, and inputs of zero. All are parts of one array, so that one look tells whether all of
    them are finite (``common_base``)."""
    start = model.state()
    sizes = (model.nq, model.nv, model.na, model.nu, model.nv, 6 * model.nlink)
    ends = np.cumsum(sizes)
    numbers = np.zeros(ends[-1])
    q, v, act, control, applied, wrench = (numbers[end - n : end] for n, end in zip(sizes, ends, strict=True))
    q[:], v[:], act[:] = start.q, start.v, start.act
    return State(q, v, start.time, act), Inputs(control, applied, wrench.reshape(-1, 6))


def named_arrays(sim: Simulation) -> tuple[tuple[str, np.ndarray], ...]:
    state, inputs = sim.state, sim.inputs
    return (
        ("state.q", state.q), ("state.v", state.v), ("state.act", state.act),
        ("inputs.control", inputs.control), ("inputs.applied", inputs.applied), ("inputs.wrench", inputs.wrench),
    )  # fmt: skip


def common_base(arrays: tuple[np.ndarray, ...]) -> np.ndarray | None:
    """The array that all of these are parts of; None where a user has replaced one of them."""
    base = arrays[0].base
    return base if base is not None and base.ndim == 1 and all(each.base is base for each in arrays) else None


def check_finite(sim: Simulation) -> None:
    """Refuse numbers that are not finite, by name and index. Steps never leave any, so that they were set."""
    for name, array in named_arrays(sim):
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            at = tuple(int(i) for i in bad[0])
            raise expected(
                f"sim.{name}[{', '.join(map(str, at))}]{_owner(sim.model, name, at[0])}", "a finite number",
                float(array[at]), "no step leaves such numbers, so that it was set since the last one",
            )  # fmt: skip


def _owner(model: Model, name: str, index: int) -> str:
    """Whose entry it is, for a message."""
    if name == "inputs.wrench":
        return f" of body {model.link_names[index]!r}"
    if name == "inputs.control":
        return f" of actuator {model.actuator_names[index]!r}"
    if name == "state.act":
        return ""
    first = model.tree.joint_q if name == "state.q" else model.tree.joint_v
    return f" of joint {model.joint_names[int(np.searchsorted(first, index, side='right')) - 1]!r}"


def check_arrays(sim: Simulation) -> None:
    """Check that arrays which a user has replaced have the type and shape of ours, since kernels rely on it."""
    m = sim.model
    shapes = (m.nq,), (m.nv,), (m.na,), (m.nu,), (m.nv,), (m.nlink, 6)
    for (name, array), shape in zip(named_arrays(sim), shapes, strict=True):
        ours = isinstance(array, np.ndarray) and array.shape == shape and array.dtype == np.float64
        if not (ours and array.flags.c_contiguous and array.flags.writeable):
            raise expected(f"sim.{name}", f"a float64 array of shape {shape}", array, "write into it: a[:] = …")
