"""Derivatives of bilateral contact: against Pinocchio's and finite differences, on robots, random trees and loops.

Errors are relative to the largest entry of the oracle's matrix, or to 1 where that is smaller. Pinocchio's forces are
taken in LOCAL_WORLD_ALIGNED axes, which are ours, at velocities that keep welds: its 6-D contacts hold spatial
accelerations, ours those of points.
"""

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_trees import build, mechanisms, random_state

import stickslip as ss
from stickslip.constraints.bilateral import Baumgarte, Bilateral
from stickslip.constraints.bilateral_derivatives import bilateral_derivatives, differentiate
from stickslip.dynamics import Dynamics
from stickslip.errors import InputError, UnconvergedError
from stickslip.model import pinocchio as bridge
from stickslip.model.loops import Constraint

SOFT = Baumgarte(kp=25.0, kd=10.0)  # with more, differences drown in the round-off of huge accelerations
FEET = {"solo12": ("FL_FOOT", "HR_FOOT"), "romeo": ("l_sole", "r_sole")}


@cache
def robot(name):
    scene = ss.Scene()
    scene.add_robot(name)
    return scene.compile()


def error(ours, theirs):
    return np.abs(ours - theirs).max(initial=0.0) / max(np.abs(theirs).max(initial=0.0), 1.0)


def differences(function, n, step=1e-5):
    return np.array([(function(step * e) - function(-step * e)) / (2 * step) for e in np.eye(n)]).T


def central_differences(dyn, function, q, v, tau):
    """The six derivatives of function(q, v, τ) → (q̈, λ), in the order of BilateralDerivatives."""
    n = dyn.model.nv

    def stacked(*state):
        return np.concatenate(function(*state))

    columns = (
        differences(lambda e: stacked(dyn.integrate(q, e), v, tau), n),
        differences(lambda e: stacked(q, v + e, tau), n),
        differences(lambda e: stacked(q, v, tau + e), n, 1e-2),  # affine: any step
    )
    return [c[:n] for c in columns] + [c[n:] for c in columns]


def solver(bilateral, external=None):
    def solve(q, v, tau):
        result = bilateral.solve(q, v, tau, external)
        return result.acceleration, result.force

    return solve


def check(ours, theirs, tolerance):
    for name, one, other in zip(ours._fields[:6], ours[:6], theirs, strict=True):
        assert one.shape == other.shape
        assert error(one, other) < tolerance, name


def rotation(rng):
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return axes * np.linalg.det(axes)


def on_feet(dyn, q, kind, names):
    """The named frames stay where they are in the world."""
    model, result = dyn.model, []
    for name in names:
        f = model.frame_index[name]
        pos, rot = dyn.frame_pose(q, name)
        result.append(
            Constraint(kind, 0, int(model.frames.link[f]), pos, rot, model.frames.pos[f], model.frames.rot[f])
        )
    return result


def keeping(bilateral, q, v):
    """The velocity nearest to v that the constraints allow."""
    bilateral.solve(q, v, np.zeros(len(v)))
    J = bilateral.jacobian
    return v - np.linalg.pinv(J, rcond=1e-9) @ (J @ v)


# -- Pinocchio ---------------------------------------------------------------------------------------------------------


