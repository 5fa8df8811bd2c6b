"""Keyword arguments that many methods of ``Scene`` and ``Body`` share, each with its type and one line of help.

A method declares them as ``**options: Unpack[ShapeOptions]``, which editors and type checkers complete (PEP 692).
``list_keywords`` writes them out for ``help`` and ``inspect.signature``, with the defaults of the function that takes
them in the end. This module does without ``from __future__ import annotations``, so that the lines can be read.
"""

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, TypeVar, cast

import numpy as np

from stickslip.errors import InputError, StickslipError, names_keywords
from stickslip.model.shape import Material

if TYPE_CHECKING:
    from stickslip.model.body import Body

F = TypeVar("F", bound=Callable)
Vector = Sequence[float] | np.ndarray
Points = Sequence[Vector] | np.ndarray
Range = tuple[float, float]
Motor = bool | Literal["force", "position", "velocity"] | str
JointKind = Literal["free", "ball", "hinge", "slide", "fixed", "spherical", "revolute", "prismatic"] | str
Convex = Literal["hull", "decompose", "refuse"] | str


class SurfaceOptions(TypedDict, total=False):
    """What every shape takes: its mass, its surface and how it is drawn."""

    mass: Annotated[float | None, "mass of the shape [kg]; without it, density × volume"]
    density: Annotated[float | None, "density [kg/m³] in the place of a mass; 1000 if none of the two is given"]
    friction: Annotated[float | None, "Coulomb's coefficient μ; None leaves it to the other surface, else 1"]
    stiffness: Annotated[float | None, "stiffness K ≥ 0 of its contacts [N/m]; None: the other surface's, else 1e5"]
    damping: Annotated[float | None, "damping B of its contacts [N s/m]; None: the other surface's, else 300"]
    tangent_stiffness: Annotated[float | None, "stiffness K_t ≥ 0 along the surface [N/m]; None: K"]
    tangent_damping: Annotated[float | None, "damping B_t along the surface [N s/m]; None: B"]
    restitution: Annotated[float | None, "Newton's coefficient e from 0 to 1; None: the other surface's, else 0"]
    preload: Annotated[float | None, "force [N] with which contact springs are compressed in advance"]
    torsion: Annotated[float | None, "coefficient of friction against spinning about the normal [m]"]
    rolling: Annotated[float | None, "coefficient of friction against rolling [m]"]
    condim: Annotated[int | None, "1: no friction; 3: along the surface; 4: and against spinning; 6: and rolling"]
    priority: Annotated[int, "the surface with the higher priority dictates the properties of a pair"]
    margin: Annotated[float, "thickness by which the surface is inflated for contact [m]"]
    gap: Annotated[float, "distance beyond the margin at which adhesion begins [m]"]
    adhesion: Annotated[float, "force with which a contact may pull [N]"]
    surface_velocity: Annotated[Vector | None, "(3,) [m/s], or (6,) with [rad/s]: velocity of a belt, shape's axes"]
    material: Annotated[Material | None, "an ss.Material; the keywords above change it"]
    collide: Annotated[bool, "whether it touches anything; else it is drawn and has mass"]
    rgba: Annotated[Vector | None, "(4,) colour and opacity from 0 to 1"]
    fluid: Annotated[Literal["box", "ellipsoid"] | None, "how a medium meets it: the body's box, or as an ellipsoid"]
    fluid_coefficients: Annotated[Vector | None, "(5,) drag blunt, slender, angular; lift Kutta, Magnus"]


class PlaneOptions(SurfaceOptions, total=False):
    """What a plane takes."""

    name: Annotated[str | None, "name of the shape; None invents one"]


class TerrainOptions(PlaneOptions, total=False):
    """What terrain takes."""

    quat: Annotated[Vector, "(4,) orientation (w, x, y, z) in the body's frame"]


class ShapeOptions(TerrainOptions, total=False):
    """What a shape of a body takes."""

    pos: Annotated[Vector, "(3,) position of the shape in the body's frame [m]"]


class MotorOptions(TypedDict, total=False):
    """What a joint takes, as far as it does not depend on the kind of its forces."""

    axis: Annotated[Vector, "(3,) axis of a hinge or slide in the body's frame"]
    range: Annotated[Range | None, "(lower, upper) limits [rad or m]; None: no limits"]
    armature: Annotated[float, "inertia of the rotor [kg m² or kg]"]
    motor: Annotated[Motor, "True or 'force', 'position', 'velocity': an actuator that has the joint's name"]
    max_force: Annotated[float | None, "limit of the actuator's force [N m or N]; None: no limit"]
    kp: Annotated[float | None, "gain of a position servo [N m/rad or N/m]"]
    kv: Annotated[float | None, "gain of a velocity servo, damping of a position servo [N m s/rad or N s/m]"]


class JointOptions(MotorOptions, total=False):
    """What ``add_body`` takes for its joint."""

    damping: Annotated[float, "damping of the joint [N m s/rad or N s/m]"]
    stiffness: Annotated[float, "stiffness towards the reference configuration [N m/rad or N/m]"]
    friction: Annotated[float, "dry friction [N m or N]"]


