"""Splitting methods: Gauss–Seidel, Jacobi and the fixed-point iteration."""
