"""Random command lines with good and bad values: each ends in time, and trouble is one line without a traceback.

Commands run inside the worker, by the entry point itself, so that only the first of them waits for imports and kernels.
Those that are meant to take minutes (``bench``, ``reproduce``, ``warm``) get bad values, or ``--help``. ``view`` shows
nothing: it gets what it must refuse, or ``--share``.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"
LIMIT = 10.0
LONGEST = 400
"""Characters of a line of an error; paths of files come on top of the 300 of a message."""
NUMBERS = (
    "0", "-1", "1", "2", "1e-3", "1e-300", "1e300", "nan", "inf", "-inf", "1e400", "abc", "", "1,5", "0x10", "1e-9",
    "999999999999", "99999999999999999999999999", "-0", "1e6", "1e-12", "0.05", "²", "1_0",
)  # fmt: skip
SCENES = (
    "ball", "incline", "tumble", "case.xml", "case.urdf", "nothing.xml", "folder", "run.h5", "text.txt", "noscene",
    "solo12", "", "a" * 300, "[bold]x[/red].xml", "/dev/null",
)  # fmt: skip
METHODS = (
    "semi-implicit-euler", "coulomb", "coulomb/pgs", "expo", "mujoco", "relaxed", "nomethod", "coulomb/nosolver", "",
    "expo[matmuls=2],mujoco", "expo[", "a,b,,c", "[/red]", "semi-implicit-euler/none",
)  # fmt: skip
INPUTS = ("run.h5", "problems.h5", "fclib.hdf5", "text.txt", "nothing.h5", "folder", "case.xml", "empty.h5", "cut.h5")
OUTPUTS = ("new{}", "folder", "missing/new{}", "/proc/new{}", "text.txt", "run.h5", "", "a" * 300 + "{}", "new.odd")
FRAMES = ("all", "0", "1", "0-2", "5-1", "1-999999999999", "a", "1,,2", "-1", "0,0", "²", "1-", "9" * 5000)
PLOTS = ("energy", "height", "penetration", "contact_force", "noplot")
OPTIONS = (
    "matmuls=2",
    "matmuls=nan",
    "iterations=0",
    "iterations=-5",
    "tolerance=inf",
    "x",
    "=",
    "a=b=c",
    "iterations=5",
)


def prepare() -> None:
    """Make the files that commands read, once, and compile what they use."""
    folder = files()
    folder.mkdir(parents=True, exist_ok=True)
    before = os.getcwd()
    os.chdir(folder)
    try:
        shutil.copytree(CORPUS, ".", dirs_exist_ok=True)
        shutil.copy("arm.xml", "case.xml")
        shutil.copy("arm.urdf", "case.urdf")
        Path("folder").mkdir(exist_ok=True)
        Path("text.txt").write_text("no recording\n")
        Path("empty.h5").write_bytes(b"")
        made = (
            "run ball --method coulomb/pgs --time 0.05 --record run.h5 --capture problems.h5 --capture-every 10",
            "run ball --method coulomb/pgs --time 0.02 --capture fclib.hdf5 --capture-format fclib --capture-every 100",
            "run incline --time 0.01", "run case.xml --time 0.01", "run ball --method expo --time 0.01",
            "run ball --method mujoco --time 0.01", "run ball --method relaxed --time 0.01", "plot run.h5 energy",
            "export run.h5 --gif new.gif --size 64x48 --fps 5", "solve problems.h5 --frames 0 --repeat 1",
        )  # fmt: skip
        for line in made:
            called(line.split())
        Path("cut.h5").write_bytes(Path("run.h5").read_bytes()[:3000])
    finally:
        os.chdir(before)


def files() -> Path:
    """The folder of the files that commands read."""
    return Path(os.environ.get("TMPDIR", "/tmp")) / f"stickslip-fuzz-{os.getpid()}"


def make(rng: random.Random, folder: Path) -> dict[str, Any]:
    return {"words": COMMANDS[rng.choice(sorted(COMMANDS))](rng)}


def check(folder: Path, case: dict[str, Any]) -> tuple[str, str]:
    """Run the command in a copy of the files; look at its status and at what it prints."""
    shutil.copytree(files(), folder, dirs_exist_ok=True)
    before = os.getcwd()
    os.chdir(folder)
    try:
        status, out, err = called(case["words"])
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return "traceback", traceback.format_exc()
    finally:
        os.chdir(before)
    if "Traceback" in out + err:
        return "traceback", out + err
    if status not in (0, 1, 2):
        return "traceback", f"exit status {status!r}\n{err}"
    left = [path.name for path in folder.rglob(".stickslip-*")]
    if left:
        return "traceback", f"unfinished files are left: {left}"
    lines = [line for line in err.splitlines() if line.startswith("error: ")]
    if status == 2 and (len(lines) != 1 or not err.rstrip().endswith(lines[0])):
        return "traceback", f"expected one line of an error at the end, got\n{err}"
    if any(len(line) > LONGEST for line in lines):
        return "long message", err
    return ("refused" if status == 2 else "loaded"), f"{status}\n{err}"


def called(words: list[str]) -> tuple[int, str, str]:
    """(exit status, output, errors) of ``stickslip WORDS`` in this process."""
    from stickslip.cli import main

    out, err = io.StringIO(), io.StringIO()
    argv, sys.argv = sys.argv, ["stickslip", *words]
    status: Any = 0
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as end:
        status = end.code if end.code is not None else 0
    finally:
        sys.argv = argv
    return status, out.getvalue(), err.getvalue()


# -- command lines -----------------------------------------------------------------------------------------------------


def _some(rng: random.Random, options: dict[str, Any], most: int = 3) -> list[str]:
    """Up to ``most`` options with values; a value is drawn from a sequence, or made by a function; None is a flag."""
    words = []
    for name in rng.sample(sorted(options), rng.randint(0, min(most, len(options)))):
        choice = options[name]
        if choice is None:
            words.append(name)
            continue
        value = choice(rng) if callable(choice) else rng.choice(choice)
        words += [f"{name}={value}"] if value.startswith("-") else [name, value]
    if rng.random() < 0.05:
        words.append(rng.choice(("--nooption", "extra", "--help", "-", "--", "\udce9", "-1")))
    return words


def _out(ending: str) -> Any:
    return lambda rng: rng.choice(OUTPUTS).replace("{}", ending)


LOADING = {
    "--floor": NUMBERS, "--floating-base": None, "--package-dir": ("folder", "nothing"),
    "--ignore": ("all", "flex", "x"), "--unreadable-meshes": ("drop", "error", "replace", "x"),
    "--plugin": ("text.txt", "nothing.py", "folder"),
}  # fmt: skip


def _run(rng: random.Random) -> list[str]:
    options = {
        "--method": METHODS, "--dt": NUMBERS, "--record": _out(".h5"), "--record-dt": NUMBERS, "--capture": _out(".h5"),
        "--capture-every": NUMBERS, "--capture-format": ("frames", "fclib", "x"), "--failures": _out(""),
        "--plot": _out(".png"), "--option": OPTIONS, **LOADING,
    }  # fmt: skip
    time = rng.choice(NUMBERS) if rng.random() < 0.3 else "0.02"
    return [
        "run",
        rng.choice(SCENES),
        f"--time={'0.02' if time in ('1', '2', '1_0') else time}",
        *_some(rng, options, 4),
    ]


def _compare(rng: random.Random) -> list[str]:
    options = {"--reference": ("expo@nan", "expo@", "@1", "x"), "--plugin": ("text.txt",), "--floor": NUMBERS}
    bad = rng.choice((["--methods", "nomethod"], ["--methods=expo["], ["--dt=nan"], ["--dt=0"], ["--dt=1,x"],
                      ["--runs=0"], ["--runs=1000000"], ["--jobs=0"], ["--jobs=99999999"], ["--time=-1"],
                      ["--time=1e300"], ["--time=nan"],
                      ["--out=text.txt"], ["--out=/proc/x"], ["--methods=mujoco,mujoco"]))  # fmt: skip
    return ["compare", rng.choice(SCENES), *bad, *_some(rng, options, 1)]


def _solve(rng: random.Random) -> list[str]:
    options = {
        "--frames": FRAMES, "--formulations": ("stewart-trinkle", "coulomb", "x", ""),
        "--forms": ("lcp", "ncp", "x", ","),
        "--directions": NUMBERS, "--tolerance": NUMBERS, "--relaxed": NUMBERS, "--json": _out(".json"),
        "--out": _out(""), "--write": None, "--max-iterations": ("0", "-1", "5", "x", "1e3"),
    }  # fmt: skip
    words = ["solve", rng.choice(INPUTS), "--repeat", rng.choice(("1", "1", "1", "0", "-1", "x"))]
    return [*words, f"--solvers={rng.choice(('lemke', 'pgs', 'lemke,pgs', 'x', ''))}", *_some(rng, options)]


def _plot(rng: random.Random) -> list[str]:
    what = rng.choices(INPUTS, k=rng.randint(0, 2)) + rng.choices(PLOTS, k=rng.randint(0, 2))
    return ["plot", *what, *_some(rng, {"--out": _out(rng.choice((".png", ".svg")))})]


def _export(rng: random.Random) -> list[str]:
    options = {
        "--qpos": _out(".npz"), "--csv": _out(".csv"), "--contacts-csv": _out(".csv"), "--gif": _out(".gif"),
        "--frames": _out(""), "--fps": NUMBERS, "--speed": NUMBERS,
        "--camera": ("1,2", "nan,1", "1,2,3", "x", "1,2,-1"),
        "--follow": ("ball", "x", ""), "--size": ("1x1", "0x0", "99999999x9", "x", "64x48", "²x²", "-1x5"),
    }  # fmt: skip
    words = _some(rng, options, 4)
    return [
        "export",
        rng.choice(INPUTS),
        *words,
        *([] if any("--size" in word for word in words) else ["--size=64x48"]),
    ]


def _view(rng: random.Random) -> list[str]:
    options = {"--host": ("", "x"), "--method": METHODS, "--dt": NUMBERS, **LOADING}
    return [
        "view",
        rng.choice(INPUTS),
        *_some(rng, options),
        rng.choice(("--share=new.html", "--port=-1", "--port=99999")),
    ]


def _doctor(rng: random.Random) -> list[str]:
    options = {name: value for name, value in LOADING.items() if name not in ("--floor", "--plugin")}
    return ["doctor", rng.choice(SCENES), *_some(rng, {**options, "--json": _out(".json")})]


def _long(rng: random.Random) -> list[str]:
    """Commands that take minutes, with something that they must refuse."""
    bench = (
        "dynamics",
        "step",
        "contact",
        "coulomb",
        "rigid",
        "collision",
        "variational",
        "methods",
        "facets",
        "truth",
    )
    wrong = ("--help", "--json=/nowhere/x.json", "--out=text.txt", "--quick=x", "--x")
    wrong_paper = ("--help", "--only=x", "--out=text.txt", "--json=/nowhere/x.json")
    files = rng.choice(("robots", "models"))
    papers = ("expo", "rpisim", "lecture", "variational", "event-selected")
    return rng.choice((
        ["bench", rng.choice(bench), rng.choice(wrong)],
        ["bench", files, rng.choice(INPUTS), f"--seconds={rng.choice(('nan', '0', '-1', 'x'))}"],
        ["bench", files, "nothing.xml", *_some(rng, {"--methods": METHODS, "--limit": NUMBERS})],
        ["bench", "truth", f"--scene={rng.choice(('x', ''))}", "--quick"], ["bench", "facets", "--tosses=text.txt"],
        ["reproduce", rng.choice(papers), rng.choice(wrong_paper)],
        ["warm", rng.choice(("nomethod", "coulomb/x", "--jobs=0", "--jobs=x"))], ["list", *_some(rng, LOADING, 1)],
        [rng.choice(("", "x", "--version", "--help", "bench", "reproduce", "--x", "runn"))],
    ))  # fmt: skip


COMMANDS = {
    "run": _run, "run ": _run, "run  ": _run, "compare": _compare, "solve": _solve, "solve ": _solve, "plot": _plot,
    "export": _export, "view": _view, "doctor": _doctor, "long": _long, "long ": _long,
}  # fmt: skip
"""The kinds of command lines; those that are there several times come more often."""
