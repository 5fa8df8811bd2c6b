"""The judge against definitions written out, and against answers that are known."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import stickslip as ss
from stickslip.errors import InputError
from stickslip.solvers import ConeProblem, FrictionProblem, LinearProblem, judge

M = 2.0  # kg; a point mass on a plane: W = 1/m


def block(b, mu=0.5, relaxed=False):
    W = np.eye(3) / M
    return ConeProblem(W, b, [mu], np.zeros(3)) if relaxed else FrictionProblem(W, b, [mu])


def random_problem(rng, nc=3, nb=2):
    n = nb + 3 * nc
    A = rng.normal(size=(n, n))
    return FrictionProblem(A @ A.T, rng.normal(size=n), rng.uniform(0.1, 1.0, nc), nb)


# b, the answer p of Coulomb's law by hand
KNOWN = {
    "separating": ([0.3, 1.0, 0.0], [0.0, 0.0, 0.0]),
    "sticking": ([-1.0, 0.3, -0.2], [2.0, -0.6, 0.4]),
    "sliding": ([-1.0, 3.0, 4.0], [2.0, -0.6, -0.8]),
    "frictionless": ([-1.0, 0.0, 0.0], [2.0, 0.0, 0.0]),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_answers_are_free_of_fault(name):
    b, p = KNOWN[name]
    verdict = judge(block(b), np.array(p))
    for key, value in verdict.numbers().items():
        if key != "fischer_burmeister":
            assert value == pytest.approx(0.0, abs=1e-15), key
    assert np.isnan(verdict.contacts.angle[0]) == (name != "sliding")


def test_sliding_answer_of_the_relaxed_problem():
    """It lifts off with u_n = μ·|u_t|, which is a fault by Coulomb's law, and none by its own."""
    b, mu = np.array([-1.0, 3.0, 4.0]), 0.5
    # p = P_K(−M·b) since W is a multiple of 1: the nearest point of the cone
    x = -M * b
    normal = (x[0] + mu * np.hypot(*x[1:])) / (1 + mu**2)
    p = np.array([normal, *(mu * normal * x[1:] / np.hypot(*x[1:]))])
    own, coulomb = judge(block(b, mu, relaxed=True), p), judge(block(b, mu), p)
    for name in ("natural", "signorini", "cone", "dissipation", "angle", "merit_1"):
        assert getattr(own, name) == pytest.approx(0.0, abs=1e-14), name
    u = b + p / M
    assert u[0] == pytest.approx(mu * np.hypot(*u[1:]))
    assert coulomb.signorini == pytest.approx(min(p[0], u[0]))
    assert coulomb.dissipation == pytest.approx(0.0, abs=1e-14)


def test_each_fault_is_seen_by_its_own_measure():
    b, p = np.array([-1.0, 3.0, 4.0]), np.array([2.0, -0.6, -0.8])
    u = b + p / M
    speed = np.hypot(*u[1:])
    turned = judge(block(b), p + np.array([0, -0.08, 0.06]))  # perpendicular to p_t, hence out of the cone too
    assert turned.angle == pytest.approx(0.1 * (1 + 1 / M / speed), rel=0.02)  # u_t turns the other way
    weak = judge(block(b), p * [1, 0.5, 0.5])
    u_weak = b + p * [1, 0.5, 0.5] / M
    assert weak.cone == weak.signorini == 0.0
    assert weak.dissipation == pytest.approx(0.5 * np.hypot(*u_weak[1:]))  # half of the friction impulse 1 N s
    strong = judge(block(b), p * [1, 1.5, 1.5])
    assert strong.cone == pytest.approx(0.5 / np.sqrt(1 + 0.25))  # distance of (2, 1.5) from the line t = n/2
    pulling = judge(block([0.3, 0.0, 0.0]), np.array([-0.2, 0.0, 0.0]))
    assert pulling.signorini == pytest.approx(0.2)
    assert pulling.cone == pytest.approx(0.2)


