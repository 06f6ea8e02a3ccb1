"""The exercise: one rule is removed from every axis that has it; what happens to the scores?

Material for the exercise: an exam and answers in which every rule of the rubric has work to do.

It is the given exam as careless people would write it, and the bundled tutor's answers to it as a
careless model would give them: capitals, spaces, full stops, half an answer. Under the whole rubric
only the half answers lose points.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

from markscheme.mark.axes import ContainsAll, OneOf
from markscheme.prove.audit import (
    AnyEntryAxis,
    CaseFailure,
    CellFlip,
    GoldenSuite,
    Mutant,
    MutantEffect,
    MutantKind,
    RecordedAnswers,
)
from markscheme.vocabulary import FrozenDict, Outcome, sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from markscheme.vocabulary import Axis, Exam, Item, Rubric

SUBSTRING = "substring"
EVERY_ENTRY = "every_entry"


class ChangeShape(StrEnum):
    """What the change looks like on a page with a row for each item and a column for each axis."""

    OUTLIER = "outlier"
    COLUMN = "column"
    TAG = "tag"
    SCATTERED = "scattered"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePattern:
    """How the cells of an axis that fell, or rose, lie: in which shape, and in how many items.

    `named` counts those whose reason names the missing step as a near miss.
    """

    shape: ChangeShape
    axis: str
    rises: bool
    items: int
    of: int
    tag: str = ""
    named: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """What the removal of one rule does: to items, the mean, gates; and who would notice."""

    step: str
    mutant: Mutant
    effect: MutantEffect
    before: Mapping[str, Fraction]
    after: Mapping[str, Fraction]
    gates: Mapping[str, Outcome]
    patterns: tuple[ChangePattern, ...]
    golden: tuple[CaseFailure, ...]

    @property
    def items(self) -> tuple[str, ...]:
        """The items with a cell that changed, in the order of the exam."""
        changed = {flip.item for flip in self.effect.flips}
        return tuple(item for item in self.before if item in changed)


def find_breakable_rules(rubric: Rubric) -> dict[str, Mutant]:
    """Return the rules that can be removed, each with the rubric that is left."""
    found = {}
    steps = dict.fromkeys(s for spec in rubric for s in getattr(spec.axis, "normalise", ()))
    for step in steps:
        says = sentence("the normalisation step `{step}` is left out", step=step)
        found[step] = _remove_rule(
            rubric, step, says, MutantKind.DROP_STEP, _build_step_dropper(step)
        )
    if any(isinstance(spec.axis, ContainsAll) for spec in rubric):
        says = sentence("the whole text must be an entry; a substring is not enough")
        found[SUBSTRING] = _remove_rule(
            rubric, SUBSTRING, says, MutantKind.MATCH, _require_whole_text
        )
        says = sentence("one entry is enough; not every one must appear")
        found[EVERY_ENTRY] = _remove_rule(
            rubric, EVERY_ENTRY, says, MutantKind.ANY_ENTRY, _accept_any_entry
        )
    return found


def _remove_rule(
    rubric: Rubric, step: str, says: str, kind: MutantKind, bend: Callable[[Any], Axis | None]
) -> Mutant:
    bent = {spec.name: axis for spec in rubric if (axis := bend(spec.axis)) is not None}
    axes = tuple(replace(spec, axis=bent.get(spec.name, spec.axis)) for spec in rubric)
    return Mutant(
        kind=kind, name=step, says=says, rubric=replace(rubric, axes=axes), axes=tuple(bent)
    )


def _build_step_dropper(step: str) -> Callable[[Any], Axis | None]:
    def bend(axis: Any) -> Axis | None:
        steps = getattr(axis, "normalise", ())
        if step not in steps:
            return None
        left: Axis = replace(axis, normalise=tuple(other for other in steps if other != step))
        return left

    return bend


def _require_whole_text(axis: Axis) -> Axis | None:
    if not isinstance(axis, ContainsAll):
        return None
    return OneOf(reads=axis.reads, expects=axis.expects, normalise=axis.normalise)


def _accept_any_entry(axis: Axis) -> Axis | None:
    return AnyEntryAxis(inner=axis) if isinstance(axis, ContainsAll) else None


def compute_cascade(recorded: RecordedAnswers, golden: GoldenSuite, step: str) -> Cascade:
    """Remove one rule, mark the recorded answers anew, and say what changed and how it looks."""
    mutant = find_breakable_rules(recorded.rubric)[step]
    effect = recorded.measure_effect(mutant)
    return Cascade(
        step=step,
        mutant=mutant,
        effect=effect,
        before=recorded.compute_item_means(),
        after=recorded.compute_item_means(mutant),
        gates=recorded.outcomes,
        patterns=tuple(_find_change_patterns(recorded, effect, step)),
        golden=golden.check_mutant(mutant),
    )


def _find_change_patterns(
    recorded: RecordedAnswers, effect: MutantEffect, step: str
) -> Iterator[ChangePattern]:
    """Yield how the cells of each axis that fell lie, then how those that rose lie."""
    for rises, changed in ((False, effect.falls), (True, effect.rises)):
        for spec in recorded.rubric:
            flips = [flip for flip in changed if flip.axis == spec.name]
            if flips:
                yield _classify_flips(recorded, flips, step, rises=rises)


def _classify_flips(
    recorded: RecordedAnswers, flips: Sequence[CellFlip], step: str, *, rises: bool
) -> ChangePattern:
    axis, changed = flips[0].axis, {flip.item for flip in flips}
    cells = recorded.get_cells(axis)
    values = {flip.before.value for flip in flips}
    could = {item for item, found in cells.items() if values & {cell.value for cell in found}}
    tag = _find_shared_tag(recorded, changed, could)
    if len(changed) == 1:
        shape = ChangeShape.OUTLIER
    elif changed == could:
        shape = ChangeShape.COLUMN
    else:
        shape = ChangeShape.TAG if tag else ChangeShape.SCATTERED
    return ChangePattern(
        shape=shape,
        axis=axis,
        rises=rises,
        items=len(changed),
        of=sum(bool(found) for found in cells.values()),
        tag=tag if shape is ChangeShape.TAG else "",
        named=sum(flip.after.near_miss == step for flip in flips),
    )


def _find_shared_tag(recorded: RecordedAnswers, changed: set[str], could: set[str]) -> str:
    """Return the tag that all changed items share and no other item that could change has."""
    items = [item for item in recorded.exam.items if item.id in could]
    for tag in dict.fromkeys(tag for item in items for tag in item.tags.items()):
        if {item.id for item in items if tag in item.tags.items()} == changed:
            return f"{tag[0]}: {tag[1]}"
    return ""


def explain_cascade(cascade: Cascade) -> Iterator[str]:
    """Yield how a reader of the breakdown would tell the fault of a rubric from a subject's."""
    for pattern in cascade.patterns:
        yield _format_change_pattern(pattern)
        if pattern.named:
            yield sentence(
                "{named} of {items} lost cells of `{axis}` name the near miss `{step}`: the "
                "breakdown itself says which step is missing",
                named=pattern.named,
                items=pattern.items,
                axis=pattern.axis,
                step=cascade.step,
            )
    if not cascade.patterns:
        yield sentence(
            "nothing changes in these answers; golden cases are there to notice it all the same"
        )


