"""Golden cases: answers whose cells are known beforehand, so that the rubric itself can be tested.

A file of cases looks like an exam whose items come with an answer and with what it must get. Beside
them it may say what gates must say of a value, and from which score an item passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from markscheme.read.documents import (
    ITEM_KEYS,
    NO_ENTRIES,
    Constraints,
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
    find_duplicate_ids,
    iterate_item_entries,
    iterate_mappings,
    locate_document,
    read_tree,
    suggest_match,
)
from markscheme.read.transcripts import Draft
from markscheme.vocabulary import (
    MAIN_AGENT,
    CallStatus,
    DocumentError,
    FrozenDict,
    Item,
    Outcome,
    Problem,
    Transcript,
    format_value,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from markscheme.vocabulary import Rubric

_CASE_KEYS = (*ITEM_KEYS, "answer", "times", "transcript", "cells", "score", "because")
_MAX_REPEATS = 100_000
_DISPATCH_TOOLS = ("Task", "Agent", "task")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenCase:
    """An answer to an item of its own, the cells it must get, and why.

    `score` is there where the case also vouches for the weights. `transcript` is what was done for
    the answer, for axes that judge that. A cell that must have no value is expected as `None`.
    """

    item: Item
    answer: str | Mapping[str, Any]
    cells: Mapping[str, Fraction | None]
    transcript: Transcript | None = None
    score: Fraction | None = None
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCase:
    """What a gate must say when it sees a value; `baseline` is the score it compares with.

    `suspicious` says whether a rise over the baseline must be called too good.
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
    """All golden cases for a rubric, of one or more files."""

    items: tuple[GoldenCase, ...] = ()
    gates: tuple[GateCase, ...] = ()
    pass_mark: tuple[PassCase, ...] = ()


ToolName = Annotated[str, Constraints(shortest=1)]


class CallModel(Model):
    """One call of an agent."""

    tool: ToolName
    input: dict[str, Any] = FrozenDict()
    status: Literal["ok", "error", "denied", "none"] = "ok"


class DoneModel(Model):
    """What an agent did: its calls, by name alone or with their input, and its sub-agents."""

    calls: list[ToolName | CallModel] = NO_ENTRIES
    subagents: list[DoneModel] = NO_ENTRIES
    gap: Text = ""


class CaseModel(ItemModel):
    """An item with its answer, so many times in a row; other keys are what axes expect of it."""

    answer: Any
    times: Annotated[int, Constraints(at_least=1, at_most=_MAX_REPEATS)] = 1
    transcript: DoneModel | None = None
    cells: Annotated[dict[Name, Share | None], Constraints(shortest=1)]
    score: Share | None = None
    because: Text = ""


class GateCaseModel(Model):
    """What a gate must say of a value."""

    gate: Name
    seen: MeasureLimit
    outcome: Literal["pass", "warn", "fail", "undecided"]
    baseline: Share | None = None
    suspicious: bool | None = None


class PassCaseModel(Model):
    """Whether an item with a score passes."""

    seen: Share
    passes: bool


