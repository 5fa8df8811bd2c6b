"""The damped oscillator's integrals against the matrix exponential of the same equation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from stickslip.methods.expo.oscillator import response


def exact(q: float, z: float) -> np.ndarray:
    """(g, G₁, … G₅) at time 1 for σ = q, d = z."""
    A = np.diag([0.0, -z, 0.0, 0.0, 0.0, 0.0, 0.0])
    A[0, 1], A[1, 0] = 1.0, -q
    A[2, 0] = A[3, 2] = A[4, 3] = A[5, 4] = A[6, 5] = 1.0
    return expm(A)[[0, 2, 3, 4, 5, 6], 1]


@pytest.mark.parametrize("q", [0.0, 1e-12, 1e-3, 0.3, 1.0, 1.01, 4.0, 30.0, 1e3])
@pytest.mark.parametrize("z", [0.0, 1e-9, 1e-2, 0.9, 1.0005, 1.1, 1.9, 2.0, 2.01, 4.0, 11.0, 63.2, 1e3])
def test_every_branch(q, z):
    assert np.allclose(response(q, z, 1.0), exact(q, z), rtol=1e-10, atol=1e-14)


@given(st.floats(1e-6, 1e3), st.floats(-1e-3, 1e-3))
@settings(max_examples=200, deadline=None)
def test_near_critical_damping(q, off):
    z = 2.0 * np.sqrt(q) * (1.0 + off)
    assert np.allclose(response(q, z, 1.0), exact(q, z), rtol=1e-9, atol=1e-14)


def test_time_scales():
    """g(σ, d, h) = h·g(σh², dh, 1), and one more power of h for each integral."""
    h, sigma, d = 1e-3, 2e6, 700.0
    unit = response(sigma * h * h, d * h, 1.0)
    assert np.allclose(response(sigma, d, h), unit * h ** np.arange(1.0, 7.0), rtol=1e-13)


def test_extremely_stiff():
    """At the end of a long step nothing but the equilibrium is left: G₁ → 1/σ."""
    g, G1, G2, *_ = response(1e16, 1e12, 1.0)
    assert abs(g) < 1e-11
    assert np.isclose(G1, 1e-16, rtol=1e-3)
    assert np.isclose(G2, 1e-16, rtol=1e-3)
