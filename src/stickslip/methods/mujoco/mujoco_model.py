"""The scene as MuJoCo simulates it: contact points as geoms, materials combined by stickslip's rule.

Geoms, joints, inertias, actuators and equalities are MuJoCo's own, from which stickslip's models are compiled. Changes:

* a contact point becomes a sphere of radius ``POINT_RADIUS`` without mass;
* friction left unset takes the other surface's: surfaces that have one get a higher ``priority``; μ = 0 is condim 1;
* the variant "spring-damper" makes every pair of surfaces that may touch an explicit ``<pair>``.

The variant "spring-damper" in MuJoCo's parameters: a contact with force f ≥ 0, gap r and its rates u and a obeys
(``soft_reference``)

    R·f + a = −b·u − k·d·r,    R = (1 − d)/d·Â,    solref (−s, −c): k = s/d², b = c/d

so that with s = K·(1 − d)·Â and c = B·(1 − d)·Â

    f = −K·r − B·u − m_d·a,    m_d = d/((1 − d)·Â)

which is the spring and the damper of the pair, and an added mass m_d of 1e-4 of the pair's effective mass at the
smallest impedance that MuJoCo allows, d = 1e-4. Â is the sum of the two bodies' ``invweight0``, MuJoCo's inverse mass
of a contact. The tangential directions have the damper only, and sliding contacts separate slightly, as relaxed ones do
(docs/methods/soft.md).
Reference: MuJoCo's documentation, "Computation: Constraint model" and "Modeling: Solver parameters".
"""

from __future__ import annotations

import copy
import itertools
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from stickslip.collision.allowed import touching
from stickslip.dynamics import Dynamics
from stickslip.errors import InputError
from stickslip.methods.explicit.semi_implicit_euler import SemiImplicitEuler
from stickslip.methods.soft.explicit import explicit_joint_gains, longest
from stickslip.model.importers.messages import compile_spec
from stickslip.model.model import Model, State
from stickslip.model.shape import PairMaterial, Shape

IMPEDANCE = mujoco.mjMINIMP
"""Impedance d of the variant "spring-damper"."""
POINT_RADIUS = 1e-9
"""Radius of the sphere that represents a contact point [m], because MuJoCo has no points."""
MOST_EXPLICIT = 20_000
"""Largest number of pairs of surfaces in the variant "spring-damper", because MuJoCo tests each in every step."""


@dataclass(frozen=True)
class Peer:
    """MuJoCo's model of a scene, and the shapes of its geoms."""

    mj: mujoco.MjModel
    shapes: tuple[Shape, ...]
    """Shape of every geom."""


def make_peer(model: Model, variant: str) -> Peer:
    """A separate MuJoCo model that may be changed; ``model`` is not."""
    ngeom = model.mj.ngeom
    points = model.shapes[ngeom:] if variant != "none" else ()
    if not points and variant != "spring-damper" and not _half_told(model):
        peer = Peer(copy.deepcopy(model.mj), model.shapes[:ngeom])
    else:
        peer = _recompiled(model, points, variant)
    _set_friction(peer)
    return peer


def _recompiled(model: Model, points: tuple[Shape, ...], variant: str) -> Peer:
    if model.spec is None:
        raise InputError(
            "method 'mujoco': contact points and the law 'spring-damper' need a model that was compiled from a Scene"
        )
    spec = model.spec.copy()
    taken = {geom.name for geom in spec.geoms}
    fresh = (name for name in (f"geom {k}" for k in itertools.count()) if name not in taken)
    for geom in spec.geoms:
        geom.name = geom.name or next(fresh)
    ids = [s for s in range(model.mj.nsite) if model.mj.site_user[s, 0] == 1.0] if points else []
    for site, point in zip(ids, points, strict=True):
        body = spec.body(model.mj.body(point.body).name)
        body.add_geom(
            name=next(fresh), type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[POINT_RADIUS, 0, 0], mass=0.0,
            pos=model.mj.site_pos[site], contype=point.group, conaffinity=point.mask,
        )  # fmt: skip
    mj = compile_spec(spec, f"scene {spec.modelname!r}")
    shapes = _in_order(model, points)
    if variant == "spring-damper":
        names = {id(shape): mj.geom(g).name for g, shape in enumerate(shapes)}
        _list_pairs(model, spec, names)
        mj = compile_spec(spec, f"scene {spec.modelname!r}")
    elif variant == "soft" and _half_told(model):
        names = {id(shape): mj.geom(g).name for g, shape in enumerate(shapes)}
        _list_half_told(model, spec, names)
        mj = compile_spec(spec, f"scene {spec.modelname!r}")
    return Peer(mj, shapes)


def _half_told(model: Model) -> list[Shape]:
    """Shapes that leave friction unset but have torsional or rolling friction, for which MuJoCo has no rule."""
    return [s for s in model.shapes if s.solid and s.material.friction is None and s.material.condim is not None]


