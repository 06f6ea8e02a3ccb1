"""Golden cases: answers whose cells are known beforehand, so that the rubric itself can be tested.

A file of cases looks like an exam whose items come with an answer and with what it must get. Beside
them it may say what gates must say of a value, and from which score an item passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from markscheme.errors import DocumentError, Problem, shown
from markscheme.frozen import Frozen
from markscheme.read.complaints import Complaints, guess, iterate
from markscheme.read.exams import (
    ITEM_KEYS,
    Check,
    Entry,
    check_keys,
    duplicate_ids,
    item_entries,
    item_of,
)
from markscheme.read.gates import Measure
from markscheme.read.models import NOTHING, ItemModel, Name, Share, Text
from markscheme.read.parsing import read_tree
from markscheme.read.shapes import Limits, Model
from markscheme.read.sources import locate
from markscheme.read.transcripts.draft import Draft
from markscheme.transcript import MAIN, CallStatus, Transcript
from markscheme.values import dataclass
from markscheme.vocabulary import Item, Outcome

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from markscheme.vocabulary import Rubric

_OWN = (*ITEM_KEYS, "answer", "times", "transcript", "cells", "score", "because")
_MOST_TIMES = 100_000
_DISPATCHING = ("Task", "Agent", "task")


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
class Cases:
    """All golden cases for a rubric, of one or more files."""

    items: tuple[GoldenCase, ...] = ()
    gates: tuple[GateCase, ...] = ()
    pass_mark: tuple[PassCase, ...] = ()


Tool = Annotated[str, Limits(shortest=1)]


class CallModel(Model):
    """One call of an agent."""

    tool: Tool
    input: dict[str, Any] = Frozen()
    status: Literal["ok", "error", "denied", "none"] = "ok"


class DoneModel(Model):
    """What an agent did: its calls, by name alone or with their input, and its sub-agents."""

    calls: list[Tool | CallModel] = NOTHING
    subagents: list[DoneModel] = NOTHING
    gap: Text = ""


class CaseModel(ItemModel):
    """An item with its answer, so many times in a row; other keys are what axes expect of it."""

    answer: Any
    times: Annotated[int, Limits(at_least=1, at_most=_MOST_TIMES)] = 1
    transcript: DoneModel | None = None
    cells: Annotated[dict[Name, Share | None], Limits(shortest=1)]
    score: Share | None = None
    because: Text = ""


class GateCaseModel(Model):
    """What a gate must say of a value."""

    gate: Name
    seen: Measure
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
    check: Check,
) -> Cases:
    """Read one or more files of golden cases for a rubric; every mistake of all is told at once."""
    readers = [_Reader(source, rubric, expectations, check) for source in sources]
    problems = [problem for reader in readers for problem in reader.problems]
    items = tuple(case for reader in readers for case in reader.items)
    problems.extend(duplicate_ids(case.item for case in items))
    if problems:
        raise DocumentError(problems)
    return Cases(
        items=items,
        gates=tuple(case for reader in readers for case in reader.gates),
        pass_mark=tuple(case for reader in readers for case in reader.pass_mark),
    )


class _Reader:
    """Reads one file: its cases, and all that is wrong with it."""

    def __init__(
        self, source: str | Path, rubric: Rubric, expectations: Collection[str], check: Check
    ) -> None:
        path, self._file = locate(source, "cases")
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
        self._complaints = Complaints(self._tree, self._file)
        self._complaints.check(CasesModel, self._tree)
        self._read_items(expectations, check)
        self._read_gates()
        self._read_pass_mark()
        self.problems.extend(self._complaints.problems)

    def _read_items(self, expectations: Collection[str], check: Check) -> None:
        allowed = [*_OWN, *expectations]
        for index, entry, place in item_entries(self._tree, self._file):
            path = ("items", index)
            check_keys(entry, path, allowed, self._complaints)
            model = self._complaints.check(CaseModel, entry, path)
            for field, message in self._case_problems(entry):
                self._complaints.add((*path, *field), message)
            item = item_of(entry, place, _OWN)
            told_of = {problem.field for problem in self._complaints.problems}
            self.problems.extend(p for p in check(item) if p.field not in told_of)
            if isinstance(model, CaseModel) and isinstance(model.answer, str | dict):
                self.items.append(_case(item, model))

    def _read_gates(self) -> None:
        names = {gate.name: gate.baseline is not None for gate in self._rubric.gates}
        for index, entry in iterate(self._tree.get("gates")):
            path = ("gates", index)
            model = cast("GateCaseModel | None", self._complaints.check(GateCaseModel, entry, path))
            if model is None:
                continue
            if model.gate not in names:
                self._complaints.add((*path, "gate"), self._unknown("gate", model.gate, names))
            for field, message in _gate_problems(model, baseline=names.get(model.gate)):
                self._complaints.add((*path, field), message)
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
        for index, entry in iterate(self._tree.get("pass_mark")):
            model = self._complaints.check(PassCaseModel, entry, ("pass_mark", index))
            if isinstance(model, PassCaseModel):
                self.pass_mark.append(PassCase(seen=model.seen, passes=model.passes))

    def _case_problems(self, entry: Entry) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield what is wrong with the answer of a case, and with the axes that it names."""
        answer, cells = entry.get("answer"), entry.get("cells")
        if "times" in entry and not isinstance(answer, str):
            yield ("times",), "is only for an answer that is text"
        if "answer" in entry and not isinstance(answer, str | dict):
            told = "must be text or a mapping of keys to values"
            yield ("answer",), f"{told}, not {shown(answer)}"
        axes = [spec.name for spec in self._rubric]
        for axis in cells if isinstance(cells, dict) else ():
            if axis not in axes:
                yield ("cells", axis), self._unknown("axis", axis, axes)

    def _unknown(self, what: str, name: str, allowed: Collection[str]) -> str:
        told = f"{shown(name)} is no {what} of the rubric `{self._rubric.name}`"
        return f"{told}; allowed: {', '.join(allowed)}{guess(name, allowed)}"


