"""The agreement of raters as one HTML page: each axis with a matrix of few raters, or their order.

With many raters a matrix of pairs cannot be read, so each rater has one line: the median kappa with
the people, the lowest first. Whoever rates by other rules than the rest stands on top.
"""

from __future__ import annotations

from typing import Any

from markscheme.tell.agreement import (
    TableRows,
    build_agreement_rows,
    build_judge_rows,
    build_rater_pair_rows,
    format_coefficient,
    iterate_axis_notes,
)
from markscheme.tell.language import translate
from markscheme.tell.templates import HtmlPage, render_page
from markscheme.weigh.rater_agreement import AxisAgreement, RaterAgreement

_MATRIX_RATERS = 12


def render_agreement_html(agreement: RaterAgreement, version: str) -> str:
    """Return the page of an agreement as one file."""
    return render_page(build_agreement_page(agreement), version)


def build_agreement_page(agreement: RaterAgreement) -> HtmlPage:
    """Return what the page of an agreement shows."""
    judges = build_judge_rows(agreement)
    pairs = build_rater_pair_rows(agreement)
    view = {
        "rows": build_agreement_rows(agreement),
        "judges": judges if len(judges) > 1 else None,
        "pairs": pairs if len(pairs) > 1 else None,
        "axes": [_build_axis_view(at, *named) for at, named in enumerate(agreement.axes.items())],
    }
    return HtmlPage(template="agreement.html", view=view, data={"words": {}})


def _build_axis_view(at: int, name: str, axis: AxisAgreement) -> dict[str, Any]:
    raters = {rater: None for pair in axis.pairs for rater in pair.raters}
    is_small = len(raters) <= _MATRIX_RATERS
    return {
        "id": f"axis-{at}",
        "name": name,
        "matrix": _build_matrix(axis) if raters and is_small else None,
        "raters": _build_standing_rows(axis) if axis.by_rater and not is_small else None,
        "notes": list(iterate_axis_notes(axis)),
    }


def _build_matrix(axis: AxisAgreement) -> TableRows:
    """Return kappa of each two raters; two raters without a common answer have an empty cell."""
    kappas = {frozenset(pair.raters): format_coefficient(pair.kappa) for pair in axis.pairs}
    judges = {one.rater for one in axis.by_rater if one.is_judge}
    names = sorted(set().union(*kappas), key=lambda rater: (rater in judges, rater))
    labels = [
        translate("{rater} (judge)", rater=name) if name in judges else name for name in names
    ]
    rows: TableRows = [("", *labels)]
    for name, label in zip(names, labels, strict=True):
        cells = (kappas.get(frozenset((name, other)), "") for other in names)
        rows.append((label, *cells))
    return rows


def _build_standing_rows(axis: AxisAgreement) -> TableRows:
    """Return the median kappa of each rater with the people, the lowest first."""
    header = (translate("rater"), translate("pairs"), translate("median kappa"))
    rows: TableRows = [header]
    for one in axis.by_rater:
        label = translate("{rater} (judge)", rater=one.rater) if one.is_judge else one.rater
        rows.append((label, f"{one.pairs:,}", format_coefficient(one.kappa)))
    return rows
