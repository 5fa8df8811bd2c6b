"""Solvers that other packages bring."""
