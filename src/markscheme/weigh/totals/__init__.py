"""TODO totals."""
