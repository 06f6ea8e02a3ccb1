"""Overview of the stored runs: which there are, what their gates say, and how scores went.

Runs do not change, so what the gates of a run say beside a baseline is computed once and cached,
except for runs that a judge marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markscheme.keep import Baseline, RunStatus, Store, StoredRun
from markscheme.vocabulary import Level, MarkschemeError, Outcome
from markscheme.weigh.gates import GateReport
from markscheme.workflows.find_run import RunFinder
from markscheme.workflows.gate import judge_run

if TYPE_CHECKING:
    from markscheme.keep import Tag

# How many of the newest runs are looked at, and how many stand on one page.
MAX_RUNS = 2_000
PAGE_SIZE = 25
MAX_SERIES = 8
SERIES_LENGTH = 20
# A run with more answers than that takes too long to judge for a list.
_MAX_JUDGED_ANSWERS = 5_000
_MAX_CACHED_VERDICTS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs are wanted; None stands for any."""

    rubric: str | None = None
    exam: str | None = None
    subject: str | None = None
    tag: str | None = None

    @property
    def is_set(self) -> bool:
        """Whether anything is asked for."""
        return any((self.rubric, self.exam, self.subject, self.tag))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunVerdict:
    """What the gates of a run say: the verdict, and the gates that are not met, by name."""

    outcome: Outcome
    missed: tuple[tuple[str, Outcome], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """A stored run with its tags, whether it is the baseline, and its verdict if it was judged."""

    run: StoredRun
    tags: tuple[str, ...]
    is_baseline: bool
    verdict: RunVerdict | None

    @property
    def score(self) -> float | None:
        """The score of the run, if it is finished and has one."""
        score = (self.run.counts or {}).get("score")
        return None if score is None else float(score)

    @property
    def is_incomplete(self) -> bool:
        """Whether the run is finished and lacks answers, or has rows that are none."""
        return self.run.counts is not None and not self.run.counts.get("complete")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSeries:
    """The runs of one subject over one exam under one rubric, the newest last."""

    latest: RunEntry
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOverview:
    """One page of the runs that are wanted, their series, and the names that can be asked for."""

    entries: tuple[RunEntry, ...]
    series: tuple[ScoreSeries, ...]
    more_series: int
    total: int
    page: int
    pages: int
    choices: Mapping[str, Sequence[str]]


class VerdictCache:
    """Judges stored runs by their gates, each run and baseline once."""

    def __init__(self) -> None:
        self._verdicts: dict[tuple[str, str | None], RunVerdict] = {}

    def judge(self, finder: RunFinder, run: StoredRun, baseline: str | None) -> RunVerdict | None:
        """Return the verdict on a run; None if it is too large, or cannot be read."""
        if run.status is RunStatus.OPEN:
            return RunVerdict(outcome=Outcome.UNDECIDED)
        key = run.id, baseline
        known = self._verdicts.get(key)
        if known is not None:
            return known
        if int((run.counts or {}).get("answers") or 0) > _MAX_JUDGED_ANSWERS:
            return None
        try:
            found = finder.find(run.id)
            verdict = summarize_gates(judge_run(finder, found).gates)
        except MarkschemeError:
            # One damaged run must not hide the others; its own page says what is wrong with it.
            return None
        if found.past.run.judged:
            # Marks of a judge count as long as its calibration does, so the verdict can change.
            return verdict
        if len(self._verdicts) >= _MAX_CACHED_VERDICTS:
            self._verdicts.clear()
        self._verdicts[key] = verdict
        return verdict


def summarize_gates(report: GateReport) -> RunVerdict:
    """Return the verdict with the gates that are not met, and hard ones that cannot be decided."""
    missed = tuple(
        (found.gate.name, found.outcome)
        for found in report.outcomes
        if found.outcome in {Outcome.FAIL, Outcome.WARN}
        or (found.outcome is Outcome.UNDECIDED and found.gate.level is Level.HARD)
    )
    return RunVerdict(outcome=report.verdict, missed=missed)


def build_run_overview(
    store: Store, wanted: RunFilter, verdicts: VerdictCache, *, page: int = 1
) -> RunOverview:
    """Return a page of the newest runs that are wanted, and the series that they belong to."""
    tags = _collect_tags(store.list_tags())
    runs = store.list_runs(
        rubric=wanted.rubric, exam=wanted.exam, subject=wanted.subject, limit=MAX_RUNS
    )
    if wanted.tag is not None:
        runs = [run for run in runs if wanted.tag in tags.get(run.id, ())]
    pages = max(1, -(-len(runs) // PAGE_SIZE))
    page = min(max(1, page), pages)
    groups = _group_series(runs)
    with RunFinder(store) as finder:
        describe = _EntryBuilder(finder, verdicts, tags, store.list_current_baselines())
        return RunOverview(
            entries=tuple(map(describe.build, runs[(page - 1) * PAGE_SIZE : page * PAGE_SIZE])),
            series=tuple(
                ScoreSeries(latest=describe.build(group[0]), scores=_list_scores(group))
                for group in groups[:MAX_SERIES]
            ),
            more_series=max(0, len(groups) - MAX_SERIES),
            total=len(runs),
            page=page,
            pages=pages,
            choices={**store.list_run_names(), "tag": sorted({*_flatten(tags.values())})},
        )


class _EntryBuilder:
    def __init__(
        self,
        finder: RunFinder,
        verdicts: VerdictCache,
        tags: Mapping[str, tuple[str, ...]],
        baselines: Iterable[Baseline],
    ) -> None:
        self._finder, self._verdicts, self._tags = finder, verdicts, tags
        self._baselines = {(one.rubric, one.exam): one.run for one in baselines}

    def build(self, run: StoredRun) -> RunEntry:
        baseline = self._baselines.get((run.rubric.name, run.exam.name))
        return RunEntry(
            run=run,
            tags=self._tags.get(run.id, ()),
            is_baseline=run.id == baseline,
            verdict=self._verdicts.judge(self._finder, run, baseline),
        )


def _collect_tags(tags: Iterable[Tag]) -> dict[str, tuple[str, ...]]:
    by_run: dict[str, tuple[str, ...]] = {}
    for tag in tags:
        by_run[tag.run] = (*by_run.get(tag.run, ()), tag.name)
    return by_run


def _flatten(groups: Iterable[Iterable[str]]) -> Iterable[str]:
    return (name for group in groups for name in group)


def _group_series(runs: Sequence[StoredRun]) -> list[list[StoredRun]]:
    """Group finished runs that can be compared; a group and its runs begin with the newest."""
    groups: dict[tuple[str, str, str | None], list[StoredRun]] = {}
    for run in runs:
        if run.status is RunStatus.FINISHED:
            key = run.rubric.fingerprint, run.exam.fingerprint, run.subject
            groups.setdefault(key, []).append(run)
    return list(groups.values())


def _list_scores(group: Sequence[StoredRun]) -> tuple[float, ...]:
    """Return the scores of the last complete runs, the newest last."""
    counts = [run.counts or {} for run in group]
    scores = [
        float(one["score"]) for one in counts if one.get("complete") and one["score"] is not None
    ]
    return tuple(reversed(scores[:SERIES_LENGTH]))
