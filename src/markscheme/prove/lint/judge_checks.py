"""Checks J003 to J010: the document of a judge or a panel, by itself and beside rubric and exam."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from markscheme.ask.judging import find_maker
from markscheme.ask.subjects import SUBJECT_KINDS
from markscheme.mark.axes import CriteriaAxis, quote_excerpt
from markscheme.prove.lint.findings import (
    FindingLocation,
    LintFinding,
    locate_field,
    make_finding,
)
from markscheme.read.documents import FieldPath, YamlMapping, list_builtin_names
from markscheme.vocabulary import (
    Axis,
    Item,
    Judge,
    JudgeSight,
    Panel,
    Rubric,
    iterate_criteria,
    strip_alias,
)

# The least that a mark takes: an id, an empty `why` and a verdict, as JSON.
_TOKENS_PER_MARK = 15
_OTHER_FORM = re.compile(
    r"\b(?:reply|respond|answer|return|output|print|end|finish|conclude)\b[^.\n]{0,40}?"
    r"(?:\bjson\b|\byaml\b|\bxml\b|[\"'“]?\byes[\"'”]? or [\"'“]?no\b|\bone word\b"
    r"|\bsingle (?:word|number)\b|\bonly (?:a|the) (?:number|score|letter|word)\b)",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"\b(?:reference (?:answer|solution|text)|gold (?:answer|standard)|(?:the|a) reference\b"
    r"|expected answer|model answer)",
    re.IGNORECASE,
)
_NO_OPTIONS = re.compile(r"-?\d+(?:\.\d+)?|true|false|null", re.IGNORECASE)
Verdict = Decimal | str | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeDocument:
    """A judge or a panel with its file and the tree that it was read from."""

    judge: Judge | Panel
    tree: YamlMapping
    file: str

    def iterate_judges(self) -> Iterator[tuple[Judge, FieldPath]]:
        """Yield the judges whose keys stand in this document, and where."""
        if isinstance(self.judge, Judge):
            yield self.judge, ()
            return
        for index, judge in enumerate(self.judge.judges):
            if isinstance(self.tree["judges"][index], dict):
                yield judge, ("judges", index)

    def locate(self, *path: str | int) -> FindingLocation:
        """Return the location of a field."""
        return locate_field(self.tree, self.file, *path)


def check_judge(
    document: JudgeDocument,
    judged: Sequence[str],
    rubric: Rubric | None,
    axes: Sequence[Axis],
    items: Sequence[Item],
) -> Iterator[LintFinding]:
    """Yield the findings in a judge or a panel.

    `judged` are the subjects whose answers will be judged. Rubric, axes and items are what the
    judge will be asked, as far as they are known.
    """
    criteria = [axis for axis in axes if isinstance(axis, CriteriaAxis)]
    for judge, path in document.iterate_judges():
        yield from _check_subject(document, judge, path)
        yield from _check_repeats(document, judge, path)
        yield from _check_instructions(document, judge, path)
        if items:
            rated = len(rubric.scales) + len(rubric.choices) if rubric else 0
            counts = {item.id: rated + _count_criteria(criteria, item) for item in items}
            yield from _check_length(document, judge, path, counts)
            yield from _check_reference(document, judge, path, criteria, items)
        yield from _check_examples(document, judge, path, rubric)
    yield from _check_makers(document, judged)


def _check_subject(document: JudgeDocument, judge: Judge, path: FieldPath) -> Iterator[LintFinding]:
    """Report a subject of an unknown kind, and a recording that is not there."""
    location = document.locate(*path, "subject")
    kind, _, rest = strip_alias(judge.subject).partition(":")
    shown = quote_excerpt(judge.subject)
    if kind not in SUBJECT_KINDS:
        known = ", ".join(SUBJECT_KINDS)
        yield make_finding("J003", location, f"{shown} is of no known kind; known: {known}")
    elif judge.is_recorded and judge.recording is None and not Path(rest).is_file():
        if rest not in list_builtin_names("answers", ".jsonl"):
            where = "neither beside this document nor in this folder"
            yield make_finding("J003", location, f"the recording of {shown} is {where}")
    elif kind != "tutor" and not rest:
        yield make_finding("J003", location, f"{shown} does not say what is asked")


def _check_repeats(document: JudgeDocument, judge: Judge, path: FieldPath) -> Iterator[LintFinding]:
    if judge.repeats > 1 and judge.temperature == 0 and not judge.is_recorded:
        message = f"the same is asked {judge.repeats} times at temperature 0"
        yield make_finding("J006", document.locate(*path, "repeats"), message)


def _check_instructions(
    document: JudgeDocument, judge: Judge, path: FieldPath
) -> Iterator[LintFinding]:
    """Report instructions that ask for another reply, or speak of what the judge does not see."""
    location = document.locate(*path, "instructions")
    other = _OTHER_FORM.search(judge.instructions)
    if other is not None:
        words = quote_excerpt(" ".join(other[0].split()))
        message = f"{words} is not the reply that is read: marks with `why` and `verdict`"
        yield make_finding("J008", location, message)
    reference = _REFERENCE.search(judge.instructions)
    if reference is not None and JudgeSight.REFERENCE not in judge.sees:
        message = f"{quote_excerpt(reference[0])} is not among what it sees"
        yield make_finding("J009", location, message)


def _count_criteria(axes: Sequence[CriteriaAxis], item: Item) -> int:
    """Return how many criteria of an item a judge is asked about."""
    readable = [axis for axis in axes if not any(axis.item_problems(item))]
    criteria = (one for axis in readable for one in iterate_criteria(axis.get_criteria(item)))
    return sum(criterion.check is None for criterion in criteria)


def _check_length(
    document: JudgeDocument, judge: Judge, path: FieldPath, counts: Mapping[str, int]
) -> Iterator[LintFinding]:
    """Report a limit that cuts off the longest reply; `counts` are the questions by item."""
    if judge.max_tokens is None or judge.is_recorded:
        return
    name = max(counts, key=lambda item: counts[item])
    calls = counts[name] if judge.calls is None else min(judge.calls, counts[name])
    asked = -(-counts[name] // calls) if calls else 0
    if judge.max_tokens < asked * _TOKENS_PER_MARK:
        questions = f"{asked} question{'' if asked == 1 else 's'} in one call"
        message = f"{judge.max_tokens} tokens cannot hold the marks of {questions} (item `{name}`)"
        yield make_finding("J007", document.locate(*path, "max_tokens"), message)


def _check_reference(
    document: JudgeDocument,
    judge: Judge,
    path: FieldPath,
    axes: Sequence[CriteriaAxis],
    items: Sequence[Item],
) -> Iterator[LintFinding]:
    """Report a judge that sees references where no item has one."""
    criteria = {axis.expects for axis in axes}
    if JudgeSight.REFERENCE in judge.sees and not any(
        item.expectations.keys() - criteria for item in items
    ):
        message = "no item has a reference: nothing is expected but criteria"
        yield make_finding("J009", document.locate(*path, "sees"), message)


def _check_examples(
    document: JudgeDocument, judge: Judge, path: FieldPath, rubric: Rubric | None
) -> Iterator[LintFinding]:
    """Report examples that teach a verdict which is refused."""
    for at, example in enumerate(judge.examples):
        if _is_refused(example.verdict, rubric):
            message = f"the verdict {quote_excerpt(str(example.verdict))} is one that is refused"
            yield make_finding("J010", document.locate(*path, "examples", at, "verdict"), message)


def _is_refused(verdict: Verdict, rubric: Rubric | None) -> bool:
    """Whether no question could have this verdict; without a rubric, as far as that is certain."""
    if verdict is None:
        return False
    if rubric is None:
        return isinstance(verdict, str) and _NO_OPTIONS.fullmatch(verdict) is not None
    if isinstance(verdict, bool):
        return not any(isinstance(spec.axis, CriteriaAxis) for spec in rubric)
    if isinstance(verdict, str):
        may_not_apply = any(axis.may_not_apply for axis in rubric.scales)
        may_not_apply = may_not_apply or any(axis.may_not_apply for axis in rubric.choices)
        is_option = any(verdict in axis.options for axis in rubric.choices)
        return not is_option and not (verdict == "n/a" and may_not_apply)
    number = Fraction(verdict)
    return not any(
        axis.lowest <= number <= axis.highest and (number - axis.lowest) % axis.step == 0
        for axis in rubric.scales
    )


def _check_makers(document: JudgeDocument, judged: Sequence[str]) -> Iterator[LintFinding]:
    """Report judges of the maker of a judged subject, and a panel of one maker."""
    makers = {judge.name: find_maker(strip_alias(judge.subject)) for judge in document.judge.judges}
    field = "judges" if isinstance(document.judge, Panel) else "subject"
    for name, maker in makers.items():
        related = [subject for subject in judged if maker and find_maker(subject) == maker]
        if related:
            message = f"`{name}` and {', '.join(related)} are models of one maker, {maker}"
            yield make_finding("J004", document.locate(field), message)
    counts = Counter(makers.values())
    if isinstance(document.judge, Panel) and len(counts) == 1 and None not in counts:
        message = f"all {len(makers)} judges are models of one maker, {next(iter(counts))}"
        yield make_finding("J005", document.locate(field), message)
