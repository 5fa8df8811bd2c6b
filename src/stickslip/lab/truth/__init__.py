"""Scenes with known answers: every method beside the truth."""
