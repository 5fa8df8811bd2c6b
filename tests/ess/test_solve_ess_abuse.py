"""solve_ess where things go wrong: a status or an error that says so, never an endless loop."""

import numba
import numpy as np
import pytest
from paper_systems import COMPILED_TABLE, HOPPER, RESET, START, TABLE

import stickslip as ss


def go(f, h, Dh=None, span=(0.0, 1.0), x0=(0.0,), eps=1e-3, **options):
    return ss.solve_ess(f, h, Dh, span, x0, eps, **options)


def test_a_guard_that_is_never_reached():
    result = go(lambda x, b: [1.0], lambda x: [x[0] - 5.0], lambda x: [[1.0]])
    assert result.status == 0
    assert not result.crossings.guard.size
    assert result.x == pytest.approx([1.0])


def test_an_endless_hopper_ends_with_the_time_or_the_limits():
    arguments = (*HOPPER, (0.0, 3.0), (2.0, 0.0), 1e-3)
    result = ss.solve_ess(*arguments, args=(200.0,), reset=RESET)
    assert result.status == 0
    assert result.t[-1] == 3.0
    assert len(result.crossings.t) == 6
    result = ss.solve_ess(*arguments, args=(200.0,), reset=RESET, max_crossings=3)
    assert (result.status, result.success, len(result.crossings.t)) == (1, True, 3)
    result = ss.solve_ess(*arguments, args=(200.0,), reset=RESET, max_steps=10)
    assert (result.status, result.success) == (-5, False)
    assert "max_steps" in result.message


@pytest.mark.parametrize("eps", [0.0, 1e-3, 0.3])
def test_a_tangential_graze(eps):
    def f(x, b):
        return np.array([1.0, -2.0 * x[0]])

    result = go(f, lambda x: np.array([x[1]]), span=(-1.0, 1.0), x0=(-1.0, -1.0), eps=eps, rtol=1e-10, atol=1e-12)
    assert result.status == -3
    assert not result.success
    assert "guard 0" in result.message
    assert result.t[-1] == pytest.approx(0.0, abs=1e-3)
    assert not result.crossings.guard.size
    assert result.violations[-1].guard == 0


@pytest.mark.parametrize("eps", [0.0, 1e-3, 0.3])
@pytest.mark.parametrize("depth", [0.02, 1e-4])
def test_near_grazes(depth, eps):
    """One that turns back before the guard is no crossing; one that goes a little beyond is, there and back."""

    def f(x, b):
        return np.array([1.0, -2.0 * x[0]])

    options = {"span": (-1.0, 1.0), "x0": (-1.0, -1.0), "eps": eps}
    before = go(f, lambda x: np.array([x[1] - depth]), **options)
    assert before.status == 0
    assert not before.crossings.guard.size
    assert bool(before.violations) == (eps > depth)
    beyond = go(f, lambda x: np.array([x[1] + depth, -x[1] - depth]), reset=RESET, **options)
    assert beyond.status == 0
    assert beyond.crossings.guard.tolist() == [0, 1]
    assert beyond.crossings.t == pytest.approx([-np.sqrt(depth), np.sqrt(depth)], rel=1e-3)


def test_zeno():
    """The field points to the guard from both sides."""
    result = go(lambda x, b: [-1.0 if b[0] else 1.0], lambda x: [x[0], -x[0]], x0=(-0.5,), reset=RESET)
    assert result.status == -4
    assert "Zeno" in result.message
    assert result.t[-1] == pytest.approx(0.5, abs=1e-9)


def test_not_a_number():
    result = go(lambda x, b: [np.nan if b[0] else 1.0], lambda x: [x[0] - 0.5])
    assert result.status == -2
    assert result.t[-1] == pytest.approx(0.5)
    assert "not finite" in result.message
    result = go(lambda x, b: [1.0 if x[0] < 0.5 else np.nan], None)
    assert result.status == -2
    assert 0.49 < result.t[-1] <= 0.5
    assert go(lambda x, b: [np.inf], None).status == -2
    assert go(lambda x, b: [1.0], lambda x: [np.nan if x[0] > 0.5 else -1.0]).status == -2
    compiled = numba.njit(lambda x, b: np.array([np.nan if b[0] else 1.0]))
    assert go(compiled, numba.njit(lambda x: np.array([x[0] - 0.5]))).status == -2


def test_finite_escape():
    result = go(lambda x, b: [x[0] ** 2], None, x0=(1.0,), span=(0.0, 2.0))
    assert result.status in (-1, -2)
    assert result.t[-1] == pytest.approx(1.0, abs=1e-3)


def test_errors_in_users_functions_come_through():
    def f(x, b):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        go(f, None)


