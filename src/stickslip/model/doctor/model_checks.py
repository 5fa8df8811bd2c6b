"""Checks of a compiled model: masses, meshes, shapes, poses; other checks lie beside this file."""

from __future__ import annotations

import mujoco
import numpy as np
from scipy.spatial import ConvexHull, QhullError

from stickslip.errors import listed
from stickslip.model import compile as build
from stickslip.model.doctor.actuator_checks import actuators
from stickslip.model.doctor.contact_checks import contacts
from stickslip.model.doctor.coupling_checks import couplings
from stickslip.model.doctor.finding import Finding
from stickslip.model.doctor.home import ROUNDING, home_configuration, joint_value
from stickslip.model.doctor.joint_checks import dry_friction, gravity_compensation
from stickslip.model.doctor.keyframe_checks import keyframes
from stickslip.model.doctor.sensor_checks import sensors
from stickslip.model.doctor.tendon_checks import tendons
from stickslip.model.importers.features import OBJ, colliding, element_name
from stickslip.model.shape import DEFAULT_FRICTION, DEFAULT_STIFFNESS, Material

MOST_MASS_RATIO = 1e4
MOST_GYRATION, MOST_GYRATION_UNSEEN, LEAST_GYRATION = 2.0, 10.0, 0.02
"""Bounds on the radius of gyration over the size of the body. The ratio cannot exceed 1, and few bodies are below 1/20.
The second bound is for a body without shapes: only the offsets of its joints and centre of mass tell its size."""
UNSEEN_SIZE = 0.05
"""[m] smallest size that a body without shapes is assumed to have."""
MOST_PAIRS = 8
"""Largest number of overlapping pairs that are listed one by one."""
DEEP = 1e-6
"""[m] smallest penetration that is reported."""
PLANE = mujoco.mjtGeom.mjGEOM_PLANE


def check_model(mj: mujoco.MjModel) -> list[Finding]:
    """All checks of a compiled model."""
    checks = (
        masses, gyration, meshes, limits, dry_friction, gravity_compensation, couplings, tendons, actuators, keyframes,
        sensors, materials, contacts, collision_shapes, rest_pose, hints,
    )  # fmt: skip
    return [finding for check in checks for finding in check(mj)]


def _links(mj: mujoco.MjModel):
    bodies, link_body = build.attach_bodies(mj)
    names = [mj.body(b).name for b in link_body]
    return bodies, build.build_tree(mj, bodies, link_body), build.build_inertia(mj, bodies, len(link_body)), names


def masses(mj: mujoco.MjModel) -> list[Finding]:
    """Find very different masses of neighbours or in the whole model: solvers converge badly, often a unit is wrong."""
    findings = []
    _, tree, inertia, names = _links(mj)
    for b in range(1, len(names)):
        p = tree.parent[b]
        if p == 0 or min(inertia.mass[b], inertia.mass[p]) <= 0.0:
            continue
        ratio = max(inertia.mass[b] / inertia.mass[p], inertia.mass[p] / inertia.mass[b])
        if ratio > MOST_MASS_RATIO:
            message = f"{inertia.mass[b]:.3g} kg on {names[p]!r} of {inertia.mass[p]:.3g} kg: a ratio of {ratio:.1g}"
            findings.append(
                Finding("warning", "mass-ratio", f"body {names[b]!r}", message, "check the units of both masses")
            )
    moving = inertia.mass[1:][inertia.mass[1:] > 0.0]
    if len(moving) and moving.max() / moving.min() > MOST_MASS_RATIO and not findings:
        light, heavy = (names[1 + int(np.argmax(inertia.mass[1:] == m))] for m in (moving.min(), moving.max()))
        ratio = moving.max() / moving.min()
        message = f"{moving.min():.3g} kg, while {heavy!r} has {moving.max():.3g} kg: a ratio of {ratio:.1g}"
        findings.append(Finding("warning", "mass-ratio", f"body {light!r}", message, "check the units of both masses"))
    return findings


def gyration(mj: mujoco.MjModel) -> list[Finding]:
    """Compare the radius of gyration of each link with its size, taken from its shapes, joints and children."""
    findings = []
    bodies, tree, inertia, names = _links(mj)
    size, most = np.zeros(len(names)), np.full(len(names), MOST_GYRATION_UNSEEN)
    for g in range(mj.ngeom):
        link, pos, _ = bodies[mj.geom_bodyid[g]].place(mj.geom_pos[g], mj.geom_quat[g])
        if mj.geom_type[g] != PLANE:
            size[link] = max(size[link], np.linalg.norm(pos - inertia.com[link]) + mj.geom_rbound[g])
            most[link] = MOST_GYRATION
    for b in range(1, len(names)):
        p = tree.parent[b]
        size[p] = max(size[p], np.linalg.norm(tree.link_pos[b] - inertia.com[p]))
        size[b] = max(size[b], np.linalg.norm(inertia.com[b]))
    size = np.where(most == MOST_GYRATION_UNSEEN, np.maximum(size, UNSEEN_SIZE), size)
    for b in range(1, len(names)):
        xx, yy, zz, xy, xz, yz = inertia.inertia[b]
        if not np.all(np.isfinite(inertia.inertia[b])):
            continue  # refused when the model is loaded
        largest = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])[-1]
        if size[b] <= 0.0 or inertia.mass[b] <= 0.0:
            continue
        radius = float(np.sqrt(max(largest, 0.0) / inertia.mass[b]))
        if not LEAST_GYRATION * size[b] <= radius <= most[b] * size[b]:
            much = "large" if radius > size[b] else "small"
            message = (
                f"inertia too {much} for its mass: radius of gyration {radius:.3g} m, the body reaches {size[b]:.3g} m "
                f"from its centre of mass ({inertia.mass[b]:.3g} kg, largest moment {largest:.3g} kg m²)"
            )
            findings.append(
                Finding("warning", "gyration", f"body {names[b]!r}", message, "check the units of the inertia (kg m²)")
            )
    return findings


