"""Axes that judge what an agent did: the order and number of its calls, and forbidden calls.

Every attempt counts, whether it succeeded or not. A forbidden attempt in the log decides at once.
No axis passes on an incomplete log: more may have been done than it shows, so the cell fails with
the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from markscheme.mark.axes.base import BaseAxis
from markscheme.mark.axes.tag_limits import check_limit_tag, check_limits, get_limit
from markscheme.vocabulary import Call, Cell, FrozenDict, Item, Response, Transcript, sentence

# Few rubrics judge calls; the others start faster without the tables of tools, so the methods
# that need them import them.
if TYPE_CHECKING:
    from markscheme.read.tools import ToolAttempt

_MAX_SHOWN_ATTEMPTS = 5
_MAX_SHOWN_PROGRAMS = 8


class Agents(StrEnum):
    """Whose calls are looked at."""

    MAIN = "main"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceAxis(BaseAxis):
    """An axis that judges the transcript of what was done, and never the text."""

    traces: ClassVar[bool] = True

    def mark(self, response: Response, item: Item) -> Cell:
        """Judge the transcript; abstain if there is none."""
        if response.transcript is None:
            return Cell.abstained(sentence("there is no transcript of what was done"))
        return self.judge_transcript(response.transcript, item)

    def judge_transcript(self, transcript: Transcript, item: Item) -> Cell:
        """Judge what was done for one item."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class _FamilyAxis(TraceAxis):
    """An axis on families of tools, which are data of the rubric."""

    agents: Agents = Agents.ALL
    tool_families: Mapping[str, Any] = FrozenDict()

    def _check_families(self, field: str, *families: str) -> Iterator[tuple[str, str]]:
        from markscheme.read.tools import list_families

        known = list_families(self.tool_families)
        for family in families:
            if family not in known:
                yield field, f"`{family}` is no family of tools; allowed: {', '.join(known)}"

    def _select_transcripts(self, transcript: Transcript) -> list[Transcript]:
        return [transcript] if self.agents is Agents.MAIN else list(transcript.agents())

    def _find_attempts(self, transcript: Transcript, families: Sequence[str]) -> list[ToolAttempt]:
        from markscheme.read.tools import find_attempts

        return [
            attempt
            for agent in self._select_transcripts(transcript)
            for attempt in find_attempts(agent, families, self.tool_families)
        ]

    def _pass_if_complete(self, transcript: Transcript, reason: str) -> Cell:
        """Pass, unless the log is incomplete; the reason counts sub-agents it does not show."""
        agents = self._select_transcripts(transcript)
        doubts = dict.fromkeys(doubt for agent in agents for doubt in agent.doubts)
        if doubts:
            return _fail_undecided(doubts)
        unseen = sum(agent.unseen for agent in agents)
        if self.agents is Agents.ALL and unseen:
            dispatches = "1 dispatch" if unseen == 1 else f"{unseen} dispatches"
            reason = sentence(
                "{reason}; what the sub-agents of {unseen} did is not in the log",
                reason=reason,
                unseen=dispatches,
            )
        return Cell.passed(reason)


