"""Watch a live run from another process: what its journal holds so far, marked as it comes.

The process that asks marks in batches; here each new answer is marked by itself, which is slower
and needs no polars. The scores of the finished run are those that its own process stores.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from threading import Lock
from typing import Any

from markscheme.ask.replies import Reply
from markscheme.keep import JournalEntry, RunSession, RunStatus, Store, StoredRun
from markscheme.mark import mark_answer
from markscheme.vocabulary import Exam, Item, Rubric, sum_amounts
from markscheme.workflows.stored_runs import StoredDocuments

_FAILURES_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFailure:
    """An answer that did not pass, or a question without an answer: then `score` is None."""

    item: str
    attempt: int
    score: Fraction | None
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSnapshot:
    """How far a live run is. `mean` is over the answers that have a score."""

    is_finished: bool
    questions: int
    answered: int
    faults: Mapping[str, int]
    passed: int
    failed: int
    mean: Fraction | None
    cost: Decimal | None
    last_reply: str | None
    failures: Sequence[LiveFailure]


class LiveProgress:
    """Follows one live run; each `update` reads what is new. Several threads may share it."""

    def __init__(self, store: Store, run: StoredRun, session: RunSession) -> None:
        documents = StoredDocuments(store)
        self._rubric: Rubric = documents.load_rubric(run.rubric)
        exam: Exam = documents.load_exam(run.exam)
        self._items: Mapping[str, Item] = {item.id: item for item in exam.items}
        self._run, self._session = run.id, session
        self._seen = 0
        self._answered: set[str] = set()
        self._faults: dict[str, str] = {}
        self._scores: Counter[Fraction] = Counter()
        self._costs: list[Decimal | None] = []
        self._last_reply: str | None = None
        self._failures: deque[LiveFailure] = deque(maxlen=_FAILURES_SHOWN)
        self._lock = Lock()

    def update(self, store: Store) -> LiveSnapshot:
        """Read and mark the replies that came since the last call; return how far the run is."""
        with self._lock:
            for numbered in store.journal.read_entries_after(self._session.id, self._seen):
                self._seen = numbered.number
                self._add_entry(numbered.entry)
            is_finished = store.find_run(self._run).status is RunStatus.FINISHED
            return self._build_snapshot(is_finished=is_finished)

    def _add_entry(self, entry: JournalEntry) -> None:
        body: Mapping[str, Any] = entry.body
        reply = Reply.from_dict(body["reply"])
        self._last_reply = body.get("ended", self._last_reply)
        item = self._items.get(body["item"])
        # A sitting that was resumed may also hold questions of another exam.
        if item is None or entry.key in self._answered:
            return
        if reply.text is None:
            if entry.key not in self._faults:
                self._add_failure(body, None, reply.why or str(reply.fault))
            self._faults[entry.key] = str(reply.fault.value) if reply.fault else ""
            return
        # The answer of a question that was asked again after an error.
        self._faults.pop(entry.key, None)
        self._answered.add(entry.key)
        if not reply.cached:
            self._costs.append(reply.cost)
        self._mark_reply(body, reply, item)

    def _mark_reply(self, body: Mapping[str, Any], reply: Reply, item: Item) -> None:
        breakdown = mark_answer(self._rubric, item, reply.text or "", reply.transcript)
        if breakdown.score is None:
            return
        self._scores[breakdown.score] += 1
        if breakdown.score < Fraction(self._rubric.pass_mark):
            lost = (name for name, cell in breakdown.cells.items() if cell.value not in {None, 1})
            self._add_failure(body, breakdown.score, ", ".join(lost))

    def _add_failure(self, body: Mapping[str, Any], score: Fraction | None, because: str) -> None:
        failure = LiveFailure(
            item=body["item"], attempt=body["attempt"], score=score, because=because
        )
        self._failures.appendleft(failure)

    def _build_snapshot(self, *, is_finished: bool) -> LiveSnapshot:
        scored, mark = self._scores.total(), Fraction(self._rubric.pass_mark)
        total = sum((score * n for score, n in self._scores.items()), Fraction(0))
        passed = sum(n for score, n in self._scores.items() if score >= mark)
        costs = [cost for cost in self._costs if cost is not None]
        return LiveSnapshot(
            is_finished=is_finished,
            questions=self._session.questions,
            answered=len(self._answered),
            faults=dict(sorted(Counter(self._faults.values()).items())),
            passed=passed,
            failed=scored - passed,
            mean=total / scored if scored else None,
            cost=sum_amounts(costs) if costs and len(costs) == len(self._costs) else None,
            last_reply=self._last_reply,
            failures=tuple(self._failures),
        )


class LiveRuns:
    """The live runs that somebody watches, each followed once."""

    _MAX_FOLLOWED = 20

    def __init__(self) -> None:
        self._followed: dict[str, LiveProgress] = {}

    def find_progress(self, store: Store, run: StoredRun) -> LiveProgress | None:
        """Return the progress of a run; None if it is no live run, or of an earlier version."""
        progress = self._followed.get(run.id)
        if progress is None:
            session = store.journal.find_run_session(run.id)
            if session is None:
                return None
            progress = LiveProgress(store, run, session)
            if len(self._followed) >= self._MAX_FOLLOWED:
                self._followed.pop(next(iter(self._followed)))
            self._followed[run.id] = progress
        return progress
