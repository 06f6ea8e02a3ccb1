"""The pages of a judged run: what it will ask, and what was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from markscheme.ask.judging import format_score
from markscheme.tell.console import create_console
from markscheme.tell.language import (
    replace_control_characters,
    translate,
    translate_plural,
    translate_stored,
)
from markscheme.vocabulary import Judge, Panel, Rating, format_plain
from markscheme.workflows.judge_estimate import TOKENIZER, JudgeEstimate
from markscheme.workflows.judged_ratings import JudgedRatings

_MAX_REASONS = 10
_MAX_SCORES = 8


def print_judge_estimate(
    judge: Judge | Panel, estimate: JudgeEstimate, out: Console | None = None
) -> None:
    """Print how many calls there will be, with how many tokens, and what they will cost."""
    out = out or create_console()
    for line in (*_describe_judges(judge), *_describe_estimate(estimate)):
        out.print(Text(replace_control_characters(line)), soft_wrap=True)


def _describe_judges(judge: Judge | Panel) -> Iterator[str]:
    if isinstance(judge, Panel):
        yield translate(
            "panel {name}: {judges}; the {rule} counts, from {quorum} marks on",
            name=judge.name,
            judges=", ".join(member.name for member in judge.judges),
            rule=judge.settle.value,
            quorum=judge.quorum,
        )
    for member in judge.judges:
        yield translate(
            "judge {name}: {subject}, calls: {calls}, orders: {orders}, repeats: {repeats}",
            name=member.name,
            subject=member.subject,
            calls=member.calls_label,
            orders=member.orders,
            repeats=member.repeats,
        )


def _describe_estimate(estimate: JudgeEstimate) -> Iterator[str]:
    calls = sum(estimate.calls.values())
    yield translate(
        "{answers} answers, {distinct} of them different: {calls} calls with {questions} questions",
        answers=f"{estimate.answers:,}",
        distinct=f"{estimate.distinct_answers:,}",
        calls=f"{calls:,}",
        questions=f"{estimate.questions:,}",
    )
    if estimate.tokens_in is None:
        yield translate(
            "tokens in and cost: unknown; `pip install 'markscheme[tokens]'` counts them"
        )
        return
    yield translate(
        "about {tokens_in} tokens in ({tokenizer}) and {tokens_out} out",
        tokens_in=f"{estimate.tokens_in:,}",
        tokenizer=TOKENIZER.value,
        tokens_out=f"{estimate.tokens_out:,}",
    )
    if estimate.cost is None:
        yield translate("cost: unknown; state `price: IN:OUT` in the judge, or --price")
    else:
        yield translate("cost: about {cost}", cost=format_plain(estimate.cost))


def print_judged_ratings(
    judged: JudgedRatings, *, written: Path | None, out: Console | None = None
) -> None:
    """Print what was asked and read: by axis, then what was refused and why."""
    out = out or create_console()
    for line in _describe_judges(judged.judge):
        out.print(Text(replace_control_characters(line)), soft_wrap=True)
    out.print(
        translate(
            "{answers} answers, {calls} calls, {again} asked again",
            answers=f"{judged.answers:,}",
            calls=f"{judged.calls:,}",
            again=f"{judged.asked_again:,}",
        )
    )
    for line in _describe_usage(judged):
        out.print(Text(replace_control_characters(line)), soft_wrap=True)
    out.print()
    out.print(_build_axis_table(judged.ratings))
    for reason, count in list(judged.refused.items())[:_MAX_REASONS]:
        line = translate_plural(
            "{n} call not read: {why}", "{n} calls not read: {why}", count, why=reason
        )
        out.print(Text(replace_control_characters(line), "magenta"), soft_wrap=True)
    if judged.stopped is not None:
        line = translate("stopped: {why}", why=translate_stored(judged.stopped))
        out.print(Text(line, "magenta"), soft_wrap=True)
    if written is not None:
        out.print(Text(translate("wrote {file}", file=written)), soft_wrap=True)


def _describe_usage(judged: JudgedRatings) -> Iterator[str]:
    if judged.tokens_in is not None or judged.tokens_out is not None:
        yield translate(
            "tokens: {tokens_in} in, {tokens_out} out",
            tokens_in=f"{judged.tokens_in or 0:,}",
            tokens_out=f"{judged.tokens_out or 0:,}",
        )
    if judged.cost is not None:
        yield translate("cost: {cost}", cost=format_plain(judged.cost))
    served = sorted({model for models in judged.served.values() for model in models})
    if served:
        yield translate("served by: {models}", models=", ".join(served))


def _build_axis_table(ratings: Iterable[Rating]) -> Table:
    """Return how many marks each axis got, and which."""
    by_axis: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_axis.setdefault(rating.axis, []).append(rating)
    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    table.add_column(translate("axis"), no_wrap=True)
    for name in (translate("marks"), translate("unread")):
        table.add_column(name, justify="right")
    table.add_column(translate("scores"))
    for axis, found in by_axis.items():
        scores = Counter(rating.score for rating in found if rating.score is not None)
        unread = len(found) - scores.total()
        shown = _format_scores(scores, is_criteria=bool(found[0].criterion))
        cells = (axis, f"{scores.total():,}", f"{unread:,}", shown)
        table.add_row(*(Text(replace_control_characters(cell)) for cell in cells))
    return table


def _format_scores(scores: Counter[Fraction | str], *, is_criteria: bool) -> str:
    """Return each score with how often it was given."""
    names: dict[Fraction | str, str] = {}
    if is_criteria:
        names = {Fraction(1): translate("met"), Fraction(0): translate("not met")}
    ordered = sorted(scores, key=lambda score: (isinstance(score, str), str(score)))
    parts = [f"{names.get(score) or format_score(score)} × {scores[score]:,}" for score in ordered]
    return ", ".join([*parts[:_MAX_SCORES], *(["…"] if parts[_MAX_SCORES:] else [])])
