"""What methods with spring-damper contacts share."""