def test_liveness_is_reported_with_guard_and_state():
    """Guard 0 is approached until guard 1 is crossed, and then left."""
    result = go(
        lambda x, b: [-1.0 if b[1] else 1.0, 1.0], lambda x: [x[0] - 0.505, x[1] - 0.5], x0=(0.0, 0.0), eps=0.1
    )  # fmt: skip
    assert result.status == 0
    assert result.crossings.guard.tolist() == [1]
    (violation,) = result.violations
    assert violation.guard == 0
    assert violation.x == pytest.approx([0.5, 0.5])
    assert violation.rate == pytest.approx(-1.0)
    assert "guard 0" in violation.message


GOOD = {"f": TABLE[0], "h": TABLE[1], "Dh": TABLE[2], "t_span": (0.0, 0.5), "x0": START, "eps": 1e-3}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"f": lambda x, b: [1.0]}, r"f\(x, b\).*\(3,\).*shape \(1,\)"),
        ({"f": lambda x, b: ["a", 1, 2]}, r"f\(x, b\).*numbers"),
        ({"h": lambda x: 1.0}, r"h\(x\).*\(m,\).*shape \(\)"),
        ({"Dh": lambda x: np.eye(2)}, r"Dh\(x\).*\(3, 3\).*shape \(2, 2\)"),
        ({"h": None}, "Dh.*without h"),
        ({"f": 3}, "f: expected a function"),
        ({"t_span": (1.0, 0.0)}, "t_span.*later"),
        ({"t_span": (0.0, np.inf)}, "t_span.*finite"),
        ({"t_span": 1.0}, "t_span"),
        ({"x0": (np.nan, 0, 0)}, "x0.*finite"),
        ({"x0": ()}, "x0"),
        ({"eps": -1.0}, "eps.*≥ 0"),
        ({"eps": (1.0, 1.0)}, r"eps.*\(3,\)"),
        ({"reset": np.eye(2)}, r"reset.*\(3, 3\)"),
        ({"reset": np.eye(3)}, "reset.*arms itself"),
        ({"crossed": (0, 1)}, r"crossed.*\(3,\)"),
        ({"t_eval": (0.3, 0.1)}, "t_eval.*increasing"),
        ({"rtol": -1.0}, "rtol"),
        ({"atol": 0.0}, "atol.*> 0"),
        ({"atol": (1e-9, 1e-9)}, r"atol.*\(3,\)"),
        ({"reset": [[1.5], [0], []]}, "reset.*from 0 to 2"),
        ({"max_step": 0.0}, "max_step"),
        ({"args": 3}, "args.*tuple"),
        ({"f": COMPILED_TABLE[0]}, "mixture"),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(ss.InputError, match=message):
        ss.solve_ess(**(GOOD | change))


def test_zeno_by_resets():
    """Three guards that are past arm each other in a circle."""
    circle = [[1], [2], [0]]
    result = go(lambda x, b: [1.0], lambda x: [x[0] - 0.5] * 3, reset=circle)
    assert result.status == -4
    assert "circle" in result.message


@pytest.mark.parametrize("unit", [1e-13, 1.0, 1e9])
def test_units_of_time(unit):
    """A hopper, seen with another clock."""

    def f(x, b, k):
        dx = HOPPER[0](x, b, k)
        return dx[0] / unit, dx[1] / unit

    result = ss.solve_ess(f, *HOPPER[1:], (0.0, 2.0 * unit), (2.0, 0.0), 1e-4, args=(200.0,), reset=RESET)
    assert result.status == 0
    assert result.crossings.t / unit == pytest.approx([0.451523641, 0.695636587, 1.598683869, 1.842796815], abs=1e-5)


def test_long_spans_and_late_starts():
    assert go(lambda x, b: [0.0], None, span=(0.0, 1e10)).status == 0
    assert go(lambda x, b: [-x[0]], None, span=(0.0, 100.0), x0=(1.0,), first_step=1e-14).status == 0
    late = go(lambda x, b: [1.0], lambda x: [x[0] - 0.5], span=(1e6, 1e6 + 1))
    assert late.crossings.t == pytest.approx([1e6 + 0.5], abs=1e-9)


def test_a_peak_beside_an_entry():
    """Guard 1 rises above 0 from x = 0.15 to 0.35, within a step at whose end guard 0 is entered."""

    def guards(x):
        return [x[0] - 0.9, 0.01 - (x[0] - 0.25) ** 2]

    result = go(lambda x, b: [1.0], guards, first_step=1.0, eps=1e-5)
    assert result.crossings.guard.tolist() == [1, 0]
    assert result.crossings.t == pytest.approx([0.15, 0.9], abs=1e-5)


