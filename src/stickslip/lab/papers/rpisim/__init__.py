"""Williams et al.: the RPI simulator, its figures and comparisons."""