class CasesModel(Model):
    """A file of golden cases; its parts are checked one by one."""

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
    """Read one or more files of golden cases for a rubric; every mistake of all is told at once."""
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
    """Reads one file: its cases, and all that is wrong with it."""

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
        self._complaints = ProblemCollector(self._tree, self._file)
        self._complaints.validate_node(CasesModel, self._tree)
        self._read_items(expectations, check)
        self._read_gates()
        self._read_pass_mark()
        self.problems.extend(self._complaints.problems)

    def _read_items(self, expectations: Collection[str], check: ItemCheck) -> None:
        allowed = [*_CASE_KEYS, *expectations]
        for index, entry, place in iterate_item_entries(self._tree, self._file):
            path = ("items", index)
            check_item_keys(entry, path, allowed, self._complaints)
            model = self._complaints.validate_node(CaseModel, entry, path)
            for field, message in self._find_case_problems(entry):
                self._complaints.add_problem((*path, *field), message)
            item = build_item(entry, place, _CASE_KEYS)
            told_of = {problem.field for problem in self._complaints.problems}
            self.problems.extend(p for p in check(item) if p.field not in told_of)
            if isinstance(model, CaseModel) and isinstance(model.answer, str | dict):
                self.items.append(_build_case(item, model))

    def _read_gates(self) -> None:
        names = {gate.name: gate.baseline is not None for gate in self._rubric.gates}
        for index, entry in iterate_mappings(self._tree.get("gates")):
            path = ("gates", index)
            model = cast(
                "GateCaseModel | None", self._complaints.validate_node(GateCaseModel, entry, path)
            )
            if model is None:
                continue
            if model.gate not in names:
                self._complaints.add_problem(
                    (*path, "gate"), self._describe_unknown_name("gate", model.gate, names)
                )
            for field, message in _find_gate_case_problems(model, baseline=names.get(model.gate)):
                self._complaints.add_problem((*path, field), message)
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
            model = self._complaints.validate_node(PassCaseModel, entry, ("pass_mark", index))
            if isinstance(model, PassCaseModel):
                self.pass_mark.append(PassCase(seen=model.seen, passes=model.passes))

    def _find_case_problems(self, entry: RawEntry) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield what is wrong with the answer of a case, and with the axes that it names."""
        answer, cells = entry.get("answer"), entry.get("cells")
        if "times" in entry and not isinstance(answer, str):
            yield ("times",), "is only for an answer that is text"
        if "answer" in entry and not isinstance(answer, str | dict):
            told = "must be text or a mapping of keys to values"
            yield ("answer",), f"{told}, not {format_value(answer)}"
        axes = [spec.name for spec in self._rubric]
        for axis in cells if isinstance(cells, dict) else ():
            if axis not in axes:
                yield ("cells", axis), self._describe_unknown_name("axis", axis, axes)

    def _describe_unknown_name(self, what: str, name: str, allowed: Collection[str]) -> str:
        told = f"{format_value(name)} is no {what} of the rubric `{self._rubric.name}`"
        return f"{told}; allowed: {', '.join(allowed)}{suggest_match(name, allowed)}"


def _build_case(item: Item, model: CaseModel) -> GoldenCase:
    answer = model.answer * model.times if isinstance(model.answer, str) else model.answer
    cells = {a: None if value is None else Fraction(value) for a, value in model.cells.items()}
    done = model.transcript
    return GoldenCase(
        item=item,
        answer=FrozenDict.freeze(answer),
        cells=FrozenDict(cells),
        transcript=None
        if done is None
        else _build_draft(done, item.prompt, str(answer)).build_transcript("case"),
        score=None if model.score is None else Fraction(model.score),
        because=model.because,
    )


def _build_draft(done: DoneModel, prompt: str, said: str, agent: str = MAIN_AGENT) -> Draft:
    """Return what was done as a log would have told it."""
    draft = Draft(agent)
    draft.add_prompt(prompt)
    for number, entry in enumerate(done.calls):
        call = CallModel({"tool": entry}) if isinstance(entry, str) else entry
        made = draft.add_call(call.tool, dict(call.input), id_=str(number))
        if call.status != "none":
            draft.add_result(str(number), CallStatus(call.status))
        child = f"{agent}.{len(draft.children) + 1}"
        if call.tool in _DISPATCH_TOOLS and len(draft.children) < len(done.subagents):
            inner = _build_draft(done.subagents[len(draft.children)], prompt, "Done.", child)
            draft.add_dispatch(None, made).agent = child
            draft.children.append(inner.build_transcript("case"))
    draft.add_text(said)
    if done.gap:
        draft.add_gap(done.gap)
    return draft


def _find_gate_case_problems(
    model: GateCaseModel, *, baseline: bool | None
) -> Iterator[tuple[str, str]]:
    if baseline and model.baseline is None:
        yield "baseline", "is missing; the gate compares with the score of a baseline"
    if baseline is False:
        for field in ("baseline", "suspicious"):
            if getattr(model, field) is not None:
                yield field, "is only for a gate on the metric `baseline`"
