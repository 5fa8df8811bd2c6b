"""The method variational: a variational integrator in maximal coordinates, solved by an interior-point method."""
