"""FCLib's files: types as its library writes them, round trips, elimination, and what is refused."""

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

import stickslip as ss
from stickslip.errors import InputError, RecordingError
from stickslip.problem_files.fclib import is_fclib, read_fclib, write_fclib, write_fclib_solution
from stickslip.problem_files.fclib_matrix import FCLibMatrix, fclib_matrix
from stickslip.problem_files.fclib_problem import FCLibGlobal, FCLibInfo, FCLibLocal, FCLibProblem, from_friction
from stickslip.solvers import FrictionProblem, judge, solve


def matrix(m, n, seed=0, density=0.4):
    return sp.random_array((m, n), density=density, rng=np.random.default_rng(seed), format="csr")


def global_problem(seed=0, nc=3, n=14, neq=0, spacedim=3, **changes):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    parts = {
        "M": A @ A.T + n * np.eye(n),
        "H": rng.normal(size=(n, spacedim * nc)),
        "f": rng.normal(size=n),
        "w": rng.normal(size=spacedim * nc),
        "mu": rng.uniform(0.1, 1.0, nc),
        "spacedim": spacedim,
    }
    if neq:
        parts |= {"G": rng.normal(size=(n, neq)), "b": rng.normal(size=neq)}
    return FCLibGlobal(**{**parts, **changes})


def friction_problem(seed=0, nc=3, nb=2):
    rng = np.random.default_rng(seed)
    n = nb + 3 * nc
    A = rng.normal(size=(n, n))
    return FrictionProblem(A @ A.T + np.eye(n), rng.normal(size=n), rng.uniform(0.1, 1.0, nc), nb)


def write_as_fclib(path, spacedim=3, nz=-2, triplets="columns", **changes):
    """A local problem as ``fclib.h`` writes it, call by call; returns (W, q, mu)."""
    half = matrix(6, 6)
    W = (half + half.T + 3 * sp.eye_array(6)).toarray()
    q, mu = np.arange(6.0), np.array([0.3, 0.7])
    stored = {-1: sp.csc_array(W), -2: sp.csr_array(W)}.get(nz)
    if stored is not None:
        p, i, x = stored.indptr, stored.indices, stored.data
    else:
        coo = sp.coo_array(W)
        (rows, columns), x, nz = coo.coords, coo.data, coo.nnz
        p, i = (columns, rows) if triplets == "columns" else (rows, columns)
    values = {
        "fclib_local/spacedim": np.array([spacedim], np.int32),
        "fclib_local/W/nzmax": np.array([len(x)], np.int32),
        "fclib_local/W/m": np.array([6], np.int32),
        "fclib_local/W/n": np.array([6], np.int32),
        "fclib_local/W/nz": np.array([nz], np.int32),
        "fclib_local/W/p": p.astype(np.int32),
        "fclib_local/W/i": i.astype(np.int32),
        "fclib_local/W/x": x,
        "fclib_local/vectors/q": q,
        "fclib_local/vectors/mu": mu,
        **changes,
    }
    with h5py.File(path, "w") as file:
        for name, value in values.items():
            if value is not None:
                file[name] = value
    return W, q, mu


@pytest.mark.parametrize("nz", [-1, -2, 1])
def test_a_file_of_the_library_is_read(tmp_path, nz):
    W, q, mu = write_as_fclib(tmp_path / "a.hdf5", nz=nz)
    problem = read_fclib(tmp_path / "a.hdf5").friction
    np.testing.assert_array_equal(problem.W, W)
    np.testing.assert_array_equal(problem.b, q)
    np.testing.assert_array_equal(problem.friction, mu)
    assert problem.bilateral == 0
    assert is_fclib(tmp_path / "a.hdf5")


def test_triplets_are_csparses_unless_only_the_header_s_reading_fits():
    A = sp.coo_array(matrix(4, 9, density=0.6))
    (rows, columns), x = A.coords, A.data
    for p, i in ((columns, rows), (rows, columns)):
        np.testing.assert_array_equal(FCLibMatrix(4, 9, len(x), p, i, x).array().toarray(), A.toarray())
    square = sp.coo_array(matrix(4, 4, density=0.6))
    (rows, columns), x = square.coords, square.data
    np.testing.assert_array_equal(FCLibMatrix(4, 4, len(x), columns, rows, x).array().toarray(), square.toarray())
    twice = FCLibMatrix(2, 2, 2, np.array([1, 1]), np.array([0, 0]), np.array([2.0, 3.0]))
    np.testing.assert_array_equal(twice.array().toarray(), [[0, 5.0], [0, 0]])


