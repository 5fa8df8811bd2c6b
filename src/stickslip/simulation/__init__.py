"""The simulation: wires the stages of a step together and owns the loop."""

from stickslip.collision.distance import Distance
from stickslip.model.rays import Hit
from stickslip.simulation.captured_fclib import capture_fclib
from stickslip.simulation.captured_frame import capture
from stickslip.simulation.contacts import Contact
from stickslip.simulation.observers import Observer
from stickslip.simulation.recorder import Recorder
from stickslip.simulation.setup import Setup
from stickslip.simulation.simulation import Simulation
from stickslip.simulation.snapshot import Snapshot
from stickslip.simulation.stages import Controller, Stages

__all__ = [
    "Contact",
    "Controller",
    "Distance",
    "Hit",
    "Observer",
    "Recorder",
    "Setup",
    "Simulation",
    "Snapshot",
    "Stages",
    "capture",
    "capture_fclib",
]
