"""Shared parts of the methods with spring-damper contacts."""
