"""From a breakdown to a quality of recall from 0 to 5: the rule `recall-1`.

The quality is made of cells, never of the score, so new weights cannot move it. It is at least 3 if
and only if the leading axis (correctness) has full marks. docs/learn.md explains the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Any

from msgspec import Struct

from markscheme.learn.scheduling import PASS_GRADE
from markscheme.learn.verb_forms import (
    find_item_form,
    holds_only,
    is_other_spanish_form,
    read_english,
)
from markscheme.mark import find_leading_axis, get_expectation_key, mark_answer, read_response
from markscheme.vocabulary import (
    AxisSpec,
    Breakdown,
    Cell,
    Item,
    Response,
    Rubric,
    join_messages,
    sentence,
)

RECALL_RULE = "recall-1"
SLOW_MS = 10_000
"""More time than this to the first key counts as hesitation."""
_BEST_GRADE = 5


class Support(IntEnum):
    """What the other axes that expect something of the item found: the value is what it costs."""

    FULL = 0
    SLIP = 1
    MISSED = 2


class RecallFacts(Struct, frozen=True, kw_only=True):
    """What the rule needs to know of an answer; stored with its review.

    - `lead`: the leading axis has full marks. `lead_near`: it is a near miss.
    - `support`: what the other axes found; `has_support`: there are such axes.
    - `other_form`: the text is another form of the verb.
    - `hint`: a hint was shown. `padded`: the form stands only inside a longer word, or among other
      words than a pronoun, which counts as a hint.
    - `slow`: the first key came late.
    """

    lead: bool
    lead_near: bool = False
    support: Support = Support.FULL
    has_support: bool = True
    other_form: bool = False
    hint: bool = False
    padded: bool = False
    slow: bool = False


class GradedAnswer(Struct, frozen=True, kw_only=True):
    """An answer with its breakdown, its quality and the reason of the quality."""

    breakdown: Breakdown
    facts: RecallFacts
    quality: int
    because: str


def compute_quality(facts: RecallFacts) -> int:
    """Return the quality of recall.

    >>> compute_quality(RecallFacts(lead=True)), compute_quality(RecallFacts(lead=True, hint=True))
    (5, 3)
    """
    if facts.lead:
        hinted = facts.hint or facts.padded
        return max(PASS_GRADE, _BEST_GRADE - facts.slow - facts.support - 2 * hinted)
    if facts.lead_near:
        return 2
    gloss_is_right = facts.has_support and facts.support is Support.FULL
    return 1 if gloss_is_right or facts.other_form else 0


def explain_quality(facts: RecallFacts) -> str:
    """Return the reason of the quality as one message."""
    return join_messages("; ", list(_list_reasons(facts)))


def _list_reasons(facts: RecallFacts) -> Iterator[str]:
    if not facts.lead:
        if facts.lead_near:
            yield sentence("nearly the form")
        elif facts.has_support and facts.support is Support.FULL:
            yield sentence("the form is wrong, the meaning is right")
        elif facts.other_form:
            yield sentence("another form of the verb")
        else:
            yield sentence("not recalled")
        return
    yield sentence("the form is right")
    if facts.slow:
        yield sentence("after some hesitation")
    if facts.support is Support.SLIP:
        yield sentence("with a slip in the meaning")
    elif facts.support is Support.MISSED:
        yield sentence("without the meaning")
    if facts.hint:
        yield sentence("after a hint")
    elif facts.padded:
        yield sentence("but not by itself, which counts like a hint")


def grade_answer(
    rubric: Rubric,
    item: Item,
    output: str | Mapping[str, Any],
    *,
    first_key_ms: int | None = None,
    hint: bool = False,
    hesitation: bool = True,
) -> GradedAnswer:
    """Mark one answer and grade its recall.

    An unknown time to the first key is not slow; with `hesitation` off, no time is.
    """
    breakdown = mark_answer(rubric, item, output)
    response = read_response(output, rubric.fields)
    slow = hesitation and first_key_ms is not None and first_key_ms > SLOW_MS
    facts = find_recall_facts(rubric, item, response, breakdown, hint=hint, slow=slow)
    return GradedAnswer(
        breakdown=breakdown,
        facts=facts,
        quality=compute_quality(facts),
        because=explain_quality(facts),
    )


def find_recall_facts(
    rubric: Rubric,
    item: Item,
    response: Response,
    breakdown: Breakdown,
    *,
    hint: bool = False,
    slow: bool = False,
) -> RecallFacts:
    """Return what the rule needs to know of a marked answer."""
    lead, supports = split_axes(rubric, item)
    lead_cell = breakdown.cells[lead.name]
    lead_text = get_typed_text(lead, response)
    form = find_item_form(item)
    return RecallFacts(
        lead=has_full_marks(lead_cell),
        lead_near=lead_cell.near_miss is not None,
        support=max(
            (_judge_support(spec, item, response, breakdown) for spec in supports),
            default=Support.FULL,
        ),
        has_support=bool(supports),
        other_form=form is not None
        and any(reading.verb == form[0] for reading in read_english(lead_text)),
        hint=hint,
        padded=any(
            has_full_marks(breakdown.cells[spec.name])
            and is_padded(spec, item, get_typed_text(spec, response))
            for spec in (lead, *supports)
        ),
        slow=slow,
    )


def split_axes(rubric: Rubric, item: Item) -> tuple[AxisSpec, tuple[AxisSpec, ...]]:
    """Return the leading axis, and the other axes that expect something of the item.

    A rubric without axes that expect something is led by its first axis.
    """
    leading = find_leading_axis(rubric)
    lead = next((spec for spec in rubric if spec.axis is leading), rubric.axes[0])
    supports = tuple(
        spec
        for spec in rubric
        if spec is not lead and get_expectation_key(spec.axis) in item.expectations
    )
    return lead, supports


def get_typed_text(spec: AxisSpec, response: Response) -> str:
    """Return the text of a response that an axis reads."""
    return response.text_of(getattr(spec.axis, "reads", None))


def has_full_marks(cell: Cell) -> bool:
    """Whether a cell is scored and has full marks."""
    return cell.value == 1


def list_expected(spec: AxisSpec, item: Item) -> tuple[tuple[str, ...], ...]:
    """Return the alternatives of each expected entry, for an axis that expects texts."""
    value = item.expectations.get(get_expectation_key(spec.axis) or "")
    entries: Sequence[Any] = value if isinstance(value, list | tuple) else [value]
    groups = [entry if isinstance(entry, list | tuple) else [entry] for entry in entries]
    return tuple(tuple(text for text in group if isinstance(text, str)) for group in groups)


def is_padded(spec: AxisSpec, item: Item, text: str) -> bool:
    """Whether a text that passed holds the form only inside a longer word, or among other words."""
    groups = list_expected(spec, item)
    return spec.axis.kind == "contains_all" and all(groups) and not holds_only(text, groups)


def _judge_support(spec: AxisSpec, item: Item, response: Response, breakdown: Breakdown) -> Support:
    cell = breakdown.cells[spec.name]
    if has_full_marks(cell):
        return Support.FULL
    if cell.near_miss is None:
        return Support.MISSED
    expected = [text for group in list_expected(spec, item) for text in group]
    is_form = find_item_form(item) is not None and is_other_spanish_form(
        get_typed_text(spec, response), expected
    )
    return Support.MISSED if is_form else Support.SLIP