def _format_change_pattern(pattern: ChangePattern) -> str:
    what = {"axis": pattern.axis, "items": pattern.items, "of": pattern.of}
    if pattern.rises:
        return sentence(
            "`{axis}` rises in {items} of {of} items though no answer changed: a score that jumps "
            "is a fault of the rubric until the opposite is shown",
            **what,
        )
    match pattern.shape:
        case ChangeShape.OUTLIER:
            return sentence(
                "one outlier in `{axis}`: check the normalisation before you blame the subject",
                axis=pattern.axis,
            )
        case ChangeShape.COLUMN:
            return sentence(
                "the whole column `{axis}` falls at once ({items} of {of} items): nobody forgets "
                "everything in one day; look at the rule",
                **what,
            )
        case ChangeShape.TAG:
            return sentence(
                "`{axis}` falls in every item with {tag} ({items} of {of} items): it looks as if "
                "that had not been learnt, but the words under `got` are right",
                **what,
                tag=pattern.tag,
            )
        case ChangeShape.SCATTERED:
            return sentence(
                "`{axis}` falls in {items} of {of} items, here and there: compare `got` with what "
                "is expected",
                **what,
            )


_MAX_HALVES = 5  # so few that the whole rubric still meets its gate
_FIELD_BY_EXPECTATION = {"expected_contains": "correction", "gloss_contains": "spanish_gloss"}


