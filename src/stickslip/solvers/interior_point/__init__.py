"""Interior-point methods: for complementarity problems, and for problems on second-order cones."""
