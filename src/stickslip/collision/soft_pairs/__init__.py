"""Collision detection of the spring-damper methods: planes, boxes and spheres against points and spheres."""