def test_types_and_shapes_are_the_library_s(tmp_path):
    path = tmp_path / "a.hdf5"
    problem = friction_problem()
    info = FCLibInfo("a title", "in words", "none known", {"step": 7})
    write_fclib(path, problem, solution=np.zeros(problem.n), guesses=[np.ones(problem.n)], info=info)
    with h5py.File(path) as file:
        assert sorted(file) == ["fclib_local", "guesses", "solution"]
        local = file["fclib_local"]
        assert sorted(local) == ["R", "V", "W", "info", "spacedim", "vectors"]
        for name in ("spacedim", "W/nzmax", "W/m", "W/n", "W/nz", "R/nz", "V/m"):
            assert (local[name].shape, local[name].dtype) == ((1,), np.int32), name
        assert local["W/nz"][0] == -1
        assert (local["W/p"].shape, local["W/p"].dtype) == ((10,), np.int32)
        assert local["W/i"].shape == local["W/x"].shape == (int(local["W/nzmax"][0]),)
        assert local["W/x"].dtype == local["vectors/q"].dtype == np.float64
        assert (local["vectors/q"].shape, local["vectors/mu"].shape, local["vectors/s"].shape) == ((9,), (3,), (2,))
        title = local["info/title"].id
        assert title.get_type().get_size() == len("a title") + 1
        assert not title.get_type().is_variable_str()
        assert title.get_type().get_strpad() == h5py.h5t.STR_NULLTERM
        assert title.get_space().get_simple_extent_type() == h5py.h5s.SCALAR
        assert sorted(file["solution"]) == ["l", "r", "u"]
        assert (file["guesses/number_of_guesses"].shape, file["guesses/number_of_guesses"][0]) == ((1,), 1)
        np.testing.assert_array_equal(file["guesses/1/r"], np.ones(9))
    back = read_fclib(path)
    assert back.info == info
    for name in ("W", "b", "friction"):
        np.testing.assert_array_equal(getattr(back.friction, name), getattr(problem, name))
    assert back.friction.bilateral == 2
    np.testing.assert_array_equal(back.impulses(back.guesses[0]), np.ones(problem.n))
    np.testing.assert_array_equal(back.solution.u, problem.b[2:])


@pytest.mark.parametrize("neq", [0, 2])
@pytest.mark.parametrize("spacedim", [2, 3])
def test_global_problems_go_round(tmp_path, neq, spacedim):
    path = tmp_path / "a.hdf5"
    problem = global_problem(neq=neq, spacedim=spacedim, info=FCLibInfo("t"))
    p = solve(FCLibProblem(whole=problem).friction, "fischer-newton").z
    write_fclib(path, problem, solution=p)
    back = read_fclib(path)
    for name in ("M", "H") + (("G",) if neq else ()):
        for part in ("p", "i", "x"):
            a, b = (getattr(getattr(x, name), part) for x in (back.whole, problem))
            assert a.tobytes() == b.tobytes()
    for name in ("f", "w", "mu"):
        assert getattr(back.whole, name).tobytes() == getattr(problem, name).tobytes()
    again = tmp_path / "b.hdf5"
    write_fclib(again, back)
    assert (
        again.read_bytes() == path.read_bytes() or read_fclib(again).solution.r.tobytes() == back.solution.r.tobytes()
    )


@pytest.mark.parametrize("neq", [0, 3])
@pytest.mark.parametrize("spacedim", [2, 3])
def test_elimination_keeps_the_global_equations(neq, spacedim):
    """A solution of the local problem, with its velocities, solves the equations of the global one."""
    whole = global_problem(2, nc=4, n=20, neq=neq, spacedim=spacedim)
    file = FCLibProblem(whole=whole)
    result = solve(file.friction, "fischer-newton", tolerance=1e-11)
    assert result.success
    found = file.answer(result.z)
    M, H = whole.M.array(), whole.H.array()
    pushed = H @ found.r + whole.f
    if neq:
        G = whole.G.array()
        pushed = pushed + G @ found.l
        np.testing.assert_allclose(G.T @ found.v + whole.b, 0, atol=1e-9)
    np.testing.assert_allclose(M @ found.v, pushed, atol=1e-9)
    np.testing.assert_allclose(H.T @ found.v + whole.w, found.u, atol=1e-9)
    r, u = found.r.reshape(-1, spacedim), found.u.reshape(-1, spacedim)
    slip, grip = np.linalg.norm(u[:, 1:], axis=1), np.linalg.norm(r[:, 1:], axis=1)
    np.testing.assert_allclose(np.minimum(r[:, 0], u[:, 0]), 0, atol=1e-9)
    assert np.all(grip <= whole.mu * r[:, 0] + 1e-9)
    np.testing.assert_allclose(np.sum(r[:, 1:] * u[:, 1:], axis=1), -whole.mu * r[:, 0] * slip, atol=1e-9)
    assert judge(file.friction, file.impulses(found)).merit_1 < 1e-9


def test_solutions_are_replaced(tmp_path):
    path = tmp_path / "a.hdf5"
    problem = friction_problem(nb=0)
    write_fclib(path, problem)
    file = read_fclib(path)
    assert file.solution is None
    write_fclib_solution(path, file.answer(np.zeros(9)))
    write_fclib_solution(path, file.answer(solve(problem, "fischer-newton").z))
    assert judge(problem, read_fclib(path).solution.r).natural < 1e-8
    with pytest.raises(InputError, match=r"solution/u: expected a vector of 9 numbers, got \(6,\)"):
        write_fclib_solution(path, from_friction(friction_problem(nc=2, nb=0)).answer(np.zeros(6)))


