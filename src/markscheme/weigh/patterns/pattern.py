"""A pattern as one plain value: what was seen, how likely by luck, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import Any

from markscheme.exact import number, ratio
from markscheme.frozen import Frozen
from markscheme.sentences import sentence
from markscheme.values import dataclass

LEVEL = Fraction(1, 100)
KINDS = (
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
_ODDS_SHOWN = 1_000_000


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
    tags: Mapping[str, str] = field(default_factory=Frozen)
    hits: int = 0
    of: int = 0
    p: Fraction | None = None
    evidence: tuple[str, ...] = ()
    lost: Fraction = Fraction(0)


def pattern_record(pattern: Pattern) -> dict[str, Any]:
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
        "p": number(pattern.p),
        "exact": {"p": ratio(pattern.p), "lost": ratio(pattern.lost)},
        "lost": number(pattern.lost),
        "evidence": list(pattern.evidence),
    }


def chance(p: Fraction, groups: int) -> str:
    """Say how likely something is by luck."""
    odds = int(1 / p) if p else _ODDS_SHOWN + 1
    if odds > _ODDS_SHOWN:
        return sentence(
            "by luck in less than 1 of {odds:,} runs ({groups:,} groups looked at)",
            odds=_ODDS_SHOWN,
            groups=groups,
        )
    return sentence(
        "by luck in 1 of {odds:,} runs ({groups:,} groups looked at)", odds=odds, groups=groups
    )


def tagged(tags: Mapping[str, str]) -> str:
    """Return tags as messages name them."""
    return ", ".join(f"{tag}: {value}" for tag, value in tags.items())
