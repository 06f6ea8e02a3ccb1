"""Tests of the rubric itself: lint (static checks and proofs), audit (mutation testing), exercise.

Each returns a report as plain data. Reading files is in `read`, scoring in `mark`, and drawing a
report in `tell`.
"""
