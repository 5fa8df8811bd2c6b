"""Formulations: each form is the same problem, and each row says what the paper's equations say."""

import numpy as np
import pytest
import scipy.sparse as sp

from stickslip.errors import InputError
from stickslip.methods.rigid.assembly.matrices import Matrices
from stickslip.methods.rigid.formulations.contact_lcp import contact_lcp
from stickslip.methods.rigid.formulations.formulation import JOINT_FEEDBACK
from stickslip.methods.rigid.formulations.polygonal_cone import friction_directions, layout
from stickslip.methods.rigid.formulations.registry import FORMULATIONS, fitting_solvers, forms_for, make_formulation
from stickslip.solvers import SOLVERS, FrictionProblem, solve

DT = 0.01
POLYGONAL = [name for name, kind in FORMULATIONS.items() if "lcp" in kind.forms]


def random_matrices(contacts: int, bilateral: int = 0, seed: int = 0, **fields) -> Matrices:
    """A chain of free particles (as if each velocity were one): neighbours touch."""
    rng = np.random.default_rng(seed)
    nv = 3 * (contacts + 1)
    M = np.diag(rng.uniform(0.5, 2.0, nv))
    G = np.zeros((bilateral + 3 * contacts, nv))
    G[:bilateral] = rng.normal(size=(bilateral, nv))
    for c in range(contacts):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        G[bilateral + 3 * c : bilateral + 3 * c + 3, 3 * c : 3 * c + 3] = -turn
        G[bilateral + 3 * c : bilateral + 3 * c + 3, 3 * c + 3 : 3 * c + 6] = turn
    defaults = {
        "velocity": rng.normal(size=nv),
        "free_velocity": rng.normal(size=nv),
        "gap": rng.uniform(-1e-3, 5e-3, contacts),
        "friction": rng.uniform(0.1, 0.8, contacts),
        "restitution": np.zeros(contacts),
    }
    return Matrices(
        DT, sp.csr_array(M), sp.csr_array(G), bilateral=bilateral, delassus=G @ np.linalg.solve(M, G.T),
        **{**defaults, **fields},
    )  # fmt: skip


def sparse(m: Matrices) -> Matrices:
    m.delassus = sp.csr_array(m.delassus)
    return m


def softened(m: Matrices) -> Matrices:
    """The last two bilateral rows, if there are any, are soft."""
    soft = range(max(0, m.bilateral - 2), m.bilateral)
    m.compliance[soft], m.target[soft] = 0.3, -0.7
    m.delassus[soft, soft] += 0.3
    return m


