"""What follows from compared runs, in plain words; and by which names these speak of them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from markscheme.vocabulary import sentence
from markscheme.weigh.compare.attempt_pairs import describe_attempts
from markscheme.weigh.compare.conclusions import describe_conclusions
from markscheme.weigh.gates import Evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.weigh.compare.runs import RunPair, RunsComparison


def add_plain_words(pair: RunPair) -> RunPair:
    """Add what the numbers of two runs can show, in plain words."""
    names = pair.baseline, pair.candidate
    words = (
        *describe_attempts(pair.attempts, *names),
        *describe_conclusions(pair.statistics, pair.candidate, pair.baseline),
        *pair.first.describe_order(*names),
    )
    return dataclasses.replace(pair, statistics=dataclasses.replace(pair.statistics, plain=words))


def decide_outcome(pairs: Sequence[RunPair], first: str) -> tuple[Evidence, str]:
    """Say whether a run is worse than the first by more than the margin."""
    beside = [pair for pair in pairs if pair.baseline == first]
    outcomes = {
        outcome: [
            pair.candidate for pair in beside if pair.statistics.non_inferiority.outcome is outcome
        ]
        for outcome in Evidence
    }
    for outcome in (Evidence.FAIL, Evidence.INCONCLUSIVE, Evidence.PASS):
        if outcomes[outcome]:
            named = ", ".join(outcomes[outcome])
            return outcome, _OUTCOME_SENTENCES[outcome](named, first)
    return Evidence.INCONCLUSIVE, ""


_OUTCOME_SENTENCES = {
    Evidence.FAIL: lambda named, first: sentence(
        "worse than {first} by more than the margin: {named}", first=first, named=named
    ),
    Evidence.INCONCLUSIVE: lambda named, first: sentence(
        "it cannot be told whether worse than {first} by more than the margin: {named}",
        first=first,
        named=named,
    ),
    Evidence.PASS: lambda named, first: sentence(
        "not worse than {first} by more than the margin: {named}", first=first, named=named
    ),
}


def rename_by_subject(found: RunsComparison) -> RunsComparison:
    """Return the comparison with runs called by their subjects, where these tell them apart.

    Runs that could not be compared keep their names: what is wrong is wrong with a run.
    """
    subjects = tuple(filter(None, found.subjects))
    if not found.pairs or len(set(subjects)) < len(found.runs):
        return found
    names = dict(zip(found.runs, subjects, strict=True))
    pairs = tuple(
        add_plain_words(
            dataclasses.replace(
                pair, baseline=names[pair.baseline], candidate=names[pair.candidate]
            )
        )
        for pair in found.pairs
    )
    outcome, because = decide_outcome(pairs, subjects[0])
    return dataclasses.replace(found, runs=subjects, pairs=pairs, outcome=outcome, because=because)