def _case(item: Item, model: CaseModel) -> GoldenCase:
    answer = model.answer * model.times if isinstance(model.answer, str) else model.answer
    cells = {a: None if value is None else Fraction(value) for a, value in model.cells.items()}
    done = model.transcript
    return GoldenCase(
        item=item,
        answer=Frozen.of(answer),
        cells=Frozen(cells),
        transcript=None
        if done is None
        else _transcript(done, item.prompt, str(answer)).finish("case"),
        score=None if model.score is None else Fraction(model.score),
        because=model.because,
    )


def _transcript(done: DoneModel, prompt: str, said: str, agent: str = MAIN) -> Draft:
    """Return what was done as a log would have told it."""
    draft = Draft(agent)
    draft.prompt(prompt)
    for number, entry in enumerate(done.calls):
        call = CallModel({"tool": entry}) if isinstance(entry, str) else entry
        made = draft.call(call.tool, dict(call.input), id_=str(number))
        if call.status != "none":
            draft.result(str(number), CallStatus(call.status))
        child = f"{agent}.{len(draft.children) + 1}"
        if call.tool in _DISPATCHING and len(draft.children) < len(done.subagents):
            inner = _transcript(done.subagents[len(draft.children)], prompt, "Done.", child)
            draft.dispatch(None, made).agent = child
            draft.children.append(inner.finish("case"))
    draft.say(said)
    if done.gap:
        draft.gap(done.gap)
    return draft


def _gate_problems(model: GateCaseModel, *, baseline: bool | None) -> Iterator[tuple[str, str]]:
    if baseline and model.baseline is None:
        yield "baseline", "is missing; the gate compares with the score of a baseline"
    if baseline is False:
        for field in ("baseline", "suspicious"):
            if getattr(model, field) is not None:
                yield field, "is only for a gate on the metric `baseline`"
