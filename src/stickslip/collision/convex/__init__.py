"""Convex shapes against convex shapes: polyhedra as constant arrays, and what is found between them."""
