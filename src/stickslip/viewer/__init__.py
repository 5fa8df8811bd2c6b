"""The viewer: watch simulations and recordings in a browser."""

from stickslip.viewer.app import Viewer
from stickslip.viewer.open import view

__all__ = ["Viewer", "view"]
