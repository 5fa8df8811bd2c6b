"""Options that several commands share: for loading model files, and for methods."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from stickslip.errors import expected
from stickslip.methods.options import ELSEWHERE

FloatingBase = Annotated[bool, Option(help="free the root link of a URDF")]
PackageDir = Annotated[list[Path] | None, Option(help="folder with the packages of package:// meshes (repeatable)")]
UnreadableMeshes = Annotated[str, Option(help="meshes that MuJoCo cannot read: replace (by trimesh), error or drop")]
On = Annotated[
    str | None, Option("--on", help="where to compute: ray (on this machine), or ray://HOST:PORT; default: processes")
]
Ignore = Annotated[list[str] | None, Option(help="unsupported feature to leave out (repeatable), or 'all'")]


def load_options(
    floating_base: bool, package_dir: list[Path] | None, unreadable_meshes: str, ignore: list[str] | None
) -> dict[str, Any]:
    """The options as keyword arguments of ``Scene.load``."""
    return {
        "floating_base": floating_base,
        "package_dirs": package_dir or (),
        "unreadable_meshes": unreadable_meshes,
        "ignore": "all" if ignore == ["all"] else tuple(ignore or ()),
    }


def method_options(pairs: list[str] | None) -> dict[str, Any]:
    """``["matmuls=2", "rest=detected"]`` as keyword arguments; values are integers, floats or strings."""
    options: dict[str, Any] = {}
    for pair in pairs or []:
        name, equals, text = pair.partition("=")
        if not (name and equals and text):
            raise expected("--option", "NAME=VALUE", pair, "for example --option matmuls=2")
        name = name.strip()
        if name in ("scene", "self", *ELSEWHERE) and name != "seed":
            raise expected("--option", "an option of the method", pair, "scene, method and dt have places of their own")
        if name in options:
            raise expected("--option", f"{name} once", [p for p in pairs or [] if p.partition("=")[0].strip() == name])
        value: Any = text
        for kind in (int, float):
            try:
                value = kind(text)
                break
            except ValueError:
                continue
        options[name] = value
    return options
