"""Compare variants by the ratings of people, and stored runs or result files by their scores.

A comparison by ratings shows beside them what was marked and measured. For a page of a comparison
of runs, the answers to the items that moved most are read as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from markscheme.read.nfc import to_nfc
from markscheme.read.rating_rows import RatingSource
from markscheme.read.ratings import RatingScope, read_ratings
from markscheme.vocabulary import (
    Allowance,
    AnswersError,
    Cell,
    Exam,
    FrozenDict,
    Problem,
    Rubric,
    UsageError,
    is_follow_up,
    restore_row_messages,
    sentence,
)
from markscheme.weigh.compare import (
    AskedOrder,
    ComparedRun,
    Comparison,
    ComparisonRules,
    Observed,
    RunPair,
    RunsComparison,
    UnusedLog,
    VariantsComparison,
    adjust_pairs,
    collect_observations,
    compare_ratings,
    describe_gaps,
    extract_single_attempts,
    find_first_asked,
    pair_runs,
)
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.find_run import FoundRun, RunContext, RunFinder, is_open_run
from markscheme.workflows.run_rows import load_attempts, select_answers
from markscheme.workflows.score import score
from markscheme.workflows.sinks import FrameCollector

if TYPE_CHECKING:
    from markscheme.keep import Store
    from markscheme.read.session_logs import LogFolder
    from markscheme.weigh.result import Result
    from markscheme.workflows.scoring_session import Answers


def compare(  # noqa: PLR0913 - one parameter per option of the command
    rubric: Rubric | str | Path,
    exam: Exam | str | Path,
    ratings: RatingSource,
    *,
    baseline: str,
    candidate: str,
    follow_up: Exam | str | Path | None = None,
    answers: Answers | None = None,
    logs: str | Path | None = None,
    log_map: str | Path | None = None,
    observed: Iterable[Observed] = (),
    margin: Decimal | None = None,
    allow_gaps: bool = False,
    assigned: Mapping[str, Collection[str]] | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare a candidate with a baseline by ratings: verdicts, decision, statistics.

    `ratings` are a file (CSV or JSON lines), several files, or rows. `follow_up` is an exam whose
    queries decide after a conditional decision, as those with the tag `round: 2` do. `answers` are
    marked by the axes of the rubric and shown beside the verdicts; the variant of an answer is its
    subject. Session `logs` are marked the same way, with what was measured in them; one that cannot
    be used is listed with its reason, and the checks of an answer without a log abstain. `observed`
    adds others. Which variant was asked first is read from logs, or from answers that
    `markscheme run` recorded.
    `margin` is the loss up to which the candidate counts as no worse; without one it is taken from
    the verdict rules. With `allow_gaps`, a query that is not rated completely has no verdict;
    otherwise ratings with gaps are refused. `assigned` names the raters of each query if not every
    rater rates every query. `seed` is that of the simulation of the decision table.

    >>> from markscheme import load_exam, load_rubric
    >>> rubric, exam = load_rubric("context-agent"), load_exam("context-queries")
    >>> ratings = [
    ...     {"item": item.id, "variant": name, "rater": "ana", "axis": axis.name, "score": score}
    ...     for item in exam.items
    ...     for axis in rubric.scales
    ...     for name, score in (("big", 4), ("small", 5))
    ... ]
    >>> compare(rubric, exam, ratings, baseline="big", candidate="small")
    Comparison(small instead of big: go)

    Raises:
        UsageError: the rubric has no scales, rules or table, or both variants have one name.
        InputError: the ratings, or the modes of the exam, are not valid.
    """
    from markscheme.read.recordings import read_recorded_order
    from markscheme.read.session_logs import read_logs

    rubric, exam = _load_documents(rubric, exam, follow_up)
    rules = ComparisonRules(
        rubric=rubric, exam=exam, baseline=to_nfc(baseline), candidate=to_nfc(candidate)
    )
    scope = RatingScope(
        rubric=rubric,
        exam=exam,
        variants=rules.variants,
        allow_gaps=allow_gaps,
        follow_ups=rules.follow_ups,
        assigned=assigned,
    )
    known_ratings = read_ratings(ratings, scope)
    if not rubric.axes and (answers is not None or logs is not None):
        raise UsageError(f"the rubric `{rubric.name}` marks nothing; leave the answers out")
    observations, first = list(observed), dict[str, str]()
    if answers is not None:
        file = str(answers) if isinstance(answers, str | Path) else "answers"
        rows = FrameCollector(messages=True)
        result = rows.show_in(score(rubric, exam, answers, sinks=[rows]))
        observations += _observe_answers(result, file, rules.variants)
        first |= find_first_asked(read_recorded_order(answers), rules.variants)
    unused: tuple[UnusedLog, ...] = ()
    if logs is not None:
        folder, unused = _separate_unused_logs(
            read_logs(str(logs), exam.items, mapping=log_map), rules.variants
        )
        _check_variants_have_logs(folder, unused, str(logs), rules.variants)
        rows = FrameCollector(messages=True)
        result = rows.show_in(score(rubric, exam, logs=folder, sinks=[rows]))
        observations += _observe_answers(result, str(logs), rules.variants)
        observations += _observe_missing_logs(rules, observations)
        first |= find_first_asked(_find_start_times(folder), rules.variants)
    comparison = compare_ratings(rules, known_ratings, observations, margin, first, seed)
    gaps = describe_gaps(comparison.queries, known_ratings, comparison.decision)
    return replace(comparison, unused_logs=unused, allowed_gaps=gaps if allow_gaps else None)


