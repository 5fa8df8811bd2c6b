"""Ray: the work of a pool on this machine or on a cluster, ``on="ray"`` or ``on="ray://host:port"``.

``pool_on`` chooses between the processes of ``pool`` and ``RayPool``, which has the same interface. Ray is imported
only then. Functions and what they share are sent to the workers, which must have the same version of stickslip.
"""

from __future__ import annotations

import importlib
import os
import re
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from sysconfig import get_path
from typing import Any, NoReturn
from uuid import uuid4

from stickslip.errors import InputError, brief, expected
from stickslip.files import processors
from stickslip.lab.pool import Pool, Results
from stickslip.progress import Progress
from stickslip.record.header import versions

SEVERAL = 1000
"""Arguments that are handed to Ray at once if no number of workers is given; it divides them among its processors."""
WANTED = '"ray", "ray://host:port", or None for processes of this machine'
PATIENCE = 10.0
"""[s] of waiting for a cluster, before Ray's own half minute begins."""
PLACE = re.compile(r"ray://(\[[0-9a-fA-F:.]+\]|[^\s:/]+):\d{1,5}")


def check_place(on: str | None) -> None:
    """Refuse what is no place to work, and Ray where it is not installed."""
    if on is None:
        return
    if not isinstance(on, str) or (on != "ray" and not PLACE.fullmatch(on)):
        raise expected("on", WANTED, on)
    _ray()


def pool_on(on: str | None, shared: Any, jobs: int | None, sent: Any = None) -> Pool | RayPool:
    """Where work is done: processes of this machine, or Ray. ``jobs`` None is as many as there are processors.

    ``sent`` is a function or object of the user's, which is sent to Ray with the code of its module.
    """
    check_place(on)
    return Pool(shared, jobs or processors()) if on is None else RayPool(shared, jobs, on, sent)


