"""Worker processes that apply one function to many arguments, with a progress bar."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import Any

from stickslip.progress import Progress

DIED = "its process died: killed, out of memory, or a crash of compiled code"
_shared: Any = None


def available() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Results(dict[int, Any]):
    """Results by the number of their argument; each is passed to ``arrived`` at once."""

    def __init__(self, arrived: Callable[[Any], None] | None) -> None:
        super().__init__()
        self.arrived = arrived

    def __setitem__(self, number: int, result: Any) -> None:
        super().__setitem__(number, result)
        if self.arrived is not None:
            self.arrived(result)


class Pool:
    """``with Pool(shared, jobs) as pool: pool.map(function, arguments, …)`` calls ``function(shared, *argument)``.

    ``shared`` may hold any functions and classes where processes can be forked (Linux); elsewhere it must be picklable.
    With one job, everything happens in this process.
    """

    def __init__(self, shared: Any, jobs: int) -> None:
        self.shared, self.jobs = shared, jobs
        self._executor: ProcessPoolExecutor | None = None
        self._others = set(active_children())

    def __enter__(self) -> Pool:
        if self.jobs > 1:
            self._executor = self._workers(self.jobs)
        return self

    def _workers(self, jobs: int) -> ProcessPoolExecutor:
        context = get_context("fork" if sys.platform.startswith("linux") else "spawn")
        return ProcessPoolExecutor(jobs, context, _join, (self.shared,))

    def map(
        self,
        function: Callable[..., Any],
        arguments: Sequence[tuple],
        what: str,
        lost: Callable[..., Any],
        show: bool | None = None,
        arrived: Callable[[Any], None] | None = None,
    ) -> list[Any]:
        """Results in the order of the arguments; ``lost(*argument)`` makes the result if a process died.

        ``arrived`` is called with each result as soon as it is there, in this process.
        """
        results = Results(arrived)
        if self._executor is None:
            with Progress(what, len(arguments), "", show=show) as bar:
                for k, argument in enumerate(arguments):
                    bar.update(k)
                    results[k] = function(self.shared, *argument)
        elif not self._together(function, arguments, what, results, show):
            for k in sorted(set(range(len(arguments))) - results.keys()):
                results[k] = self._alone(function, arguments[k], lost)
            self._executor = self._workers(self.jobs)
        return [results[k] for k in range(len(arguments))]

    def _together(
        self, function: Callable[..., Any], arguments: Sequence[tuple], what: str, results: Results, show: bool | None
    ) -> bool:
        """Fill in the results; False if a worker died, which ends the others, too."""
        assert self._executor is not None
        # Submitted before the bar has a thread of its own: processes are forked here.
        futures = {self._executor.submit(_call, function, argument): k for k, argument in enumerate(arguments)}
        try:
            with Progress(what, len(arguments), "", show=show) as bar:
                bar.update(0)
                for done, future in enumerate(as_completed(futures), 1):
                    results[futures[future]] = future.result()
                    bar.update(done)
        except BrokenProcessPool:
            self._executor.shutdown(wait=True, cancel_futures=True)
            return False
        return True

    def _alone(self, function: Callable[..., Any], argument: tuple, lost: Callable[..., Any]) -> Any:
        """Compute one result in a process of its own, so that it is known which one dies."""
        with self._workers(1) as executor:
            try:
                return executor.submit(_call, function, argument).result()
            except BrokenProcessPool:
                return lost(*argument)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:  # interrupted: otherwise the workers would finish their work first
            for process in set(active_children()) - self._others:
                process.terminate()
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)


def _join(shared: Any) -> None:
    global _shared
    _shared = shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and ends the workers


def _call(function: Callable[..., Any], argument: tuple) -> Any:
    return function(_shared, *argument)
