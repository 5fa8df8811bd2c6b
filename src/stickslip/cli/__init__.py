"""The command line: one file per subcommand. Errors are one line; a traceback is a bug."""

from __future__ import annotations

import re
import sys
import warnings
from io import TextIOWrapper
from itertools import pairwise
from typing import Annotated, Any

import typer

from stickslip import __version__
from stickslip.cli import bench, compare, doctor, export, learn, list_, plot, reproduce, run, solve, view, warm
from stickslip.errors import StickslipError, brief, shortened, unknown

app = typer.Typer(
    name="stickslip",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("run")(run.run)
app.command("plot")(plot.plot)
app.command("export")(export.export)
app.command("compare")(compare.compare)
app.command("solve")(solve.solve)
app.command("view")(view.view)
app.command("list")(list_.list_)
app.command("doctor")(doctor.doctor)
app.command("learn")(learn.learn)
app.command("warm")(warm.warm)
app.add_typer(bench.app, name="bench")
app.add_typer(reproduce.app, name="reproduce")

UsageError: Any = typer.BadParameter.__mro__[1]
"""The error of wrong words on the command line. Some versions of Typer bring their own click, where it is found so."""


def show_version(wanted: bool) -> None:
    if wanted:
        print(f"stickslip {__version__}")
        raise typer.Exit


@app.callback()
def stickslip(
    version: Annotated[
        bool, typer.Option("--version", help="show the version and exit", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    """One scene, every contact method: simulate robots that touch things."""


def in_our_words(error: Any) -> str:
    """What was wrong with the words of a command line, and what to do."""
    said = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    missing = re.match(r"No such command '(.*?)'", said)
    if missing is not None and context is not None:
        return str(unknown("command", missing[1], context.command.commands))
    if "ossible option" in said:
        return said
    if said.startswith("Got unexpected extra argument"):
        said += "; a list is one word, such as expo,coulomb"
    wrong = re.fullmatch(r"Invalid value for '(-.*)': Input should be a valid (\w+)\b.*", said)
    if wrong is not None:
        said = f"{wrong[1]}: expected a{'n' if wrong[2][0] in 'aeiou' else ''} {wrong[2]}{_given(error.param.opts)}"
    path = "" if context is None else context.command_path.partition("stickslip")[2]
    return f"{said}; 'stickslip{path} --help' shows what there is"


def _given(names: list[str]) -> str:
    """What came after an option on the command line."""
    for word, following in pairwise([*sys.argv, ""]):
        name, equals, value = word.partition("=")
        if name in names:
            return f", got {brief(value if equals else following)}"
    return ""


def main() -> None:
    """Entry point of the ``stickslip`` command."""
    warnings.showwarning = lambda message, *_, **__: print(f"warning: {message}", file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):  # names of files may hold bytes that are no letters
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # a command without words shows its help
            print(error.format_message())
            sys.exit(0)
        print(f"error: {shortened(in_our_words(error))}", file=sys.stderr)
        sys.exit(2)
    except StickslipError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(shortened(f"error: {error.strerror or error}: {error.filename or ''}".rstrip(": ")), file=sys.stderr)
        sys.exit(2)
    except MemoryError:
        print("error: there is not enough memory for this; ask for less", file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        sys.exit(130)
