"""Contact models: force laws (state → forces) and, later, formulations (contacts → a problem to solve)."""
