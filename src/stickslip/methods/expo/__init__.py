"""Expo: the exponential integrator for stiff spring-damper contacts (Hammoud et al.)."""
