"""Find mesh files, check that MuJoCo can read them, and read the others with trimesh."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np

from stickslip.errors import ModelError, brief

READABLE = (".stl", ".obj", ".msh")
"""Formats that MuJoCo reads."""
MOST_STL_FACES = 200_000
"""Largest number of faces of an STL file that MuJoCo reads."""


def _package_name(folder: Path) -> str | None:
    manifest = folder / "package.xml"
    if not manifest.is_file():
        return None
    match = re.search(r"<name>\s*([^<\s]+)\s*</name>", manifest.read_text(errors="replace"))
    return match.group(1) if match else None


def package_folders(package: str, urdf: Path, package_dirs: Iterable[str | Path]) -> Iterator[Path]:
    """Folders that may be the ROS package: first below the given ones, then on ROS's paths, then around the URDF."""
    given = [Path(d) for d in package_dirs]
    ros = [Path(d) for d in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if d]
    ros += [Path(d) / "share" for d in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if d]
    for folder in (*given, *ros, *urdf.parents):
        if folder.name == package or _package_name(folder) == package:
            yield folder
        if (folder / package).is_dir():
            yield folder / package
    for folder in (*given, *ros):
        for manifest in sorted((*folder.glob("*/package.xml"), *folder.glob("*/*/package.xml"))):
            if _package_name(manifest.parent) == package:
                yield manifest.parent


def find_mesh(uri: str, urdf: Path, package_dirs: Sequence[str | Path], meshdir: str, where: str) -> Path:
    """The file that a URDF's ``filename`` means; ``where`` names the link for the error."""
    try:
        parsed = urlparse(uri)
    except ValueError as error:
        raise ModelError(f"{where}: mesh {brief(uri, 60)} is no URL ({error}); check the path in the URDF") from None
    if parsed.scheme in ("package", "model"):
        package, relative = unquote(parsed.netloc), unquote(parsed.path).lstrip("/")
        folders = list(dict.fromkeys(package_folders(package, urdf, package_dirs)))
        for folder in folders:
            if (folder / relative).is_file():
                return folder / relative
        if folders:
            raise ModelError(
                f"{where}: mesh file {str(folders[0] / relative)!r} does not exist (from {uri!r}); "
                "check the path in the URDF"
            )
        raise ModelError(
            f"{where}: no folder of the package {package!r} found for {uri!r}; "
            f"load with package_dirs=[folder that contains {package}] (--package-dir) or set ROS_PACKAGE_PATH"
        )
    if parsed.scheme in ("http", "https"):
        raise ModelError(f"{where}: mesh {uri!r} is on the network; download it and use a relative path")
    # In "file://meshes/part.stl" the first folder stands where a host's name should, and means one beside the URDF.
    host = "" if parsed.netloc == "localhost" else parsed.netloc
    relative = unquote(host + parsed.path) if parsed.scheme == "file" else uri
    candidates = [urdf.parent / relative, urdf.parent / meshdir / relative, urdf.parent / meshdir / Path(relative).name]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise ModelError(f"{where}: mesh file {str(candidates[0])!r} does not exist; check the path in the URDF")


def unreadable(path: Path) -> str | None:
    """Why MuJoCo cannot read this mesh file, or None."""
    suffix = path.suffix.lower()
    if suffix not in READABLE:
        return f"{suffix or 'files without an ending'} is not one of {', '.join(READABLE)}"
    if suffix == ".stl":
        with path.open("rb") as file:
            head = file.read(84)
        faces = int.from_bytes(head[80:84], "little")
        if path.stat().st_size != 84 + 50 * faces and head.lstrip().startswith(b"solid"):
            return "it is a text STL, not a binary one"
        if faces > MOST_STL_FACES:
            return f"it has {faces} faces, more than {MOST_STL_FACES}"
    return None


def refuse_mesh(where: str, file: Path, why: str) -> ModelError:
    return ModelError(
        f"{where}: MuJoCo cannot read mesh {file.name!r} ({why}); leave unreadable_meshes out to convert it with "
        'trimesh, or load with unreadable_meshes="drop"'
    )


def read_with_trimesh(path: Path, where: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) [m] and triangles (m, 3) of any mesh file; a scene of several parts becomes one mesh.

    Like RViz and Pinocchio, it honours the unit of a COLLADA file but not its up axis.
    """
    import trimesh

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # trimesh's parsers warn; real problems raise
            scene = trimesh.load_scene(path)
            if scene.units is not None:
                scene = scene.convert_units("meters")
            mesh = scene.to_mesh()
    except Exception as error:
        # trimesh's readers are optional packages, and a broken file can make them raise anything.
        needs = {
            ".dae": "pycollada",
            ".zae": "pycollada",
            ".3mf": "lxml networkx",
            ".stp": "cascadio",
            ".step": "cascadio",
        }
        extra = needs.get(path.suffix.lower(), '"trimesh[easy]"')
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(
            f"{where}: trimesh cannot read {path.name!r} ({reason[:60]}); `pip install {extra}` may help, "
            f'or convert it to .stl or .obj, or load with unreadable_meshes="drop"'
        ) from None
    if not len(mesh.faces):
        raise ModelError(f'{where}: mesh file {str(path)!r} has no triangles; load with unreadable_meshes="drop"')
    return np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces, dtype=np.int32)
