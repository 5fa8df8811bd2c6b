"""Status line and messages of the panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stickslip.viewer.loop import Loop

if TYPE_CHECKING:
    from stickslip.viewer.app import Viewer
    from stickslip.viewer.replay import Replay

IDLE = 1e-3
"""Part of real time below which a loop counts as standing still."""
OUTCOMES = {
    "running": "running: it is being recorded, and followed",
    "killed": "cut short: the process that recorded it was killed",
    "interrupted": "interrupted by its user",
    "diverged": "diverged: the last frame is the last good state",
}
"""Messages for recordings that are not complete."""


def status(viewer: Viewer) -> str:
    state = "playing" if viewer.playing else "paused"
    if viewer.live is not None:
        live = viewer.live
        if viewer.looks_back:
            state = "looking back"
        factor = f" · {viewer.factor:.2g}× real time" if viewer.playing else ""
        if viewer.playing and isinstance(live, Loop) and viewer.factor < IDLE:
            state, factor = "waiting for the loop to go on", ""
        now = f"t = {viewer.cursor:.3f} s · {state}{factor}"
        return f"**{live.name}** · {live.sim.method}/{live.sim.variant} · dt = {live.sim.dt:g} s\n\n{now}"
    names = " · ".join(dict.fromkeys(replay.label for replay in viewer.replays))
    return f"**{names}**\n\nt = {viewer.cursor:.3f} s of {viewer.end:.3f} s · {state}"


def messages(viewer: Viewer) -> list[str]:
    """Errors, then what goes on in the background, outcomes of recordings, and warnings of the simulation."""
    found = list(viewer.trouble)
    if viewer.background.message:
        found.append(viewer.background.message)
    for replay in viewer.replays:
        if replay.log.outcome in OUTCOMES:
            found.append(f"{_name(replay)} · {OUTCOMES[replay.log.outcome]}")
    if viewer.live is not None:
        found += viewer.live.notes[-3:]
    return found


def _name(replay: Replay) -> str:
    path = replay.log.path
    return path.rpartition("/")[2] if path else replay.label