def meshes(mj: mujoco.MjModel) -> list[Finding]:
    """Find meshes that enclose no volume, and meshes whose convex hull, which is what collides, is much larger."""
    import trimesh

    findings = []
    touching = colliding(mj) & (mj.geom_type == mujoco.mjtGeom.mjGEOM_MESH)
    for i in np.unique(mj.geom_dataid[touching]):
        first, faces = mj.mesh_vertadr[i], mj.mesh_faceadr[i]
        mesh = trimesh.Trimesh(
            mj.mesh_vert[first : first + mj.mesh_vertnum[i]].astype(float),
            mj.mesh_face[faces : faces + mj.mesh_facenum[i]],
        )
        where, hull, volume = f"mesh {mj.mesh(i).name!r}", _hull_volume(mesh.vertices), abs(float(mesh.volume))
        if hull <= 1e-6 * float(mesh.extents.max()) ** 3:
            message = f"flat: its hull encloses {hull:.3g} m³ over a length of {mesh.extents.max():.3g} m"
            findings.append(Finding("warning", "mesh-volume", where, message, "give it thickness, or use a box"))
        elif not mesh.is_watertight:
            message = f"not watertight: its volume is undefined; it touches as its convex hull of {hull:.3g} m³"
            findings.append(Finding("note", "mesh-open", where, message, "close the mesh, or accept the hull"))
        elif hull > 1.01 * volume:
            excess = 100.0 * (hull / volume - 1.0) if volume > 0.0 else np.inf
            message = f"not convex: it touches as its convex hull, which is {excess:.0f} % larger"
            severity = "warning" if excess > 20.0 else "note"
            remedy = "split it into convex parts if the hollow matters"
            findings.append(Finding(severity, "mesh-convexified", where, message, remedy))  # type: ignore[arg-type]
    return findings


def _hull_volume(points: np.ndarray) -> float:
    """Volume of the convex hull [m³]; 0 for points in a plane."""
    try:
        return float(ConvexHull(points).volume)
    except QhullError:
        return 0.0


def limits(mj: mujoco.MjModel) -> list[Finding]:
    """Check that the initial configuration lies within the joint limits."""
    findings = []
    pose, q = home_configuration(mj)
    for j in np.flatnonzero(mj.jnt_limited):
        value, low, high = joint_value(mj, q, int(j))
        if not low - ROUNDING <= value <= high + ROUNDING:
            message = f"{pose} puts it at {value:.4g}, outside its range {low:.4g} … {high:.4g}"
            remedy = "add a keyframe 'home' within the limits, or correct the range"
            findings.append(Finding("warning", "start-outside-limits", f"joint {mj.joint(j).name!r}", message, remedy))
    return findings


def materials(mj: mujoco.MjModel) -> list[Finding]:
    findings = []
    shapes = np.flatnonzero(colliding(mj))
    bare = [g for g in shapes if _material(mj, int(g)).friction == 0.0 or mj.geom_condim[g] == 1]
    if bare:
        where = listed(element_name(mj, OBJ.mjOBJ_GEOM, int(g)) for g in bare)
        remedy = "set friction (and condim 3) if it should grip; the larger of two surfaces counts"
        findings.append(Finding("warning", "friction", where, "no friction (μ = 0)", remedy))
    unset = [g for g in shapes if _material(mj, int(g)).friction is None]
    if unset:
        where = listed(element_name(mj, OBJ.mjOBJ_GEOM, int(g)) for g in unset)
        message = (
            f"says nothing of friction: the other surface decides (μ = {DEFAULT_FRICTION:g} if that is silent, too)"
        )
        findings.append(Finding("note", "friction", where, message, "give the floor, or this shape, a friction"))
    return findings


def _material(mj: mujoco.MjModel, g: int) -> Material:
    return build.build_material(mj, g)


