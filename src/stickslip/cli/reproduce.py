"""``stickslip reproduce``: the figures and tables of a paper, made again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from stickslip.cli.options import On
from stickslip.errors import expected

Quick = Annotated[bool, typer.Option(help="a slice of it, in about a minute")]
Out = Annotated[Path | None, typer.Option(help="folder for figures, tables and data; default: reproduce-PAPER")]
Json = Annotated[Path | None, typer.Option(help="write all numbers to this file, too")]
Fresh = Annotated[bool, typer.Option(help="start over instead of continuing from the folder's data")]


class Paper(NamedTuple):
    """A command."""

    name: str
    where: str
    """Module in ``lab.papers``, and the class of the reproduction."""
    parts: str
    """Parts of the report; a test compares them with the class."""
    text: str
    example: str
    """Options of an example."""
    note: str = ""


PAPERS = (
    Paper("expo", "expo.reproduction:Expo", "fig2,fig3,orders,table2,fig4,fig5,fig6,table3,changes",
          "Exponential integration of stiff viscoelastic contacts (Hammoud et al.): Figs. 2 to 6, Tables I to III.",
          "--quick --only fig5,table3"),
    Paper("rpisim", "rpisim.reproduction:RpiSim", "fig4,fig8,fig9,fig10,sec52,sec53",
          "The RPI simulator (Williams et al.): Figs. 4, 8, 9 and 10, the comparisons of Secs. 5.2 and 5.3.",
          "--quick --only fig4,fig8"),
    Paper("lecture", "lecture.reproduction:Lecture", "contact,stiffness,bilateral,derivatives",
          "Soft, rigid and relaxed contact side by side (Carpentier's lecture), and analytical derivatives.",
          "--quick --only contact", " The derivatives need Pinocchio: pip install 'stickslip[bench]'."),
    Paper("variational", "variational.reproduction:Variational",
          "fig4,fig5,fig6,fig7,conservation,iterations,agreement",
          "Linear-time contact in maximal coordinates (Brüdigam et al.): Figs. 4 to 8, and a walk by other methods.",
          "--quick --only fig6,fig7", " Times of fig4 and fig5 need a quiet machine."),
    Paper("event-selected", "event_selected.reproduction:EventSelected",
          "fig11,fig41,table51,fig52,identical,beyond,irregular",
          "Rapid integration of event-selected systems (Anderson, Revzen): Figs. 1.1 to 5.2, Table 5.1, and MuJoCo.",
          "--quick --only fig41,table51", " Times need a quiet machine."),
)  # fmt: skip

app = typer.Typer(
    help="Make a paper's figures and tables again, with our own robots and methods.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@app.callback()
def reproduce() -> None:
    """Make a paper's figures and tables again; exit status 1 when a target is missed."""


def command(paper: Paper) -> Callable[..., None]:
    """The command that makes a paper; its module is imported only then."""
    only_help = f"some of {paper.parts.replace(',', ', ')}, with commas between; default: all"

    def make(
        quick: Quick = False,
        out: Out = None,
        json: Json = None,
        only: str | None = typer.Option(None, help=only_help),
        fresh: Fresh = False,
        on: On = None,
    ) -> None:
        from stickslip.lab.papers.driver import reproduce

        module, _, kind = paper.where.partition(":")
        study = getattr(import_module(f"stickslip.lab.papers.{module}"), kind)()
        folder = out or Path(f"reproduce-{paper.name}")
        parts = [part.strip() for part in (only or "").split(",") if part.strip()]
        if only is not None and not parts:
            raise expected("--only", f"some of {paper.parts.replace(',', ', ')}", only)
        try:
            met = reproduce(study, quick, folder, json, parts, fresh, on=on)
        except KeyboardInterrupt:
            print(f"interrupted; the same command (without --fresh) continues from {str(folder)!r}", file=sys.stderr)
            raise typer.Exit(130) from None
        raise typer.Exit(0 if met else 1)

    return make


for paper in PAPERS:
    continues = f"A run that was stopped continues where it stopped.{paper.note}"
    example = f"Example: [bold]stickslip reproduce {paper.name} {paper.example}[/bold]"
    app.command(paper.name, help=f"{paper.text}\n\n{continues}\n\n{example}")(command(paper))
