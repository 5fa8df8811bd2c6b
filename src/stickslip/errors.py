"""The exceptions and warnings of stickslip: each message says what was expected, what was given, and what to do."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from math import inf, isfinite
from operator import index as as_index
from typing import Any, TypeVar, cast

import numpy as np

F = TypeVar("F", bound=Callable)

LONGEST = 290
"""Characters of a message."""


def shortened(message: str) -> str:
    """The message on one line, without its middle if it is too long to be read at once: names in files may have any
    length."""
    if not isinstance(message, str):
        return message
    line = message if message.isprintable() else " ".join(message.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 123]} … {line[-120:]}"


class StickslipError(Exception):
    """Base of all errors that stickslip raises deliberately; the command line prints them as one line."""

    def __init__(self, message: str = "") -> None:
        super().__init__(shortened(message))


class InputError(StickslipError, ValueError):
    """A value that cannot be used: wrong type, shape, sign or name."""


class ModelError(StickslipError):
    """A model file or scene that cannot be simulated."""


class UnsupportedFeatureError(ModelError):
    """A feature of a model file that stickslip does not simulate; the message names it."""


class RecordingError(StickslipError, OSError):
    """A recording that cannot be written or read."""


class DivergedError(StickslipError):
    """A step gave a number that is not finite, or an energy that nothing explains; holds the last finite state."""

    def __init__(self, message: str, *, snapshot: Any = None, saved_to: str | None = None) -> None:
        super().__init__(message)
        self.snapshot = snapshot
        self.saved_to = saved_to


class ControlError(StickslipError):
    """A controller that found no controls: its task, contacts and limits contradict each other."""


class UnconvergedError(StickslipError):
    """A step's problem was not solved to the tolerance, and the user asked to stop in that case."""


class StickslipWarning(UserWarning):
    """Something that the user should know but that does not stop the run."""

    def __init__(self, message: str = "") -> None:
        super().__init__(shortened(message))


class NotHonouredWarning(StickslipWarning):
    """The chosen method ignores a property of the scene; the message names it."""


class StartWarning(StickslipWarning):
    """The simulation starts in a configuration that causes large forces, such as deep penetration."""


class UnstableStepWarning(StickslipWarning):
    """The time step is too long for the stability of the method in this scene."""


class EnergyGainWarning(StickslipWarning):
    """The simulation gains energy that nothing gives it: the time step is too long for this motion."""


class UnconvergedWarning(StickslipWarning):
    """The solver of some steps did not reach its tolerance; the run went on with their inexact results."""


class PainleveWarning(StickslipWarning):
    """A sliding contact is in Painlevé's paradox: no finite force keeps it sliding, or more than one motion does."""


def expected(what: str, wanted: str, got: Any, remedy: str = "") -> InputError:
    """``expected("dt", "a positive number of seconds", -1, "use 1e-3")`` is an exception to raise."""
    return InputError(f"{what}: expected {wanted}, got {brief(got)}" + (f"; {remedy}" if remedy else ""))


def plain(value: Any) -> Any:
    """A number of NumPy's, or a tuple or list of such, as Python writes it: -0.1 in place of np.float64(-0.1)."""
    if type(value) in (tuple, list):
        return type(value)(map(plain, value))
    return value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value


def brief(value: Any, most: int = 90) -> str:
    """``repr(value)`` on one line, shortened in its middle; of large objects what they are."""
    try:
        text = " ".join(repr(plain(value)).split())
    except Exception:  # whole numbers of more digits than Python writes, and classes of users
        return called(value)
    if len(text) <= most:
        return text
    if isinstance(value, str | bytes | list | tuple | set | frozenset | dict):
        return f"{text[: most // 2]} … {text[-most // 3 :]}"
    shape = getattr(value, "shape", None)
    return f"{type(value).__name__} of shape {shape}" if isinstance(shape, tuple) else called(value)


def called(value: Any) -> str:
    """What a function or object is called in a message."""
    name = getattr(value, "__qualname__", None)
    return f"a {type(value).__name__}" if name is None else repr(name.rsplit("<locals>.", 1)[-1])


