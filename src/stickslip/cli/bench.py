"""``stickslip bench``: ours beside the peers, measured in one run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

Quick = Annotated[bool, typer.Option(help="fewer rounds and sizes")]
Json = Annotated[Path | None, typer.Option(help="write all numbers to this file")]
Out = Annotated[Path | None, typer.Option(help="write all numbers and plots to this folder")]

app = typer.Typer(help="Measure stickslip beside its peers in one run.", no_args_is_help=True, rich_markup_mode="rich")


@app.callback()
def bench() -> None:
    """Measure stickslip beside its peers in one run; exit status 1 when a target is missed."""


@app.command()
def dynamics(quick: Quick = False, json: Json = None, out: Out = None) -> None:
    """Rigid-body algorithms beside Pinocchio's C++, and how their cost grows.

    Example: [bold]stickslip bench dynamics --json dynamics.json[/bold]
    """
    from stickslip.lab.bench.dynamics import run_dynamics

    raise typer.Exit(0 if run_dynamics(quick, json, out) else 1)


@app.command()
def step(quick: Quick = False, json: Json = None, out: Out = None) -> None:
    """One time step of every stepper beside Pinocchio's aba and MuJoCo's mj_step, and how expo's cost grows.

    Example: [bold]stickslip bench step --out bench[/bold]
    """
    from stickslip.lab.bench.step import run_step

    raise typer.Exit(0 if run_step(quick, json, out) else 1)


@app.command()
def contact(quick: Quick = False, json: Json = None, out: Out = None) -> None:
    """Complementarity solvers beside quantecon's Lemke, time-stepping methods beside MuJoCo's mj_step, and growth.

    Example: [bold]stickslip bench contact --out bench[/bold]
    """
    from stickslip.lab.bench.contact import run_contact

    raise typer.Exit(0 if run_contact(quick, json, out) else 1)


@app.command()
def coulomb(quick: Quick = False, json: Json = None, out: Out = None) -> None:
    """Which solver solves Coulomb's law on every step of which scene, and at what cost.

    Example: [bold]stickslip bench coulomb --out bench[/bold]
    """
    from stickslip.lab.bench.coulomb import run_coulomb

    raise typer.Exit(0 if run_coulomb(quick, json, out) else 1)


@app.command()
def rigid(quick: Quick = False, json: Json = None, out: Out = None) -> None:
    """Coulomb's and relaxed contacts on Solo12 and in piles of up to 1000 bodies, beside MuJoCo's mj_step.

    Example: [bold]stickslip bench rigid --out bench[/bold]
    """
    from stickslip.lab.bench.rigid import run_rigid

    raise typer.Exit(0 if run_rigid(quick, json, out) else 1)


@app.command()
def variational(quick: Quick = False, json: Json = None, out: Out = None) -> None:
    """Linear time of the variational integrator, its block LDU beside SciPy's sparse LU, chains beside MuJoCo.

    Example: [bold]stickslip bench variational --out bench[/bold]
    """
    from stickslip.lab.bench.variational import run_variational

    raise typer.Exit(0 if run_variational(quick, json, out) else 1)


@app.command()
def methods(quick: Quick = False, json: Json = None, out: Out = None) -> None:
    """Which method when: every method on scenes that each ask for something else, by one scorecard.

    Example: [bold]stickslip bench methods --out bench-methods[/bold]
    """
    from stickslip.lab.bench.methods import run_methods

    raise typer.Exit(0 if run_methods(quick, json, out) else 1)


@app.command()
def truth(
    scene: Annotated[list[str] | None, typer.Option(help="a case (repeatable; default: all)")] = None,
    method: Annotated[list[str] | None, typer.Option(help="a method (repeatable; default: every stepper)")] = None,
    quick: Annotated[bool, typer.Option(help="default time steps, few methods, no long scenes")] = False,
    json: Json = None,
    out: Annotated[Path | None, typer.Option(help="write all numbers and the page truth.md to this folder")] = None,
    keep: Annotated[
        bool, typer.Option(help="judge earlier trials in --out's folder anew, simulate only others")
    ] = False,
) -> None:
    """Scenes with known answers: every method beside the truth, and what its failures teach.

    Exit status 1 when no method of stickslip's own passes a scene at its default time step.

    Example: [bold]stickslip bench truth --scene incline --method coulomb[/bold]
    """
    from stickslip.lab.truth.suite import run_truth

    try:
        proved = run_truth(scene or (), method or (), quick, json, out, keep=keep)
    except KeyboardInterrupt:
        print("interrupted" + (f"; --out {out} --keep goes on from here" if out else ""), file=sys.stderr)
        raise typer.Exit(130) from None
    raise typer.Exit(0 if proved else 1)
