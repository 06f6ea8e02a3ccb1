"""A pattern as one plain value: what was seen, how likely by luck, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from markscheme.vocabulary import FrozenDict, format_ratio, sentence, to_float

SIGNIFICANCE_LEVEL = Fraction(1, 100)
PATTERN_KINDS = (
    "jump",
    "column",
    "row",
    "within",
    "cluster",
    "errors",
    "trend",
    "outlier",
    "latency",
)
_MAX_SHOWN_ODDS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Something that many breakdowns have in common.

    `hits` of the `of` things looked at show it, `items` are those that do. `p` is the exact chance
    of seeing as much by luck, adjusted for the number of groups looked at; none where a rule or a
    near miss proves it. `lost` is what it takes from the score, and decides the order.
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


def build_pattern_record(pattern: Pattern) -> dict[str, Any]:
    """Return the JSON of a pattern."""
    return {
        "kind": pattern.kind,
        "sentence": pattern.sentence,
        "action": pattern.action,
        "items": list(pattern.items),
        "axis": pattern.axis,
        "tags": dict(pattern.tags),
        "hits": pattern.hits,
        "of": pattern.of,
        "p": to_float(pattern.p),
        "exact": {"p": format_ratio(pattern.p), "lost": format_ratio(pattern.lost)},
        "lost": to_float(pattern.lost),
        "evidence": list(pattern.evidence),
    }


def describe_chance(p: Fraction, groups: int) -> str:
    """Say how likely something is by luck."""
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
    """Return tags as messages name them."""
    return ", ".join(f"{tag}: {value}" for tag, value in tags.items())