def build_practice(
    exam: Exam, answer: Callable[[str], str], seed: int | None = None
) -> tuple[Exam, list[dict[str, str]]]:
    """Return the exam and the answers; tense by tense careless in a way, which a seed shuffles."""
    tenses = list(dict.fromkeys(item.tags.get("tense", "") for item in exam.items))
    ways = [_write_capitals, _add_spaces, _add_full_stops, _cut_to_half, _keep_plain]
    if seed is not None:
        Random(seed).shuffle(ways)  # noqa: S311 - an exercise, not a secret
    dress = dict(zip(tenses, ways, strict=False))
    left = _MAX_HALVES
    pairs = []
    for item in exam.items:
        way = dress.get(item.tags.get("tense", ""), _keep_plain)
        if way is _cut_to_half:
            left, way = left - 1, way if left > 0 else _keep_plain
        pairs.append(way(item, json.loads(answer(item.prompt))))
    rows = [{"item": i.id, "output": json.dumps(a, ensure_ascii=False)} for i, a in pairs]
    items = tuple(item for item, _ in pairs)
    return replace(exam, items=items, fingerprint="practice"), rows


def _keep_plain(item: Item, answer: dict[str, str]) -> tuple[Item, dict[str, str]]:
    return item, answer


def _write_capitals(item: Item, answer: dict[str, str]) -> tuple[Item, dict[str, str]]:
    return item, _change_fields(answer, str.upper)


def _add_spaces(item: Item, answer: dict[str, str]) -> tuple[Item, dict[str, str]]:
    """Leave a space around each expectation, and none around the answer."""
    return _change_expectations(item, lambda entries: [f" {entry} " for entry in entries]), answer


def _add_full_stops(item: Item, answer: dict[str, str]) -> tuple[Item, dict[str, str]]:
    """Put a full stop behind each expectation, and none behind the answer."""
    stopped = _change_expectations(item, lambda entries: [f"{entry}." for entry in entries])
    return stopped, _change_fields(answer, lambda text: text.removesuffix("."))


def _cut_to_half(item: Item, answer: dict[str, str]) -> tuple[Item, dict[str, str]]:
    """Expect each word by itself, and answer the last one only where there are several."""
    single = _change_expectations(
        item, lambda entries: [w for entry in entries for w in entry.split()]
    )
    return single, _change_fields(answer, lambda text: text.split()[-1])


def _change_fields(answer: dict[str, str], change: Callable[[str], str]) -> dict[str, str]:
    return {
        key: change(text) if key in _FIELD_BY_EXPECTATION.values() else text
        for key, text in answer.items()
    }


def _change_expectations(item: Item, change: Callable[[Sequence[str]], list[str]]) -> Item:
    changed = {
        key: tuple(change(value)) if key in _FIELD_BY_EXPECTATION else value
        for key, value in item.expectations.items()
    }
    return replace(item, expectations=FrozenDict(changed))
