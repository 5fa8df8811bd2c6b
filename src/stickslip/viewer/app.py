"""Viewer: a scene that is simulated, or recordings that are replayed, in a browser.

One thread owns all state that changes. Browsers only post the actions of their users to it, so that any number of them
can connect, and all show the same.
"""

from __future__ import annotations

import queue
import sys
import threading
import time as clock
from collections.abc import Callable, Sequence
from typing import Any

from stickslip.errors import DivergedError, StickslipError
from stickslip.viewer.background import Background
from stickslip.viewer.canvas import address, make_server, stop_server
from stickslip.viewer.following import Following
from stickslip.viewer.interaction import Interaction
from stickslip.viewer.live import Live
from stickslip.viewer.loop import Loop
from stickslip.viewer.panel import Panel
from stickslip.viewer.plots import Track
from stickslip.viewer.replay import Replay
from stickslip.viewer.share import html
from stickslip.viewer.shown_run import make_runs
from stickslip.viewer.status import messages, status
from stickslip.viewer.timeline import NOWHERE, Timeline
from stickslip.viewer.watched import Settings, Watched

PERIOD = 1 / 30
"""[s] between pictures."""
TEXT, CHARTS, SETTLE = 0.2, 0.4, 0.25
"""[s] between updates of text and of plots; time for which settings must not change before they are applied."""