@pytest.mark.parametrize("n", [3, 4, 7, 8])
def test_friction_directions(n):
    d = friction_directions(n)
    np.testing.assert_allclose(np.linalg.norm(d, axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(d.sum(axis=0), 0.0, atol=1e-14)
    assert tuple(d[0]) == (1.0, 0.0)


@pytest.mark.parametrize("bad", [2, 4.5, "four", -1])
def test_bad_directions(bad):
    with pytest.raises(InputError, match="directions"):
        make_formulation("stewart-trinkle", directions=bad)


def test_the_lcp_is_equation_7():
    m, nd = random_matrices(3), 5
    m.friction[1] = 0.0  # without friction it has no friction unknowns
    problem = make_formulation("stewart-trinkle", directions=nd).formulate(m)
    D = friction_directions(nd)
    n = np.kron(np.eye(3), [1.0, 0, 0]).T
    f = np.zeros((9, 2 * nd))
    for k, c in enumerate((0, 2)):
        f[3 * c + 1 : 3 * c + 3, nd * k : nd * (k + 1)] = D.T
    W, E = m.delassus, np.kron(np.eye(2), np.ones((nd, 1)))
    U = np.zeros((2, 3))
    U[0, 0], U[1, 2] = m.friction[[0, 2]]
    zero = np.zeros
    A = np.block([[n.T @ W @ n, n.T @ W @ f, zero((3, 2))], [f.T @ W @ n, f.T @ W @ f, E], [U, -E.T, zero((2, 2))]])
    b = np.concatenate([n.T @ m.free + m.gap / DT, f.T @ m.free, zero(2)])
    np.testing.assert_allclose(problem.A, A, atol=1e-14)
    np.testing.assert_allclose(problem.b, b, atol=1e-14)
    assert problem.kind == "lcp"
    assert sorted(np.concatenate(problem.blocks)) == list(range(problem.n))
    assert [len(block) for block in problem.blocks] == [nd + 2, 1, nd + 2]


def test_sparse_assembly_is_the_dense_one():
    for seed in range(3):
        m = random_matrices(12, seed=seed)
        m.friction[::4] = 0.0
        plan = layout(m.friction, friction_directions(6))
        dense, other = contact_lcp(m.delassus, m.free, plan), contact_lcp(sp.csr_array(m.delassus), m.free, plan)
        assert other.sparse
        np.testing.assert_allclose(other.A.toarray(), dense.A, atol=1e-14)
        np.testing.assert_allclose(other.b, dense.b, atol=1e-14)
        m.groups = np.array([0, 3, 4, 6, 8, 12])
        peg = make_formulation("peg", directions=6)
        dense, other = peg.formulate(m), peg.formulate(sparse(m))
        np.testing.assert_allclose(other.A.toarray(), dense.A, atol=1e-14)
        np.testing.assert_allclose(other.b, dense.b, atol=1e-14)


@pytest.mark.parametrize("name", POLYGONAL)
@pytest.mark.parametrize("bilateral", [0, 4])
@pytest.mark.parametrize("groups", [None, np.array([0, 1, 4, 6])])
def test_all_forms_have_one_solution(name, bilateral, groups):
    """A solution of the LCP, taken over to the other forms by its impulses, solves them too."""
    for seed in range(5):
        m = softened(random_matrices(6, bilateral, seed, groups=groups))
        options = {"touch": 2e-3} if name == "anitescu-potra" else {}
        lcp = make_formulation(name, form="lcp", **options)
        problem = lcp.formulate(m)
        result = solve(problem)
        assert result.success
        impulses = lcp.impulses(m, problem, result.z)
        v = m.new_velocity(impulses)
        held = m.compliance == 0.0
        wanted = np.where(held, -JOINT_FEEDBACK * (m.rows @ m.velocity)[:bilateral], m.target)
        np.testing.assert_allclose((m.rows @ v)[:bilateral] + m.compliance * impulses[:bilateral], wanted, atol=1e-11)
        again = lcp.warm_start(m, problem, impulses)
        assert residual(problem, again) < 1e-10
        for form in ("reduced", "mlcp"):
            other = make_formulation(name, form=form, **options)
            problem = other.formulate(m)
            assert problem.kind == ("lcp" if form == "reduced" and bilateral == 0 else "mlcp")
            z = other.warm_start(m, problem, impulses)
            assert residual(problem, z) < 1e-10
            np.testing.assert_allclose(other.impulses(m, problem, z), impulses, atol=1e-11)
            problem = other.formulate(sparse(softened(random_matrices(6, bilateral, seed, groups=groups))))
            assert residual(problem, z) < 1e-10


def residual(problem, z) -> float:
    return float(np.abs(z - np.clip(z - problem.function(z), problem.lower, problem.upper)).max())


def test_ncp_has_the_circular_cone():
    m = random_matrices(5, 3)
    ncp = make_formulation("stewart-trinkle", form="ncp")
    problem = ncp.formulate(m)
    assert isinstance(problem, FrictionProblem)
    assert problem.bilateral == 3
    np.testing.assert_array_equal(problem.W, m.delassus)
    z = np.arange(18.0)
    np.testing.assert_array_equal(ncp.impulses(m, problem, z), z)
    np.testing.assert_array_equal(ncp.warm_start(m, problem, z), z)


def test_ncp_of_touching_contacts_and_limits():
    m = random_matrices(4, gap=np.array([0.0, 1.0, 0.0, 0.0]))
    m.delassus[10:12], m.delassus[:, 10:12] = 0.0, 0.0  # a joint limit: no tangential rows
    ncp = make_formulation("anitescu-potra", form="ncp")
    problem = ncp.formulate(m)
    assert problem.n == 9
    assert np.all(problem.W.diagonal() > 0.0)
    impulses = ncp.impulses(m, problem, np.ones(9))
    np.testing.assert_array_equal(impulses, [1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1])


def test_peg_of_single_subcontacts_is_stewart_trinkle():
    m = random_matrices(7)
    st = make_formulation("stewart-trinkle").formulate(m)
    m.groups = np.arange(8)
    peg = make_formulation("peg").formulate(m)
    np.testing.assert_array_equal(peg.A, st.A)
    np.testing.assert_array_equal(peg.b, st.b)


def test_peg_keeps_one_gap_of_each_group():
    """max_j ψ_j⁺ ≥ 0, with an impulse of the primary only where it is zero."""
    pushed = 0
    for seed in range(20):
        m = random_matrices(9, seed=seed, groups=np.array([0, 3, 4, 9]))
        peg = make_formulation("peg")
        problem = peg.formulate(m)
        result = solve(problem)
        if not result.success:  # a group whose primary cannot mend it has no solution
            continue
        p = peg.impulses(m, problem, result.z)
        end = m.gap + DT * (m.rows @ m.new_velocity(p))[::3]
        for a, b in ((0, 3), (3, 4), (4, 9)):
            largest = end[a:b].max()
            assert largest >= -1e-9
            impulse = p[::3][a:b]
            assert np.count_nonzero(impulse) <= 1
            if impulse.any():
                pushed += 1
                assert largest < 1e-9
                assert np.argmax(impulse) == np.argmax(m.gap[a:b])
    assert pushed > 5


def test_primary_subcontacts():
    m = random_matrices(3, gap=np.array([-5e-6, 0.1, 0.05]), groups=np.array([0, 3]))
    for choice, expected in (("largest", 1), ("smallest", 0)):
        plan = make_formulation("peg", primary=choice).plan(m)
        assert plan.primary[0] == expected
    m.gap[:] = -0.3, 0.1, 0.1
    m.free[::3] = 0.0, -1.0, 1.0
    assert make_formulation("peg").plan(m).primary[0] == 2  # a tie is decided by the end of the step
    assert make_formulation("peg", primary="smallest").plan(m).primary[0] in (1, 2)


def test_restitution_acts_on_contacts_that_are_met_fast():
    m = random_matrices(4, gap=np.array([1e-3, 1e-3, 1e-3, 0.5]), restitution=np.array([0.5, 0.5, 0.0, 0.5]))
    m.approach[::3] = -1.0, -0.01, -1.0, -1.0
    m.free[::3] = -1.1, -0.2, -1.1, -1.1
    offset = make_formulation("stewart-trinkle", rest_speed=0.1).normal_offset(m)
    np.testing.assert_allclose(offset, [-0.5, 0.1, 0.1, 50.0])


SPLITTING = ("pgs", "jacobi", "fixed-point")


@pytest.mark.parametrize("bilateral", [0, 2])
@pytest.mark.parametrize("name", POLYGONAL)
@pytest.mark.parametrize("solver", SPLITTING)
def test_splitting_methods_refuse_velocities_as_unknowns(name, solver, bilateral):
    m = random_matrices(3, bilateral)
    with pytest.raises(InputError, match=r"'mlcp'.*'reduced'.*'lcp'"):
        solve(make_formulation(name, form="mlcp").formulate(m), solver)
    solve(make_formulation(name, form="reduced").formulate(m), solver)
    assert "mlcp" not in forms_for(FORMULATIONS[name], SOLVERS[solver])
    forms = forms_for(FORMULATIONS[name], SOLVERS[solver])
    assert tuple(form for form in forms if form != "ncp") == ("reduced", "lcp")
    if "ncp" in forms:  # where there are circular cones, the fixed point of their projections is taken
        assert (forms[0] == "ncp") == (solver == "fixed-point")
    assert "mlcp" in forms_for(FORMULATIONS[name], SOLVERS["fischer-newton"])


def test_which_solvers_fit():
    for name, kind in FORMULATIONS.items():
        fitting = fitting_solvers(kind)
        assert fitting[0] == kind.usual_solver == ("lemke" if name in POLYGONAL else "pgs")
        for solver in fitting:
            assert forms_for(kind, SOLVERS[solver])
        assert "ncp" not in kind.forms or name != "peg"
    with pytest.raises(InputError, match="can be written as"):
        make_formulation("peg", form="ncp")
    with pytest.raises(InputError, match="did you mean 'lcp'"):
        make_formulation("peg", form="lpc")
    with pytest.raises(InputError, match="option of peg"):
        make_formulation("peg", touch=1.0)
