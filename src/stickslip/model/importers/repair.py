"""Links of a URDF that MuJoCo refuses, made acceptable: moving links without mass, and inertias that no body can have.

* A moving link without mass and shapes that carries one moving link is virtual: chains of such links are how URDFs
  write universal, spherical and planar joints. Its joint moves to the link that it carries, which then has several
  joints, one after another. With T₁, T₂ the poses of the joints and J₁, J₂ their motions,

      T₁·J₁·T₂·J₂ = (T₁·T₂)·(T₂⁻¹·J₁·T₂)·J₂,

  so that the motion is the same. The frame of the virtual link stays behind, fixed to its parent.
* The joint of a link without mass that carries no mass either has no equation of motion. It becomes fixed.
* Any other moving link without mass gets a millionth of the mass that it carries.
* A moving link with mass whose inertia is impossible gets the nearest possible one: the smaller principal moments
  A ≤ B are raised by equal amounts until A + B = C; all moments are at least those of a ball of 0.1 mm.

Each of them is a note.
"""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.errors import listed
from stickslip.model.compile import rotation
from stickslip.model.importers.inertia import body_tensor, centre_of_mass, fault, set_inertia

SHARE = 1e-6
"""Mass of a link that has none, as a fraction of the mass that it carries."""
GYRATION = 1e-4
"""[m] least radius of gyration."""
SMALL = 1e-6
"""A moment below this part of the least one counts as missing."""
SPACE = 1e-6
"""A + B exceeds C by this fraction after a repair, so that MuJoCo's own rounding does not refuse it."""


def rigid_group(body: mujoco.MjsBody) -> list[mujoco.MjsBody]:
    """A body and all bodies that are fixed to it."""
    group = [body]
    for member in group:  # the list grows meanwhile
        group += [child for child in member.bodies if not child.joints]
    return group


def rigid_mass(body: mujoco.MjsBody) -> float:
    """Mass of a body and of the bodies fixed to it [kg], as the file gives it, without the mass of shapes."""
    return sum(float(member.mass) for member in rigid_group(body))


def carried_masses(spec: mujoco.MjSpec) -> dict[str, float]:
    """Mass of each body and of all that hangs on it [kg], by the body's name."""
    order, above = [spec.worldbody], {}
    for body in order:  # the list grows meanwhile, parents first
        for child in body.bodies:
            above[child.name] = body.name
            order.append(child)
    masses = {body.name: float(body.mass) for body in order}
    for body in reversed(order[1:]):
        masses[above[body.name]] += masses[body.name]
    return masses


def _pose_in(body: mujoco.MjsBody, ancestor: mujoco.MjsBody) -> tuple[np.ndarray, np.ndarray]:
    """(position, rotation) of a body in the frame of an ancestor, at the reference configuration."""
    pos, rot = np.zeros(3), np.eye(3)
    while body.name != ancestor.name:
        own = rotation(body.quat)
        pos, rot = np.asarray(body.pos) + own @ pos, own @ rot
        body = body.parent
    return pos, rot


def _copied(joint: mujoco.MjsJoint, body: mujoco.MjsBody, pos: np.ndarray, axis: np.ndarray) -> None:
    """The joint once more, on a body, with another anchor and axis."""
    new = body.add_joint(name="", type=joint.type, pos=pos, axis=axis)
    for part in ("ref", "armature", "damping", "stiffness", "frictionloss", "range", "limited"):
        setattr(new, part, getattr(joint, part))
    new.userdata = joint.userdata
    name, joint.name = joint.name, ""
    new.name = name


