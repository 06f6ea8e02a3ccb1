"""Lines that are written alike are read by one pattern: with the same result as one by one."""

from __future__ import annotations

import json
import tracemalloc
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markscheme import AxisSpec, Cell, Exam, Item, Rubric, load_rubric
from markscheme.mark.axes import ContainsAll, JsonSchema, Match, MaxWords
from markscheme.read.answers import (
    AnswerBatch,
    KnownItems,
    ReadLimits,
    SeenAttempts,
    TemplateRows,
    create_template_reader,
    read_jsonl,
)
from markscheme.read.answers.fast import scanner
from markscheme.workflows.local_engine import LocalEngine
from markscheme.workflows.scoring_session import ScoringSession

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

TUTOR = load_rubric("tutor-capstone")
EXAM = Exam(
    names=("e",),
    items=tuple(
        Item(
            id=name,
            prompt="p",
            expectations={"expected_contains": [form], "gloss_contains": [gloss]},
            tags={"verb": form},
        )
        for name, form, gloss in [
            ("t-0", "ate", "comió"),
            ("t-1", "went", "fue"),
            ("t-2", "a", "ñ"),
            ("ó", "b", "c"),
        ]
    ),
    fingerprint="b2:0",
)
TEXTS = st.one_of(
    st.sampled_from(["Ate.", "ATE", "Comió.", "comio\u0301", "Went.", "fue", "", " ", "a  b"]),
    st.text(alphabet=" .aeóñ\"\\/\t\u0301\u00a0\u2003\u0085\x7f\u3000{}`'", max_size=12),
    st.text(max_size=8),
)
USUAL = st.fixed_dictionaries({"correction": TEXTS, "spanish_gloss": TEXTS, "explanation": TEXTS})
SOME = st.fixed_dictionaries(
    {}, optional={"correction": TEXTS, "spanish_gloss": TEXTS, "explanation": TEXTS}
)
OUTPUTS: st.SearchStrategy[Any] = st.one_of(
    SOME.map(lambda fields: json.dumps(fields, ensure_ascii=False)),
    SOME.map(lambda fields: f"```json\n{json.dumps(fields)}\n```"),
    USUAL.map(lambda fields: json.dumps(fields, ensure_ascii=False)),
    USUAL.map(lambda fields: json.dumps(fields, ensure_ascii=False)),
    USUAL.map(json.dumps),
    USUAL.map(lambda fields: json.dumps(fields, separators=(",", ":"))),
    USUAL.map(lambda fields: json.dumps({**fields, "more": 1}, ensure_ascii=False)),
    USUAL.map(lambda fields: f"```json\n{json.dumps(fields)}\n```"),
    USUAL.map(lambda fields: f"```json\n{json.dumps(fields, ensure_ascii=False)}\n```"),
    USUAL.map(lambda fields: json.dumps(fields, ensure_ascii=False, indent=2)),
    st.tuples(USUAL, TEXTS).map(
        lambda told: json.dumps({**told[0], "note": told[1]}, ensure_ascii=False)
    ),
    USUAL,
    TEXTS,
)
NUMBERS = st.one_of(
    st.none(), st.integers(0, 9), st.floats(0, 1e6), st.sampled_from([1e300, -1, "2", True, 1e15])
)
ROWS = st.fixed_dictionaries(
    {
        "item": st.sampled_from(["t-0", "t-1", "t-2", "t-0", "t-1", "T_0", "", "ó", "\\u00f3"]),
        "attempt": st.one_of(st.integers(0, 40), st.sampled_from([None, 10**9, 1.0, "1"])),
        "output": OUTPUTS,
        "latency_ms": NUMBERS,
    },
)
FIRST = b"".join(
    b'{"item": "t-%d", "attempt": %d, "output": "{\\"correction\\": \\"Ate.\\", '
    b'\\"spanish_gloss\\": \\"Comi\xc3\xb3.\\", \\"explanation\\": \\"x y.\\"}", '
    b'"latency_ms": 12.5}\n' % (n % 3, 50 + n // 3)
    for n in range(30)
)
FIELDS = {"correction": "Ate.", "spanish_gloss": "Comió.", "explanation": "x y."}
BARE = json.dumps(FIELDS, ensure_ascii=False)
PRETTY = json.dumps(FIELDS, ensure_ascii=False, indent=2)
SPELLINGS = {
    "bare": BARE,
    "over several lines": PRETTY,
    "with space around it": f" {BARE}\n",
    "in a fence": f"```json\n{BARE}\n```",
    "in a fence over several lines": f"```\n{PRETTY}\n```\n",
    "with another text": json.dumps({"note": "so", **FIELDS}, ensure_ascii=False),
}
LACKING = {
    "without the gloss": json.dumps({"correction": "Ate.", "explanation": "It is comió, x y."}),
    "without what is got": json.dumps({"spanish_gloss": "Comió.", "explanation": "So, x y."}),
    "without words": json.dumps({"correction": "ate x y.", "spanish_gloss": "Ate."}),
    "with another text in place of a field": json.dumps({"correction": "Ate.", "gloss": "x y."}),
    "with one field, in a fence": '```json\n{"spanish_gloss": "Comio, x y."}\n```',
}
UNUSUAL = {
    "no field that is read": json.dumps({"corrected": "Ate.", "why": "x y."}),
    "words before the fence": f"Here:\n```json\n{BARE}\n```",
    "a fence that is not closed": f"```json\n{BARE}",
    "a fence in one line": f"```json {BARE}```",
    "a fence that a quotation holds": f"> ```json\n> {BARE}\n> ```",
    "another kind of fence": f"~~~json\n{BARE}\n~~~",
    "a field twice": BARE[:-1] + ', "correction": "Went."}',
    "a number": BARE[:-1] + ', "sure": 1}',
    "a space that JSON does not know": f"\u00a0{BARE}",
    "a lot of space": BARE.replace(", ", f",{' ' * 100_000}", 1),
    "many fields": json.dumps({**FIELDS, **{f"n{at}": "x" for at in range(40)}}),
    "a key in two code points": BARE[:-1] + ', "cafe\u0301": "x"}',
}


def spelled(output: str, attempts: range) -> bytes:
    """Return lines with outputs of one spelling, in which every text is another one."""
    lines = (
        {
            "item": f"t-{n % 3}",
            "attempt": n,
            "output": output.replace("x y.", f"x `` {n}.").replace("Ate.", f"Ate {n % 5}."),
        }
        for n in attempts
    )
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines).encode()


