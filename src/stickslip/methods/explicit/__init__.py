"""Explicit integrators: Euler, semi-implicit Euler, Runge–Kutta 4."""
