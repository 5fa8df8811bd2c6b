"""A progress bar on terminals and in notebooks that appears only when a task takes longer than two seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 2.0
"""[s] before the bar appears."""


class Progress:
    """``with Progress("what", total, "unit") as bar: … bar.update(done)``.

    ``show`` switches it on or off; a function is called with the share that is done, 0 … 1, in place of a bar.
    """

    def __init__(
        self, description: str, total: float, unit: str = "", *, show: bool | Callable[[float], None] | None = None
    ) -> None:
        self.description, self.total, self.unit, self.show = description, total, unit, show
        self._bar: Any = None
        self._next = 0.0

    def __enter__(self) -> Progress:
        self._next = time.monotonic() + (PATIENCE if self.show is None else 0.0)
        return self

    def update(self, done: float) -> None:
        """Set how much is done, in the units of ``total``; it is cheap enough to be called often."""
        if callable(self.show):
            self.show(done / max(self.total, 1e-300))
            return
        now = time.monotonic()
        if self.show is False or now < self._next:
            return
        self._next = now + 0.1
        if self._bar is None and not self._start():
            self.show = False
            return
        self._bar.update(self._task, completed=done)

    def _start(self) -> bool:
        """Show the bar; returns False, and writes nothing, if the error stream is neither a terminal nor a notebook."""
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        console = Console(stderr=True)
        if not (console.is_terminal or console.is_jupyter):
            return False
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn(f"{{task.completed:.3g}} / {{task.total:.3g}} {self.unit}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self._bar = RichProgress(*columns, console=console, transient=True)
        self._bar.start()
        self._task = self._bar.add_task(self.description, total=self.total)
        return True

    def __exit__(self, *exception) -> None:
        if self._bar is not None:
            self._bar.stop()