def function(what: str, value: Any, form: str, remedy: str = "") -> Any:
    """A function that takes what ``form`` shows, such as ``"f(t, q, v) → controls"``; others are refused by name."""
    if not callable(value):
        raise expected(what, f"a function {form}", value, remedy)
    count = form[form.index("(") + 1 : form.index(")")].count(",") + 1
    try:
        takes = signature(value)
    except (TypeError, ValueError):  # a builtin that does not say what it takes
        return value
    try:
        takes.bind(*range(count))
    except TypeError:
        given = f"{called(value)}, which takes {takes.replace(return_annotation=takes.empty)}"
        raise InputError(f"{what}: expected a function {form}, got {given}") from None
    return value


def number(
    what: str,
    value: Any,
    wanted: str = "a finite number",
    *,
    least: float = -inf,
    above: float = -inf,
    below: float = inf,
    most: float = inf,
) -> float:
    """A finite float ≥ ``least``, > ``above``, < ``below`` and ≤ ``most``; for anything else the error names it."""
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise expected(what, wanted, value) from None
    within = isfinite(result) and least <= result <= most and above < result < below
    if isinstance(value, str | bool) or not within:
        raise expected(what, wanted, value)
    return result


def reals(what: str, value: Any, wanted: str, remedy: str = "") -> np.ndarray:
    """An array of floats. For texts, complex numbers, masked entries and what else is none, the error names it."""
    try:
        array = np.asarray(value)
        if not np.ma.is_masked(value):
            return array.astype(float, casting="unsafe" if array.dtype == object else "same_kind", copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    raise expected(what, wanted, value, remedy)


def whole(what: str, value: Any, least: int, most: float = inf) -> int:
    """A whole number from ``least`` to ``most``; anything else is refused by name."""
    wanted = f"a whole number ≥ {least}" + (f" and ≤ {most:g}" if most < inf else "")
    if number(what, value, wanted, least=least, most=most) != int(value):
        raise expected(what, wanted, value)
    return int(value)


def index(what: str, value: Any, count: int) -> int:
    """The number of one of ``count`` things, from 0; negative ones count from the end."""
    try:
        number = as_index(value)
    except TypeError:
        number = count
    if not -count <= number < count:
        raise expected(what, f"a number from {-count} to {count - 1}", value)
    return number % count


SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "pos": (
        "position",
        "xyz",
        "location",
        "origin",
        "translation",
        "place",
        "at",
        "center",
        "centre",
        "p",
        "xpos",
        "baseposition",
        "z",
    ),
    "quat": (
        "orientation",
        "rotation",
        "rot",
        "quaternion",
        "rpy",
        "euler",
        "euler_angles",
        "xquat",
        "q",
        "baseorientation",
    ),
    "mass": ("m", "weight", "masses"),
    "density": ("rho",),
    "friction": ("mu", "frictionloss", "coulomb_friction", "lateral_friction", "sliding_friction"),
    "stiffness": ("k", "spring", "ke", "springs", "spring_constant", "solref", "kn"),
    "damping": ("b", "c", "d", "damper", "kd", "dissipation", "viscous", "solref", "dashpot"),
    "restitution": ("e", "cor", "bounce", "bounciness", "elasticity"),
    "torsion": ("spinning_friction", "torsional", "torsional_friction", "spinning"),
    "rolling": ("rolling_friction",),
    "rgba": ("color", "colour", "rgb"),
    "radius": ("r", "diameter", "radii"),
    "radii": ("radius", "semi_axes", "half_axes"),
    "length": ("height", "h", "half_length", "l", "fromto"),
    "size": ("half_extents", "halfextents", "dimensions", "extents", "edges", "half_size", "dims", "shape"),
    "vertices": ("points", "mesh", "filename", "file"),
    "joint": ("static", "fixed", "joint_type", "type", "kinematic", "fixed_base", "floating"),
    "kind": ("type", "joint_type"),
    "floating_base": ("free", "free_base", "freejoint", "fixed_base", "use_fixed_base", "usefixedbase", "floating"),
    "range": ("limits", "limit", "bounds", "joint_limits"),
    "collide": ("collision", "contype", "conaffinity", "contact", "visual_only"),
    "motor": ("actuator", "actuated", "drive", "servo"),
    "max_force": ("effort", "force_limit", "torque_limit", "max_torque", "forcerange", "max_effort"),
    "kp": ("p_gain", "stiffness"),
    "kv": ("kd", "d_gain"),
    "armature": ("rotor_inertia", "reflected_inertia"),
    "name": ("label", "id"),
    "dt": ("timestep", "time_step", "step_size", "stepsize", "delta_t", "sim_dt"),
    "method": ("integrator", "engine", "solver", "stepper", "backend"),
    "gravity": ("g",),
    "controller": ("control", "policy", "ctrl", "callback"),
    "control": ("ctrl", "u", "tau", "action"),
    "q": ("qpos", "configuration", "positions"),
    "v": ("qvel", "velocities", "velocity"),
    "set_state": ("q", "v", "qpos", "qvel", "configuration"),
    "iterations": ("max_iterations", "max_iter", "maxiter", "n_iterations"),
    "solver_options": ("iterations", "max_iterations", "max_iter", "maxiter", "tolerance", "tol", "iters"),
    "origin": ("pos", "start", "point", "from"),
    "direction": ("dir", "vec", "axis"),
    "max_iterations": ("iterations", "max_iter", "maxiter", "n_iterations"),
    "fps": ("framerate", "frame_rate", "rate", "frames_per_second"),
    "methods": ("method", "steppers"),
    "tolerance": ("tol", "eps", "epsilon", "threshold"),
    "rtol": ("tolerance", "tol", "relative_tolerance"),
    "atol": ("absolute_tolerance",),
    "velocity": ("vel", "linear_velocity", "linvel", "v"),
    "angular_velocity": ("angvel", "omega", "w"),
    "com": ("center_of_mass", "centre_of_mass", "ipos"),
    "force": ("f", "wrench"),
    "duration": ("time", "t_end", "seconds", "steps"),
    "time": ("duration", "t_end", "seconds"),
    "record_dt": ("log_dt", "frame_dt", "sample_dt"),
    "record": ("log", "save", "output", "filename"),
    "add_box": ("add_cube", "add_block", "add_cuboid", "addbox"),
    "add_sphere": ("add_ball", "addsphere"),
    "add_plane": ("add_floor", "add_ground", "add_ground_plane", "addplane"),
    "add_terrain": ("add_heightfield", "add_height_field", "add_hfield"),
    "load": ("load_urdf", "loadurdf", "load_mjcf", "add_urdf", "add_mjcf", "load_file", "load_model", "add_model"),
    "add_body": ("add_link", "addbody"),
    "accelerometer": ("imu", "acceleration"),
    "gyro": ("imu", "gyroscope"),
    "jointpos": ("encoder", "joint_position"),
    "jointvel": ("joint_velocity",),
    "rangefinder": ("lidar", "range", "ray"),
    "Simulation": ("sim", "simulator", "world", "env", "mjdata"),
    "Scene": ("world", "plant", "multibodyplant", "spec", "mjspec"),
    "Log": ("recording", "trajectory"),
    "semi-implicit-euler": ("symplectic_euler", "penalty", "spring_damper", "soft"),
    "euler": ("explicit_euler", "forward_euler", "explicit"),
    "implicit-euler": ("backward_euler", "implicit"),
    "rk4": ("runge_kutta", "rk", "rk45"),
    "event-selected": ("rk45", "event", "events", "ess"),
    "expo": ("exponential", "consim"),
    "coulomb": ("pgs", "admm", "moreau", "moreau_jean", "siconos", "ncp", "bullet", "raisim"),
    "stewart-trinkle": ("lcp", "lemke", "timestepping", "time_stepping", "stewart", "ode"),
    "anitescu-potra": ("anitescu",),
    "relaxed": ("convex", "drake", "sap", "tamsi"),
    "variational": ("dojo", "maximal", "constrainedcontrol"),
    "mujoco": ("mj", "mjx"),
}
"""Names of this package → what the same thing is called elsewhere, for suggestions."""
REMARKS: Mapping[str, str] = {
    **dict.fromkeys(("fixedbase", "usefixedbase"), "a base is fixed without it; "),
    **dict.fromkeys(("rpy", "euler", "eulerangles"), "quat is (w, x, y, z), not angles; "),
    **dict.fromkeys(("halfextents", "halfsize"), "size is the whole lengths; "),
    "halflength": "length is the whole one; ",
    "diameter": "radius is half of it; ",
    "steps": "a duration is in seconds; ",
    "rgb": "rgba is (r, g, b, opacity); ",
}
"""What else to say of names of other simulators, written without underscores."""


