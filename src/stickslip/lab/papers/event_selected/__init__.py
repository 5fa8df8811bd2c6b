"""Anderson and Revzen, "Rapid Integrator for a Class of Multi-Contact Systems"."""
