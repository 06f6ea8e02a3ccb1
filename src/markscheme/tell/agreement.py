"""The agreement of raters as tables, for the terminal and for the HTML page.

Few pairs of raters are listed; of many, the median, the worst and the best are shown, because a
matrix of 162 raters has 13,041 pairs and nobody can read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from rich.console import Console
from rich.table import Table
from rich.text import Text

from markscheme.tell.console import create_console
from markscheme.tell.language import (
    replace_control_characters,
    translate,
    translate_plural,
    translate_stored,
)
from markscheme.vocabulary import ScaleLevel, format_fixed, sentence, to_fraction
from markscheme.weigh.rater_agreement import AxisAgreement, GroupAgreement, RaterAgreement
from markscheme.weigh.rater_pairs import (
    LEAST_SHARED,
    PEOPLE,
    PairAgreement,
    PairKind,
    PairSummary,
)

TableRows = list[tuple[str, ...]]
_PAIRS_LISTED = 10
_NAME_WIDTH = 40
_AXIS_TEXT_COLUMNS = (0, 1)
_PAIR_TEXT_COLUMNS = (0, 1)
_LEVEL_WORDS = {
    ScaleLevel.NOMINAL: sentence("nominal"),
    ScaleLevel.ORDINAL: sentence("ordinal"),
    ScaleLevel.INTERVAL: sentence("interval"),
}
_KIND_WORDS = {
    PairKind.PEOPLE: sentence("two people"),
    PairKind.PERSON_AND_JUDGE: sentence("person and judge"),
    PairKind.JUDGES: sentence("two judges"),
}


def print_agreement(agreement: RaterAgreement, out: Console | None = None) -> None:
    """Print the agreement on each axis, then pairs of raters, then what could not be computed."""
    out = out or create_console()
    _print_table(out, build_agreement_rows(agreement), _AXIS_TEXT_COLUMNS)
    sections = {
        translate("Judges beside the people"): build_judge_rows(agreement),
        translate("Pairs of raters"): build_rater_pair_rows(agreement),
    }
    for heading, rows in sections.items():
        if len(rows) > 1:
            out.print(Text(f"\n{heading}", style="bold"))
            _print_table(out, rows, _PAIR_TEXT_COLUMNS)
    notes = list(iterate_agreement_notes(agreement))
    if notes:
        out.print()
    for note in notes:
        out.print(Text(replace_control_characters(note)), soft_wrap=True)


def _print_table(out: Console, rows: TableRows, text_columns: Sequence[int]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for at, name in enumerate(rows[0]):
        is_text = at in text_columns
        table.add_column(
            name,
            justify="left" if is_text else "right",
            no_wrap=True,
            overflow="ellipsis",
            max_width=_NAME_WIDTH if is_text else None,
        )
    for row in rows[1:]:
        table.add_row(*(Text(replace_control_characters(cell)) for cell in row))
    out.print(table)


def build_agreement_rows(agreement: RaterAgreement) -> TableRows:
    """Return the coefficients of each axis, the header first."""
    header = (
        translate("axis"),
        translate("level"),
        translate("raters"),
        translate("answers"),
        translate("alpha"),
        translate("95 % interval"),
        "AC2",
        translate("equal"),
    )
    rows: TableRows = [header]
    for name, axis in agreement.axes.items():
        interval = axis.alpha_interval
        bounds = "–"
        if interval is not None:
            bounds = f"{format_coefficient(interval.low)} … {format_coefficient(interval.high)}"
        rows.append(_build_group_row(name, axis.level, axis.people, bounds))
        if axis.with_judges is not None:
            label = translate("{axis}, with judges", axis=name)
            rows.append(_build_group_row(label, axis.level, axis.with_judges, ""))
    return rows


def _build_group_row(
    name: str, level: ScaleLevel, group: GroupAgreement, bounds: str
) -> tuple[str, ...]:
    percent = "–" if group.percent is None else f"{format_fixed(100 * group.percent, 1)} %"
    return (
        name,
        translate_stored(_LEVEL_WORDS[level]),
        f"{len(group.raters):,}",
        f"{group.n:,}",
        format_coefficient(group.alpha),
        bounds,
        format_coefficient(group.ac2),
        percent,
    )


def build_judge_rows(agreement: RaterAgreement) -> TableRows:
    """Return each judge beside all people together, on each axis; the header first."""
    rows = [_build_pair_header()]
    for name, axis in agreement.axes.items():
        rows += [_build_pair_row(name, _name_pair(pair), pair) for pair in axis.judges]
    return rows


def build_rater_pair_rows(agreement: RaterAgreement) -> TableRows:
    """Return the pairs of raters of each axis, or a summary if there are many; the header first."""
    rows = [_build_pair_header()]
    for name, axis in agreement.axes.items():
        for summary in axis.pair_summaries:
            pairs = [pair for pair in axis.pairs if pair.kind is summary.kind]
            if len(pairs) <= _PAIRS_LISTED:
                rows += [_build_pair_row(name, _name_pair(pair), pair) for pair in pairs]
            else:
                rows += _build_summary_rows(name, pairs, summary)
    return rows


def _build_pair_header() -> tuple[str, ...]:
    return (
        translate("axis"),
        translate("raters"),
        translate("answers"),
        translate("kappa"),
        "Pearson",
        "Spearman",
        "Kendall",
        "RMSE",
    )


def _build_summary_rows(
    axis: str, pairs: Sequence[PairAgreement], summary: PairSummary
) -> Iterator[tuple[str, ...]]:
    """Yield the median of the pairs of a kind that count, then the worst and the best pair."""
    kind = translate_stored(_KIND_WORDS[summary.kind])
    counted = summary.pairs - summary.few or summary.pairs
    label = translate("median of {n:,} pairs ({kind})", n=counted, kind=kind)
    yield (axis, label, "", *_format_coefficients(summary))
    by_raters = {pair.raters: pair for pair in pairs}
    named = {translate("worst"): summary.worst, translate("best"): summary.best}
    for word, raters in named.items():
        if raters is not None:
            pair = by_raters[raters]
            yield _build_pair_row(axis, f"{word}: {_name_pair(pair)}", pair)


def _build_pair_row(axis: str, label: str, pair: PairAgreement) -> tuple[str, ...]:
    return (axis, label, f"{pair.n:,}", *_format_coefficients(pair))


def _name_pair(pair: PairAgreement) -> str:
    one, other = pair.raters
    if pair.kind is PairKind.PEOPLE:
        return f"{one}, {other}"
    if pair.kind is PairKind.JUDGES:
        return translate("{one}, {other} (judges)", one=one, other=other)
    one = translate("people") if one == PEOPLE else one
    return translate("{one}, {other} (judge)", one=one, other=other)


def _format_coefficients(found: PairAgreement | PairSummary) -> tuple[str, ...]:
    values = (found.kappa, found.pearson, found.spearman, found.kendall, found.rmse)
    return tuple(map(format_coefficient, values))


def format_coefficient(value: Fraction | float | None) -> str:
    """Return a coefficient with three decimals, so that a column of them can be compared."""
    if value is None:
        return "–"
    return format_fixed(value if isinstance(value, Fraction) else to_fraction(value), 3)


def iterate_agreement_notes(agreement: RaterAgreement) -> Iterator[str]:
    """Yield why coefficients are missing, and what was left out, for each axis."""
    for name, axis in agreement.axes.items():
        yield from (f"{name}: {note}" for note in iterate_axis_notes(axis))


def iterate_axis_notes(axis: AxisAgreement) -> Iterator[str]:
    """Yield why coefficients of one axis are missing, and what was left out."""
    names = {
        "alpha": translate("alpha"),
        "alpha_interval": translate("95 % interval"),
        "ac2": "AC2",
        "percent": translate("equal"),
    }
    by_reason: dict[str, list[str]] = {}
    for key, reason in axis.reasons.items():
        by_reason.setdefault(translate_stored(reason), []).append(names[key])
    for reason, missing in by_reason.items():
        yield translate("no {names}: {reason}", names=", ".join(missing), reason=reason)
    # That names have no order is said by the level already.
    lacking = (p for p in axis.pairs if axis.level is not ScaleLevel.NOMINAL or p.kappa is None)
    reasons = [pair.reason for pair in lacking if pair.reason is not None]
    for reason in dict.fromkeys(reasons):
        yield translate_plural(
            "{n:,} pair lacks a coefficient: {reason}",
            "{n:,} pairs lack a coefficient: {reason}",
            reasons.count(reason),
            reason=translate_stored(reason),
        )
    yield from _iterate_summary_notes(axis)
    if axis.empty:
        yield translate_plural("{n:,} rating is empty", "{n:,} ratings are empty", axis.empty)
    if axis.repeats:
        yield translate_plural(
            "{n:,} rating repeats an earlier one of the same rater and is left out",
            "{n:,} ratings repeat an earlier one of the same rater and are left out",
            axis.repeats,
        )


def _iterate_summary_notes(axis: AxisAgreement) -> Iterator[str]:
    """Yield what summaries of many pairs leave out, or that all of their pairs share little."""
    for summary in axis.pair_summaries:
        if not summary.few or summary.pairs <= _PAIRS_LISTED:
            continue
        if summary.few == summary.pairs:
            yield translate(
                "no two raters have {least} answers in common: what pairs show is mostly chance",
                least=LEAST_SHARED,
            )
            continue
        yield translate_plural(
            "{n:,} pair with less than {least} answers in common is not in the summary",
            "{n:,} pairs with less than {least} answers in common are not in the summary",
            summary.few,
            least=LEAST_SHARED,
        )
