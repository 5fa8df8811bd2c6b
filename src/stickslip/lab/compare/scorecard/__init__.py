"""The scorecard: one set of figures for every method, from recordings only."""

from stickslip.lab.compare.scorecard.measurements import Measurements, Timing, measurements
from stickslip.lab.compare.scorecard.metrics import METRICS, Metric, score
from stickslip.lab.compare.scorecard.order import convergence_order

__all__ = ["METRICS", "Measurements", "Metric", "Timing", "convergence_order", "measurements", "score"]
