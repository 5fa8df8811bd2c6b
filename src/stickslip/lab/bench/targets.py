"""Former place of ``lab.targets``."""

from stickslip.lab.targets import Target, worst  # noqa: F401
