"""MuJoCo's errors as one line with the element and the remedy, and its warnings as notes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import mujoco

from stickslip.errors import ModelError
from stickslip.model.importers.number_checks import check_numbers
from stickslip.model.mjspec import collected_warnings


def one_line(error: Exception | str) -> str:
    """MuJoCo's message on one line, the element first: ``element 'knee' (line 12): …``."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    message = re.sub(r"^((XML )?Error: )+", "", lines[0]) if lines else repr(error)
    message = message.replace("mjMINVAL", "1e-15")
    element = next((line for line in lines[1:] if line.startswith("Element")), "")
    name = re.search(r"'([^']+)'", element)
    line = re.search(r"line (\d+)", element)
    where = f"element {name.group(1)!r}" if name else ""
    where += f" (line {line.group(1)})" if line else ""
    return f"{where.strip()}: {message}" if where else message


REMEDIES = (
    ("A + B >= C", "no body can have this inertia: correct it (`stickslip doctor` shows the numbers)"),
    ("positive eigenvalues", "no body can have this inertia: correct it (`stickslip doctor` shows the numbers)"),
    ("moving bodies must be larger", "give it a shape with mass, or an inertia (<inertial>, set_inertia)"),
    ("pening file", "check the path; mesh paths are relative to the file and its meshdir"),
    ("volume is too small", "check the units and the scale of the mesh: it has less than 1e-15 m³"),
    ("no decoder", "convert the mesh to .stl or .obj"),
    ("Schema violation", "correct the element (a typo, or newer than the installed MuJoCo?)"),
)


MUJOCO_ERRORS = (ValueError, RuntimeError, MemoryError, mujoco.FatalError)
"""What MuJoCo's parser and compiler raise."""
NO_REASON = "unknown exception"
"""MuJoCo's words for an error of its parser that has no message, such as ``<model>`` without a file."""


def compile_spec(spec: mujoco.MjSpec, origin: str) -> mujoco.MjModel:
    """MuJoCo's model, with numbers that can be worked with."""
    try:
        mj = spec.compile()
    except MUJOCO_ERRORS as error:
        raise mujoco_error(error, origin) from None
    check_numbers(mj, origin)
    return mj


def mujoco_error(error: Exception, origin: str) -> ModelError:
    message = one_line(error)
    if NO_REASON in message:
        message = "MuJoCo's parser failed without a reason; look for an attribute that is missing, such as a file"
    general = "correct that part of it" if origin.startswith("scene ") else "correct it, or ask `stickslip doctor`"
    remedy = next((r for key, r in REMEDIES if key in message), general)
    return ModelError(f"{origin}: {message}; {remedy}")


@contextmanager
def mujoco_notes() -> Iterator[list[str]]:
    """Collect MuJoCo's warnings, both printed ones and Python warnings, as notes."""
    notes: list[str] = []
    with collected_warnings() as printed, warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        yield notes
    messages = [*printed, *(str(warning.message) for warning in raised)]
    notes += dict.fromkeys(f"MuJoCo warns: {one_line(message)}" for message in messages)
