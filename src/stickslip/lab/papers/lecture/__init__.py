"""Carpentier, "Contact Dynamics in Robotics": soft, rigid and relaxed contact side by side."""
