"""Bodies and joints as a graph, and block matrices on it that factor in linear time."""
