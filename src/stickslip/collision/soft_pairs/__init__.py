"""The pairs of shapes that spring-damper contacts know: planes, boxes and spheres against points and spheres."""
