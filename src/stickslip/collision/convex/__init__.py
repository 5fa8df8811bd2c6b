"""Collision detection between convex shapes: planes, spheres, boxes, capsules, cylinders and convex meshes."""