def pinocchio_derivatives(model, q, v, tau, a, kind, names):
    peer = bridge.to_pinocchio(model)
    data, maps = peer.createData(), bridge.tangent_maps(model, q, v, a, tau)
    contact = {"connect": pin.ContactType.CONTACT_3D, "weld": pin.ContactType.CONTACT_6D}[kind]
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for name in names:
        frame = peer.frames[peer.getFrameId(name)]
        models.append(
            pin.RigidConstraintModel(contact, peer, frame.parentJoint, frame.placement, pin.LOCAL_WORLD_ALIGNED)
        )
        datas.append(models[-1].createData())
    pin.initConstraintDynamics(peer, data, models, datas)
    settings, X = pin.ProximalSettings(1e-14, 0.0, 10), maps.X
    pin.constraintDynamics(peer, data, bridge.q_to_pinocchio(model, q), X @ v, X @ tau, models, datas, settings)
    pin.computeConstraintDynamicsDerivatives(peer, data, models, datas, settings)
    motion = bridge.aba_derivatives_from_pinocchio(maps, data.ddq_dq, data.ddq_dv, data.ddq_dtau)
    by_q, by_v, by_tau = data.dlambda_dq, data.dlambda_dv, data.dlambda_dtau
    return *motion, by_q @ X + by_v @ maps.v_by_q + by_tau @ maps.tau_by_q, by_v @ X, by_tau @ X


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("name", "kind"), [("solo12", "connect"), ("solo12", "weld"), ("romeo", "connect"), ("romeo", "weld")]
)
def test_pinocchio(name, kind, seed):
    model, rng = robot(name), np.random.default_rng(seed)
    dyn, feet = Dynamics(model), FEET[name][:1] if (name, kind) == ("solo12", "weld") else FEET[name]
    q, v = random_state(model, rng)
    tau, constraints = rng.normal(size=model.nv), on_feet(dyn, q, kind, feet)
    if kind == "weld":
        v = keeping(Bilateral(dyn, constraints), q, v)
    ours = bilateral_derivatives(dyn, q, v, tau, constraints)
    check(ours, pinocchio_derivatives(model, q, v, tau, ours.solution.acceleration, kind, feet), 1e-9)


@settings(max_examples=30, derandomize=True, deadline=None)
@given(mechanism=mechanisms())
def test_pinocchio_on_random_trees(mechanism):
    """A point of the last link held in the world; states where its rows nearly depend on each other are left out."""
    model, rng = build(mechanism), np.random.default_rng(mechanism[1])
    dyn = Dynamics(model)
    q, v = random_state(model, rng)
    sites = [name for name, f in model.frame_index.items() if name.startswith("s") and model.frames.link[f] > 0]
    tau, constraints = rng.normal(size=model.nv), on_feet(dyn, q, "connect", sites[-1:])
    bilateral = Bilateral(dyn, constraints)
    bilateral.solve(q, v, tau)
    assume(np.linalg.cond(bilateral.delassus) < 1e4)
    ours = bilateral_derivatives(dyn, q, v, tau, constraints)
    check(ours, pinocchio_derivatives(model, q, v, tau, ours.solution.acceleration, "connect", sites[-1:]), 1e-9)


# -- finite differences ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stabilisation", ["none", SOFT])
@pytest.mark.parametrize("name", ["solo12", "romeo"])
def test_finite_differences_on_robots(name, stabilisation):
    """A foot on the world and a weld between two legs, open by a lot; external forces."""
    model, rng = robot(name), np.random.default_rng(3)
    dyn, (one, two) = Dynamics(model), [model.link(f) for f in FEET[name]]
    q, v = random_state(model, rng)
    tau, external = rng.normal(size=model.nv), rng.normal(size=(model.nlink, 6))
    constraints = [
        Constraint("connect", 0, one, pos1=rng.normal(size=3), pos2=0.1 * rng.normal(size=3)),
        Constraint("weld", one, two, 0.1 * rng.normal(size=3), rotation(rng), 0.1 * rng.normal(size=3), rotation(rng)),
    ]
    bilateral = Bilateral(dyn, constraints, stabilisation=stabilisation, tolerance=1e-14)
    ours = differentiate(bilateral, q, v, tau, external)
    check(ours, central_differences(dyn, solver(bilateral, external), q, v, tau), 1e-6)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(mechanism=mechanisms(), kinds=st.lists(st.sampled_from(("connect", "weld")), min_size=1, max_size=2))
def test_finite_differences_on_random_mechanisms(mechanism, kinds):
    model, rng = build(mechanism), np.random.default_rng(mechanism[1])
    dyn = Dynamics(model)
    q, v = random_state(model, rng)
    tau, constraints = rng.normal(size=model.nv), []
    for kind in kinds:
        one, two = (0, 1) if model.nlink == 2 else rng.choice(model.nlink, size=2, replace=False)
        places = (0.3 * rng.normal(size=3), rotation(rng), 0.3 * rng.normal(size=3), rotation(rng))
        constraints.append(Constraint(kind, int(one), int(two), *places))
    bilateral = Bilateral(dyn, constraints, stabilisation=SOFT, tolerance=1e-14)
    bilateral.solve(q, v, tau)
    assume(np.linalg.cond(bilateral.delassus) < 1e4)
    ours = differentiate(bilateral, q, v, tau)
    check(ours, central_differences(dyn, solver(bilateral), q, v, tau), 1e-6)


