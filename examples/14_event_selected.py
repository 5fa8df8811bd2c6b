"""A table lands level on two legs: which touches first is undecided, so the derivative has two sides.

The legs are springs with a common preload (a lever between them shares it): it acts on the first leg to touch, and is
shared equally once the other touches too. Each order of touching has its own derivative by the initial state; together
they are the B-derivative, a piecewise-linear map. If the table is tilted to either side it is caught earlier and ends
higher: an absolute value, which no matrix represents.
"""

import numpy as np

import stickslip as ss

MASS, INERTIA, ARM, GRAVITY = 2.0, 0.1, 0.4, 9.81  # [kg], [kg m²], [m] from the centre to a leg, [m/s²]
REST, STIFFNESS, PRELOAD = 0.5, 400.0, 60.0  # [m], [N/m], [N]
SIDES = np.array([1.0, -1.0])


def h(x):
    """Compression of the legs (2,) [m]; x = (z, tilt, ż, rate of tilt)."""
    return REST - x[0] - ARM * SIDES * x[1]


def Dh(x):
    return np.array([[-1.0, -ARM, 0.0, 0.0], [-1.0, ARM, 0.0, 0.0]])


def f(x, down):
    """Right-hand side; ``down`` (2,) says which legs have touched."""
    forces = down * (PRELOAD / max(1, down.sum()) + STIFFNESS * h(x))
    return np.array([x[2], x[3], forces.sum() / MASS - GRAVITY, ARM * (SIDES @ forces) / INERTIA])


def land(x0):
    return ss.solve_ess(f, h, Dh, (0.0, 0.4), x0, eps=1e-7, rtol=1e-10, atol=1e-12)


start = np.array([1.0, 0.0, 0.0, 0.0])
result = land(start)
for guard, time, x in zip(result.crossings.guard, result.crossings.t, result.crossings.x, strict=True):
    print(f"leg {guard} touches at t = {time:.6f} s, falling at {-x[2]:.4f} m/s")
print("end:", *(f"{value:.6f}" for value in result.y[:, -1]))

B = ss.ess.b_derivative(result)
print("simultaneous crossings:", B.groups)
small = 1e-5
for name, dx in (("higher", [1.0, 0, 0, 0]), ("tilted left", [0, 1.0, 0, 0]), ("tilted right", [0, -1.0, 0, 0])):
    dx = np.array(dx)
    difference = (land(start + small * dx).y[:, -1] - result.y[:, -1]) / small
    print(f"{name:12}  B(dx) =", *(f"{value:8.4f}" for value in B(dx)), end="   ")
    print(f"one-sided difference misses by {np.abs(difference - B(dx)).max():.1e}")
