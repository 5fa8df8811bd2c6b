"""Joints at position level: rigid rows, soft rows and limits, and their derivatives."""