def _list_half_told(model: Model, spec: mujoco.MjSpec, names: dict[int, str]) -> None:
    """Make the pairs of such shapes explicit, with the solver parameters of both geoms mixed by ``solmix``."""
    mixed = {id(shape) for shape in _half_told(model)}
    for a, b in touching(model):
        if not {id(a), id(b)} & mixed or model.explicit(a, b) is not None:
            continue
        one, two = spec.geom(names[id(a)]), spec.geom(names[id(b)])
        share = one.solmix / max(one.solmix + two.solmix, 1e-15)
        solref, solimp = (
            share * getattr(one, name) + (1.0 - share) * getattr(two, name) for name in ("solref", "solimp")
        )
        spec.add_pair(
            geomname1=one.name, geomname2=two.name, solref=solref, solimp=solimp,
            **_pair_values(model.pair_material(a, b)),
        )  # fmt: skip


def _pair_values(m: PairMaterial) -> dict:
    """The attributes of an explicit pair."""
    friction = [m.friction, m.friction, m.torsion, m.rolling, m.rolling]
    return {
        "condim": m.condim, "friction": friction, "margin": m.margin, "gap": m.gap, "adhesion": m.adhesion,
    }  # fmt: skip


def _in_order(model: Model, points: tuple[Shape, ...]) -> tuple[Shape, ...]:
    """Shapes in the order of bodies; for each body its geoms, then its points."""
    solid, order = model.shapes[: model.mj.ngeom], []
    for body in range(model.mj.nbody):
        order += [shape for kind in (solid, points) for shape in kind if shape.body == body]
    return tuple(order)


def _list_pairs(model: Model, spec: mujoco.MjSpec, names: dict[int, str]) -> None:
    """List every pair that may touch, with its own spring and damper; MuJoCo then tests no others."""
    for pair in list(spec.pairs):
        spec.delete(pair)
    inverse_mass = model.mj.body_invweight0[:, 0]
    for listed, (a, b) in enumerate(touching(model)):
        if listed == MOST_EXPLICIT:
            raise InputError(
                f"method 'mujoco/spring-damper': more than {MOST_EXPLICIT} pairs of surfaces may touch, and MuJoCo "
                "would look at all of them in every step; use 'mujoco/soft'"
            )
        material = model.pair_material(a, b)
        scale = (1.0 - IMPEDANCE) * (inverse_mass[a.body] + inverse_mass[b.body])
        spec.add_pair(
            geomname1=names[id(a)], geomname2=names[id(b)], **_pair_values(material),
            solref=[-material.stiffness * scale, -material.damping * scale],
            solimp=[IMPEDANCE, IMPEDANCE, 0.001, 0.5, 2.0],
        )  # fmt: skip
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0


def _set_friction(peer: Peer) -> None:
    """Set priorities: MuJoCo uses the larger friction of two surfaces of equal priority, else that of the higher.

    Surfaces that leave friction unset come below all others; among these the file's priorities count.
    """
    own, mj = peer.mj.geom_priority.copy(), peer.mj
    given = np.array([shape.material.friction is not None for shape in peer.shapes], dtype=bool)
    slippery = np.array([shape.material.friction == 0.0 for shape in peer.shapes], dtype=bool)
    if not given.all():
        mj.geom_priority[:] = own + given * (1 + own.max(initial=0) - own.min(initial=0))
    mj.geom_condim[slippery & (mj.geom_condim == 3)] = 1


def soft_numbers(peer: Peer) -> str:
    """All distinct ``solref`` and ``solimp`` of the geoms that can touch, as text."""
    mj = peer.mj
    solid = np.flatnonzero((mj.geom_contype != 0) | (mj.geom_conaffinity != 0))

    def distinct(rows: np.ndarray) -> str:
        texts = {" ".join(f"{x:g}" for x in rows[g]) for g in solid}
        return " or ".join(sorted(texts))

    return f"solref {distinct(mj.geom_solref)} and solimp {distinct(mj.geom_solimp)}"


def contact_time(peer: Peer) -> float:
    """[s] the shortest time constant of ``solref`` among geoms that can touch; inf where none has one. MuJoCo lengthens
    those below 2·dt to 2·dt, unless the file forbids it, and so softens its contacts."""
    mj = peer.mj
    solid = (mj.geom_contype != 0) | (mj.geom_conaffinity != 0)
    times = mj.geom_solref[solid & (mj.geom_solref[:, 0] > 0.0), 0]
    return float(times.min(initial=np.inf))


def stable_step(model: Model, variant: str, state: State) -> float:
    """Longest stable step [s] for the forces that MuJoCo's Euler treats explicitly, by the bound of semi-implicit
    Euler.

    These are joint springs, servos, gravity on links that swing and, in the variant "spring-damper", contacts. Soft
    constraints set no limit.
    """
    if variant == "spring-damper":
        return SemiImplicitEuler(model, 1e-3, variant, stiffness_per="point").stable_dt(state)
    free = replace(model, joint_forces=model.joint_forces._replace(limited=np.zeros_like(model.joint_forces.limited)))
    dynamics = Dynamics(model)
    kw, bw = (dynamics.mobility_norm(state.q, gain) for gain in explicit_joint_gains(free, state))
    return longest(kw + dynamics.swing_norm(state.q), bw)
