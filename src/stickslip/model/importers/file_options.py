"""The ``<option>`` of a file: what the method mujoco runs with, and what the others leave aside.

Options that differ from MuJoCo's defaults are kept. A scene takes them over from its first file that has them; MuJoCo's
default cone is the pyramid, and a scene's the ellipse, so that a pyramid counts only where a file writes it out.
"""

from __future__ import annotations

import re
from typing import Any

import mujoco
import numpy as np

PHYSICS = ("gravity", "density", "viscosity", "wind", "magnetic")
"""Options that every method reads, or sensors do."""
OPTIONS = tuple(name for name in dir(mujoco.MjSpec().option) if not name.startswith("_"))
KINDS = {"cone": mujoco.mjtCone, "integrator": mujoco.mjtIntegrator, "solver": mujoco.mjtSolver,
         "jacobian": mujoco.mjtJacobian}  # fmt: skip
PYRAMID = mujoco.mjtCone.mjCONE_PYRAMIDAL
IN_ELEMENTS = ("gravity", "disableactuator")
"""Options that are taken over in another way: the scene has one gravity."""


def defaults() -> dict[str, Any]:
    """The options of a scene to which no file contributes."""
    option = mujoco.MjSpec().option
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    return {name: _value(getattr(option, name)) for name in OPTIONS}


def read_options(spec: mujoco.MjSpec, text: str) -> dict[str, Any]:
    """The options of a file that differ from MuJoCo's defaults, and a cone that ``text`` writes out."""
    plain = mujoco.MjSpec().option
    found = {}
    for name in OPTIONS:
        value = _value(getattr(spec.option, name))
        if name not in IN_ELEMENTS and value != _value(getattr(plain, name)):
            found[name] = value
    if re.search(r'cone\s*=\s*["\']?pyramidal', text) and spec.option.cone == PYRAMID:
        found["cone"] = int(PYRAMID)
    return found


def written_out(option: mujoco.MjOption) -> str:
    """What MuJoCo's own writer would leave out of a file, for the text that marks files as a scene's."""
    return " cone=pyramidal" if option.cone == PYRAMID else ""


def option_notes(options: dict[str, Any]) -> list[str]:
    """A note on options that only the method mujoco reads."""
    asides = [say(name, value) for name, value in options.items() if name not in PHYSICS and _matters(name, value)]
    return [f"only the method mujoco uses the file's option {', '.join(asides)}"] if asides else []


def take_over(option: mujoco.MjOption, options: dict[str, Any]) -> list[str]:
    """Write the options of a file into a scene's, where these are still the defaults; returns notes on the others."""
    mine, kept = defaults(), []
    for name, value in options.items():
        present = _value(getattr(option, name))
        if present == mine[name]:
            setattr(option, name, value)
        elif present != value:
            kept.append(f"{say(name, value)} (the scene has {say(name, present).partition('=')[2]})")
    return [f"not used: option {', '.join(kept)} of a further file"] if kept else []


def say(name: str, value: Any) -> str:
    """``cone=elliptic``, ``timestep=0.005``."""
    if name in KINDS:
        member = KINDS[name](value)
        return f"{name}={member.name.partition('_')[2].lower()}"
    if isinstance(value, tuple):
        return f"{name}={' '.join(f'{x:g}' for x in value)}"
    if name in ("disableflags", "enableflags"):
        return f"{name}={' '.join(_flags(name, int(value)))}"
    return f"{name}={value:g}"


def _flags(name: str, value: int) -> list[str]:
    kind = mujoco.mjtDisableBit if name == "disableflags" else mujoco.mjtEnableBit
    bits = {member.name: int(member) for member in kind.__members__.values() if not member.name.startswith("mjN")}
    return [key.partition("_")[2].lower() for key, bit in bits.items() if value & bit]


def _matters(name: str, value: Any) -> bool:
    """Whether a note is worth it: a cone that is the scene's own is not."""
    return name != "cone" or value != int(mujoco.mjtCone.mjCONE_ELLIPTIC)


def _value(value: Any) -> Any:
    """A number, or a tuple of numbers."""
    if isinstance(value, np.ndarray):
        return tuple(float(x) for x in value)
    return value if isinstance(value, float) else int(value)
