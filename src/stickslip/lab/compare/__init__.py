"""One scene, every method, one scorecard."""

from stickslip.lab.compare.compare import compare
from stickslip.lab.compare.comparison import Comparison, Entrant, Run
from stickslip.lab.compare.contestant import Contestant
from stickslip.lab.compare.scorecard import METRICS, Metric, Timing, convergence_order, score
from stickslip.lab.compare.store import load_comparison

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
