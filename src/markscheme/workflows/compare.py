"""Comparing variants by the ratings of people, beside what was marked and measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markscheme.read.nfc import to_nfc
from markscheme.read.ratings import RatingScope, read_ratings
from markscheme.vocabulary import (
    AnswersError,
    Exam,
    Problem,
    Rating,
    Rubric,
    UsageError,
    restore_row_messages,
)
from markscheme.weigh.compare import (
    Comparison,
    ComparisonRules,
    Observed,
    VariantsComparison,
    adjust_pairs,
    collect_observations,
    compare_ratings,
    find_first_asked,
)
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.score import score
from markscheme.workflows.sinks import FrameCollector

if TYPE_CHECKING:
    from markscheme.read.session_logs import LogFolder
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
    """Compare a candidate with a baseline by ratings: verdicts, decision, statistics.

    `ratings` are a file (CSV or JSON lines) or rows. `answers` are marked by the axes of the rubric
    and shown beside the verdicts; the variant of an answer is its subject. Session `logs` are
    marked the same way, with what was measured in them; `observed` adds other observations. Which
    variant was asked first is read from logs, or from answers that `markscheme run` recorded.
    `margin` is the loss up to which the candidate counts as no worse; without one it is taken from
    the verdict rules. With `allow_gaps`, a query that is not rated completely has no verdict;
    otherwise ratings with gaps are refused. `seed` is that of the simulation of the decision table.

    Raises:
        UsageError: the rubric has no scales, rules or table, or both variants have one name.
        InputError: the ratings, or the modes of the exam, are not valid.
    """
    from markscheme.read.recordings import read_recorded_order
    from markscheme.read.session_logs import read_logs

    rubric, exam = _load_documents(rubric, exam)
    rules = ComparisonRules(
        rubric=rubric, exam=exam, baseline=to_nfc(baseline), candidate=to_nfc(candidate)
    )
    scope = RatingScope(rubric=rubric, exam=exam, variants=rules.variants, allow_gaps=allow_gaps)
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
    if logs is not None:
        folder = read_logs(str(logs), exam.items, mapping=log_map)
        rows = FrameCollector(messages=True)
        result = rows.show_in(score(rubric, exam, logs=folder, sinks=[rows]))
        observations += _observe_answers(result, str(logs), rules.variants)
        first |= find_first_asked(_find_start_times(folder), rules.variants)
    return compare_ratings(rules, known_ratings, observations, margin, first, seed)


def _load_documents(rubric: Rubric | str | Path, exam: Exam | str | Path) -> tuple[Rubric, Exam]:
    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    return rubric, exam if isinstance(exam, Exam) else load_exam(exam, rubric=rubric)


def compare_variants(
    rubric: Rubric | str | Path,
    exam: Exam | str | Path,
    ratings: str | Path | Iterable[Rating | Mapping[str, Any]],
    *,
    baseline: str,
    candidates: Sequence[str],
    **more: Any,
) -> VariantsComparison:
    """Compare every two of several variants; `more` is passed on to `compare`.

    A rater of a query must rate all of them.
    """
    rubric, exam = _load_documents(rubric, exam)
    variants = tuple(map(to_nfc, (baseline, *candidates)))
    if len(set(variants)) < len(variants):
        raise UsageError("a variant is named twice; each can be compared once")
    allow_gaps = bool(more.get("allow_gaps"))
    scope = RatingScope(rubric=rubric, exam=exam, variants=variants, allow_gaps=allow_gaps)
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
    return VariantsComparison(variants=variants, pairs=adjust_pairs(comparisons))


def _find_start_times(logs: LogFolder) -> dict[tuple[str, str, int], datetime]:
    """Return the time of the first prompt of each session whose log has one."""
    return {
        (answer.item, answer.variant, answer.attempt): prompts[0].at
        for answer in logs.answers
        if answer.variant is not None and (prompts := answer.transcript.prompts) and prompts[0].at
    }


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
