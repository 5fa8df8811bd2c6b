"""Groups of subcontacts between polyhedra, for PEG."""
