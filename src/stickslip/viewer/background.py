"""Background: one long task at a time beside the viewer, such as making a page to share, with its progress in words."""

from __future__ import annotations

import threading
from collections.abc import Callable

from stickslip.errors import StickslipError

Task = Callable[[Callable[[float], None]], str]
"""Takes a function that it calls with the share that is done, and returns what to say at the end."""


class _Ended(Exception):  # noqa: N818
    """The viewer was closed."""


class Background:
    """``message`` says what goes on, or how the last task ended; it is empty before the first."""

    def __init__(self) -> None:
        self.message = ""
        self._thread: threading.Thread | None = None
        self._closing = False

    @property
    def busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self, name: str, task: Task) -> None:
        """Begin a task, unless another one is going on."""
        if not self.busy:
            self.message = f"{name} …"
            self._thread = threading.Thread(target=self._run, args=(name, task), name=f"stickslip {name}", daemon=True)
            self._thread.start()

    def _run(self, name: str, task: Task) -> None:
        def tell(share: float) -> None:
            if self._closing:
                raise _Ended
            self.message = f"{name}: {100.0 * share:.0f} %"

        try:
            self.message = f"{name}: {task(tell)}"
        except _Ended:
            pass
        except StickslipError as error:
            self.message = f"{name}: {error}"
        except Exception as error:  # no error may end without a word
            self.message = f"{name}: {type(error).__name__}: {error}"

    def wait(self) -> None:
        """End the task that is going on, and wait for it."""
        self._closing = True
        if self._thread is not None:
            self._thread.join(timeout=5.0)
