"""A pattern as one plain value, and the sentences that describe it and say what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from markscheme.vocabulary import FrozenDict, RecordFields, Rubric, exact_ratios, sentence
from markscheme.weigh.patterns.groups import ConcentratedGroup

PATTERN_KINDS = (
    "jump",
    "column",
    "row",
    "within",
    "criterion",
    "cluster",
    "errors",
    "trend",
    "outlier",
    "latency",
)
_MAX_SHOWN_ODDS = 1_000_000
_MAX_LISTED_ITEMS = 5
_FORMAT_KINDS = frozenset({"json_schema"})
_SIZE_KINDS = frozenset({"max_words", "length"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Something that many breakdowns have in common.

    `hits` of the `of` things that were looked at show it; `items` are those that do. `p` is the
    exact chance of seeing as much by luck, adjusted for the number of groups that were looked at;
    it is None if a rule or a near miss proves the pattern. `lost` is what the pattern takes from
    the score; the largest loss is listed first.
    """

    kind: str
    sentence: str
    action: str
    items: tuple[str, ...] = ()
    axis: str | None = None
    tags: Mapping[str, str] = field(default_factory=FrozenDict)
    hits: int = 0
    of: int = 0
    p: Fraction | None = None
    evidence: tuple[str, ...] = ()
    lost: Fraction = Fraction(0)

    record_fields: ClassVar[RecordFields] = (
        "kind",
        "sentence",
        "action",
        "items",
        "axis",
        "tags",
        "hits",
        "of",
        "p",
        exact_ratios("p", "lost"),
        "lost",
        "evidence",
    )


def describe_chance(p: Fraction, groups: int) -> str:
    """Say how likely a pattern is by luck, and how many groups were looked at."""
    odds = int(1 / p) if p else _MAX_SHOWN_ODDS + 1
    if odds > _MAX_SHOWN_ODDS:
        return sentence(
            "by luck in less than 1 of {odds:,} runs ({groups:,} groups looked at)",
            odds=_MAX_SHOWN_ODDS,
            groups=groups,
        )
    return sentence(
        "by luck in 1 of {odds:,} runs ({groups:,} groups looked at)", odds=odds, groups=groups
    )


def format_tags(tags: Mapping[str, str]) -> str:
    """Return tags as messages show them."""
    return ", ".join(f"{tag}: {value}" for tag, value in tags.items())


def format_item_names(items: Iterable[str]) -> str:
    """Return the first few item ids, and how many more there are."""
    names = list(items)
    first = ", ".join(names[:_MAX_LISTED_ITEMS])
    if len(names) <= _MAX_LISTED_ITEMS:
        return first
    return sentence("{items} and {n:,} more", items=first, n=len(names) - _MAX_LISTED_ITEMS)


def format_row_sentence(concentrated: ConcentratedGroup) -> str:
    """Say that a group is wrong, on every axis or on the leading one."""
    column = concentrated.column
    values = {
        "tags": format_tags(concentrated.group.tags),
        "axis": sentence("every axis") if column is None else f"`{column}`",
        "hits": len(concentrated.hits),
        "of": concentrated.of,
        "rest": concentrated.rest,
    }
    if not concentrated.others:
        return sentence(
            "a row of zeros for {tags}: {hits:,} of {of:,} items miss {axis}, none of the other "
            "{rest:,}",
            **values,
        )
    return sentence(
        "a row of zeros for {tags}: {hits:,} of {of:,} items miss {axis}, and {others:,} of the "
        "other {rest:,}",
        **values,
        others=concentrated.others,
    )


def format_within_sentence(concentrated: ConcentratedGroup) -> str:
    """Say that an axis misses within a group."""
    values = {
        "axis": f"`{concentrated.column}`",
        "tags": format_tags(concentrated.group.tags),
        "hits": len(concentrated.hits),
        "of": concentrated.of,
        "rest": concentrated.rest,
    }
    if not concentrated.others:
        return sentence(
            "{axis} misses only within {tags}: {hits:,} of {of:,} items, none of the other "
            "{rest:,}",
            **values,
        )
    return sentence(
        "{axis} misses mostly within {tags}: {hits:,} of {of:,} items, and {others:,} of the other "
        "{rest:,}",
        **values,
        others=concentrated.others,
    )


def format_column_action(rubric: Rubric, axis: str | None) -> str:
    """Say what to do about an axis that nearly every item misses; `None` is every axis."""
    kind = _get_axis_kind(rubric, axis)
    if axis is None:
        return sentence("see whether the subject answers at all: its endpoint, prompt and output")
    if kind in _FORMAT_KINDS:
        return sentence("the formatter is broken: check what writes the response")
    if kind in _SIZE_KINDS:
        return sentence("the model is verbose: the prompt template may have changed")
    return sentence(
        "the subject never gives {axis}: check its prompt, and what the items expect",
        axis=f"`{axis}`",
    )


def format_within_action(rubric: Rubric, axis: str | None, tags: Mapping[str, str]) -> str:
    """Say what to do about an axis that misses within a group."""
    kind, group = _get_axis_kind(rubric, axis), format_tags(tags)
    if kind in _FORMAT_KINDS:
        return sentence("the formatter breaks on {tags}: check what it is given", tags=group)
    if kind in _SIZE_KINDS:
        return sentence("the model is verbose on {tags}: check the prompt for it", tags=group)
    return sentence(
        "the subject stops giving {axis} on {tags}: debug why", axis=f"`{axis}`", tags=group
    )


def format_trend_action(rubric: Rubric, axis: str) -> str:
    """Say what to do about an axis that falls from run to run."""
    if _get_axis_kind(rubric, axis) in _SIZE_KINDS:
        return sentence("the model grew verbose: did the prompt template change?")
    return sentence("see what changed between these runs: prompt, model or data")


def _get_axis_kind(rubric: Rubric, axis: str | None) -> str | None:
    named = (spec.axis for spec in rubric if spec.name == axis)
    return next((getattr(parameters, "kind", None) for parameters in named), None)
