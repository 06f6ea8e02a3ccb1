"""TODO gates."""
