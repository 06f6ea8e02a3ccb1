"""Verify a published result: regenerate the document from its own rows and compare the two.

The document that `markscheme score --format json` would print is built again from the published
rows, with the same record functions but with exact fractions in place of doubles. Then both are
compared key by key. Counts and ratios must be equal; other numbers may be rounded, correctly. A
value that was not published is not wrong. The axis that reads `got` and `expected` (the leading
axis) is judged again, and axes that are made of marks follow from the published marks; the other
cells are taken as published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from markscheme.mark import combine_values, find_leading_axis
from markscheme.mark.axes import (
    ALTERNATIVE_BAR,
    ContainsAll,
    CriteriaAxis,
    MarkedAxis,
    TextAxis,
    format_expected,
)
from markscheme.mark.batch import list_expected_texts, restore_marks
from markscheme.read.results import PublishedField, PublishedResult
from markscheme.vocabulary import (
    UNKNOWN_SCORE,
    ZERO,
    AxisSpec,
    AxisValue,
    Cell,
    Exam,
    Item,
    NotApplicable,
    Reading,
    Response,
    Rubric,
    ScoreBounds,
    SessionMetrics,
    Summary,
    format_decimal,
    format_plain,
    sentence,
    to_float,
    to_record,
)
from markscheme.weigh.totals import (
    AxisValues,
    Marks,
    OperationsCollector,
    is_unscored,
    read_axis_values,
    summarise_marks,
)

_ROUNDED_PLACES = 4
_MAX_DOUBLE_DIGITS = 17
# A double does not tell which fraction it stands for, if the denominator is larger.
_MAX_SIMPLE_DENOMINATOR = 10**6

Mismatch: TypeAlias = tuple[PublishedField, Any, Any, str]
"""Where a value stands, what was published, what was regenerated, and why that is right."""
KeyedEntries: TypeAlias = list[tuple[tuple[str | None, ...], Mapping[str, Any]]]

_KNOWN_MEANS = ("bounds", "axis_bounds", "score_cut")
_COUNTS = ("n", "answers", "unscored", "errors", "items", "missing", "complete")
_OPERATION_KEYS = ("item", "variant", "tag", "value")
_KNOWN_SESSIONS = sentence("over the sessions of which it is known")
_SUCH_SESSIONS = sentence("so many sessions are like that")
# Why the regenerated value of a key is right. Means and ratios say it where they are compared.
_REASONS = {
    "version": sentence("the version of the rubric"),
    "n": sentence("so many breakdowns have a score"),
    "answers": sentence("so many breakdowns are published"),
    "unscored": sentence("so many breakdowns have no score"),
    "errors": sentence("so many bad rows are listed"),
    "items": sentence("so many items are answered or missing"),
    "missing": sentence("these items have no answer"),
    "complete": sentence("whether all was answered and scored"),
    "sessions": sentence("so many sessions are in the group"),
    "sum": _KNOWN_SESSIONS,
    "mean": _KNOWN_SESSIONS,
    "known": _SUCH_SESSIONS,
    "unknown": _SUCH_SESSIONS,
    "lower_bounds": _SUCH_SESSIONS,
}


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
        published, computed = _add_verb(self.published), _add_verb(self.computed)
        message = f"{published} published, {computed} right: {self.because}"
        return f"{self.file}:{self.line}: {item}{self.field}: {message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """How much of a published document was checked, and what is wrong with it.

    `unscored` rows hold no breakdown to check. In `not_judged_anew` of the checked rows the leading
    axis was taken as published, because they do not hold a usable `got` and `expected`.
    `groups_not_checked` groups by tag were skipped, because the exam is not known.
    """

    checked: int
    unscored: int
    not_judged_anew: int
    groups_not_checked: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A published breakdown, and the axis values that the totals are regenerated from.

    `cell` is the leading axis, judged again. `values` lacks an axis whose value is out of range,
    and is empty if the axes are not those of the rubric.
    """

    place: PublishedField
    record: Mapping[str, Any]
    cell: Cell | None
    values: Mapping[str, AxisValue]

    @property
    def subject(self) -> str | None:
        return _get_text(self.record, "subject")


