"""Attach a loaded file to a scene: to the world, or to a body of another robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from stickslip.attributes import IN_PARTS, Closed
from stickslip.errors import InputError, listed
from stickslip.model.body import Body, Vector, vector
from stickslip.model.importers.file_options import OPTIONS, take_over
from stickslip.model.importers.read import LoadedSpec
from stickslip.model.keyframes import NamedKeyframe
from stickslip.model.mjspec import collected_warnings
from stickslip.summary import Summarised, Summary, counted, plural

if TYPE_CHECKING:
    from stickslip.model.scene import Scene

NAMED = ("bodies", "joints", "actuators", "sites", "geoms", "tendons", "sensors")
"""Elements whose names must be free."""
MEMORY = ("memory", "nconmax", "njmax", "nstack")
"""Sizes of MuJoCo's memory in a file. They say nothing of the model, and MuJoCo would warn of different ones."""


@dataclass(repr=False)
class Robot(Summarised, Closed):
    """A loaded robot: the names that its joints, controls and frames have in the scene."""

    elsewhere = ("", IN_PARTS)

    name: str
    prefix: str
    joints: tuple[str, ...]
    actuators: tuple[str, ...]
    notes: tuple[str, ...]
    """What was dropped, replaced or ignored while loading."""

    def __post_init__(self) -> None:
        self._complete = True

    def _summary(self) -> Summary:
        parts = plural(len(self.joints), "joint"), plural(len(self.actuators), "actuator")
        rows = {"joints": counted(self.joints), "actuators": counted(self.actuators), "notes": counted(self.notes)}
        return Summary(f"Robot {self.name!r}: {', '.join(parts)}", rows | {"notes": rows["notes"].partition(":")[0]})


def attach(
    scene: Scene,
    loaded: LoadedSpec,
    prefix: str,
    pos: Vector | None = None,
    quat: Vector | None = None,
    name: str = "",
    parent: Body | None = None,
) -> Robot:
    """Add a file's content to a scene, with a prefix before all names, on a parent or on the world."""
    child, spec = loaded.spec, scene.spec
    for kind in NAMED:
        taken = {element.name for element in getattr(spec, kind)} - {"", "world"}
        for full in (prefix + element.name for element in getattr(child, kind)):
            if full in taken:
                raise InputError(f"the name {full!r} is taken ({kind}); give this one a name: name='second'")
    mounted = parent is not None and parent is not scene.world
    _place_bases(loaded, pos, quat, mounted)
    names = {prefix + body.name for body in child.bodies}
    scene._bodies |= names
    scene._loaded |= names - {"world"}
    bases = [prefix + body.name for body in child.worldbody.bodies]
    joints = tuple(prefix + joint.name for joint in child.joints)
    actuators = tuple(prefix + actuator.name for actuator in child.actuators)
    child.nuser_geom, child.nuser_site, child.nkey = spec.nuser_geom, spec.nuser_site, spec.nkey
    loaded.notes += take_over(spec.option, loaded.options)
    for size in MEMORY:
        setattr(child, size, getattr(spec, size))
    for option in OPTIONS:
        setattr(child.option, option, getattr(spec.option, option))
    loaded.notes += [f"not used: {flag}; only a scene made of one file has it" for flag in loaded.contact_flags()]
    owner = spec.worldbody if parent is None else parent.spec
    with collected_warnings() as messages:
        spec.attach(child, prefix=prefix, frame=owner.add_frame())
    # MuJoCo warns of an empty prefix, but tests show that to_xml() then reproduces the scene
    loaded.notes += [" ".join(m.split()) for m in messages if "empty prefix" not in m]
    if mounted and parent is not None and parent.name:  # they overlap, also where the parent is fixed to the world
        for base in bases:
            spec.add_exclude(bodyname1=parent.name, bodyname2=base)
    for key, named in {**loaded.keyframes, "home": loaded.home}.items():
        mine = scene._keyframes.setdefault(key if key == "home" else prefix + key, NamedKeyframe())
        mine.update(named.renamed(prefix))
    scene.notes += loaded.notes
    robot = Robot(name or scene.name, prefix, joints, actuators, tuple(loaded.notes))
    scene.robots.append(robot)
    return robot


def _place_bases(loaded: LoadedSpec, pos: Vector | None, quat: Vector | None, mounted: bool) -> None:
    """Place the base of a file. A base that is mounted on another robot loses its free joint."""
    child = loaded.spec
    bases = child.worldbody.bodies
    if (pos is not None or quat is not None) and len(bases) != 1:
        found = listed(repr(body.name) for body in bases) or "none"
        raise InputError(f"pos and quat: expected a file with one base to place, found {found}; leave them out")
    for body in bases:
        if pos is not None:
            body.pos = vector("pos", pos, 3)
        if quat is not None:
            body.quat = vector("quat", quat, 4)
        free = [j for j in body.joints if j.type == mujoco.mjtJoint.mjJNT_FREE]
        for joint in free:
            if mounted:
                loaded.notes.append(f"left out: free joint {joint.name!r} of {body.name!r}, which is mounted")
                for key in (loaded.home, *loaded.keyframes.values()):
                    key.joints.pop(joint.name, None)
                    key.velocities.pop(joint.name, None)
                child.delete(joint)
                continue
            # the given pose takes precedence over the file's home pose
            home = loaded.home.joints.setdefault(joint.name, np.concatenate([body.pos, body.quat]))
            if pos is not None:
                home[:3] = pos
            if quat is not None:
                home[3:] = np.asarray(quat, dtype=float) / np.linalg.norm(quat)