def collision_shapes(mj: mujoco.MjModel) -> list[Finding]:
    """Find shapes whose masks match neither an ordinary floor nor any other shape, and robots without shapes."""
    findings = []
    kind, mask = mj.geom_contype, mj.geom_conaffinity
    paired = np.zeros(mj.ngeom, dtype=bool)
    paired[mj.pair_geom1] = paired[mj.pair_geom2] = True
    lonely = []
    for g in np.flatnonzero(colliding(mj) & ~paired):
        others = (mj.geom_bodyid != mj.geom_bodyid[g]) & (((kind[g] & mask) | (mask[g] & kind)) != 0)
        if not (others.any() or (kind[g] | mask[g]) & 1):
            lonely.append(element_name(mj, OBJ.mjOBJ_GEOM, int(g)))
    if lonely:
        where = listed(lonely)
        message = "collides with nothing: its contype and conaffinity match no other shape"
        findings.append(Finding("warning", "lonely-shape", where, message, 'set contype="1" or conaffinity="1"'))
    moving = mj.body_weldid[mj.geom_bodyid] != 0
    points = mj.nuser_site >= 1 and bool((mj.site_user[:, 0] == 1.0).any())
    if mj.nv and not points and not (colliding(mj) & moving).any():
        message = "no collision shape and no contact point: it will fall through everything"
        remedy = "add <collision> elements (URDF) or geoms that collide (MJCF)"
        findings.append(Finding("warning", "no-collision-shape", "model", message, remedy))
    return findings


def rest_pose(mj: mujoco.MjModel) -> list[Finding]:
    """Find contacts that exist already in the initial configuration."""
    pose, q = home_configuration(mj)
    data = mujoco.MjData(mj)
    data.qpos[:] = q
    mujoco.mj_kinematics(mj, data)
    mujoco.mj_comPos(mj, data)
    mujoco.mj_collision(mj, data)
    depth: dict[tuple[int, int], float] = {}
    for contact in data.contact[: data.ncon]:
        if contact.dist < -DEEP and min(contact.geom) >= 0:
            a, b = (_rigid(mj, int(g)) for g in contact.geom)
            pair = (min(a, b), max(a, b))
            depth[pair] = max(depth.get(pair, 0.0), -float(contact.dist))
    findings = []
    worst = sorted(depth.items(), key=lambda item: -item[1])
    for (a, b), deep in worst[:MOST_PAIRS]:
        if a == 0:
            where, code = f"body {mj.body(b).name!r}", "floor-penetration"
            message, remedy = f"{1e3 * deep:.3g} mm inside the surroundings in {pose}", "start it higher"
        else:
            where, code = f"bodies {mj.body(a).name!r} and {mj.body(b).name!r}", "self-collision"
            message = f"overlap by {1e3 * deep:.3g} mm in {pose}"
            remedy = "start in another pose, shrink the shapes, or exclude the pair"
        findings.append(Finding("warning", code, where, message, remedy))
    if len(worst) > MOST_PAIRS:
        message = f"{len(worst) - MOST_PAIRS} more pairs overlap, by less than these"
        findings.append(Finding("warning", "self-collision", "model", message, "see above"))
    return findings


def _rigid(mj: mujoco.MjModel, geom: int) -> int:
    """The body that a geom moves with; for a fixed geom its own body, which is 0 for a floor."""
    body = mj.geom_bodyid[geom]
    return int(mj.body_weldid[body] or body)


def hints(mj: mujoco.MjModel) -> list[Finding]:
    """Say what the materials mean for the choice of a method."""
    findings = []
    touching = [(int(g), _material(mj, int(g))) for g in np.flatnonzero(colliding(mj))]
    damped = any(material.damping is not None for _, material in touching)
    bouncy = [element_name(mj, OBJ.mjOBJ_GEOM, g) for g, material in touching if material.restitution]
    if bouncy and damped:
        message = "has restitution, which spring-damper contacts honour only where no surface says a damping"
        remedy = "bounce follows from stiffness and damping there"
        findings.append(Finding("note", "method", ", ".join(bouncy[:4]), message, remedy))
    loaded = [element_name(mj, OBJ.mjOBJ_GEOM, g) for g, material in touching if material.preload]
    if loaded:
        message = "has a preload, which only spring-damper contacts honour"
        remedy = "its force jumps at touchdown: event-selected finds the instant"
        findings.append(Finding("note", "method", ", ".join(loaded[:4]), message, remedy))
    bodies, _, inertia, names = _links(mj)
    stiff = []
    for g, material in touching:
        link = bodies[mj.geom_bodyid[g]].link
        if link and inertia.mass[link] > 0.0:
            stiffness = DEFAULT_STIFFNESS if material.stiffness is None else material.stiffness
            if stiffness > 0.0:
                stiff.append((float(np.sqrt(inertia.mass[link] / stiffness)), link, stiffness))
    if stiff:
        shortest, link, stiffness = min(stiff)
        message = (
            f"{inertia.mass[link]:.3g} kg on a contact of {stiffness:.3g} N/m swings with a period of "
            f"{2 * np.pi * shortest:.2g} s"
        )
        remedy = f"explicit integrators need dt well below {shortest:.2g} s; Simulation's default dt takes care of it"
        findings.append(Finding("note", "method", f"body {names[link]!r}", message, remedy))
    return findings
