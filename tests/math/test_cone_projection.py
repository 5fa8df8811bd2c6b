"""Projections onto the friction cone: the nearest point, also where the cone is a half-line."""

import numpy as np
import pytest

from stickslip.math.cone_projection import project_cone
from stickslip.solvers.residuals import project_cones


@pytest.mark.parametrize("mu", [0.0, 0.3, 2.0])
def test_what_is_left_over_is_in_the_polar_cone(mu):
    points = np.random.default_rng(0).standard_normal((200, 3))
    points[:2] = [[-3.0, 0.0, 0.0], [3.0, 0.0, 0.0]]
    for x in points:
        p = np.array(project_cone(*x, mu))
        assert np.hypot(p[1], p[2]) <= mu * p[0] + 1e-15
        left = x - p
        assert left[0] <= -mu * np.hypot(left[1], left[2]) + 1e-14
        assert abs(left @ p) < 1e-14
    both = project_cones(points, np.full(len(points), mu))
    np.testing.assert_allclose(both, [project_cone(*x, mu) for x in points], rtol=0, atol=1e-15)
