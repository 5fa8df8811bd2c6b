"""``stickslip plot``: plots of one or several recordings."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from stickslip.errors import expected, unknown


def plot(
    what: Annotated[
        list[str], Argument(help="recordings (.h5), and names of plots; without names an overview is drawn")
    ],
    out: Annotated[Path | None, Option(help="picture (.png, .pdf, .svg); default: RECORDING-PLOTS.png")] = None,
) -> None:
    """Plot recordings. Several runs are drawn into the same axes, each in its colour.

    Examples: [bold]stickslip plot drop.h5[/bold],
    [bold]stickslip plot drop.h5 energy penetration --out drop.pdf[/bold],
    [bold]stickslip plot euler.h5 expo.h5 height contact_force --out both.png[/bold]
    """
    from stickslip.record import load
    from stickslip.record.overlay import labels, save_plots
    from stickslip.record.plot import PLOTS

    names = [word for word in what if word in PLOTS]
    files = [Path(word) for word in what if word not in PLOTS]
    for path in files:
        if not path.suffix and not path.exists():
            raise unknown("plot", str(path), PLOTS)
    if not files:
        raise expected("plot", "the file of a recording", " ".join(what), "stickslip run SCENE --record FILE makes one")
    with ExitStack() as stack:
        logs = [stack.enter_context(load(path)) for path in files]
        called = labels(logs)
        others = [file.stem for file in files[1:]]
        path = out or files[0].with_name("-".join([files[0].stem, *others, *names])[:200] + ".png")
        title = f"{files[0].name}: {called[0]}" if len(files) == 1 else ""
        save_plots(dict(zip(called, logs, strict=True)), names, path, title)
    print(f"plot       {path}")