def verify_published(
    published: PublishedResult, rubric: Rubric, exam: Exam | None = None
) -> Verification:
    """Regenerate a published document under the rubric, and list the values that differ.

    Item ids, expectations and groups by tag are checked only if the exam is known.
    """
    leading = next((spec for spec in rubric if spec.axis is find_leading_axis(rubric)), None)
    items = {item.id: item for item in exam.items} if exam else {}
    rows = [_read_row(place, record, rubric, leading) for place, record in published.records]
    findings = [
        _build_finding(published, mismatch, row.record.get("item"))
        for row in rows
        for mismatch in _compare_row(
            row, rubric, leading, items.get(_get_text(row.record, "item") or "")
        )
    ]
    totals = _Totals(published=published, rubric=rubric, exam=exam, rows=rows)
    findings += [_build_finding(published, mismatch) for mismatch in totals.compare()]
    return Verification(
        checked=len(rows),
        unscored=published.unscored_count,
        not_judged_anew=sum(bool(leading and row.values and not row.cell) for row in rows),
        groups_not_checked=totals.count_unchecked_groups(),
        findings=tuple(findings),
    )


# --- comparing ---------------------------------------------------------------------------------


def _compare(
    place: PublishedField,
    published: Any,
    computed: Mapping[str, Any],
    because: str = "",
    *,
    required: bool = False,
    lenient: bool = False,
) -> Iterator[Mismatch]:
    """Yield each value that differs from the regenerated one, key by key, mappings inside too.

    Without `because`, the key says why. With `required`, a value that was not published is wrong
    too. With `lenient`, two ratios are the same if their nearest doubles are.
    """
    present = published if isinstance(published, dict) else {}
    for key, right in computed.items():
        if key not in present and not required:
            continue
        value, field = present.get(key), (*place, key)
        if isinstance(right, dict):
            yield from _compare(field, value, right, because, required=required, lenient=lenient)
        elif not _is_same(value, right, lenient=lenient):
            yield field, value, right, because or _REASONS[key]


def _is_same(published: Any, computed: Any, *, lenient: bool = False) -> bool:
    """Return whether a published value is the regenerated one, or it correctly rounded."""
    if computed is None or isinstance(computed, Fraction):
        return _is_correctly_rounded(published, computed)
    if isinstance(computed, list):
        parts = published if isinstance(published, list) else [published]
        pairs = zip(parts, computed, strict=False)
        if len(parts) == len(computed) and all(_is_same(*pair, lenient=lenient) for pair in pairs):
            return True
        return isinstance(published, list) and sorted(map(str, published)) == computed
    if published == computed:
        return isinstance(published, bool) is isinstance(computed, bool)
    try:
        return lenient and to_float(Fraction(published)) == to_float(Fraction(computed))
    except (ArithmeticError, TypeError, ValueError):
        return False


def _to_exact_bounds(score: AxisValue) -> list[Fraction] | None:
    return [score.low, score.high] if isinstance(score, ScoreBounds) else None


