"""MJCF to a MuJoCo specification, with absolute paths of assets and without the user data of other programs."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np

from stickslip.errors import ModelError
from stickslip.model.importers.meshes import read_with_trimesh, refuse_mesh, unreadable
from stickslip.model.importers.messages import MUJOCO_ERRORS, compile_spec, mujoco_error
from stickslip.model.importers.xml_text import blank_comments

MARKER = "stickslip"
"""``<custom><text name="stickslip" …/></custom>`` says that geom and site user data are ours (Material.to_user)."""
FREE = mujoco.mjtJoint.mjJNT_FREE


def mjcf_spec(file: Path | None, text: str, origin: str, unreadable_meshes: str) -> tuple[mujoco.MjSpec, list[str]]:
    """The specification of an MJCF file or text, and notes on its meshes."""
    try:
        if file is None:
            spec = mujoco.MjSpec.from_string(blank_comments(text))  # Python's strings may hold what is not UTF-8 there
        else:
            spec = mujoco.MjSpec.from_file(str(file))
    except MUJOCO_ERRORS as error:
        raise mujoco_error(error, origin) from None
    _absolute_assets(spec)
    marker = spec.text(MARKER)
    if marker is not None:
        spec.delete(marker)
    else:  # user data of another program must not be read as stiffness
        for element in (*spec.geoms, *spec.sites):
            element.userdata = []
        spec.nuser_geom = spec.nuser_site = -1
    return spec, _read_meshes(spec, origin, unreadable_meshes)


def _read_meshes(spec: mujoco.MjSpec, origin: str, policy: str) -> list[str]:
    """Handle meshes that MuJoCo cannot read: raise an error, read them by trimesh, or drop them with their geoms."""
    notes = []
    for mesh in list(spec.meshes):
        file = Path(mesh.file)
        why = unreadable(file) if mesh.file and file.is_file() else None
        if why is None:
            continue
        name = mesh.name or file.stem
        where = f"{origin}: mesh {name!r}"
        if policy == "error":
            raise refuse_mesh(where, file, why)
        if policy == "replace":
            vertices, faces = read_with_trimesh(file, where)
            mesh.name, mesh.file, mesh.uservert, mesh.userface = name, "", vertices.ravel(), faces.ravel()
            notes.append(f"replaced: mesh {name!r}, read by trimesh ({why})")
        else:
            for geom in [geom for geom in spec.geoms if geom.meshname == name]:
                spec.delete(geom)
            spec.delete(mesh)
            notes.append(f"dropped: mesh {name!r} and its geoms ({why})")
    return notes


def _absolute_assets(spec: mujoco.MjSpec) -> None:
    """Make paths of assets absolute, so that they are found from any folder and in a scene that is saved elsewhere."""
    shapes = (*spec.meshes, *spec.hfields, *spec.skins)
    for folder, elements in ((spec.meshdir, shapes), (spec.texturedir, spec.textures)):
        for element in elements:
            if element.file:
                name = Path(element.file).name if spec.strippath else element.file
                file = Path(spec.modelfiledir) / folder / name
                if file.is_file():
                    element.file = str(file.absolute())


def free_base(spec: mujoco.MjSpec, origin: str) -> None:
    """``floating_base`` for MJCF: the only child of the world gets a free joint if it has none."""
    bases = spec.worldbody.bodies
    if len(bases) != 1 or any(joint.type != FREE for joint in bases[0].joints):
        names = ", ".join(repr(body.name) for body in bases) or "none"
        raise ModelError(
            f"{origin}: floating_base=True expects one body in the world, free or without joints, got {names}; "
            "load with floating_base=False"
        )
    if not bases[0].joints:
        mj = compile_spec(spec, origin)
        pose = [*mj.body_pos[bases[0].id], *mj.body_quat[bases[0].id]]
        bases[0].add_freejoint(name="root")
        for key in spec.keys:
            key.qpos = [*pose, *key.qpos] if len(key.qpos) else []
            key.qvel = [*np.zeros(6), *key.qvel] if len(key.qvel) else []
