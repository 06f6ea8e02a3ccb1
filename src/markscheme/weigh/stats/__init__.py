"""TODO stats."""
