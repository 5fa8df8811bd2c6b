"""solve_ess against closed forms: crossings, order, hoppers, corners; Python and compiled alike."""

import numba
import numpy as np
import pytest
from paper_systems import AT_HALF, COMPILED_HOPPER, COMPILED_TABLE, CROSSED_AT, RESET, START, TABLE

import stickslip as ss

TIGHT = {"rtol": 1e-11, "atol": 1e-13}


@pytest.mark.parametrize("functions", [TABLE, COMPILED_TABLE], ids=["python", "compiled"])
def test_crossings_and_end_of_the_papers_example(functions):
    result = ss.solve_ess(*functions, (0.0, 0.5), START, 1e-6, dense_output=True, **TIGHT)
    assert result.success
    assert result.system.compiled == (functions is COMPILED_TABLE)
    assert result.crossings.guard.tolist() == list(CROSSED_AT)
    assert result.crossings.t == pytest.approx(list(CROSSED_AT.values()), abs=1e-11)
    assert result.x == pytest.approx(AT_HALF, abs=1e-11)
    assert result.t[-1] == 0.5
    assert result.crossed.all()
    assert not result.violations
    assert result.crossings.before.tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 1]]
    assert result.crossings.after.tolist() == [[0, 1, 0], [0, 1, 1], [1, 1, 1]]
    assert result.sol(result.t) == pytest.approx(result.y, abs=1e-14)


def test_python_and_compiled_are_the_same():
    python, compiled = (ss.solve_ess(*functions, (0.0, 0.5), START, 1e-3) for functions in (TABLE, COMPILED_TABLE))
    assert python.t == pytest.approx(compiled.t, abs=1e-11)
    assert python.y == pytest.approx(compiled.y, abs=1e-11)
    assert (python.nfev, python.nhev) == (compiled.nfev, compiled.nhev)


def test_order_two_in_eps():
    widths = np.logspace(-4, -2, 9)
    errors = [
        np.linalg.norm(ss.solve_ess(*COMPILED_TABLE, (0.0, 0.5), START, eps, **TIGHT).x - AT_HALF) for eps in widths
    ]
    slopes = np.diff(np.log(errors)) / np.diff(np.log(widths))
    assert slopes == pytest.approx(2.0, abs=0.05)


def test_each_guard_has_its_own_eps():
    result = ss.solve_ess(*COMPILED_TABLE, (0.0, 0.5), START, (1e-2, 1e-9, 1e-9), **TIGHT)
    errors = np.abs(result.crossings.t - list(CROSSED_AT.values()))
    assert errors[:2].max() < 1e-11  # y and z
    assert 1e-8 < errors[2] < 1e-3  # x


def test_eps_follows_from_the_tolerance():
    """By default projections are taken, and their error falls with the tolerance, as that of the steps does."""
    tolerances, errors = np.array([1e-4, 1e-6, 1e-8, 1e-10]), []
    for rtol in tolerances:
        result = ss.solve_ess(*COMPILED_TABLE, (0.0, 0.5), START, rtol=rtol, atol=1e-2 * rtol)
        errors.append(np.abs(result.x - AT_HALF).max())
        assert result.nprojections == 3
        assert not result.violations
        assert np.all(result.crossings.rules.widest > 0.0)
    assert np.all(errors < 10.0 * tolerances)
    assert np.all(np.diff(np.log10(errors)) < -0.5)


def test_eps_follows_from_the_speeds_of_the_guards():
    """In other units of h the solution is the same, since ε is a time's way at the guard's own speed (Sec. 2.2)."""
    f, h, Dh = TABLE
    scale = np.array([1e3, 1e-4, 7.0])
    one = ss.solve_ess(f, h, Dh, (0.0, 0.5), START)
    other = ss.solve_ess(f, lambda x: scale * h(x), lambda x: scale[:, None] * np.array(Dh(x)), (0.0, 0.5), START)
    assert other.x == pytest.approx(one.x, abs=1e-12)
    assert other.crossings.t == pytest.approx(one.crossings.t, abs=1e-12)
    assert other.crossings.rules.widest == pytest.approx(scale * one.crossings.rules.widest, rel=1e-6)
    given = ss.solve_ess(f, lambda x: scale * h(x), None, (0.0, 0.5), START, 1e-3)
    assert np.abs(given.x - one.x).max() > 1e-9  # a given ε means something else in other units


def test_derivatives_of_guards_by_differences():
    with_rows = ss.solve_ess(*COMPILED_TABLE, (0.0, 0.5), START, 1e-3)
    for functions in (TABLE[:2], COMPILED_TABLE[:2]):
        without = ss.solve_ess(*functions, None, (0.0, 0.5), START, 1e-3)
        assert without.x == pytest.approx(with_rows.x, abs=1e-12)
        assert without.system.Dh(START) == pytest.approx(TABLE[2](START), abs=1e-9)


def test_dense_output_through_projections():
    result = ss.solve_ess(*COMPILED_TABLE, (0.0, 0.5), START, 1e-2, dense_output=True)
    ends = np.searchsorted(result.t, result.crossings.t)
    for end, x, before in zip(ends, result.crossings.x, result.crossings.before, strict=True):
        t0, t1 = result.t[end - 1], result.t[end]
        assert t1 - t0 > 1e-3  # the straight way from the neighbourhood's edge to the guard
        f = np.array(TABLE[0](result.y[:, end - 1], before))
        for part in (0.25, 0.5, 0.75):
            straight = result.y[:, end - 1] + part * (t1 - t0) * f
            assert result.sol(t0 + part * (t1 - t0)) == pytest.approx(straight, abs=1e-12)
        assert result.sol(t1) == pytest.approx(x, abs=1e-13)
        assert pytest.approx(np.array([x, x]), abs=1e-7) == result.sol(np.array([t1 - 1e-9, t1 + 1e-9])).T


