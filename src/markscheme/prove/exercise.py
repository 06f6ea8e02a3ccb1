"""The exercise of `markscheme break`: remove one rule from a rubric and show what happens.

The first part removes a rule from every axis that has it and computes the cascade: which cells
change, in which pattern, and how a reader recognises the fault. The second part builds practice
material in which every rule matters: the exam as a careless author would write it, and the tutor's
answers as a careless model would give them (capitals, spaces, full stops, half an answer). Under
the whole rubric only the half answers lose points.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from random import Random
from typing import Any

from msgspec import structs

from markscheme.mark.axes import ContainsAll, OneOf, list_alternatives
from markscheme.prove.audit import (
    AnyEntryAxis,
    CaseFailure,
    CellFlip,
    EveryEntryAxis,
    GoldenSuite,
    Mutant,
    MutantEffect,
    MutantKind,
    RecordedAnswers,
)
from markscheme.vocabulary import Axis, Exam, FrozenDict, Item, Outcome, Rubric, sentence

SUBSTRING = "substring"
EVERY_ENTRY = "every_entry"


class ChangeShape(StrEnum):
    """How changed cells look on a page with a row per item and a column per axis."""

    OUTLIER = "outlier"
    COLUMN = "column"
    TAG = "tag"
    SCATTERED = "scattered"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePattern:
    """The shape of the cells of one axis that fell (or rose), and how many items they are in.

    `named` counts the cells whose near miss is the removed step.
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
    """What the removal of one rule does to items, the mean and gates, and which cases notice."""

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
    """Return the rules that can be removed, each with the rubric without it."""
    mutants = {}
    steps = dict.fromkeys(s for spec in rubric for s in getattr(spec.axis, "normalise", ()))
    for step in steps:
        says = sentence("the normalisation step `{step}` is left out", step=step)
        mutants[step] = _remove_rule(
            rubric, step, says, MutantKind.DROP_STEP, _build_step_dropper(step)
        )
    if any(isinstance(spec.axis, ContainsAll) for spec in rubric):
        says = sentence("the whole text must be an entry; a substring is not enough")
        mutants[SUBSTRING] = _remove_rule(
            rubric, SUBSTRING, says, MutantKind.MATCH, _require_whole_text
        )
        says = sentence("one entry is enough; not every one must appear")
        mutants[EVERY_ENTRY] = _remove_rule(
            rubric, EVERY_ENTRY, says, MutantKind.ANY_ENTRY, _accept_any_entry
        )
    return mutants


def _remove_rule(
    rubric: Rubric, step: str, says: str, kind: MutantKind, change: Callable[[Any], Axis | None]
) -> Mutant:
    """Return the rubric after `change` of its axes; `change` returns None to leave an axis."""
    changed = {spec.name: axis for spec in rubric if (axis := change(spec.axis)) is not None}
    axes = tuple(structs.replace(spec, axis=changed.get(spec.name, spec.axis)) for spec in rubric)
    return Mutant(
        kind=kind, name=step, says=says, rubric=replace(rubric, axes=axes), axes=tuple(changed)
    )


def _build_step_dropper(step: str) -> Callable[[Any], Axis | None]:
    def drop_step(axis: Any) -> Axis | None:
        steps = getattr(axis, "normalise", ())
        if step not in steps:
            return None
        changed: Axis = replace(axis, normalise=tuple(other for other in steps if other != step))
        return changed

    return drop_step


def _require_whole_text(axis: Axis) -> Axis | None:
    if not isinstance(axis, ContainsAll):
        return None
    whole = OneOf(reads=axis.reads, expects=axis.expects, normalise=axis.normalise)
    # Every entry is still asked for: only the rule about substrings goes.
    return EveryEntryAxis(inner=whole)


def _accept_any_entry(axis: Axis) -> Axis | None:
    return AnyEntryAxis(inner=axis) if isinstance(axis, ContainsAll) else None


def compute_cascade(recorded: RecordedAnswers, golden: GoldenSuite, step: str) -> Cascade:
    """Remove one rule, score the recorded answers again, and describe what changed."""
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
    """Yield the pattern of the fallen cells of each axis, then of the risen ones."""
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
    changeable = {
        item for item, item_cells in cells.items() if values & {cell.value for cell in item_cells}
    }
    tag = _find_shared_tag(recorded, changed, changeable)
    if len(changed) == 1:
        shape = ChangeShape.OUTLIER
    elif changed == changeable:
        shape = ChangeShape.COLUMN
    else:
        shape = ChangeShape.TAG if tag else ChangeShape.SCATTERED
    return ChangePattern(
        shape=shape,
        axis=axis,
        rises=rises,
        items=len(changed),
        of=sum(bool(item_cells) for item_cells in cells.values()),
        tag=tag if shape is ChangeShape.TAG else "",
        named=sum(flip.after.near_miss == step for flip in flips),
    )


