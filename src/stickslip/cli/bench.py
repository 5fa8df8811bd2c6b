"""``stickslip bench``: measurements of stickslip beside its peers, in one run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from stickslip.cli.options import On

Quick = Annotated[bool, typer.Option(help="fewer rounds and sizes")]
Json = Annotated[Path | None, typer.Option(help="write all numbers to this file")]
Out = Annotated[Path | None, typer.Option(help="write all numbers and plots to this folder")]

COMMANDS = (
    ("dynamics", "--json dynamics.json",
     "Rigid-body algorithms beside Pinocchio's C++, and how their cost grows."),
    ("step", "--out bench",
     "One time step of methods with soft contacts beside Pinocchio's aba and MuJoCo's mj_step, and expo's growth."),
    ("contact", "--out bench",
     "Complementarity solvers beside quantecon's Lemke, time-stepping methods beside MuJoCo's mj_step, and growth."),
    ("coulomb", "--out bench",
     "Which solver solves Coulomb's law on every step of which scene, and at what cost."),
    ("rigid", "--out bench",
     "Coulomb's and relaxed contacts on Solo12 and in piles of up to 1000 bodies, beside MuJoCo's mj_step."),
    ("collision", "--out bench",
     "Contacts of pairs of shapes and of hulls beside MuJoCo's mj_collision and beside the truth, and growth."),
    ("variational", "--out bench",
     "Linear time of the variational integrator, its block LDU beside SciPy's sparse LU, chains beside MuJoCo."),
    ("soak", "--out bench",
     "A million recorded steps of every compiled method, and whether its memory stays flat."),
    ("methods", "--out bench-methods",
     "Which method when: every method on scenes that each ask for something else, by one scorecard."),
)  # fmt: skip
"""Name of the command (its module in ``lab.bench`` has a function ``run_NAME``), options of an example, and help."""

app = typer.Typer(help="Measure stickslip beside its peers in one run.", no_args_is_help=True, rich_markup_mode="rich")


@app.callback()
def bench() -> None:
    """Measure stickslip beside its peers in one run; exit status 1 when a target is missed."""


def command(name: str) -> Callable[..., None]:
    """The command that runs ``lab.bench.NAME``, which is imported only then."""

    def run(quick: Quick = False, json: Json = None, out: Out = None) -> None:
        work = getattr(import_module(f"stickslip.lab.bench.{name}"), f"run_{name}")
        raise typer.Exit(0 if work(quick, json, out) else 1)

    return run


for name, example, text in COMMANDS:
    app.command(name, help=f"{text}\n\nExample: [bold]stickslip bench {name} {example}[/bold]")(command(name))


@app.command()
def robots(
    files: Annotated[list[Path], typer.Argument(help="MJCF or URDF files, or .txt files with a path on each line")],
    methods: Annotated[str, typer.Option(help="methods, separated by commas")] = "coulomb/pgs,expo",
    seconds: Annotated[float, typer.Option(help="simulated time [s]")] = 0.5,
    dt: Annotated[float, typer.Option(help="time step of all [s]")] = 2e-3,
    limit: Annotated[float, typer.Option(help="longest time to load a model, and to take its times [s]")] = 60.0,
    json: Json = None,
    out: Out = None,
) -> None:
    """Robot models from files: a time step beside MuJoCo's mj_step of the same file.

    Example: [bold]stickslip bench robots panda.xml go2.urdf --out bench[/bold]
    """
    from stickslip.lab.bench.robot_run import Settings
    from stickslip.lab.bench.robots import run_robots

    named = tuple(name.strip() for name in methods.split(",") if name.strip())
    raise typer.Exit(0 if run_robots(files, Settings(named, seconds, dt, limit), json, out) else 1)


@app.command()
def models(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="MJCF or URDF files, .txt files with a path on each line, bundled scenes, or 'scenes' for all of them"
        ),
    ],
    methods: Annotated[
        str,
        typer.Option(help="methods, separated by commas, or 'all'; 'default' is what a simulation chooses by itself"),
    ] = "default,coulomb/pgs,expo,variational,relaxed/pgs,mujoco",
    seconds: Annotated[float, typer.Option(help="simulated time [s]")] = 1.0,
    limit: Annotated[float, typer.Option(help="longest time to load a model, and for one method's run [s]")] = 60.0,
    json: Json = None,
    out: Out = None,
) -> None:
    """Model files from anywhere: which load as they are, and which methods simulate them at their default time step.

    Example: [bold]stickslip bench models panda.xml go2.urdf --out bench[/bold], or
    [bold]stickslip bench models scenes --methods all --seconds 0.2[/bold]
    """
    from stickslip.lab.bench.model_run import Settings
    from stickslip.lab.bench.models import run_models
    from stickslip.methods.registry import METHODS

    named = tuple(METHODS) if methods == "all" else tuple(name.strip() for name in methods.split(",") if name.strip())
    raise typer.Exit(0 if run_models(files, Settings(named, seconds, limit), json, out) else 1)


@app.command()
def worlds(
    methods: Annotated[str, typer.Option(help="methods, separated by commas; default: those of the device")] = "",
    device: Annotated[str, typer.Option(help="cpu, or cuda for an NVIDIA GPU")] = "cpu",
    sizes: Annotated[str, typer.Option(help="numbers of worlds, separated by commas")] = "",
    dtype: Annotated[str, typer.Option(help="float64, or float32 on a GPU")] = "float64",
    quick: Quick = False,
    json: Json = None,
    out: Out = None,
) -> None:
    """Many worlds at once: steps/s, simulated s per s at equal error and memory, beside mujoco.rollout or MuJoCo Warp.

    Examples: [bold]stickslip bench worlds --out bench[/bold],
    [bold]stickslip bench worlds --device cuda --dtype float32 --sizes 1024,32768[/bold]
    """
    from stickslip.lab.bench.worlds import checked_sizes, run_worlds

    named = tuple(name.strip() for name in methods.split(",") if name.strip())
    met = run_worlds(quick, json, out, methods=named, device=device, dtype=dtype, worlds=checked_sizes(sizes))
    raise typer.Exit(0 if met else 1)


@app.command()
def facets(
    tosses: Annotated[Path | None, typer.Option(help="an npz file of tosses of a cube to compare with")] = None,
    quick: Quick = False,
    json: Json = None,
    out: Out = None,
) -> None:
    """Friction cones of 4 to 16 directions, and round ones: how late sliding bodies stop, and what a step costs.

    Example: [bold]stickslip bench facets --tosses cube-tosses.npz[/bold]
    """
    from stickslip.lab.bench.facets import run_facets

    raise typer.Exit(0 if run_facets(quick, json, out, tosses) else 1)


@app.command()
def trust(
    quick: Annotated[bool, typer.Option(help="two methods, two time steps, few values")] = False,
    json: Json = None,
    out: Annotated[
        Path | None, typer.Option(help="write the page trust.md, its figures and all results to this folder")
    ] = None,
    keep: Annotated[bool, typer.Option(help="compute only what earlier runs have not left in --out's folder")] = False,
    jobs: Annotated[int | None, typer.Option(help="processes side by side; default: one per core")] = None,
    on: On = None,
) -> None:
    """Regions of trust: over time step, stiffness, friction and mass ratio, where is which method right?

    Example: [bold]stickslip bench trust --out trust[/bold]
    """
    from stickslip.lab.bench.trust import run_trust

    try:
        met = run_trust(quick, json, out, keep=keep, on=on, workers=jobs)
    except KeyboardInterrupt:
        print("interrupted" + (f"; --out {out} --keep continues" if out else ""), file=sys.stderr)
        raise typer.Exit(130) from None
    raise typer.Exit(0 if met else 1)


@app.command()
def truth(
    scene: Annotated[list[str] | None, typer.Option(help="a case (repeatable; default: all)")] = None,
    method: Annotated[list[str] | None, typer.Option(help="a method (repeatable; default: every method)")] = None,
    quick: Annotated[bool, typer.Option(help="default time steps, few methods, no long scenes")] = False,
    json: Json = None,
    out: Annotated[Path | None, typer.Option(help="write all numbers and the page truth.md to this folder")] = None,
    keep: Annotated[
        bool, typer.Option(help="check earlier trials in --out's folder again, simulate only the others")
    ] = False,
    on: On = None,
) -> None:
    """Scenes with known answers: every method beside the truth, and what its failures teach.

    Exit status 1 when no method of stickslip's own passes a scene at its default time step.

    Examples: [bold]stickslip bench truth --scene incline --method coulomb[/bold],
    [bold]stickslip bench truth --out truth --on ray[/bold]
    """
    from stickslip.lab.truth.suite import run_truth

    try:
        passed = run_truth(scene or (), method or (), quick, json, out, keep=keep, on=on)
    except KeyboardInterrupt:
        print("interrupted" + (f"; --out {out} --keep continues" if out else ""), file=sys.stderr)
        raise typer.Exit(130) from None
    raise typer.Exit(0 if passed else 1)
