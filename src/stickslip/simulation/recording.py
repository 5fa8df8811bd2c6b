"""The recorder of a run, and the file that is written after a divergence."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from stickslip.errors import DivergedError, RecordingError
from stickslip.files import temporary_folder
from stickslip.record import Recorder
from stickslip.simulation.stages import STAGES

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation

KEPT = 20
"""Temporary files of earlier divergences that are kept."""


def make_recorder(sim: Simulation, path: str | Path | None, every_control: int) -> Recorder:
    """Make a recorder to a file or to memory; ``every_control`` is the number of steps between controller calls."""
    options = {
        "method": sim.method,
        "variant": sim.variant,
        "dt": sim.dt,
        "options": sim.options,
        "control_dt": every_control * sim.dt,
        "controller": type(sim.controller).__name__ if sim.controller is not None else None,
        "python_stages": [name for name in STAGES if getattr(sim.stages, name) is not None],
    }
    names = sim.stepper.constraint_names
    sensors = sim.instruments.value_names
    return Recorder(
        path, sim.model, scene_xml=sim.model.to_xml(), options=options, constraints=names, sensors=sensors
    )  # fmt: skip


def save_divergence(sim: Simulation, error: DivergedError, recorder: Recorder | None = None) -> DivergedError:
    """Write the last finite state and the present frame to the recorder's file, or to a temporary one; return the error
    with the file's name. If nothing can be written, the error says so."""
    folder: Path | None = None
    try:
        if recorder is None or recorder.path is None:
            folder = temporary_folder("diverged", keep=KEPT)
            recorder = make_recorder(sim, folder / "diverged.h5", 1)
        recorder.save_last_good(sim.time, sim.state.q, sim.state.v)
        sim.record_frame(recorder)
        recorder.close("diverged")
    except RecordingError:
        if recorder is not None:
            with suppress(RecordingError):
                recorder.close("diverged")
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        message = f"{error} The last finite state could not be kept: the disk is full or cannot be written."
        return DivergedError(message, snapshot=error.snapshot)
    message = f"{error} Last finite state saved to {recorder.path}."
    return DivergedError(message, snapshot=error.snapshot, saved_to=str(recorder.path))
