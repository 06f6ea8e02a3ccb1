"""TODO workflows."""
