"""What the paper reports, as data. Its figures exist as pictures only: of them, what the text says."""

from __future__ import annotations

TABLE_2 = {
    "solo12-squat": {"expo": 40.0, "euler": 40 / 512, "implicit-euler": 20.0},
    "solo12-jump": {"expo": 10.0, "euler": 10 / 64, "implicit-euler": 5.0},
    "solo12-trot": {"expo": 2.0, "euler": 2 / 16, "implicit-euler": 2.0},
    "romeo-walk": {"expo": 5.0, "euler": 1.25, "implicit-euler": 10.0},
}
"""[ms] largest stable step."""

TABLE_3 = {
    "standard": {"step": 94.0, "computeIntegrals": 67.0, "prepareExpLDS": 13.0, "computeContactForces": 8.0},
    "mmm-0": {"step": 39.0, "computeIntegrals": 13.0, "prepareExpLDS": 13.0, "computeContactForces": 8.0},
    "euler": {"step": 9.0},
}
"""[µs]; the rest of a step is what is left: 6 and 5."""

FLAT_UP_TO = 1e8
"""[N/m] stiffness up to which Expo "performs consistently" (Sec. VI-D)."""
