"""Formulations: how the contacts of a time step become a problem to solve."""