def _fail_undecided(doubts: Mapping[str, None] | Sequence[str]) -> Cell:
    return Cell.failed(
        sentence(
            "the log is incomplete, so more may have been done than it shows: {gaps}",
            gaps="; ".join(doubts),
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOrder(_FamilyAxis):
    """The first call of one family comes before the first call of other families.

    Calls of these without any of the first fail; without them there is nothing that could have come
    too early. A call that fits both counts for the first. With the family `explore`, what the log
    shows as a dispatch counts too, whatever the name of its tool.
    """

    kind: ClassVar[str] = "call_order"
    version: ClassVar[int] = 2
    agents: Agents = Agents.MAIN
    first: str
    then: str | tuple[str, ...]

    @property
    def later_families(self) -> tuple[str, ...]:
        """The families that come after the first."""
        return (self.then,) if isinstance(self.then, str) else self.then

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Refuse unknown families, the same family twice, and an empty list."""
        yield from self._check_families("first", self.first)
        yield from self._check_families("then", *self.later_families)
        if self.first in self.later_families:
            yield "then", "must be another family than `first`"
        if not self.then:
            yield "then", "is an empty list; name at least one family"

    def judge_transcript(self, transcript: Transcript, item: Item) -> Cell:  # noqa: ARG002 - for every item
        """Say which call came first, and when."""
        from markscheme.read.tools import EXPLORE, build_attempt, iter_calls

        # A line that cannot be read may hold an earlier call.
        if transcript.skipped_lines:
            return _fail_undecided(transcript.doubts)
        dispatched, unplaced = _find_dispatched_calls(self._select_transcripts(transcript))
        if EXPLORE in self.later_families and unplaced:
            return Cell.failed(
                sentence("a sub-agent was started, but the log does not say by which call")
            )
        late: tuple[str, ToolAttempt] | None = None
        for call in iter_calls(transcript, nested=self.agents is Agents.ALL):
            family = self._find_family(call, dispatched)
            if family == self.first:
                return self._compare_first_calls(transcript, build_attempt(call), late)
            if late is None and family is not None:
                late = family, build_attempt(call)
        return self._compare_first_calls(transcript, None, late)

    def _find_family(self, call: Call, dispatched: Collection[tuple[str, int]]) -> str | None:
        """Return the family of a call that must or must not come first, if it is of one."""
        from markscheme.read.tools import (
            EXPLORE,
            OTHER_AGENTS,
            find_first_family,
            is_in_family,
        )

        families = (self.first, *self.later_families)
        family = find_first_family(families, self.tool_families, call)
        if family is not None:
            return family
        is_dispatch = EXPLORE in self.later_families and (call.agent, call.index) in dispatched
        if is_dispatch and not is_in_family(OTHER_AGENTS, self.tool_families, call):
            return EXPLORE
        return None

    def _compare_first_calls(
        self,
        transcript: Transcript,
        early: ToolAttempt | None,
        late: tuple[str, ToolAttempt] | None,
    ) -> Cell:
        first = self.first
        if late is None and early is None:
            then = " or ".join(self.later_families)
            nothing = sentence("no call of {first}, and none of {then}", first=first, then=then)
            return self._pass_if_complete(transcript, nothing)
        if late is None:
            reason = sentence("{first} came first: {early}", first=first, early=early)
            return self._pass_if_complete(transcript, reason)
        then, attempt = late
        if early is None:
            return Cell.missed(
                sentence(
                    "no call of {first}, but of {then}: {late}",
                    first=first,
                    then=then,
                    late=attempt,
                )
            )
        return Cell.missed(
            sentence(
                "{then} came first: {late}; {first} only then: {early}",
                first=first,
                then=then,
                late=attempt,
                early=early,
            )
        )


def _find_dispatched_calls(
    transcripts: Sequence[Transcript],
) -> tuple[set[tuple[str, int]], bool]:
    """Return the calls that are dispatches, and whether a dispatch is of no call."""
    dispatches = [(agent, dispatch) for agent in transcripts for dispatch in agent.dispatches]
    placed = {
        (agent.agent, dispatch.call) for agent, dispatch in dispatches if dispatch.call is not None
    }
    return placed, any(dispatch.call is None for _, dispatch in dispatches)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimit(_FamilyAxis):
    """At most so many attempts of a family, for all items or by the value of a tag."""

    kind: ClassVar[str] = "call_limit"
    family: str
    limits: Mapping[str, Any] | int
    by: str | None = None

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Refuse an unknown family, and limits below 0."""
        yield from self._check_families("family", self.family)
        yield from check_limits("limits", self.by, self.limits, 0)

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:
        """Refuse an item without the tag that the limit goes by."""
        yield from check_limit_tag(self.by, self.limits, item)

    def judge_transcript(self, transcript: Transcript, item: Item) -> Cell:
        """Count the attempts, and list them."""
        limit, tag = get_limit(self.by, self.limits, item)
        attempts = self._find_attempts(transcript, (self.family,))
        reason = sentence(
            "{count}, at most {limit} allowed{tag}",
            count=_format_attempt_count(len(attempts), self.family),
            limit=limit,
            tag=tag,
        )
        reason = _append_attempts(reason, attempts)
        if len(attempts) > limit:
            return Cell.missed(reason)
        return self._pass_if_complete(transcript, reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenCalls(_FamilyAxis):
    """No attempt of the named families, denied ones included."""

    kind: ClassVar[str] = "forbidden_calls"
    families: tuple[str, ...]

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Refuse unknown families, and an empty list."""
        if not self.families:
            yield "families", "is an empty list, so nothing is forbidden; name at least one"
        yield from self._check_families("families", *self.families)

    def judge_transcript(self, transcript: Transcript, item: Item) -> Cell:  # noqa: ARG002 - for every item
        """List the attempts: the tool, its target, and the outcome."""
        attempts = self._find_attempts(transcript, self.families)
        families = " or ".join(self.families)
        if attempts:
            count = _format_attempt_count(len(attempts), families)
            return Cell.missed(_append_attempts(count, attempts))
        reason = sentence("no {families} attempt", families=families)
        return self._pass_if_complete(transcript, self._append_unknown_programs(reason, transcript))

    def _append_unknown_programs(self, reason: str, transcript: Transcript) -> str:
        """Append the tools and programs that were run and whose effect is not known."""
        from markscheme.read.tools import MUTATION, find_unknown_programs, find_unknown_tools

        if MUTATION not in self.families:
            return reason
        calls = [call for agent in self._select_transcripts(transcript) for call in agent.calls]
        tools = find_unknown_tools(calls)
        if tools:
            reason = sentence(
                "{reason}; tools not known to be harmless: {which}",
                reason=reason,
                which=_list_first_names(tools),
            )
        programs = list(
            dict.fromkeys(name for call in calls for name in find_unknown_programs(call))
        )
        if not programs:
            return reason
        return sentence(
            "{reason}; programs not known to be harmless: {which}",
            reason=reason,
            which=_list_first_names(programs),
        )


def _list_first_names(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are."""
    shown = ", ".join(names[:_MAX_SHOWN_PROGRAMS])
    if len(names) <= _MAX_SHOWN_PROGRAMS:
        return shown
    return sentence("{these}; and {n} more", these=shown, n=len(names) - _MAX_SHOWN_PROGRAMS)


def _format_attempt_count(attempts: int, family: str) -> str:
    if attempts == 1:
        return sentence("1 {family} attempt", family=family)
    return sentence("{n} {family} attempts", n=attempts, family=family)


def _append_attempts(reason: str, attempts: Sequence[ToolAttempt]) -> str:
    """Append the first few attempts to a reason."""
    if not attempts:
        return reason
    shown = "; ".join(map(str, attempts[:_MAX_SHOWN_ATTEMPTS]))
    if len(attempts) > _MAX_SHOWN_ATTEMPTS:
        more = len(attempts) - _MAX_SHOWN_ATTEMPTS
        shown = sentence("{these}; and {n} more", these=shown, n=more)
    return sentence("{reason}: {which}", reason=reason, which=shown)
