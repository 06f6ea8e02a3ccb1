"""The words of markscheme as plain types. Standard library only; everything else speaks these.

A rubric has axes. An exam has items. A subject gives an answer to an item; an axis looks at the
response in that answer and gives a cell; the cells of one answer are its breakdown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from markscheme.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.transcript import Transcript
    from markscheme.verdicts import DecisionTable, VerdictRules


class Status(StrEnum):
    """What became of one axis on one answer."""

    SCORED = "scored"
    ABSTAINED = "abstained"
    FAILED = "failed"


class Reading(StrEnum):
    """How a raw output was read: the first that fits. The last two are the fallback."""

    OBJECT = "object"
    FENCED = "fenced"
    TEXT = "text"


class Level(StrEnum):
    """A hard gate blocks; a soft gate warns."""

    HARD = "hard"
    SOFT = "soft"


class Outcome(StrEnum):
    """What a gate says. A gate that cannot tell is undecided, never passed.

    A baseline gate is not applicable where no baseline was ever set; that judges nothing.
    """

    PASS = "pass"  # noqa: S105 - an outcome, not a password
    WARN = "warn"
    FAIL = "fail"
    UNDECIDED = "undecided"
    NOT_APPLICABLE = "not applicable"


_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a thing was written: its file, line and field, and the lines of its own keys."""

    file: str
    line: int
    field: str
    lines: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One axis on one answer: a value if and only if it is scored, and always a reason.

    `near_miss` names the one further normalisation step that would have let the answer pass.
    """

    status: Status
    value: Fraction | None
    reason: str
    near_miss: str | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.status is Status.SCORED):
            raise ValueError(f"a cell has a value exactly when it is scored, not {self!r}")
        if self.value is None or self.value is _ZERO or self.value is _ONE:
            return
        if type(self.value) is not Fraction or not 0 <= self.value <= 1:
            raise ValueError(f"a cell's value is a fraction from 0 to 1, not {self.value!r}")

    @classmethod
    def passed(cls, reason: str) -> Cell:
        """Return a cell with full marks."""
        return cls(status=Status.SCORED, value=_ONE, reason=reason)

    @classmethod
    def missed(cls, reason: str, near_miss: str | None = None) -> Cell:
        """Return a cell with no marks: a judgement about the answer, not a failure of ours."""
        return cls(status=Status.SCORED, value=_ZERO, reason=reason, near_miss=near_miss)

    @classmethod
    def failed(cls, reason: str) -> Cell:
        """Return a cell that could not be judged; it has no number."""
        return cls(status=Status.FAILED, value=None, reason=reason)

    @classmethod
    def abstained(cls, reason: str) -> Cell:
        """Return a cell of an axis that has nothing to say about this answer."""
        return cls(status=Status.ABSTAINED, value=None, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A raw output after reading: its text, and the JSON object in it where there is one.

    `why` says why it is not an object; `lacking` names the fields that axes read and that the
    object does not have as text, so that those axes read the whole text instead; `numbers` holds
    the exact value of fields that axes read as numbers. `transcript` says what was done for the
    answer, where it comes from an agent's log.
    """

    reading: Reading
    text: str
    document: Mapping[str, Any] | None = None
    why: str = ""
    lacking: tuple[str, ...] = ()
    numbers: Mapping[str, Decimal] = field(default_factory=Frozen)
    transcript: Transcript | None = None

    def text_of(self, name: str | None) -> str:
        """Return the text field `name`, or the whole text where there is no such text field."""
        if name is None or self.document is None:
            return self.text
        found = self.document.get(name)
        return found if isinstance(found, str) else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The fields of a response that axes read: the types that every axis on a field can read.

    `numeric` names those that some axis reads as numbers.
    """

    accepted: Mapping[str, Collection[type]] = field(default_factory=Frozen)
    numeric: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question of an exam, with what the axes expect of its answer."""

    id: str
    prompt: str
    expectations: Mapping[str, Any] = field(default_factory=Frozen)
    tags: Mapping[str, str] = field(default_factory=Frozen)
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """Items with unique ids. Several exam documents merge into one exam with several names."""

    names: tuple[str, ...]
    items: tuple[Item, ...]
    fingerprint: str

    @property
    def name(self) -> str:
        """The names of the merged documents, joined: `capstone+capstone-extra`.

        In whatever order they were given: it is one exam, which has one baseline.
        """
        return "+".join(sorted(self.names))


