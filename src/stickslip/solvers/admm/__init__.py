"""The alternating direction method of multipliers on circular cones."""
