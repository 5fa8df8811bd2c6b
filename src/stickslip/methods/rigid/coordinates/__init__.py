"""How a time step sees the bodies: with joints eliminated, or as free bodies with joint rows."""
