"""``stickslip reproduce``: the figures and tables of a paper, made again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from stickslip.lab.papers.paper import Reproduction

Quick = Annotated[bool, typer.Option(help="a slice of it, in about a minute")]
Out = Annotated[Path | None, typer.Option(help="folder for figures, tables and data; default: reproduce-PAPER")]
Json = Annotated[Path | None, typer.Option(help="write all numbers to this file, too")]
Fresh = Annotated[bool, typer.Option(help="start over instead of continuing from the folder's data")]

app = typer.Typer(
    help="Make a paper's figures and tables again, with our own robots and methods.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@app.callback()
def reproduce() -> None:
    """Make a paper's figures and tables again; exit status 1 when a target is missed."""


def make(paper: Reproduction, quick: bool, out: Path | None, json: Path | None, only: str, fresh: bool) -> None:
    from stickslip.lab.papers.driver import reproduce

    out = out or Path(f"reproduce-{paper.name}")
    parts = [part.strip() for part in only.split(",") if part.strip()]
    try:
        met = reproduce(paper, quick, out, json, parts, fresh)
    except KeyboardInterrupt:
        print(f"interrupted; the same command (without --fresh) continues from {str(out)!r}", file=sys.stderr)
        raise typer.Exit(130) from None
    raise typer.Exit(0 if met else 1)


@app.command()
def expo(
    quick: Quick = False,
    out: Out = None,
    json: Json = None,
    only: Annotated[str, typer.Option(help="some of fig2,fig3,orders,table2,fig4,fig5,fig6,table3; default: all")] = "",
    fresh: Fresh = False,
) -> None:
    """Exponential integration of stiff viscoelastic contacts (Hammoud et al.): Figs. 2 to 6, Tables I to III.

    A run that was stopped continues where it stopped.

    Example: [bold]stickslip reproduce expo --quick --only fig5,table3[/bold]
    """
    from stickslip.lab.papers.expo.reproduction import Expo

    make(Expo(), quick, out, json, only, fresh)


@app.command()
def rpisim(
    quick: Quick = False,
    out: Out = None,
    json: Json = None,
    only: Annotated[str, typer.Option(help="some of fig4,fig8,fig9,fig10,sec52,sec53; default: all")] = "",
    fresh: Fresh = False,
) -> None:
    """The RPI simulator (Williams et al.): Figs. 4, 8, 9 and 10, the comparisons of Secs. 5.2 and 5.3.

    A run that was stopped continues where it stopped.

    Example: [bold]stickslip reproduce rpisim --quick --only fig4,fig8[/bold]
    """
    from stickslip.lab.papers.rpisim.reproduction import RpiSim

    make(RpiSim(), quick, out, json, only, fresh)


@app.command()
def lecture(
    quick: Quick = False,
    out: Out = None,
    json: Json = None,
    only: Annotated[str, typer.Option(help="some of contact,stiffness,bilateral,derivatives; default: all")] = "",
    fresh: Fresh = False,
) -> None:
    """Soft, rigid and relaxed contact side by side (Carpentier's lecture), and analytical derivatives.

    A run that was stopped continues where it stopped. The derivatives need Pinocchio: pip install 'stickslip[bench]'.

    Example: [bold]stickslip reproduce lecture --quick --only contact[/bold]
    """
    from stickslip.lab.papers.lecture.reproduction import Lecture

    make(Lecture(), quick, out, json, only, fresh)


@app.command()
def variational(
    quick: Quick = False,
    out: Out = None,
    json: Json = None,
    only: Annotated[str, typer.Option(help="some of fig4,fig5,fig6,fig7,agreement; default: all")] = "",
    fresh: Fresh = False,
) -> None:
    """Linear-time contact in maximal coordinates (Brüdigam et al.): Figs. 4 to 8, and the same walk by other methods.

    A run that was stopped continues where it stopped. Times of fig4 and fig5 need a quiet machine.

    Example: [bold]stickslip reproduce variational --quick --only fig6,fig7[/bold]
    """
    from stickslip.lab.papers.variational.reproduction import Variational

    make(Variational(), quick, out, json, only, fresh)


@app.command("event-selected")
def event_selected(
    quick: Quick = False,
    out: Out = None,
    json: Json = None,
    only: Annotated[str, typer.Option(help="some of fig41,table51,fig52,beyond,irregular; default: all")] = "",
    fresh: Fresh = False,
) -> None:
    """The rapid integrator of event-selected systems (Anderson, Revzen): Figs. 4.1 to 5.2, Table 5.1, beside MuJoCo.

    A run that was stopped continues where it stopped. Times need a quiet machine.

    Example: [bold]stickslip reproduce event-selected --quick --only fig41,table51[/bold]
    """
    from stickslip.lab.papers.event_selected.reproduction import EventSelected

    make(EventSelected(), quick, out, json, only, fresh)
