"""What patterns say and advise, in the words of somebody who reads breakdowns every day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.vocabulary import sentence
from markscheme.weigh.patterns.pattern import format_tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from markscheme.vocabulary import Rubric
    from markscheme.weigh.patterns.groups import ConcentratedGroup

_FORMAT_KINDS = frozenset({"json_schema"})
_SIZE_KINDS = frozenset({"max_words", "length"})
_MAX_LISTED_ITEMS = 5


def get_axis_kind(rubric: Rubric, axis: str | None) -> str | None:
    """Return the kind of an axis."""
    found = (spec.axis for spec in rubric if spec.name == axis)
    return next((getattr(one, "kind", None) for one in found), None)


def format_column_action(rubric: Rubric, axis: str | None) -> str:
    """Say what to do about a column that is missing."""
    kind = get_axis_kind(rubric, axis)
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
    kind, where = get_axis_kind(rubric, axis), format_tags(tags)
    if kind in _FORMAT_KINDS:
        return sentence("the formatter breaks on {tags}: check what it is given", tags=where)
    if kind in _SIZE_KINDS:
        return sentence("the model is verbose on {tags}: check the prompt for it", tags=where)
    return sentence(
        "the subject stops giving {axis} on {tags}: debug why", axis=f"`{axis}`", tags=where
    )


def format_trend_action(rubric: Rubric, axis: str) -> str:
    """Say what to do about an axis that falls from run to run."""
    if get_axis_kind(rubric, axis) in _SIZE_KINDS:
        return sentence("the model grew verbose: did the prompt template change?")
    return sentence("see what changed between these runs: prompt, model or data")


def format_row_sentence(found: ConcentratedGroup) -> str:
    """Say that a group is wrong, on every axis or on the one that says so."""
    what = {
        "tags": format_tags(found.group.tags),
        "axis": sentence("every axis") if found.column is None else f"`{found.column}`",
        "hits": len(found.hits),
        "of": found.of,
        "rest": found.rest,
    }
    if not found.others:
        return sentence(
            "a row of zeros for {tags}: {hits:,} of {of:,} items miss {axis}, none of the other "
            "{rest:,}",
            **what,
        )
    return sentence(
        "a row of zeros for {tags}: {hits:,} of {of:,} items miss {axis}, and {others:,} of the "
        "other {rest:,}",
        **what,
        others=found.others,
    )


def format_within_sentence(found: ConcentratedGroup) -> str:
    """Say that an axis misses within a group."""
    what = {
        "axis": f"`{found.column}`",
        "tags": format_tags(found.group.tags),
        "hits": len(found.hits),
        "of": found.of,
    }
    if not found.others:
        return sentence(
            "{axis} misses only within {tags}: {hits:,} of {of:,} items, none of the other "
            "{rest:,}",
            **what,
            rest=found.rest,
        )
    return sentence(
        "{axis} misses mostly within {tags}: {hits:,} of {of:,} items, and {others:,} of the other "
        "{rest:,}",
        **what,
        others=found.others,
        rest=found.rest,
    )


def format_item_names(items: Iterable[str]) -> str:
    """Name some items, and how many more there are."""
    every = list(items)
    first = ", ".join(every[:_MAX_LISTED_ITEMS])
    if len(every) <= _MAX_LISTED_ITEMS:
        return first
    return sentence("{items} and {n:,} more", items=first, n=len(every) - _MAX_LISTED_ITEMS)
