"""Aggregate, gate, verify: pure and exact, no input or output."""
