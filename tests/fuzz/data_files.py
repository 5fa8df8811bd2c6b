"""Damaged and foreign data files: recordings, captured problems, FCLib's problems and stored comparisons.

Each is tried by every public reader and by the functions of the command line. It gives data or an error of stickslip.
"""

from __future__ import annotations

import io
import json
import random
import shutil
import sys
import tempfile
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from functools import cache, partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import stickslip as ss

LIMIT = 10.0
LONGEST = 300
SOURCES = ("recording", "killed", "capture", "fclib", "global", "comparison")
"""Whole files: two of the recorder, captured frames, two of FCLib's kinds, and the JSON of ``compare``."""


@cache
def folder() -> Path:
    """The whole files, made once."""
    place = Path(tempfile.mkdtemp(prefix="fuzz-data-"))
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.05), mass=2.0, name="box")
    scene.add_sphere(0.1, pos=(1, 0, 0.1), mass=1.0)
    sim = ss.Simulation(scene, "coulomb/pgs", dt=0.01)
    sim.run(0.05, record=place / "recording", capture=place / "capture", capture_every=2)
    recorder = ss.record.Recorder(place / "killed", sim.model, scene_xml=sim.model.to_xml())
    shutil.copy(place / "recording", place / "recording.h5")
    shutil.copy(place / "killed", place / "killed.copy")
    recorder.close()
    (place / "killed.copy").replace(place / "killed")
    ss.simulation.capture_fclib(sim, place / "fclib")
    write_global(place / "global")
    result = ss.compare(scene, ["coulomb/pgs", "mujoco"], dts=[0.01], time=0.03, stability=False, jobs=1, out=place)
    result.save(place)
    (place / "comparison.json").rename(place / "comparison")
    return place


def write_global(path: Path) -> None:
    """A global problem with a solution, guesses and an equation."""
    rng = np.random.default_rng(0)
    H, G = rng.normal(size=(9, 6)), rng.normal(size=(9, 2))
    problem = ss.problem_files.FCLibGlobal(
        np.diag(np.arange(1.0, 10.0)), H, rng.normal(size=9), rng.normal(size=6), np.array([0.5, 0.3]), G, np.zeros(2),
        info=ss.problem_files.FCLibInfo("a", "b", "c", {"step": 1}),
    )  # fmt: skip
    ss.problem_files.write_fclib(path, problem, solution=np.zeros(8), guesses=[np.ones(8)])


def prepare() -> None:
    for name in SOURCES:
        copy = folder() / "comparison.json" if name == "comparison" else folder() / f"whole-{name}.h5"
        shutil.copy(folder() / name, copy)
        for seed in range(8):
            outcome, detail = check(folder(), {"file": copy.name, "kind": name, "seed": seed})
            if outcome not in ("loaded", "refused"):
                raise SystemExit(f"{name}: {detail}")


def make(rng: random.Random, place: Path) -> dict[str, Any]:
    """A damaged file of one kind."""
    kind = rng.choices(SOURCES, (4, 1, 4, 4, 4, 4))[0]
    data = (folder() / kind).read_bytes()
    name = "comparison.json" if kind == "comparison" else f"case.{rng.choice(('h5', 'hdf5'))}"
    (place / name).write_bytes(data)
    if kind == "comparison":
        shutil.copytree(folder() / "recordings", place / "recordings")
        damage_json(rng, place / name) if rng.random() < 0.7 else damage_bytes(rng, place / name)
    elif kind != "killed" and rng.random() < 0.5:
        for _ in range(rng.choice((1, 1, 2, 5))):
            damage_structure(rng, place / name)
    else:
        damage_bytes(rng, place / name)
    return {"file": name, "kind": kind, "seed": rng.randrange(10**6)}


# -- damage ----------------------------------------------------------------------------------------------------------


def damage_bytes(rng: random.Random, path: Path) -> None:
    """Bits, bytes and blocks; half of them near the beginning, where HDF5 keeps most of its structure."""
    data = bytearray(path.read_bytes())
    choice = rng.random()
    if choice < 0.1:
        del data[rng.randrange(len(data)) :]
    elif choice < 0.15:
        data[rng.randrange(len(data)) : 0] = bytes(rng.randrange(256) for _ in range(rng.choice((1, 8, 512))))
    elif choice < 0.2:
        size = rng.choice((8, 64, 512))
        a, b = rng.randrange(len(data)), rng.randrange(len(data))
        data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]
    else:
        for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
            k = rng.randrange(len(data)) if rng.random() < 0.5 else rng.randrange(min(len(data), 4096))
            size = rng.choice((1, 1, 1, 2, 4, 8))
            patterns = (b"\xff" * size, bytes(size), b"\xff" * (size - 1) + b"\x7f", rng.randbytes(size))
            data[k : k + size] = (
                rng.choice(patterns) if rng.random() < 0.5 else bytes([data[k] ^ (1 << rng.randrange(8))])
            )
    path.write_bytes(data)


