"""MuJoCo's own regularised problem, solved by our solvers: MuJoCo's forces."""

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import InputError, UnsupportedFeatureError
from stickslip.lab.problems import mujoco_problem
from stickslip.solvers import SOLVERS, solve

OPTION = (
    '<option cone="elliptic" impratio="{impratio}" jacobian="{jacobian}" tolerance="0" iterations="500" '
    'ls_tolerance="1e-12" ls_iterations="200"/>'
)
FLOOR = '<geom name="floor" type="plane" size="9 9 1" friction="{friction}"/>'
SOLVE = [name for name, kind in SOLVERS.items() if "cone" in kind.solves]


def bodies(n, geom, friction=0.6):
    made = (f'<body pos="{p}"><freejoint/><geom {g}/></body>' for p, g in map(geom, range(n)))
    return f"<worldbody>{FLOOR.format(friction=friction)}{''.join(made)}</worldbody>"


def grid(i):
    place = f"{0.19 * (i % 3)} {0.19 * (i // 3 % 3)} {0.095 + 0.19 * (i // 9)}"
    return (
        place,
        f'type="sphere" size="0.1" mass="{1 + i % 4}" condim="{3 if i % 5 else 1}" friction="{0.2 + 0.1 * (i % 3)}"',
    )


def box(attributes):
    return lambda i: (f"0.0{i} 0 {0.0995 + 0.199 * i}", f'type="box" size=".2 .1 .1" mass="{1 + i}" {attributes}')


SCENES = {
    "stack of boxes": (bodies(4, box("")), 0.3),
    "spheres": (bodies(27, grid, 0.3), 0.5),
    "sliding": (bodies(1, box('friction=".4"'), 0.4), (2.0, 1.0, 0.0, 0.0, 0.0, 1.0)),
    "sticking": (bodies(1, box('friction="1"'), 1.0), (1e-3, 0.0, 0.0, 0.0, 0.0, 0.0)),
    "two coefficients": (
        bodies(1, box('name="box"'))
        + '<contact><pair geom1="floor" geom2="box" condim="3" friction="0.6 0.2 0.1 0.1 0.1"/></contact>',
        (1.0, 1.0, 0.0, 0.0, 0.0, 2.0),
    ),
    "loop and limit": (
        '<worldbody><geom type="plane" size="9 9 1"/><body pos="0 0 0.3">'
        '<joint type="hinge" axis="0 1 0" limited="true" range="-20 20" ref="0"/>'
        '<geom type="capsule" fromto="0 0 0 .5 0 0" size="0.05"/><body name="tip" pos=".5 0 0">'
        '<joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".05"/></body></body>'
        '<body name="ball" pos="1 0 0.09"><freejoint/><geom type="sphere" size="0.1"/></body></worldbody>'
        '<equality><connect body1="tip" body2="ball" anchor="0.5 0 0"/></equality>',
        0.5,
    ),
}


def at(name, impratio=1, jacobian="dense"):
    option = OPTION.format(impratio=impratio, jacobian=jacobian)
    if name == "solo12":
        scene = ss.Scene()
        scene.add_plane(friction=0.7)
        scene.add_robot("solo12", pos=(0.0, 0.0, 0.2))
        model = scene.compile().mj
        model.opt.cone, model.opt.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, impratio
        model.opt.tolerance, model.opt.iterations, model.opt.ls_tolerance = 0.0, 500, 1e-12
        speed = 0.3
    else:
        xml, speed = SCENES[name]
        model = mujoco.MjModel.from_xml_string(f"<mujoco>{option}{xml}</mujoco>")
    data = mujoco.MjData(model)
    data.qvel[:] = np.random.default_rng(0).normal(size=model.nv) * speed if np.isscalar(speed) else speed
    if name == "loop and limit":
        data.qpos[0] = 0.5
    if name == "solo12":
        _lower(model, data)
    mujoco.mj_forward(model, data)
    return model, data


def _lower(model, data):
    """Until all four feet are in the floor."""
    while True:
        mujoco.mj_forward(model, data)
        if data.ncon >= 4 and sum(contact.dist < 0.0 for contact in data.contact) >= 4:
            return
        data.qpos[2] -= 1e-3
        assert data.qpos[2] > 0.0


@pytest.mark.parametrize("impratio", [1, 10])
@pytest.mark.parametrize("name", [*SCENES, "solo12"])
def test_forces_are_mujocos(name, impratio):
    model, data = at(name, impratio)
    made = mujoco_problem(model, data)
    largest = np.abs(data.efc_force).max()
    assert largest > 1.0
    u = made.problem.function(made.problem.b * 0.0)
    np.testing.assert_allclose(u[made.row], data.efc_b / made.scale, atol=1e-9)
    for solver in SOLVE:
        result = solve(made.problem, solver, tolerance=1e-10)
        assert result.success, (solver, result.status, result.residual)
        np.testing.assert_allclose(made.forces(result.z), data.efc_force, atol=1e-6 * largest, err_msg=solver)


def test_sliding_and_sticking_are_what_they_say():
    for name, slides in (("sliding", True), ("sticking", False)):
        data = at(name)[1]
        force = data.efc_force.reshape(-1, 3)
        mu = data.contact[0].friction[0]
        on_cone = np.isclose(np.hypot(force[:, 1], force[:, 2]), mu * force[:, 0], rtol=1e-9)
        assert np.all(on_cone == slides)


def test_sparse_jacobian():
    dense, sparse = (mujoco_problem(*at("spheres", 1, jacobian)).problem for jacobian in ("dense", "sparse"))
    np.testing.assert_allclose(dense.W, sparse.W, atol=1e-12)
    np.testing.assert_allclose(dense.b, sparse.b, atol=1e-9)


def test_nothing_touches():
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><freejoint/><geom size="1"/></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert mujoco_problem(model, data).problem.n == 0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (('cone="elliptic"', 'cone="pyramidal"'), "pyramidal"),
        (("<freejoint/>", '<joint type="slide" axis="0 0 1" frictionloss="1"/>'), "friction loss"),
        (('type="box"', 'type="box" condim="4"'), "condim 4"),
    ],
)
def test_refused_by_name(change, named):
    xml = f"<mujoco>{OPTION.format(impratio=1, jacobian='dense')}{SCENES['sliding'][0]}</mujoco>".replace(*change)
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    with pytest.raises(UnsupportedFeatureError, match=named):
        mujoco_problem(model, data)
    with pytest.raises(InputError, match=r"an mujoco\.MjModel and its mujoco\.MjData"):
        mujoco_problem(model, None)
