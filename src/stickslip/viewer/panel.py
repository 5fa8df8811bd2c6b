"""The panel: all controls, the status and messages. It changes nothing itself but posts to the viewer."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip.methods.registry import method_names
from stickslip.viewer.interaction import DIRECTIONS
from stickslip.viewer.live import Live
from stickslip.viewer.loop import Loop
from stickslip.viewer.plots import Plots
from stickslip.viewer.watched import Settings, Watched

if TYPE_CHECKING:
    from stickslip.viewer.app import Viewer

SPEEDS = {"1/100": 0.01, "1/20": 0.05, "1/10": 0.1, "1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0, "4": 4.0, "10": 10.0}
STEPS = ("1e-5", "2e-5", "5e-5", "1e-4", "2e-4", "5e-4", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05")
AUTOMATIC = "automatic"
NOBODY = "nothing"
LONGEST = 320
"""Largest number of characters of a message."""


class Panel:
    """The controls. Only changes by users are posted; those by the program have no client."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._gui = viewer.server.gui
        gui = self._gui
        self.status = gui.add_markdown("")
        self.play = gui.add_button("Play", icon="player-play")
        self.play.on_click(lambda _: viewer.post(viewer.toggle))
        moves = ("Step", "To the end") if isinstance(viewer.live, Loop) else ("Step", "Restart", "To the end")
        self.moves = gui.add_button_group("Move", moves)
        self.moves.on_click(lambda event: viewer.post(self._move, event.target.value))
        self.time = gui.add_slider("Time [s]", 0.0, 1.0, 1e-3, 0.0)
        self._on_people(self.time, lambda value: viewer.scrub(float(value)))
        free = isinstance(viewer.live, Loop) and not viewer.live.realtime
        hint = "as fast as the loop runs" if free else None
        self.speed = gui.add_dropdown("Speed", tuple(SPEEDS), initial_value="1", disabled=free, hint=hint)
        self._on_people(self.speed, lambda value: viewer.set_speed(SPEEDS[value]))
        self.message = gui.add_markdown("", visible=False)
        tabs = gui.add_tab_group()
        if isinstance(viewer.live, Live):
            with tabs.add_tab("Method"):
                self._method_tab(viewer.live)
        with tabs.add_tab("Show"):
            self._show_tab()
        self._sensor_names = sensor_rows(viewer.runs[0].bodies.header.sensor_names)
        if self._sensor_names:
            with tabs.add_tab("Sensors"):
                self.sensor_table = gui.add_markdown("")
        with tabs.add_tab("Plots"):
            self.plots = Plots(gui, [a.label for a in viewer.runs], [a.colour for a in viewer.runs])
        if viewer.live is not None:
            with tabs.add_tab("Push"):
                self._push_tab(viewer.live)
        with tabs.add_tab("Share"):
            self._share_tab()

    def _on_people(self, handle: Any, do: Any) -> None:
        def changed(event: Any) -> None:
            if event.client_id is not None:
                self._viewer.post(do, event.target.value)

        handle.on_update(changed)

    def _move(self, where: str) -> None:
        {"Step": self._viewer.step, "Restart": self._viewer.restart}.get(where, self._viewer.to_end)()

    # -- tabs --------------------------------------------------------------------------------------------------

    def _method_tab(self, live: Live) -> None:
        gui, settings = self._gui, live.settings
        choices = sorted({*method_names(), settings.method}, key=lambda name: (name.partition("/")[0], name))
        self.method = gui.add_dropdown("Method", tuple(choices), initial_value=settings.method)
        given = [AUTOMATIC, *STEPS]
        text = AUTOMATIC if settings.dt is None else f"{settings.dt:g}"
        if text not in given:
            given.append(text)
        self.dt = gui.add_dropdown("Time step [s]", tuple(given), initial_value=text)
        friction, stiffness = live.contact_material()
        self.friction = gui.add_slider("Friction μ", 0.0, max(2.0, friction), 0.01, min(max(friction, 0.0), 10.0))
        self.stiffness = gui.add_slider(
            "log₁₀ stiffness", 1.0, 9.0, 0.1, min(max(log10(max(stiffness, 1e-9)), 1.0), 9.0),
            hint="of every contact [N/m]; acts where the method honours it",
        )  # fmt: skip
        self.own = gui.add_button("Materials of the scene", hint="undo changes of friction and stiffness")
        self._chosen: dict[str, float | None] = {"friction": settings.friction, "stiffness": settings.stiffness}
        for handle, name in (
            (self.method, ""),
            (self.dt, ""),
            (self.friction, "friction"),
            (self.stiffness, "stiffness"),
        ):
            self._on_people(handle, lambda value, name=name: self._changed(name, value))
        self.own.on_click(lambda _: self._viewer.post(self._own_materials))
        back = gui.add_button("Go on from the cursor", icon="rotate-2", hint="after looking back with the time slider")
        back.on_click(lambda _: self._viewer.post(self._viewer.go_back))
        self.materials = gui.add_markdown("")

    def _changed(self, name: str, value: Any) -> None:
        if name:
            self._chosen[name] = float(value) if name == "friction" else 10.0 ** float(value)
        self._viewer.want(self.wanted())

    def _own_materials(self) -> None:
        self._chosen = {"friction": None, "stiffness": None}
        self._viewer.want(self.wanted())

    def wanted(self) -> Settings:
        dt = None if self.dt.value == AUTOMATIC else float(self.dt.value)
        return Settings(self.method.value, dt, self._chosen["friction"], self._chosen["stiffness"])

    def show_settings(self, live: Live) -> None:
        """Show the settings of the simulation, which after an error are not those that were chosen."""
        settings = live.settings
        self.method.value = settings.method
        self.dt.value = AUTOMATIC if settings.dt is None else f"{settings.dt:g}"
        self._chosen = {"friction": settings.friction, "stiffness": settings.stiffness}
        friction, stiffness = live.contact_material()
        self.friction.value = min(friction, float(self.friction.max))
        self.stiffness.value = min(max(log10(max(stiffness, 1e-9)), 1.0), 9.0)
        honours = live.sim.stepper.capabilities.honours
        idle = [name for name in ("friction", "stiffness") if name not in honours]
        text = f"dt = {live.sim.dt:g} s. " + live.sim.stepper.capabilities.summary + "."
        self.materials.content = text + (f" *Without effect with this method: {', '.join(idle)}.*" if idle else "")

    def _show_tab(self) -> None:
        gui, viewer = self._gui, self._viewer
        names = viewer.following.names[1:]
        self.follow = gui.add_dropdown(
            "Follow", (NOBODY, *names), initial_value=viewer.following.body or NOBODY, hint="keep this body in view"
        )
        self._on_people(self.follow, lambda value: viewer.follow(None if value == NOBODY else value))
        self.points = gui.add_checkbox("Contact points", True)
        self.forces = gui.add_checkbox("Contact forces", True)
        self.cones = gui.add_checkbox("Friction cones", False, hint="green: sticks; amber: slides")
        self.scale = gui.add_slider("Length of forces", 0.1, 5.0, 0.1, 1.0)
        self.collision = gui.add_checkbox("Collision shapes", False)
        self.tendons = self._if_any("Tendons", any(run.tendons.any for run in viewer.runs), "red: pulled at")
        self.sensors = self._if_any("Sensors", any(run.instruments.any_sensors for run in viewer.runs), "axes and rays")
        self.thrusters = self._if_any("Thrusters", any(run.instruments.any_thrusters for run in viewer.runs), "forces")
        for handle in (
            self.points, self.forces, self.cones, self.scale, self.collision, self.tendons, self.sensors,
            self.thrusters,
        ):  # fmt: skip
            self._on_people(handle, lambda _: viewer.show_options())
        self.ghosts: list[Any] = []
        if len(viewer.runs) > 1:
            for run in viewer.runs:
                r, g, b = run.colour
                gui.add_html(f'<div style="height:4px;margin:2px 8px;background:rgb({r},{g},{b})"></div>')
                box = gui.add_checkbox(run.label, True)
                self._on_people(box, lambda _: viewer.show_options())
                self.ghosts.append(box)

    def _if_any(self, label: str, there: bool, hint: str) -> Any:
        """A checkbox that is off, and cannot be used, where the scene has nothing of the kind."""
        return self._gui.add_checkbox(label, there, disabled=not there, hint=hint if there else "the scene has none")

    def _push_tab(self, live: Watched) -> None:
        gui, viewer = self._gui, self._viewer
        gui.add_markdown("Click a body to choose it; **shift + drag** pulls it with the mouse.")
        names = live.sim.model.link_names
        self.body = gui.add_dropdown("Body", tuple(names[1:]) or ("none",))
        self._on_people(self.body, lambda _: viewer.interaction.select(self.chosen_link()))
        weight = live.pushes.weight
        self.push_force = gui.add_number(
            "Force [N]", round(0.25 * weight, 3), min=0.0, step=round(0.05 * weight, 3) or 0.1
        )
        self.push_time = gui.add_number("Seconds", 0.1, min=0.001, max=10.0, step=0.05)
        self.push_direction = gui.add_dropdown("Direction", tuple(DIRECTIONS))
        self.clicks = gui.add_checkbox("A click pushes along the view", False)
        gui.add_button("Push", icon="arrow-right").on_click(lambda _: viewer.post(viewer.interaction.push))

    def chosen_link(self) -> int:
        assert self._viewer.live is not None
        names = self._viewer.live.sim.model.link_names
        return names.index(self.body.value) if self.body.value in names else 0

    def _share_tab(self) -> None:
        gui, viewer = self._gui, self._viewer
        gui.add_markdown("One file with the moving scene in it, for any browser, without stickslip or a network.")
        gui.add_button("Share as HTML", icon="download").on_click(lambda event: viewer.post(viewer.share, event.client))
        if viewer.live is not None:
            self.file = gui.add_text("Recording", f"{viewer.live.name}.h5")
            gui.add_button("Save recording").on_click(lambda _: viewer.post(viewer.save, self.file.value))

    # -- status -------------------------------------------------------------------------------------------------

    def say(self, status: str, messages: Sequence[str]) -> None:
        self._put(self.status, status)
        self._put(self.message, "\n\n".join(f"> {shortened(text)}" for text in messages))
        if self.message.visible != bool(messages):
            self.message.visible = bool(messages)

    def show_sensors(self, values: Sequence[np.ndarray]) -> None:
        """List the values of the sensors at the moment that is shown, one column for each run."""
        if not self._sensor_names:
            return
        labels = [run.label for run in self._viewer.runs] if len(values) > 1 else ["value"]
        lines = ["| sensor | " + " | ".join(labels) + " |", "| --- " * (len(labels) + 1) + "|"]
        for name, rows in self._sensor_names:
            columns = (" ".join(f"{x:.3g}" for x in run[rows]) for run in values)
            lines.append(f"| {name.replace('|', '/')} | " + " | ".join(columns) + " |")
        self._put(self.sensor_table, "\n".join(lines))

    @staticmethod
    def _put(handle: Any, text: str) -> None:
        if handle.content != text:
            handle.content = text

    def show_time(self, start: float, end: float, now: float) -> None:
        slider = self.time
        if abs(slider.max - end) > 1e-9 and end > start:
            slider.max = round(end, 6)
        if abs(slider.min - start) > 1e-9 and start < end:
            slider.min = round(start, 6)
        now = round(min(max(now, slider.min), slider.max), 4)
        if slider.value != now:
            slider.value = now

    def show_playing(self, playing: bool) -> None:
        label = "Pause" if playing else "Play"
        if self.play.label != label:
            self.play.label = label
            self.play.icon = "player-pause" if playing else "player-play"


def sensor_rows(names: Sequence[str]) -> list[tuple[str, slice]]:
    """Each sensor with the place of its values; ``names`` has the sensor of every value."""
    first = {name: k for k, name in reversed(list(enumerate(names)))}
    return [(name, slice(k, k + list(names).count(name))) for name, k in sorted(first.items(), key=lambda x: x[1])]


def shortened(text: str) -> str:
    """The beginning of a long message; the terminal shows all of it."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()} …"
