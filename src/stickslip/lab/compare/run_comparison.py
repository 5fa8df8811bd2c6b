"""``ss.compare``: one scene by every method, over a grid of time steps, in parallel processes.

A comparison has four stages. Every candidate is compiled and previewed; its longest stable step is searched; it is run
at each of its time steps and scored against the reference; its order is measured against its own finest run.
"""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from stickslip.errors import InputError, expected, names_keywords, number, unknown, whole
from stickslip.files import folder_to_oneself, processors, temporary_folder
from stickslip.lab.cluster import check_place, pool_on
from stickslip.lab.compare.candidate import Candidate, candidate
from stickslip.lab.compare.comparison import Comparison
from stickslip.lab.compare.experiment import experiment
from stickslip.lab.compare.grid import RUNS
from stickslip.lab.compare.stages import Stages
from stickslip.lab.compare.worker import Work, slug
from stickslip.methods.base import Method
from stickslip.methods.names import MethodName
from stickslip.methods.registry import METHODS
from stickslip.model.scene import Scene
from stickslip.record.machine import machine
from stickslip.scenes import Setup


@names_keywords
def compare(
    scene: str | Path | Scene | Setup,
    methods: Sequence[MethodName | str | type[Method] | Candidate] | None = None,
    *,
    time: float | None = None,
    dts: Sequence[float] | None = None,
    runs: int = RUNS,
    reference: str | tuple[str, float] | None = None,
    jobs: int | None = None,
    on: str | None = None,
    stability: bool = True,
    out: str | Path | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Run a scene by several methods and score them all by the same code.

    ``methods`` are names, Method classes or ``Candidate``s (default: every registered method). ``dts`` [s] are the
    time steps of all of them (default: ``runs`` steps each, halved from the longest that should be stable).
    ``reference`` is a label, or (label, dt): the run that errors are measured against (default: the method of the
    highest order, at half its shortest step). ``jobs`` processes work side by side (default: one per core; fewer of
    them give cleaner timings), or tasks with ``on="ray"`` (Ray on this machine) or ``on="ray://host:port"`` (a cluster,
    whose machines share the folder ``out``). ``stability`` searches each method's longest stable step by bisection.
    Recordings go to the folder ``out``; without one they are deleted together with the result.

    >>> comparison = ss.compare("ball", ["semi-implicit-euler", "coulomb", "mujoco"], time=0.1)
    >>> print(comparison.candidate("coulomb").order)
    >>> comparison.report("report.html")
    """
    entries = _candidates(methods)
    dts = _steps(dts)
    runs = whole("runs", runs, 1, 20)
    what = experiment(scene, time, max(dts) if dts else None)
    workers = None if jobs is None else whole("jobs", jobs, 1, 1000)
    check_place(on)
    chosen = _reference(reference, entries)
    temporary = out is None
    folder = temporary_folder("compare") if out is None else Path(out) / "recordings"
    try:
        work = Work(what, entries, folder if on is None else folder.absolute())
        with folder_to_oneself(folder), pool_on(on, work, workers) as pool:
            pool.check_folder(folder)
            stages = Stages(pool, work, progress)
            stages.preview()
            if stability:
                stages.search_stable_steps()
            stages.choose_steps(dts, runs)
            against, recording = stages.run(stages.reference(*chosen))
            stages.measure_orders()
    except BaseException:
        if temporary:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    settings = {
        "methods": [entry.label for entry in entries],
        "time steps": [f"{dt:g} s" for dt in dts] if dts else f"{int(runs)} per method, each half the one before",
        "control step": f"{what.control_dt:g} s" if what.control_dt else "no controller",
        "processes": on if on and workers is None else workers or processors(),
        "stability": stability,
        **({"reference": stages.notes} if stages.notes else {}),
    }
    candidates = tuple(entry.result() for entry in stages.entries)
    comparison = Comparison(what.name, what.seconds, candidates, against, settings, machine(), folder, recording)
    if temporary:
        weakref.finalize(comparison, shutil.rmtree, folder, ignore_errors=True)
    return comparison


def _candidates(methods: Sequence[str | type[Method] | Candidate] | None) -> tuple[Candidate, ...]:
    if isinstance(methods, str) or (methods is not None and not isinstance(methods, Sequence)):
        raise expected("methods", "a list of names, Method classes or Candidates", methods, 'such as ["expo", "rk4"]')
    entries = tuple(candidate(method) for method in (list(METHODS) if methods is None else methods))
    if not entries:
        raise expected("methods", "at least one", methods, "leave it out for every registered method")
    labels = [slug(entry.label) for entry in entries]
    for entry in entries:
        if labels.count(slug(entry.label)) > 1:
            raise InputError(
                f"methods: {entry.label!r} takes part more than once; give Candidate(…, label=…) a label of its own"
            )
    return entries


def _steps(dts: Sequence[float] | None) -> list[float] | None:
    if dts is None:
        return None
    if isinstance(dts, str) or not isinstance(dts, Sequence | np.ndarray):
        raise expected("dts", "a list of time steps [s]", dts, "such as [1e-3, 2e-3]")
    if not len(dts):
        raise expected("dts", "at least one time step [s]", dts, "leave it out for a grid of the method's own")
    return sorted({number("dts", dt, "positive numbers of seconds", above=0.0) for dt in dts}, reverse=True)


def _reference(asked: str | tuple[str, float] | None, entries: Sequence[Candidate]) -> tuple[int | None, float | None]:
    if asked is None:
        return None, None
    if not isinstance(asked, str) and not (isinstance(asked, tuple) and len(asked) == 2):
        raise expected("reference", "a label, or (label, dt)", asked, 'such as "rk4" or ("rk4", 1e-5)')
    label, dt = (asked, None) if isinstance(asked, str) else asked
    labels = [entry.label for entry in entries]
    if label not in labels:
        raise unknown("reference", label, labels)
    return labels.index(label), None if dt is None else number("reference", dt, "a positive step [s]", above=0.0)
