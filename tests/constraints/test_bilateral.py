"""Bilateral contact against Pinocchio, dense linear algebra and finite differences."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import stickslip as ss
from stickslip.constraints.bilateral import Baumgarte, Bilateral, Constraint, solve_bilateral
from stickslip.model.pinocchio import (
    a_from_pinocchio,
    q_to_pinocchio,
    tau_to_pinocchio,
    to_pinocchio,
    v_to_pinocchio,
)

pin = pytest.importorskip("pinocchio")
CORRECTOR = Baumgarte(kp=400.0, kd=30.0)


@pytest.fixture(scope="module")
def robots():
    models = {}
    for name in ("solo12", "romeo"):
        scene = ss.Scene()
        scene.add_robot(name)
        models[name] = scene.compile()
    models["four-bar"] = ss.SCENES["four-bar"].build().scene.compile()
    return models


def state(model, seed=0, spread=0.3):
    rng, dynamics = np.random.default_rng(seed), ss.Dynamics(model)
    q = dynamics.integrate(model.state().q, spread * rng.normal(size=model.nv), 1.0)
    return dynamics, q, rng.normal(size=model.nv), rng.normal(size=model.nv)


def at_frame(dynamics, q, frame, kind):
    """The frame of a link held where it is in the world."""
    model = dynamics.model
    f = model.frame(frame)
    pos, rot = dynamics.frame_pose(q, frame)
    return Constraint(kind, 0, model.link(frame), pos, rot, model.frames.pos[f], model.frames.rot[f])


def between(dynamics, q, kind, link1, link2, opened=0.0):
    """A loop between two links at a random place, open by about ``opened`` [m, rad]."""
    rng, pose = np.random.default_rng(5), dynamics.poses(q)
    rot = [Rotation.from_quat(np.roll(pose[b, 3:], -1)).as_matrix() for b in (link1, link2)]
    place, frame = 0.2 * rng.normal(size=3), Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
    gap, turn = opened * rng.normal(size=3), Rotation.from_rotvec(opened * rng.normal(size=3)).as_matrix()
    return Constraint(
        kind, link1, link2, rot[0].T @ (place - pose[link1, :3]), rot[0].T @ frame,
        rot[1].T @ (place + gap - pose[link2, :3]), rot[1].T @ turn @ frame,
    )  # fmt: skip


def settled(bilateral, q, v, tau):
    """The velocity nearest to v that the constraints allow."""
    bilateral.solve(q, v, tau)
    J = bilateral.jacobian
    return v - np.linalg.pinv(J, rcond=1e-9) @ (J @ v)


def by_pinocchio(model, q, v, tau, constraints, frame, gains=None):
    """q̈ and λ in our layout: on link 2, world axes."""
    peer = to_pinocchio(model)
    data, models, datas = peer.createData(), pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()

    def placed(link, pos, rot):
        if link == 0:
            return 0, pin.SE3(rot, pos)
        own = peer.frames[peer.getFrameId(model.link_names[link])]
        return own.parentJoint, own.placement * pin.SE3(rot, pos)

    kinds = {"connect": pin.ContactType.CONTACT_3D, "weld": pin.ContactType.CONTACT_6D}
    for c in constraints:
        ends = (*placed(c.link1, c.pos1, c.rot1), *placed(c.link2, c.pos2, c.rot2))
        made = pin.RigidConstraintModel(kinds[c.kind], peer, *ends, frame)
        if gains is not None:
            made.m_baumgarte_parameters.Kp, made.m_baumgarte_parameters.Kd = gains.kp, gains.kd
        models.append(made)
        datas.append(made.createData())
    pin.initConstraintDynamics(peer, data, models, datas)
    settings = pin.ProximalSettings(1e-14, 1e-14, 1e-12, 100)
    given = (q_to_pinocchio(model, q), v_to_pinocchio(model, q, v), tau_to_pinocchio(model, q, tau))
    a = a_from_pinocchio(model, q, v, pin.constraintDynamics(peer, data, *given, models, datas, settings))
    forces = []
    for c, found in zip(constraints, datas, strict=True):
        turn = np.eye(3) if frame == pin.LOCAL_WORLD_ALIGNED else found.oMc1.rotation
        parts = (found.contact_force.linear, found.contact_force.angular)[: c.rows // 3]
        forces += [-turn @ part for part in parts]
    return a, np.concatenate(forces)


def assert_equal_to_pinocchio(model, q, v, tau, constraints, gains=None):
    bilateral = Bilateral(model, constraints, stabilisation=gains or "none")
    result, J = bilateral.solve(q, v, tau), bilateral.jacobian
    assert result.status == "converged"
    assert result.stabilisation is gains
    scale = max(1.0, np.abs(result.acceleration).max())
    for frame in (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED):
        a, force = by_pinocchio(model, q, v, tau, constraints, frame, gains)
        assert np.abs(result.acceleration - a).max() < 1e-8 * scale
        limit = 1e-8 * max(1.0, np.abs(force).max())
        assert np.abs(J.T @ (result.force - force)).max() < limit
        if np.linalg.matrix_rank(J, tol=1e-9) == len(J):
            assert np.abs(result.force - force).max() < limit
        else:
            assert np.linalg.norm(result.force) <= np.linalg.norm(force) + limit
    return result


@pytest.mark.parametrize("gains", [None, CORRECTOR])
def test_solo12_on_four_feet(robots, gains):
    """Any velocity: also one with which the feet slide."""
    dynamics, q, v, tau = state(robots["solo12"])
    feet = [at_frame(dynamics, q, f"{leg}_FOOT", "connect") for leg in ("FL", "FR", "HL", "HR")]
    assert_equal_to_pinocchio(robots["solo12"], q, v, tau, feet, gains)


@pytest.mark.parametrize("gains", [None, CORRECTOR])
def test_romeo_on_two_flat_feet(robots, gains):
    dynamics, q, v, tau = state(robots["romeo"])
    feet = [at_frame(dynamics, q, f"{side}_sole", "weld") for side in "lr"]
    v = settled(Bilateral(robots["romeo"], feet), q, v, tau)
    assert_equal_to_pinocchio(robots["romeo"], q, v, tau, feet, gains)


@pytest.mark.parametrize("gains", [None, CORRECTOR])
@pytest.mark.parametrize(("link1", "link2"), [(4, 7), (10, 4), (1, 4)])
def test_loops_between_links(robots, link1, link2, gains):
    """Points: also where they are apart and slide; frames: where they are closed and keep closed."""
    model = robots["solo12"]
    dynamics, q, v, tau = state(model)
    opened = between(dynamics, q, "connect", link1, link2, 0.05)
    assert_equal_to_pinocchio(model, q, v, tau, [opened], gains)
    closed = between(dynamics, q, "weld", link1, link2)
    v = settled(Bilateral(model, [closed]), q, v, tau)
    assert_equal_to_pinocchio(model, q, v, tau, [closed], gains)


def test_a_closed_four_bar(robots):
    """A row of its loop is redundant; Pinocchio's proximal answer and the pseudo-inverse agree with ours."""
    model, rng = robots["four-bar"], np.random.default_rng(0)
    q, tau = model.state().q, rng.normal(size=3)
    v = settled(Bilateral(model, model.loops), q, rng.normal(size=3), tau)
    result = assert_equal_to_pinocchio(model, q, v, tau, model.loops)
    assert result.residual < 1e-10
    bilateral = Bilateral(model, model.loops)
    bilateral.solve(q, v, tau)
    assert np.linalg.matrix_rank(bilateral.jacobian, tol=1e-9) == 2


