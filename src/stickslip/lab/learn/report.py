"""What was learned, as a table, a picture and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from stickslip.lab.compare.report.colours import method_colours
from stickslip.lab.learn.search import Point
from stickslip.lab.learn.transfer import Judged
from stickslip.lab.report import new_figure, save_figure, terminal_table, write_numbers

MOST_WORDS = 90
"""Characters of a reason in the table; the JSON file has all."""


@dataclass(frozen=True)
class Learned:
    """A policy's learning curve and its returns by each method."""

    task: str
    measured: tuple[str, str]
    """Name and unit of what the task measures."""
    method: str
    """The method that it was learned with."""
    settings: dict[str, Any]
    curve: Sequence[Point]
    random: Judged
    """Random actions."""
    judged: Sequence[Judged]

    @property
    def own(self) -> float:
        """The mean return by the method that it was learned with; NaN if that was not judged."""
        return next((each.mean for each in self.judged if each.label == self.method), np.nan)

    def write(self, folder: Path) -> None:
        """``learn.json``, and ``learn.png`` and ``.pdf``."""
        rows = [asdict(each) for each in self.judged]
        numbers = {
            "task": self.task, "method": self.method, "measured": self.measured, "settings": self.settings,
            "curve": [asdict(point) for point in self.curve], "random": asdict(self.random), "judged": rows,
        }  # fmt: skip
        write_numbers(numbers, folder / "learn.json")
        save_figure(self.picture(), folder, "learn")

    def table(self) -> Table:
        """Returns by method, in the terminal."""
        name, unit = self.measured
        headings = ["method", "dt [ms]", "runs", "return", "of its own", "time [s]", "failed", f"{name} [{unit}]"]
        headings.append("unsolved")
        title = f"{self.task}: a policy of {self.method}, by each contact method"
        table = terminal_table(title, headings, no_wrap=1, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for label, each in [*((each.label, each) for each in self.judged), ("random actions", self.random)]:
            if not each.why_not:
                table.add_row(label, *_cells(each, self.own))
        reasons = [each for each in self.judged if each.why_not]
        if reasons:
            words = "\n".join(f"{each.label}: {_short(each.why_not)}" for each in reasons)
            table.caption, table.caption_justify = Text(f"could not run it:\n{words}", style=""), "left"
        return table

    def picture(self) -> Any:
        """The learning curve, if there is one, beside the returns by each method."""
        height = 1.6 + 0.32 * len(self.judged)
        if not self.curve:
            figure, axes = new_figure(1, 1, (7.5, height))
            self._draw_judged(axes[0, 0])
            return figure
        figure, axes = new_figure(1, 2, (12.0, height))
        self._draw_curve(axes[0, 0])
        self._draw_judged(axes[0, 1])
        return figure

    def _draw_curve(self, ax: Any) -> None:
        seconds, mean, deviation = (
            np.array([getattr(point, name) for point in self.curve]) for name in ("seconds", "mean", "deviation")
        )
        colour = method_colours([self.method])[self.method]
        ax.fill_between(seconds, mean - deviation, mean + deviation, color=colour, alpha=0.2, lw=0)
        ax.plot(seconds, mean, color=colour, label="mean ± deviation of 16 episodes")
        ax.axhline(self.random.mean, color="0.5", ls=":", label="random actions")
        ax.set_xlabel("computing [s]")
        ax.set_ylabel("return [1]")
        ax.set_title(f"{self.task}, learned with {self.method}")
        ax.grid(alpha=0.3)
        ax.legend(loc="lower right", frameon=False, fontsize="small")

    def _draw_judged(self, ax: Any) -> None:
        rows = list(reversed(self.judged))
        colours = method_colours([each.method for each in self.judged])
        for k, each in enumerate(rows):
            if each.why_not:
                ax.text(0.01, k, f" {_short(each.why_not, 62)}", va="center", color="0.4", fontsize="x-small",
                        transform=ax.get_yaxis_transform())  # fmt: skip
                continue
            own = each.method == self.method and not each.remark
            ax.barh(k, each.mean, xerr=each.deviation, color=colours[each.method], edgecolor="k" if own else "none",
                    height=0.7, ecolor="0.35", capsize=2)  # fmt: skip
        ax.axvline(self.random.mean, color="0.5", ls=":", label="random actions")
        ax.set_yticks(range(len(rows)), [each.label for each in rows], fontsize="small")
        ax.set_xlabel("return [1], mean ± deviation from episode to episode")
        ax.set_title("the same policy by each contact method")
        ax.grid(alpha=0.3, axis="x")
        ax.set_axisbelow(True)


def _cells(each: Judged, own: float) -> tuple[str, ...]:
    share = f"{each.mean / own:.0%}" if own > 0.0 else ""  # of a negative return, shares have no meaning
    failed = str(each.failed) + (f" ({each.diverged} diverged)" if each.diverged else "")
    return (
        f"{1e3 * each.dt:g}",
        str(each.episodes),
        f"{each.mean:.1f} ± {each.deviation:.1f}",
        share,
        f"{each.seconds:.2f}",
        failed,
        f"{each.measured:.3g}",
        f"{each.unconverged:.1%}" if each.unconverged else "0",
    )


def _short(text: str, most: int = MOST_WORDS) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
