"""Recordings: those that are built in, those that a run writes, and those that are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sittings import Sitting

RECORDED = (
    ('{"item": "i0", "output": "yes"}', "line 1 holds"),
    ('{"item": "i1", "subject": "b", "output": "yes"}', "of `b`"),
    ('{"item": "i1", "subject": "a", "outp', "not JSON"),
    ('{"item": "i1", "subject": "a", "output": null}', "`output` must be text"),
    ('{"item": "i1", "subject": "a", "output": "yes", "cost": "much"}', "`cost`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "latency_ms": 1e308}', "`latency_ms`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "latency_ms": -5}', "`latency_ms`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "tokens_in": "3"}', "`tokens_in`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "first_token_ms": "3"}', "`first_token_ms`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "finish_reason": 7}', "`finish_reason`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "tries": -1}', "`tries`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "cached": "no"}', "`cached`"),
    ('{"item": "i1", "subject": "a", "error": "timeout"}', "`error`"),
    ('{"item": "i1", "subject": "a", "error": {"kind": "odd", "why": ""}}', "`error`"),
    ('["i1", "yes"]', "an object"),
)


def test_every_row_that_cannot_be_replayed_is_told_before_anything_is_asked(
    sitting: Sitting,
) -> None:
    first = '{"item": "i0", "subject": "a", "output": "yes"}'
    rows = sitting.write("said.jsonl", "\n".join([first, *(row for row, _ in RECORDED)]))
    done = sitting.asks("x", "y").run(subject=f"replay:{rows}")
    assert done.code == 3
    told = done.err.splitlines()
    assert len(told) == len(RECORDED)
    for number, (line, (_, wrong)) in enumerate(zip(told, RECORDED, strict=True), start=2):
        assert line.startswith(f"{rows}:{number}: ")
        assert wrong in line


def test_a_file_of_rubbish_is_not_told_line_by_line(sitting: Sitting) -> None:
    rows = sitting.write("said.jsonl", "rubbish\n" * 5_000)
    done = sitting.asks("x").run(subject=f"replay:{rows}")
    assert (done.code, done.err.count("\n")) == (3, 21)
    assert done.err.endswith(f"{rows}:21: 4,980 more lines from here on cannot be replayed\n")


def test_a_recording_of_two_subjects_is_the_answers_of_neither(sitting: Sitting) -> None:
    said = sitting.folder / "said.jsonl"
    words = ("-s", "cmd:echo no", "--record", said)
    assert sitting.asks("x").run(*words, subject="cmd:echo yes").code == 0
    done = sitting.run(subject=f"replay:{said}")
    assert done.code == 3
    assert "`cmd:echo no`" in done.err
