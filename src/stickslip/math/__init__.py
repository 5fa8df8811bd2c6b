"""Quaternions, rotations and 6-D spatial vectors, as kernels on plain arrays and tuples of numbers."""
