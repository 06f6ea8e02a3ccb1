"""Comparing variants by what people rated, and the answers that they rate."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markscheme.vocabulary import (
    AnswersError,
    Exam,
    Problem,
    Rubric,
    UsageError,
    restore_row_messages,
)
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.score import score
from markscheme.workflows.sinks import FrameCollector

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from decimal import Decimal

    from markscheme.read.session_logs import LogFolder
    from markscheme.vocabulary import Rating
    from markscheme.weigh.compare import Comparison, Observed, VariantsComparison
    from markscheme.weigh.result import Result
    from markscheme.workflows.scoring_session import Answers


def compare(  # noqa: PLR0913 - one parameter per option of the command
    rubric: Rubric | str | Path,
    exam: Exam | str | Path,
    ratings: str | Path | Iterable[Rating | Mapping[str, Any]],
    *,
    baseline: str,
    candidate: str,
    answers: Answers | None = None,
    logs: str | Path | None = None,
    log_map: str | Path | None = None,
    observed: Iterable[Observed] = (),
    margin: Decimal | None = None,
    allow_gaps: bool = False,
    seed: int = 0,
) -> Comparison:
    """Compare a candidate with a baseline by ratings: verdicts, decision, honest statistics.

    `ratings` are a file (CSV or JSON lines) or rows. `answers` are marked by the axes of the rubric
    and shown beside the verdicts, a variant being the subject of an answer; so are session `logs`,
    with what was measured in them, and other things `observed`. Which variant was asked first is
    taken from logs, or from answers that `markscheme run` recorded. `margin` is the loss up to
    which the candidate counts as no worse; without one it is taken from the verdict rules. With
    `allow_gaps` a query that is not rated whole has no verdict; otherwise ratings with gaps are
    refused. `seed` is that of the simulation of the decision table.

    Raises:
        UsageError: the rubric has no scales, rules or table, or the variants are one.
        InputError: the ratings, or the modes of the exam, are not what they must be.
    """
    from markscheme.read.nfc import to_nfc
    from markscheme.read.ratings import RatingScope, read_ratings
    from markscheme.read.recordings import read_recorded_order
    from markscheme.read.session_logs import read_logs
    from markscheme.weigh.compare import ComparisonRules, compare_ratings, find_first_asked

    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    exam = exam if isinstance(exam, Exam) else load_exam(exam, rubric=rubric)
    baseline, candidate = to_nfc(baseline), to_nfc(candidate)
    contest = ComparisonRules(rubric=rubric, exam=exam, baseline=baseline, candidate=candidate)
    raters = RatingScope(rubric=rubric, exam=exam, variants=contest.variants, allow_gaps=allow_gaps)
    found = read_ratings(ratings, raters)
    if not rubric.axes and (answers is not None or logs is not None):
        raise UsageError(f"the rubric `{rubric.name}` marks nothing; leave the answers out")
    seen, first = list(observed), dict[str, str]()
    if answers is not None:
        file = str(answers) if isinstance(answers, str | Path) else "answers"
        rows = FrameCollector(messages=True)
        result = rows.show_in(score(rubric, exam, answers, sinks=[rows]))
        seen += _observe_answers(result, file, contest.variants)
        first |= find_first_asked(read_recorded_order(answers), contest.variants)
    if logs is not None:
        logged = read_logs(str(logs), exam.items, mapping=log_map)
        rows = FrameCollector(messages=True)
        result = rows.show_in(score(rubric, exam, logs=logged, sinks=[rows]))
        seen += _observe_answers(result, str(logs), contest.variants)
        first |= find_first_asked(_find_start_times(logged), contest.variants)
    return compare_ratings(contest, found, seen, margin, first, seed)


def compare_variants(
    rubric: Rubric | str | Path,
    exam: Exam | str | Path,
    ratings: str | Path | Iterable[Rating | Mapping[str, Any]],
    *,
    baseline: str,
    candidates: Sequence[str],
    **more: Any,
) -> VariantsComparison:
    """Compare every two of several variants; `more` is what `compare` takes beside the names.

    Whoever rates a query rates it for all of them.
    """
    from markscheme.read.nfc import to_nfc
    from markscheme.read.ratings import RatingScope, read_ratings
    from markscheme.weigh.compare import VariantsComparison, adjust_pairs

    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    exam = exam if isinstance(exam, Exam) else load_exam(exam, rubric=rubric)
    variants = tuple(map(to_nfc, (baseline, *candidates)))
    if len(set(variants)) < len(variants):
        raise UsageError("a variant is named twice; each can be compared once")
    gaps = bool(more.get("allow_gaps"))
    raters = RatingScope(rubric=rubric, exam=exam, variants=variants, allow_gaps=gaps)
    found = read_ratings(ratings, raters)
    compared = [
        compare(
            rubric,
            exam,
            [rating for rating in found if rating.variant in two],
            baseline=two[0],
            candidate=two[1],
            **more,
        )
        for two in combinations(variants, 2)
    ]
    return VariantsComparison(variants=variants, pairs=adjust_pairs(compared))


def _find_start_times(logs: LogFolder) -> dict[tuple[str, str, int], datetime]:
    """Return when each session was first prompted, where its log says so."""
    return {
        (one.item, one.variant, one.attempt): one.transcript.prompts[0].at
        for one in logs.answers
        if one.variant is not None and one.transcript.prompts and one.transcript.prompts[0].at
    }


def _observe_answers(result: Result, file: str, variants: tuple[str, str]) -> tuple[Observed, ...]:
    """Return what was marked and measured of the answers of two variants."""
    from markscheme.weigh.compare import collect_observations

    if result.errors:
        raise AnswersError(
            Problem(file=row.file or file, line=row.line, field=row.item or "", message=row.reason)
            for row in result.errors
        )
    found = collect_observations(restore_row_messages(result.frame.iter_rows(named=True)), variants)
    for variant in variants:
        if not any(one.variant == variant for one in found):
            raise UsageError(f"`{file}` holds no answer with the subject `{variant}`")
    return found
