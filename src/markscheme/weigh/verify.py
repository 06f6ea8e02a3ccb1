"""Published numbers beside the exact ones that they must be.

What a published result says was measured in session logs, summed anew from its own rows.

The totals of a published result, recomputed from its own rows: all numbers of its summary.

Recomputing what was published: every number that follows from another must follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from markscheme.mark import compute_score, find_leading_axis, get_expected
from markscheme.mark.axes import TextAxis
from markscheme.read.results import PublishedField, PublishedResult
from markscheme.vocabulary import (
    ZERO,
    Cell,
    Exam,
    Item,
    Rubric,
    SessionMetrics,
    format_decimal,
    format_plain,
    format_ratio,
    sentence,
    simplest_fraction,
    to_float,
)
from markscheme.weigh.totals import METRICS, OperationsCollector, WeightScale

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.vocabulary import AxisSpec
    from markscheme.weigh.totals import AxisValues, OperationalMetric, ScoreTotals

_ROUNDED_PLACES = 4
_MAX_DOUBLE_DIGITS = 17

Mismatch = tuple[Any, Any, str]
FieldMismatches = Iterator[tuple[PublishedField, Mismatch]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecomputedRow:
    """A breakdown and what it should say: the leading axis judged anew, and the known values.

    An axis that is out of range has no known value; where the axes are not the rubric's, none has.
    """

    place: PublishedField
    record: Mapping[str, Any]
    cell: Cell | None
    values: Mapping[str, Fraction | None]


def list_axis_names(rubric: Rubric) -> list[str]:
    """Return the names of the axes."""
    return [spec.name for spec in rubric]


def build_axes_mismatch(published: Mapping[str, Any], rubric: Rubric) -> Mismatch:
    """Say that what is published has other axes than the rubric."""
    return (
        list(published),
        list_axis_names(rubric),
        sentence("these are the axes of the rubric `{rubric}`", rubric=rubric.name),
    )


def is_correctly_rounded(published: Any, exact: Fraction | None) -> bool:
    """Return whether a published number is the exact one, or it correctly rounded.

    Rounded means to at least four places, or to the nearest double, which never needs more than
    17 digits.
    """
    if published is None or exact is None:
        return published is None and exact is None
    if isinstance(published, bool) or not isinstance(published, int | Decimal):
        return False
    _, digits, exponent = Decimal(published).as_tuple()
    if len(digits) <= _MAX_DOUBLE_DIGITS and float(published) == to_float(exact):
        return True
    places = -exponent if isinstance(exponent, int) else 0
    half = Fraction(1, 2 * 10**places) if places >= _ROUNDED_PLACES else ZERO
    return abs(Fraction(published) - exact) <= half


_GROUP_KEYS = ("item", "variant", "tag", "value")
_COUNT_KEYS = ("known", "unknown", "lower_bounds")


def find_operation_mismatches(
    told: Any, exam: Exam, rows: Sequence[RecomputedRow]
) -> FieldMismatches:
    """Yield sums, means and counts that do not follow, where the rows hold what was measured."""
    records = [row.record for row in rows]
    if not isinstance(told, list) or not all("tool_calls" in record for record in records):
        return
    groups = {
        tuple(getattr(group, key) for key in _GROUP_KEYS): group
        for group in _sum_operation_groups(exam, records)
    }
    for at, entry in enumerate(told):
        found = entry if isinstance(entry, dict) else {}
        group = groups.get(tuple(_to_optional_text(found.get(key)) for key in _GROUP_KEYS))
        if group is None:
            because = sentence("no session is in such a group")
            yield ("operational", at), (_describe_operation_group(found), None, because)
            continue
        because = sentence("so many sessions are in the group")
        if found.get("sessions") != group.sessions:
            yield ("operational", at, "sessions"), (found.get("sessions"), group.sessions, because)
        for name in METRICS:
            yield from _compare_metric(
                ("operational", at, name), found.get(name), group.metrics[name]
            )


def _sum_operation_groups(exam: Exam, records: Iterable[Mapping[str, Any]]) -> Iterable[Any]:
    operations, items = OperationsCollector(exam), {item.id for item in exam.items}
    for record in records:
        item = str(record.get("item"))
        if item in items:
            operations.add_session(
                item, _to_optional_text(record.get("subject")), _parse_session_metrics(record)
            )
    return operations.build_groups()


def _parse_session_metrics(record: Mapping[str, Any]) -> SessionMetrics:
    """Return what was measured of one session; what is no number is not known."""
    latency = _to_optional_decimal(record.get("latency_ms"))
    tokens = _to_optional_decimal(record.get("tokens"))
    bounds = record.get("lower_bounds")
    return SessionMetrics(
        latency_s=None if latency is None else latency / 1000,
        last_turn_latency_s=None,
        tool_calls=int(_to_optional_decimal(record.get("tool_calls")) or 0),
        subagent_calls=0,
        dispatches=int(_to_optional_decimal(record.get("dispatches")) or 0),
        tokens_in=None if tokens is None else int(tokens),
        tokens_out=0,
        lower_bounds=tuple(map(str, bounds)) if isinstance(bounds, list) else (),
    )


def _to_optional_text(value: Any) -> str | None:
    return None if value is None else str(value)


def _to_optional_decimal(value: Any) -> Decimal | None:
    return Decimal(value) if isinstance(value, int | Decimal) else None


def _compare_metric(place: PublishedField, told: Any, right: OperationalMetric) -> FieldMismatches:
    found = told if isinstance(told, dict) else {}
    exact = found.get("exact")
    ratios = exact if isinstance(exact, dict) else {}
    for key, value in (("sum", right.sum), ("mean", right.mean)):
        because = sentence("over the sessions of which it is known")
        if not is_correctly_rounded(found.get(key), None if value is None else Fraction(value)):
            yield (*place, key), (found.get(key), value, because)
        if ratios.get(key) != format_ratio(value):
            yield (*place, "exact", key), (ratios.get(key), format_ratio(value), because)
    for key in _COUNT_KEYS:
        if found.get(key) != getattr(right, key):
            because = sentence("so many sessions are like that")
            yield (*place, key), (found.get(key), getattr(right, key), because)


def _describe_operation_group(entry: Mapping[str, Any]) -> str:
    return (
        ", ".join(str(entry[key]) for key in _GROUP_KEYS if entry.get(key) is not None) or "nothing"
    )


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One published value that is wrong: where it stands, what it says, what it must be."""

    file: str
    line: int
    item: str | None
    field: str
    published: str
    computed: str
    because: str

    def __str__(self) -> str:
        item = f"{self.item}: " if self.item else ""
        was, right = _add_verb(self.published), _add_verb(self.computed)
        told = f"{was} published, {right} right: {self.because}"
        return f"{self.file}:{self.line}: {item}{self.field}: {told}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What became of a published document: how much was checked, and what is wrong.

    `unscored` rows hold no breakdown to check. In `not_judged_anew` of the checked ones the leading
    axis was taken as published, because they do not say what was got and expected. Of the groups by
    tag, `groups_not_checked` were not, because the exam is not known.
    """

    checked: int
    unscored: int
    not_judged_anew: int
    groups_not_checked: int
    findings: tuple[Finding, ...]


def verify_published(
    published: PublishedResult, rubric: Rubric, exam: Exam | None = None
) -> Verification:
    """Recompute a published document under the rubric, and its groups by the tags of the exam."""
    rows = [_recompute_row(place, record, rubric) for place, record in published.records]
    found = [
        _build_finding(published, (*row.place, *field), row.record.get("item"), told)
        for row in rows
        for field, told in _find_record_mismatches(row, rubric)
    ]
    totals = PublishedTotals(published=published, rubric=rubric, exam=exam, rows=rows)
    found += [
        _build_finding(published, field, None, told) for field, told in totals.find_mismatches()
    ]
    leading = _find_leading_spec(rubric)
    return Verification(
        checked=len(rows),
        unscored=published.unscored_count,
        not_judged_anew=sum(bool(leading and row.values and not row.cell) for row in rows),
        groups_not_checked=totals.groups_not_checked,
        findings=tuple(found),
    )


def _build_finding(
    published: PublishedResult, field: PublishedField, item: Any, told: Mismatch
) -> Finding:
    was, right, because = told
    return Finding(
        file=published.file,
        line=published.find_line(field),
        item=None if item is None else str(item),
        field=published.format_field(field),
        published=_format_published_value(was),
        computed=_format_published_value(right),
        because=because,
    )


def _recompute_row(
    place: PublishedField, record: Mapping[str, Any], rubric: Rubric
) -> RecomputedRow:
    breakdown, leading = record["breakdown"], _find_leading_spec(rubric)
    if set(breakdown) != set(list_axis_names(rubric)):
        return RecomputedRow(place=place, record=record, cell=None, values={})
    values = {axis: _to_fraction(v) for axis, v in breakdown.items() if v is None or 0 <= v <= 1}
    cell = None if leading is None else _rejudge_leading_cell(record, leading)
    if leading is not None and cell is not None:
        values[leading.name] = cell.value
    return RecomputedRow(place=place, record=record, cell=cell, values=values)


def _find_record_mismatches(row: RecomputedRow, rubric: Rubric) -> FieldMismatches:
    breakdown = row.record["breakdown"]
    if set(breakdown) != set(list_axis_names(rubric)):
        yield ("breakdown",), build_axes_mismatch(breakdown, rubric)
        return
    yield from _find_cell_mismatches(row, rubric)
    yield from _find_weighted_mismatches(row, rubric)
    if len(row.values) < len(breakdown):
        return
    values = [row.values[spec.name] for spec in rubric]
    score = compute_score(rubric, values)
    if not is_correctly_rounded(row.record["score"], score):
        yield ("score",), (row.record["score"], score, _format_score_formula(rubric, values))


def _find_cell_mismatches(row: RecomputedRow, rubric: Rubric) -> FieldMismatches:
    """Yield the values out of range, and the leading one where it was judged otherwise."""
    leading = _find_leading_spec(rubric)
    for axis, value in row.record["breakdown"].items():
        if axis not in row.values:
            yield ("breakdown", axis), (value, "a value from 0 to 1", "no axis gives more or less")
        elif (
            leading
            and row.cell
            and axis == leading.name
            and not is_correctly_rounded(value, row.cell.value)
        ):
            yield ("breakdown", axis), (value, row.cell.value, row.cell.reason)


def _find_leading_spec(rubric: Rubric) -> AxisSpec | None:
    return next((spec for spec in rubric if spec.axis is find_leading_axis(rubric)), None)


def _rejudge_leading_cell(record: Mapping[str, Any], leading: AxisSpec) -> Cell | None:
    """Judge the leading axis where the record says what was got and expected."""
    got = record.get("got")
    if not isinstance(leading.axis, TextAxis) or not isinstance(got, str):
        return None
    item = _build_expecting_item(leading, record.get("expected"))
    if next(leading.axis.item_problems(item), None) is not None:
        return None
    return leading.axis.judge(got, item)


def _build_expecting_item(spec: AxisSpec, expected: Any) -> Item:
    """Return an item that expects this, as a list or as the one text in the list."""
    name = getattr(spec.axis, "expects", "")
    item = Item(id="", prompt="", expectations={name: expected})
    one = isinstance(expected, list) and len(expected) == 1
    if one and next(spec.axis.item_problems(item), None) is not None:
        return Item(id="", prompt="", expectations={name: expected[0]})
    return item


def _find_weighted_mismatches(row: RecomputedRow, rubric: Rubric) -> FieldMismatches:
    weighted = row.record.get("weighted")
    if weighted is None:
        return
    if not set(weighted) <= set(list_axis_names(rubric)):
        yield ("weighted",), build_axes_mismatch(weighted, rubric)
    for spec in rubric:
        if spec.name not in row.values:
            continue
        value, published = row.values[spec.name], weighted.get(spec.name)
        right = None if value is None else Fraction(spec.weight) * value
        if not is_correctly_rounded(published, right):
            because = sentence(
                "the weight of `{axis}` is {weight}", axis=spec.name, weight=spec.weight
            )
            yield ("weighted", spec.name), (published, right, because)


def _format_score_formula(rubric: Rubric, values: list[Fraction | None]) -> str:
    terms = (
        f"{spec.weight} × {_format_published_value(v)}"
        for spec, v in zip(rubric, values, strict=True)
    )
    return " + ".join(terms)


def _to_fraction(value: Any) -> Fraction | None:
    return None if value is None else simplest_fraction(value)


def _add_verb(shown: str) -> str:
    return f"{shown} {'are' if ', ' in shown else 'is'}"


def _format_published_value(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case Fraction():
            return (
                format_decimal(value, places=6) if value.denominator != 1 else str(value.numerator)
            )
        case Decimal():
            return format_plain(value)
        case list():
            return ", ".join(map(str, value)) or "nothing"
        case _:
            return str(value)