def corners(dynamics, q, n):
    """n points of Romeo's left foot, around its sole, held where they are."""
    model, (pos, rot) = dynamics.model, dynamics.frame_pose(q, "l_sole")
    link = model.link("l_sole")
    angle = 2.0 * np.pi * np.arange(n) / n
    points = pos + (0.1 * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)) @ rot.T
    origin, quat = dynamics.poses(q)[link, :3], dynamics.poses(q)[link, 3:]
    axes = Rotation.from_quat(np.roll(quat, -1)).as_matrix()
    return [Constraint("connect", 0, link, pos1=p, pos2=axes.T @ (p - origin)) for p in points]


def test_twelve_redundant_contacts_on_one_foot(robots):
    """36 rows of rank 6: the motion is that of a weld, and the force is the smallest one."""
    dynamics, q, v, tau = state(robots["romeo"])
    weld = Bilateral(robots["romeo"], [at_frame(dynamics, q, "l_sole", "weld")])
    v = settled(weld, q, v, tau)
    one = weld.solve(q, v, tau)
    twelve = Bilateral(robots["romeo"], corners(dynamics, q, 12))
    many = twelve.solve(q, v, tau)
    assert many.status == "converged"
    assert many.residual < 1e-8
    assert np.abs(many.acceleration - one.acceleration).max() < 1e-8 * np.abs(one.acceleration).max()
    J = twelve.jacobian
    assert np.linalg.matrix_rank(J, tol=1e-9) == 6
    smallest = np.linalg.pinv(J.T, rcond=1e-10) @ (dynamics.rnea(q, v, many.acceleration) - tau)
    np.testing.assert_allclose(many.force, smallest, atol=1e-8 * np.abs(smallest).max())
    wrench = many.force.reshape(-1, 3).sum(axis=0)
    np.testing.assert_allclose(wrench, one.force[:3], atol=1e-8 * np.abs(wrench).max())


