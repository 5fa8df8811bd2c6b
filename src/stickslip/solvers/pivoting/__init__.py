"""Pivoting methods: Lemke and its mixed form."""
