"""Asks subjects: models, commands and functions that answer the questions of an exam.

`template` turns items into `questions`, `subjects` answers one question, and `runner` asks them
all: with retries, a `rate_limit`, time and cost limits. Errors are replies with a kind (`faults`),
never exceptions. `secrets` keeps keys out of everything that is stored or shown. Nothing in here
marks an answer, opens a store or prints.

When an endpoint says 429: `subjects/endpoint` builds a reply with `faults.build_status_reply`, of
the kind `Fault.BUSY`; `runner` hands it to `rate_limit`, which halves the concurrency of that
subject and pauses it; then the question is asked again, which costs no retry.
"""
