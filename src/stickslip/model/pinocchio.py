"""A model for Pinocchio, and states and forces in its layout, for tests and benchmarks.

Our coordinates are MuJoCo's. Pinocchio's differ in three ways: quaternions are (x, y, z, w); hinge and slide
coordinates count from the reference configuration, q − q0; and the linear velocity of a free joint is in body axes,
v_B = Rᵀ·v_W, so that accelerations differ by a velocity product, a_B = Rᵀ·a_W − ω_B × v_B. Order and sizes are equal.

A link with several joints becomes a chain of Pinocchio joints without mass, each at its anchor in link axes; the last
of them carries the link. A free joint with armature on its linear velocities becomes a translation and a ball joint
(rotor inertia along world axes is not rotor inertia along body axes); its velocities then need no conversion.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from stickslip.errors import ModelError, expected
from stickslip.model.arrays import BALL, FREE, HINGE, SLIDE
from stickslip.model.compile import rotation
from stickslip.model.model import Model


def import_pinocchio() -> ModuleType:
    """Import the optional package, or raise an error that says how to install it."""
    try:
        import pinocchio
    except ImportError as error:
        raise ModelError("Pinocchio is not installed; run: pip install stickslip[bench]") from error
    return pinocchio


def to_pinocchio(model: Model) -> Any:
    """A ``pinocchio.Model`` of the same links, joints, inertias, armature, gravity and named frames."""
    pin = import_pinocchio()
    tree, inertia = model.tree, model.inertia
    result = pin.Model()
    result.name = "stickslip"
    result.gravity = pin.Motion(inertia.gravity, np.zeros(3))
    carrier = [0]  # the Pinocchio joint that carries each link
    offset = [np.zeros(3)]  # the link's origin in that joint's frame, whose axes are the link's
    for b in range(1, model.nlink):
        p = tree.parent[b]
        at, placement = carrier[p], pin.SE3(tree.link_rot[b], offset[p] + tree.link_pos[b])
        anchor = np.zeros(3)
        for j in range(tree.joint_start[b], tree.joint_start[b + 1]):
            name = model.joint_names[j]
            if tree.joint_type[j] == FREE:  # its coordinates are the pose in the world
                placement = pin.SE3.Identity()
                if _translates(model, j):
                    at = result.addJoint(at, pin.JointModelTranslation(), placement, f"{name}:translation")
                    at = result.addJoint(at, pin.JointModelSpherical(), placement, name)
                else:
                    at = result.addJoint(at, pin.JointModelFreeFlyer(), placement, name)
                anchor = np.zeros(3)
                continue
            step = pin.SE3(np.eye(3), tree.joint_pos[j] - anchor)
            at = result.addJoint(at, _joint_model(pin, tree.joint_type[j], tree.joint_axis[j]), placement * step, name)
            placement, anchor = pin.SE3.Identity(), tree.joint_pos[j]
        carrier.append(at)
        offset.append(-anchor)
        xx, yy, zz, xy, xz, yz = inertia.inertia[b]
        about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        body = pin.Inertia(inertia.mass[b], inertia.com[b] + offset[b], about_com)
        result.appendBodyToJoint(at, body, pin.SE3.Identity())
    if len(inertia.cable_armature):
        raise ModelError("Pinocchio has no armature of tendons; set it to 0")
    result.armature = inertia.armature.copy()
    for name, f in model.frame_index.items():
        b = model.frames.link[f]
        pose = pin.SE3(model.frames.rot[f], offset[b] + model.frames.pos[f])
        result.addFrame(pin.Frame(name, carrier[b], 0, pose, pin.FrameType.OP_FRAME))
    return result


def link_carriers(model: Model) -> np.ndarray:
    """(nl,) the Pinocchio joint that carries each link (0, the universe, carries the world)."""
    joints = [1 + (model.tree.joint_type[j] == FREE and _translates(model, j)) for j in range(len(model.joint_names))]
    return np.concatenate([[0], np.cumsum(joints, dtype=np.int64)])[model.tree.joint_start[1:]]


def _joint_model(pin: ModuleType, kind: int, axis: np.ndarray) -> Any:
    """Pinocchio's joint; its faster axis-aligned type where the axis is exactly +x, +y or +z."""
    if kind == BALL:
        return pin.JointModelSpherical()
    for unit, letter in zip(np.eye(3), "XYZ", strict=True):
        if np.array_equal(axis, unit):
            return getattr(pin, f"JointModel{'R' if kind == HINGE else 'P'}{letter}")()
    return pin.JointModelRevoluteUnaligned(axis) if kind == HINGE else pin.JointModelPrismaticUnaligned(axis)


def _translates(model: Model, j: int) -> bool:
    """Whether the free joint j becomes a translation and a ball joint."""
    d = model.tree.joint_v[j]
    return bool(np.any(model.inertia.armature[d : d + 3]))


# -- states and forces -------------------------------------------------------------------------------------------------


def q_to_pinocchio(model: Model, q: np.ndarray) -> np.ndarray:
    """(nq,) the configuration in Pinocchio's layout."""
    out = _checked("q", q, model.nq) - _shift(model)
    for _, i in model.quaternions():
        out[i : i + 4] = np.roll(q[i : i + 4], -1)
    return out


def q_from_pinocchio(model: Model, q: np.ndarray) -> np.ndarray:
    """(nq,) Pinocchio's configuration in our layout."""
    out = _checked("q", q, model.nq) + _shift(model)
    for _, i in model.quaternions():
        out[i : i + 4] = np.roll(q[i : i + 4], 1)
    return out


