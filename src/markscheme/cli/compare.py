"""`markscheme compare`: may this variant replace that one?"""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from markscheme.cli.exits import EXIT_OF, Exit, command_body
from markscheme.cli.options import format_option, store_option
from markscheme.errors import UsageError
from markscheme.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from markscheme.verdicts import Decided
    from markscheme.weigh.comparison import Comparison
    from markscheme.weigh.paired_runs import RunsComparison
    from markscheme.weigh.variants import VariantsComparison

_EPILOG = """\b
Example:
  markscheme compare -r context-agent -e context-queries --baseline big --candidate small \\
    --ratings ratings.csv --markdown decision.md
  markscheme compare release-1.4 latest --html comparison.html
  markscheme compare --plan --margin 0.5 --noise 0.6

With ratings the exit code is 0 for GO (with monitoring too), 1 for NO-GO, 4 for CONDITIONAL or no
decision; of several candidates, 1 when one is NO-GO, 0 when all are GO. RUN RUN compares stored
runs or result files in pairs: 0 when none is worse than the first by more than the margin, 1 when
one is, 4 when that cannot be told."""


_LEAST, _MOST = Decimal("0.000001"), Decimal(1_000_000)  # beyond these nothing can be planned


class _Number(click.ParamType[Decimal]):
    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> Decimal:
        try:
            number = Decimal(value)
        except InvalidOperation:
            self.fail(f"{value!r} is no number", param, ctx)
        if not number.is_finite() or number <= 0:
            self.fail(f"{value!r} is not above 0", param, ctx)
        if not _LEAST <= number <= _MOST:
            self.fail(f"{value!r} is not between {_LEAST} and {_MOST:,}", param, ctx)
        return number


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was asked for on the command line."""

    runs: tuple[str, ...]
    rubric: str | None
    exams: tuple[str, ...]
    baseline: str | None
    candidate: tuple[str, ...]
    ratings: str | None
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
        """The files and names that are read."""
        files = (self.rubric, self.ratings, self.answers, self.log_map)
        named = (*files, *self.exams, *self.runs)
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
    help="The variant that may replace it; of several, every two are compared.",
)
@click.option("--ratings", metavar="FILE", help="What people scored: .csv or .jsonl.")
@click.option(
    "--answers", "-a", metavar="FILE", help="Answers of both, marked and shown side by side."
)
@click.option("--logs", metavar="DIR", help="Session logs of both: what was done, side by side.")
@click.option("--log-map", metavar="FILE", help="Which log answers which item, of which variant.")
@click.option("--margin", type=_Number(), metavar="N", help="A loss that still counts as no worse.")
@click.option("--allow-gaps", is_flag=True, help="Let cells be missing; then nothing is decided.")
@click.option("--cluster", metavar="TAG", help="Items that share this tag are not independent.")
@click.option("--seed", type=int, metavar="N", help="By ratings: of the simulation.  [0]")
@click.option("--plan", is_flag=True, help="Say how many queries are needed, and compare nothing.")
@click.option("--noise", type=_Number(), metavar="N", help="With --plan: a guess of the noise.")
@click.option("--markdown", metavar="FILE", help="Write the comparison as Markdown.")
@click.option("--html", metavar="FILE", help="Write the comparison as one HTML page.")
@store_option
@format_option
@command_body
def command(plan: bool, markdown: str | None, format_: str, **options: Any) -> Exit:
    """Compare variants: verdicts on queries, a decision, and what the numbers can show."""
    asked = Asked(**options)
    _check(asked, plan=plan)
    if markdown and asked.html and Path(markdown).resolve() == Path(asked.html).resolve():
        raise UsageError("one file for --markdown and --html; name two")
    destination = _destination(markdown, asked.inputs)
    by_ratings = _by_variants if len(asked.candidate) > 1 else _by_ratings
    page = _planned if plan else _by_runs if asked.runs else by_ratings
    return page(asked, destination, format_)


def _check(asked: Asked, *, plan: bool) -> None:
    """Refuse an option that would be read by nobody."""
    if asked.html is not None and plan:
        raise UsageError("--html goes with ratings or runs, not with --plan")
    once = {"--plan": plan, "--answers -": asked.answers == "-"}
    for option in (option for option, given in once.items() if given):
        if len(asked.candidate) > 1:
            raise UsageError(f"{option} takes one candidate")
    if asked.log_map and not asked.logs:
        raise UsageError("--log-map goes with --logs")
    if asked.noise is not None and not plan:
        raise UsageError("--noise goes with --plan")
    if asked.seed is not None and (plan or asked.runs):
        raise UsageError("--seed goes with ratings")
    if asked.cluster and not asked.runs:
        raise UsageError("--cluster goes with runs")


def _by_ratings(asked: Asked, destination: Path | None, format_: str) -> Exit:
    from markscheme.tell.comparisons import ComparisonPage, comparison_markdown

    html = _destination(asked.html, asked.inputs)
    found = _compared(asked)
    _write(destination, lambda: comparison_markdown(found))
    _write(html, lambda: _html(found))
    if format_ == "json":
        _print(found.to_dict())
    else:
        ComparisonPage().compared(found)
    return _exit_of(found.decision.outcome)


def _by_variants(asked: Asked, destination: Path | None, format_: str) -> Exit:
    from markscheme.library.comparing import compare_variants
    from markscheme.tell.variant_pairs import VariantsPage, variants_markdown

    html = _destination(asked.html, asked.inputs)
    found = compare_variants(**_ratings(asked), candidates=asked.candidate)
    _write(destination, lambda: variants_markdown(found))
    _write(html, lambda: _variants_html(found))
    if format_ == "json":
        _print(found.to_dict())
    else:
        VariantsPage().variants(found)
    exits = {_exit_of(one.decision.outcome) for one in found.decided}
    return next(exit_ for exit_ in (Exit.FAILED, Exit.UNDECIDED, Exit.OK) if exit_ in exits)


def _html(found: Comparison) -> str:
    from markscheme import __version__
    from markscheme.tell.comparison_html import comparison_html

    return comparison_html(found, __version__)


def _variants_html(found: VariantsComparison) -> str:
    from markscheme import __version__
    from markscheme.tell.variants_html import variants_html

    return variants_html(found, __version__)


def _compared(asked: Asked) -> Comparison:
    from markscheme.library.comparing import compare

    return compare(**_ratings(asked), candidate=asked.candidate[0])


def _ratings(asked: Asked) -> dict[str, Any]:
    """Return what is compared by ratings, but for the candidates."""
    from markscheme.library.documents import load_exam, load_rubric

    needed = ("rubric", "exams", "baseline", "candidate", "ratings")
    missing = [f"--{name.removesuffix('s') if name == 'exams' else name}" for name in needed]
    missing = [o for o, name in zip(missing, needed, strict=True) if not getattr(asked, name)]
    if missing or asked.rubric is None or asked.ratings is None:
        told = "name two runs, or compare by ratings"
        raise UsageError(f"{told}; missing: {', '.join(missing)}")
    rubric = load_rubric(asked.rubric)
    return {
        "rubric": rubric,
        "exam": load_exam(*asked.exams, rubric=rubric),
        "ratings": asked.ratings,
        "baseline": asked.baseline or "",
        "answers": asked.answers,
        "logs": asked.logs,
        "log_map": asked.log_map,
        "margin": asked.margin,
        "allow_gaps": asked.allow_gaps,
        "seed": asked.seed or 0,
    }


def _by_runs(asked: Asked, destination: Path | None, format_: str) -> Exit:
    from markscheme.tell.run_pairs import RunsPage, runs_markdown

    html = _destination(asked.html, asked.inputs)
    found = _runs(asked) if html is None else _runs_on_a_page(asked, html)
    _write(destination, lambda: runs_markdown(found))
    if format_ == "json":
        _print(found.to_dict())
    else:
        RunsPage().runs(found)
    return EXIT_OF.get(found.outcome.value, Exit.UNDECIDED)


def _runs_on_a_page(asked: Asked, html: Path) -> RunsComparison:
    """Compare runs, and write a page with those of their answers that differ most."""
    from markscheme import __version__
    from markscheme.history.run_reports import report_on_runs
    from markscheme.history.runs import Context, Runs
    from markscheme.tell.runs_html import runs_html

    _check_runs(asked)
    with Runs(asked.store, Context(rubric=asked.rubric, exams=asked.exams)) as known:
        report = report_on_runs(known, asked.runs, asked.margin, asked.cluster)
    _write(html, lambda: runs_html(report, __version__))
    return report.found


def _check_runs(asked: Asked) -> None:
    for name in ("baseline", "candidate", "ratings", "answers", "logs"):
        if getattr(asked, name):
            raise UsageError(
                f"--{name} goes with ratings, not with runs; the first run is held fast"
            )


def _runs(asked: Asked) -> RunsComparison:
    from markscheme.history.comparing import compare_runs

    _check_runs(asked)
    return compare_runs(
        *asked.runs,
        rubric=asked.rubric,
        exam=asked.exams,
        margin=asked.margin,
        cluster=asked.cluster,
        store=asked.store,
    )


def _planned(asked: Asked, destination: Path | None, format_: str) -> Exit:
    from markscheme.tell.plans import PlanPage, plan_markdown, plan_record
    from markscheme.weigh.planning import plan

    noise, margin, source, within = _noise(asked)
    if margin is None:
        raise UsageError("--plan with a guess of the noise needs a margin; name it with --margin")
    if not noise:
        raise UsageError("all differences are equal, so there is no noise to plan by; use --noise")
    found = plan(float(margin), noise, within=within, source=source)
    _write(destination, lambda: plan_markdown(found))
    if format_ == "json":
        _print(plan_record(found))
    else:
        PlanPage().plan(found)
    return Exit.OK


def _noise(asked: Asked) -> tuple[float | None, Any, str, float | None]:
    """Return the noise to plan by, the margin, where it is from, and what of it is seen anew."""
    from markscheme.sentences import sentence

    if asked.noise is not None:
        return float(asked.noise), asked.margin, sentence("a guess"), None
    if asked.runs:
        pairs = _runs(asked).pairs
        if not pairs:
            raise UsageError("the runs cannot be compared, so they show no noise; use --noise")
        statistics, source = pairs[0].statistics, sentence("seen in earlier runs")
        if pairs[0].single is not None:
            return pairs[0].single.noise, statistics.margin, source, pairs[0].single.within
        return statistics.paired.sd, statistics.margin, source, None
    if asked.ratings is None:
        raise UsageError("--plan needs the noise: --noise N, earlier ratings, or two runs")
    statistics = _compared(asked).statistics
    return statistics.paired.sd, statistics.margin, sentence("seen in earlier ratings"), None


def _destination(name: str | None, inputs: list[str]) -> Path | None:
    from markscheme.tell.files import check_destination

    return None if name is None else check_destination(name, inputs, suffixes=())


def _write(destination: Path | None, text: Callable[[], str]) -> None:
    from markscheme.tell.files import write_whole

    if destination is not None:
        write_whole(destination, text().encode())


def _print(document: dict[str, Any]) -> None:
    click.echo(json.dumps(document, ensure_ascii=False, indent=2))


def _exit_of(outcome: Decided | None) -> Exit:
    exits = {"go": Exit.OK, "go-with-monitoring": Exit.OK, "no-go": Exit.FAILED}
    return Exit.UNDECIDED if outcome is None else exits.get(outcome.value, Exit.UNDECIDED)
