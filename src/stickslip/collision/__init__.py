"""Collision detection: candidate pairs, the geometry of each pair of shapes, and the buffer of contacts."""