def mixed(outputs: Iterable[str]) -> bytes:
    """Return twenty lines of each spelling."""
    return b"".join(
        spelled(output, range(100 * at, 100 * at + 20)) for at, output in enumerate(outputs, 1)
    )


MIXED = mixed(SPELLINGS.values())


def scored(content: bytes, *, alike: bool, rubric: Rubric = TUTOR, rows: int = 40) -> Any:
    kept: list[str] = []
    scoring = ScoringSession(rubric, EXAM, keep=lambda outputs, _: kept.extend(outputs))
    known = KnownItems([item.id for item in EXAM.items])
    batches = read_jsonl(
        [content],
        known=known,
        seen_attempts=SeenAttempts(),
        template_reader=create_template_reader(known, scoring.scorer.fields) if alike else None,
        limits=ReadLimits(batch_rows=rows),
    )
    result = scoring.build_result(scoring.build_frames(map(scoring.mark_batch, batches)))
    told = result.frame.sort("line", maintain_order=True).to_dicts()
    return told, result.to_dict()["summary"], sorted(kept)


@given(
    st.lists(ROWS, max_size=12),
    st.sampled_from([(", ", ": "), (",", ":")]),
    st.sampled_from([0, 1]),
    st.sampled_from([MIXED, mixed(LACKING.values())]),
)
@settings(max_examples=80)
def test_rows_and_totals_are_those_of_reading_line_by_line(
    rows: list[dict[str, Any]], separators: tuple[str, str], escaped: int, before: bytes
) -> None:
    lines = [json.dumps(row, ensure_ascii=bool(escaped), separators=separators) for row in rows]
    content = before + FIRST + "\n".join(lines).encode("utf-8", "replace")
    assert scored(content, alike=True, rows=400) == scored(content, alike=False)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12)), max_size=40))
