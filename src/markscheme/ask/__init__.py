"""Subjects that answer an exam, and the asking of them.

`templates` make `questions` of items; `subjects` give `replies` to them, those at an endpoint over
the `wire` as `completions` or `streams`, code of others by `calls`; the `runner` asks at a `pace`.
`keys` stay hidden.
"""
