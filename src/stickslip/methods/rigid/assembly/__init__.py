"""From contacts, limits and joints to the rows and matrices that all formulations share."""
