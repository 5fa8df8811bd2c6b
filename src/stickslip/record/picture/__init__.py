"""Pictures of recorded frames by ray casting in NumPy, without a graphics card."""

from stickslip.record.picture.camera import Camera
from stickslip.record.picture.draw import Painter

__all__ = ["Camera", "Painter"]