def _find_shared_tag(recorded: RecordedAnswers, changed: set[str], changeable: set[str]) -> str:
    """Return the tag that all changed items have and no other changeable item has, or ""."""
    items = [item for item in recorded.exam.items if item.id in changeable]
    for tag in dict.fromkeys(tag for item in items for tag in item.tags.items()):
        if {item.id for item in items if tag in item.tags.items()} == changed:
            return f"{tag[0]}: {tag[1]}"
    return ""


def explain_cascade(cascade: Cascade) -> Iterator[str]:
    """Yield sentences on how to tell this fault of the rubric from a fault of the subject."""
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
    values = {"axis": pattern.axis, "items": pattern.items, "of": pattern.of}
    if pattern.rises:
        return sentence(
            "`{axis}` rises in {items} of {of} items though no answer changed: a score that jumps "
            "is a fault of the rubric until the opposite is shown",
            **values,
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
                **values,
            )
        case ChangeShape.TAG:
            return sentence(
                "`{axis}` falls in every item with {tag} ({items} of {of} items): it looks as if "
                "that had not been learnt, but the words under `got` are right",
                **values,
                tag=pattern.tag,
            )
        case ChangeShape.SCATTERED:
            return sentence(
                "`{axis}` falls in {items} of {of} items, here and there: compare `got` with what "
                "is expected",
                **values,
            )


# So few half answers that a run under the whole rubric still meets its gate.
_MAX_HALVES = 5
_FIELD_BY_EXPECTATION = {"expected_contains": "correction", "gloss_contains": "spanish_gloss"}


def build_practice(
    exam: Exam, answer: Callable[[str], str], seed: int | None = None
) -> tuple[Exam, list[dict[str, str]]]:
    """Return practice material: an exam and answers, careless in one way per tense.

    A seed shuffles which tense gets which way.
    """
    tenses = list(dict.fromkeys(item.tags.get("tense", "") for item in exam.items))
    changes = [_write_capitals, _add_spaces, _add_full_stops, _cut_to_half, _keep_plain]
    if seed is not None:
        Random(seed).shuffle(changes)  # noqa: S311 - an exercise, not a secret
    change_by_tense = dict(zip(tenses, changes, strict=False))
    halves_left = _MAX_HALVES
    pairs = []
    for item in exam.items:
        change = change_by_tense.get(item.tags.get("tense", ""), _keep_plain)
        if change is _cut_to_half:
            change = change if halves_left > 0 else _keep_plain
            halves_left -= 1
        pairs.append(change(item, json.loads(answer(item.prompt))))
    rows = [{"item": i.id, "output": json.dumps(a, ensure_ascii=False)} for i, a in pairs]
    items = tuple(item for item, _ in pairs)
    return structs.replace(exam, items=items, fingerprint="practice"), rows


def _keep_plain(item: Item, answer: dict[str, str]) -> tuple[Item, dict[str, str]]:
    return item, answer


def _write_capitals(item: Item, answer: dict[str, str]) -> tuple[Item, dict[str, str]]:
    return item, _change_fields(answer, str.upper)


def _add_spaces(item: Item, answer: dict[str, str]) -> tuple[Item, dict[str, str]]:
    """Put spaces around each expectation, not around the answer."""
    return _change_expectations(item, lambda entries: [f" {entry} " for entry in entries]), answer


def _add_full_stops(item: Item, answer: dict[str, str]) -> tuple[Item, dict[str, str]]:
    """Put a full stop behind each expectation, not behind the answer."""
    stopped = _change_expectations(item, lambda entries: [f"{entry}." for entry in entries])
    return stopped, _change_fields(answer, lambda text: text.removesuffix("."))


def _cut_to_half(item: Item, answer: dict[str, str]) -> tuple[Item, dict[str, str]]:
    """Expect each word separately, and answer with the last word only."""
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
        key: tuple(change([list_alternatives(entry)[0] for entry in value]))
        if key in _FIELD_BY_EXPECTATION
        else value
        for key, value in item.expectations.items()
    }
    return replace(item, expectations=FrozenDict(changed))