def least_squares(dynamics, bilateral, q, v, tau):
    """Dense: q̈ of least action among those with the least ‖J·q̈ + γ‖, and the smallest λ."""
    M, J = dynamics.crba(q), bilateral.jacobian
    free = dynamics.aba(q, v, tau)
    half = np.linalg.cholesky(M)
    y = np.linalg.lstsq(np.linalg.solve(half, J.T).T, -(J @ free + bilateral.gamma), rcond=1e-9)[0]
    a = free + np.linalg.solve(half.T, y)
    return a, np.linalg.pinv(J.T, rcond=1e-9) @ (M @ (a - free))


@pytest.mark.parametrize("name", ["romeo", "solo12"])
def test_conflicting_constraints_give_the_least_squares_answer(robots, name):
    """Velocities that tear the foot apart make γ leave the range of J; doubled feet, too."""
    dynamics, q, v, tau = state(robots[name])
    if name == "romeo":
        constraints = corners(dynamics, q, 5)
    else:
        foot = at_frame(dynamics, q, "FL_FOOT", "connect")
        other = Constraint("connect", 0, foot.link2, foot.pos1 + 0.01, pos2=foot.pos2)
        constraints = [foot, other]
    bilateral = Bilateral(robots[name], constraints, stabilisation=CORRECTOR)
    result = bilateral.solve(q, v, tau)
    assert result.status == "conflict"
    assert not result.success
    a, force = least_squares(dynamics, bilateral, q, v, tau)
    np.testing.assert_allclose(result.acceleration, a, atol=1e-7 * np.abs(a).max())
    np.testing.assert_allclose(result.force, force, atol=1e-6 * np.abs(force).max())
    left = bilateral.jacobian @ a + bilateral.gamma
    assert result.residual == pytest.approx(np.abs(left).max(), rel=1e-6)
    assert result.residual > 0.1


def test_rows_are_derivatives_of_errors(robots):
    """J·v = ė and J·q̈ + γ = ë, by central differences; of a weld's rotation where it is closed."""
    model = robots["solo12"]
    dynamics, q, v, tau = state(model)
    constraints = [between(dynamics, q, "weld", 4, 7, 0.0), between(dynamics, q, "connect", 10, 1, 0.1)]
    bilateral, h = Bilateral(model, constraints), 1e-5
    a = bilateral.solve(q, v, tau).acceleration

    def look(t):
        """Errors and rates on the path with velocity v + t·a."""
        at = dynamics.integrate(q, v + 0.5 * t * a, t)
        now = bilateral.solve(at, v + t * a, tau)
        return now.error, now.rate

    now = bilateral.solve(q, v, tau)
    J, gamma = bilateral.jacobian, bilateral.gamma
    (e1, r1), (e0, r0) = look(h), look(-h)
    np.testing.assert_allclose((e1 - e0) / (2 * h), now.rate, atol=1e-6 * np.abs(now.rate).max())
    np.testing.assert_allclose(J @ v, now.rate, atol=1e-12)
    np.testing.assert_allclose((r1 - r0) / (2 * h), J @ a + gamma, atol=1e-5)


