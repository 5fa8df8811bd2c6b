"""The method event-selected: spring-damper contacts with touchdowns and lift-offs at their exact times."""
