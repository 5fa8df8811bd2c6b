"""``ss.view``: open a viewer for a scene, a simulation, a log or files."""

from __future__ import annotations

import inspect
import os
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stickslip.errors import check_options, expected
from stickslip.model.scene import Scene
from stickslip.record import Log
from stickslip.scenes import Setup, find
from stickslip.simulation import Simulation
from stickslip.simulation.method import choose_method
from stickslip.simulation.setup import own_choice
from stickslip.simulation.stages import Stages
from stickslip.viewer.app import Viewer
from stickslip.viewer.live import Live
from stickslip.viewer.loop import Loop
from stickslip.viewer.replay import Replay
from stickslip.viewer.watched import Settings

RECORDINGS = (".h5", ".hdf5")
WANTED = "a Scene, the name of one, a model file, a Simulation, a log, or recordings (.h5)"
FIRST_BROWSER = 10.0
"""[s] for which a loop of the user's waits for the browser that was opened."""


def view(
    what: Any = "solo12-drop",
    *,
    method: str | None = None,
    dt: float | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    shadows: bool = True,
    paused: bool = False,
    follow: str | None = None,
    realtime: bool = True,
    browser: bool = True,
    block: bool | None = None,
    **load_options: Any,
) -> Viewer:
    """Watch a scene as it is simulated, a loop of your own, or recordings, in a browser.

    >>> ss.view("solo12-drop", method="coulomb")
    >>> ss.view(log)
    >>> ss.view(["expo.h5", "coulomb.h5"])  # ghosts: both at once, synchronised
    >>> with ss.view(sim):  # a Simulation that your own loop steps
    ...     while sim.time < 0.5:
    ...         sim.step()

    ``method`` and ``dt`` [s] are for scenes. The page is at ``http://host:port``, or at the next free port, and
    ``browser`` opens it. It begins to play when the first browser shows it, unless it is ``paused``. The view
    may ``follow`` a body. Without
    ``shadows`` it is faster on a machine without a graphics card. ``block`` waits until
    Ctrl-C, which is the default but for a simulation; otherwise the returned viewer runs until ``close()``. For model
    files, further keywords are those of ``Scene.load``, and ``floor``, the height [m] of a floor.

    A simulation is stepped by your own loop, at most as fast as the clock, or as fast as it can with
    ``realtime=False``. Pause, step and pushes of the page act in the loop; ``viewer.wait()`` keeps the page open after
    it.
    """
    own_loop = isinstance(what, Simulation)
    known = {*VIEW_OPTIONS, *inspect.signature(Scene.load).parameters, "floor"}
    check_options("view", load_options, known - {"load_options", "path"})
    if own_loop and block:
        raise expected(
            "block", "False with a simulation, which your own loop steps", block, "call viewer.wait() after it"
        )
    viewer = make_viewer(
        what, method=method, dt=dt, host=host, port=port, shadows=shadows, paused=paused, follow=follow,
        realtime=realtime,
        **load_options,
    )  # fmt: skip
    print(f"stickslip view: {viewer.url} (Ctrl-C ends it)")
    shown = browser and webbrowser.open(viewer.url)
    if own_loop:
        viewer.begin_within(FIRST_BROWSER if shown else 0.0)
    elif block is None or block:
        viewer.wait()
    return viewer


VIEW_OPTIONS = tuple(inspect.signature(view).parameters)


def make_viewer(
    what: Any, *, method: str | None = None, dt: float | None = None, host: str = "127.0.0.1", port: int = 8080,
    shadows: bool = True, paused: bool = False, follow: str | None = None, realtime: bool = True, **load_options: Any,
) -> Viewer:  # fmt: skip
    page: dict[str, Any] = {"host": host, "port": port, "shadows": shadows, "paused": paused, "follow": follow}
    if isinstance(what, Simulation):
        _refuse("simulation", method=method, dt=dt, **load_options)
        return Viewer(live=Loop(_name(what), what, realtime), **page)
    if not realtime:
        raise expected("realtime", "False only with a Simulation, which your own loop steps", realtime)
    replays = open_recordings(what)
    if replays is None:
        return Viewer(live=make_live(what, method, dt, **load_options), **page)
    _refuse("recording", method=method, dt=dt)
    return Viewer(replays=replays, **page)


def _refuse(what: str, **options: Any) -> None:
    """Refuse options that are for scenes."""
    for name, given in options.items():
        if given is not None:
            raise expected(name, f"none with a {what}, which has its own", given, "name a scene to simulate")


def _name(sim: Simulation) -> str:
    """The name of the scene that is simulated."""
    spec = sim.model.spec
    return spec.modelname if spec is not None and spec.modelname else "simulation"


def open_recordings(what: Any) -> list[Replay] | None:
    """The recordings, or None if ``what`` is something to simulate."""
    if isinstance(what, Log):
        return [Replay(what)]
    if _is_recording(what):
        return labelled([Replay.open(what)])
    if isinstance(what, Sequence) and not isinstance(what, str | Setup):
        if not what or not all(isinstance(one, Log) or _is_recording(one) for one in what):
            raise expected("view", WANTED, what, "several at once must be logs or recordings")
        return labelled([Replay(one) if isinstance(one, Log) else Replay.open(one) for one in what])
    return None


def _is_recording(what: Any) -> bool:
    return isinstance(what, str | os.PathLike) and Path(what).suffix in RECORDINGS


def labelled(replays: list[Replay]) -> list[Replay]:
    """Label recordings by method, and by file name or number where methods are equal."""
    methods = [replay.method for replay in replays]
    for k, replay in enumerate(replays):
        if methods.count(replay.method) > 1:
            name = Path(replay.log.path).stem if replay.log.path else "in memory"
            replay.label = f"{replay.method} ({name})"
            if any(other.label == replay.label for other in replays[:k]):
                replay.label = f"{replay.method} ({name}, {k + 1})"
    return replays


def make_live(what: Any, method: str | None, dt: float | None, **load_options: Any) -> Live:
    if isinstance(what, Scene):
        name, setup = what.name, Setup(what)
    elif isinstance(what, Setup):
        name, setup = what.scene.name, what
    elif isinstance(what, str | os.PathLike):
        name, setup, _ = find(os.fspath(what), **load_options)
    else:
        raise expected("view", WANTED, type(what).__name__)
    method, dt = own_choice(setup, method, dt)
    if method is None:
        method, _ = choose_method(setup.scene.compile(), dt, Stages(), {})
    return Live(name, setup, Settings(method, dt))
