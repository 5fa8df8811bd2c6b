"""Elimination of joint rows from large sparse problems: it stays sparse, and redundant rows are no obstacle."""

import numpy as np
import pytest
import scipy.sparse as sp

import stickslip as ss
from stickslip.maximal import Joint
from stickslip.solvers import elimination
from stickslip.solvers.elimination import eliminate


def rows_and_delassus(nb, contacts, seed, copies=1):
    """Joint rows along a chain of bodies, each ``copies`` times, and contact rows, each of one body: G (m, nv), W."""
    rng = np.random.default_rng(seed)
    bodies = nb // copies + 1
    joints = sp.lil_array((nb, 3 * bodies))
    for k in range(nb):
        j = k // copies
        axis = np.random.default_rng(j).normal(size=3)
        joints[k, 3 * j : 3 * j + 3], joints[k, 3 * j + 3 : 3 * j + 6] = -axis, axis
    touching = sp.lil_array((contacts, 3 * bodies))
    for k in range(contacts):
        body = rng.integers(bodies)
        touching[k, 3 * body : 3 * body + 3] = rng.normal(size=3)
    G = sp.csr_array(sp.vstack([joints, touching]))
    return G, sp.csr_array(G @ G.T)


def check(G, W, nb, removed):
    """With the joints' impulses, any contact impulses leave the joints closed, and contacts see what is left."""
    rng = np.random.default_rng(1)
    v = rng.normal(size=G.shape[1])
    contact = rng.normal(size=G.shape[0] - nb)
    joints = removed.joints(contact)
    after = G @ (v + G.T @ np.concatenate([joints, contact]))
    np.testing.assert_allclose(after[:nb], 0.0, atol=1e-6)
    np.testing.assert_allclose(removed.W @ contact + removed.b, after[nb:], atol=1e-6)
    return joints


@pytest.mark.parametrize(("nb", "copies"), [(30, 1), (30, 2), (700, 1), (700, 2)])
def test_joints_stay_closed(nb, copies):
    """Up to 600 rows W_bb is factored densely, beyond by a sparse LU; doubled rows make it singular."""
    G, W = rows_and_delassus(nb, 60, seed=0, copies=copies)
    v = np.random.default_rng(1).normal(size=G.shape[1])
    removed = eliminate(W, G @ v, nb)
    joints = check(G, W, nb, removed)
    if copies == 2:  # the smallest impulses share the load
        np.testing.assert_allclose(joints[::2], joints[1::2], atol=1e-5 * np.abs(joints).max())
    dense = eliminate(W.toarray(), G @ v, nb)
    left = removed.W.toarray() if sp.issparse(removed.W) else removed.W
    np.testing.assert_allclose(left, dense.W, atol=1e-6)


def test_known_solutions_are_used(monkeypatch):
    G, W = rows_and_delassus(30, 300, seed=0)
    monkeypatch.setattr(elimination, "_solve", None)
    Wbb = W[:30, :30].toarray()
    removed = eliminate(W, G @ np.ones(G.shape[1]), 30, lambda right: np.linalg.solve(Wbb, right))
    assert removed.response.shape == (30, 300)


def test_a_hinge_among_many_spheres_leaves_their_problem_sparse():
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    for k in range(600):
        x, y = divmod(k, 25)
        scene.add_sphere(0.1, pos=(0.3 * x, 0.3 * y, 0.1), mass=1.0, friction=0.5, name=f"ball{k}")
    hinge = Joint("revolute", "ball0", "ball1", anchor=(0.0, 0.15, 0.1))
    sim = ss.Simulation(
        scene, method="stewart-trinkle/pgs", dt=0.01, coordinates="maximal", extra_joints=[hinge], form="lcp"
    )
    sim.observe()
    assert sim.matrices.bilateral == 5
    problem = sim.problem
    assert sp.issparse(problem.A)
    assert problem.A.nnz < 40 * problem.n
    sim.step(1)
    assert np.abs(sim.state.v).max() < 1e-6
    assert np.abs(sim.stepper.joint_error()).max() < 1e-9
