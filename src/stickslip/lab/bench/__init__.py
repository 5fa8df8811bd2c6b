"""Ours beside peers, measured in one run: each bench prints a table and says whether its targets are met."""
