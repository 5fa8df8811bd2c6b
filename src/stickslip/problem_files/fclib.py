"""FCLib's files: HDF5, one friction-contact problem each, with its solution and guesses.

    /fclib_local/{spacedim, W/, V/, R/, vectors/{q, mu, s}, info/{title, description, math_info}}
    /fclib_global/{spacedim, M/, H/, G/, vectors/{f, w, mu, b}, info/…}
    /solution/{u, r, v, l}        /guesses/{number_of_guesses, 1/{u, r, v, l}, 2/…}

A matrix is a group {nzmax, m, n, nz, p, i, x} and, with information on it, {comment, conditioning, determinant, rank}.
Numbers are arrays of one int (32 bits) or double; texts are scalar strings that end with a zero byte. All types are
those that ``fclib.h`` of FrictionalContactLibrary/fclib writes and reads.
Differs from FCLib in: files may be overwritten, and a solution may be replaced.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from stickslip.errors import InputError, RecordingError, brief
from stickslip.hdf5 import attribute, changed, check_target, has, member, open_checked, reading, text, write_image
from stickslip.problem_files.fclib_matrix import FCLibMatrix
from stickslip.problem_files.fclib_problem import (
    FCLibGlobal,
    FCLibInfo,
    FCLibLocal,
    FCLibProblem,
    FCLibSolution,
    from_friction,
)
from stickslip.solvers.problem import FrictionProblem

WHAT, REMEDY = "a file of FCLib's", "choose one of its collection"
LOCAL, GLOBAL = "fclib_local", "fclib_global"
WORDS = ("title", "description", "math_info")
Kind = TypeVar("Kind", FCLibLocal, FCLibGlobal)
ABOUT = {"comment": str, "conditioning": float, "determinant": float, "rank": int}


def is_fclib(path: str | os.PathLike) -> bool:
    """Whether a file is HDF5 with one of FCLib's problems in it."""
    import h5py

    if not os.path.isfile(path) or not h5py.is_hdf5(path):
        return False
    try:
        with open_checked(path, WHAT, REMEDY, deep=False) as file, reading(os.path.realpath(path), WHAT):
            return has(file, LOCAL) or has(file, GLOBAL)
    except OSError:
        return False


def read_fclib(path: str | os.PathLike) -> FCLibProblem:
    """Read and check a file: ``read_fclib("Capsules-i100-1090.hdf5").friction`` is a problem for ``solvers.solve``."""
    with open_checked(path, WHAT, REMEDY) as file:
        name = brief(os.path.realpath(path), 100)
        with reading(os.path.realpath(path), WHAT):
            if not has(file, LOCAL) and not has(file, GLOBAL):
                raise RecordingError(
                    f"cannot read {name}: expected a group /{LOCAL} or /{GLOBAL}, got "
                    f"{brief(sorted(file)) if len(file) else 'an empty file'}"
                )
            try:
                return FCLibProblem(
                    local=_read_problem(member(file, LOCAL), FCLibLocal) if has(file, LOCAL) else None,
                    whole=_read_problem(member(file, GLOBAL), FCLibGlobal) if has(file, GLOBAL) else None,
                    solution=_read_solution(_need(file, "solution", dict)) if has(file, "solution") else None,
                    guesses=_read_guesses(_need(file, "guesses", dict)) if has(file, "guesses") else (),
                )
            except InputError as error:
                raise RecordingError(f"cannot read {name}: {error}") from error


def write_fclib(
    path: str | os.PathLike,
    problem: FCLibProblem | FCLibLocal | FCLibGlobal | FrictionProblem,
    *,
    solution: FCLibSolution | np.ndarray | None = None,
    guesses: Sequence[FCLibSolution | np.ndarray] = (),
    info: FCLibInfo | None = None,
) -> None:
    """Write one problem; ``solution`` and ``guesses`` may be impulses p of ``problem.friction``.

    An existing FCLib file is replaced; any other existing file is an error.
    """
    whole = _as_file(problem, solution, guesses, info)
    target = check_target(path)
    if os.path.exists(target) and os.path.getsize(target) > 0 and not is_fclib(target):
        raise RecordingError(
            f"cannot write {os.fspath(path)!r}: expected a new name or a file of FCLib's, got another HDF5 file; "
            "choose another name"
        )
    with write_image(target) as file:
        for name, found in ((LOCAL, whole.local), (GLOBAL, whole.whole)):
            if found is not None:
                _write_problem(file.create_group(name), found)
        if whole.solution is not None:
            _write_solution(file.create_group("solution"), whole.solution)
        if whole.guesses:
            group = file.create_group("guesses")
            _put_int(group, "number_of_guesses", len(whole.guesses))
            for k, guess in enumerate(whole.guesses):
                _write_solution(group.create_group(str(k + 1)), guess)


def write_fclib_solution(path: str | os.PathLike, solution: FCLibSolution) -> None:
    """Store a solution in a file, replacing an earlier one; nothing else in the file changes."""
    problem = read_fclib(path)
    replace(problem, solution=solution)  # checks the sizes
    with changed(os.fspath(path), WHAT, REMEDY) as file:
        if has(file, "solution"):
            del file["solution"]
        _write_solution(file.create_group("solution"), solution)


def _as_file(problem: Any, solution: Any, guesses: Sequence[Any], info: FCLibInfo | None) -> FCLibProblem:
    if isinstance(problem, FrictionProblem):
        problem = from_friction(problem, info)
    elif isinstance(problem, FCLibLocal):
        problem = FCLibProblem(local=problem)
    elif isinstance(problem, FCLibGlobal):
        problem = FCLibProblem(whole=problem)
    if info is not None:
        problem = replace(
            problem,
            local=None if problem.local is None else replace(problem.local, info=info),
            whole=None if problem.whole is None else replace(problem.whole, info=info),
        )

    def form(given: Any) -> FCLibSolution:
        return given if isinstance(given, FCLibSolution) else problem.answer(given)

    return replace(
        problem,
        solution=problem.solution if solution is None else form(solution),
        guesses=tuple(form(guess) for guess in guesses) or problem.guesses,
    )


