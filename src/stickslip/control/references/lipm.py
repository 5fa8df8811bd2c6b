"""Motion of the centre of mass for given footsteps: the linear inverted pendulum with preview of the ZMP.

At constant height z the centre of mass c moves as c̈ = g/z·(c − p), where p is the zero-moment point, which must stay
inside the feet that stand. With piecewise constant jerk u the problem

    minimise Σ (p_k − p_ref,k)² + ρ·Σ u_k²    subject to    ċ = c̈ = 0 at the end

is one linear least-squares problem per axis. Kajita et al.: "Biped walking pattern generation by using preview control
of zero-moment point", ICRA 2003.
Differs from the paper in: the whole finite future is known, so the optimum is computed at once instead of the gains of
an infinite horizon.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lstsq

END_WEIGHT = 1e3
"""Weight of velocity and acceleration at the end, large enough to make them zero to 1e-6."""


def preview(zmp: np.ndarray, start: np.ndarray, dt: float, height: float, gravity: float, jerk: float = 1e-7):
    """(N + 1, 3, d): position, velocity and acceleration of the centre of mass every ``dt`` [s].

    ``zmp`` (N + 1, d) [m] is the reference, ``start`` (d,) [m] the position at rest at the beginning, ``height`` [m]
    and ``gravity`` [m/s²] are the pendulum's, ``jerk`` is ρ [s⁶].
    """
    n = len(zmp) - 1
    step = np.array([[1.0, dt, 0.5 * dt * dt], [0.0, 1.0, dt], [0.0, 0.0, 1.0]])
    push = np.array([dt**3 / 6.0, 0.5 * dt * dt, dt])
    answer = np.zeros((n + 1, 3, n))  # response of the state at k to unit jerk in step j
    for k in range(n):
        answer[k + 1] = step @ answer[k]
        answer[k + 1, :, k] = push
    to_zmp = answer[:, 0] - height / gravity * answer[:, 2]
    rows = np.vstack([to_zmp, np.sqrt(jerk) * np.eye(n), END_WEIGHT * answer[n, 1:]])
    right = np.vstack([zmp - start, np.zeros((n + 2, zmp.shape[1]))])
    u = lstsq(rows, right, lapack_driver="gelsy")[0]
    states = np.einsum("ksj,jd->ksd", answer, u)
    states[:, 0] += start
    return states
