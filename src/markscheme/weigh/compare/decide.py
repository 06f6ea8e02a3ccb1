"""From verdicts to the decision: the table for the main round, and then its follow-up.

The two rounds are kept apart: the table counts the queries of the main round only, and the rows of
its `follow_up` count further queries only. Whatever is missing keeps a decision from being made: a
query without a verdict, fewer queries than the table is meant for, too few further queries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from markscheme.vocabulary import (
    DecisionOutcome,
    DecisionTable,
    FollowUp,
    join_messages,
    sentence,
)
from markscheme.weigh.compare.ruling import FollowUpRuling, Ruling

_ITEMS_NAMED = 10

Verdicts = Mapping[str, str | None]
"""The verdict on each query, by item; `None` where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionMaker:
    """Applies one table to the queries of an exam; `modes` holds the mode of each by item.

    `follow_ups` are the items that belong to the follow-up, not to the main round.
    """

    table: DecisionTable
    modes: Mapping[str, str]
    follow_ups: frozenset[str] = frozenset()

    def decide(self, verdicts: Verdicts) -> Ruling:
        """Return the decision that follows from the verdicts on all queries, by item."""
        main_round = {i: verdict for i, verdict in verdicts.items() if i not in self.follow_ups}
        further = {i: verdict for i, verdict in verdicts.items() if i in self.follow_ups}
        main = self._decide_main_round(main_round)
        follow_up = self.table.follow_up
        # `missing: conditional` is no row, so no further queries can settle it.
        if main.outcome is DecisionOutcome.CONDITIONAL and main.rule and follow_up:
            return self._decide_follow_up(follow_up, main, main_round, further)
        if not further:
            return replace(main, main=main)
        warnings = tuple(self._describe_unasked(main, further))
        state = self._sort_follow_ups(follow_up, (), further)
        return replace(main, main=main, follow_up=state, warnings=warnings)

    def _decide_main_round(self, verdicts: Verdicts) -> Ruling:
        lacking = self.table.find_lacking(Counter(self.modes[item] for item in verdicts))
        if lacking:
            return self._explain_lacking(lacking)
        if not verdicts:
            return Ruling(
                outcome=self.table.missing,
                rule=None,
                because=sentence("the main round has no query"),
                next=sentence("Add queries that do not belong to the follow-up."),
            )
        missing = [item for item, verdict in verdicts.items() if verdict is None]
        if missing:
            return Ruling(
                outcome=self.table.missing,
                rule=None,
                because=sentence(
                    "no verdict on {items}; a decision needs one on every query",
                    items=", ".join(missing),
                ),
                next=sentence("Rate what is missing, then compare again."),
            )
        return self._apply_rows(self.table, verdicts)

    def _explain_lacking(self, lacking: Mapping[str, int]) -> Ruling:
        """A query that the table counts on and the exam lacks is a missing verdict."""
        needed = (f"{n} {mode}" for mode, n in self.table.queries.items() if n)
        return Ruling(
            outcome=self.table.missing,
            rule=None,
            because=sentence(
                "the table decides on at least {needed} queries; the exam lacks {lacking}, and a "
                "query that is not there has no verdict",
                needed=", ".join(needed),
                lacking=", ".join(f"{n} {mode}" for mode, n in lacking.items()),
            ),
            next=sentence(
                "Add the queries that are lacking, or a table that `markscheme lint` proves for "
                "fewer."
            ),
        )

    def _count(self, verdicts: Verdicts) -> Counter[tuple[str, str]]:
        return Counter((self.modes[item], str(verdict)) for item, verdict in verdicts.items())

    def _apply_rows(self, table: DecisionTable, verdicts: Verdicts) -> Ruling:
        """Return the decision of the rows that match the verdicts."""
        counts = self._count(verdicts)
        rows, outcome = table.matching(counts), table.decide(counts)
        verdict_counts = self.describe_verdict_counts(verdicts)
        if outcome is not None:
            return Ruling(
                outcome=outcome,
                rule=rows[0].name,
                rules=tuple(row.name for row in rows),
                because=verdict_counts,
                next=rows[0].next,
            )
        because = (
            sentence(
                "rows that hold disagree ({rows}): {told}",
                rows=", ".join(row.name for row in rows),
                told=verdict_counts,
            )
            if rows
            else sentence("no row of the table holds for {told}", told=verdict_counts)
        )
        fix = sentence("Mend the decision table: `markscheme lint` shows what it lacks.")
        return Ruling(outcome=None, rule=None, because=because, next=fix)

    def describe_verdict_counts(self, verdicts: Verdicts) -> str:
        """Say how many queries got which verdict, the worst first, and name the first of them."""
        parts = []
        for verdict in reversed(self.table.verdicts):
            items = [item for item, reached in verdicts.items() if reached == verdict]
            named = ", ".join(f"{item} ({self.modes[item]})" for item in items[:_ITEMS_NAMED])
            if len(items) > _ITEMS_NAMED:
                named = sentence("{items} and {n} more", items=named, n=len(items) - _ITEMS_NAMED)
            if items:
                parts.append(join_messages(" ", [f"{len(items)} {verdict}:", named]))
        return join_messages("; ", parts)

    def _sort_follow_ups(
        self, follow_up: FollowUp | None, modes: Sequence[str], further: Verdicts
    ) -> FollowUpRuling:
        """Sort further queries into those that count, those elsewhere, those without a verdict.

        Without `modes` nothing was asked for, and nothing counts.
        """
        rated = [item for item, verdict in further.items() if verdict is not None]
        bad = follow_up.in_modes_of if follow_up else self.table.verdicts[-1:]
        return FollowUpRuling(
            asked=bool(modes),
            needed=follow_up.at_least if follow_up and modes else 0,
            modes=tuple(modes),
            queries=tuple(further),
            counted=tuple(item for item in rated if self.modes[item] in modes),
            other_modes=tuple(item for item in rated if self.modes[item] not in modes),
            without_verdict=tuple(item for item in further if item not in rated),
            degraded=tuple(item for item in rated if further[item] in bad),
        )

    def _decide_follow_up(
        self, follow_up: FollowUp, main: Ruling, main_round: Verdicts, further: Verdicts
    ) -> Ruling:
        state = self._sort_follow_ups(
            follow_up, follow_up.select_modes(self._count(main_round)), further
        )
        # A missing verdict is no good verdict, so nothing is final before every query of the modes
        # that are followed up has one. Queries of other modes need not be run.
        waiting = [item for item in state.without_verdict if self.modes[item] in state.modes]
        table = self.table.follow_up_table
        if state.missing or waiting or not state.asked or table is None:
            because = main.because
            if further:
                because = sentence(
                    "{main}; follow-up: {state}", main=main.because, state=self._tell(state)
                )
            open_state = replace(state, because=self._tell(state))
            further_step = _describe_next_queries(main, state, waiting)
            return replace(
                main, main=main, follow_up=open_state, because=because, next=further_step
            )
        final = self._apply_rows(
            table, {item: verdict for item, verdict in further.items() if verdict is not None}
        )
        told = [final.because, *self._list_remarks(state)]
        decided = replace(
            state,
            outcome=final.outcome,
            rule=final.rule,
            because=join_messages("; ", told),
        )
        return replace(
            final,
            main=main,
            follow_up=decided,
            because=sentence(
                "the main round is conditional ({main}); follow-up: {further}",
                main=main.because,
                further=decided.because,
            ),
        )

    def _tell(self, state: FollowUpRuling) -> str:
        """Say what is there of the follow-up, and what not."""
        done = sentence(
            "{n} of {needed} queries in {modes}",
            n=len(state.counted),
            needed=state.needed,
            modes=", ".join(state.modes) or "–",
        )
        remarks = list(self._list_remarks(state))
        if state.degraded:
            remarks.append(sentence("degraded already: {items}", items=", ".join(state.degraded)))
        return join_messages("; ", [done, *remarks])

    def _list_remarks(self, state: FollowUpRuling) -> Sequence[str]:
        remarks = []
        if state.without_verdict:
            items = ", ".join(state.without_verdict)
            remarks.append(sentence("no verdict on {items}", items=items))
        if state.other_modes:
            remarks.append(
                sentence(
                    "{items} do not count toward the {needed}, being of other modes",
                    items=", ".join(f"{item} ({self.modes[item]})" for item in state.other_modes),
                    needed=state.needed,
                )
            )
        return remarks

    def _describe_unasked(self, main: Ruling, further: Verdicts) -> Sequence[str]:
        """Say that further queries decide nothing, and name those that would be bad news."""
        state = self._sort_follow_ups(self.table.follow_up, (), further)
        if not state.other_modes:
            return ()
        items = ", ".join(state.other_modes)
        if main.outcome is not DecisionOutcome.CONDITIONAL:
            why = sentence(
                "The follow-up queries {items} decide nothing: the main round is not conditional, "
                "so nobody asked for them.",
                items=items,
            )
        elif self.table.follow_up is None:
            why = sentence(
                "The follow-up queries {items} decide nothing: the table has no `follow_up`.",
                items=items,
            )
        else:
            why = sentence(
                "The follow-up queries {items} decide nothing: the main round lacks verdicts.",
                items=items,
            )
        warnings = [why]
        if state.degraded:
            warnings.append(
                sentence(
                    "Degraded among the follow-up queries that decide nothing: {items}.",
                    items=", ".join(state.degraded),
                )
            )
        return warnings


def _describe_next_queries(main: Ruling, state: FollowUpRuling, waiting: Sequence[str]) -> str:
    """Say which further queries to run or to rate."""
    modes = ", ".join(state.modes)
    if not state.asked:
        return main.next
    if not state.counted:
        return sentence(
            "{next} Run the {n} additional queries in: {modes}.",
            next=main.next,
            n=state.needed,
            modes=modes,
        )
    if state.missing:
        return sentence(
            "Run what is still missing: {n} of the {needed} additional queries, in: {modes}.",
            n=state.missing,
            needed=state.needed,
            modes=modes,
        )
    return sentence("Rate {items}, then compare again.", items=", ".join(waiting))