def suggested(name: Any, known: Iterable[str], cutoff: float = 0.5) -> list[str]:
    """Up to three known names that may be meant by an unknown one: other words for the same, then similar ones."""
    choices, said = sorted(known), str(name).lower().replace("-", "_").replace(" ", "_")
    same = [choice for choice in choices if said in SYNONYMS.get(choice, ())]
    written = {choice.lower(): choice for choice in choices}  # a name in capitals is near, too
    near = [written[each] for each in get_close_matches(str(name).lower(), written, n=3, cutoff=cutoff)]
    return list(dict.fromkeys([*same, *near]))[: len(same) or 3]


def unknown(what: str, name: Any, known: Iterable[str]) -> InputError:
    """The error for an unknown name, which lists the most similar known names first."""
    choices = sorted(known)
    near = suggested(name, choices)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    hint += REMARKS.get(str(name).lower().replace("_", ""), "")
    start = f"unknown {what} {brief(name)}: {hint}known: "
    shown, room = 0, LONGEST - len(start) - len(" and 1000 more")
    while shown < len(choices) and len(", ".join(choices[: shown + 1])) <= room:
        shown += 1
    more = len(choices) - max(1, shown)
    return InputError(
        start + (", ".join(choices[: max(1, shown)]) or "none") + (f" and {more} more" if more > 0 else "")
    )