def test_it_is_the_least_action(robots):
    """No other motion that the constraints allow is nearer to the free one in the metric of M."""
    dynamics, q, v, tau = state(robots["solo12"])
    bilateral = Bilateral(dynamics, [at_frame(dynamics, q, "FL_FOOT", "connect")])
    result, M, rng = bilateral.solve(q, v, tau), dynamics.crba(q), np.random.default_rng(1)
    away = result.acceleration - result.free_acceleration
    null = np.linalg.svd(bilateral.jacobian)[2][3:]
    np.testing.assert_allclose(null @ M @ away, 0.0, atol=1e-9 * np.abs(M @ away).max())
    for _ in range(5):
        other = away + null.T @ rng.normal(size=len(null))
        assert other @ M @ other > away @ M @ away


def test_no_constraints_and_external_forces(robots):
    model = robots["solo12"]
    dynamics, q, v, tau = state(model)
    wrench = np.random.default_rng(2).normal(size=(model.nlink, 6))
    result = solve_bilateral(model, q, v, tau, [], external=wrench)
    np.testing.assert_allclose(result.acceleration, dynamics.aba(q, v, tau, wrench), rtol=1e-9, atol=1e-9)
    assert (result.status, result.residual, len(result.force)) == ("converged", 0.0, 0)


def test_baumgarte_has_a_time_constant():
    assert Baumgarte.within(0.02) == Baumgarte(kp=2500.0, kd=100.0) == Baumgarte()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Constraint("hinge", 0, 1), "unknown constraint kind 'hinge'.*connect, weld"),
        (lambda: Constraint("weld", 2, 2), "two different links"),
        (lambda: Constraint("weld", -1, 2), "link1 of a weld: expected a link's number"),
        (lambda: Constraint("connect", 0, 1, pos1=(0, 0)), r"pos1 of a connect: expected finite numbers of shape \(3,"),
        (lambda: Constraint("connect", 0, 1, pos2=(0, 0, np.nan)), "pos2 of a connect"),
        (lambda: Constraint("weld", 0, 1, rot1=2 * np.eye(3)), "rot1 of a weld: expected a rotation matrix"),
        (lambda: Constraint("weld", 0, 1, rot2=np.diag([1.0, 1.0, -1.0])), "rot2 of a weld: expected a rotation"),
        (lambda: Baumgarte(kp=-1.0), "kp: expected a number ≥ 0"),
        (lambda: Baumgarte.within(0.0), "time: expected a positive time"),
    ],
)
def test_bad_constraints(make, message):
    with pytest.raises(ss.InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("constraints", "options", "message"),
    [
        ([Constraint("connect", 0, 99)], {}, "expected an index from 0 to 13, got 99"),
        (["foot"], {}, "constraint: expected a Constraint, got 'foot'"),
        ([], {"stabilisation": "projection"}, "unknown stabilisation 'projection'"),
        ([], {"mu": 0.0}, "mu: expected a positive number"),
        ([], {"tolerance": -1}, "tolerance: expected a positive number"),
        ([], {"max_iterations": 0}, "max_iterations: expected a whole number ≥ 1"),
    ],
)
def test_bad_options(robots, constraints, options, message):
    _, q, v, tau = state(robots["solo12"])
    with pytest.raises(ss.InputError, match=message):
        solve_bilateral(robots["solo12"], q, v, tau, constraints, **options)
    with pytest.raises(ss.InputError, match=r"tau: expected an array of shape \(18,\)"):
        solve_bilateral(robots["solo12"], q, v, np.zeros(3), [])
