"""Derivatives of a variational step."""
