"""Many worlds: one scene and one method in thousands of states at once."""

from stickslip.worlds.worlds import Worlds, WorldsSnapshot

__all__ = ["Worlds", "WorldsSnapshot"]
