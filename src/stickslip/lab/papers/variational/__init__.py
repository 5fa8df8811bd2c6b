"""Brüdigam et al., "Linear-Time Contact and Friction Dynamics in Maximal Coordinates using Variational Integrators"."""