def damage_structure(rng: random.Random, path: Path) -> None:
    """One change of members, shapes, types, attributes or values, by h5py."""
    with h5py.File(path, "r+") as file:
        names: list[str] = []
        file.visit(names.append)
        if not names:
            return
        name = rng.choice(names)
        parent, thing = file[name].parent, file[name]
        change = rng.choice((_remove, _link, _replace, _replace, _values, _values, _attribute, _attribute, _move))
        change(rng, file, parent, thing, name)


def _remove(rng: random.Random, file: Any, parent: Any, thing: Any, name: str) -> None:
    del file[name]


def _link(rng: random.Random, file: Any, parent: Any, thing: Any, name: str) -> None:
    del file[name]
    file[name] = rng.choice((
        h5py.ExternalLink("/etc/passwd", "/x"), h5py.ExternalLink(str(folder() / "recording"), f"/{name}"),
        h5py.SoftLink("/nothing"), h5py.SoftLink("/"), h5py.SoftLink(f"/{name}"), file["/"], file.id and parent,
    ))  # fmt: skip


def _move(rng: random.Random, file: Any, parent: Any, thing: Any, name: str) -> None:
    names: list[str] = []
    file.visit(names.append)
    other = rng.choice(names)
    if not other.startswith(name) and not name.startswith(other):
        del file[name]
        file[name] = file[other]


def _replace(rng: random.Random, file: Any, parent: Any, thing: Any, name: str) -> None:
    """Another dataset or group in the place of one."""
    shape = getattr(thing, "shape", (3,)) or ()
    del file[name]
    choice = rng.randrange(9)
    if choice == 0:
        file.create_group(name)
    elif choice == 1:
        file[name] = rng.choice(("", "text", "{}", "[]", "null", '{"a": [1, 2', "[" * 5000, "\u00e9" * 10))
    elif choice == 2:
        huge = rng.choice(((2**40,), (2**31, 2**20), (10**9, 7), (2**62,)))
        file.create_dataset(name, shape=huge, dtype="f8", chunks=tuple(min(n, 64) for n in huge))
    elif choice == 3:
        other = rng.choice(("i1", "u8", "f4", "S5", "f8", "c16", "?", h5py.string_dtype(), [("a", "f8"), ("b", "i4")]))
        file.create_dataset(name, shape=shape if np.prod(shape, dtype=float) < 1e6 else (1,), dtype=other)
    elif choice == 4:
        file.create_dataset(name, shape=rng.choice(((), (0,), (1,), (2, 3), (7, 7, 7), (100_000,))), dtype="f8")
    elif choice == 5:
        file.create_dataset(name, shape=(10, 3), dtype="f8", external=[("/etc/hostname", 0, h5py.h5f.UNLIMITED)])
    elif choice == 6:
        layout = h5py.VirtualLayout(shape=(6, 3), dtype="f8")
        layout[:] = h5py.VirtualSource(str(folder() / "recording"), "energy", shape=(6, 3))
        file.create_virtual_dataset(name, layout)
    elif choice == 7:
        file[name] = h5py.Empty("f8")
    else:
        chunks = (2**22,)
        file.create_dataset(name, shape=(2**22,), chunks=chunks, dtype="f8", compression="gzip", scaleoffset=None)


def _values(rng: random.Random, file: Any, parent: Any, thing: Any, name: str) -> None:
    """Other numbers in an array, or more or fewer of them."""
    if not isinstance(thing, h5py.Dataset) or thing.dtype.kind not in "iuf" or not 0 < (thing.size or 0) < 10**6:
        return
    if thing.chunks and rng.random() < 0.4:
        thing.resize(rng.choice((0, 1, 3, 1000, 10**6, 10**9, 2**60)), axis=0)
        return
    values = np.array(thing[()])
    nasty = (
        (np.nan, np.inf, -np.inf, 1e300, -1.0, 0.0, 1e-300) if thing.dtype.kind == "f" else (-1, 0, 10**6, 2**31 - 1)
    )
    if thing.dtype.kind != "f":
        least, most = np.iinfo(thing.dtype).min, np.iinfo(thing.dtype).max
        nasty = tuple(value for value in nasty if least <= value <= most)
    if rng.random() < 0.3:
        values[...] = rng.choice(nasty)
    else:
        values.ravel()[rng.randrange(values.size)] = rng.choice(nasty)
    thing[...] = values


def _attribute(rng: random.Random, file: Any, parent: Any, thing: Any, name: str) -> None:
    thing = file if rng.random() < 0.7 else thing
    names = [*thing.attrs]
    if not names:
        return
    name = rng.choice(names)
    del thing.attrs[name]
    choice = rng.randrange(8)
    if choice == 0:
        return
    old = (
        np.nan,
        -1,
        10**9,
        2**62,
        "text",
        "",
        "{}",
        "[1]",
        np.arange(3),
        np.zeros((2, 2)),
        np.zeros(0, int),
        b"\xff\xfe",
    )
    thing.attrs[name] = rng.choice(old)
    if choice == 1:
        thing.attrs[name] = h5py.Empty("f8")
    elif choice == 2:
        thing.attrs[name] = file.ref


