"""The laboratory: comparisons, the truth suite, benchmarks, contact problems, and the papers made again."""
