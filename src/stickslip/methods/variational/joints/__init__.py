"""Joints between positions: held, soft and limit rows, and their derivatives."""