def _load_documents(
    rubric: Rubric | str | Path,
    exam: Exam | str | Path,
    follow_up: Exam | str | Path | None = None,
) -> tuple[Rubric, Exam]:
    from markscheme.read.documents import add_follow_up

    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    exam = exam if isinstance(exam, Exam) else load_exam(exam, rubric=rubric)
    if follow_up is None:
        return rubric, exam
    if not isinstance(follow_up, Exam):
        follow_up = load_exam(follow_up, rubric=rubric)
    return rubric, add_follow_up(exam, follow_up)


def compare_variants(
    rubric: Rubric | str | Path,
    exam: Exam | str | Path,
    ratings: RatingSource,
    *,
    baseline: str,
    candidates: Sequence[str],
    follow_up: Exam | str | Path | None = None,
    **more: Any,
) -> VariantsComparison:
    """Compare every two of several variants; `more` is passed on to `compare`.

    A rater of a query must rate all of them; of a query of the follow-up, those that were run.
    """
    rubric, exam = _load_documents(rubric, exam, follow_up)
    variants = tuple(map(to_nfc, (baseline, *candidates)))
    if len(set(variants)) < len(variants):
        raise UsageError("a variant is named twice; each can be compared once")
    allow_gaps = bool(more.get("allow_gaps"))
    scope = RatingScope(
        rubric=rubric,
        exam=exam,
        variants=variants,
        allow_gaps=allow_gaps,
        follow_ups=frozenset(item.id for item in exam.items if is_follow_up(item)),
        assigned=more.get("assigned"),
    )
    known_ratings = read_ratings(ratings, scope)
    comparisons = [
        compare(
            rubric,
            exam,
            [rating for rating in known_ratings if rating.variant in two],
            baseline=two[0],
            candidate=two[1],
            **more,
        )
        for two in combinations(variants, 2)
    ]
    # A log of a variant that another pair compares is used there.
    pairs = [
        replace(
            pair,
            unused_logs=tuple(log for log in pair.unused_logs if log.variant not in variants),
        )
        for pair in comparisons
    ]
    return VariantsComparison(variants=variants, pairs=adjust_pairs(pairs))


def _find_start_times(logs: LogFolder) -> dict[tuple[str, str, int], datetime]:
    """Return the time of the first prompt of each session whose log has one."""
    return {
        (answer.item, answer.variant, answer.attempt): prompts[0].at
        for answer in logs.answers
        if answer.variant is not None and (prompts := answer.transcript.prompts) and prompts[0].at
    }


def _separate_unused_logs(
    folder: LogFolder, variants: Sequence[str]
) -> tuple[LogFolder, tuple[UnusedLog, ...]]:
    """Return the logs of the variants, and the others, each with the reason it cannot be used.

    A stray file must not cost the user the comparison, and must not vanish either.
    """
    used, unused = [], []
    allowed = ", ".join(f"`{variant}`" for variant in variants)
    for answer in folder.answers:
        if answer.variant in variants:
            used.append(answer)
            continue
        reason = sentence("no variant is named; compared are {allowed}", allowed=allowed)
        if answer.variant is not None:
            reason = sentence(
                "the variant `{variant}` is not compared; compared are {allowed}",
                variant=answer.variant,
                allowed=allowed,
            )
        unused.append(
            UnusedLog(file=answer.file, item=answer.item, variant=answer.variant, reason=reason)
        )
    unused += [
        UnusedLog(file=error.file or "", item=error.item, reason=error.reason)
        for error in folder.errors
    ]
    kept = replace(folder, answers=tuple(used), errors=())
    return kept, tuple(sorted(unused, key=lambda log: log.file))


