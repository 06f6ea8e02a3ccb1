"""TODO fast."""
