"""A run from a published result file. What does not follow from its own cells is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from markscheme.read.results import PublishedField, PublishedResult
from markscheme.read.storable import MAX_STORABLE_NUMBER
from markscheme.vocabulary import (
    DocumentError,
    Exam,
    Problem,
    RowError,
    Rubric,
    UsageError,
    simplest_fraction,
)
from markscheme.weigh.totals import Marks, Measures, MeasureTotal, Run
from markscheme.weigh.verify import verify_published

_MEASURE_KEYS = ("latency_ms", "cost", "tokens_in", "tokens_out")


def build_published_run(
    published: PublishedResult, rubric: Rubric, exam: Exam, *, subject: str | None = None
) -> Run:
    """Return the run that a result file holds, of the subject named where it holds several.

    Under its own rubric and exam every number is recomputed first, and one that is wrong refuses
    the file. A file of another rubric or exam is read as it stands: it keeps its own fingerprints,
    so that no gate takes it for a run of this one.
    """
    source = _PublishedRunSource(published=published, rubric=rubric, exam=exam)
    problems = [Problem(**found) for found in source.find_problems()]
    if problems:
        raise DocumentError(problems)
    who = _select_subject(published, subject)
    rows = [record for _, record in published.records if record.get("subject") == who]
    return Run(
        name=published.file,
        rubric=source.get_fingerprint("rubric"),
        exam=source.get_fingerprint("exam"),
        marks=source.count_marks(rows, who),
        measures=_sum_measures(rows),
        subject=who,
    )


def list_bad_rows(published: PublishedResult) -> tuple[RowError, ...]:
    """Return the rows that were no answers, as far as a result file says what they are.

    They are listed after the items of a document, and are rows of their own in JSON lines.
    """
    listed = published.document.get("errors")
    errors = listed if isinstance(listed, list) else []
    rows = [
        {**row, "reason": row.get("error"), "excerpt": row.get("got")}
        for row in published.unscored_rows
        if row.get("status") == "error"
    ]
    found = (row for row in (*errors, *rows) if isinstance(row, dict))
    return tuple(
        RowError(
            line=row["line"],
            reason=row["reason"],
            item=_get_text_or_none(row.get("item")),
            excerpt=_get_text_or_none(row.get("excerpt")) or "",
            file=_get_text_or_none(row.get("file")),
        )
        for row in found
        if type(row.get("line")) is int and isinstance(row.get("reason"), str)
    )


def _get_text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def list_published_subjects(published: PublishedResult) -> list[str | None]:
    """Return the subjects whose answers a result file holds."""
    rows = [*(record for _, record in published.records), *published.unscored_rows]
    named = (row.get("subject") for row in rows if row.get("status") != "error")
    return list(dict.fromkeys(who for who in named if isinstance(who, str | None)))


def _select_subject(published: PublishedResult, subject: str | None) -> str | None:
    found = list_published_subjects(published)
    if subject is not None and subject not in found:
        raise UsageError(f"`{published.file}` holds no answers of the subject `{subject}`")
    if subject is None and len(found) > 1:
        names = ", ".join(f"`{name}`" for name in found)
        raise UsageError(f"`{published.file}` holds several subjects; name one of {names}")
    return subject if subject is not None else next(iter(found), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PublishedRunSource:
    """A published file beside the rubric and the exam that it is read for."""

    published: PublishedResult
    rubric: Rubric
    exam: Exam

    def get_fingerprint(self, key: str) -> str | None:
        """Return what the file says it was scored under."""
        named = self.published.document.get(key)
        value = named.get("fingerprint") if isinstance(named, dict) else None
        return value if isinstance(value, str) else None

    @property
    def is_same_rubric(self) -> bool:
        return self.get_fingerprint("rubric") in {None, self.rubric.fingerprint}

    @property
    def is_same_exam(self) -> bool:
        return self.get_fingerprint("exam") in {None, self.exam.fingerprint}

    @property
    def axes(self) -> tuple[str, ...]:
        if self.is_same_rubric or not self.published.records:
            return tuple(spec.name for spec in self.rubric)
        return tuple(self.published.records[0][1]["breakdown"])

    def find_problems(self) -> Iterator[dict[str, Any]]:
        """Yield everything that keeps the file from being judged."""
        if not self.published.records and not self.published.unscored_rows:
            yield self._build_problem((), "holds no item; nothing could be judged")
        if self.is_same_rubric:
            exam = self.exam if self.is_same_exam else None
            for found in verify_published(self.published, self.rubric, exam).findings:
                told = f"{found.published} is published, {found.computed} is right"
                yield {
                    "file": found.file,
                    "line": found.line,
                    "field": found.field,
                    "message": f"{told}: {found.because}",
                }
        yield from self._find_row_problems()

    def _build_problem(self, field: PublishedField, message: str) -> dict[str, Any]:
        published = self.published
        line, name = published.find_line(field), published.format_field(field)
        return {"file": published.file, "line": line, "field": name, "message": message}

    def _find_row_problems(self) -> Iterator[dict[str, Any]]:
        items, seen = {item.id for item in self.exam.items}, set[tuple[Any, ...]]()
        for place, row in self.published.records:
            item = row.get("item")
            if not isinstance(item, str) or (self.is_same_exam and item not in items):
                if not (self.is_same_rubric and self.is_same_exam):  # else it was told already
                    yield self._build_problem((*place, "item"), "names no item of this exam")
                continue
            if not _is_valid_subject(row.get("subject")):
                yield self._build_problem((*place, "subject"), "must be a text, or null")
                continue
            attempt = 1 if row.get("attempt") is None else row["attempt"]
            if type(attempt) is not int or attempt < 0:
                yield self._build_problem((*place, "attempt"), "must be a whole number from 0 on")
            elif (key := (item, row.get("subject"), attempt)) in seen:
                yield self._build_problem((*place, "item"), "occurs twice with the same attempt")
            else:
                seen.add(key)
            yield from self._find_value_problems(place, row)
        if not all(_is_valid_subject(row.get("subject")) for row in self.published.unscored_rows):
            yield self._build_problem(
                (), "names a subject that is no text beside an item without score"
            )

    def _find_value_problems(
        self, place: PublishedField, row: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        if set(row["breakdown"]) != set(self.axes):
            yield self._build_problem(
                (*place, "breakdown"), f"must have the axes {', '.join(self.axes)}"
            )
        for axis, value in row["breakdown"].items():
            if value is not None and not 0 <= value <= 1:
                yield self._build_problem((*place, "breakdown", axis), "must be from 0 to 1")
        for key in _MEASURE_KEYS:
            value = row.get(key)
            known = isinstance(value, int | Decimal) and not isinstance(value, bool)
            if value is not None and not (known and 0 <= value <= MAX_STORABLE_NUMBER):
                allowed = f"must be a number from 0 to {MAX_STORABLE_NUMBER}, or null"
                yield self._build_problem((*place, key), allowed)

    def count_marks(self, rows: list[Mapping[str, Any]], subject: str | None) -> Marks:
        """Count the cells of one subject's rows."""
        own = [row["item"] for row in rows]
        absent = [
            row.get("item") for row in self.published.unscored_rows if row.get("subject") == subject
        ]
        ids = [item.id for item in self.exam.items] if self.is_same_exam else [*own, *absent]
        items: dict[str, Counter[tuple[Fraction | None, ...]]] = {
            item: Counter() for item in ids if isinstance(item, str)
        }
        for row in rows:
            cells = row["breakdown"]
            values = tuple(
                None if cells[a] is None else simplest_fraction(cells[a]) for a in self.axes
            )
            items[row["item"]][values] += 1
        return Marks(axes=self.axes, items=items, errors=self.published.error_count)


def _is_valid_subject(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _sum_measures(rows: list[Mapping[str, Any]]) -> Measures:
    latencies = (row.get("latency_ms") for row in rows)
    totals = {
        key: [Fraction(row[key]) for row in rows if row.get(key) is not None]
        for key in _MEASURE_KEYS[1:]
    }
    return Measures(
        answers=len(rows),
        latency_ms=Counter(float(value) for value in latencies if value is not None),
        **{
            key: MeasureTotal(n=len(found), sum=sum(found, Fraction(0)))
            for key, found in totals.items()
        },
    )