def _check_variants_have_logs(
    folder: LogFolder, unused: Sequence[UnusedLog], file: str, variants: Sequence[str]
) -> None:
    """Refuse logs that say nothing about one of the variants; name every log that is not used."""
    lacking = [v for v in variants if not any(a.variant == v for a in folder.answers)]
    if lacking:
        names = " and ".join(f"`{variant}`" for variant in lacking)
        problems = [Problem(file=file, line=1, field="", message=f"no log is of {names}")]
        problems += [
            Problem(file=log.file, line=1, field=log.item or "", message=log.reason)
            for log in unused
        ]
        raise AnswersError(problems)


def _observe_missing_logs(
    rules: ComparisonRules, observations: Collection[Observed]
) -> list[Observed]:
    """Return an observation for each answer of which nothing is known: every check abstains."""
    reason = sentence("there is no session log of this answer that could be used")
    seen = {(observation.item, observation.variant) for observation in observations}
    cells = FrozenDict({spec.name: Cell.abstained(reason) for spec in rules.rubric})
    return [
        Observed(item=item.id, variant=variant, structural=cells)
        for item in rules.exam.items
        for variant in rules.variants
        if (item.id, variant) not in seen
    ]


def _observe_answers(result: Result, file: str, variants: tuple[str, str]) -> tuple[Observed, ...]:
    """Return what was marked and measured of both variants; refuse a file that lacks one."""
    if result.errors:
        raise AnswersError(
            Problem(file=row.file or file, line=row.line, field=row.item or "", message=row.reason)
            for row in result.errors
        )
    rows = restore_row_messages(result.frame.iter_rows(named=True))
    observations = collect_observations(rows, variants)
    for variant in variants:
        if not any(observation.variant == variant for observation in observations):
            raise UsageError(f"`{file}` holds no answer with the subject `{variant}`")
    return observations


AnswerRow: TypeAlias = Mapping[str, Any]
"""An answer, as a row of the result of `score`."""

