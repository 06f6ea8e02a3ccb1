"""The pages of a calibration: outcome and reasons first, then what was measured."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

from rich.console import Console
from rich.table import Table
from rich.text import Text

from markscheme.ask.judging import format_score
from markscheme.tell.agreement import format_coefficient
from markscheme.tell.console import create_console
from markscheme.tell.language import (
    replace_control_characters,
    translate,
    translate_stored,
)
from markscheme.tell.words import OUTCOME_WORDS
from markscheme.vocabulary import Outcome, format_short, format_signed
from markscheme.weigh.calibration import AxisCalibration, Calibration, Prediction

TableRows: TypeAlias = list[tuple[str, ...]]

_STYLES = {Outcome.PASS: "green", Outcome.FAIL: "red", Outcome.UNDECIDED: "magenta"}


def print_calibration(calibration: Calibration, out: Console | None = None) -> None:
    """Print the outcome of a calibration, axis by axis, and what it rests on."""
    out = out or create_console()
    for line in iterate_heading_lines(calibration):
        _print_line(out, line)
    out.print()
    out.print(_build_table(build_axis_rows(calibration)))
    for name, axis in calibration.axes.items():
        out.print()
        heading = Text(replace_control_characters(name), "bold")
        heading.append(f"  {translate_stored(OUTCOME_WORDS[axis.outcome])}", _STYLES[axis.outcome])
        out.print(heading)
        for line in iterate_axis_lines(axis):
            _print_line(out, f"  {line}")
    out.print()
    for line in iterate_closing_lines(calibration):
        _print_line(out, line)


def _print_line(out: Console, line: str) -> None:
    out.print(Text(replace_control_characters(line)), soft_wrap=True)


def _build_table(rows: TableRows) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    header, *body = rows
    for at, name in enumerate(header):
        table.add_column(name, justify="right" if at > 1 else "left", no_wrap=True)
    for row in body:
        table.add_row(*(Text(replace_control_characters(cell)) for cell in row))
    return table


def iterate_heading_lines(calibration: Calibration) -> Iterator[str]:
    """Yield who was measured on how many answers, and how these were chosen."""
    yield translate(
        "{judge} against people: {outcome}",
        judge=calibration.judge["name"],
        outcome=translate_stored(OUTCOME_WORDS[calibration.outcome]),
    )
    sample = calibration.sample
    values = {"rated": f"{sample.rated:,}", "answers": f"{sample.answers:,}", "seed": sample.seed}
    if sample.random:
        yield translate(
            "{rated} of {answers} answers rated, a random sample (seed {seed})", **values
        )
    else:
        yield translate(
            "{rated} of {answers} answers rated, not a recorded random sample", **values
        )
    if calibration.served:
        yield translate("served by: {models}", models=", ".join(calibration.served))


def build_axis_rows(calibration: Calibration) -> TableRows:
    """Return one row for each axis: its outcome, and agreement with people in numbers."""
    header = (
        translate("axis"),
        translate("outcome"),
        translate("answers"),
        translate("unread"),
        translate("kappa"),
        translate("95 %"),
        translate("at least"),
    )
    return [header, *(_build_axis_row(*named) for named in calibration.axes.items())]


def _build_axis_row(name: str, axis: AxisCalibration) -> tuple[str, ...]:
    interval = axis.interval
    return (
        name,
        translate_stored(OUTCOME_WORDS[axis.outcome]),
        f"{axis.n:,}",
        f"{axis.unread:,}",
        format_coefficient(axis.kappa),
        "" if interval is None else " … ".join(map(format_coefficient, interval)),
        format_coefficient(axis.lower),
    )


def format_percent(share: Fraction | None) -> str:
    """Return a share in whole percent."""
    return "" if share is None else f"{round(share * 100)} %"


def iterate_axis_lines(axis: AxisCalibration) -> Iterator[str]:
    """Yield the reasons of the outcome of an axis, then bias, steadiness and weak places."""
    for reason in axis.reasons:
        yield translate_stored(reason.because)
    if axis.constant is not None:
        yield translate(
            "equal marks: {percent}; a judge that always says {score}: {constant}",
            percent=format_percent(axis.percent),
            score=format_score(axis.constant.score),
            constant=format_percent(axis.constant.percent),
        )
    if axis.bias is not None:
        yield _describe_bias(axis)
    if axis.people.difference is not None:
        yield translate(
            "people agree with each other with kappa {people}; the judge is {difference} from that",
            people=format_coefficient(axis.people.kappa),
            difference=_format_signed(axis.people.difference),
        )
    if axis.steadiness is not None:
        yield translate(
            "asked again: {order} of {of} marks changed with the order, {repeat} when repeated",
            order=axis.steadiness.changed_by_order,
            of=axis.steadiness.verdicts,
            repeat=axis.steadiness.changed_by_repeat,
        )
    if axis.length.spearman is not None:
        yield translate(
            "length of answers and bias: Spearman {spearman}",
            spearman=format_coefficient(axis.length.spearman),
        )
    worst = [tag for tag in axis.worst_tags if tag.percent < 1]
    if worst:
        tags = (f"{tag.tag} {format_percent(tag.percent)} ({tag.n})" for tag in worst)
        yield translate("least agreement: {tags}", tags=", ".join(tags))
    if axis.prediction is not None:
        yield from _describe_prediction(axis.prediction)


def _describe_bias(axis: AxisCalibration) -> str:
    bias = axis.bias
    if bias is None or bias.low is None or bias.high is None:
        mean = Fraction(0) if bias is None else bias.mean
        return translate("bias: {mean} on average", mean=_format_signed(mean))
    return translate(
        "bias: {mean} on average, compared with people (95 %: {low} to {high})",
        mean=_format_signed(bias.mean),
        low=_format_signed(bias.low),
        high=_format_signed(bias.high),
    )


def _format_signed(value: Fraction | float) -> str:
    return format_signed(Fraction(value), 2)


def _describe_prediction(prediction: Prediction) -> Iterator[str]:
    """Say what the mean of the axis is after correction, and what that saves."""
    low, high = (format_short(Fraction(bound), 3) for bound in prediction.interval)
    yield translate(
        "mean of all {answers} answers: {corrected} ({low} to {high}); the judge says {judge},"
        " people on {rated} of them {people}",
        answers=f"{prediction.answers:,}",
        corrected=format_short(prediction.corrected, 3),
        low=low,
        high=high,
        judge=format_short(prediction.judge, 3),
        rated=f"{prediction.rated:,}",
        people=format_short(prediction.people, 3),
    )
    yield translate(
        "the correction (PPI++) removes the judge's bias first, and saves labels second: the"
        " interval is {saved} narrower than that of people's ratings alone",
        saved=format_percent(Fraction(prediction.saved)),
    )


def iterate_closing_lines(calibration: Calibration) -> Iterator[str]:
    """Yield what was asked besides, and until when gates may rest on the judge."""
    canaries = calibration.canaries
    if canaries is None:
        yield translate("no canaries were asked")
    else:
        yield translate(
            "canaries: {asked} asked, {bad} out of range, {unread} not read",
            asked=canaries.asked,
            bad=len(canaries.out_of_range),
            unread=canaries.unread,
        )
    if calibration.unrated:
        yield translate(
            "not rated by people, so not calibrated: {axes}", axes=", ".join(calibration.unrated)
        )
    if calibration.id is None:
        yield translate("not stored: no gate can rest on it")
    elif calibration.outcome is Outcome.PASS and calibration.judge["fingerprint"] is not None:
        yield translate(
            "stored as {id}; gates may rest on this judge until {day}",
            id=calibration.id,
            day=calibration.expires[:10],
        )
    else:
        yield translate("stored as {id}", id=calibration.id)
