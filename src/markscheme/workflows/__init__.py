"""Use cases, one module for each command: score, run, gate, compare, report, verify and others.

A workflow composes reading, asking, marking, weighing and storing, and returns plain data. `score`
is the only composition of reading, marking, totals, storing and writing; engines produce its rows
and sinks take them. A workflow may not print, draw or choose an exit code: `tell` and `cli` do. A
heavy package (polars, ray) is imported by the workflow that needs it.
"""
