"""Check that inertias are possible, and merge fixed links whose own inertia is not.

Many URDFs have placeholder inertias on small fixed links (cameras, mounts), which MuJoCo refuses. The motion depends
only on the total inertia of links that are fixed together. If it is possible, the group is merged into its moving link.
"""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.model.compile import rotation

TINY = 1e-15
"""[kg m²] MuJoCo's mjMINVAL; smaller moments count as zero."""


def body_tensor(body: mujoco.MjsBody) -> np.ndarray:
    """(3, 3) inertia about the centre of mass along the body axes, as the file gives it [kg m²]."""
    if not np.isnan(body.fullinertia[0]):
        xx, yy, zz, xy, xz, yz = body.fullinertia
        full = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:
        full = np.diag(body.inertia)
    axes = rotation(body.iquat)
    return axes @ full @ axes.T


def centre_of_mass(body: mujoco.MjsBody) -> np.ndarray:
    """(3,) in the body frame [m]; MuJoCo has NaN where the file gives none."""
    return np.nan_to_num(body.ipos)


def fault(tensor: np.ndarray) -> str | None:
    """Say with numbers what makes this inertia impossible; None if a body can have it."""
    a, b, c = (0.0 if abs(x) < TINY else float(x) for x in np.linalg.eigvalsh(tensor))
    moments = f"principal moments {a:.4g}, {b:.4g}, {c:.4g} kg m²"
    if a < -TINY - 1e-9 * c:
        return f"not positive: {moments}"
    if a + b < c * (1 - 1e-9) - TINY:
        return f"violates the triangle inequality A + B ≥ C: {moments} ({a:.4g} + {b:.4g} < {c:.4g})"
    return None


def set_inertia(body: mujoco.MjsBody, mass: float, com: np.ndarray, tensor: np.ndarray) -> None:
    """Write mass, centre of mass and inertia, as principal moments: MuJoCo demands a positive definite full inertia."""
    moments, axes = np.linalg.eigh(tensor)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, axes.ravel())
    body.explicitinertial, body.mass, body.ipos, body.iquat = True, mass, com, quat
    body.inertia, body.fullinertia = np.where(moments > TINY, moments, 0.0), [np.nan] * 6


def _group(leader: mujoco.MjsBody) -> list[tuple[mujoco.MjsBody, np.ndarray, np.ndarray]]:
    """A body and all bodies fixed to it, with their poses in its frame."""
    group = [(leader, np.zeros(3), np.eye(3))]
    for body, pos, rot in group:  # the list grows meanwhile
        for child in body.bodies:
            if not child.joints:
                group.append((child, pos + rot @ child.pos, rot @ rotation(child.quat)))
    return group


def merge_impossible(spec: mujoco.MjSpec) -> list[str]:
    """Make the inertias of an imported URDF acceptable to MuJoCo without changing the motion; note each merge."""
    notes = []
    for body in spec.bodies[1:]:
        full = body.fullinertia
        if not np.isnan(full[0]) and np.linalg.eigvalsh(body_tensor(body))[0] <= TINY and not fault(body_tensor(body)):
            set_inertia(body, body.mass, centre_of_mass(body), body_tensor(body))  # a point mass or a thin rod
    for leader in (spec.worldbody, *(body for body in spec.bodies if body.joints)):
        members = _group(leader)
        bad = [body.name for body, _, _ in members if body.name != "world" and fault(body_tensor(body))]
        if not bad:
            continue
        mass = sum(body.mass for body, _, _ in members)
        com = sum(body.mass * (pos + rot @ centre_of_mass(body)) for body, pos, rot in members) / max(mass, TINY)
        total = np.zeros((3, 3))
        for body, pos, rot in members:
            r = pos + rot @ centre_of_mass(body) - com
            total += rot @ body_tensor(body) @ rot.T + body.mass * (r @ r * np.eye(3) - np.outer(r, r))
        fixed = leader.name == "world"
        if not fixed and (fault(total) or len(members) == 1):
            continue  # left to MuJoCo, which refuses the culprit by name
        for body, _, _ in members[1:]:
            set_inertia(body, body.mass if fixed else 0.0, centre_of_mass(body), np.zeros((3, 3)))
        if not fixed:
            set_inertia(leader, mass, com, total)
        names = ", ".join(map(repr, bad))
        if fixed:
            notes.append(f"merged: impossible inertia of {names} into the world, to which it is fixed (same motion)")
        else:
            whole = f"link {leader.name!r} and all that is fixed to it"
            notes.append(f"merged: impossible inertia of {names} into the sum over {whole} (same motion)")
    return notes
