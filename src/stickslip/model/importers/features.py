"""Features of model files that stickslip does not simulate: find them, refuse them by name, leave them out on request.

``FEATURES`` is the list. A file that uses one of them is refused (``check_features``) unless the user names it in
``ignore=(…)``; then ``leave_out.remove_features`` takes it out of the specification, so that MuJoCo, run on the same
model as a peer, simulates the same thing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import mujoco
import numpy as np

from stickslip.errors import UnsupportedFeatureError, expected, listed, unknown
from stickslip.model.loops import COUPLED, KINDS, build_coupling

OBJ, GEOM, DYN, TRN = mujoco.mjtObj, mujoco.mjtGeom, mujoco.mjtDyn, mujoco.mjtTrn
LABELS = {
    OBJ.mjOBJ_ACTUATOR: "actuator", OBJ.mjOBJ_BODY: "body", OBJ.mjOBJ_EQUALITY: "equality", OBJ.mjOBJ_FLEX: "flex",
    OBJ.mjOBJ_GEOM: "geom", OBJ.mjOBJ_JOINT: "joint", OBJ.mjOBJ_PAIR: "pair", OBJ.mjOBJ_TENDON: "tendon",
    OBJ.mjOBJ_UNKNOWN: "option",
}  # fmt: skip


@dataclass(frozen=True)
class Feature:
    """A feature that stickslip does not simulate."""

    name: str
    what: str
    """What the feature is, as messages say it in parentheses after the name."""
    kind: mujoco.mjtObj
    """The elements that carry it; mjOBJ_UNKNOWN for an option of the whole file."""
    find: Callable[[mujoco.MjModel], Iterable]
    """The ids of those elements; for an option, its names."""


@dataclass(frozen=True)
class Found:
    """A feature that a model uses, and where."""

    feature: Feature
    where: tuple

    def elements(self, mj: mujoco.MjModel, most: int = 4) -> str:
        """The elements by name: ``geom 'foot', geom 'hand'``."""
        return listed((element_name(mj, self.feature.kind, i) for i in self.where), most)


def element_name(mj: mujoco.MjModel, kind: mujoco.mjtObj, i: int | str) -> str:
    """``joint 'knee'``; an element without a name goes by its number, and a geom also by its body."""
    if isinstance(i, str):
        return i
    name = mujoco.mj_id2name(mj, kind, i)
    if name is None and kind == OBJ.mjOBJ_GEOM:
        return f"geom {i} of {element_name(mj, OBJ.mjOBJ_BODY, int(mj.geom_bodyid[i]))}"
    return f"{LABELS[kind]} {i if name is None else repr(name)}"


def colliding(mj: mujoco.MjModel) -> np.ndarray:
    """(ngeom,) whether the geom can touch anything; the others are only drawn (and may carry mass)."""
    mask = (mj.geom_contype | mj.geom_conaffinity) != 0
    mask[mj.pair_geom1] = mask[mj.pair_geom2] = True
    return mask


def _joints_of_dofs(mj: mujoco.MjModel, which: np.ndarray) -> np.ndarray:
    return np.unique(mj.dof_jntid[which])


def _shape(kind: mujoco.mjtGeom) -> Callable[[mujoco.MjModel], np.ndarray]:
    return lambda mj: np.flatnonzero(colliding(mj) & (mj.geom_type == kind))


def _colliding_with(mj: mujoco.MjModel, which: np.ndarray) -> np.ndarray:
    return np.flatnonzero(colliding(mj) & which)


def drives_one_joint(mj: mujoco.MjModel) -> np.ndarray:
    """(nactuator,) whether the actuator acts on a single hinge or slide joint."""
    on_joint = np.isin(mj.actuator_trntype, (TRN.mjTRN_JOINT, TRN.mjTRN_JOINTINPARENT))
    joint = np.where(on_joint, mj.actuator_trnid[:, 0], 0)
    scalar = np.isin(mj.jnt_type, (mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE))
    return on_joint & (scalar[joint] if mj.njnt else False)


def has_dynamics(mj: mujoco.MjModel) -> np.ndarray:
    """(nactuator,) whether the force depends on more than the control and state of this moment."""
    return (mj.actuator_dyntype != DYN.mjDYN_NONE) | (mj.actuator_delay > 0) | (mj.actuator_history[:, 0] > 0)


def _odd_gain(mj: mujoco.MjModel) -> np.ndarray:
    gain, bias = mujoco.mjtGain, mujoco.mjtBias
    constant = (mj.actuator_gaintype == gain.mjGAIN_FIXED) | (
        (mj.actuator_gaintype == gain.mjGAIN_AFFINE) & ~mj.actuator_gainprm[:, 1:3].any(axis=1)
    )
    affine = np.isin(mj.actuator_biastype, (bias.mjBIAS_NONE, bias.mjBIAS_AFFINE))
    # A muscle is reported only once, under dynamics.
    return np.flatnonzero(~(constant & affine) & ~has_dynamics(mj))


def actuators_per_joint(mj: mujoco.MjModel) -> np.ndarray:
    """(njnt,) how many actuators act on the joint alone."""
    return np.bincount(mj.actuator_trnid[drives_one_joint(mj), 0], minlength=mj.njnt)


def _shared_force_limit(mj: mujoco.MjModel) -> np.ndarray:
    # With one actuator on the joint, leave_out.translate moves the limit to the actuator; the force is the same.
    return np.flatnonzero((mj.jnt_actfrclimited != 0) & (actuators_per_joint(mj) > 1))


def _equalities(mj: mujoco.MjModel) -> list[int]:
    found = []
    for e in np.flatnonzero(mj.eq_active0):
        coupled = int(mj.eq_type[e]) in COUPLED
        held = build_coupling(mj, int(e), int(mj.eq_obj1id[e]), int(mj.eq_obj2id[e])) is not None if coupled else False
        if not held and int(mj.eq_type[e]) not in KINDS:
            found.append(int(e))
    return found


def _plugins(mj: mujoco.MjModel) -> list[str]:
    found = []
    for kind, plugin in (
        (OBJ.mjOBJ_BODY, mj.body_plugin),
        (OBJ.mjOBJ_GEOM, mj.geom_plugin),
        (OBJ.mjOBJ_ACTUATOR, mj.actuator_plugin),
    ):
        found += [element_name(mj, kind, int(i)) for i in np.flatnonzero(plugin >= 0)]
    return found


def _fluid(mj: mujoco.MjModel) -> list[str]:
    return [f"{name}={getattr(mj.opt, name):g}" for name in ("density", "viscosity") if getattr(mj.opt, name) > 0.0]


DISABLE = {
    name: getattr(mujoco.mjtDisableBit, f"mjDSBL_{name.upper()}")
    for name in (
        "constraint", "equality", "frictionloss", "limit", "spring", "damper", "clampctrl", "actuation",
    )
}  # fmt: skip
"""MuJoCo's switches that change the motion. Of those not listed, gravity, contact and filterparent are honoured and
others concern its solver."""


def _disabled(mj: mujoco.MjModel) -> list[str]:
    return [f'flag {name}="disable"' for name, bit in DISABLE.items() if mj.opt.disableflags & bit]


def _disabled_groups(mj: mujoco.MjModel) -> np.ndarray:
    return np.flatnonzero((mj.opt.disableactuator >> mj.actuator_group.clip(0, 30)) & 1)


FEATURES = (
    Feature("tendon", "cables and couplings", OBJ.mjOBJ_TENDON, lambda mj: range(mj.ntendon)),
    Feature("equality", "coupled flexes or spatial tendons", OBJ.mjOBJ_EQUALITY, _equalities),
    Feature("flex", "deformable bodies", OBJ.mjOBJ_FLEX, lambda mj: range(mj.nflex)),
    Feature("plugin", "code of MuJoCo's own", OBJ.mjOBJ_UNKNOWN, _plugins),
    Feature("actuator dynamics", "muscles, filters, integrators, delays between control and force", OBJ.mjOBJ_ACTUATOR,
            lambda mj: np.flatnonzero(has_dynamics(mj))),
    Feature("transmission", "an actuator that drives something else than one hinge or slide joint", OBJ.mjOBJ_ACTUATOR,
            lambda mj: np.flatnonzero(~drives_one_joint(mj))),
    Feature("actuator gain", "a force that is not affine in control, position and velocity", OBJ.mjOBJ_ACTUATOR,
            _odd_gain),
    Feature("actuator damping", "damping that is not linear in velocity", OBJ.mjOBJ_ACTUATOR,
            lambda mj: np.flatnonzero(mj.actuator_dampingpoly.any(axis=1))),
    Feature("actuator group", "actuators switched off by the option actuatorgroupdisable", OBJ.mjOBJ_ACTUATOR,
            _disabled_groups),
    Feature("joint force limit", "one limit on the sum of several actuators", OBJ.mjOBJ_JOINT, _shared_force_limit),
    Feature("nonlinear spring", "polynomial or yielding joint springs", OBJ.mjOBJ_JOINT,
            lambda mj: np.flatnonzero(mj.jnt_stiffnesspoly.any(axis=1) | (mj.jnt_springyield > 0.0))),
    Feature("nonlinear damper", "polynomial joint damping", OBJ.mjOBJ_JOINT,
            lambda mj: _joints_of_dofs(mj, mj.dof_dampingpoly.any(axis=1))),
    Feature("joint margin", "joint limits that act before they are reached", OBJ.mjOBJ_JOINT,
            lambda mj: np.flatnonzero((mj.jnt_limited != 0) & (mj.jnt_margin != 0.0))),
    Feature("gravcomp", "gravity compensation", OBJ.mjOBJ_BODY, lambda mj: np.flatnonzero(mj.body_gravcomp != 0.0)),
    Feature("mocap", "bodies that are moved from outside", OBJ.mjOBJ_BODY,
            lambda mj: np.flatnonzero(mj.body_mocapid >= 0)),
    Feature("fluid", "drag and wind of a surrounding medium", OBJ.mjOBJ_UNKNOWN, _fluid),
    Feature("shape: height field", "no contact with height fields", OBJ.mjOBJ_GEOM, _shape(GEOM.mjGEOM_HFIELD)),
    Feature("shape: sdf", "no contact with signed distance fields", OBJ.mjOBJ_GEOM, _shape(GEOM.mjGEOM_SDF)),
    Feature("surface velocity", "conveyor belts", OBJ.mjOBJ_GEOM,
            lambda mj: _colliding_with(mj, mj.geom_surfacevel.any(axis=1))),
    Feature("disable flag", "parts of the physics switched off by an option", OBJ.mjOBJ_UNKNOWN, _disabled),
)  # fmt: skip

URDF_FEATURES = {
    "planar joint": "two translations and a rotation; the link is fixed when it is ignored",
}
"""Features that are seen in the URDF itself, before MuJoCo reads it."""

SIMULATED = ("torsional friction", "contact margin", "contact priority", "contact pair", "contact override",
             "adhesion", "shape: ellipsoid")  # fmt: skip
"""Names that earlier versions could ignore. These features are simulated now, so that ignoring them does nothing."""
NAMES = (*(feature.name for feature in FEATURES), *URDF_FEATURES)


def feature_names(ignore: Iterable[str] | str) -> frozenset[str]:
    """Check the names of features to ignore; ``"all"`` stands for every feature."""
    if ignore == "all":
        return frozenset(NAMES)
    if isinstance(ignore, str):
        if ignore not in NAMES + SIMULATED:
            raise expected("ignore", '"all" or a tuple of feature names', ignore, f"known: {', '.join(NAMES)}")
        return frozenset([ignore])
    wanted = frozenset(ignore)
    for name in sorted(wanted, key=str):
        if name not in NAMES + SIMULATED:
            raise unknown("feature to ignore", str(name), NAMES)
    return wanted


def find_features(mj: mujoco.MjModel) -> list[Found]:
    """Every unsupported feature that the model uses."""
    found = []
    for feature in FEATURES:
        where = tuple(i if isinstance(i, str) else int(i) for i in feature.find(mj))
        if where:
            found.append(Found(feature, where))
    return found


def refuse(origin: str, used: list[tuple[str, str, str]]) -> UnsupportedFeatureError:
    """The error for features given as (name, what it is, elements)."""
    each = "; ".join(f"{name} ({what}): {elements}" for name, what, elements in used)
    names = ", ".join(f'"{name}"' for name, _, _ in used) + ("," if len(used) == 1 else "")
    return UnsupportedFeatureError(
        f"{origin}: not simulated by stickslip: {each}; to leave it out, load with ignore=({names})"
    )


def check_features(mj: mujoco.MjModel, ignore: Iterable[str] | str, origin: str) -> None:
    """Refuse a model that uses a feature which is neither simulated nor ignored."""
    ignored = feature_names(ignore)
    used = [f for f in find_features(mj) if f.feature.name not in ignored]
    if used:
        raise refuse(origin, [(f.feature.name, f.feature.what, f.elements(mj)) for f in used])
