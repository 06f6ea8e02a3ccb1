"""TODO lint."""
