"""What exists: scenes, models, states, materials, bundled robots."""
