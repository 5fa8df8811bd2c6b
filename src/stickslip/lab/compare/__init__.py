"""One scene by several methods, all scored by the same code."""

from stickslip.lab.compare.candidate import Candidate
from stickslip.lab.compare.comparison import CandidateResult, Comparison, Run
from stickslip.lab.compare.run_comparison import compare
from stickslip.lab.compare.scorecard import METRICS, Metric, Timing, convergence_order, score
from stickslip.lab.compare.stored_comparison import load_comparison

__all__ = [
    "METRICS", "Candidate", "CandidateResult", "Comparison", "Metric", "Run", "Timing", "compare", "convergence_order",
    "load_comparison", "score",
]  # fmt: skip
