"""The laboratory: comparisons, the truth suite, benchmarks, contact problems, and the papers made again."""

from stickslip.lab import problems

__all__ = ["problems"]
