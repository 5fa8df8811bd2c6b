"""Overview picture of a run, for ``stickslip run --plot``: height, contact forces, penetration and energy."""

from __future__ import annotations

from pathlib import Path

from stickslip.errors import RecordingError
from stickslip.files import check_writable, save_figure
from stickslip.record.log import Log
from stickslip.record.plot import plot

PANELS = ("height", "contact_force", "penetration", "energy")


ENDINGS = (".png", ".pdf", ".svg")


def check_plot(path: Path | None) -> None:
    """Raise an error now for a picture that could not be written after the run."""
    check_writable(path)
    if path is not None and path.suffix.lower() not in ENDINGS:
        raise RecordingError(f"plot {str(path)!r}: expected a name that ends in {', '.join(ENDINGS)}")


def save_overview(log: Log, path: str | Path, title: str) -> None:
    """Write the picture; the file's ending chooses the format."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.0, 7.0), layout="constrained")
    axes = figure.subplots(2, 2)
    for what, ax in zip(PANELS, axes.ravel(), strict=True):
        plot(log, what, ax=ax)
    figure.suptitle(title)
    check_plot(Path(path))
    save_figure(figure, path, dpi=120)