@settings(max_examples=50)
def test_repeats_are_found_in_whatever_order_attempts_come(keys: list[tuple[int, int]]) -> None:
    line = FIRST.split(b"\n", 1)[0].decode()
    lines = [line.replace("t-0", f"t-{n}").replace(": 50,", f": {at},") for n, at in keys]
    content = FIRST + "\n".join(lines).encode()
    assert scored(content, alike=True, rows=7) == scored(content, alike=False)


@given(
    st.lists(
        st.sampled_from(
            [
                b"",
                b"nope",
                b"\xff",
                b"{}",
                b"[1]",
                b'{"item": "t-0"}',
                FIRST.split(b"\n")[0] + b"\r",
                FIRST.split(b"\n")[0][:-1] + b', "more": 1}',
                FIRST.split(b"\n")[0][:-1] + b', "item": "t-1"}',
                b" " + FIRST.split(b"\n")[1],
                FIRST.split(b"\n")[1] + b" x",
                FIRST.split(b"\n")[1].replace(b"12.5", b"012.5"),
                FIRST.split(b"\n")[1].replace(b"12.5", b"1e3"),
                FIRST.split(b"\n")[1].replace(b"x y.", b"x\x01y."),
                FIRST.split(b"\n")[1].replace(b"x y.", b"x\\u0000y."),
            ]
        ),
        max_size=6,
    )
)
def test_lines_that_are_not_alike_are_told_as_they_are_alone(odd: list[bytes]) -> None:
    content = FIRST + b"\n".join(odd)
    assert scored(content, alike=True) == scored(content, alike=False)


def rubric_of(*axes: Any) -> Rubric:
    weight = Decimal(1) / len(axes)
    specs = (AxisSpec(name=f"a{at}", weight=weight, axis=axis) for at, axis in enumerate(axes))
    return Rubric(name="r", version=1, axes=tuple(specs), gates=(), fingerprint="b2:0")


def alike_rows(batches: list[AnswerBatch]) -> int:
    return sum(batch.template_rows.table.height for batch in batches if batch.template_rows)


def test_most_lines_of_usual_traffic_are_read_as_alike() -> None:
    fields = ScoringSession(TUTOR, EXAM).scorer.fields
    known = KnownItems([item.id for item in EXAM.items])
    batches = list(
        read_jsonl(
            [FIRST + b"nope\n" + FIRST],
            known=known,
            template_reader=create_template_reader(known, fields),
        )
    )
    assert alike_rows(batches) == 60
    assert [error.line for batch in batches for error in batch.errors] == [31]


@pytest.mark.parametrize("output", (SPELLINGS | LACKING).values(), ids=SPELLINGS | LACKING)
def test_every_usual_spelling_is_read_as_alike(output: str) -> None:
    fields = ScoringSession(TUTOR, EXAM).scorer.fields
    known = KnownItems([item.id for item in EXAM.items])
    content = spelled(output, range(1, 41))
    assert (
        alike_rows(
            list(
                read_jsonl(
                    [content], known=known, template_reader=create_template_reader(known, fields)
                )
            )
        )
        == 40
    )
    assert scored(content, alike=True) == scored(content, alike=False)


@pytest.mark.parametrize("output", UNUSUAL.values(), ids=UNUSUAL)
def test_a_spelling_of_which_little_is_proved_is_read_line_by_line(output: str) -> None:
    fields = ScoringSession(TUTOR, EXAM).scorer.fields
    known = KnownItems([item.id for item in EXAM.items])
    content = spelled(output, range(1, 41))
    assert (
        alike_rows(
            list(
                read_jsonl(
                    [content], known=known, template_reader=create_template_reader(known, fields)
                )
            )
        )
        == 0
    )
    assert scored(content, alike=True) == scored(content, alike=False)


@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n \n", b"\n" + FIRST + b"\n\n"])
def test_empty_lines_are_no_answers(content: bytes) -> None:
    assert scored(content, alike=True) == scored(content, alike=False)