def nearest_in_cone(x, mu):
    """By a search along the ray of the cone's mantle that is nearest by symmetry."""
    length = np.hypot(x[1], x[2])
    if length <= mu * x[0]:
        return x
    ray = np.array([1.0, *(mu * x[1:] / length)])
    found = minimize_scalar(lambda s: np.sum((x - s * ray) ** 2), bounds=(0.0, 100.0), method="bounded",
                            options={"xatol": 1e-12})  # fmt: skip
    return found.x * ray


@pytest.mark.parametrize("seed", range(4))
def test_definitions_written_out(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    z = rng.normal(size=problem.n)
    verdict = judge(problem, z)
    u = problem.W @ z + problem.b
    total = 0.0
    for i, mu in enumerate(problem.friction):
        rows = slice(2 + 3 * i, 5 + 3 * i)
        p, v = z[rows], u[rows]
        speed = np.hypot(v[1], v[2])
        each = type(verdict.contacts)(*(values[i] for values in verdict.contacts))
        assert each.signorini == pytest.approx(abs(min(p[0], v[0])))
        assert each.cone == pytest.approx(np.linalg.norm(p - nearest_in_cone(p, mu)), abs=1e-5)
        assert each.dissipation == pytest.approx(abs(p[1:] @ v[1:] + mu * p[0] * speed))
        hat = v + np.array([mu * speed, 0, 0])
        assert each.merit_1 == pytest.approx(np.linalg.norm(p - nearest_in_cone(p - hat, mu)), abs=1e-5)
        total += each.merit_1**2
    assert verdict.natural == pytest.approx(max(np.abs(u[:2]).max(), verdict.contacts.natural.max()))
    merit = np.sqrt(total) / (1 + np.sqrt(np.linalg.norm(problem.b[2:])))
    merit += np.linalg.norm(u[:2]) / (1 + np.linalg.norm(problem.b[:2]))
    assert verdict.merit_1 == pytest.approx(merit)


@pytest.mark.parametrize("kind", [FrictionProblem, lambda W, b, mu: ConeProblem(W, b, mu, np.zeros(3))])
def test_a_contact_without_friction_may_leave(kind):
    """Joint limits are such contacts; one that approaches without an impulse is at fault."""
    leaves, meets = (kind(np.eye(3), [speed, 0.0, 0.0], [0.0]) for speed in (17.0, -17.0))
    assert judge(leaves, np.zeros(3)).natural == 0.0
    assert judge(meets, np.zeros(3)).natural == 17.0
    assert judge(meets, np.array([17.0, 0.0, 0.0])).natural == 0.0


def test_sparse_and_dense_are_judged_alike():
    import scipy.sparse as sp

    problem = random_problem(np.random.default_rng(5))
    z = np.random.default_rng(6).normal(size=problem.n)
    same = FrictionProblem(sp.csr_array(problem.W), problem.b, problem.friction, problem.bilateral)
    a, b = judge(problem, z).numbers(), judge(same, z).numbers()
    assert {k: v for k, v in a.items() if v} == pytest.approx({k: v for k, v in b.items() if v})


def test_other_problems_and_bad_answers():
    lcp = LinearProblem(np.eye(2), np.array([-1.0, 1.0]))
    assert judge(lcp, np.array([1.0, 0.0])).numbers()["natural"] == 0.0
    assert judge(lcp, np.zeros(2)).fischer_burmeister == pytest.approx(2.0)
    assert judge(lcp, np.zeros(2)).signorini is None
    box = LinearProblem(np.eye(1), -np.ones(1), upper=np.array([0.5]))
    assert judge(box, np.array([0.5])).fischer_burmeister is None
    lost = judge(block([-1.0, 3.0, 4.0]), np.full(3, np.nan))
    assert lost.natural == lost.signorini == lost.merit_1 == lost.cone == np.inf
    with pytest.raises(InputError, match="vector of 3 numbers"):
        judge(block([-1.0, 3.0, 4.0]), np.zeros(4))


def test_it_prints_with_units():
    text = str(ss.solvers.judge(block([-1.0, 3.0, 4.0]), np.zeros(3)))
    assert "signorini           1.00e+00 N s or m/s" in text
    assert "fischer" not in text
