"""The rubric under test: what can be proved of it, and what lint says of it."""