def test_spellings_that_take_turns_are_all_read_as_alike() -> None:
    fields = ScoringSession(TUTOR, EXAM).scorer.fields
    known = KnownItems([item.id for item in EXAM.items])
    lines = MIXED.splitlines(keepends=True)
    content = b"".join(line for at in range(20) for line in lines[at::20])
    assert alike_rows(
        list(
            read_jsonl(
                [content], known=known, template_reader=create_template_reader(known, fields)
            )
        )
    ) == len(lines)
    assert scored(content, alike=True, rows=400) == scored(content, alike=False)


def test_a_file_in_which_every_line_is_spelled_another_way_is_read_line_by_line() -> None:
    fields = ScoringSession(TUTOR, EXAM).scorer.fields
    known = KnownItems([item.id for item in EXAM.items])
    content = b"".join(spelled(f"{' ' * n}{BARE}", range(n, n + 1)) for n in range(1, 90))
    limits = ReadLimits(batch_rows=10)
    blocks = [content[at : at + 2000] for at in range(0, len(content), 2000)]
    assert (
        alike_rows(
            list(
                read_jsonl(
                    blocks,
                    known=known,
                    template_reader=create_template_reader(known, fields),
                    limits=limits,
                )
            )
        )
        == 0
    )
    assert scored(content, alike=True) == scored(content, alike=False)


@pytest.mark.parametrize(
    ("text", "read"),
    [("fine — “so”… 5 €", 30), ("да, 好", 0), ("e\u0301t\u00e9", 0), ("\u2126", 0)],
    ids=["punctuation", "other scripts", "two code points for one", "a sign with a twin"],
)
def test_ordinary_punctuation_is_read_as_alike(text: str, read: int) -> None:
    fields = ScoringSession(TUTOR, EXAM).scorer.fields
    known = KnownItems([item.id for item in EXAM.items])
    content = FIRST.replace(b"x y.", text.encode())
    assert (
        alike_rows(
            list(
                read_jsonl(
                    [content], known=known, template_reader=create_template_reader(known, fields)
                )
            )
        )
        == read
    )
    assert scored(content, alike=True) == scored(content, alike=False)


@pytest.mark.parametrize("escapes", [(b"\\u00f3",), (b"\\\\u00f3",), (b"\\u00f3", b"\\\\u00f3")])
@pytest.mark.parametrize("name", [b"spanish_gloss", b"note"])
def test_escaped_letters_are_read_as_alike_and_kept_as_they_were_written(
    escapes: tuple[bytes, ...], name: bytes
) -> None:
    fields = ScoringSession(TUTOR, EXAM).scorer.fields
    known = KnownItems([item.id for item in EXAM.items])
    lines = FIRST.replace(b"spanish_gloss", name).splitlines(keepends=True)
    content = b"".join(
        line.replace("ó".encode(), escapes[at % len(escapes)]) for at, line in enumerate(lines)
    )
    assert (
        alike_rows(
            list(
                read_jsonl(
                    [content], known=known, template_reader=create_template_reader(known, fields)
                )
            )
        )
        == 30
    )
    assert scored(content, alike=True) == scored(content, alike=False)


@pytest.mark.parametrize("spelled", [b"\\u00f3", b"\\\\u00f3", b"\\\\\\u00f3", b"\\\\\\\\u00f3"])
@pytest.mark.parametrize("place", [b"t-1", b"Ate.", b"someone"])
def test_what_only_looks_like_an_escape_is_told_as_it_is(place: bytes, spelled: bytes) -> None:
    content = FIRST.replace(b'"latency_ms"', b'"subject": "someone", "latency_ms"')
    content = content.replace(place, spelled)
    assert scored(content, alike=True) == scored(content, alike=False)


def test_outputs_of_many_repeats_are_put_together_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[TemplateRows] = []
    outputs = TemplateRows.build_outputs

    def counted(rows: TemplateRows) -> pl.Series:
        calls.append(rows)
        return outputs(rows)

    monkeypatch.setattr(TemplateRows, "build_outputs", counted)
    known = KnownItems([item.id for item in EXAM.items])
    alike = create_template_reader(known, ScoringSession(TUTOR, EXAM).scorer.fields)
    batches = read_jsonl(
        [FIRST + FIRST], known=known, seen_attempts=SeenAttempts(), template_reader=alike
    )
    assert sum(len(batch.errors) for batch in batches) == 30
    assert len(calls) == 1


