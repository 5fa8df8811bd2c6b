"""Worker processes that apply one function to many arguments, with a progress bar."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from itertools import islice
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from typing import Any

from stickslip.progress import Progress

DIED = "its process died: killed, out of memory, or a crash of compiled code"
_shared: Any = None


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
    With one job, everything happens in this process. Workers end when this process does, however it ends.
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
        show: bool | Callable[[float], None] | None = None,
        arrived: Callable[[Any], None] | None = None,
        retries: int = 1,
    ) -> list[Any]:
        """Results in the order of the arguments; ``lost(*argument)`` makes the result if a process died.

        ``arrived`` is called with each result as soon as it is there, in this process. If a process dies, what was
        being computed then is tried up to ``retries`` times more, each in a process of its own.
        """
        results = Results(arrived)
        if self._executor is None:
            with Progress(what, len(arguments), "", show=show) as bar:
                for k, argument in enumerate(arguments):
                    bar.update(k)
                    results[k] = function(self.shared, *argument)
        while len(results) < len(arguments):
            for k in self._together(function, arguments, what, results, show):
                results[k] = self._alone(function, arguments[k], lost, retries)
        return [results[k] for k in range(len(arguments))]

    def check_folder(self, folder: Path) -> None:
        """Every worker sees the folders of this process; those of a cluster may not."""

    def _together(
        self,
        function: Callable[..., Any],
        arguments: Sequence[tuple],
        what: str,
        results: Results,
        show: bool | Callable[[float], None] | None,
    ) -> list[int]:
        """Fill in the results. If a worker dies, that ends the others, too: returns what they were at work on."""
        assert self._executor is not None
        left = iter([k for k in range(len(arguments)) if k not in results])
        at_work: dict[Future[Any], int] = {}

        def hand_out() -> None:
            """Keep the workers busy with few arguments, so that it is known which ones a death can concern."""
            assert self._executor is not None
            for k in islice(left, 2 * self.jobs - len(at_work)):
                at_work[self._executor.submit(_call, function, arguments[k])] = k

        try:
            hand_out()  # before the bar has a thread of its own: processes are forked here
            with Progress(what, len(arguments), "", show=show) as bar:
                bar.update(len(results))
                while at_work:
                    done, _ = wait(at_work, return_when=FIRST_COMPLETED)
                    for future in done:
                        results[at_work[future]] = future.result()
                        del at_work[future]
                    hand_out()
                    bar.update(len(results))
        except BrokenProcessPool:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = self._workers(self.jobs)
            for future, k in list(at_work.items()):
                if future.done() and not isinstance(future.exception(), BrokenProcessPool):
                    results[k] = future.result()
                    del at_work[future]
        return sorted(at_work.values())

    def _alone(self, function: Callable[..., Any], argument: tuple, lost: Callable[..., Any], retries: int) -> Any:
        """Compute one result in a process of its own, so that it is known which one dies."""
        for _ in range(retries):
            with suppress(BrokenProcessPool), self._workers(1) as executor:
                return executor.submit(_call, function, argument).result()
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
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this worker if its parent is killed: it would wait for work for ever, and keep what the parent had locked."""
    parent = parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)


def _call(function: Callable[..., Any], argument: tuple) -> Any:
    return function(_shared, *argument)
