"""One scene, every method, one scorecard."""

from stickslip.compare.compare import compare
from stickslip.compare.comparison import Comparison, Entrant, Run
from stickslip.compare.contestant import Contestant
from stickslip.compare.scorecard import METRICS, Metric, Timing, convergence_order, score
from stickslip.compare.store import load_comparison

__all__ = [
    "METRICS",
    "Comparison",
    "Contestant",
    "Entrant",
    "Metric",
    "Run",
    "Timing",
    "compare",
    "convergence_order",
    "load_comparison",
    "score",
]
