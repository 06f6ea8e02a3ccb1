"""`markscheme compare`: may this variant replace that one?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from markscheme.cli.exit_codes import VERDICT_EXIT_CODES, ExitCode, handle_errors
from markscheme.cli.options import format_option, store_option
from markscheme.vocabulary import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from markscheme.tell.compare import AnyComparison
    from markscheme.vocabulary import DecisionOutcome
    from markscheme.weigh.compare import (
        Comparison,
        ComparisonPlan,
        RunsComparison,
        VariantsComparison,
    )
    from markscheme.workflows.compare import RunsReport

_EPILOG = """\b
Example:
  markscheme compare -r context-agent -e context-queries --baseline big --candidate small \\
    --ratings ratings.csv --markdown decision.md
  markscheme compare --study study-1 --baseline big --candidate small
  markscheme compare release-1.4 latest --html comparison.html
  markscheme compare --plan --margin 0.5 --noise 0.6

With ratings the exit code is 0 for GO (with monitoring too), 1 for NO-GO, 4 for CONDITIONAL or no
decision; of several candidates, 1 when one is NO-GO, 0 when all are GO. RUN RUN compares stored
runs or result files in pairs: 0 when none is worse than the first by more than the margin, 1 when
one is, 4 when that cannot be told."""


# Power computations make no sense beyond these limits.
_SMALLEST_NUMBER, _LARGEST_NUMBER = Decimal("0.000001"), Decimal(1_000_000)


_GAPS_HELP = (
    "Accept missing ratings, and list them. None is filled in: a query that lacks a score has no "
    "verdict, and then nothing is decided (exit code 4); one that a rater left out rests on the "
    "other raters. Without it, ratings with gaps are refused."
)


class _DecimalParam(click.ParamType[Decimal]):
    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> Decimal:
        try:
            number = Decimal(value)
        except InvalidOperation:
            self.fail(f"{value!r} is no number", param, ctx)
        if not number.is_finite() or number <= 0:
            self.fail(f"{value!r} is not above 0", param, ctx)
        if not _SMALLEST_NUMBER <= number <= _LARGEST_NUMBER:
            self.fail(
                f"{value!r} is not between {_SMALLEST_NUMBER} and {_LARGEST_NUMBER:,}", param, ctx
            )
        return number


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """The options of the command line."""

    runs: tuple[str, ...]
    rubric: str | None
    exams: tuple[str, ...]
    baseline: str | None
    candidate: tuple[str, ...]
    follow_up: tuple[str, ...]
    ratings: tuple[str, ...]
    study: str | None
    answers: str | None
    logs: str | None
    log_map: str | None
    margin: Decimal | None
    noise: Decimal | None
    allow_gaps: bool
    cluster: str | None
    html: str | None
    store: str | None
    seed: int | None

    @property
    def inputs(self) -> list[str]:
        """The files and runs that are read, which no output may overwrite."""
        files = (self.rubric, self.answers, self.log_map, *self.ratings)
        named = (*files, *self.exams, *self.follow_up, *self.runs)
        return [name for name in named if name]


@click.command(name="compare", epilog=_EPILOG)
@click.argument("runs", nargs=-1, metavar="[RUN RUN…]")
@click.option("--rubric", "-r", metavar="FILE|NAME", help="The rubric, a file or a built-in name.")
@click.option(
    "--exam", "-e", "exams", multiple=True, metavar="FILE|NAME", help="The exam; several merge."
)
@click.option("--baseline", "-b", metavar="NAME", help="The variant in production.")
@click.option(
    "--candidate",
    "-c",
    multiple=True,
    metavar="NAME",
    help="The variant that may replace it; may be repeated, then every two are compared.",
)
@click.option(
    "--follow-up",
    multiple=True,
    metavar="FILE|NAME",
    help="An exam of further queries, which decide after a conditional decision; several merge.",
)
@click.option(
    "--ratings",
    multiple=True,
    metavar="FILE",
    help="People's ratings: a .csv, .xlsx or .jsonl file; may be repeated.",
)
@click.option(
    "--study",
    metavar="NAME",
    help="Ratings of a closed study, with its rubric and exam; see `markscheme rate --web`.",
)
@click.option(
    "--answers",
    "-a",
    metavar="FILE",
    help="Answers of both variants, to score and show side by side.",
)
@click.option(
    "--logs",
    metavar="DIR",
    help="Session logs of both variants, to show what they did side by side.",
)
@click.option(
    "--log-map",
    metavar="FILE",
    help="Map logs to items and variants: a .csv, .jsonl or .yaml file.",
)
@click.option(
    "--margin",
    type=_DecimalParam(),
    metavar="N",
    help="Largest loss that still counts as not worse.",
)
@click.option(
    "--allow-gaps",
    is_flag=True,
    help=_GAPS_HELP,
)
@click.option("--cluster", metavar="TAG", help="Items that share this tag are not independent.")
@click.option(
    "--seed",
    type=int,
    metavar="N",
    help="Random seed of the simulation (comparisons by ratings).  [0]",
)
@click.option("--plan", is_flag=True, help="Say how many queries are needed, and compare nothing.")
@click.option(
    "--noise",
    type=_DecimalParam(),
    metavar="N",
    help="With --plan: the assumed standard deviation of differences.",
)
@click.option("--markdown", metavar="FILE", help="Write the comparison as Markdown.")
@click.option("--html", metavar="FILE", help="Write the comparison as one HTML page.")
@store_option
@format_option
@handle_errors
def command(plan: bool, markdown: str | None, format_: str, **options: Any) -> ExitCode:
    """Compare variants: verdicts on queries, a decision, and what the numbers can show."""
    asked = CompareOptions(**options)
    _check_compare_options(asked, plan=plan)
    if markdown and asked.html and Path(markdown).resolve() == Path(asked.html).resolve():
        raise UsageError("one file for --markdown and --html; name two")
    markdown_file = _check_optional_destination(markdown, asked.inputs)
    html_file = _check_optional_destination(asked.html, asked.inputs)
    if html_file is not None and asked.runs:
        from markscheme.workflows.compare import build_runs_report

        report = build_runs_report(*asked.runs, **_collect_run_options(asked))
        _write_optional_file(html_file, lambda: _render_html(report))
        return _show_comparison(report.comparison, markdown_file, format_)
    if plan:
        return _show_comparison(_plan_comparison(asked), markdown_file, format_)
    if asked.runs:
        return _show_comparison(_compare_stored_runs(asked), markdown_file, format_)
    comparison = _compare_by_ratings(asked)
    _write_optional_file(html_file, lambda: _render_html(comparison))
    return _show_comparison(comparison, markdown_file, format_)


def _show_comparison(
    comparison: AnyComparison, markdown_file: Path | None, format_: str
) -> ExitCode:
    """Write and print a comparison or a plan, and return its exit code."""
    from markscheme.tell.compare import print_comparison, render_comparison_markdown

    _write_optional_file(markdown_file, lambda: render_comparison_markdown(comparison))
    if format_ == "json":
        click.echo(json.dumps(comparison.to_dict(), ensure_ascii=False, indent=2))
    else:
        print_comparison(comparison)
    return _get_exit_code(comparison)


def _get_exit_code(comparison: AnyComparison) -> ExitCode:
    from markscheme.weigh.compare import Comparison, RunsComparison, VariantsComparison

    match comparison:
        case Comparison(decision=decision):
            return _get_decision_exit_code(decision.outcome)
        case VariantsComparison():
            codes = {
                _get_decision_exit_code(pair.decision.outcome) for pair in comparison.beside_first
            }
            order = (ExitCode.FAILED, ExitCode.UNDECIDED, ExitCode.OK)
            return next(code for code in order if code in codes)
        case RunsComparison():
            return VERDICT_EXIT_CODES.get(comparison.outcome.value, ExitCode.UNDECIDED)
        case _:
            return ExitCode.OK


def _get_decision_exit_code(outcome: DecisionOutcome | None) -> ExitCode:
    codes = {"go": ExitCode.OK, "go-with-monitoring": ExitCode.OK, "no-go": ExitCode.FAILED}
    return ExitCode.UNDECIDED if outcome is None else codes.get(outcome.value, ExitCode.UNDECIDED)


def _check_compare_options(asked: CompareOptions, *, plan: bool) -> None:
    """Refuse options that would have no effect."""
    if asked.html is not None and plan:
        raise UsageError("--html goes with ratings or runs, not with --plan")
    for option, is_set in {"--plan": plan, "--answers -": asked.answers == "-"}.items():
        if is_set and len(asked.candidate) > 1:
            raise UsageError(f"{option} takes one candidate")
    if asked.log_map and not asked.logs:
        raise UsageError("--log-map goes with --logs")
    if asked.noise is not None and not plan:
        raise UsageError("--noise goes with --plan")
    if asked.seed is not None and (plan or asked.runs):
        raise UsageError("--seed goes with ratings")
    if asked.follow_up and not (asked.ratings or asked.study):
        raise UsageError("--follow-up goes with ratings")
    if asked.cluster and not asked.runs:
        raise UsageError("--cluster goes with runs")


def _compare_by_ratings(asked: CompareOptions) -> Comparison | VariantsComparison:
    from markscheme.workflows.compare import compare, compare_variants

    inputs = _load_rating_inputs(asked)
    if len(asked.candidate) > 1:
        return compare_variants(**inputs, candidates=asked.candidate)
    return compare(**inputs, candidate=asked.candidate[0])


def _load_rating_inputs(asked: CompareOptions) -> dict[str, Any]:
    """Return the arguments of a comparison by ratings, except for the candidates."""
    from markscheme.workflows.documents import load_exam, load_rubric

    named = {"--baseline": asked.baseline, "--candidate": asked.candidate}
    documents = {"--rubric": asked.rubric, "--exam": asked.exams}
    needed = named if asked.study else {**documents, **named, "--ratings": asked.ratings}
    missing = [option for option, value in needed.items() if not value]
    if missing:
        raise UsageError(f"name two runs, or compare by ratings; missing: {', '.join(missing)}")
    if asked.study:
        inputs = _load_study_inputs(asked)
    else:
        rubric = load_rubric(asked.rubric or "")
        inputs = {"exam": load_exam(*asked.exams, rubric=rubric), "ratings": asked.ratings}
        inputs["rubric"] = rubric
    rubric = inputs["rubric"]
    return {
        **inputs,
        "follow_up": load_exam(*asked.follow_up, rubric=rubric) if asked.follow_up else None,
        "baseline": asked.baseline or "",
        "answers": asked.answers,
        "logs": asked.logs,
        "log_map": asked.log_map,
        "margin": asked.margin,
        "allow_gaps": asked.allow_gaps,
        "seed": asked.seed or 0,
    }


def _load_study_inputs(asked: CompareOptions) -> dict[str, Any]:
    """Return rubric, exam and ratings of a closed study, and who rated which query."""
    from markscheme.keep import open_store
    from markscheme.workflows.study import load_study
    from markscheme.workflows.study_results import collect_compared_ratings, restrict_exam

    for option, value in {"--rubric": asked.rubric, "--exam": asked.exams}.items():
        if value:
            raise UsageError(f"{option} does not go with --study, which has its own")
    if asked.ratings:
        raise UsageError("--ratings does not go with --study; name one of them")
    with open_store(asked.store, create=False) as store:
        study = load_study(store, asked.study or "")
        ratings, raters = collect_compared_ratings(store, study, allow_gaps=asked.allow_gaps)
    return {
        "rubric": study.rubric,
        "exam": restrict_exam(study),
        "ratings": ratings,
        "assigned": raters,
    }


def _compare_stored_runs(asked: CompareOptions) -> RunsComparison:
    from markscheme.workflows.compare import compare_runs

    return compare_runs(*asked.runs, **_collect_run_options(asked))


def _collect_run_options(asked: CompareOptions) -> dict[str, Any]:
    for name in ("baseline", "candidate", "ratings", "study", "answers", "logs"):
        if getattr(asked, name):
            raise UsageError(
                f"--{name} goes with ratings, not with runs; the first run is held fast"
            )
    return {
        "rubric": asked.rubric,
        "exam": asked.exams,
        "margin": asked.margin,
        "cluster": asked.cluster,
        "store": asked.store,
    }


def _plan_comparison(asked: CompareOptions) -> ComparisonPlan:
    from markscheme.weigh.compare import plan_comparison

    noise, margin, source, within = _find_noise(asked)
    if margin is None:
        raise UsageError("--plan with a guess of the noise needs a margin; name it with --margin")
    if not noise:
        raise UsageError("all differences are equal, so there is no noise to plan by; use --noise")
    return plan_comparison(float(margin), noise, within=within, source=source)


def _find_noise(asked: CompareOptions) -> tuple[float | None, Any, str, float | None]:
    """Return the noise to plan by, the margin, the source of the noise, and its part per run."""
    from markscheme.vocabulary import sentence
    from markscheme.workflows.compare import compare

    if asked.noise is not None:
        return float(asked.noise), asked.margin, sentence("a guess"), None
    if asked.runs:
        pairs = _compare_stored_runs(asked).pairs
        if not pairs:
            raise UsageError("the runs cannot be compared, so they show no noise; use --noise")
        statistics, source = pairs[0].statistics, sentence("seen in earlier runs")
        if pairs[0].single is not None:
            return pairs[0].single.noise, statistics.margin, source, pairs[0].single.within
        return statistics.paired.sd, statistics.margin, source, None
    if not (asked.ratings or asked.study):
        raise UsageError("--plan needs the noise: --noise N, earlier ratings, or two runs")
    statistics = compare(**_load_rating_inputs(asked), candidate=asked.candidate[0]).statistics
    return statistics.paired.sd, statistics.margin, sentence("seen in earlier ratings"), None


def _check_optional_destination(name: str | None, inputs: list[str]) -> Path | None:
    from markscheme.workflows.output_files import check_destination

    return None if name is None else check_destination(name, inputs, suffixes=())


def _write_optional_file(destination: Path | None, text: Callable[[], str]) -> None:
    from markscheme.workflows.output_files import write_file_atomically

    if destination is not None:
        write_file_atomically(destination, text().encode())


def _render_html(comparison: Comparison | VariantsComparison | RunsReport) -> str:
    from markscheme import __version__
    from markscheme.tell.compare import render_comparison_html

    return render_comparison_html(comparison, __version__)