@runtime_checkable
class Axis(Protocol):
    """One thing a rubric scores: a frozen dataclass of parameters with one method that judges.

    `kind` is its name in a rubric; `version` is raised when the same answer would score
    differently. What is wrong with the parameters or with an item is told as pairs of field and
    message, before anything is scored.
    """

    kind: ClassVar[str]
    version: ClassVar[int]

    def mark(self, response: Response, item: Item) -> Cell:
        """Judge one response to one item."""
        ...

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Yield (parameter, message) for everything that is wrong with the parameters."""
        ...

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:
        """Yield (field, message) for everything that the axis needs of the item and lacks."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisSpec:
    """An axis as a rubric uses it: under a name, with a weight.

    Where a rubric gives no weights, all its axes count alike: a weight is then the fraction 1/n.
    """

    name: str
    weight: Decimal | Fraction
    axis: Axis


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleAxis:
    """An axis that people rate and nothing marks: whole numbers, each with its anchor.

    It has no weight: the average of a variant is the plain mean of its scales.
    """

    name: str
    question: str
    anchors: Mapping[int, str]
    title: str = ""

    @property
    def lowest(self) -> int:
        """The lowest score that can be given."""
        return min(self.anchors)

    @property
    def highest(self) -> int:
        """The highest score that can be given."""
        return max(self.anchors)

    @property
    def label(self) -> str:
        """The name, with the title where there is one."""
        return f"{self.name} {self.title}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteAxis:
    """What a rater says in words: it has no score and decides nothing."""

    name: str
    question: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """One person's or judge's score of one axis on one answer; no score where it is a note only.

    `line` is where it stands in its file.
    """

    item: str
    variant: str
    rater: str
    axis: str
    score: int | None
    note: str = ""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """How far a score may move: a share of the baseline's score (`2%`), or points (`0.02`)."""

    amount: Decimal
    relative: bool

    def points(self, score: Fraction) -> Fraction:
        """Return how many points that is for a baseline of this score."""
        return Fraction(self.amount) * (score if self.relative else 1)

    def __str__(self) -> str:
        return f"{(self.amount * 100).normalize():f}%" if self.relative else f"{self.amount:f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """An item passes if at least so many of its so many attempts pass."""

    at_least: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineLimit:
    """How far a score may fall below its baseline, and from which rise on it looks too good."""

    max_drop: Allowance
    suspicious_rise: Allowance
    evidence_required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A limit on a metric of a run, bound to exams (all, where none is named).

    `axis`, `tags` and `attempts` say what the metric is taken of; `baseline` is there exactly when
    the metric is `baseline`, and then there is no other limit.
    """

    name: str
    level: Level
    metric: str = "score"
    at_least: Decimal | None = None
    at_most: Decimal | None = None
    axis: str | None = None
    tags: Mapping[str, str] = field(default_factory=Frozen)
    attempts: Attempts | None = None
    baseline: BaselineLimit | None = None
    exams: tuple[str, ...] = ()
    target: Decimal | None = None

    def __post_init__(self) -> None:
        limits = [limit for limit in (self.at_least, self.at_most) if limit is not None]
        if (self.baseline is not None) == bool(limits) or not all(map(Decimal.is_finite, limits)):
            raise ValueError(f"a gate has a finite limit or a baseline, not {self!r}")

    def applies_to(self, exam: Exam) -> bool:
        """Return whether every document of the exam is one that the gate is bound to."""
        return not self.exams or set(exam.names) <= set(self.exams)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """Axes with weights that sum to exactly 1, and the gates on what they add up to.

    For comparisons it may have scales that people rate, notes, verdict rules and a decision table,
    and then it may lack axes that are marked.

    An item passes when its mean over its attempts is at least `pass_mark`, which like the gates
    changes no score. `source` is the text it was read from.
    """

    name: str
    version: int
    axes: tuple[AxisSpec, ...]
    gates: tuple[Gate, ...]
    fingerprint: str
    title: str = ""
    pass_mark: Decimal = Decimal(1)
    source: str = field(default="", compare=False, repr=False)
    verdict_rules: VerdictRules | None = None
    decision_table: DecisionTable | None = None
    scales: tuple[ScaleAxis, ...] = ()
    notes: tuple[NoteAxis, ...] = ()

    def __iter__(self) -> Iterator[AxisSpec]:
        return iter(self.axes)

    @property
    def fields(self) -> Fields:
        """The fields of a response that the axes read."""
        accepted: dict[str, set[type]] = {}
        for spec in self.axes:
            name = getattr(spec.axis, "reads", None)
            if name is not None:
                types = set(getattr(spec.axis, "accepts", (str,)))
                accepted[name] = accepted.get(name, types) & types
        numeric = {name for spec in self.axes for name in _read_as_number(spec.axis)}
        return Fields(accepted=accepted, numeric=tuple(sorted(numeric)))


def _read_as_number(axis: Axis) -> Iterator[str]:
    name = getattr(axis, "reads", None)
    if name is not None and Decimal in getattr(axis, "accepts", ()):
        yield name


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a subject said to one item, with what is known of how it said it."""

    item: str
    output: str | Mapping[str, Any]
    subject: str | None = None
    attempt: int = 1
    latency_ms: Decimal | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """The cells of one answer, in the order of the rubric, and the exact score they add up to.

    `score` is `None` as soon as one cell has no value: a part that was not judged is not a 0.
    """

    item: str
    reading: Reading
    expected: Any
    got: str
    cells: Mapping[str, Cell]
    weighted: Mapping[str, Fraction | None]
    score: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowError:
    """A row of an answers file that could not be taken as an answer; counted and shown.

    `file` is told where the answers are a folder of files.
    """

    line: int
    reason: str
    item: str | None = None
    excerpt: str = ""
    file: str | None = None

    @property
    def place(self) -> str:
        """Where the row is, for people."""
        return f"line {self.line}" if self.file is None else f"{self.file}, line {self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The items that share the value of a tag, and how they did."""

    tag: str
    value: str
    n: int
    score: Fraction
    axes: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectSummary:
    """How one of the subjects in a file of answers did, and what it did not answer."""

    subject: str | None
    n: int
    score: Fraction | None
    axes: Mapping[str, Fraction | None]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A run in exact numbers. `n` answers were scored; the means are over those.

    Missing items, error rows and answers with a failed cell are counted beside them, and any of
    the three makes the run incomplete. Where the answers are of several subjects, an item that one
    of them did not answer is missing.
    """

    n: int
    score: Fraction | None
    axes: Mapping[str, Fraction | None]
    answers: int
    unscored: int
    errors: int
    items: int
    missing: tuple[str, ...]
    subjects: tuple[SubjectSummary, ...]
    groups: tuple[Group, ...]

    @property
    def complete(self) -> bool:
        """Whether every item was answered and every row and cell could be scored."""
        return not (self.missing or self.errors or self.unscored) and self.n > 0

    @property
    def rows(self) -> int:
        """How many rows tell of the run: answers, bad rows, and what each subject missed."""
        return self.answers + self.errors + sum(len(found.missing) for found in self.subjects)
