"""The truth suite: every case by every method with every time step, in worker processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rich.console import Console

from stickslip.errors import expected, unknown
from stickslip.files import processors, write_text
from stickslip.lab.cluster import check_place, pool_on
from stickslip.lab.pool import DIED
from stickslip.lab.report import check_destinations
from stickslip.lab.store import Store
from stickslip.lab.truth.case import Case
from stickslip.lab.truth.cases import CASES
from stickslip.lab.truth.matrix import markdown, matrix
from stickslip.lab.truth.stored_trials import entry_of, find_trials, write_trials
from stickslip.lab.truth.trial import PASS, Job, Trial, check, try_case
from stickslip.methods.registry import resolve

PEERS = frozenset({"mujoco"})
"""Methods that are not stickslip's own and do not count for the exit status."""
QUICK_METHODS = ("semi-implicit-euler", "rk4", "stewart-trinkle", "peg", "coulomb", "relaxed", "mujoco")
"""Methods of ``--quick``; at least one of them passes each quick case."""
FEW = 4
"""Largest number of trials that run in this process, because starting others would take longer."""


def jobs_of(cases: Iterable[Case], methods: Sequence[str] = (), *, quick: bool = False) -> list[Job]:
    """Every case, method and time step, or these ``methods`` only; ``quick`` takes the default steps."""
    made = []
    for case in cases:
        chosen = methods or case.methods()
        if quick and not methods:
            chosen = tuple(m for m in chosen if m in QUICK_METHODS or m.partition("/")[0] in QUICK_METHODS)
        made += [Job(case.name, method, dt) for method in chosen for dt in (case.dts[:1] if quick else case.dts)]
    return made


def run_job(_: None, name: str, method: str, dt: float) -> Trial:
    return try_case(CASES[name], method, dt)


def lost_job(name: str, method: str, dt: float) -> Trial:
    return check(CASES[name], method, dt, {}, DIED)


def run_jobs(
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    save: Callable[[Trial], None] | None = None,
    on: str | None = None,
) -> list[Trial]:
    """Run the trials in ``workers`` processes, or ``on`` Ray, and return them in the order of ``jobs``.

    One worker, the default for a few trials, is this process. ``save`` gets every trial as soon as it is done.
    """
    if workers is None and on is None:
        workers = processors() if len(jobs) > FEW else 1
    if not jobs:
        return []
    with pool_on(on, None, workers) as pool:
        return pool.map(run_job, jobs, "truth", lost_job, arrived=save)


def unproved(trials: Sequence[Trial]) -> list[str]:
    """Cases that no method of stickslip's own passes at the default time step."""
    names = dict.fromkeys(trial.case for trial in trials)
    good = {
        trial.case
        for trial in trials
        if trial.outcome == PASS
        and trial.dt == CASES[trial.case].dts[0]
        and resolve(CASES[trial.case].setting(trial.method)[0])[0] not in PEERS
    }
    return [name for name in names if name not in good]


def run_truth(
    scenes: Sequence[str] = (),
    methods: Sequence[str] = (),
    quick: bool = False,
    json_path: Path | None = None,
    out: Path | None = None,
    *,
    keep: bool = False,
    workers: int | None = None,
    on: str | None = None,
) -> bool:
    """Simulate, print the matrix and what failures teach; True if every case has a method of ours that passes.

    With ``keep``, trials of earlier runs in the folder ``out`` are not simulated again, but checked again.
    """
    for name in scenes:
        if name not in CASES:
            raise unknown("case of the truth suite", name, CASES)
    for method in methods:
        resolve(method)
    if keep and out is None:
        raise expected("--keep", "a folder with earlier trials", None, "give it by --out")
    check_place(on)
    check_destinations(json_path, out)
    cases = [CASES[name] for name in scenes] if scenes else [c for c in CASES.values() if c.quick or not quick]
    wanted = jobs_of(cases, methods, quick=quick)
    found: dict[Job, Trial] = {}
    store = None
    if out is not None:
        store = Store(out / "trials", fresh=not keep, code="")  # simulated trials stay valid until the user says so
        if keep:
            found = find_trials(store, out / "truth.json", wanted)
        else:
            (out / "truth.json").unlink(missing_ok=True)

    def save(trial: Trial) -> None:
        """Store every trial at once, so that ``keep`` continues a suite that was stopped."""
        found[trial.job] = trial
        if store is not None:
            store.keep("trial", trial.job._asdict(), entry_of(trial))

    run_jobs([job for job in wanted if job not in found], workers=workers, save=save, on=on)
    trials = [found[job] for job in wanted]
    missing = unproved(trials)
    console = Console()
    for part in matrix(cases, trials):
        console.print(part, highlight=False)
    total = sum(trial.seconds for trial in trials)
    console.print(f"{len(trials)} trials, {total:.0f} s of computing", highlight=False)
    for name in missing:
        console.print(f"no method of stickslip passes {name} at dt = {CASES[name].dts[0]:g} s", style="red")
    if json_path is not None:
        write_trials(json_path, trials, unproved=missing)
    if out is not None:
        write_trials(out / "truth.json", list(found.values()))
        write_text(out / "truth.md", markdown(cases, trials))
    return not missing