# -- redundant rows ----------------------------------------------------------------------------------------------------


def smallest_forces(bilateral):
    """The same by dense linear algebra: the smallest of all forces."""
    dyn = bilateral.dynamics

    def solve(q, v, tau):
        free = bilateral.solve(q, v, tau).free_acceleration
        J, inverse = bilateral.jacobian, np.linalg.inv(dyn.crba(q))
        force = -np.linalg.pinv(J @ inverse @ J.T, rcond=1e-9, hermitian=True) @ (J @ free + bilateral.gamma)
        return free + inverse @ J.T @ force, force

    return solve


def many_on_a_foot(model, dyn, q, rng, n=12):
    """n points of one foot, held where they are."""
    pos, rot = dyn.frame_pose(q, FEET["romeo"][0])
    f = model.frame_index[FEET["romeo"][0]]
    link, axes = int(model.frames.link[f]), rot @ model.frames.rot[f].T
    local = 0.1 * rng.normal(size=(n, 3))
    return [Constraint("connect", 0, link, pos + axes @ (x - model.frames.pos[f]), pos2=x) for x in local]


@pytest.mark.parametrize("stabilisation", ["none", SOFT])
def test_redundant_contacts_move_like_a_weld_and_forces_stay_the_smallest(stabilisation):
    model, rng = robot("romeo"), np.random.default_rng(5)
    dyn = Dynamics(model)
    q, v = random_state(model, rng)
    tau, constraints = rng.normal(size=model.nv), many_on_a_foot(model, dyn, q, rng)
    bilateral = Bilateral(dyn, constraints, stabilisation=stabilisation)
    v = keeping(bilateral, q, v)
    ours = differentiate(bilateral, q, v, tau)
    assert np.linalg.matrix_rank(bilateral.delassus, tol=1e-9) == 6
    check(ours, central_differences(dyn, smallest_forces(bilateral), q, v, tau), 1e-6)
    weld = on_feet(dyn, q, "weld", FEET["romeo"][:1])
    for one, other in zip(
        ours[:3], bilateral_derivatives(dyn, q, v, tau, weld, stabilisation=stabilisation)[:3], strict=True
    ):
        assert error(one, other) < 1e-8


def test_contradictions_are_refused():
    """Points of a turning foot cannot all stay."""
    model, rng = robot("romeo"), np.random.default_rng(6)
    dyn = Dynamics(model)
    q, v = random_state(model, rng)
    with pytest.raises(UnconvergedError, match="conflict"):
        bilateral_derivatives(dyn, q, v, np.zeros(model.nv), many_on_a_foot(model, dyn, q, rng))


def test_without_constraints_it_is_forward_dynamics():
    model, rng = robot("solo12"), np.random.default_rng(7)
    dyn = Dynamics(model)
    q, v = random_state(model, rng)
    tau, external = rng.normal(size=model.nv), rng.normal(size=(model.nlink, 6))
    ours = bilateral_derivatives(dyn, q, v, tau, [], external=external)
    for one, other in zip(ours[:3], dyn.aba_derivatives(q, v, tau, external), strict=True):
        assert error(one, other) < 1e-12
    assert [matrix.shape for matrix in ours[3:6]] == [(0, model.nv)] * 3


def test_wrong_arguments():
    model = robot("solo12")
    q, v = model.tree.q0, np.zeros(model.nv)
    feet = [Constraint("connect", 0, model.link("FL_FOOT"))]
    bilateral_derivatives(model, q, v, v, feet)
    for bad in ((q[:-1], v, v), (q, v[:-1], v), (q, v, np.full(model.nv, np.nan))):
        with pytest.raises(InputError, match="expected"):
            bilateral_derivatives(model, *bad, feet)
