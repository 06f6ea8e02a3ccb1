"""The words of a comparison: titles, outcomes, and sentences made from its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from markscheme.tell.language import translate, translate_plural, translate_stored
from markscheme.vocabulary import DecisionOutcome, format_decimal, format_short, format_signed
from markscheme.weigh.compare import (
    Comparison,
    ComparisonPlan,
    PairedSummary,
    Ruling,
    RunPair,
    RunsComparison,
    Statistics,
    VariantsComparison,
    describe_attempts,
    describe_doubts,
)
from markscheme.weigh.gates import Evidence

_FLIPS_SHOWN = 6
_NOTES_SHOWN = 20
_ITEMS_SHOWN = 10
_BOUND_PLACES = (4, 6, 9)


def format_decision(outcome: DecisionOutcome | None) -> str:
    """Return the words for a decision."""
    words = {
        DecisionOutcome.GO: translate("GO"),
        DecisionOutcome.GO_WITH_MONITORING: translate("GO, with monitoring"),
        DecisionOutcome.CONDITIONAL: translate("CONDITIONAL"),
        DecisionOutcome.NO_GO: translate("NO-GO"),
    }
    return translate("no decision") if outcome is None else words[outcome]


def format_evidence(outcome: Evidence) -> str:
    """Return the words for the outcome of compared runs."""
    words = {
        Evidence.PASS: translate("not worse"),
        Evidence.FAIL: translate("worse"),
        Evidence.INCONCLUSIVE: translate("cannot tell"),
    }
    return words[outcome]


def format_p_value(p: Fraction | None, places: int = 4) -> str:
    """Format a p-value; a small one is shown as below a limit, never as 0."""
    least = Fraction(1, 10**places)
    return (
        f"< {format_decimal(least, places)}"
        if p is not None and p < least
        else format_decimal(p, places)
    )


def format_interval(paired: PairedSummary) -> str:
    """Format a t interval; a dash where the differences have no spread."""
    if paired.lower is None or paired.upper is None:
        return "–"
    lower, upper = (f"{bound:+.2f}".replace("-", "−") for bound in (paired.lower, paired.upper))
    return translate("{lower} to {upper}", lower=lower, upper=upper)


def format_comparison_title(comparison: Comparison) -> str:
    """Return the first line."""
    raters = ", ".join(comparison.raters)
    if comparison.rated_by == "judges":
        raters = translate("judge models only ({raters})", raters=raters)
    return translate(
        "{candidate} against {baseline} under {rubric} v{version} on {exam}, rated by {raters}",
        candidate=comparison.candidate,
        baseline=comparison.baseline,
        rubric=comparison.rubric.name,
        version=comparison.rubric.version,
        exam=comparison.exam.name,
        raters=raters,
    )


def format_variants_title(comparison: VariantsComparison) -> str:
    """Return the first line."""
    first = comparison.beside_first[0]
    return translate(
        "{candidates} against {baseline} under {rubric} v{version} on {exam}",
        candidates=", ".join(comparison.variants[1:]),
        baseline=comparison.variants[0],
        rubric=first.rubric.name,
        version=first.rubric.version,
        exam=first.exam.name,
    )


def format_runs_title(comparison: RunsComparison) -> str:
    """Return the first line."""
    return translate(
        "{runs} under {rubric} v{version} on {exam}",
        runs=", ".join(
            run if subject is None else f"{run} ({subject})"
            for run, subject in zip(comparison.runs, comparison.subjects, strict=True)
        ),
        rubric=comparison.rubric.name,
        version=comparison.rubric.version,
        exam=comparison.exam.name,
    )


def format_plan_title(plan: ComparisonPlan) -> str:
    """Return the first line."""
    return translate(
        "margin {margin}, noise {noise} per query ({source}), of which {within} comes anew with "
        "every run",
        margin=f"{plan.margin:g}",
        noise=f"{plan.noise:.4g}",
        source=translate_stored(plan.source),
        within=f"{plan.within:.4g}",
    )


def format_decision_lines(comparison: VariantsComparison) -> Iterator[str]:
    """Yield the decision on each candidate, why, and what to do next."""
    for pair in comparison.beside_first:
        decision = pair.decision
        outcome = f"{format_decision(decision.outcome)}{format_rule(decision.rule)}"
        yield f"{pair.candidate}: {outcome}"
        yield f"  {translate('because: {because}', because=translate_stored(decision.because))}"
        if decision.next:
            yield f"  {translate('next: {next}', next=translate_stored(decision.next))}"
        for line in (*format_rounds(decision), *format_warnings(decision)):
            yield f"  {line}"


def format_rounds(decision: Ruling) -> Iterator[str]:
    """Yield the decisions of the main round and of its follow-up, where there are such queries."""
    main, further = decision.main, decision.follow_up
    if main is None or further is None or not (further.asked and further.queries):
        return
    yield translate(
        "main round: {decision}{rule}",
        decision=format_decision(main.outcome),
        rule=format_rule(main.rule),
    )
    yield translate(
        "follow-up: {decision}{rule}",
        decision=translate("open") if further.outcome is None else format_decision(further.outcome),
        rule=format_rule(further.rule),
    )


def format_warnings(decision: Ruling) -> Iterator[str]:
    """Yield the warnings beside a decision."""
    return (
        translate("warning: {warning}", warning=translate_stored(line))
        for line in decision.warnings
    )


def format_rule(rule: str | None) -> str:
    """Return the rule that decided, to stand after the decision."""
    return translate(" (rule {rule})", rule=rule) if rule else ""


def format_statistics(statistics: Statistics) -> Iterator[str]:
    """Yield the statistics in sentences."""
    paired = statistics.paired
    if paired.mean is not None:
        yield _format_mean_difference(paired)
        evidence = statistics.non_inferiority
        yield translate(
            "no worse than {margin} down: {outcome} (sign-flip p {p})",
            margin=format_decimal(statistics.margin),
            outcome=translate(evidence.outcome.value),
            p=format_p_value(statistics.non_inferiority_p, 6),
        )
    if statistics.agreement is not None:
        agreed = statistics.agreement
        yield translate(
            "raters agree: alpha {alpha}, AC2 {ac2}, kappa {kappa}, equal scores {percent}",
            alpha=format_decimal(agreed.alpha, 3),
            ac2=format_decimal(agreed.ac2, 3),
            kappa=", ".join(format_decimal(kappa, 3) for kappa in agreed.kappa.values()),
            percent=format_decimal(agreed.percent, 3),
        )
    yield from map(translate_stored, statistics.plain)
    for flip in statistics.sensitivity[:_FLIPS_SHOWN]:
        yield translate(
            "{axis} of {variant} on {item} by {rater}: {instead} instead of {score} makes it "
            "{verdict}, decision {decision}",
            axis=flip.rating.axis,
            variant=flip.rating.variant,
            item=flip.rating.item,
            rater=flip.rating.rater,
            instead=format_short(flip.score),
            score=format_short(flip.given),
            verdict=flip.verdict_after or "–",
            decision=format_decision(flip.decision_after),
        )
    more = len(statistics.sensitivity) - _FLIPS_SHOWN
    if more > 0:
        yield translate_plural(
            "… and {n} more rating that would change a verdict",
            "… and {n} more ratings that would change a verdict",
            more,
        )


def _format_mean_difference(paired: PairedSummary) -> str:
    test = (
        translate("exact sign-flip")
        if paired.flips and paired.flips.exact
        else translate("sign-flip")
    )
    named = {
        "mean": format_signed(paired.mean),
        "interval": format_interval(paired),
        "test": test,
        "p": format_p_value(paired.flips.two_sided if paired.flips else None, 6),
        "n": paired.n,
    }
    if paired.repeated:
        return translate(
            "mean difference {mean}, 95 % t interval {interval}, {test} p {p} ({n} items, "
            "{pairs} pairs)",
            **named,
            pairs=paired.pairs,
        )
    return translate(
        "mean difference {mean}, 95 % t interval {interval}, {test} p {p} ({n} pairs)", **named
    )


def format_notes(comparison: Comparison) -> Iterator[str]:
    """Yield the notes of the raters, each on one line."""
    notes = [(query, note) for query in comparison.queries for note in query.notes]
    for query, note in notes[:_NOTES_SHOWN]:
        line = f"{query.item}, {note.variant}, {note.axis} ({note.rater}): {note.note}"
        yield " ".join(line.split())
    if len(notes) > _NOTES_SHOWN:
        yield translate_plural(
            "… and {n} more note", "… and {n} more notes", len(notes) - _NOTES_SHOWN
        )


def format_unused_logs(comparison: Comparison) -> Iterator[str]:
    """Yield the session logs that could not be used, each with its reason, on one line."""
    for log in comparison.unused_logs[:_NOTES_SHOWN]:
        yield " ".join(f"{log.file}: {translate_stored(log.reason)}".split())
    if len(comparison.unused_logs) > _NOTES_SHOWN:
        yield translate("… and {n:,} more", n=len(comparison.unused_logs) - _NOTES_SHOWN)


def format_pair_lines(pair: RunPair, *, items: bool = True) -> Iterator[str]:
    """Yield what two runs show, in sentences, and with `items` those that lost most."""
    yield from format_statistics(pair.statistics)
    clustered = pair.statistics.clustered
    if clustered is not None:
        yield translate(
            "items in {n} clusters: 95 % interval {lower} to {upper}",
            n=clustered.clusters,
            lower=f"{clustered.lower:+.4f}",
            upper=f"{clustered.upper:+.4f}",
        )
    yield _format_passed(pair)
    if items:
        yield from _format_lost_items(pair)


def _format_lost_items(pair: RunPair) -> Iterator[str]:
    lost = pair.lost
    for item in lost[:_ITEMS_SHOWN]:
        sides = pair.items[item]
        yield f"{item}: {format_decimal(sides.baseline)} → {format_decimal(sides.candidate)}"
    if len(lost) > _ITEMS_SHOWN:
        yield translate_plural(
            "… and {n} more item that lost",
            "… and {n} more items that lost",
            len(lost) - _ITEMS_SHOWN,
        )


def format_pairing_lines(comparison: RunsComparison) -> Iterator[str]:
    """Yield how the attempts of each pair of runs were paired, and which run was asked first."""
    for pair in comparison.pairs:
        names = pair.baseline, pair.candidate
        words = [*describe_attempts(pair.attempts, *names), *pair.first.describe_order(*names)]
        yield from (
            f"{pair.baseline} → {pair.candidate}: {translate_stored(line)}" for line in words
        )


def _format_passed(pair: RunPair) -> str:
    passed = pair.passed
    named = {
        "baseline": pair.baseline,
        "before": passed.baseline_only,
        "candidate": pair.candidate,
        "after": passed.candidate_only,
        "p": format_p_value(passed.two_sided),
    }
    if passed.interval is None:
        return translate(
            "passed by {baseline} only: {before}, by {candidate} only: {after} (sign-flip p {p} "
            "by item)",
            **named,
        )
    lower, upper = (format_signed(Fraction(bound)) for bound in passed.interval)
    if pair.statistics.paired.repeated:
        return translate(
            "passed by {baseline} only: {before}, by {candidate} only: {after} (sign-flip p {p} "
            "by item, 95 % interval of the difference {lower} to {upper})",
            **named,
            lower=lower,
            upper=upper,
        )
    return translate(
        "passed by {baseline} only: {before}, by {candidate} only: {after} (exact McNemar p {p}, "
        "95 % interval of the difference {lower} to {upper})",
        **named,
        lower=lower,
        upper=upper,
    )


def explain_outcome(pair: RunPair) -> str:
    """Explain the outcome of two runs: where the bounds of the difference lie beside the margin."""
    evidence, bounds = pair.statistics.non_inferiority, compute_bounds(pair)
    if bounds is None:
        return translate_stored(evidence.because)
    lower, upper = (_format_bound(Fraction(bound), -pair.statistics.margin) for bound in bounds)
    named = {"lower": lower, "upper": upper, "margin": format_margin(pair)}
    match evidence.outcome:
        case Evidence.PASS:
            return translate(
                "The true difference is above {lower} with 95 % confidence, and so within the "
                "margin of {margin}.",
                **named,
            )
        case Evidence.FAIL:
            return translate(
                "The true difference is below {upper} with 95 % confidence, and so beyond the "
                "margin of {margin}.",
                **named,
            )
        case Evidence.INCONCLUSIVE:
            return translate(
                "The true difference may be anything from {lower} to {upper}, and the margin of "
                "{margin} lies between.",
                **named,
            )


def explain_what_settles(pair: RunPair) -> str:
    """Say what would settle an inconclusive outcome; empty for any other."""
    evidence = pair.statistics.non_inferiority
    if evidence.outcome is not Evidence.INCONCLUSIVE:
        return ""
    if evidence.mean is None:
        return translate("More items: one alone, or one cluster, shows no spread.")
    needed, alike = evidence.items_needed, pair.statistics.detectable.pairs_needed
    words = translate("No number of items like these: the difference lies at the margin itself.")
    if needed is not None:
        now = {"n": needed, "now": evidence.n}
        words = translate("About {n:,} items like these, where now there are {now:,}.", **now)
    if alike is None or alike <= evidence.n or pair.statistics.clustered is not None:
        return words
    return f"{words} " + translate(
        "If the two are truly alike, about {n:,} show it 4 times in 5.", n=alike
    )


def describe_pair_doubts(pair: RunPair) -> Iterator[str]:
    """Yield what to know before relying on the outcome."""
    yield from map(translate_stored, describe_doubts(pair.statistics))
    if not pair.first.balanced:
        yield from map(translate_stored, pair.first.describe_order(pair.baseline, pair.candidate))
    if pair.attempts.baseline_only or pair.attempts.candidate_only:
        *_, left_out = describe_attempts(pair.attempts, pair.baseline, pair.candidate)
        yield translate_stored(left_out)


def compute_bounds(pair: RunPair) -> tuple[float, float] | None:
    """Return the bounds that decided, as differences of the score; `None` without a spread.

    With a relative margin r, the evidence bounds candidate - (1 - r) * baseline, which is the
    difference plus the margin in points.
    """
    evidence = pair.statistics.non_inferiority
    if evidence.lower is None or evidence.upper is None:
        return None
    shift = float(evidence.margin + pair.statistics.margin)
    return evidence.lower - shift, evidence.upper - shift


def _format_bound(bound: Fraction, margin: Fraction) -> str:
    """Format a bound with as many places as it takes to differ from the margin."""
    told_apart = (p for p in _BOUND_PLACES if format_signed(bound, p) != format_signed(margin, p))
    return format_signed(bound, next(told_apart, _BOUND_PLACES[-1]))


def format_margin(pair: RunPair) -> str:
    """Return the margin as a loss in points of the score."""
    return format_signed(-pair.statistics.margin)