def v_to_pinocchio(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(nv,) the velocity in Pinocchio's layout; ``q`` is in ours, here and below."""
    out = _checked("v", v, model.nv).copy()
    for d, R in _body_axes(model, q):
        out[d : d + 3] = R.T @ out[d : d + 3]
    return out


def v_from_pinocchio(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(nv,) Pinocchio's velocity in our layout."""
    out = _checked("v", v, model.nv).copy()
    for d, R in _body_axes(model, q):
        out[d : d + 3] = R @ out[d : d + 3]
    return out


def a_to_pinocchio(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """(nv,) the acceleration in Pinocchio's layout: Rᵀ·a − ω × (Rᵀ·v) for a free joint's linear part."""
    v, out = _checked("v", v, model.nv), _checked("a", a, model.nv).copy()
    for d, R in _body_axes(model, q):
        out[d : d + 3] = R.T @ out[d : d + 3] - np.cross(v[d + 3 : d + 6], R.T @ v[d : d + 3])
    return out


def a_from_pinocchio(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """(nv,) Pinocchio's acceleration in our layout; ``v`` is in ours."""
    v, out = _checked("v", v, model.nv), _checked("a", a, model.nv).copy()
    for d, R in _body_axes(model, q):
        out[d : d + 3] = R @ out[d : d + 3] + np.cross(R @ v[d + 3 : d + 6], v[d : d + 3])
    return out


def tau_to_pinocchio(model: Model, q: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """(nv,) the forces in Pinocchio's layout; since power is the same, they transform as velocities do."""
    return v_to_pinocchio(model, q, tau)


def tau_from_pinocchio(model: Model, q: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """(nv,) Pinocchio's forces in our layout."""
    return v_from_pinocchio(model, q, tau)


# -- derivatives -------------------------------------------------------------------------------------------------------


class TangentMaps(NamedTuple):
    """How Pinocchio's quantities change with ours, each (nv, nv); columns by q are along q ⊕ ε·e_k. Written v_P and so
    on, δv_P = X·δv + v_by_q·δq, δa_P = X·δa + a_by_v·δv + a_by_q·δq, δτ_P = X·δτ + tau_by_q·δq; a step in q is X·δq.

    Only free joints differ: their linear part is in body axes, so its derivative by rotation is a cross product.
    """

    X: np.ndarray
    v_by_q: np.ndarray
    a_by_q: np.ndarray
    a_by_v: np.ndarray
    tau_by_q: np.ndarray


def tangent_maps(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray) -> TangentMaps:
    """The maps at a state in our layout."""
    v, a, tau = _checked("v", v, model.nv), _checked("a", a, model.nv), _checked("tau", tau, model.nv)
    maps = TangentMaps(np.eye(model.nv), *np.zeros((4, model.nv, model.nv)))
    for d, R in _body_axes(model, q):
        linear, angular = slice(d, d + 3), slice(d + 3, d + 6)
        spin, velocity = _skew(v[angular]), _skew(R.T @ v[linear])
        maps.X[linear, linear] = R.T
        maps.v_by_q[linear, angular] = velocity
        maps.a_by_q[linear, angular] = _skew(R.T @ a[linear]) - spin @ velocity
        maps.a_by_v[linear, linear], maps.a_by_v[linear, angular] = -spin @ R.T, velocity
        maps.tau_by_q[linear, angular] = _skew(R.T @ tau[linear])
    return maps


def rnea_derivatives_from_pinocchio(
    maps: TangentMaps, dq: np.ndarray, dv: np.ndarray, da: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(∂τ/∂q, ∂τ/∂v, ∂τ/∂a) in our layout from Pinocchio's, as ``computeRNEADerivatives`` returns them."""
    X = maps.X
    by_q = dq @ X + dv @ maps.v_by_q + da @ maps.a_by_q - maps.tau_by_q
    return X.T @ by_q, X.T @ (dv @ X + da @ maps.a_by_v), X.T @ da @ X


def aba_derivatives_from_pinocchio(
    maps: TangentMaps, dq: np.ndarray, dv: np.ndarray, dtau: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(∂a/∂q, ∂a/∂v, ∂a/∂τ) in our layout from Pinocchio's, as ``computeABADerivatives`` returns them."""
    X = maps.X
    by_q = dq @ X + dv @ maps.v_by_q + dtau @ maps.tau_by_q - maps.a_by_q
    return X.T @ by_q, X.T @ (dv @ X - maps.a_by_v), X.T @ dtau @ X


def _skew(x: np.ndarray) -> np.ndarray:
    """[x]×."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def _checked(name: str, value: np.ndarray, size: int) -> np.ndarray:
    array = np.asarray(value, dtype=float)
    if array.shape != (size,):
        raise expected(name, f"an array of shape ({size},)", array.shape)
    return array


def _shift(model: Model) -> np.ndarray:
    """(nq,) the reference coordinates of hinges and slides, zero elsewhere."""
    tree = model.tree
    shift = np.zeros(model.nq)
    single = tree.joint_q[(tree.joint_type == HINGE) | (tree.joint_type == SLIDE)]
    shift[single] = tree.q0[single]
    return shift


def _body_axes(model: Model, q: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """(first velocity, rotation matrix) of every free joint whose linear velocity Pinocchio has in body axes."""
    q, tree = _checked("q", q, model.nq), model.tree
    free = [j for j in np.flatnonzero(tree.joint_type == FREE).tolist() if not _translates(model, j)]
    return [(int(tree.joint_v[j]), rotation(q[tree.joint_q[j] + 3 : tree.joint_q[j] + 7])) for j in free]