def test_a_guard_armed_behind_must_come_back():
    """Guard 0 arms guard 1 where it is at 0.7 or more, and never below."""
    result = go(
        lambda x, b: [1.0], lambda x: [x[0] - 0.1, 1.0 + 0.3 * np.cos(x[0])], span=(0.0, 10.0), reset=[[1], []]
    )  # fmt: skip
    assert result.crossings.guard.tolist() == [0]
    assert result.status == 0


@pytest.mark.parametrize("wrong", [[7.0], 7.0, [1.0, 2.0, 3.0]])
def test_wrong_shapes_later(wrong):
    def guards(x):
        return [x[0] - 0.5]

    with pytest.raises(ss.InputError, match=r"f\(x, b\).*\(2,\).*as at the start"):
        go(lambda x, b: wrong if b[0] else [1.0, 0.0], guards, x0=(0.0, 0.0))
    with pytest.raises(ss.InputError, match=r"h\(x\).*as at the start"):
        go(lambda x, b: [1.0, 0.0], lambda x: wrong if x[0] > 0.5 else [-1.0, -1.0], x0=(0.0, 0.0))


def test_wrong_lengths_compiled():
    short = numba.njit(lambda x, b: np.ones(1) if b[0] else np.ones(2))
    result = go(short, numba.njit(lambda x: np.array([x[0] - 0.5])), x0=(0.0, 0.0))
    assert result.status == -2
    assert "wrong length" in result.message


@pytest.mark.parametrize("spoilt", [0, 1])
def test_functions_may_not_write(spoilt):
    def f(*arguments):
        arguments[spoilt][0] = True
        return [1.0]

    calls = iter(range(10))

    def later(x, b):
        return [1.0] if next(calls) == 0 else f(x, b)

    with pytest.raises(ValueError, match="read-only"):
        go(later, lambda x: [x[0] - 0.5])


def test_the_mask_to_begin_with():
    def f(x, b):
        assert b[1]  # the region in which guard 1 is not crossed does not exist
        return [1.0]

    result = go(f, lambda x: [x[0] - 0.5, x[0] - 0.2], crossed=(False, True))
    assert result.crossings.guard.tolist() == [0]


def test_trust():
    """The paper's way through a near graze, and ours: the guard is 0.02 beyond the highest point."""

    def f(x, b):
        return np.array([1.0, -2.0 * x[0]])

    options = {"span": (-1.0, 1.0), "x0": (-1.0, -1.0), "eps": 0.3}
    careless = go(f, lambda x: np.array([x[1] - 0.02]), trust=np.inf, **options)
    assert careless.crossings.guard.tolist() == [0]
    assert not careless.violations
    careful = go(f, lambda x: np.array([x[1] - 0.02]), **options)
    assert not careful.crossings.guard.size
    assert "straight way" in careful.violations[0].message


def test_liveness_bound():
    slow = go(lambda x, b: [0.5], lambda x: [x[0] - 0.2], eps=0.1, liveness=1.0)
    assert slow.status == -3
    assert "≤ 1" in slow.violations[0].message


def test_tolerance_of_each_component():
    """A fast oscillator that nobody cares about beside a slow one."""

    def f(x, b):
        return np.array([x[1], -x[0], x[3], -1e4 * x[2]])

    careful = go(f, None, x0=(1.0, 0.0, 1e-3, 0.0), rtol=1e-12, atol=1e-9)
    careless = go(f, None, x0=(1.0, 0.0, 1e-3, 0.0), rtol=1e-12, atol=(1e-9, 1e-9, 1.0, 1.0))
    assert careless.nsteps < careful.nsteps / 3
    assert careless.x[:2] == pytest.approx([np.cos(1.0), -np.sin(1.0)], abs=1e-7)


def test_rows_of_dh_as_tuples():
    plain = ss.solve_ess(*COMPILED_TABLE, (0.0, 0.5), START, 1e-3)
    rows = numba.njit(lambda x: ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0)))
    assert ss.solve_ess(*COMPILED_TABLE[:2], rows, (0.0, 0.5), START, 1e-3).x == pytest.approx(plain.x, abs=1e-14)


def test_compiled_functions_take_numbers_and_arrays():
    functions = {
        "f": numba.njit(lambda x, b, a: x),
        "h": numba.njit(lambda x, a: x),
        "Dh": numba.njit(lambda x, a: np.eye(3)),
    }
    with pytest.raises(ss.InputError, match="args"):
        ss.solve_ess(**(GOOD | functions), args=(object(),))


def test_dense_output_outside():
    result = ss.solve_ess(**GOOD, dense_output=True)
    with pytest.raises(ss.InputError, match=r"from 0 to 0\.5"):
        result.sol(0.6)
