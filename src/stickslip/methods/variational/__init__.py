"""Contact and friction of the variational integrator in maximal coordinates, solved by an interior-point method."""
