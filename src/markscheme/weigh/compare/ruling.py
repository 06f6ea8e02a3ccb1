"""The decision of a comparison by ratings: that of the main round, of its follow-up, and final."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markscheme.vocabulary import DecisionOutcome
from markscheme.weigh.compare.plain import copy_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUpRuling:
    """The state of the follow-up: which further queries there are, and what they decide.

    `asked` says whether the main round asked for them: `needed` queries in `modes`. `counted` are
    the rated ones in these modes, `other_modes` the rated ones elsewhere. `degraded` names the
    queries whose verdict is one of those that are followed up. An open one has no `outcome`.
    """

    asked: bool
    needed: int
    modes: tuple[str, ...]
    queries: tuple[str, ...]
    counted: tuple[str, ...]
    other_modes: tuple[str, ...]
    without_verdict: tuple[str, ...]
    degraded: tuple[str, ...]
    outcome: DecisionOutcome | None = None
    rule: str | None = None
    because: str = ""

    @property
    def missing(self) -> int:
        """How many further queries are still missing."""
        return max(0, self.needed - len(self.counted))


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementOutcome:
    """Whether a check or the agreement of raters is as the rubric requires; `None`: not known."""

    requirement: str
    met: bool | None
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """The decision over all queries: the table row that decided, why, and what to do next.

    `outcome` is `None` where nothing can be decided. `monitoring` lists what to watch, `warnings`
    what speaks against relying on the decision. `main` is the decision of the main round alone;
    `follow_up` is the state of the follow-up, where there is one.
    """

    outcome: DecisionOutcome | None
    rule: str | None
    because: str
    next: str
    rules: tuple[str, ...] = ()
    monitoring: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    main: Ruling | None = None
    follow_up: FollowUpRuling | None = None
    requirements: tuple[RequirementOutcome, ...] = ()


def name_decision(outcome: DecisionOutcome | None) -> str:
    """Return the word for a decision in JSON."""
    return "none" if outcome is None else outcome.value


def _build_ruling_record(ruling: Ruling) -> dict[str, Any]:
    return {
        "outcome": name_decision(ruling.outcome),
        **copy_fields(ruling, "rule", "because", "next", "rules"),
    }


def build_decision_record(decision: Ruling) -> dict[str, Any]:
    """Return the part `decision` of the JSON document."""
    follow_up = decision.follow_up
    return {
        **_build_ruling_record(decision),
        **copy_fields(decision, "monitoring", "warnings"),
        "main": _build_ruling_record(decision.main or decision),
        "follow_up": follow_up
        and {
            "outcome": name_decision(follow_up.outcome),
            **copy_fields(follow_up, "rule", "because", "asked", "needed", "missing", "modes"),
            **copy_fields(follow_up, "queries", "counted", "other_modes", "without_verdict"),
            **copy_fields(follow_up, "degraded"),
        },
        "requirements": [
            copy_fields(one, "requirement", "met", "because") for one in decision.requirements
        ],
    }