# -- writing ---------------------------------------------------------------------------------------------------------


def _write_problem(group: Any, problem: FCLibLocal | FCLibGlobal) -> None:
    _put_int(group, "spacedim", problem.spacedim)
    for name in problem.matrices:
        if getattr(problem, name) is not None:
            _write_matrix(group.create_group(name), getattr(problem, name))
    place = group.create_group("vectors")
    for name in problem.vectors:
        if getattr(problem, name) is not None:
            place[name] = getattr(problem, name)
    if problem.info is not None:
        place = group.create_group("info")
        for name in WORDS:
            _put_words(place, name, getattr(problem.info, name))
        for name, value in problem.info.attributes.items():
            place.attrs[name] = value


def _write_matrix(group: Any, matrix: FCLibMatrix) -> None:
    for name, value in (("nzmax", len(matrix.x)), ("m", matrix.m), ("n", matrix.n), ("nz", matrix.nz)):
        _put_int(group, name, value)
    group["p"], group["i"], group["x"] = matrix.p, matrix.i, matrix.x
    for name, kind in ABOUT.items():
        if name in matrix.about:
            value = matrix.about[name]
            if kind is str:
                _put_words(group, name, value)
            else:
                group[name] = np.array([value], dtype=np.int32 if kind is int else np.float64)


def _write_solution(group: Any, solution: FCLibSolution) -> None:
    for name in ("v", "l", "u", "r"):
        value = getattr(solution, name)
        if value is not None:
            group[name] = np.asarray(value, dtype=float)


def _put_int(group: Any, name: str, value: int) -> None:
    group[name] = np.array([value], dtype=np.int32)


def _put_words(group: Any, name: str, text: str) -> None:
    """Write a scalar C string of fixed length with its zero byte, as H5LTmake_dataset_string does."""
    import h5py

    data = text.encode()
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(len(data) + 1)
    kind.set_strpad(h5py.h5t.STR_NULLTERM)
    space = h5py.h5s.create(h5py.h5s.SCALAR)
    place = h5py.h5d.create(group.id, name.encode(), kind, space)
    place.write(space, space, np.array(data, dtype=f"S{len(data) + 1}"), kind)


# -- reading ---------------------------------------------------------------------------------------------------------


def _read_problem(group: Any, kind: type[Kind]) -> Kind:
    vectors = _need(group, "vectors", dict)
    there: dict[str, Any] = {"spacedim": _number(group, "spacedim"), "info": _read_info(group)}
    for name in kind.matrices:
        if name in kind.needed or has(group, name):
            there[name] = _read_matrix(group, name)
    for name in kind.vectors:
        if name in kind.needed or has(vectors, name):
            there[name] = _need(vectors, name, float)
    return kind(**there)


def _read_matrix(parent: Any, name: str) -> FCLibMatrix:
    group = _need(parent, name, dict)
    about: dict[str, Any] = {}
    for key, kind in ABOUT.items():
        if has(group, key):
            about[key] = text(group, key) if kind is str else kind(_need(group, key, float)[0])
    sizes: dict[str, Any] = {key: _number(group, key) for key in ("m", "n", "nz")}
    arrays = {key: _need(group, key, kind) for key, kind in (("p", int), ("i", int), ("x", float))}
    return FCLibMatrix(**sizes, **arrays, about=about, where=f"{parent.name}/{name}".lstrip("/"))


def _read_info(group: Any) -> FCLibInfo | None:
    if not has(group, "info"):
        return None
    place = _need(group, "info", dict)
    words = {name: text(place, name) if has(place, name) else "" for name in WORDS}
    return FCLibInfo(**words, attributes={name: _plain(attribute(place, name)) for name in place.attrs})


def _plain(value: Any) -> Any:
    """Convert arrays of one number, as FCLib writes them, to numbers."""
    array = np.asarray(value)
    return array.ravel()[0].item() if array.size == 1 and array.dtype.kind in "iuf" else value


def _read_solution(group: Any) -> FCLibSolution:
    return FCLibSolution(
        **{name: _need(group, name, float) for name in ("u", "r")},
        **{name: _need(group, name, float) for name in ("v", "l") if has(group, name)},
    )


def _read_guesses(group: Any) -> tuple[FCLibSolution, ...]:
    return tuple(_read_solution(_need(group, str(k + 1), dict)) for k in range(_number(group, "number_of_guesses")))


def _need(group: Any, name: str, kind: Callable) -> Any:
    """A required group (dict), or the numbers (float, int) of a required dataset."""
    where = f"{group.name}/{name}".lstrip("/")
    what = "a group" if kind is dict else "an array of numbers"
    if not has(group, name):
        raise InputError(f"{where}: expected {what}, got none")
    found = member(group, name)
    if (kind is dict) != hasattr(found, "keys"):
        raise InputError(f"{where}: expected {what}, got {'an array' if kind is dict else 'a group'}")
    if kind is dict:
        return found
    array = np.ravel(found[()])
    if array.dtype.kind not in ("iu" if kind is int else "iuf"):
        raise InputError(f"{where}: expected {'whole ' if kind is int else ''}numbers, got {array.dtype}")
    return array


def _number(group: Any, name: str) -> int:
    found = _need(group, name, int)
    if found.size != 1:
        raise InputError(f"{group.name}/{name}".lstrip("/") + f": expected one number, got {found.size}")
    return int(found[0])
