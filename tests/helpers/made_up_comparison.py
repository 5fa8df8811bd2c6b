"""A comparison with numbers made up, and one with short recordings of a sliding box."""

from dataclasses import replace
from math import nan
from pathlib import Path

from stickslip.lab.compare import METRICS, CandidateResult, Comparison, Run, Timing, score
from stickslip.record import load
from stickslip.scenes import find
from stickslip.simulation import Simulation

SECONDS = 0.1


def run(label, dt, factor, error, **scores):
    """A complete run: real-time factor and error [m]; other figures 0."""
    given = {"real_time_factor": factor, "error_rms": error, "error_max": 2 * error, **scores}
    return Run(label, dt, "complete", scores=dict.fromkeys(METRICS, 0.0) | given)


def made_up() -> Comparison:
    """``quick`` is cheap and coarse, ``exact`` dear and fine, ``both`` in between; ``broken`` diverges."""
    quick = CandidateResult(
        "quick",
        "expo",
        "spring-damper",
        {},
        (run("quick", 1e-2, 1000.0, 1e-2, energy_gained=0.5), run("quick", 1e-3, 100.0, 4e-3, energy_gained=0.2)),
        materials=("friction μ = 0.8: circular cone",),
        not_honoured=("restitution 0.5 <of the ball>",),
        citation="@article{quick,\n  title = {Quick & dirty}\n}",
        default_dt=8e-3,
        order=1.0,
        largest_stable_dt=0.02,
        stability="the scene's own limit",
    )
    both = CandidateResult(
        "both",
        "coulomb",
        "pgs",
        {"tolerance": "1e-8"},
        (run("both", 1e-2, 500.0, 2e-3), run("both", 1e-3, 50.0, 3e-4)),
        citation="@article{both,\n  title = {Both}\n}",
        default_dt=1e-2,
        largest_stable_dt=0.01,
    )
    exact = CandidateResult(
        "exact",
        "rk4",
        "spring-damper",
        {},
        (run("exact", 1e-3, 2.0, 1e-5), run("exact", 1e-4, 0.2, 0.0)),
        citation="@article{both,\n  title = {Both}\n}",
        default_dt=1e-3,
    )
    message = "a velocity is not a number: step 3; <b>try a smaller dt</b>"
    broken = CandidateResult(
        '<script>alert("x")</script>', "euler", "", {}, (Run('<script>alert("x")</script>', 1e-2, "diverged", message),)
    )
    return Comparison(
        "box & ramp",
        2.0,
        (quick, both, exact, broken),
        ("exact", 1e-4),
        {"dts": [1e-2, 1e-3, 1e-4], "stability": True},
        {"stickslip": "0.1.0"},
    )


def recorded(folder: Path) -> Comparison:
    """The incline by three methods at two steps each, scored."""
    candidates = []
    for method in ("expo", "stewart-trinkle/lemke", "coulomb/pgs"):
        runs = []
        for dt in (2e-3, 1e-3):
            _, setup, _ = find("incline")
            path = folder / f"{method.replace('/', '-')}-{dt:g}.h5"
            Simulation(setup.scene, method, dt).run(SECONDS, record=path, record_dt=dt)
            runs.append(Run(method, dt, "complete", recording=path))
        candidates.append(CandidateResult(method, *method.partition("/")[::2], {}, tuple(runs), default_dt=1e-3))
    label, dt = "coulomb/pgs", 1e-3
    with load(folder / "coulomb-pgs-0.001.h5") as reference:
        scored = []
        for candidate in candidates:
            runs = []
            for one in candidate.runs:
                with one.log() as log:
                    timing = Timing(0.01 / one.dt * 1e-3, int(log.steps[-1]), SECONDS)
                    runs.append(replace(one, scores=score(log, reference=reference, timing=timing)))
            scored.append(replace(candidate, runs=tuple(runs)))
    return Comparison("incline", SECONDS, tuple(scored), (label, dt), {"note": nan}, {"stickslip": "0.1.0"}, folder)
