"""Rotations of many frames at once."""

from __future__ import annotations

import numpy as np


def matrices(quaternion: np.ndarray) -> np.ndarray:
    """(…, 3, 3) rotation matrices of unit quaternions (…, 4), (w, x, y, z)."""
    w, x, y, z = np.moveaxis(quaternion, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def angles(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(…,) angles between rotations (…, 3, 3) [rad] by ‖R₁ − R₂‖ = 2√2·sin(φ/2), accurate for small angles."""
    distance = np.linalg.norm(first - second, axis=(-2, -1))
    return 2.0 * np.arcsin(np.minimum(distance / np.sqrt(8.0), 1.0))


def turned(axes: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Rotations (…, 3, 3) times vectors (…, 3)."""
    return np.einsum("...ij,...j->...i", axes, vector)
