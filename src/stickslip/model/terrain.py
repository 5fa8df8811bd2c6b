"""Height fields (terrain): a grid of heights as the points of a shape, and back.

A height field has rows along y and columns along x, as in MuJoCo: height[r, c] is at

    x = −x_size/2 + c·x_size/(columns − 1),    y = −y_size/2 + r·y_size/(rows − 1)

A cell has two triangles, which meet in the diagonal from its corner (r, c) to (r + 1, c + 1). A shape of kind "terrain"
has the points of the grid as its vertices, row by row, and the size (half of x_size, half of y_size, base): the ground
is solid down to ``base`` [m] beneath the shape's origin.
"""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.errors import ModelError, expected

LEAST = 2
"""Least number of rows and of columns."""


def grid_points(heights: np.ndarray, half: np.ndarray) -> np.ndarray:
    """(rows·columns, 3) the points of heights (rows, columns) [m] over a rectangle of half edges ``half`` (2,) [m]."""
    rows, columns = heights.shape
    x, y = np.linspace(-half[0], half[0], columns), np.linspace(-half[1], half[1], rows)
    grid = np.empty((rows, columns, 3))
    grid[..., 0], grid[..., 1], grid[..., 2] = x[None, :], y[:, None], heights
    return grid.reshape(-1, 3)


def grid_heights(points: np.ndarray) -> np.ndarray:
    """(rows, columns) the heights of a shape's points [m]."""
    columns = int(np.count_nonzero(points[:, 1] == points[0, 1]))
    return points[:, 2].reshape(-1, columns)


def grid_triangles(rows: int, columns: int) -> np.ndarray:
    """(n, 3) the triangles of a grid as indices of its points, counter-clockwise seen from above."""
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)[None, :]).ravel()
    right = np.stack([corner, corner + 1, corner + columns + 1], axis=1)
    left = np.stack([corner, corner + columns + 1, corner + columns], axis=1)
    return np.stack([right, left], axis=1).reshape(-1, 3)


def field_points(mj: mujoco.MjModel, field: int) -> np.ndarray:
    """(rows·columns, 3) the points of a compiled height field [m, shape frame]."""
    rows, columns, first = int(mj.hfield_nrow[field]), int(mj.hfield_ncol[field]), int(mj.hfield_adr[field])
    data = mj.hfield_data[first : first + rows * columns].astype(float).reshape(rows, columns)
    if not np.all(np.isfinite(data)):
        name = mj.hfield(field).name
        raise ModelError(f"elevation of hfield {name!r}: expected finite numbers, got {data[~np.isfinite(data)][0]}")
    return grid_points(data * mj.hfield_size[field, 2], mj.hfield_size[field, :2])


def field_size(mj: mujoco.MjModel, field: int) -> np.ndarray:
    """(3,) half edges along x and y and depth of the base [m]."""
    return mj.hfield_size[field, [0, 1, 3]].astype(float)


def checked_heights(heights) -> np.ndarray:
    """Heights given by a user as an array (rows, columns)."""
    try:
        array = np.array(heights, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise expected("heights", "an array (rows, columns) of numbers [m]", type(heights).__name__) from None
    if array.ndim != 2 or min(array.shape) < LEAST:
        raise expected("heights", "an array (rows, columns) with at least 2 rows and 2 columns", array.shape)
    if not np.all(np.isfinite(array)):
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise expected(f"heights[{row}, {column}]", "a finite number [m]", float(array[row, column]))
    return array
