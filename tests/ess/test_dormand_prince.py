"""Dormand–Prince beside SciPy's RK45, step by step."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from stickslip.ess import solve_ess
from stickslip.ess.dormand_prince import A, C, E, P, first_step, trial_step


def pendulum(x, b=None):
    return np.array([x[1], -9.81 * np.sin(x[0])])


def orbit(x, b=None):
    r = np.hypot(x[0], x[1]) ** 3
    return np.array([x[2], x[3], -x[0] / r, -x[1] / r])


def test_conditions_of_order():
    b = A[6]
    for power in range(5):  # quadrature of t^power, to order 5
        assert b @ C[:6] ** power == pytest.approx(1 / (power + 1), abs=1e-15)
    assert b @ A[:6] @ C[:6] == pytest.approx(1 / 6, abs=1e-15)
    assert b @ A[:6] @ A[:6] @ C[:6] == pytest.approx(1 / 24, abs=1e-15)
    assert E.sum() == pytest.approx(0.0, abs=1e-16)
    assert P.sum(axis=1)[:6] == pytest.approx(b, abs=1e-14)  # the dense output ends where the step does


@pytest.mark.parametrize(("f", "x0"), [(pendulum, (2.0, 0.3)), (orbit, (1.0, 0.0, 0.0, 0.7))])
@pytest.mark.parametrize("rtol", [1e-4, 1e-7])
def test_the_steps_are_scipys(f, x0, rtol):
    ours = solve_ess(f, None, None, (0.0, 3.0), x0, rtol=rtol, atol=1e-9, first_step=0.01, dense_output=True)
    scipys = solve_ivp(
        lambda t, x: f(x), (0.0, 3.0), x0, rtol=rtol, atol=1e-9, first_step=0.01, dense_output=True
    )  # fmt: skip
    assert ours.t == pytest.approx(scipys.t, abs=1e-8)
    assert ours.y == pytest.approx(scipys.y, abs=1e-8)
    between = np.linspace(0.0, 3.0, 400)
    assert ours.sol(between) == pytest.approx(scipys.sol(between), abs=1e-9)
    assert ours.sol(1.5) == pytest.approx(scipys.sol(1.5), abs=1e-9)


def test_first_step_is_scipys():
    from scipy.integrate._ivp.common import select_initial_step

    x, zero, rtol, atol = np.array([2.0, 0.3]), np.zeros(2), 1e-6, np.full(2, 1e-9)
    dx = pendulum(x)
    guess = trial_step(x, dx, zero, rtol, atol)
    ours = first_step(x, dx, pendulum(x + guess * dx), zero, guess, rtol, atol)
    theirs = select_initial_step(lambda t, y: pendulum(y), 0.0, x, 3.0, np.inf, dx, 1, 4, rtol, 1e-9)
    assert ours == pytest.approx(theirs, rel=1e-6)


def test_order_five():
    exact = solve_ivp(lambda t, x: pendulum(x), (0, 2), (2, 0.3), method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    errors = [
        np.linalg.norm(solve_ess(pendulum, None, None, (0, 2), (2, 0.3), rtol=1e3, first_step=h, max_step=h).x - exact)
        for h in (0.025, 0.0125, 0.00625)
    ]
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx(5.0, abs=0.3)


def test_t_eval_and_end():
    times = np.array([0.0, 0.7, 3.0])
    ours = solve_ess(pendulum, None, None, (0.0, 3.0), (2.0, 0.3), t_eval=times)
    theirs = solve_ivp(lambda t, x: pendulum(x), (0.0, 3.0), (2.0, 0.3), rtol=1e-10, atol=1e-12, t_eval=times)
    assert ours.t == pytest.approx(times)
    assert ours.y == pytest.approx(theirs.y, abs=1e-4)
    assert ours.sol is None
