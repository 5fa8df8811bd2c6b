"""Implicit Euler with spring-damper contacts."""
