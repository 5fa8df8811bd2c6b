"""The simulation: wires the stages of a step together and owns the loop."""

from stickslip.simulation.simulation import Simulation
from stickslip.simulation.snapshot import Snapshot
from stickslip.simulation.stages import Controller, Stages

__all__ = ["Controller", "Simulation", "Snapshot", "Stages"]
