"""Many worlds: one scene and one method in thousands of states at once."""

from stickslip.worlds.snapshot import WorldsSnapshot
from stickslip.worlds.worlds import Worlds

__all__ = ["Worlds", "WorldsSnapshot"]
