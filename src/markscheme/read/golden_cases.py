"""Read golden cases: answers whose cells are known beforehand, to test the rubric itself.

A file of golden cases looks like an exam whose items also have an answer and the cells that the
answer must get. It may also say what a gate must decide for a value, and from which score on an
item passes. `markscheme audit` checks the cases; see `docs/audit.md` for the format.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from markscheme.read.documents import (
    ITEM_KEYS,
    NO_ENTRIES,
    Constraints,
    Converter,
    FieldPath,
    ItemCheck,
    ItemModel,
    MeasureLimit,
    Model,
    Name,
    ProblemCollector,
    RawEntry,
    Share,
    Text,
    build_item,
    check_item_keys,
    describe_unknown_word,
    find_duplicate_ids,
    iterate_item_entries,
    iterate_mappings,
    locate_document,
    read_tree,
)
from markscheme.read.transcripts import Draft
from markscheme.vocabulary import (
    MAIN_AGENT,
    CallStatus,
    DocumentError,
    FrozenDict,
    Item,
    Mark,
    MarkSource,
    Outcome,
    Problem,
    Rubric,
    Transcript,
    format_value,
)

_CASE_KEYS = (*ITEM_KEYS, "answer", "times", "transcript", "marks", "cells", "score", "because")
_MAX_REPEATS = 100_000
_RATIO_PATTERN = "-?[0-9]{1,9}/[1-9][0-9]{0,8}"
_DISPATCH_TOOLS = ("Task", "Agent", "task")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenCase:
    """An answer to an item of its own, the cells it must get, and why.

    - `cells`: the expected value per axis; `None` for a cell that must have no value.
    - `score`: the expected score, if the case also tests the weights.
    - `marks`: what raters say about the answer, for axes that people or judges mark.
    - `transcript`: what the agent did, for axes that score tool calls.
    """

    item: Item
    answer: str | Mapping[str, Any]
    cells: Mapping[str, Fraction | None]
    marks: Mapping[str, tuple[Mark, ...]] = FrozenDict()
    transcript: Transcript | None = None
    score: Fraction | None = None
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCase:
    """The outcome that a gate must have if its metric has the value `seen`.

    `baseline` is the score that the gate compares with; `suspicious` says whether the gate must
    warn that the rise over the baseline is too good to be true.
    """

    gate: str
    seen: Decimal
    outcome: Outcome
    baseline: Decimal | None = None
    suspicious: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassCase:
    """Whether an item with this mean score must pass."""

    seen: Decimal
    passes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenCases:
    """All golden cases for a rubric, from one or more files."""

    items: tuple[GoldenCase, ...] = ()
    gates: tuple[GateCase, ...] = ()
    pass_mark: tuple[PassCase, ...] = ()


ToolName = Annotated[str, Constraints(shortest=1)]


class CallModel(Model):
    """One tool call of an agent."""

    tool: ToolName
    input: dict[str, Any] = FrozenDict()
    status: Literal["ok", "error", "denied", "none"] = "ok"


class DoneModel(Model):
    """The session of an agent: its calls (a name, or name, input and status) and sub-agents."""

    calls: list[ToolName | CallModel] = NO_ENTRIES
    subagents: list[DoneModel] = NO_ENTRIES
    gap: Text = ""


def _parse_exact_value(value: Any) -> Fraction | None:
    """Return a number, or a ratio such as `2/3`; at most 1, and below 0 for kept penalties."""
    is_ratio = isinstance(value, str) and re.fullmatch(_RATIO_PATTERN, value)
    if not (is_ratio or (isinstance(value, int | Decimal) and not isinstance(value, bool))):
        return None
    exact = Fraction(value)
    return exact if exact <= 1 else None


_RATIO_SCHEMA = {
    "anyOf": [
        {"type": "number", "maximum": 1},
        {"type": "string", "pattern": f"^{_RATIO_PATTERN}$"},
    ]
}
ExactValue = Annotated[
    Any, Converter(_parse_exact_value, "ratio_type", FrozenDict.freeze(_RATIO_SCHEMA))
]


class CaseModel(ItemModel):
    """An item with its answer and expected cells. Unknown keys are expectations for axes."""

    answer: Any
    times: Annotated[int, Constraints(at_least=1, at_most=_MAX_REPEATS)] = 1
    transcript: DoneModel | None = None
    marks: dict[Name, Any] = FrozenDict()
    cells: Annotated[dict[Name, ExactValue | None], Constraints(shortest=1)]
    score: ExactValue | None = None
    because: Text = ""


class GateCaseModel(Model):
    """The outcome that a gate must have for a value."""

    gate: Name
    seen: MeasureLimit
    outcome: Literal["pass", "warn", "fail", "undecided"]
    baseline: Share | None = None
    suspicious: bool | None = None


class PassCaseModel(Model):
    """Whether an item with this mean score passes."""

    seen: Share
    passes: bool


class CasesModel(Model):
    """A file of golden cases. Its entries are validated one by one."""

    cases: Name
    items: list[Any] | None = None
    gates: list[Any] | None = None
    pass_mark: list[Any] | None = None


def read_cases(
    sources: Iterable[str | Path],
    *,
    rubric: Rubric,
    expectations: Collection[str],
    check: ItemCheck,
) -> GoldenCases:
    """Read one or more files of golden cases for a rubric.

    Raises:
        DocumentError: some file is wrong; the error holds every problem of all files.
    """
    readers = [_CaseFileReader(source, rubric, expectations, check) for source in sources]
    problems = [problem for reader in readers for problem in reader.problems]
    items = tuple(case for reader in readers for case in reader.items)
    problems.extend(find_duplicate_ids(case.item for case in items))
    if problems:
        raise DocumentError(problems)
    return GoldenCases(
        items=items,
        gates=tuple(case for reader in readers for case in reader.gates),
        pass_mark=tuple(case for reader in readers for case in reader.pass_mark),
    )


class _CaseFileReader:
    """Reads one file on creation: its cases, and every problem with it."""

    def __init__(
        self, source: str | Path, rubric: Rubric, expectations: Collection[str], check: ItemCheck
    ) -> None:
        path, self._file = locate_document(source, "cases")
        self._rubric = rubric
        self.items: list[GoldenCase] = []
        self.gates: list[GateCase] = []
        self.pass_mark: list[PassCase] = []
        self.problems: list[Problem] = []
        try:
            self._tree = read_tree(path, self._file)
        except DocumentError as error:
            self.problems.extend(error.problems)
            return
        self._collector = ProblemCollector(self._tree, self._file)
        self._collector.validate_node(CasesModel, self._tree)
        self._read_items(expectations, check)
        self._read_gates()
        self._read_pass_mark()
        self.problems.extend(self._collector.problems)

    def _read_items(self, expectations: Collection[str], check: ItemCheck) -> None:
        allowed = [*_CASE_KEYS, *expectations]
        for index, entry, place in iterate_item_entries(self._tree, self._file):
            path = ("items", index)
            check_item_keys(entry, path, allowed, self._collector)
            model = self._collector.validate_node(CaseModel, entry, path)
            for field, message in self._find_case_problems(entry):
                self._collector.add_problem((*path, *field), message)
            item = build_item(entry, place, _CASE_KEYS)
            reported = {problem.field for problem in self._collector.problems}
            self.problems.extend(p for p in check(item) if p.field not in reported)
            if isinstance(model, CaseModel) and isinstance(model.answer, str | dict):
                self.items.append(_build_case(item, model))

    def _read_gates(self) -> None:
        has_baseline = {gate.name: gate.baseline is not None for gate in self._rubric.gates}
        for index, entry in iterate_mappings(self._tree.get("gates")):
            path = ("gates", index)
            model = cast(
                "GateCaseModel | None", self._collector.validate_node(GateCaseModel, entry, path)
            )
            if model is None:
                continue
            if model.gate not in has_baseline:
                message = self._describe_unknown_name("gate", model.gate, has_baseline)
                self._collector.add_problem((*path, "gate"), message)
            problems = _find_gate_case_problems(model, has_baseline=has_baseline.get(model.gate))
            for field, message in problems:
                self._collector.add_problem((*path, field), message)
            self.gates.append(
                GateCase(
                    gate=model.gate,
                    seen=model.seen,
                    outcome=Outcome(model.outcome),
                    baseline=model.baseline,
                    suspicious=model.suspicious,
                )
            )

    def _read_pass_mark(self) -> None:
        for index, entry in iterate_mappings(self._tree.get("pass_mark")):
            model = self._collector.validate_node(PassCaseModel, entry, ("pass_mark", index))
            if isinstance(model, PassCaseModel):
                self.pass_mark.append(PassCase(seen=model.seen, passes=model.passes))

    def _find_case_problems(self, entry: RawEntry) -> Iterator[tuple[FieldPath, str]]:
        """Yield problems with the answer of a case, and with the axes that it names."""
        answer, cells = entry.get("answer"), entry.get("cells")
        if "times" in entry and not isinstance(answer, str):
            yield ("times",), "is only for an answer that is text"
        if "answer" in entry and not isinstance(answer, str | dict):
            expected = "must be text or a mapping of keys to values"
            yield ("answer",), f"{expected}, not {format_value(answer)}"
        yield from self._find_mark_problems(entry.get("marks"))
        axes = [spec.name for spec in self._rubric]
        for axis in cells if isinstance(cells, dict) else ():
            if axis not in axes:
                yield ("cells", axis), self._describe_unknown_name("axis", axis, axes)

    def _find_mark_problems(self, marks: Any) -> Iterator[tuple[FieldPath, str]]:
        """Yield problems with the axes that a case marks."""
        marked = [spec.name for spec in self._rubric if hasattr(spec.axis, "combine")]
        for axis, given in marks.items() if isinstance(marks, dict) else ():
            if axis not in marked:
                yield ("marks", axis), self._describe_unknown_name("marked axis", axis, marked)
            for mark in given.values() if isinstance(given, dict) else (given,):
                if not isinstance(mark, bool | int | Decimal | str):
                    message = "must be a score, an option, `n/a`, or one for each criterion"
                    yield ("marks", axis), message

    def _describe_unknown_name(self, noun: str, name: str, allowed: Collection[str]) -> str:
        return describe_unknown_word(name, f"{noun} of the rubric `{self._rubric.name}`", allowed)


def _build_case(item: Item, model: CaseModel) -> GoldenCase:
    answer = model.answer * model.times if isinstance(model.answer, str) else model.answer
    cells = {
        axis: None if value is None else Fraction(value) for axis, value in model.cells.items()
    }
    transcript = None
    if model.transcript is not None:
        draft = _build_draft(model.transcript, item.prompt, str(answer))
        transcript = draft.build_transcript("case")
    return GoldenCase(
        item=item,
        answer=FrozenDict.freeze(answer),
        cells=FrozenDict(cells),
        marks=FrozenDict({axis: tuple(_build_marks(given)) for axis, given in model.marks.items()}),
        transcript=transcript,
        score=None if model.score is None else Fraction(model.score),
        because=model.because,
    )


def _build_marks(given: Any) -> Iterator[Mark]:
    """Yield the marks of one axis: one, or one for each criterion."""
    for criterion, mark in given.items() if isinstance(given, Mapping) else (("", given),):
        is_number = isinstance(mark, bool | int | Decimal)
        # What is neither is a problem that was reported.
        score = Fraction(mark) if is_number else str(mark)
        yield Mark(score=score, source=MarkSource.PERSON, by="case", criterion=str(criterion))


def _build_draft(
    session: DoneModel, prompt: str, final_text: str, agent: str = MAIN_AGENT
) -> Draft:
    """Return the draft of a transcript, as a reader of logs would have built it."""
    draft = Draft(agent)
    draft.add_prompt(prompt)
    for number, entry in enumerate(session.calls):
        call = CallModel({"tool": entry}) if isinstance(entry, str) else entry
        call_index = draft.add_call(call.tool, dict(call.input), id_=str(number))
        if call.status != "none":
            draft.add_result(str(number), CallStatus(call.status))
        child = f"{agent}.{len(draft.children) + 1}"
        if call.tool in _DISPATCH_TOOLS and len(draft.children) < len(session.subagents):
            subagent = session.subagents[len(draft.children)]
            inner = _build_draft(subagent, prompt, "Done.", child)
            draft.add_dispatch(None, call_index).agent = child
            draft.children.append(inner.build_transcript("case"))
    draft.add_text(final_text)
    if session.gap:
        draft.add_gap(session.gap)
    return draft


def _find_gate_case_problems(
    model: GateCaseModel, *, has_baseline: bool | None
) -> Iterator[tuple[str, str]]:
    if has_baseline and model.baseline is None:
        yield "baseline", "is missing; the gate compares with the score of a baseline"
    if has_baseline is False:
        for field in ("baseline", "suspicious"):
            if getattr(model, field) is not None:
                yield field, "is only for a gate on the metric `baseline`"