class RayPool:
    """``with RayPool(shared, jobs, "ray") as pool: pool.map(function, arguments, …)`` does what ``Pool`` does, on Ray.

    ``"ray"`` starts Ray on this machine, bound to its own loopback address, and ends it afterwards; a Ray that this
    process has started already is used as it is. ``"ray://host:port"`` is the client server of a running cluster.
    """

    def __init__(self, shared: Any, jobs: int | None, place: str, sent: Any = None) -> None:
        self.shared, self.jobs, self.place = shared, jobs, place
        self._module = _own_module(sent)
        self._ray: Any = None
        self._begun = False
        """Whether this pool has started Ray, or connected to it, and so ends that."""
        self._at_work: dict[Any, int] = {}

    def __enter__(self) -> RayPool:
        self._ray = ray = _ray()
        if ray.is_initialized():
            if self.place != "ray":
                wanted = "a process that has not started Ray"
                raise expected(f"on={self.place!r}", wanted, "one that has", "use on='ray', or call ray.shutdown()")
        else:
            quiet = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
            try:
                if self.place == "ray":
                    with suppress(ImportError):  # in case that Ray was imported before its switch was set
                        vars(importlib.import_module("ray._private.ray_constants"))["ENABLE_RAY_CLUSTER"] = False
                    ray.init("local", num_cpus=self.jobs or processors(), include_dashboard=False,
                             _node_ip_address="127.0.0.1", **quiet)  # fmt: skip
                else:
                    host, _, port = self.place.removeprefix("ray://").rpartition(":")
                    socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
                    ray.init(self.place, **quiet)
            except Exception as error:  # Ray's and gRPC's errors have no common class
                self._no_ray(error)
            self._begun = True
        try:
            self._check_version()
            if self._module is not None:
                ray.cloudpickle.register_pickle_by_value(self._module)
            self._handle = ray.put(self.shared)
        except BaseException:
            self._end()
            raise
        return self

    def _no_ray(self, error: Exception) -> NoReturn:
        said = " ".join(str(error).split())[:90] or type(error).__name__
        what, remedy = "Ray could not be started", "its logs are in /tmp/ray"
        if self.place != "ray":
            what = "no Ray client server answers"
            remedy = "start Ray there, check the address, and set RAY_AUTH_MODE=token if it asks for one"
        raise InputError(f"on={self.place!r}: {what} ({said}); {remedy}") from error

    def _check_version(self) -> None:
        """The workers must have this version of stickslip."""

        def installed() -> str | None:  # a function inside another one is sent as it is, without its module
            import importlib

            try:
                return importlib.import_module("stickslip.record.header").versions(("stickslip",))["stickslip"]
            except ImportError:
                return "none"

        here = versions(("stickslip",))["stickslip"]
        there = self._ray.get(self._ray.remote(installed).remote())
        if there != here:
            wanted = f"stickslip {here} on its workers"
            raise expected(f"on={self.place!r}", wanted, there, "install it on every machine of the cluster")

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
        """As ``Pool.map``. If a worker or its machine dies, Ray does its work again, up to ``retries`` times."""
        ray, results = self._ray, Results(arrived)
        task = ray.remote(_call).options(max_retries=retries, num_cpus=1)
        left = iter(range(len(arguments)))
        with Progress(what, len(arguments), "", show=show) as bar:
            bar.update(0)
            while len(results) < len(arguments):
                while len(self._at_work) < (self.jobs or SEVERAL) and (k := next(left, None)) is not None:
                    self._at_work[task.remote(function, self._handle, arguments[k])] = k
                (done, *_), _ = ray.wait(list(self._at_work), num_returns=1)
                k = self._at_work.pop(done)
                results[k] = self._result(done, lost, arguments[k])
                bar.update(len(results))
        return [results[k] for k in range(len(arguments))]

    def _result(self, done: Any, lost: Callable[..., Any], argument: tuple) -> Any:
        died = self._ray.exceptions
        try:
            return self._ray.get(done)
        except died.RayTaskError as error:
            if isinstance(error.cause, died.RaySystemError):
                said = " ".join(str(error.cause).split("traceback:")[0].split())
                wanted = "workers that can load the work"
                raise expected(f"on={self.place!r}", wanted, said, "install what is missing there") from None
            raise error.cause from None
        except (died.WorkerCrashedError, died.NodeDiedError, died.OutOfMemoryError, died.ObjectLostError):
            return lost(*argument)

    def check_folder(self, folder: Path) -> None:
        """Refuse a folder that the machines of a cluster do not share with this one, since files are written to it."""
        if self.place == "ray":
            return
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        mark = folder / f".{uuid4().hex}"
        mark.touch()
        try:
            task = self._ray.remote(os.path.exists)
            nodes = [node["NodeID"] for node in self._ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
            place = [NodeAffinitySchedulingStrategy(node, soft=False) for node in nodes]
            seen = self._ray.get([task.options(scheduling_strategy=at).remote(str(mark.absolute())) for at in place])
        finally:
            mark.unlink()
        if not all(seen):
            wanted = "a folder that every machine of the cluster has under this path"
            raise expected("out", wanted, str(folder), "name one on a disk that they share")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            for future in self._at_work:
                with suppress(Exception):  # what is wrong with Ray is in the error that is under way
                    self._ray.cancel(future, force=True)
        self._at_work.clear()
        self._end()

    def _end(self) -> None:
        if self._module is not None:
            with suppress(ValueError):  # it was not registered yet
                self._ray.cloudpickle.unregister_pickle_by_value(self._module)
        if self._begun:
            self._ray.shutdown()


def _own_module(sent: Any) -> Any:
    """The module of a function or object, if workers may be unable to import it: neither stickslip's nor installed."""
    while isinstance(sent, partial):
        sent = sent.func
    name = getattr(sent, "__module__", None) or ""
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    places = tuple(get_path(kind) for kind in ("stdlib", "purelib", "platlib"))
    if name.partition(".")[0] in ("", "__main__", "builtins", "stickslip") or file is None or file.startswith(places):
        return None
    return module


def _call(function: Callable[..., Any], shared: Any, argument: tuple) -> Any:
    return function(shared, *argument)


def _ray() -> Any:
    """The module, which binds to the loopback address only if this is set before it is imported."""
    for name in ("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"):
        os.environ.setdefault(name, "0")
    try:
        import ray
    except ImportError as error:
        raise InputError(
            f"on='ray': expected Ray, got none ({brief(str(error), 60)}); pip install 'stickslip[ray]'"
        ) from None
    return ray