def test_nothing_goes_beyond_the_end():
    """The end lies between the entry into a guard's neighbourhood and its crossing, or just after it."""
    crossing = CROSSED_AT[1]
    for end, crossed in ((crossing - 0.004, 0), (crossing + 0.004, 1)):
        result = ss.solve_ess(*COMPILED_TABLE, (0.0, end), START, 1e-2, **TIGHT)
        assert result.t[-1] == end
        assert len(result.crossings.t) == crossed
    exact = ss.solve_ess(*COMPILED_TABLE, (0.0, crossing - 0.004), START, 0.0, **TIGHT)
    cut = ss.solve_ess(*COMPILED_TABLE, (0.0, crossing - 0.004), START, 1e-2, **TIGHT)
    assert cut.x == pytest.approx(exact.x, abs=1e-11)


TOUCHDOWN, STANCE, LOWEST, PERIOD = 0.451523641, 0.244112946, 0.633923341, 1.147160228


@pytest.mark.parametrize("eps", [0.0, 1e-9, 1e-4])
def test_hopper(eps):
    result = ss.solve_ess(
        *COMPILED_HOPPER, (0.0, 1.2), (2.0, 0.0), eps, args=(200.0,), reset=RESET, dense_output=True, rtol=1e-9
    )  # fmt: skip
    assert result.crossings.guard.tolist() == [0, 1]
    assert result.crossings.t[0] == pytest.approx(TOUCHDOWN, abs=1e-8)
    assert np.diff(result.crossings.t)[0] == pytest.approx(STANCE, abs=1e-8)
    middle = TOUCHDOWN + STANCE / 2
    assert result.sol(np.linspace(middle - 1e-4, middle + 1e-4, 21))[0].min() == pytest.approx(LOWEST, abs=1e-8)
    assert result.crossed.tolist() == [False, True]


def test_a_thousand_hops():
    result = ss.solve_ess(
        *COMPILED_HOPPER, (0.0, 1e9), (2.0, 0.0), 1e-6, args=(200.0,), reset=RESET, rtol=1e-12, atol=1e-13,
        max_crossings=2001,
    )  # fmt: skip
    assert result.status == 1
    touchdowns = result.crossings.t[::2]
    assert len(touchdowns) == 1001
    assert np.diff(touchdowns) == pytest.approx(PERIOD, abs=1e-6)
    assert (touchdowns[-1] - touchdowns[0]) / 1000 == pytest.approx(PERIOD, abs=1e-8)


def test_long_flights_in_one_step():
    """Free flight is a polynomial: a step of any length has no error, and must not jump over ground and back."""
    result = ss.solve_ess(
        *COMPILED_HOPPER, (0.0, 30.0), (1.05, 0.0), 1e-6, args=(20000.0,), reset=RESET, rtol=1e-7, first_step=10.0
    )  # fmt: skip
    period = 2 * np.sqrt(2 * 0.05 / 9.81) + 2 * (np.pi - np.arctan(np.sqrt(2 * 0.05 * 20000 / 9.81))) / np.sqrt(20000)
    assert np.diff(result.crossings.t[::2]) == pytest.approx(period, rel=1e-3)
    assert result.crossings.guard.tolist() == [0, 1] * (len(result.crossings.t) // 2) + [0] * (
        len(result.crossings.t) % 2
    )


def test_piecewise_constant_fields_are_exact():
    """Plane guards through one corner, a field per region: a thousand starts near the corner, against exact arithmetic
    by order of crossing; time never runs backwards."""
    rng = np.random.default_rng(7)
    m = 4
    eta = np.eye(m) + 0.2 * rng.uniform(-1, 1, (m, m))
    fields = rng.uniform(0.5, 1.5, (2**m, m))
    assert (fields @ eta.T).min() > 0.05  # live in every region
    corner = rng.uniform(-1, 1, m)
    powers = 2 ** np.arange(m)

    f = numba.njit(lambda x, b, fields, eta, corner: fields[(b * (1 << np.arange(len(b)))).sum()])
    h = numba.njit(lambda x, fields, eta, corner: eta @ (x - corner))
    rows = numba.njit(lambda x, fields, eta, corner: eta)
    for _ in range(1000):
        x0 = corner - 0.05 * fields[0] + 1e-3 * rng.uniform(-1, 1, m)
        result = ss.solve_ess(f, h, rows, (0.0, 0.3), x0, 1e-2, args=(fields, eta, corner))
        x, t, mask, order = x0.copy(), 0.0, np.zeros(m, bool), []
        while not mask.all():
            field = fields[mask @ powers]
            wait = np.where(mask, np.inf, -(eta @ (x - corner)) / (eta @ field))
            k = int(np.argmin(wait))
            x, t, mask[k] = x + wait[k] * field, t + wait[k], True
            order.append(k)
        x = x + (0.3 - t) * fields[-1]
        assert result.crossings.guard.tolist() == order
        assert np.abs(result.x - x).max() < 1e-12
        assert np.diff(result.t).min() >= 0.0
        assert result.crossings.t[-1] == pytest.approx(t, abs=1e-12)
