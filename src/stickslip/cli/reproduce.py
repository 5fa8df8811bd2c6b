"""``stickslip reproduce``: the figures and tables of a paper, made again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Make a paper's figures and tables again, with our own robots and methods.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@app.callback()
def reproduce() -> None:
    """Make a paper's figures and tables again; exit status 1 when a target is missed."""


@app.command()
def expo(
    quick: Annotated[bool, typer.Option(help="a slice of it, in about a minute")] = False,
    out: Annotated[Path, typer.Option(help="folder for figures, tables and data")] = Path("reproduce-expo"),
    json: Annotated[Path | None, typer.Option(help="write all numbers to this file, too")] = None,
    only: Annotated[str, typer.Option(help="some of fig2,fig3,orders,table2,fig4,fig5,fig6,table3; default: all")] = "",
    fresh: Annotated[bool, typer.Option(help="start over instead of continuing from the folder's data")] = False,
) -> None:
    """Exponential integration of stiff viscoelastic contacts (Hammoud et al.): Figs. 2 to 6, Tables I to III.

    A run that was stopped continues where it stopped.

    Example: [bold]stickslip reproduce expo --quick --only fig5,table3[/bold]
    """
    from stickslip.reproduce.expo.run import run_expo

    parts = [part.strip() for part in only.split(",") if part.strip()]
    try:
        met = run_expo(quick, out, json, parts, fresh)
    except KeyboardInterrupt:
        print(f"interrupted; the same command (without --fresh) continues from {str(out)!r}", file=sys.stderr)
        raise typer.Exit(130) from None
    raise typer.Exit(0 if met else 1)
