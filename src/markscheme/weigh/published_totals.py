"""The totals of a published result, recomputed from its own rows: all numbers of its summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from markscheme.exact import format_ratio, to_float
from markscheme.mark.scoring import find_leading_axis, get_expected
from markscheme.read.breakdowns import PublishedResult
from markscheme.sentences import sentence
from markscheme.vocabulary import Exam, Rubric
from markscheme.weigh.published_operations import find_operation_mismatches
from markscheme.weigh.recomputing import (
    RecomputedRow,
    build_axes_mismatch,
    is_correctly_rounded,
    list_axis_names,
)
from markscheme.weigh.summaries import WeightScale

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.read.breakdowns import PublishedField
    from markscheme.vocabulary import Item
    from markscheme.weigh.marks import AxisValues
    from markscheme.weigh.recomputing import FieldMismatches
    from markscheme.weigh.summaries import ScoreTotals

_MAX_SIMPLE_DENOMINATOR = 10**6  # a fraction with a larger denominator is not told by its double


@dataclass(frozen=True, kw_only=True)
class PublishedTotals:
    """What a result says beside its rows, to be recomputed from them.

    Tags are in the exam, so groups are checked where the exam is known.
    """

    published: PublishedResult
    rubric: Rubric
    exam: Exam | None
    rows: Sequence[RecomputedRow]

    @property
    def groups_not_checked(self) -> int:
        """How many groups are published that nothing here could be held against."""
        told = self._summary.get("groups")
        return len(told) if isinstance(told, list) and self.exam is None else 0

    def find_mismatches(self) -> FieldMismatches:
        """Yield what does not follow; of a result of other documents, only that."""
        strangers = list(self._check_fingerprints())
        if strangers:
            yield from strangers
            return
        yield from self._check_expectations()
        yield from self._check_counts()
        if self.exam is not None:
            told = self.published.document.get("operational")
            yield from find_operation_mismatches(told, self.exam, self.rows)
        axes = self._summary.get("axes") or {}
        if not set(axes) <= set(list_axis_names(self.rubric)):
            yield ("summary", "axes"), build_axes_mismatch(axes, self.rubric)
        if self._has_all_cells:
            together = self._compute_totals(self._scored_rows)
            yield from self._check_means(("summary",), self._summary, together)
            yield from self._check_exact_ratios(together)
            yield from self._check_subjects()
            yield from self._check_groups()

    @property
    def _summary(self) -> Mapping[str, Any]:
        return self._get_part("summary")

    def _get_part(self, part: str) -> Mapping[str, Any]:
        """Return a part of the document, where it has it."""
        told = self.published.document.get(part)
        return told if isinstance(told, dict) else {}

    @cached_property
    def _scored_rows(self) -> list[RecomputedRow]:
        return [row for row in self.rows if row.record["score"] is not None]

    @property
    def _has_all_cells(self) -> bool:
        """Whether every cell of what has a score is known, so that means can be recomputed."""
        axes = list_axis_names(self.rubric)
        return all(row.values.get(axis) is not None for row in self._scored_rows for axis in axes)

    @cached_property
    def _items_by_id(self) -> Mapping[str, Item]:
        return {item.id: item for item in self.exam.items} if self.exam else {}

    def _find_item(self, row: RecomputedRow) -> Item | None:
        name = row.record.get("item")
        return self._items_by_id.get(name) if isinstance(name, str) else None

    @cached_property
    def _scale(self) -> WeightScale:
        return WeightScale(self.rubric)

    def _check_fingerprints(self) -> FieldMismatches:
        for key, ours, because in (
            (
                "rubric",
                self.rubric.fingerprint,
                sentence("it was scored under another rubric than the one it is checked with"),
            ),
            (
                "exam",
                self.exam and self.exam.fingerprint,
                sentence("it was scored with another exam than the one it is checked with"),
            ),
        ):
            theirs = self._get_part(key).get("fingerprint")
            if theirs is not None and ours is not None and theirs != ours:
                yield (key, "fingerprint"), (theirs, ours, because)

    def _check_expectations(self) -> FieldMismatches:
        """Yield the rows whose item, or what it expects, is not in the exam."""
        if self.exam is None:
            return
        leading, exam = find_leading_axis(self.rubric), sentence("an item of the exam")
        for row in self.rows:
            item = self._find_item(row)
            if item is None:
                because = sentence("the exam has no such item")
                yield (*row.place, "item"), (row.record.get("item"), exam, because)
            elif "expected" in row.record:
                was, right = (
                    _to_text_list(row.record["expected"]),
                    _to_text_list(get_expected(leading, item)),
                )
                because = sentence("this is what the exam expects")
                if was != right:
                    yield (*row.place, "expected"), (was, right, because)

    def _check_counts(self) -> FieldMismatches:
        """Yield the counts that are not those of the rows."""
        unscored = len(self.rows) - len(self._scored_rows)
        absent = sorted(
            {item for who in self._subject_names for item in self._list_missing_items(who)}
        )
        asked = {str(row.record.get("item")) for row in self.rows} | set(absent)
        asked |= set(self._items_by_id)
        errors = self.published.error_count
        whole = bool(self._scored_rows) and not (absent or unscored or errors)
        items = sentence("so many items are answered or missing")
        of_exam = len(self._items_by_id) or self._get_part("exam").get("items")
        for part, key, right, because in (
            ("rubric", "version", self.rubric.version, sentence("the version of the rubric")),
            ("exam", "items", of_exam, sentence("so many items are in the exam")),
            ("summary", "n", len(self._scored_rows), sentence("so many breakdowns have a score")),
            ("summary", "answers", len(self.rows), sentence("so many breakdowns are published")),
            ("summary", "unscored", unscored, sentence("so many breakdowns have no score")),
            ("summary", "errors", errors, sentence("so many bad rows are listed")),
            ("summary", "items", len(asked), items),
            ("summary", "missing", absent, sentence("these items have no answer")),
            ("summary", "complete", whole, sentence("whether all was answered and scored")),
        ):
            told = self._get_part(part).get(key, right)
            was = sorted(map(str, told)) if isinstance(told, list) else told
            if was != right or isinstance(was, bool) is not isinstance(right, bool):
                yield (part, key), (told, right, because)

    @cached_property
    def _missing_rows(self) -> list[Mapping[str, Any]]:
        """The rows that say that an item has no answer."""
        return [row for row in self.published.unscored_rows if row.get("status") == "missing"]

    @cached_property
    def _subject_names(self) -> list[str | None]:
        """The subjects that the rows are of."""
        rows = [*(row.record for row in self.rows), *self._missing_rows]
        return list(dict.fromkeys(_get_entry_text(row, "subject") for row in rows))

    def _list_missing_items(self, subject: str | None) -> list[str]:
        """Return the items that a subject did not answer: by the exam, or else by the rows."""
        if self.exam is None:
            absent = (
                row for row in self._missing_rows if _get_entry_text(row, "subject") == subject
            )
            return sorted(str(row.get("item")) for row in absent)
        own = (row.record for row in self.rows if _get_entry_text(row.record, "subject") == subject)
        return sorted(self._items_by_id.keys() - {str(record.get("item")) for record in own})

    def _compute_totals(self, rows: Iterable[RecomputedRow]) -> ScoreTotals:
        return self._scale.sum_answers(Counter(map(self._get_axis_values, rows)).items())

    def _get_axis_values(self, row: RecomputedRow) -> AxisValues:
        return tuple(row.values.get(axis) for axis in list_axis_names(self.rubric))

    def _check_means(
        self, place: PublishedField, told: Mapping[str, Any], totals: ScoreTotals
    ) -> FieldMismatches:
        """Recompute means from the cells, not from scores that may be wrong themselves."""
        because = sentence("the mean over {n} breakdowns", n=totals.n)
        if totals.n == 1:
            because = sentence("the mean over {n} breakdown", n=totals.n)
        if "score" in told and not is_correctly_rounded(told["score"], totals.mean):
            yield (*place, "score"), (told["score"], totals.mean, because)
        axes = told.get("axes")
        for axis, was in axes.items() if isinstance(axes, dict) else ():
            if axis in totals.axes and not is_correctly_rounded(was, totals.axis_means[axis]):
                yield (*place, "axes", axis), (was, totals.axis_means[axis], because)

    def _check_exact_ratios(self, totals: ScoreTotals) -> FieldMismatches:
        """Compare the exact ratios that a summary has beside its means."""
        told = self._summary.get("exact")
        if not isinstance(told, dict):
            return
        because = sentence("the exact ratio over {n} breakdowns", n=totals.n)
        if "score" in told and not self._is_same_ratio(told["score"], totals.mean):
            yield ("summary", "exact", "score"), (told["score"], format_ratio(totals.mean), because)
        axes = told.get("axes")
        for axis, was in axes.items() if isinstance(axes, dict) else ():
            right = totals.axis_means.get(axis)
            if not self._is_same_ratio(was, right):
                yield ("summary", "exact", "axes", axis), (was, format_ratio(right), because)

    def _is_same_ratio(self, published: Any, exact: Fraction | None) -> bool:
        """Whether a ratio is the exact one; where cells are not told by their doubles, nearly."""
        if published is None or exact is None:
            return published is None and exact is None
        if published == format_ratio(exact):
            return True
        try:
            return not self._has_simple_cells and to_float(Fraction(published)) == to_float(exact)
        except (ArithmeticError, TypeError, ValueError):
            return False

    @cached_property
    def _has_simple_cells(self) -> bool:
        return all(
            value is None or value.denominator <= _MAX_SIMPLE_DENOMINATOR
            for row in self._scored_rows
            for value in row.values.values()
        )

    def _check_subjects(self) -> FieldMismatches:
        told = self._summary.get("subjects")
        if told is None:
            return
        entries = _list_keyed_entries(told, ("subject",))
        if Counter(key for key, _, _ in entries) != Counter((who,) for who in self._subject_names):
            listed, right = (
                [str(key[0]) for key, _, _ in entries],
                list(map(str, self._subject_names)),
            )
            yield ("summary", "subjects"), (listed, right, sentence("so the rows say"))
        for (who,), at, entry in entries:
            rows = [
                row for row in self._scored_rows if _get_entry_text(row.record, "subject") == who
            ]
            place = ("summary", "subjects", at)
            yield from self._check_entry(place, entry, self._compute_totals(rows))
            absent = self._list_missing_items(who)
            was = entry.get("missing", absent)
            if not isinstance(was, list) or sorted(map(str, was)) != absent:
                told_ = sentence("these items have no answer")
                yield (*place, "missing"), (was, absent, told_)

    def _check_groups(self) -> FieldMismatches:
        told = self._summary.get("groups")
        if told is None or self.exam is None:
            return
        right: dict[tuple[Any, ...], list[RecomputedRow]] = {}
        for row in self._scored_rows:
            item = self._find_item(row)
            for tag in item.tags.items() if item else ():
                right.setdefault(tag, []).append(row)
        entries = _list_keyed_entries(told, ("tag", "value"))
        if Counter(key for key, _, _ in entries) != Counter(right.keys()):
            listed = sorted("=".join(map(str, key)) for key, _, _ in entries)
            because = sentence("the tags of the exam make these groups")
            yield ("summary", "groups"), (listed, sorted(map("=".join, right)), because)
        for key, at, entry in entries:
            if key in right:
                place = ("summary", "groups", at)
                yield from self._check_entry(place, entry, self._compute_totals(right[key]))

    def _check_entry(
        self, place: PublishedField, entry: Mapping[str, Any], totals: ScoreTotals
    ) -> FieldMismatches:
        """Compare the numbers of one subject or group."""
        n = entry.get("n", totals.n)
        if n != totals.n or isinstance(n, bool):
            yield (*place, "n"), (n, totals.n, sentence("so many breakdowns have a score"))
        yield from self._check_means(place, entry, totals)


def _list_keyed_entries(
    told: Any, keys: tuple[str, ...]
) -> list[tuple[tuple[Any, ...], int, Mapping[str, Any]]]:
    """Return the entries of a list by what they are of, each with its position."""
    entries = told if isinstance(told, list) else [told]
    found = [entry if isinstance(entry, dict) else {} for entry in entries]
    return [
        (tuple(_get_entry_text(entry, key) for key in keys), at, entry)
        for at, entry in enumerate(found)
    ]


def _get_entry_text(entry: Mapping[str, Any], key: str) -> str | None:
    value = entry.get(key)
    return None if value is None else str(value)


def _to_text_list(expected: Any) -> list[str]:
    """Return what is expected as texts, whether it is one or a list."""
    if expected is None:
        return []
    entries = expected if isinstance(expected, list | tuple) else [expected]
    return [str(entry) for entry in entries]
