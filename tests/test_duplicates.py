"""The ledger of attempts knows each one, across parts too, in about a byte."""

from __future__ import annotations

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from answer_rows import GOOD, KNOWN, merged, only_error
from markscheme.read.answers import SeenAttempts, read_jsonl, reject_duplicates
from markscheme.read.answers import duplicates as ledger_module


@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.sampled_from([None, "s"]),
            st.one_of(st.integers(0, 40), st.sampled_from([10**6, 2**40, 2**63 - 1])),
        )
    ),
    st.integers(0, 300),
)
def test_the_ledger_knows_every_attempt(
    entries: list[tuple[str, str | None, int]], spare: int
) -> None:
    ledger, seen = SeenAttempts(), set()
    ledger._spare_bytes = spare
    for entry in entries:
        item, subject, attempt = entry
        first = not ledger.record_answers((item,), (subject,), (attempt,))
        assert first == (entry not in seen)
        seen.add(entry)


def test_repeats_are_found_across_parts_that_were_read_apart() -> None:
    parts = [merged(read_jsonl([before + GOOD], known=KNOWN)) for before in (b"", b"\n")]
    first, second = reject_duplicates(parts, SeenAttempts())
    assert (first.lines, first.errors) == ([1], [])
    assert (second.lines, only_error(second).line) == ([], 2)


def test_the_ledger_spends_about_a_byte_per_attempt_in_any_order() -> None:
    ledger = SeenAttempts()
    attempts = [number * 7919 % 20_000 for number in range(20_000)]
    for item in map(str, range(20)):
        assert ledger.record_answers([item] * 20_000, [None] * 20_000, attempts) == []
    spent = sum(map(len, chain.from_iterable(table.values() for table in ledger._flags.values())))
    assert spent <= 2 * 20 * 20_000
    assert not ledger._far_attempts
    assert spent < ledger_module._INITIAL_BYTES
