"""The order in which the answers of a stored run were asked, from the journal of its sitting.

Comparing runs that are kept: in the store by name, or in result files.

Compared runs with the answers that somebody will read: those to the items that moved most.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from markscheme.vocabulary import Allowance, UsageError
from markscheme.weigh.compare import (
    AskedOrder,
    ComparedRun,
    RunsComparison,
    extract_single_attempts,
    pair_runs,
)
from markscheme.workflows.find_run import RunContext, RunFinder, is_open_run
from markscheme.workflows.run_rows import load_attempts, select_answers

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from decimal import Decimal

    from markscheme.vocabulary import Rubric
    from markscheme.workflows.find_run import FoundRun
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.vocabulary import Rubric
    from markscheme.weigh.compare import RunPair


AnswerRow: TypeAlias = Mapping[str, Any]
"""An answer, as `score` gives it."""

# How many items a page shows: in all pairs together, and at least in each.
_MAX_CROSSED, _MAX_ITEMS, _MIN_ITEMS = 40, 15, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsReport:
    """Compared runs, and of each of them the answers to the items that a page shows."""

    found: RunsComparison
    answers: tuple[Mapping[str, tuple[AnswerRow, ...]], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemMoves:
    """Items that moved in one way, those that moved most first: all, and how many are shown."""

    kind: str
    items: tuple[str, ...]
    limit: int

    @property
    def shown(self) -> tuple[str, ...]:
        """The items that a page has room for."""
        return self.items[: self.limit]


def select_shown_items(found: RunsComparison) -> set[str]:
    """Return the items that a page shows of each run beside the first."""
    return {
        item
        for pair in found.beside_first
        for moves in group_moves(pair, len(found.beside_first))
        for item in moves.shown
    }


def group_moves(pair: RunPair, pairs: int = 1) -> list[ItemMoves]:
    """Return what went from pass to fail, what else was lost, and what was gained."""
    most, first = (max(_MIN_ITEMS, n // max(1, pairs)) for n in (_MAX_ITEMS, _MAX_CROSSED))
    crossed, by = set(pair.regressed), pair.items
    gained = [item for item in pair.moved if (by[item].difference or 0) > 0]
    gained.sort(key=lambda item: (-(by[item].difference or 0), item))
    found = (
        ItemMoves(
            kind="regressed",
            items=pair.regressed,
            limit=first,
        ),
        ItemMoves(
            kind="lost",
            items=tuple(item for item in pair.lost if item not in crossed),
            limit=most,
        ),
        ItemMoves(
            kind="gained",
            items=tuple(gained),
            limit=most,
        ),
    )
    return [moves for moves in found if moves.items]


def load_asked_order(runs: RunFinder, found: FoundRun) -> AskedOrder | None:
    """Return where each answer of a live run was asked; of any other run that is not recorded."""
    if found.stored is None:
        return None
    summaries = runs.store.read_summaries([found.stored.id])
    live: Any = next((summary.get("live") for _, summary in summaries), None)
    if not isinstance(live, dict) or not live.get("sitting") or not live.get("beside"):
        return None
    bodies = [noted.body for noted in runs.store.journal.read_entries(live["sitting"])]
    places = {
        (body["item"], body["attempt"]): body["order"] for body in bodies if _is_live_reply(body)
    }
    return AskedOrder(sitting=live["sitting"], other_sittings=tuple(live["beside"]), places=places)


def _is_live_reply(body: Mapping[str, Any]) -> bool:
    """Whether the subject itself was asked, and answered: what a cache said has no order."""
    reply: Any = body.get("reply")
    whole = isinstance(reply, dict) and {"item", "attempt", "order"} <= body.keys()
    return whole and reply.get("text") is not None and not reply.get("cached")


def compare_runs(
    *runs: str | Path,
    rubric: Rubric | str | Path | None = None,
    exam: str | Path | Sequence[str | Path] = (),
    margin: Decimal | None = None,
    cluster: str | None = None,
    store: str | Path | None = None,
) -> RunsComparison:
    """Compare stored runs (ids, `latest`, tags) or result files in pairs by item and attempt.

    The first is what the others are held against. `rubric` and `exam` are for result files whose
    documents are not built in; `margin` is in points, and without one it is that of the rubric's
    baseline gate. Items that share the tag `cluster` are not taken to be independent.
    """
    exams = (exam,) if isinstance(exam, str | Path) else tuple(exam)
    with RunFinder(store, RunContext(rubric=rubric, exams=exams)) as known:
        return compare_found_runs(known, find_runs_to_compare(known, runs), margin, cluster)


def find_runs_to_compare(known: RunFinder, runs: Sequence[str | Path]) -> list[FoundRun]:
    """Return the runs of these names, which must be at least two that are finished."""
    if len(runs) < 2:  # noqa: PLR2004 - a comparison takes two
        raise UsageError("one run is named; name at least two to compare")
    if len(set(runs)) < len(runs):
        raise UsageError("a run is named twice; each can be compared once")
    first = known.find(str(runs[0]))
    found = [first, *(known.find(str(name), reference=first.past) for name in runs[1:])]
    for one in found:
        if is_open_run(one):
            raise UsageError(f"the run `{one.name}` is not finished; it cannot be compared")
    return found


def compare_found_runs(
    known: RunFinder, found: Sequence[FoundRun], margin: Decimal | None, cluster: str | None
) -> RunsComparison:
    """Compare runs that were found, while their answers are still at hand."""
    exam = found[0].past.exam
    if cluster is not None and not any(cluster in item.tags for item in exam.items):
        raise UsageError(f"no item of `{exam.name}` has the tag `{cluster}`")
    limit = None if margin is None else Allowance(amount=margin, relative=False)
    return pair_runs(_load_compared_runs(known, found), limit, cluster)


def _load_compared_runs(known: RunFinder, found: Sequence[FoundRun]) -> list[ComparedRun]:
    """Return the runs with their attempts; where each item has one answer, the marks hold them."""
    single = [extract_single_attempts(one.past.run.marks) for one in found]
    return [
        ComparedRun(
            past=one.past,
            attempts=load_attempts(known, one) if None in single else alone or {},
            asked=load_asked_order(known, one),
        )
        for one, alone in zip(found, single, strict=True)
    ]


def build_runs_report(
    known: RunFinder, runs: Sequence[str | Path], margin: Decimal | None, cluster: str | None
) -> RunsReport:
    """Compare runs, as `compare_runs` does, and read what a page shows of their answers."""
    found = find_runs_to_compare(known, runs)
    comparison = compare_found_runs(known, found, margin, cluster)
    items = select_shown_items(comparison)
    answers = tuple(_collect_answers(known, one, items) for one in found) if items else ()
    return RunsReport(found=comparison, answers=answers)


def _collect_answers(
    known: RunFinder, found: FoundRun, items: Collection[str]
) -> Mapping[str, tuple[AnswerRow, ...]]:
    answers: dict[str, list[AnswerRow]] = {item: [] for item in items}
    for row in select_answers(known, found, items):
        answers[row["item"]].append(row)
    return {item: tuple(rows) for item, rows in answers.items()}