WRONG = {
    "no groups": ({"fclib_local/vectors/q": None}, "fclib_local/vectors/q: expected an array of numbers, got none"),
    "no W": (
        {f"fclib_local/W/{x}": None for x in ("nzmax", "m", "n", "nz", "p", "i", "x")},
        "fclib_local/W: expected a group",
    ),
    "nz": ({"fclib_local/W/nz": np.array([-3])}, "W/nz: expected -2 .* got -3"),
    "mu": ({"fclib_local/vectors/mu": np.array([0.1, -0.5])}, "≥ 0, got '-0.5 of contact 1'"),
    "q": ({"fclib_local/vectors/q": np.zeros(5)}, r"vectors/q: expected a vector of 6 numbers, got \(5,\)"),
    "nan": ({"fclib_local/vectors/q": np.full(6, np.nan)}, "vectors/q: expected finite numbers"),
    "mu size": ({"fclib_local/vectors/mu": np.zeros(3)}, r"vectors/mu: expected a vector of 2 numbers, got \(3,\)"),
    "spacedim": ({"spacedim": 4}, "spacedim: expected 2 or 3, got 4"),
    "not square": ({"fclib_local/W/n": np.array([7])}, r"W: expected a square matrix, got \(6, 7\)"),
    "rows": ({"fclib_local/W/m": np.array([5])}, r"W/p: expected 6 numbers, by nz = -2, got 7"),
    "index": ({"fclib_local/W/n": np.array([2])}, "W/i: expected numbers from 0 to 1, got "),
    "reals": ({"fclib_local/W/i": np.zeros(40)}, "W/i: expected whole numbers, got float64"),
    "short": ({"fclib_local/W/x": np.zeros(2)}, "W/x: expected .* numbers, got 2"),
    "pointers": ({"fclib_local/W/p": np.array([0, 3, 2, 4, 5, 6, 7])}, "W/p: expected numbers that rise from 0"),
    "group": (
        {"fclib_local/vectors/q": None, "fclib_local/vectors/q/x": np.zeros(6)},
        "q: expected an array of numbers, got a group",
    ),
    "lonely": ({"fclib_local/R/m": np.array([1])}, "fclib_local/R/n: expected an array of numbers, got none"),
    "solution": (
        {"solution/u": np.zeros(6), "solution/r": np.zeros(3)},
        r"solution/r: expected a vector of 6 numbers, got \(3,\)",
    ),
    "empty": (
        {"fclib_local/W/m": np.array([0]), "fclib_local/W/n": np.array([0]), "fclib_local/W/p": np.array([0])},
        "W: expected 3 rows per contact, of at least one contact, got '0 rows'",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_are_refused_by_name(tmp_path, name):
    changes, message = WRONG[name]
    path = tmp_path / "wrong.hdf5"
    write_as_fclib(path, **changes)
    with pytest.raises(RecordingError, match=message) as error:
        read_fclib(path)
    assert "wrong.hdf5" in str(error.value)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(RecordingError, match="no such file"):
        read_fclib(tmp_path / "none.hdf5")
    text = tmp_path / "text.hdf5"
    text.write_text("a text")
    with pytest.raises(RecordingError, match="not HDF5"):
        read_fclib(text)
    with pytest.raises(RecordingError, match="another kind of file"):
        write_fclib(text, friction_problem())
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as file:
        file["x"] = 1
    assert not is_fclib(other)
    assert not is_fclib(text)
    with pytest.raises(RecordingError, match=r"expected a group /fclib_local or /fclib_global, got \['x'\]"):
        read_fclib(other)
    with pytest.raises(RecordingError, match="got another HDF5 file"):
        write_fclib(other, friction_problem())


def test_singular_masses_and_wrong_shapes_of_global_problems():
    with pytest.raises(InputError, match="M: expected a matrix that can be inverted, got a singular one"):
        _ = global_problem(M=np.zeros((14, 14)), spacedim=3).local
    with pytest.raises(InputError, match=r"M: expected a matrix 14 × 14, as H has rows, got \(13, 13\)"):
        global_problem(M=np.eye(13))
    with pytest.raises(InputError, match="fclib_global: expected G and vectors/b"):
        global_problem(G=np.zeros((14, 1)))
    with pytest.raises(InputError, match="fclib_local: expected V, R and vectors/s"):
        FCLibLocal(np.eye(3), np.zeros(3), np.ones(1), V=np.zeros((3, 1)))
    with pytest.raises(InputError, match="problem: expected a local or a global problem"):
        FCLibProblem()


def test_dense_and_sparse_problems_are_written_alike(tmp_path):
    problem = friction_problem(nb=0)
    sparse = FrictionProblem(sp.csr_array(problem.W), problem.b, problem.friction)
    for name, given in (("a", problem), ("b", sparse)):
        write_fclib(tmp_path / name, given)
    a, b = (read_fclib(tmp_path / name).local.W for name in "ab")
    for part in ("p", "i", "x"):
        np.testing.assert_array_equal(getattr(a, part), getattr(b, part))
    assert fclib_matrix(a) is a
    assert ss.problem_files.read_fclib is read_fclib