# How many items a page shows: over all pairs of runs together, and at least for each pair.
_MAX_CROSSED, _MAX_ITEMS, _MIN_ITEMS = 40, 15, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsReport:
    """Compared runs, and for each of them the answers to the items that a page shows."""

    comparison: RunsComparison
    answers: tuple[Mapping[str, tuple[AnswerRow, ...]], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemMoves:
    """Items that moved in one way, those that moved most first; a page shows `limit` of them."""

    kind: str
    items: tuple[str, ...]
    limit: int

    @property
    def shown(self) -> tuple[str, ...]:
        """The items that a page shows."""
        return self.items[: self.limit]


def compare_runs(
    *runs: str | Path,
    rubric: Rubric | str | Path | None = None,
    exam: str | Path | Sequence[str | Path] = (),
    margin: Decimal | None = None,
    cluster: str | None = None,
    store: str | Path | None = None,
) -> RunsComparison:
    """Compare stored runs (ids, `latest`, tags) or result files, paired by item and attempt.

    The first run is the one that the others must not be worse than. `rubric` and `exam` are for
    result files whose documents are not built in. `margin` is in points; without one, that of the
    rubric's baseline gate is taken. Items that share the tag `cluster` are not taken to be
    independent.

    >>> from markscheme import score
    >>> for run, said in (("then.json", "He ate. Comió."), ("now.json", "He ate.")):
    ...     row = {"item": "e-39-01", "output": said}
    ...     done = score("tutor-capstone", "capstone", [row], output=run)
    >>> compare_runs("then.json", "now.json")
    RunsComparison(then.json, now.json: inconclusive)
    """
    with _open_runs(rubric, exam, store) as finder:
        return _compare_found_runs(finder, _find_runs(finder, runs), margin, cluster)


def build_runs_report(
    *runs: str | Path,
    rubric: Rubric | str | Path | None = None,
    exam: str | Path | Sequence[str | Path] = (),
    margin: Decimal | None = None,
    cluster: str | None = None,
    store: str | Path | Store | None = None,
) -> RunsReport:
    """Compare runs as `compare_runs` does, and read the answers that a page shows."""
    with _open_runs(rubric, exam, store) as finder:
        found_runs = _find_runs(finder, runs)
        comparison = _compare_found_runs(finder, found_runs, margin, cluster)
        pairs = comparison.beside_first
        items = {
            item
            for pair in pairs
            for moves in group_moves(pair, len(pairs))
            for item in moves.shown
        }
        answers = tuple(_collect_answers(finder, run, items) for run in found_runs)
    return RunsReport(comparison=comparison, answers=answers if items else ())


def _open_runs(
    rubric: Rubric | str | Path | None,
    exam: str | Path | Sequence[str | Path],
    store: str | Path | Store | None,
) -> RunFinder:
    exams = (exam,) if isinstance(exam, str | Path) else tuple(exam)
    return RunFinder(store, RunContext(rubric=rubric, exams=exams))


def _find_runs(finder: RunFinder, names: Sequence[str | Path]) -> list[FoundRun]:
    """Find the runs of these names; at least two, each once, and all of them finished."""
    if len(names) < 2:  # noqa: PLR2004 - a comparison takes two
        raise UsageError("one run is named; name at least two to compare")
    if len(set(names)) < len(names):
        raise UsageError("a run is named twice; each can be compared once")
    first = finder.find(str(names[0]))
    runs = [first, *(finder.find(str(name), reference=first.past) for name in names[1:])]
    for run in runs:
        if is_open_run(run):
            raise UsageError(f"the run `{run.name}` is not finished; it cannot be compared")
    return runs


def _compare_found_runs(
    finder: RunFinder, runs: Sequence[FoundRun], margin: Decimal | None, cluster: str | None
) -> RunsComparison:
    exam = runs[0].past.exam
    if cluster is not None and not any(cluster in item.tags for item in exam.items):
        raise UsageError(f"no item of `{exam.name}` has the tag `{cluster}`")
    allowance = None if margin is None else Allowance(amount=margin, relative=False)
    # Where every item of every run has one answer, the marks hold all values already.
    singles = [extract_single_attempts(run.past.run.marks) for run in runs]
    compared = [
        ComparedRun(
            past=run.past,
            attempts=load_attempts(finder, run) if None in singles else single or {},
            asked=_load_asked_order(finder, run),
        )
        for run, single in zip(runs, singles, strict=True)
    ]
    return pair_runs(compared, allowance, cluster)


def _load_asked_order(finder: RunFinder, run: FoundRun) -> AskedOrder | None:
    """Return the order in which a live run asked its questions; `None` where none is recorded."""
    if run.stored is None:
        return None
    summaries = finder.store.read_summaries([run.stored.id])
    live: Any = next((summary.get("live") for _, summary in summaries), None)
    if not isinstance(live, dict) or not live.get("sitting") or not live.get("beside"):
        return None
    entries = [entry.body for entry in finder.store.journal.read_entries(live["sitting"])]
    places = {
        (entry["item"], entry["attempt"]): entry["order"]
        for entry in entries
        if _is_live_reply(entry)
    }
    return AskedOrder(sitting=live["sitting"], other_sittings=tuple(live["beside"]), places=places)


def _is_live_reply(entry: Mapping[str, Any]) -> bool:
    """Return whether the subject itself replied; a reply from a cache has no place in order."""
    reply: Any = entry.get("reply")
    complete = isinstance(reply, dict) and {"item", "attempt", "order"} <= entry.keys()
    return complete and reply.get("text") is not None and not reply.get("cached")


def group_moves(pair: RunPair, pairs: int = 1) -> list[ItemMoves]:
    """Group the items that moved: from pass to fail, other losses, and gains.

    `pairs` is how many pairs of runs share the page.
    """
    most, most_crossed = (max(_MIN_ITEMS, n // max(1, pairs)) for n in (_MAX_ITEMS, _MAX_CROSSED))
    crossed, sides = set(pair.regressed), pair.items
    gained = [item for item in pair.moved if (sides[item].difference or 0) > 0]
    gained.sort(key=lambda item: (-(sides[item].difference or 0), item))
    lost = tuple(item for item in pair.lost if item not in crossed)
    groups = (
        ItemMoves(kind="regressed", items=pair.regressed, limit=most_crossed),
        ItemMoves(kind="lost", items=lost, limit=most),
        ItemMoves(kind="gained", items=tuple(gained), limit=most),
    )
    return [moves for moves in groups if moves.items]


def _collect_answers(
    finder: RunFinder, run: FoundRun, items: Collection[str]
) -> Mapping[str, tuple[AnswerRow, ...]]:
    answers: dict[str, list[AnswerRow]] = {item: [] for item in items}
    for row in select_answers(finder, run, items) if items else ():
        answers[row["item"]].append(row)
    return {item: tuple(rows) for item, rows in answers.items()}
