"""The bundled robot models against the URDFs they follow.

``tests/data/robots.json`` holds the facts of each URDF; the last test reads the URDFs themselves and runs only
where the example-robot-data package is at hand (set ``EXAMPLE_ROBOT_DATA`` to its ``robots`` folder, or install it).
"""

import importlib.metadata
import json
import os
from pathlib import Path

import mujoco
import numpy as np
import pytest

TESTS = Path(__file__).resolve().parents[1]
ROBOTS = TESTS.parent / "src" / "stickslip" / "model" / "robots"
FACTS = json.loads((TESTS / "data" / "robots.json").read_text())["robots"]
RTOL = 1e-9
MOTOR_LIMIT = {"solo12": 2.7}  # the URDF's 1000 N m is a placeholder

pytestmark = pytest.mark.parametrize("name", sorted(FACTS))


def load(name):
    model = mujoco.MjModel.from_xml_path(str(ROBOTS / f"{name}.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    mujoco.mj_forward(model, data)
    return model, data


def rotation(quat):
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quat, dtype=float))
    return matrix.reshape(3, 3)


def symmetric(six):
    xx, yy, zz, xy, xz, yz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def inertia_used(facts, link):
    """The URDF's inertia of a link, with the corrections that robots.json lists."""
    matrix = symmetric(link["inertia"])
    for fix in facts["corrections"]:
        if fix["link"] == link["name"]:
            assert fix["entry"] == "izz"
            assert matrix[2, 2] == fix["urdf"]
            matrix[2, 2] = fix["used"]
    return matrix


def assert_close(actual, expected):
    """Agreement to RTOL of the largest entry, so that zeros are compared too."""
    size = np.abs(expected).max() or 1.0
    np.testing.assert_allclose(actual, expected, rtol=0, atol=RTOL * size)


def test_tree_and_inertias_follow_the_urdf(name):
    facts = FACTS[name]
    model, _ = load(name)
    assert model.names[: model.names.index(b"\0")].decode() == name
    assert model.nv == facts["nv"]
    assert [model.joint(i).name for i in range(model.njnt)] == ["root", *facts["joints"]]
    assert [model.body(i).name for i in range(1, model.nbody)] == [link["name"] for link in facts["links"]]
    assert_close(model.body_mass.sum(), facts["total_mass"])
    for link in facts["links"]:
        body = model.body(link["name"])
        assert_close(body.mass[0], link["mass"])
        assert_close(body.ipos, link["com"])
        axes = rotation(body.iquat)
        assert_close(axes @ np.diag(body.inertia) @ axes.T, inertia_used(facts, link))


def test_joints_and_motors_follow_the_urdf(name):
    facts = FACTS[name]
    model, _ = load(name)
    for passive in (model.dof_armature, model.dof_damping, model.dof_frictionloss):
        assert not np.any(passive)
    assert [model.actuator(i).name for i in range(model.nu)] == facts["joints"]
    for link in facts["links"][1:]:
        body, joint, motor = model.body(link["name"]), model.joint(link["joint"]), model.actuator(link["joint"])
        assert model.body(body.parentid[0]).name == link["parent"]
        assert joint.bodyid[0] == body.id
        assert motor.trnid[0] == joint.id
        assert_close(body.pos, link["translation"])
        assert_close(rotation(body.quat), rotation(link["quaternion"]))
        assert_close(joint.pos, np.zeros(3))
        assert_close(joint.axis, link["axis"])
        assert joint.limited[0]
        assert_close(joint.range, [link["lower"], link["upper"]])
        effort = MOTOR_LIMIT.get(name, link["effort"])
        assert_close(motor.ctrlrange, [-effort, effort])
        assert_close(motor.forcerange, [-effort, effort])


def test_sites_follow_the_urdf_frames(name):
    model, _ = load(name)
    for frame in FACTS[name]["frames"]:
        site = model.site(frame["name"])
        assert model.body(site.bodyid[0]).name == frame["link"]
        assert_close(site.pos, frame["translation"])
        assert_close(rotation(site.quat), rotation(frame["quaternion"]))