def test_an_axis_made_from_another_is_not_told_by_the_keys_of_that_one() -> None:
    class Shouting(MaxWords):
        def judge(self, text: str, item: Item) -> Cell:
            del item
            return Cell.passed("loud") if text.isupper() else Cell.missed("quiet")

    rubric = rubric_of(
        ContainsAll(reads="correction"),
        ContainsAll(reads="spanish_gloss", expects="gloss_contains"),
        Shouting(reads="explanation", limit=9),
    )
    content = FIRST + FIRST.replace(b": 5", b": 7").replace(b"x y.", b"X Y.")
    _, summary, _ = scored(content, alike=True, rubric=rubric)
    assert summary["axes"]["a2"] == 0.5


def test_lines_are_numbered_on_after_a_batch_that_ends_in_an_empty_line() -> None:
    fields = ScoringSession(TUTOR, EXAM).scorer.fields
    known = KnownItems([item.id for item in EXAM.items])
    blocks, limits = [FIRST + b"\n", b"nope\n"], ReadLimits(batch_rows=10)
    batches = list(
        read_jsonl(
            blocks,
            known=known,
            template_reader=create_template_reader(known, fields),
            limits=limits,
        )
    )
    assert alike_rows(batches) == 30
    assert [error.line for batch in batches for error in batch.errors] == [32]


@pytest.mark.parametrize(
    "axes",
    [
        (ContainsAll(reads="correction"), MaxWords(limit=3)),
        (ContainsAll(), MaxWords(reads="explanation", limit=3)),
        (ContainsAll(reads="correction"), JsonSchema(schema={"maxProperties": 2})),
        (MaxWords(reads="explanation", limit=3),),
    ],
)
def test_a_rubric_that_looks_at_more_than_fields_reads_line_by_line(axes: Any) -> None:
    assert ScoringSession(rubric_of(*axes), EXAM).scorer.fields == ()


def test_nothing_that_is_kept_holds_on_to_what_was_scanned() -> None:
    long = FIRST.replace(b"Ate.", b"Ate a text that is too long to be part of its view.")
    content = long.replace(b'"latency_ms"', b'"subject": "a name that is long", "latency_ms"')
    scoring = ScoringSession(TUTOR, EXAM)
    known = KnownItems([item.id for item in EXAM.items])
    alike = create_template_reader(known, scoring.scorer.fields)
    tracemalloc.start()
    try:
        batches = read_jsonl([content], known=known, template_reader=alike)
        frames = list(scoring.build_frames(map(scoring.mark_batch, batches)))
        del batches
        kept = tracemalloc.take_snapshot().filter_traces(
            [tracemalloc.Filter(inclusive=True, filename_pattern=scanner.__file__)]
        )
    finally:
        tracemalloc.stop()
    assert sum(frame.height for frame in frames) == 31
    assert sum(trace.size for trace in kept.traces if trace.size >= len(content)) == 0


def test_fields_named_like_columns_are_kept_apart() -> None:
    rubric = rubric_of(
        ContainsAll(reads="item", match=Match.WORD), MaxWords(reads="latency_ms", limit=1)
    )
    output = json.dumps({"item": "Ate.", "latency_ms": "two words"})
    rows = [{"item": "t-0", "attempt": n, "output": output} for n in range(5)]
    content = "\n".join(map(json.dumps, rows)).encode()
    found = scored(content, alike=True, rubric=rubric)
    assert found == scored(content, alike=False, rubric=rubric)
    assert found[1]["axes"] == {"a0": 1.0, "a1": 0.0}


def test_a_whole_run_is_the_same_whatever_the_batches(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(FIRST)
    scoring = ScoringSession(TUTOR, EXAM)
    with LocalEngine(TUTOR, EXAM, path) as engine:
        whole = pl.concat(list(scoring.build_frames(engine.score_chunks(scoring))))
    assert whole.height == 31  # one item has no answer
    assert (
        scored(FIRST, alike=True, rows=3)[0] == whole.sort("line", maintain_order=True).to_dicts()
    )
