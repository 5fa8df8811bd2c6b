"""Fuzzing: seeded cases of several kinds, each run in a worker process, so that crashes and hangs are found and named.

``make fuzz SEED=1 COUNT=1000`` runs COUNT cases of every kind. A case is made from the seed and its number alone; the
folder that is printed keeps the files of every case that failed, and how to repeat it.

A kind is a module of this folder with

* ``LIMIT``: seconds that one case may take; longer is a hang,
* ``prepare()``: what a worker does once, such as compiling kernels, with half an hour of time,
* ``make(rng, folder) -> case``: writes the files of a case into an empty folder and says what else ``check`` needs, as
  a dictionary that JSON can hold,
* ``check(folder, case) -> (outcome, detail)``: the outcome is one of ``OUTCOMES``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import select
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KINDS = tuple(name for name in ("models", "commands", "data_files") if (HERE / f"{name}.py").exists())
OUTCOMES = ("refused", "loaded", "traceback", "nan", "long message", "crash", "hang")
"""refused: an error of stickslip in one sentence; loaded: read and used; traceback: any other exception; nan: numbers
that are not finite without an error; long message: 300 characters or more; crash, hang: found by the runner."""
GOOD = ("refused", "loaded")
MEMORY = 6 * 2**30
"""Bytes of address space of a worker, so that a case that asks for more fails instead of filling the machine."""
PATIENCE = 5
"""A case that waits for a busy machine, and has not computed for its limit, gets so many times the limit more."""
PREPARATION = 1800.0
"""Seconds that a worker may take to get ready."""


def case_rng(kind: str, seed: int, index: int) -> random.Random:
    return random.Random(f"{kind} {seed} {index}")


def kind_module(kind: str) -> Any:
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    return importlib.import_module(kind)


def run_case(kind: str, seed: int, index: int, folder: Path) -> dict[str, Any]:
    """Make and check one case in this process; the result has index, outcome and detail."""
    module = kind_module(kind)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    case = module.make(case_rng(kind, seed, index), folder)
    (folder / "case.json").write_text(json.dumps(case))
    start = time.perf_counter()
    outcome, detail = module.check(folder, case)
    return {"index": index, "outcome": outcome, "detail": detail, "seconds": time.perf_counter() - start}


def work(kind: str, seed: int, folder: Path, answers: int) -> None:
    """A worker: reads numbers of cases from stdin and writes one line of JSON per case into the pipe ``answers``."""
    import faulthandler
    import resource

    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with os.fdopen(answers, "w", buffering=1) as pipe:
        kind_module(kind).prepare()
        print(json.dumps({"ready": True}), file=pipe)
        for line in sys.stdin:
            print(json.dumps(run_case(kind, seed, int(line), folder)), file=pipe)


class Worker:
    """A worker process and the pipe on which it answers."""

    def __init__(self, kind: str, seed: int, folder: Path) -> None:
        self.limit = float(kind_module(kind).LIMIT)
        self.log = folder.with_suffix(".log")
        self.pipe, theirs = os.pipe()
        command = [sys.executable, __file__, "--worker", str(theirs), "--kinds", kind, "--seed", str(seed)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, "--out", str(folder)], stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=(theirs,)
            )
        os.close(theirs)
        self.buffer = b""
        first = self.answer(PREPARATION, "getting ready")
        if "ready" not in first:
            raise SystemExit(f"a worker of {kind} did not get ready: {first['detail']}")

    def answer(self, seconds: float, what: str) -> dict[str, Any]:
        """The next line of the worker, or what became of it: a crash or a hang."""
        until, began = time.monotonic() + seconds, self.computed()
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.pipe], [], [], max(0.0, until - time.monotonic()))
            if not ready and self.computed() - began < seconds and time.monotonic() < until + PATIENCE * seconds:
                time.sleep(0.05)  # others use the machine, too
                continue
            if not ready:
                self.end()
                return {"outcome": "hang", "detail": f"{what}: more than {seconds:g} s", "seconds": seconds}
            data = os.read(self.pipe, 65536)
            if not data:
                code = self.process.wait()
                tail = self.log.read_text(errors="replace")[-3000:]
                return {"outcome": "crash", "detail": f"{what}: exit status {code}\n{tail}", "seconds": 0.0}
            self.buffer += data
        line, _, self.buffer = self.buffer.partition(b"\n")
        return json.loads(line)

    def computed(self) -> float:
        """Seconds of computing of the worker so far; infinite where the system does not tell."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return float("inf")
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def run(self, index: int) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{index}\n".encode())
        self.process.stdin.flush()
        return {**self.answer(self.limit, f"case {index}"), "index": index}

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.pipe)


def fuzz(kind: str, seed: int, count: int, out: Path, first: int = 0) -> tuple[Counter, list[dict[str, Any]], float]:
    """Run cases ``first`` to ``first + count`` of a kind; (outcomes, failures, longest case [s])."""
    folder = out / f"{kind}-case"
    outcomes: Counter = Counter()
    failures: list[dict[str, Any]] = []
    longest, worker, shown = 0.0, None, time.monotonic()
    for index in range(first, first + count):
        worker = worker or Worker(kind, seed, folder)
        result = worker.run(index)
        outcomes[result["outcome"]] += 1
        longest = max(longest, result["seconds"])
        if result["outcome"] not in GOOD:
            kept = out / f"{kind}-{seed}-{index}"
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept)
            again = f"{sys.executable} {__file__} --kinds {kind} --seed {seed} --only {index}"
            (kept / "failure.txt").write_text(f"{again}\n\n{result['outcome']}\n{result['detail']}\n")
            failures.append({**result, "kept": str(kept)})
        if result["outcome"] in ("crash", "hang"):
            worker = None
        if time.monotonic() > shown + 30.0:
            shown = time.monotonic()
            print(f"  {kind}: {index - first + 1} of {count}, {dict(outcomes)}", flush=True)
    if worker is not None:
        worker.end()
    return outcomes, failures, longest


def table(rows: dict[str, tuple[Counter, list, float]]) -> str:
    """The summary: one row per kind."""
    head = ["kind", "cases", *OUTCOMES, "longest"]
    lines = [head]
    for kind, (outcomes, _, longest) in rows.items():
        counts = [str(outcomes[name]) for name in OUTCOMES]
        lines.append([kind, str(sum(outcomes.values())), *counts, f"{longest:.1f} s"])
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)) for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="fuzz stickslip with seeded cases")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000, help="cases of every kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--kinds", default=",".join(KINDS), help="kinds, separated by commas")
    parser.add_argument("--only", type=int, help="run this case alone, in this process, and show what happens")
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"), help="folder for the cases that fail")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    kinds = given.kinds.split(",")
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"unknown kinds {sorted(unknown)}; known: {', '.join(KINDS)}")
    given.out.mkdir(parents=True, exist_ok=True)
    if given.worker is not None:
        work(kinds[0], given.seed, given.out, given.worker)
        return 0
    if given.only is not None:
        kind_module(kinds[0]).prepare()
        result = run_case(kinds[0], given.seed, given.only, given.out / f"{kinds[0]}-{given.seed}-{given.only}")
        print(f"{result['outcome']} after {result['seconds']:.2f} s\n{result['detail']}")
        return int(result["outcome"] not in GOOD)
    rows = {kind: fuzz(kind, given.seed, given.count, given.out.absolute(), given.first) for kind in kinds}
    print(table(rows))
    for kind, (_, failures, _) in rows.items():
        for failure in failures[:20]:
            print(f"{kind} {failure['index']}: {failure['outcome']}, kept in {failure['kept']}")
    return int(any(failures for _, failures, _ in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
