"""Build a run from a published result file, so that a gate can judge it.

The file is verified first: a value that does not follow from its own rows refuses the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from markscheme.mark.axes import MarkedAxis
from markscheme.read.results import PublishedField, PublishedResult
from markscheme.read.storable import MAX_STORABLE_NUMBER
from markscheme.vocabulary import (
    DocumentError,
    Exam,
    JudgedAxis,
    MarkSource,
    Problem,
    RowError,
    Rubric,
    ScoreBounds,
    UsageError,
    sentence,
)
from markscheme.weigh.totals import (
    AxisValues,
    Marks,
    Measures,
    MeasureTotal,
    Run,
    is_bounds,
    parse_judging_records,
    read_axis_values,
)
from markscheme.weigh.verify import verify_published

_UNKNOWN_MARKERS = sentence(
    "the file does not say whether people or a judge marked it; write the result as .json, or judge"
    " the stored run"
)
_SOURCES_BESIDE_JUDGES = {source.value for source in MarkSource if source is not MarkSource.JUDGE}
_MEASURE_KEYS = ("latency_ms", "cost", "tokens_in", "tokens_out")


def build_published_run(
    published: PublishedResult, rubric: Rubric, exam: Exam, *, subject: str | None = None
) -> Run:
    """Return the run of a subject in a result file; name the subject if there are several.

    If the file was scored under this rubric, it is verified first, and one wrong value refuses it.
    A file of another rubric or exam is read as it is. It keeps its own fingerprints, so that no
    gate takes it for a run of this rubric or exam.

    Raises:
        DocumentError: a value is wrong, or the rows cannot be read as a run.
        UsageError: the subject is not in the file, or there are several and none is named.
    """
    source = _PublishedRunSource(published=published, rubric=rubric, exam=exam)
    problems = list(source.find_problems())
    if problems:
        raise DocumentError(problems)
    subject = _select_subject(published, subject)
    rows = [record for _, record in published.records if record.get("subject") == subject]
    return Run(
        name=published.file,
        rubric=source.get_fingerprint("rubric"),
        exam=source.get_fingerprint("exam"),
        marks=source.count_marks(rows, subject),
        measures=_sum_measures(rows),
        subject=subject,
        judged=source.list_judged_axes(),
    )


def list_bad_rows(published: PublishedResult) -> tuple[RowError, ...]:
    """Return the rows that were no answers, as far as a result file describes them.

    A JSON document lists them after its items; in JSON lines they are rows with the status `error`.
    """
    listed = published.document.get("errors")
    errors = listed if isinstance(listed, list) else []
    rows = [
        {**row, "reason": row.get("error"), "excerpt": row.get("got")}
        for row in published.unscored_rows
        if row.get("status") == "error"
    ]
    described = (row for row in (*errors, *rows) if isinstance(row, dict))
    return tuple(
        RowError(
            line=row["line"],
            reason=row["reason"],
            item=_get_text_or_none(row.get("item")),
            excerpt=_get_text_or_none(row.get("excerpt")) or "",
            file=_get_text_or_none(row.get("file")),
        )
        for row in described
        if type(row.get("line")) is int and isinstance(row.get("reason"), str)
    )


def _get_text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def list_published_subjects(published: PublishedResult) -> list[str | None]:
    """Return the subjects whose answers a result file holds."""
    rows = [*(record for _, record in published.records), *published.unscored_rows]
    subjects = (row.get("subject") for row in rows if row.get("status") != "error")
    return list(dict.fromkeys(name for name in subjects if isinstance(name, str | None)))


def _select_subject(published: PublishedResult, subject: str | None) -> str | None:
    subjects = list_published_subjects(published)
    if subject is not None and subject not in subjects:
        raise UsageError(f"`{published.file}` holds no answers of the subject `{subject}`")
    if subject is None and len(subjects) > 1:
        names = ", ".join(f"`{name}`" for name in subjects)
        raise UsageError(f"`{published.file}` holds several subjects; name one of {names}")
    return subject if subject is not None else next(iter(subjects), None)


def _is_mapping_of_mappings(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(entry, dict) for entry in value.values())


def _may_be_judged(row: Mapping[str, Any], axis: str) -> bool:
    """Whether a row has a mark of a judge, or a value of an axis without any marks."""
    published = row.get("marks")
    marks = published.get(axis) if isinstance(published, dict) else None
    if not isinstance(marks, list):
        # A file of another rubric may not have the axis.
        known = axis in row["breakdown"]
        return not (known and isinstance(read_axis_values(row, [axis])[0], ScoreBounds))
    sources = [mark.get("source") if isinstance(mark, dict) else None for mark in marks]
    return not _SOURCES_BESIDE_JUDGES.issuperset(sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PublishedRunSource:
    """A published file, with the rubric and the exam that it is read for."""

    published: PublishedResult
    rubric: Rubric
    exam: Exam

    def get_fingerprint(self, key: str) -> str | None:
        """Return the fingerprint of the rubric or exam that the file names."""
        named = self.published.document.get(key)
        value = named.get("fingerprint") if isinstance(named, dict) else None
        return value if isinstance(value, str) else None

    def list_judged_axes(self) -> dict[str, JudgedAxis]:
        """Return the axes that judges marked, or may have marked for all that the file says.

        Rows alone do not say it. A document does, unless one of its marks says otherwise.
        """
        marked = {spec.name for spec in self.rubric if isinstance(spec.axis, MarkedAxis)}
        records = self.published.document.get("judging", {})
        stated: dict[str, JudgedAxis] = {}
        unsaid = marked
        if self.published.document and _is_mapping_of_mappings(records):
            stated = parse_judging_records(records)
            rows = [row for _, row in self.published.records]
            unsaid = {a for a in marked - stated.keys() if any(_may_be_judged(r, a) for r in rows)}
        return stated | dict.fromkeys(unsaid, JudgedAxis(judge="", doubt=_UNKNOWN_MARKERS))

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

    @property
    def _unlimited(self) -> set[str]:
        """The axes whose values may be below 0, or may be for all that is known of the rubric."""
        if not self.is_same_rubric:
            return set(self.axes)
        specs = (spec for spec in self.rubric if getattr(spec.axis, "keeps_negatives", False))
        return {spec.name for spec in specs}

    def find_problems(self) -> Iterator[Problem]:
        """Yield everything that prevents the file from being judged."""
        if not self.published.records and not self.published.unscored_rows:
            yield self._build_problem((), "holds no item; nothing could be judged")
        if self.is_same_rubric:
            exam = self.exam if self.is_same_exam else None
            for finding in verify_published(self.published, self.rubric, exam).findings:
                values = f"{finding.published} is published, {finding.computed} is right"
                message = f"{values}: {finding.because}"
                yield Problem(
                    file=finding.file, line=finding.line, field=finding.field, message=message
                )
        yield from self._find_row_problems()

    def _build_problem(self, field: PublishedField, message: str) -> Problem:
        published = self.published
        line, name = published.find_line(field), published.format_field(field)
        return Problem(file=published.file, line=line, field=name, message=message)

    def _find_row_problems(self) -> Iterator[Problem]:
        items, seen = {item.id for item in self.exam.items}, set[tuple[Any, ...]]()
        for place, row in self.published.records:
            item = row.get("item")
            if not isinstance(item, str) or (self.is_same_exam and item not in items):
                # If both are the same, verifying has reported it already.
                if not (self.is_same_rubric and self.is_same_exam):
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
    ) -> Iterator[Problem]:
        if set(row["breakdown"]) != set(self.axes):
            yield self._build_problem(
                (*place, "breakdown"), f"must have the axes {', '.join(self.axes)}"
            )
        for axis, value in row["breakdown"].items():
            if value is not None and not (value <= 1 and (value >= 0 or axis in self._unlimited)):
                yield self._build_problem((*place, "breakdown", axis), "must be from 0 to 1")
        for key in ("cell_status", "cell_bounds"):
            if not isinstance(row.get(key), dict | None):
                yield self._build_problem((*place, key), "must be a mapping of axes, or null")
        known = row.get("cell_bounds")
        for axis, bounds in known.items() if isinstance(known, dict) else ():
            if bounds is not None and not is_bounds(bounds):
                message = "must be the lowest and the highest value, or null"
                yield self._build_problem((*place, "cell_bounds", axis), message)
        for key in _MEASURE_KEYS:
            value = row.get(key)
            known = isinstance(value, int | Decimal) and not isinstance(value, bool)
            if value is not None and not (known and 0 <= value <= MAX_STORABLE_NUMBER):
                allowed = f"must be a number from 0 to {MAX_STORABLE_NUMBER}, or null"
                yield self._build_problem((*place, key), allowed)
        yield from self._find_text_problems(place, row)

    def _find_text_problems(
        self, place: PublishedField, row: Mapping[str, Any]
    ) -> Iterator[Problem]:
        """Yield the texts about an answer that are of another type; each of them may be absent."""
        if not isinstance(row.get("reading"), str | None):
            yield self._build_problem((*place, "reading"), "must be a text, or null")
        for key in ("reason", "near_miss"):
            texts = row.get(key)
            if not isinstance(texts, dict | None):
                message = "must be a mapping of axes to texts, or null"
                yield self._build_problem((*place, key), message)
                continue
            for axis, text in (texts or {}).items():
                if not isinstance(text, str | None):
                    yield self._build_problem((*place, key, axis), "must be a text, or null")

    def count_marks(self, rows: list[Mapping[str, Any]], subject: str | None) -> Marks:
        """Return the marks of one subject's rows."""
        own = [row["item"] for row in rows]
        absent = [
            row.get("item") for row in self.published.unscored_rows if row.get("subject") == subject
        ]
        ids = [item.id for item in self.exam.items] if self.is_same_exam else [*own, *absent]
        items: dict[str, Counter[AxisValues]] = {
            item: Counter() for item in ids if isinstance(item, str)
        }
        for row in rows:
            items[row["item"]][read_axis_values(row, self.axes)] += 1
        return Marks(axes=self.axes, items=items, errors=self.published.error_count)


def _is_valid_subject(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _sum_measures(rows: list[Mapping[str, Any]]) -> Measures:
    latencies = (row.get("latency_ms") for row in rows)
    values = {
        key: [Fraction(row[key]) for row in rows if row.get(key) is not None]
        for key in _MEASURE_KEYS[1:]
    }
    return Measures(
        answers=len(rows),
        latency_ms=Counter(float(value) for value in latencies if value is not None),
        **{
            key: MeasureTotal(n=len(known), sum=sum(known, Fraction(0)))
            for key, known in values.items()
        },
    )