class Viewer(Timeline):
    """``Viewer(live=…)`` or ``Viewer(replays=[…])``; ``url`` is the address of its page. Unless it is ``paused``, it
    begins to play when the first browser shows it."""

    def __init__(
        self,
        *,
        live: Watched | None = None,
        replays: Sequence[Replay] = (),
        host: str = "127.0.0.1",
        port: int = 8080,
        shadows: bool = True,
        paused: bool = False,
        follow: str | None = None,
    ) -> None:
        super().__init__(live, list(replays))
        self.server, self._shadows = make_server(host, port, shadows), shadows
        self.url = address(host, self.server.get_port())
        try:
            self.runs = make_runs(self.server, [live] if live else self.replays, follow)
        except BaseException:
            stop_server(self.server)
            raise
        self._posted: queue.Queue[tuple[Callable, tuple]] = queue.Queue()
        self._closing = threading.Event()
        self.background = Background()
        self._begun, self._begin_by = paused, float("inf")
        self._wanted: tuple[float, Settings] | None = None
        self._due = dict.fromkeys(("text", "charts"), 0.0)
        self.panel = Panel(self)
        self.interaction = Interaction(self)
        if isinstance(live, Live):
            self.panel.show_settings(live)
        self.server.on_client_connect(lambda _: self.post(self._begin))
        self._thread = threading.Thread(target=self._run, name="stickslip viewer", daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        return f"<Viewer: {self.url}>"

    # -- the loop ----------------------------------------------------------------------------------------------

    def post(self, do: Callable, *arguments: Any) -> None:
        """Have the viewer's own thread call ``do``; can be called from any thread."""
        self._posted.put((do, arguments))

    def _run(self) -> None:
        last = clock.perf_counter()
        while not self._closing.is_set():
            now = clock.perf_counter()
            try:
                self._tick(min(now - last, 0.25), now)
            except StickslipError as error:
                self._stop_with(str(error))
            except Exception as error:  # no error of a simulation or a file may end the viewer
                self._stop_with(f"{type(error).__name__}: {error}")
            self._update_panel(now)
            last = now
            self._closing.wait(max(0.002, PERIOD - (clock.perf_counter() - now)))

    def begin_within(self, seconds: float) -> None:
        """Begin to play after this time also if no browser has come by then, unless it is to be paused."""
        self._begin_by = clock.perf_counter() + seconds

    def _begin(self) -> None:
        """Play, for the first browser."""
        if not self._begun:
            self._begun = True
            if not self.playing:
                self.toggle()

    def _stop_with(self, message: str) -> None:
        self.playing = False
        if message not in self.trouble:
            print(f"viewer: {message}", file=sys.stderr)
            self.trouble = [*self.trouble[-2:], message]

    def _tick(self, elapsed: float, now: float) -> None:
        while not self._posted.empty():
            do, arguments = self._posted.get()
            do(*arguments)
        if self._wanted is not None and now - self._wanted[0] > SETTLE:
            self._change(self._wanted[1])
        if now > self._begin_by:
            self._begin()
        self._sync()
        self._follow(now)
        if self.playing:
            self._play(elapsed, 0.7 * PERIOD)
        self._draw()

    def forget(self) -> None:
        self.runs[0].track = Track()

    def _draw(self) -> None:
        for run in self.runs:
            if run.replay is not None:
                run.track.extend(run.replay)
        shown = (self.cursor, -1 if self.live else sum(replay.frames for replay in self.replays))
        if shown == self._shown and not self.playing:
            return
        self._shown = shown
        with self.server.atomic():
            for run, moment in zip(self.runs, self._moments(), strict=True):
                run.show(moment)
                if self.live is not None and self._history is None:
                    run.track.add(moment)

    # -- user actions ----------------------------------------------------------------------------------------

    def want(self, settings: Settings) -> None:
        """Apply other settings once no slider has moved for ``SETTLE`` seconds."""
        self._wanted = (clock.perf_counter(), settings)

    def _change(self, settings: Settings) -> None:
        assert isinstance(self.live, Live)
        self._wanted, self.trouble = None, []
        try:
            self.live.change(settings)
        except DivergedError as error:
            self._stop_with(str(error))
        except StickslipError as error:
            self.trouble = [f"{error} (nothing was changed)"]
        self._history, self.cursor, self._shown = None, self.live.time, NOWHERE
        self.panel.show_settings(self.live)

    def show_options(self) -> None:
        """Show or hide things as chosen in the panel."""
        panel = self.panel
        for k, run in enumerate(self.runs):
            wanted = panel.ghosts[k].value if panel.ghosts else True
            run.bodies.show_all(wanted, panel.collision.value)
            overlay = run.overlay
            overlay.points, overlay.forces = panel.points.value and wanted, panel.forces.value and wanted
            overlay.cones, overlay.scale = panel.cones.value and wanted, panel.scale.value
            run.tendons.wanted, instruments = panel.tendons.value and wanted, run.instruments
            instruments.sensors, instruments.scale = panel.sensors.value and wanted, panel.scale.value
            instruments.thrusters = panel.thrusters.value and wanted
        self._shown = NOWHERE

    def _sources(self) -> list[Replay]:
        """The recordings, or the history of the simulation up to now, to be read by other threads."""
        return [self.live.history()] if self.live else [Replay.again(replay) for replay in self.replays]

    @property
    def following(self) -> Following:
        """Which body the camera follows."""
        assert self.runs[0].following is not None
        return self.runs[0].following

    def follow(self, body: str | None) -> None:
        """Follow a body, or none."""
        self.following.choose(body)
        self._shown = NOWHERE

    def share(self, client: Any) -> None:
        """Make one self-contained page of the recordings or of the history, which ``client`` gets as a download. It is
        made in the background, while the viewer goes on."""
        panel, replays = self.panel, self._sources()
        drawn = {
            "cones": panel.cones.value, "tendons": panel.tendons.value, "sensors": panel.sensors.value,
            "thrusters": panel.thrusters.value, "shadows": self._shadows,
            "follow": self.following.body,
        }  # fmt: skip

        def make(tell: Callable[[float], None]) -> str:
            page = html(replays, **drawn, progress=tell).encode()
            client.send_file_download(f"{self.runs[0].label.replace('/', '-')}.html", page)
            return f"the page is ready ({len(page) / 1e6:.1f} MB)"

        self.background.start("sharing", make)

    def save(self, path: str) -> None:
        """Write the history of a simulation to a file."""
        if self.live is not None:
            self.live.history().log.save(path)
            self.trouble = [f"the recording is in {path}"]

    # -- text and plots ---------------------------------------------------------------------------------------

    def _update_panel(self, now: float) -> None:
        self.panel.show_playing(self.playing)
        if now >= self._due["text"]:
            self._due["text"] = now + TEXT
            self.panel.say(status(self), messages(self))
            self.panel.show_sensors([run.values for run in self.runs])
            self.panel.show_time(self.start, self.end, self.cursor)
        if now >= self._due["charts"]:
            self._due["charts"] = now + CHARTS
            self.panel.plots.show([run.track for run in self.runs], self.cursor)

    def wait(self) -> None:
        """Wait until Ctrl-C or until the viewer is closed."""
        if isinstance(self.live, Loop):
            self.live.show_end()
        try:
            while not self._closing.wait(0.2):
                pass
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """Stop the thread and the server."""
        self._closing.set()
        if self.live is not None:
            self.live.close()
        self.background.wait()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=5.0)
        stop_server(self.server)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
