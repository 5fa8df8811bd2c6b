"""Pictures of recorded instants without a graphics card: rays are cast at the shapes themselves, in NumPy."""

from stickslip.record.picture.camera import Camera
from stickslip.record.picture.draw import Painter

__all__ = ["Camera", "Painter"]
