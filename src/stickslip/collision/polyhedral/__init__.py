"""Groups of subcontacts between polyhedra, for the PEG formulation."""