def absorb_virtual_links(spec: mujoco.MjSpec) -> list[str]:
    """Move the joints of virtual links to the links that they carry; there must be no actuators and equalities yet."""
    absorbed = []
    for body in [body for body in spec.bodies[1:] if body.joints]:
        group = rigid_group(body)
        carried = [child for member in group for child in member.bodies if child.joints]
        scalar = all(int(joint.type) >= int(mujoco.mjtJoint.mjJNT_SLIDE) for joint in body.joints)
        if rigid_mass(body) > 0.0 or len(carried) != 1 or not scalar:
            continue
        child = carried[0]
        if any(member.geoms for member in group) or any(
            int(joint.type) < int(mujoco.mjtJoint.mjJNT_SLIDE) for joint in child.joints
        ):
            continue
        pos, rot = _pose_in(child, body)
        own = list(child.joints)
        for joint in body.joints:
            _copied(joint, child, rot.T @ (np.asarray(joint.pos) - pos), rot.T @ np.asarray(joint.axis))
        for joint in own:
            _copied(joint, child, np.asarray(joint.pos), np.asarray(joint.axis))
        for joint in [*body.joints, *own]:
            spec.delete(joint)
        absorbed.append(body.name)
    if not absorbed:
        return []
    return [f"merged: virtual links without mass, their joints into the links that they carry: {_names(absorbed)}"]


def fix_idle_joints(spec: mujoco.MjSpec) -> tuple[list[str], set[str]]:
    """Fix joints that move no mass; returns the notes and the names of these joints."""
    idle: list[str] = []
    masses = carried_masses(spec)
    for body in spec.bodies[1:]:
        if body.joints and masses[body.name] <= 0.0:
            for joint in list(body.joints):
                idle.append(joint.name)
                spec.delete(joint)
    if not idle:
        return [], set()
    return [f"fixed: joints that move no mass: {_names(idle)}; give their links an <inertial> to move them"], set(idle)


def give_mass(spec: mujoco.MjSpec) -> list[str]:
    """Give moving links without mass a millionth of what they carry."""
    given, masses = [], carried_masses(spec)
    for body in spec.bodies[1:]:
        if body.joints and rigid_mass(body) <= 0.0:
            mass = SHARE * masses[body.name]
            set_inertia(body, mass, np.zeros(3), mass * 1e-4 * np.eye(3))
            given.append(body.name)
    return [f"mass: links that move without mass have a millionth of what they carry: {_names(given)}"] if given else []


def possible_inertia(mass: float, tensor: np.ndarray) -> np.ndarray:
    """(3, 3) the inertia itself if a body can have it, else the one whose smaller moments are raised as little as
    possible [kg m²]."""
    moments, axes = np.linalg.eigh(tensor)
    a, b, c = np.maximum(moments, mass * GYRATION**2)
    missing = c * (1.0 + SPACE) - a - b
    if missing > 0.0:
        a, b = a + 0.5 * missing, b + 0.5 * missing
        if b > c:  # only where the smallest is raised to the largest
            b = c = max(b, c)
    return axes @ np.diag((a, b, c)) @ axes.T


def repair_inertias(spec: mujoco.MjSpec) -> list[str]:
    """Replace the impossible inertias that are left by the nearest possible ones."""
    impossible, points = [], []
    for body in spec.bodies[1:]:
        if not body.mass > 0.0:
            continue
        tensor = body_tensor(body)
        before = np.linalg.eigvalsh(tensor)
        wrong = fault(tensor) is not None
        if not wrong and not (body.joints and before[0] < SMALL * body.mass * GYRATION**2):
            continue
        repaired = possible_inertia(float(body.mass), tensor)
        set_inertia(body, float(body.mass), centre_of_mass(body), repaired)
        if wrong:
            impossible.append(f"{body.name!r} {_moments(before)} → {_moments(np.linalg.eigvalsh(repaired))}")
        else:
            points.append(repr(body.name))
    notes = []
    if impossible:
        notes.append(f"repaired: inertias that no body can have, principal moments in kg m²: {listed(impossible, 3)}")
    if points:
        notes.append(f"repaired: links without inertia have that of a ball or rod of 0.1 mm: {listed(points, 6)}")
    return notes


def _moments(moments: np.ndarray) -> str:
    return "(" + ", ".join(f"{moment:.4g}" for moment in moments) + ")"


def _names(names: list[str]) -> str:
    return listed(map(repr, names), 6)
