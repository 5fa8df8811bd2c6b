"""Derivatives of inverse dynamics: against finite differences on random mechanisms, and against Pinocchio's."""

from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from random_trees import build, mechanisms, random_state

from stickslip.dynamics import Dynamics
from stickslip.model import pinocchio as bridge
from stickslip.model.compile import rotation
from stickslip.model.model import compile_model

ROBOTS = Path(__file__).resolve().parents[2] / "src" / "stickslip" / "model" / "robots"


def differences(function, moved):
    """Columns (f(+ε) − f(−ε))/2ε of a function of a direction."""
    step = 1e-5  # the error of the formula, ε², and round-off, 1e-16/ε, are alike
    return np.array([(function(step * e) - function(-step * e)) / (2 * step) for e in np.eye(moved)]).T


def scaled_error(ours, theirs):
    return np.abs(ours - theirs).max(initial=0.0) / max(np.abs(theirs).max(initial=0.0), 1.0)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(mechanism=mechanisms())
def test_finite_differences_on_random_mechanisms(mechanism):
    model = build(mechanism)
    rng, dyn = np.random.default_rng(mechanism[1]), Dynamics(model)
    q, v = random_state(model, rng)
    a = rng.normal(size=model.nv)
    for external in (None, rng.normal(size=(model.nlink, 6))):
        dq, dv = dyn.rnea_derivatives(q, v, a, external)
        by_q = differences(lambda e: dyn.rnea(dyn.integrate(q, e), v, a, external), model.nv)  # noqa: B023
        by_v = differences(lambda e: dyn.rnea(q, v + e, a, external), model.nv)  # noqa: B023
        assert scaled_error(dq, by_q) < 1e-8
        assert scaled_error(dv, by_v) < 1e-8


def test_a_second_call_remembers_nothing_of_the_first():
    model = compile_model(mujoco.MjModel.from_xml_path(str(ROBOTS / "solo12.xml")))
    rng, dyn = np.random.default_rng(0), Dynamics(model)
    q, v = random_state(model, rng)
    a = rng.normal(size=model.nv)
    first = dyn.rnea_derivatives(q, v, a)
    dyn.rnea_derivatives(q, v, a, rng.normal(size=(model.nlink, 6)))
    for one, other in zip(first, dyn.rnea_derivatives(q, v, a), strict=True):
        np.testing.assert_array_equal(one, other)


def pinocchio_derivatives(model, q, v, a):
    """∂τ/∂q and ∂τ/∂v in our layout: Pinocchio's, by the chain rule through the turning axes of the floating base."""
    nv, R, w = model.nv, rotation(q[3:7]), v[3:6]
    X = np.eye(nv)
    X[:3, :3] = R.T
    theirs = bridge.to_pinocchio(model)
    pin_q, pin_v, pin_a = bridge.q_to_pinocchio(model, q), X @ v, bridge.a_to_pinocchio(model, q, v, a)
    data = theirs.createData()
    dq, dv, M = pin.computeRNEADerivatives(theirs, data, pin_q, pin_v, pin_a)
    M = np.triu(M) + np.triu(M, 1).T
    tau = pin.rnea(theirs, data, pin_q, pin_v, pin_a)

    v_by_q, a_by_q, a_by_v, tau_by_q = np.zeros((4, nv, nv))
    for k, e in enumerate(np.eye(3)):
        v_by_q[:3, 3 + k] = -np.cross(e, pin_v[:3])
        a_by_q[:3, 3 + k] = -np.cross(e, R.T @ a[:3]) + np.cross(w, np.cross(e, pin_v[:3]))
        a_by_v[:3, k] = -np.cross(w, R.T @ e)
        a_by_v[:3, 3 + k] = -np.cross(e, pin_v[:3])
        tau_by_q[:3, 3 + k] = R @ np.cross(e, tau[:3])
    return tau_by_q + X.T @ (dq @ X + dv @ v_by_q + M @ a_by_q), X.T @ (dv @ X + M @ a_by_v)


@pytest.mark.parametrize("name", ["solo12", "romeo"])
def test_pinocchio(name):
    model = compile_model(mujoco.MjModel.from_xml_path(str(ROBOTS / f"{name}.xml")))
    dyn = Dynamics(model)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        q, v = random_state(model, rng)
        a = rng.normal(size=model.nv)
        for ours, theirs in zip(dyn.rnea_derivatives(q, v, a), pinocchio_derivatives(model, q, v, a), strict=True):
            assert scaled_error(ours, theirs) < 1e-12
            assert np.all(theirs[ours == 0.0] < 1e-10 * np.abs(theirs).max())
