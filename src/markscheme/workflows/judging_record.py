"""The record of judging: for each axis that judges marked, which judge did and how.

It is stored with a run, and calibrations are looked up by it. Ratings from a file do not say how a
judge was asked; its record then has a name only, and no calibration fits it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from markscheme.vocabulary import Judge, MarkSource, Panel, Rating


def build_judging_record(
    judge: Judge | Panel, served: Mapping[str, tuple[str, ...]]
) -> dict[str, Any]:
    """Return who judged and how, with the models that answered, as plain data."""
    judges = judge.judges
    calls, orders = {member.calls_label for member in judges}, {member.orders for member in judges}
    return {
        "judge": judge.name,
        "fingerprint": judge.fingerprint,
        "calls": calls.pop() if len(calls) == 1 else "mixed",
        "orders": orders.pop() if len(orders) == 1 else "mixed",
        "served": sorted({model for models in served.values() for model in models}),
        "panel": [member.name for member in judges] if isinstance(judge, Panel) else None,
    }


def describe_unknown_judges(ratings: Iterable[Rating]) -> dict[str, dict[str, Any]]:
    """Return the record of each axis on which a file holds ratings of judges."""
    raters: dict[str, dict[str, None]] = {}
    for rating in ratings:
        if rating.source is MarkSource.JUDGE:
            raters.setdefault(rating.axis, {})[rating.rater] = None
    unknown: dict[str, Any] = {
        "fingerprint": None,
        "calls": None,
        "orders": None,
        "served": [],
        "panel": None,
    }
    return {axis: {"judge": ", ".join(names), **unknown} for axis, names in raters.items()}


def merge_judging_records(
    ratings: Iterable[Rating], known: Mapping[str, Mapping[str, Any]], files: Collection[str]
) -> dict[str, Mapping[str, Any]]:
    """Return the record of each axis that judges marked; `known` says how one judge was asked.

    An axis that other judges marked too, or one of the `files` under any name, is as unknown
    as those ratings.
    """
    unknown = describe_unknown_judges(
        rating
        for rating in ratings
        if rating.file in files or rating.rater != known.get(rating.axis, {}).get("judge")
    )
    return {**known, **unknown}
