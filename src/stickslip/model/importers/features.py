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
from stickslip.model.arrays import ON_JOINT, SITE
from stickslip.model.compile_drives import tendon_armature
from stickslip.model.loops import COUPLED, KINDS

OBJ, GEOM, DYN, TRN = mujoco.mjtObj, mujoco.mjtGeom, mujoco.mjtDyn, mujoco.mjtTrn
LABELS = {
    OBJ.mjOBJ_ACTUATOR: "actuator", OBJ.mjOBJ_BODY: "body", OBJ.mjOBJ_EQUALITY: "equality", OBJ.mjOBJ_FLEX: "flex",
    OBJ.mjOBJ_GEOM: "geom", OBJ.mjOBJ_JOINT: "joint", OBJ.mjOBJ_PAIR: "pair", OBJ.mjOBJ_TENDON: "tendon",
    OBJ.mjOBJ_HFIELD: "hfield", OBJ.mjOBJ_UNKNOWN: "option",
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


def _shape(kind: mujoco.mjtGeom) -> Callable[[mujoco.MjModel], np.ndarray]:
    return lambda mj: np.flatnonzero(colliding(mj) & (mj.geom_type == kind))


def drives_one_joint(mj: mujoco.MjModel) -> np.ndarray:
    """(nactuator,) whether the actuator acts on a joint, not along a tendon or at a site."""
    return np.isin(mj.actuator_trntype, (TRN.mjTRN_JOINT, TRN.mjTRN_JOINTINPARENT))


def _odd_dynamics(mj: mujoco.MjModel) -> np.ndarray:
    known = (DYN.mjDYN_NONE, DYN.mjDYN_INTEGRATOR, DYN.mjDYN_FILTER, DYN.mjDYN_FILTEREXACT, DYN.mjDYN_MUSCLE)
    return np.flatnonzero(~np.isin(mj.actuator_dyntype, known) | (mj.actuator_actnum > 1))


def _odd_transmission(mj: mujoco.MjModel) -> np.ndarray:
    known = (TRN.mjTRN_JOINT, TRN.mjTRN_JOINTINPARENT, TRN.mjTRN_SLIDERCRANK, TRN.mjTRN_TENDON, TRN.mjTRN_SITE)
    plain = (mj.actuator_gaintype == mujoco.mjtGain.mjGAIN_FIXED) & (mj.actuator_biastype == mujoco.mjtBias.mjBIAS_NONE)
    return np.flatnonzero(~np.isin(mj.actuator_trntype, known) & ~((mj.actuator_trntype == TRN.mjTRN_BODY) & plain))


def _carried_joints(mj: mujoco.MjModel) -> list[int]:
    carried = mj.body_mocapid >= 0
    for b in range(1, mj.nbody):
        carried[b] |= carried[mj.body_parentid[b]]
    return [int(b) for b in np.flatnonzero(carried & (mj.body_jntnum > 0))]


def _odd_gain(mj: mujoco.MjModel) -> np.ndarray:
    gain, bias = mujoco.mjtGain, mujoco.mjtBias
    gains = np.isin(mj.actuator_gaintype, (gain.mjGAIN_FIXED, gain.mjGAIN_AFFINE, gain.mjGAIN_MUSCLE))
    biases = np.isin(mj.actuator_biastype, (bias.mjBIAS_NONE, bias.mjBIAS_AFFINE, bias.mjBIAS_MUSCLE))
    return np.flatnonzero(~(gains & biases))


def _tendon_armature(mj: mujoco.MjModel) -> list[int]:
    # The packed mass matrix has entries for joints of one branch only.
    return [int(t) for t in np.flatnonzero(tendon_armature(mj) > 0.0) if not _on_one_branch(mj, int(t))]


def _on_one_branch(mj: mujoco.MjModel, t: int) -> bool:
    """Whether of any two joint velocities that change the tendon's length one carries the other."""
    found: set[int] = set()
    for w in range(mj.tendon_adr[t], mj.tendon_adr[t] + mj.tendon_num[t]):
        kind, i = int(mj.wrap_type[w]), int(mj.wrap_objid[w])
        if kind == ON_JOINT:
            found.add(int(mj.jnt_dofadr[i]))
        elif kind == SITE:
            body = int(mj.site_bodyid[i])
            while body and not mj.body_dofnum[body]:
                body = int(mj.body_parentid[body])
            found |= _carriers(mj, int(mj.body_dofadr[body] + mj.body_dofnum[body] - 1) if body else -1)
    return found <= _carriers(mj, max(found, default=-1))


def _carriers(mj: mujoco.MjModel, d: int) -> set[int]:
    """The joint velocity d and those that carry it."""
    found = set()
    while d >= 0:
        found.add(d)
        d = int(mj.dof_parentid[d])
    return found


def _equalities(mj: mujoco.MjModel) -> list[int]:
    return [int(e) for e in np.flatnonzero(mj.eq_active0) if int(mj.eq_type[e]) not in (*COUPLED, *KINDS)]


def _plugins(mj: mujoco.MjModel) -> list[str]:
    found = []
    for kind, plugin in (
        (OBJ.mjOBJ_BODY, mj.body_plugin),
        (OBJ.mjOBJ_GEOM, mj.geom_plugin),
        (OBJ.mjOBJ_ACTUATOR, mj.actuator_plugin),
    ):
        found += [element_name(mj, kind, int(i)) for i in np.flatnonzero(plugin >= 0)]
    return found


FEATURES = (
    Feature("tendon armature", "inertia of tendons that join several branches of the tree", OBJ.mjOBJ_TENDON,
            _tendon_armature),
    Feature("yielding tendon", "tendon springs that yield", OBJ.mjOBJ_TENDON,
            lambda mj: np.flatnonzero(mj.tendon_springyield > 0.0)),
    Feature("equality", "equalities of flexes", OBJ.mjOBJ_EQUALITY, _equalities),
    Feature("flex", "deformable bodies", OBJ.mjOBJ_FLEX, lambda mj: range(mj.nflex)),
    Feature("plugin", "code of MuJoCo's own", OBJ.mjOBJ_UNKNOWN, _plugins),
    Feature("actuator dynamics", "dynamics other than integrators, filters and muscles", OBJ.mjOBJ_ACTUATOR,
            _odd_dynamics),
    Feature("transmission", "an actuator on a body whose force is more than gain times control",
            OBJ.mjOBJ_ACTUATOR, _odd_transmission),
    Feature("actuator gain", "a force that is neither affine in length and velocity nor a muscle's", OBJ.mjOBJ_ACTUATOR,
            _odd_gain),
    Feature("yielding spring", "joint springs whose rest position gives way, springyield", OBJ.mjOBJ_JOINT,
            lambda mj: np.flatnonzero(mj.jnt_springyield > 0.0)),
    Feature("mocap joints", "joints of bodies that a mocap body carries", OBJ.mjOBJ_BODY, _carried_joints),
    Feature("shape: sdf", "no contact with signed distance fields", OBJ.mjOBJ_GEOM, _shape(GEOM.mjGEOM_SDF)),
)  # fmt: skip

HONOURED = frozenset({
    "tendon", "tendon friction",
    "actuator group", "joint force limit", "frictionloss", "mimic", "torsional friction", "contact margin",
    "contact priority", "contact pair", "contact override", "adhesion", "nonlinear spring", "nonlinear damper",
    "joint margin", "gravcomp", "disable flag", "shape: ellipsoid", "shape: height field", "fluid",
    "planar joint", "limited gravcomp", "actuator damping", "mocap", "surface velocity",
})  # fmt: skip
"""Names that earlier versions refused and that are simulated now. To ignore them has no effect."""

NAMES = tuple(feature.name for feature in FEATURES)


def feature_names(ignore: Iterable[str] | str) -> frozenset[str]:
    """Check the names of features to ignore; ``"all"`` stands for every feature."""
    if ignore == "all":
        return frozenset(NAMES)
    if isinstance(ignore, str):
        if ignore not in NAMES and ignore not in HONOURED:
            raise expected("ignore", '"all" or a tuple of feature names', ignore, f"known: {', '.join(NAMES)}")
        return frozenset([ignore]) - HONOURED
    wanted = frozenset(ignore) - HONOURED
    for name in sorted(wanted, key=str):
        if name not in NAMES:
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
