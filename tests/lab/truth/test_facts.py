"""The expected values are those of their derivations, computed here once more; facts.toml is well-formed."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk, ellipkinc

from stickslip.errors import InputError
from stickslip.lab.truth.cases import CASES
from stickslip.lab.truth.facts import Fact, facts, read_facts

G = 9.81


def value(case: str, quantity: str) -> float:
    (fact,) = (fact for fact in facts()[case] if fact.quantity == quantity)
    return fact.value


def rod_while_it_slides(mu: float, speed: float, seconds: float) -> float:
    """Angular velocity by Newton's equations of a free rod with a tip that is kept on the floor: the normal force from
    the tip's vertical acceleration, a linear equation in N; no formula of the scene's."""

    def rates(_, y):
        angle, spin = y[:2]
        arm = -0.5 * np.array([np.cos(angle), np.sin(angle)])  # from the centre to the tip

        def tip_acceleration(normal):
            force = np.array([mu * normal, normal])
            turn = (arm[0] * force[1] - arm[1] * force[0]) * 12.0
            centre = force - np.array([0.0, G])
            return (centre + turn * np.array([-arm[1], arm[0]]) - spin**2 * arm)[1], turn, centre

        at_zero, at_one = tip_acceleration(0.0)[0], tip_acceleration(1.0)[0]
        _, turn, centre = tip_acceleration(-at_zero / (at_one - at_zero))
        return [spin, turn, *y[4:], *centre]

    start = [np.arctan(2.0), 0.0, 0.0, 0.0, -speed, 0.0]
    return solve_ivp(rates, (0, seconds), start, rtol=1e-12, atol=1e-14).y[1, -1]


def rod_about_its_end(speed: float, seconds: float) -> float:
    angle = np.arctan(2.0)
    start = [angle, speed * 0.5 * np.sin(angle) / (1 / 3)]
    swing = solve_ivp(lambda _, y: [y[1], -G * 0.5 * np.cos(y[0]) * 3], (0, seconds), start, rtol=1e-12, atol=1e-14)
    return swing.y[1, -1]


def flips(count: int) -> float:
    """When ω₂ passes zero, by Jacobi's functions: ω₂ = A·sn(a·t + b | m), from the energy and the momentum."""
    inertia, spin = np.array([1.0, 2.0, 3.0]), np.array([0.1, 2.0, 0.1])
    T2, L2 = inertia @ spin**2, (inertia * spin) @ (inertia * spin)
    i1, i2, i3 = inertia
    if T2 * i2 > L2:  # it precesses about the other axis: 1 and 3 change their roles
        i1, i3 = i3, i1
    rate = np.sqrt((i3 - i2) * (L2 - T2 * i1) / (i1 * i2 * i3))
    m = (i2 - i1) * (T2 * i3 - L2) / ((i3 - i2) * (L2 - T2 * i1))
    amplitude = np.sqrt((T2 * i3 - L2) / (i2 * (i3 - i2)))
    start = ellipkinc(np.arcsin(spin[1] / amplitude), m)  # ω₂ grows at first: ω₃·ω₁ > 0
    return (2 * count * ellipk(m) - start) / rate


def test_values_follow_from_their_derivations():
    slope, ramp, wedge = np.deg2rad(20.0), 0.3, 0.35
    s, c, t = np.sin(wedge), np.cos(wedge), np.tan(wedge)
    mu = 0.9 * t
    # two jaws and the wedge: 1·a_w = 2·N·(s − μ·c), 1·a_j = F − N·(c + μ·s), a_j = t·a_w
    normal, lift = np.linalg.solve([[2 * (s - mu * c), -1.0], [c + mu * s, t]], [0.0, 10.0])
    assert normal > 0
    known = {
        ("incline", "acceleration"): G * (np.sin(slope) - 0.3 * np.cos(slope)),
        ("stopping-distance", "distance"): 2.0**2 / (2 * 0.3 * G),
        ("sliding-ball", "speed"): 10 / 7,
        ("sliding-ball", "grip_time"): 0.99 * 2 * 2.0 / (7 * 0.5 * G),
        ("rolling-ball", "rolling"): 5 / 7 * G * np.sin(ramp),
        ("rolling-ball", "sliding"): G * (np.sin(ramp) - 0.05 * np.cos(ramp)),
        ("bouncing-ball", "first_height"): 0.7**2,
        ("bouncing-ball", "rest_time"): np.sqrt(2 / G) * (1 + 2 * sum(0.7**k for k in range(1, 200))),
        ("newtons-cradle", "last"): np.pi / 6,
        ("wedge", "acceleration"): lift,
        ("painleve-rod", "sliding_spin"): rod_while_it_slides(0.8 * 4 / 3, 3.0, 0.02),
        ("painleve-rod", "jam_spin"): rod_about_its_end(1.0, 0.02),
        ("tumbling-body", "third_flip"): flips(3),
    }
    for (case, quantity), truth in known.items():
        assert value(case, quantity) == pytest.approx(truth, rel=1e-6), (case, quantity)


def test_every_case_has_facts_and_every_fact_a_case():
    assert set(facts()) == set(CASES)
    for case in facts().values():
        for fact in case:
            assert fact.why, fact
            assert fact.source, fact
            assert fact.meaning, fact
            assert fact.tolerance(1e-2) > 0.0 or float(fact.value).is_integer(), fact


@pytest.mark.parametrize(("bound", "passes"), [("=", (False, True, True, False)), ("≤", (True, True, True, False)),
                                               ("≥", (False, True, True, True))])  # fmt: skip
def test_tolerances_and_bounds(bound, passes):
    fact = Fact("c", "q", "m", 2.0, "m", "w", "s", bound, absolute=0.1, relative=0.05, per_second=10.0)
    assert fact.tolerance(1e-2) == pytest.approx(0.3)
    assert tuple(fact.target(x, 1e-2).met for x in (1.6, 1.8, 2.2, 2.4)) == passes
    assert not fact.target(float("nan"), 1e-2).met


GOOD = '[c.q]\nmeaning = "m"\nvalue = 1.0\nunit = "m"\nwhy = "w"\nsource = "s"\n'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("value = 1.0", 'value = "one"'), "c.q.value: expected a finite number"),
        (("value = 1.0", "value = nan"), "c.q.value: expected a finite number"),
        (('why = "w"\n', ""), "c.q: a fact needs why"),
        (('unit = "m"', 'unit = "m"\nabsolute = -1.0'), "c.q.absolute: expected a finite number ≥ 0"),
        (('unit = "m"', 'unit = "m"\nbound = "<"'), "c.q.bound: expected one of"),
        (('unit = "m"', 'unit = "m"\ntolerance = 1.0'), "tolerance"),
    ],
)
def test_malformed_facts_are_refused(change, message):
    assert read_facts(GOOD)["c"][0].value == 1.0
    with pytest.raises(InputError, match=message):
        read_facts(GOOD.replace(*change))
