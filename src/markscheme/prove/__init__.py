"""The rubric under test: what can be proved of it, what lint says, and what breaking it shows."""