def test_shapes_are_primitives_that_meet_the_floor_only(name):
    model, _ = load(name)
    primitives = {mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CAPSULE, mujoco.mjtGeom.mjGEOM_SPHERE}
    assert model.nmesh == 0
    assert {mujoco.mjtGeom(kind) for kind in model.geom_type} <= primitives
    assert not np.any(model.geom_contype)
    assert np.any(model.geom_conaffinity)


def test_home_pose_stands_on_the_floor(name):
    model, data = load(name)
    assert_close(data.qpos[3:7], [1, 0, 0, 0])
    for i in range(1, model.njnt):
        low, high = model.jnt_range[i]
        assert low <= data.qpos[model.jnt_qposadr[i]] <= high

    points = data.site_xpos[model.site_user[:, 0] == 1]
    feet = [i for i in range(model.ngeom) if model.geom(i).name.endswith("_foot")]
    if name == "a1":  # spheres
        assert len(points) == 0
        assert len(feet) == 4
        points = data.geom_xpos[feet] - [0, 0, 0.02]
    assert len(points) == {"solo12": 4, "romeo": 8, "a1": 4}[name]
    np.testing.assert_allclose(points[:, 2], 0, atol=1e-9)
    np.testing.assert_allclose(points.mean(axis=0)[1], 0, atol=1e-9)

    com = data.subtree_com[1]
    assert np.all(points.min(axis=0)[:2] < com[:2])
    assert np.all(com[:2] < points.max(axis=0)[:2])

    kinds = mujoco.mjtGeom
    for i in range(model.ngeom):  # lowest point of each shape
        up, size = data.geom_xmat[i].reshape(3, 3)[2], model.geom_size[i]
        reach = {
            kinds.mjGEOM_SPHERE: size[0],
            kinds.mjGEOM_CAPSULE: size[0] + size[1] * abs(up[2]),
            kinds.mjGEOM_BOX: np.abs(up) @ size,
        }[kinds(model.geom_type[i])]
        clearance = 0.01 if model.geom_conaffinity[i] and i not in feet else -1e-9
        assert data.geom_xpos[i, 2] - reach >= clearance


def robots_folder():
    """The ``robots`` folder of example-robot-data, or None."""
    if "EXAMPLE_ROBOT_DATA" in os.environ:
        return Path(os.environ["EXAMPLE_ROBOT_DATA"])
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    urdf = FACTS["solo12"]["urdf"]
    found = [Path(str(f.locate())) for f in files if f.as_posix().endswith(f"robots/{urdf}")]
    return found[0].parents[len(Path(urdf).parts) - 1] if found else None


def test_mass_matrix_equals_that_of_the_urdf(name):
    folder = robots_folder()
    facts = FACTS[name]
    if folder is None or not (folder / facts["urdf"]).is_file():
        pytest.skip("example-robot-data is not here")
    pin = pytest.importorskip("pinocchio")

    reference = pin.buildModelFromUrdf(str(folder / facts["urdf"]), pin.JointModelFreeFlyer())
    assert list(reference.names)[2:] == facts["joints"]
    for i, link in enumerate(facts["links"], start=1):
        if any(fix["link"] == link["name"] for fix in facts["corrections"]):
            inertia = reference.inertias[i]
            reference.inertias[i] = pin.Inertia(inertia.mass, inertia.lever, inertia_used(facts, link))

    model, data = load(name)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q = np.concatenate([rng.normal(size=7), rng.uniform(*model.jnt_range[1:].T)])
        q[3:7] /= np.linalg.norm(q[3:7])
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        ours = np.empty((model.nv, model.nv))
        for column, unit in zip(ours.T, np.eye(model.nv), strict=True):
            product = np.empty(model.nv)
            mujoco.mj_mulM(model, data, product, unit)
            column[:] = product

        q_pin = q.copy()
        q_pin[3:7] = q[[4, 5, 6, 3]]  # w x y z -> x y z w
        theirs = pin.crba(reference, reference.createData(), q_pin)
        theirs = np.triu(theirs) + np.triu(theirs, 1).T
        to_body = np.eye(model.nv)  # linear velocity of the base: world axes -> body axes
        to_body[:3, :3] = rotation(q[3:7]).T
        theirs = to_body.T @ theirs @ to_body
        scale = np.sqrt(np.outer(theirs.diagonal(), theirs.diagonal()))  # a wrist counts as much as the base
        assert_close(ours / scale, theirs / scale)
