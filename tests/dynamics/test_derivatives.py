"""Derivatives of inverse and forward dynamics: against finite differences and Pinocchio's, on robots and random trees.

Errors are relative to the largest entry of the oracle's matrix, or to 1 where that is smaller.
"""

from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from random_trees import build, mechanisms, random_state

from stickslip.dynamics import Dynamics
from stickslip.errors import InputError
from stickslip.model import pinocchio as bridge
from stickslip.model.model import compile_model

ROBOTS = Path(__file__).resolve().parents[2] / "src" / "stickslip" / "model" / "robots"


@cache
def robot(name):
    return compile_model(mujoco.MjModel.from_xml_path(str(ROBOTS / f"{name}.xml")))


def differences(function, moved):
    """Columns (f(+ε) − f(−ε))/2ε of a function of a direction."""
    step = 1e-5  # the error of the formula, ε², and round-off, 1e-16/ε, are alike
    return np.array([(function(step * e) - function(-step * e)) / (2 * step) for e in np.eye(moved)]).T


def scaled_error(ours, theirs):
    return np.abs(ours - theirs).max(initial=0.0) / max(np.abs(theirs).max(initial=0.0), 1.0)


def central_differences(dyn, function, q, v, x, external):
    """The three derivatives of function(q, v, x, external), along q ⊕ ε·e_k, v and x."""
    return (
        differences(lambda e: function(dyn.integrate(q, e), v, x, external), dyn.model.nv),
        differences(lambda e: function(q, v + e, x, external), dyn.model.nv),
        differences(lambda e: function(q, v, x + e, external), dyn.model.nv),
    )


def check_differences(model, seed, tolerance):
    rng, dyn = np.random.default_rng(seed), Dynamics(model)
    q, v = random_state(model, rng)
    x = rng.normal(size=model.nv)
    for external in (None, rng.normal(size=(model.nlink, 6))):
        for name in ("rnea", "aba"):
            exact = getattr(dyn, f"{name}_derivatives")(q, v, x, external)
            for ours, theirs in zip(
                exact, central_differences(dyn, getattr(dyn, name), q, v, x, external), strict=True
            ):
                assert scaled_error(ours, theirs) < tolerance, name


@settings(max_examples=60, derandomize=True, deadline=None)
@given(mechanism=mechanisms())
def test_finite_differences_on_random_mechanisms(mechanism):
    check_differences(build(mechanism), mechanism[1], 1e-7)


@pytest.mark.parametrize("name", ["solo12", "romeo"])
def test_finite_differences_on_robots(name):
    check_differences(robot(name), 0, 1e-6)


def test_a_second_call_remembers_nothing_of_the_first():
    model = robot("solo12")
    rng, dyn = np.random.default_rng(0), Dynamics(model)
    q, v = random_state(model, rng)
    a = rng.normal(size=model.nv)
    for function in (dyn.rnea_derivatives, dyn.aba_derivatives):
        first = function(q, v, a)
        kept = [matrix.copy() for matrix in first]
        function(q, v, a, rng.normal(size=(model.nlink, 6)))
        for one, other, third in zip(first, kept, function(q, v, a), strict=True):
            np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(one, third)


def test_they_are_inverse_to_each_other():
    """Forward dynamics undoes inverse dynamics, and so do their derivatives; M and M⁻¹ are those of elsewhere."""
    model = robot("romeo")
    rng, dyn = np.random.default_rng(1), Dynamics(model)
    q, v = random_state(model, rng)
    tau, external = rng.normal(size=model.nv), rng.normal(size=(model.nlink, 6))
    a = dyn.aba(q, v, tau, external)
    dq, dv, M = dyn.rnea_derivatives(q, v, a, external)
    assert scaled_error(M, dyn.crba(q)) < 1e-14
    by_q, by_v, inverse = dyn.aba_derivatives(q, v, tau, external)
    assert scaled_error(inverse @ M, np.eye(model.nv)) < 1e-9
    assert scaled_error(M @ by_q, -dq) < 1e-12
    assert scaled_error(M @ by_v, -dv) < 1e-12
    assert scaled_error(inverse, inverse.T) < 1e-12


def with_both_halves(matrices):
    """Pinocchio may leave the lower triangle of the last one, which is symmetric, as it was."""
    dq, dv, last = matrices
    return dq, dv, np.triu(last) + np.triu(last, 1).T


def check_pinocchio(model, seed):
    """Both derivatives, through ``bridge.tangent_maps``."""
    rng, dyn, theirs = np.random.default_rng(seed), Dynamics(model), bridge.to_pinocchio(model)
    q, v = random_state(model, rng)
    tau, data = rng.normal(size=model.nv), theirs.createData()
    a = dyn.aba(q, v, tau)
    maps = bridge.tangent_maps(model, q, v, a, tau)
    pin_q, pin_v, pin_tau = bridge.q_to_pinocchio(model, q), maps.X @ v, maps.X @ tau
    inverse = pin.computeRNEADerivatives(theirs, data, pin_q, pin_v, bridge.a_to_pinocchio(model, q, v, a))
    forward = pin.computeABADerivatives(theirs, data, pin_q, pin_v, pin_tau)
    pairs = [
        (dyn.rnea_derivatives(q, v, a), bridge.rnea_derivatives_from_pinocchio(maps, *with_both_halves(inverse))),
        (dyn.aba_derivatives(q, v, tau), bridge.aba_derivatives_from_pinocchio(maps, *with_both_halves(forward))),
    ]
    for ours, other in pairs:
        for one, two in zip(ours, other, strict=True):
            assert scaled_error(one, two) < 1e-9


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["solo12", "romeo"])
def test_pinocchio_on_robots(name, seed):
    check_pinocchio(robot(name), seed)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(mechanism=mechanisms())
def test_pinocchio_on_random_mechanisms(mechanism):
    check_pinocchio(build(mechanism), mechanism[1])


@pytest.mark.parametrize("argument", range(4))
def test_wrong_arguments(argument):
    model = robot("solo12")
    dyn = Dynamics(model)
    for function in (dyn.rnea_derivatives, dyn.aba_derivatives):
        good = [model.tree.q0.copy(), np.zeros(model.nv), np.zeros(model.nv), np.zeros((model.nlink, 6))]
        function(*good)
        for bad in (good[argument][:-1], np.full(good[argument].shape, np.nan)):
            arguments = list(good)
            arguments[argument] = bad
            with pytest.raises(InputError, match="expected"):
                function(*arguments)