def names_keywords(function: F) -> F:
    """Answer a mistyped keyword with the one that may be meant; Python would say only that it is unexpected."""

    known: set[str] = set()  # found at the first call, after ``list_keywords``
    who = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

    @wraps(function)
    def wrapped(*args, **options):
        if options:
            if not known:
                known.update(signature(wrapped).parameters)
            check_options(who, options, known)
        return function(*args, **options)

    return cast(F, wrapped)


def check_options(who: str, options: Iterable[str], known: Iterable[str]) -> None:
    """Refuse keywords that are not among the known ones; ``who`` is the function as users know it."""
    choices = set(known) - {"self", "cls"}
    for name in options:
        if name not in choices:
            raise unknown(f"option of {who}", name, choices)


def name_of(what: str, value: Any, taken: Iterable[str] = ()) -> str:
    """A name that is not empty and not taken; anything else is refused by name."""
    if not isinstance(value, str) or not value:
        raise expected(what, "a name", value)
    if value in taken:
        raise expected(what, "a name that is not taken", value)
    return value


def mapping(what: str, value: Any, of: str) -> Mapping:
    """A mapping; anything else is refused by name."""
    if not isinstance(value, Mapping):
        raise expected(what, f"a mapping of {of}", value)
    return value


def one_of(what: str, value: Any, known: Collection[str]) -> None:
    """Raise the error for an unknown name, unless ``value`` is a known one."""
    if not isinstance(value, str) or value not in known:
        raise unknown(what, str(value), known)


def true_or_false(what: str, value: Any) -> bool:
    """True or False; anything else is refused by name."""
    if not isinstance(value, bool):
        raise expected(what, "True or False", value)
    return value


def listed(names: Iterable[str], most: int = 4) -> str:
    """List names in a sentence: ``a, b, c, d and 3 more``."""
    every = list(names)
    more = len(every) - most
    return ", ".join(every[:most]) + (f" and {more} more" if more > 0 else "")


def deprecated(old: str, new: str) -> None:
    """Say once per place that a spelling is old, and what to write instead."""
    warnings.warn(f"{old} is the old spelling, which works for this version; write {new}", DeprecationWarning, 3)