def _is_correctly_rounded(published: Any, exact: Fraction | None) -> bool:
    """Return whether a published number is the exact one, or the exact one correctly rounded.

    It may be rounded to four places or more, or to the nearest double, which never needs more than
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


def _build_axes_mismatch(
    place: PublishedField, published: Mapping[str, Any], rubric: Rubric
) -> Mismatch:
    because = sentence("these are the axes of the rubric `{rubric}`", rubric=rubric.name)
    return place, list(published), _list_axes(rubric), because


def _list_axes(rubric: Rubric) -> list[str]:
    return [spec.name for spec in rubric]


# --- rows --------------------------------------------------------------------------------------


def _read_row(
    place: PublishedField, record: Mapping[str, Any], rubric: Rubric, leading: AxisSpec | None
) -> _Row:
    breakdown = record["breakdown"]
    if set(breakdown) != set(_list_axes(rubric)):
        return _Row(place=place, record=record, cell=None, values={})
    read = dict(zip(breakdown, read_axis_values(record, breakdown), strict=True))
    values = {spec.name: read[spec.name] for spec in rubric if _is_possible(spec, read[spec.name])}
    cell = None if leading is None else _judge_leading_axis(record, leading)
    if leading is not None and cell is not None:
        values[leading.name] = cell.axis_value
    return _Row(place=place, record=record, cell=cell, values=values)


def _is_possible(spec: AxisSpec, value: AxisValue) -> bool:
    """Return whether an axis can give a value; only penalties that are kept go below 0."""
    if not isinstance(value, Fraction):
        return True
    return value <= 1 and (value >= 0 or bool(getattr(spec.axis, "keeps_negatives", False)))


def _get_number(value: AxisValue) -> Fraction | None:
    return value if isinstance(value, Fraction) else None


def _judge_leading_axis(record: Mapping[str, Any], leading: AxisSpec) -> Cell | None:
    """Judge `got` against `expected`, or return None if the record does not hold both."""
    axis, got, expected = leading.axis, record.get("got"), record.get("expected")
    if not isinstance(axis, TextAxis) or not isinstance(got, str):
        return None
    # An axis may expect a list or a single text; a result shows both as a list. It shows
    # alternatives as one text.
    readings = [expected]
    if isinstance(axis, ContainsAll) and isinstance(expected, list):
        readings.insert(0, [_split_alternatives(entry) for entry in expected])
    if isinstance(expected, list) and len(expected) == 1:
        readings.append(expected[0])
    for reading in readings:
        item = Item(id="", prompt="", expectations={getattr(axis, "expects", ""): reading})
        if next(axis.item_problems(item), None) is None:
            return axis.judge(got, item)
    return None


def _split_alternatives(entry: Any) -> Any:
    split = isinstance(entry, str) and ALTERNATIVE_BAR in entry
    return entry.split(ALTERNATIVE_BAR) if split else entry


def _compare_marked_axes(row: _Row, rubric: Rubric, item: Item | None) -> Iterator[Mismatch]:
    """Regenerate the axes that are made of marks from the published marks, and compare them."""
    published: Any = row.record.get("marks")
    if not isinstance(published, dict):
        return
    for spec in rubric:
        records = published.get(spec.name)
        if not isinstance(records, list) or not all(isinstance(mark, dict) for mark in records):
            continue
        marks = restore_marks(records)
        if isinstance(spec.axis, CriteriaAxis):
            if item is None or next(iter(spec.axis.item_problems(item)), None) is not None:
                continue
            value = spec.axis.compute_axis_value(item, marks)
        elif isinstance(spec.axis, MarkedAxis):
            nothing = Item(id="", prompt="") if item is None else item
            response = Response(reading=Reading.TEXT, text="")
            value = spec.axis.combine(response, nothing, marks).axis_value
        else:
            continue
        because = sentence("so the published marks say")
        right = {spec.name: _get_number(value)}
        yield from _compare((*row.place, "breakdown"), row.record["breakdown"], right, because)
        bounds = {spec.name: _to_exact_bounds(value)}
        known = row.record.get("cell_bounds")
        yield from _compare((*row.place, "cell_bounds"), known, bounds, because)


def _compare_row(
    row: _Row, rubric: Rubric, leading: AxisSpec | None, item: Item | None
) -> Iterator[Mismatch]:
    """Regenerate the cells, weighted values and score of one breakdown, and compare them."""
    values, breakdown, weighted = row.values, row.record["breakdown"], row.record.get("weighted")
    if set(breakdown) != set(_list_axes(rubric)):
        yield _build_axes_mismatch((*row.place, "breakdown"), breakdown, rubric)
        return
    place: PublishedField = (*row.place, "breakdown")
    for axis, value in breakdown.items():
        if axis not in values:
            yield (*place, axis), value, "a value from 0 to 1", "no axis gives more or less"
        elif row.cell and leading and axis == leading.name:
            yield from _compare(place, breakdown, {axis: row.cell.value}, row.cell.reason)
    yield from _compare_marked_axes(row, rubric, item)
    if weighted is not None:
        place = (*row.place, "weighted")
        if not set(weighted) <= set(_list_axes(rubric)):
            yield _build_axes_mismatch(place, weighted, rubric)
        for spec in (spec for spec in rubric if spec.name in values):
            value = _get_number(values[spec.name])
            right = {spec.name: None if value is None else Fraction(spec.weight) * value}
            because = sentence(
                "the weight of `{axis}` is {weight}", axis=spec.name, weight=spec.weight
            )
            yield from _compare(place, weighted, right, because, required=True)
    if len(values) == len(breakdown):
        pairs = [(spec, _get_number(values[spec.name])) for spec in rubric]
        sum_of = " + ".join(f"{spec.weight} × {_format_value(value)}" for spec, value in pairs)
        score = combine_values(rubric, [values[spec.name] for spec in rubric])
        computed = {"score": _get_number(score), "bounds": _to_exact_bounds(score)}
        yield from _compare(row.place, row.record, computed, sum_of)


# --- totals ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Totals:
    """Everything that a result holds beside its rows, regenerated from the rows."""

    published: PublishedResult
    rubric: Rubric
    exam: Exam | None
    rows: Sequence[_Row]

    def compare(self) -> Iterator[Mismatch]:
        """Yield every difference; if the rubric or exam is another one, only that."""
        others = list(self._compare_fingerprints())
        if others:
            yield from others
            return
        yield from self._compare_expectations()
        document, summary = self.published.document, self._published_summary
        yield from _compare(("rubric",), document.get("rubric"), {"version": self.rubric.version})
        if self.exam is not None:
            because = sentence("so many items are in the exam")
            size = {"items": len(self.exam.items)}
            yield from _compare(("exam",), document.get("exam"), size, because)
        computed = self._regenerate_summary()
        yield from _compare(("summary",), summary, {key: computed[key] for key in _COUNTS})
        yield from self._compare_operations(document.get("operational"))
        axes = summary.get("axes") or {}
        if not set(axes) <= set(_list_axes(self.rubric)):
            yield _build_axes_mismatch(("summary", "axes"), axes, self.rubric)
        if not any(is_unscored(self._list_cells(row)) for row in self._scored_rows):
            yield from self._compare_summary(summary, computed)

    def _regenerate_summary(self) -> dict[str, Any]:
        """Return the summary that the rows give.

        Without the exam, not all items are known, and bounds are over all of them.
        """
        computed = to_record(self._summarise_rows(), number=_keep_exact)
        if self.exam is None:
            for part in (computed, computed["exact"], *computed["subjects"]):
                for key in ("bounds", "axis_bounds"):
                    part.pop(key, None)
        return computed

    def count_unchecked_groups(self) -> int:
        """Return how many groups are published that cannot be checked without the exam."""
        groups = self._published_summary.get("groups")
        return len(groups) if isinstance(groups, list) and self.exam is None else 0

    @property
    def _published_summary(self) -> Mapping[str, Any]:
        summary = self.published.document.get("summary")
        return summary if isinstance(summary, dict) else {}

    @cached_property
    def _items_by_id(self) -> Mapping[str, Item]:
        return {item.id: item for item in self.exam.items} if self.exam else {}

    @cached_property
    def _scored_rows(self) -> list[_Row]:
        return [row for row in self.rows if row.record["score"] is not None]

    def _list_cells(self, row: _Row) -> AxisValues:
        return tuple(row.values.get(axis, UNKNOWN_SCORE) for axis in _list_axes(self.rubric))

    def _summarise_rows(self) -> Summary:
        """Count the rows of each subject, and sum them up as `score` does.

        Without the exam, the items are those that the rows name.
        """
        unanswered: list[tuple[str | None, str]] = [
            (_get_text(record, "subject"), str(record.get("item")))
            for record in self.published.unscored_rows
            if record.get("status") == "missing"
        ]
        subjects: dict[str | None, dict[str, Counter[AxisValues]]] = {
            subject: {item: Counter() for item in self._items_by_id}
            for subject in (*(row.subject for row in self.rows), *dict(unanswered))
        }
        for row in self.rows:
            counts = subjects[row.subject].setdefault(str(row.record.get("item")), Counter())
            counts[self._list_counted_cells(row)] += 1
        if self.exam is None:
            for subject, name in unanswered:
                subjects[subject].setdefault(name, Counter())
        together: dict[str, Counter[AxisValues]] = {item: Counter() for item in self._items_by_id}
        for answered in subjects.values():
            for name, counts in answered.items():
                together.setdefault(name, Counter()).update(counts)
        # Sorted by id, so that missing items are too.
        items = (self._items_by_id.get(name, Item(id=name, prompt="")) for name in sorted(together))
        axes, errors = tuple(_list_axes(self.rubric)), self.published.error_count
        return summarise_marks(
            self.rubric,
            Exam(names=(), items=tuple(items), fingerprint=""),
            Marks(axes=axes, items=together, errors=errors),
            (
                (subject, Marks(axes=axes, items=dict(sorted(answered.items())), errors=errors))
                for subject, answered in subjects.items()
            ),
        )

    def _list_counted_cells(self, row: _Row) -> AxisValues:
        """Return the cells to count: a row with a score counts as scored, whatever its cells are.

        Cells that are not known may be anything here: means are only compared if all are known.
        A summary without `judged` comes from an earlier version, whose means of the axes leave out
        every answer without a score.
        """
        cells = self._list_cells(row)
        if row.record["score"] is not None:
            return tuple(ZERO if isinstance(cell, ScoreBounds) else cell for cell in cells)
        counts_cells = "judged" in self._published_summary and is_unscored(cells)
        is_excused = all(isinstance(cell, NotApplicable) for cell in cells)
        return cells if counts_cells or is_excused else (UNKNOWN_SCORE,) * len(cells)

    def _compare_fingerprints(self) -> Iterator[Mismatch]:
        rubric = sentence("it was scored under another rubric than the one it is checked with")
        exam = sentence("it was scored with another exam than the one it is checked with")
        for key, ours, because in (("rubric", self.rubric, rubric), ("exam", self.exam, exam)):
            named = self.published.document.get(key)
            given = named.get("fingerprint") if isinstance(named, dict) else None
            if ours is not None and given is not None:
                right = {"fingerprint": ours.fingerprint}
                yield from _compare((key,), named, right, because)

    def _compare_expectations(self) -> Iterator[Mismatch]:
        """Yield the rows whose item is not in the exam, or expects something else there."""
        if self.exam is None:
            return
        leading = find_leading_axis(self.rubric)
        for row in self.rows:
            name = row.record.get("item")
            item = self._items_by_id.get(name) if isinstance(name, str) else None
            if item is None:
                because = sentence("the exam has no such item")
                yield (*row.place, "item"), name, sentence("an item of the exam"), because
            elif "expected" in row.record:
                published = _list_texts(row.record["expected"])
                expected = list_expected_texts(leading, item) or []
                if published != expected:
                    because = sentence("this is what the exam expects")
                    yield (*row.place, "expected"), published, expected, because

    def _compare_summary(
        self, published: Mapping[str, Any], computed: Mapping[str, Any]
    ) -> Iterator[Mismatch]:
        """Compare means, exact ratios, subjects and groups."""
        yield from _compare_means(("summary",), published, computed)
        exact = published.get("exact")
        # An axis that the rubric does not have has no ratio; whatever is published there is wrong.
        axes = exact.get("axes") if isinstance(exact, dict) else None
        unknown = dict.fromkeys(axes) if isinstance(axes, dict) else {}
        ratios = {**computed["exact"], "axes": {**unknown, **computed["exact"]["axes"]}}
        because = sentence("the exact ratio over {n} breakdowns", n=computed["n"])
        if computed["n"] == 1:
            because = sentence("the exact ratio over {n} breakdown", n=1)
        # Ratios of cells whose doubles do not tell the exact fraction can only be nearly right.
        lenient = any(
            number is not None and number.denominator > _MAX_SIMPLE_DENOMINATOR
            for row in self._scored_rows
            for number in map(_get_number, row.values.values())
        )
        yield from _compare(("summary", "exact"), exact, ratios, because, lenient=lenient)
        because = sentence("so the rows say")
        nothing = {
            "n": 0,
            "score": None,
            "axes": dict.fromkeys(_list_axes(self.rubric)),
            "missing": sorted(self._items_by_id),
        }
        yield from _compare_entries(published, "subjects", ("subject",), computed, because, nothing)
        # An earlier version left out the groups in which nothing had a score.
        if self.exam is not None and "judged" in published:
            because = sentence("the tags of the exam make these groups")
            yield from _compare_entries(published, "groups", ("tag", "value"), computed, because)

    def _compare_operations(self, published: Any) -> Iterator[Mismatch]:
        """Compare operational metrics, if the rows hold what was measured in each session."""
        measured = all("tool_calls" in row.record for row in self.rows)
        if self.exam is None or not isinstance(published, list) or not measured:
            return
        collector = OperationsCollector(self.exam)
        for row in self.rows:
            item = str(row.record.get("item"))
            if item in self._items_by_id:
                collector.add_session(item, row.subject, _read_session_metrics(row.record))
        records = [to_record(group, number=_keep_exact) for group in collector.build_groups()]
        groups = {tuple(map(record.pop, _OPERATION_KEYS)): record for record in records}
        for at, (key, entry) in enumerate(_list_entries(published, _OPERATION_KEYS)):
            place = ("operational", at)
            if key in groups:
                yield from _compare(place, entry, groups[key], required=True)
            else:
                named = ", ".join(part for part in key if part is not None) or "nothing"
                yield place, named, None, sentence("no session is in such a group")


def _keep_exact(value: Fraction) -> Fraction:
    return value


def _compare_entries(
    published: Mapping[str, Any],
    part: str,
    keys: tuple[str, ...],
    computed: Mapping[str, Any],
    because: str,
    unknown: Mapping[str, Any] | None = None,
) -> Iterator[Mismatch]:
    """Compare the subjects or groups of a summary: which there are, then each of them.

    An entry that the rows do not have is compared with `unknown`.
    """
    if published.get(part) is None:
        return
    entries = _list_entries(published[part], keys)
    records = {tuple(record[key] for key in keys): record for record in computed[part]}
    if Counter(names for names, _ in entries) != Counter(records.keys()):
        listed, right = (
            ["=".join(map(str, names)) for names in each]
            for each in ([names for names, _ in entries], records)
        )
        # Groups have no order of their own; subjects are listed as the rows name them.
        if unknown is None:
            listed, right = sorted(listed), sorted(right)
        yield ("summary", part), listed, right, because
    for at, (names, entry) in enumerate(entries):
        record = records.get(names, unknown)
        if record is not None:
            place = ("summary", part, at)
            yield from _compare(place, entry, {"n": record["n"]})
            yield from _compare_means(place, entry, record)
            if "missing" in record:
                yield from _compare(place, entry, {"missing": record["missing"]})


def _compare_means(
    place: PublishedField, published: Mapping[str, Any], computed: Mapping[str, Any]
) -> Iterator[Mismatch]:
    n = computed["n"]
    because = sentence("the mean over {n} breakdowns", n=n)
    if n == 1:
        because = sentence("the mean over {n} breakdown", n=n)
    means = {"score": computed["score"], "axes": computed["axes"]}
    means |= {key: computed[key] for key in _KNOWN_MEANS if key in computed}
    yield from _compare(place, published, means, because)
    counts = {
        key: computed[key] for key in ("judged", "unjudged") if key in published and key in computed
    }
    yield from _compare(place, published, counts, sentence("so the rows say"))


def _read_session_metrics(record: Mapping[str, Any]) -> SessionMetrics:
    """Return the metrics that a row holds of its session; what is no number is not known."""
    latency, tokens, tool_calls, dispatches = (
        Decimal(value) if isinstance(value, int | Decimal) else None
        for value in map(record.get, ("latency_ms", "tokens", "tool_calls", "dispatches"))
    )
    bounds = record.get("lower_bounds")
    return SessionMetrics(
        latency_s=None if latency is None else latency / 1000,
        last_turn_latency_s=None,
        tool_calls=int(tool_calls or 0),
        subagent_calls=0,
        dispatches=int(dispatches or 0),
        tokens_in=None if tokens is None else int(tokens),
        tokens_out=0,
        lower_bounds=tuple(map(str, bounds)) if isinstance(bounds, list) else (),
    )


# --- published values --------------------------------------------------------------------------


def _list_entries(published: Any, keys: tuple[str, ...]) -> KeyedEntries:
    """Return the entries of a published list, each with the texts that identify it."""
    listed = published if isinstance(published, list) else [published]
    entries = [entry if isinstance(entry, dict) else {} for entry in listed]
    return [(tuple(_get_text(entry, key) for key in keys), entry) for entry in entries]


def _get_text(entry: Mapping[str, Any], key: str) -> str | None:
    value = entry.get(key)
    return None if value is None else str(value)


def _list_texts(expected: Any) -> list[str]:
    """Return what is expected as a list of texts, whether it is one or a list."""
    if expected is None:
        return []
    return format_expected(expected)


def _build_finding(published: PublishedResult, mismatch: Mismatch, item: Any = None) -> Finding:
    field, value, computed, because = mismatch
    return Finding(
        file=published.file,
        line=published.find_line(field),
        item=None if item is None else str(item),
        field=published.format_field(field),
        published=_format_value(value),
        computed=_format_value(computed),
        because=because,
    )


def _format_value(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case Fraction():
            whole = value.denominator == 1
            return str(value.numerator) if whole else format_decimal(value, places=6)
        case Decimal():
            return format_plain(value)
        case list():
            return ", ".join(map(str, value)) or "nothing"
        case _:
            return str(value)


def _add_verb(shown: str) -> str:
    return f"{shown} {'are' if ', ' in shown else 'is'}"