JSON = (
    None,
    True,
    -1,
    0,
    1e308,
    "nan",
    "inf",
    "",
    "text",
    [],
    {},
    [[]],
    {"a": 1},
    "../../../etc/passwd",
    10**400,
    [None],
)


def damage_json(rng: random.Random, path: Path) -> None:
    """One to three values of a JSON file replaced, removed or added."""
    content = json.loads(path.read_text())
    for _ in range(rng.choice((1, 1, 2, 3))):
        places: list[tuple[Any, Any]] = []
        left = [content]
        while left:
            found = left.pop()
            if isinstance(found, dict | list):
                inside = list(found.items() if isinstance(found, dict) else enumerate(found))
                places += [(found, key) for key, _ in inside]
                left += [value for _, value in inside]
        if not places:
            break
        place, key = rng.choice(places)
        if rng.random() < 0.3:
            del place[key]
        elif rng.random() < 0.2 and isinstance(place, dict):
            place["unknown"] = rng.choice(JSON)
        else:
            place[key] = rng.choice(JSON)
    path.write_text(json.dumps(content))


# -- use -------------------------------------------------------------------------------------------------------------


def check(place: Path, case: dict[str, Any]) -> tuple[str, str]:
    """Use the file by everything that reads such files; the worst outcome counts."""
    path, outcomes = place / case["file"], []
    for use in uses(path, place, case["kind"], random.Random(case["seed"])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                    use()
                outcomes.append(("loaded", ""))
            except ss.StickslipError as error:
                said = f"{type(error).__name__}: {error}"
                outcomes.append(
                    ("long message" if len(str(error)) >= LONGEST or "\n" in str(error) else "refused", said)
                )
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                outcomes.append(("traceback", traceback.format_exc()))
    order = ("traceback", "long message", "refused", "loaded")
    return min(outcomes, key=lambda found: order.index(found[0]))


def uses(path: Path, place: Path, kind: str, rng: random.Random) -> list[Any]:
    """What is done with a file: the reader of its kind, now and then those of the others, and a command."""
    if kind == "comparison":
        return [lambda: compared(path, place)]
    readers = {"recording": recorded, "killed": recorded, "capture": problems, "fclib": fclib, "global": fclib}
    chosen = {readers[kind], *(use for use in (recorded, problems, fclib) if rng.random() < 0.1)}
    solved = kind not in ("recording", "killed")
    commands = by_solve(path, place) if solved == (rng.random() < 0.9) else by_recording(path, place)
    return [*(partial(use, path) for use in sorted(chosen, key=lambda use: use.__name__)), rng.choice(commands)]


def recorded(path: Path) -> None:
    """All of a recording, as Python users read it."""
    with ss.load(path) as log:
        repr(log)
        for name in ("time", "q", "v", "pose", "energy", "wall", "status", "joint_error", "contact_start"):
            getattr(log, name)
        for name in ("force", "gap", "link1", "link2", "normal"):
            log.contact(name)
        if len(log):
            log.contacts(-1)
        log.contact_force()
        log.net_contact_force(log.names.links[-1])
        log.penetration()
        assert log.last_good is None or np.shape(log.last_good.q)
        log.to_qpos()
        if len(log):
            log.image(-1, size=(32, 18))


def problems(path: Path) -> None:
    with ss.problem_files.ProblemFile(path) as file:
        for frame in file:
            ss.lab.problems.matrices(frame)


def fclib(path: Path) -> None:
    problem = ss.problem_files.read_fclib(path)
    friction = problem.friction
    ss.solvers.judge(friction, np.zeros(len(friction.b)))
    if problem.solution is not None:
        problem.impulses(problem.solution)


def compared(path: Path, place: Path) -> None:
    result = ss.load_comparison(path)
    for run in result.runs():
        run.dt + sum(run.scores.values())
    from stickslip.lab.compare.report import table
    from stickslip.lab.compare.report.page import page

    table(result)
    page(result)
    result.save(place / "again")


def by_recording(path: Path, place: Path) -> list[Any]:
    """The functions of the command line that read recordings."""
    from stickslip.cli.export import export
    from stickslip.cli.plot import plot
    from stickslip.cli.view import view

    given = str(path)
    return [
        lambda: plot([given], out=place / "a.svg"),
        lambda: plot([given, "friction", "joint", "slip"], out=place / "b.svg"),
        lambda: export(path, csv=place / "a.csv", contacts_csv=place / "b.csv", qpos=place / "a.npz"),
        lambda: export(path, gif=place / "a.gif", fps=10.0, size="32x18"),
        lambda: view([given], share=place / "a.html"),
        lambda: ss.load(path).save(place / "copy.h5"),
    ]


def by_solve(path: Path, place: Path) -> list[Any]:
    from stickslip.cli.solve import solve

    def over() -> None:
        with ss.problem_files.ProblemWriter(path, append=True):
            pass

    return [
        lambda: solve(path, solvers="pgs", repeat=1),
        lambda: solve(path, solvers="pgs", repeat=1, write=True),
        over,
    ]


if __name__ == "__main__":
    sys.exit("run this through run.py")
