"""Scenes, models, states, materials and the bundled robots."""