class ChildOptions(JointOptions, total=False):
    """What a child body takes."""

    quat: Annotated[Vector, "(4,) orientation (w, x, y, z) in the parent's frame"]


class BodyOptions(SurfaceOptions, MotorOptions, total=False):
    """What a body with one shape takes: its place, its joint and the shape's own keywords."""

    name: Annotated[str | None, "name of the body; None invents one"]
    pos: Annotated[Vector, "(3,) position of the body [m], in its parent's frame"]
    quat: Annotated[Vector, "(4,) orientation (w, x, y, z), in its parent's frame"]
    joint: Annotated[JointKind, "'free', 'ball', 'hinge', 'slide', or 'fixed' for a body that does not move"]
    parent: Annotated["Body | None", "the body that carries it; None is the world"]
    mocap: Annotated[bool, "whether sim.set_mocap and sim.prescribe move it"]


class FileOptions(TypedDict, total=False):
    """What reading a file takes."""

    floating_base: Annotated[bool, "whether the root link of a URDF is free"]
    package_dirs: Annotated[Iterable[str | Path], "folders in which package:// paths are looked for"]
    unreadable_meshes: Annotated[str, "meshes that MuJoCo cannot read: 'replace' (by trimesh), 'error' or 'drop'"]
    ignore: Annotated[Iterable[str] | str, "features of the file that may be left out"]


FIRST = ("name", "pos", "quat", "joint", "mass", "density")
"""What help lists first."""


def list_keywords(cls: type, takers: Mapping[Any, Sequence[Callable]]) -> None:
    """Write out the shared keywords of a class's methods in their signatures and docstrings. ``takers`` are, for each
    kind of keywords, the functions whose parameters have the defaults; the first one that has a keyword decides."""
    kinds = {f"Unpack[{kind.__name__}]": kind for kind in takers}
    for attribute in vars(cls).values():
        function = getattr(attribute, "__func__", attribute)
        if not inspect.isfunction(function):
            continue
        last = [*inspect.signature(function).parameters.values(), None][-2:][0]
        if last is not None and last.kind == last.VAR_KEYWORD and last.annotation in kinds:
            kind = kinds[last.annotation]
            _write_out(function, kind.__annotations__, [inspect.signature(f).parameters for f in takers[kind]])


def _write_out(function: Any, keywords: Mapping[str, Any], takers: Sequence[Mapping[str, inspect.Parameter]]) -> None:
    signature = inspect.signature(function)
    own = list(signature.parameters.values())[:-1]
    names = [name for name in keywords if name not in signature.parameters]
    names.sort(key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    parameters = [next(taker[name] for taker in takers if name in taker) for name in names]
    parameters = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in parameters]
    function.__signature__ = signature.replace(parameters=[*own, *parameters])
    lines = [f"    {p.name} = {p.default!r}: {keywords[p.name].__metadata__[0]}" for p in parameters]
    function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__ or ""), "", "Keywords:", "", *lines])


def says_why(method: F) -> F:
    """Turn errors that Python or MuJoCo raise for the arguments into an InputError that names the method."""

    @names_keywords
    @functools.wraps(method)
    def wrapped(*args, **options):
        try:
            return method(*args, **options)
        except StickslipError:
            raise
        except TypeError as error:
            message = re.sub(r"^[\w.]*\.(\w+\(\))", r"\1", " ".join(str(error).split()))
            owner = args[0] if args and isinstance(args[0], type) else type(args[0]) if args else None
            whole = getattr(owner, method.__name__, method)  # its signature lists the shared keywords, too
            raise InputError(f"{_called(method)}: {_by_place(whole, message) or message[:200]}") from None
        except (ValueError, OverflowError) as error:
            raise InputError(f"{_called(method)}: {' '.join(str(error).split())[:200]}") from None

    return cast(F, wrapped)


def _called(method: Callable) -> str:
    """A method as users know it: ``Scene`` is the ``__init__`` of scenes."""
    return method.__qualname__.removesuffix(".__init__").rpartition(".")[2]


def _by_place(method: Callable, message: str) -> str:
    """What to write, if ``message`` is Python's for too many arguments without a name; else nothing."""
    found = re.search(r"takes .*positional arguments? but (\d+) were given", message)
    if found is None:
        return ""
    own = [p for p in inspect.signature(method).parameters.values() if p.name not in ("self", "cls", "options")]
    first = [p.name for p in own if p.kind == p.POSITIONAL_OR_KEYWORD]
    named = [p.name for p in own if p.kind == p.KEYWORD_ONLY]
    example = next((name for name in ("pos", "name") if name in named), named[0] if named else "")
    whole = f"expected {' and '.join(first) or 'nothing'} without a name"
    return f"{whole}, got {int(found[1]) - 1} arguments" + (f"; write the others as {example}=…" if example else "")
