"""Contact points, their friction cones, and their derivatives."""
