"""Subjects that answer an exam, and the asking of them.

`templates` make `questions` of items; `subjects` give `replies` to them, those at an endpoint over
the `wire` as `completions` or `streams`; the `runner` asks at a `pace`, with as many `open_files`
as that takes, and has its `reasons` to stop. `keys` stay hidden. What a response is made of is read
by `incoming`, `parsed` and `packed`; `statuses` and `raised` say what an error means; `calls` and
`importing` are for code of others, `threads` for loops and signals, `serving` and `tutor` for those
on board.
"""
