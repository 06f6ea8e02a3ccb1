"""Weigh marked answers: totals, patterns, gates, comparison, statistics, verification.

- `totals`: exact sums and means of a run.
- `result`: the value that `score` returns, and the JSON records of results.
- `gates`: does a run pass, and why; `distribution`: its scores and their trend over runs.
- `patterns`: what many breakdowns have in common.
- `compare`: two variants or several, by ratings or by runs.
- `stats`: the statistics that all of these use.
- `verify` and `published_run`: check a published result and use it as a run.
- `recalibrate`: weigh a history again under changed weights.

Pass or fail is decided here and nowhere else. Everything is computed from values in memory, in
exact numbers: no files, no store, no network, and nothing is drawn.
"""
