"""The parts of a bundled scene, by the name of the folder in which scenes lie."""

from stickslip.simulation.setup import Entry, Setup

__all__ = ["Entry", "Setup"]
