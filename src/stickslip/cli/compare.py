"""``stickslip compare``: one scene, several methods, one scorecard; a table, a report, the recordings."""

from __future__ import annotations

import sys
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from stickslip.cli.options import FloatingBase, Ignore, On, PackageDir, UnreadableMeshes, load_options, method_options
from stickslip.cli.plugin import Plugin, load_plugins
from stickslip.errors import expected, number

if TYPE_CHECKING:
    from stickslip.lab.compare import Candidate


def compare(
    scene: Annotated[str, Argument(help="a bundled scene (see 'stickslip list'), or an MJCF or URDF file")],
    methods: Annotated[
        str, Option(help="methods, separated by commas, options in brackets: expo\\[matmuls=2],rk4; default: all")
    ] = "",
    dt: Annotated[str, Option(help="time steps in seconds, separated by commas; default: each method's own")] = "",
    runs: Annotated[int, Option(help="time steps per method, each half the one before, where --dt is not given")] = 4,
    time: Annotated[float | None, Option(help="how many seconds to simulate; default: the scene's own")] = None,
    reference: Annotated[
        str | None, Option(help="METHOD or METHOD@DT that errors are measured against; default: highest order")
    ] = None,
    jobs: Annotated[int | None, Option(help="processes side by side; default: one per core")] = None,
    on: On = None,
    stability: Annotated[bool, Option(help="search each method's longest stable step")] = True,
    out: Annotated[
        Path | None, Option(help="folder for report.html, comparison.json and recordings; default: compare-SCENE")
    ] = None,
    plugin: Plugin = None,
    floor: Annotated[float | None, Option(help="put a floor at this height (m) under a model file")] = None,
    floating_base: FloatingBase = False,
    package_dir: PackageDir = None,
    unreadable_meshes: UnreadableMeshes = "replace",
    ignore: Ignore = None,
) -> None:
    """Run one scene by several methods and judge them all by the same scorecard.

    Examples: [bold]stickslip compare solo12-squat --methods expo,rk4,coulomb/pgs,mujoco --time 2[/bold],
    [bold]stickslip compare ball --dt 1e-3,2e-3,4e-3 --reference rk4@1e-5[/bold],
    [bold]stickslip compare box-pile --on ray://head:10001 --out /shared/piles[/bold],
    [bold]stickslip compare my_robot.urdf --floating-base --floor -0.4 --methods expo,relaxed,mujoco[/bold]
    """
    from rich.console import Console

    from stickslip.lab.compare import compare as run_comparison
    from stickslip.lab.compare.report import table
    from stickslip.scenes import SCENES, find

    console = Console()
    if on is not None and plugin:
        raise expected("--plugin", "none with --on, since Ray's workers do not load it", [str(p) for p in plugin])
    load_plugins(plugin)
    candidates = parse_methods(methods)
    name, setup, _ = find(scene, floor=floor, **load_options(floating_base, package_dir, unreadable_meshes, ignore))
    for note in setup.scene.notes:
        console.print(f"note: {note}", highlight=False)
    folder = out or Path(f"compare-{Path(name).stem}")
    try:
        result = run_comparison(
            scene if scene in SCENES else setup, candidates, time=time, dts=parse_steps(dt), runs=runs,
            reference=parse_reference(reference), jobs=jobs, on=on, stability=stability, out=folder,
        )  # fmt: skip
    except KeyboardInterrupt:
        print(f"interrupted; recordings made so far are in {str(folder / 'recordings')!r}", file=sys.stderr)
        raise typer.Exit(130) from None
    result.save(folder)
    report = result.report(folder / "report.html")
    console.print(table(result))
    for heading, lists in (
        ("materials, as methods read them", [(e.label, e.materials) for e in result.candidates]),
        ("not honoured", [(e.label, e.not_honoured) for e in result.candidates]),
    ):
        for labels, sentences in alike(lists).items():
            console.print(f"{heading}, {labels}:", *sentences, sep="\n  ", highlight=False, markup=False)
    for candidate in result.candidates:
        for run in candidate.runs:
            if run.outcome != "complete":
                at = "" if isnan(run.dt) else f" at dt = {run.dt:g} s"
                console.print(f"{run.label}{at} {run.outcome}: {run.message}", highlight=False, markup=False)
    for note in result.settings.get("reference", ()):
        console.print(f"reference: {note}", highlight=False, markup=False)
    console.print(f"report      {report}")
    console.print(f"recordings  {folder / 'recordings'}")
    if not any(run.outcome == "complete" for run in result.runs()):
        raise typer.Exit(1)


def alike(lists: list[tuple[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    """Labels with the same sentences together: "expo, rk4" → sentences; those without any are left out."""
    together: dict[tuple[str, ...], list[str]] = {}
    for label, sentences in lists:
        if sentences:
            together.setdefault(sentences, []).append(label)
    return {", ".join(labels): sentences for sentences, labels in together.items()}


def parse_methods(text: str) -> list[Candidate] | None:
    """``expo[matmuls=2],rk4`` as candidates; None where nothing is asked for."""
    from stickslip.lab.compare import Candidate

    if not text.strip():
        return None
    candidates = []
    for part in split_methods(text):
        method, bracket, options = part.partition("[")
        ending = options.endswith("]") if bracket else True
        inside = options.removesuffix("]")
        if not method.strip() or not ending or set("[]") & set(method + inside):
            raise expected(
                "--methods", "names separated by commas, options in brackets", part, "such as expo[matmuls=2],rk4"
            )
        candidates.append(Candidate(method.strip(), part, method_options([o for o in inside.split(",") if o.strip()])))
    return candidates


def split_methods(text: str) -> list[str]:
    """Parts between commas that are not inside brackets."""
    parts = [""]
    for word in text.split(","):
        if "[" in parts[-1] and "]" not in parts[-1]:
            parts[-1] += "," + word
        else:
            parts.append(word)
    return [part.strip() for part in parts[1:]]


def parse_steps(text: str) -> list[float] | None:
    return [_seconds("--dt", part) for part in text.split(",") if part.strip()] or None


def parse_reference(text: str | None) -> str | tuple[str, float] | None:
    if text is None:
        return None
    label, at, dt = text.rpartition("@")
    return (label, _seconds("--reference", dt)) if at else text


def _seconds(what: str, text: str) -> float:
    try:
        value: float | str = float(text)
    except ValueError:
        value = text
    return number(what, value, "positive numbers of seconds, such as 1e-3,2e-3", above=0.0)
