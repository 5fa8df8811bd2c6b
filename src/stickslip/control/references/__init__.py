"""Motions computed by the package itself: planned on the rigid-body model, followed by feedback."""
