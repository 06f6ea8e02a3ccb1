"""What a notebook shows of a result: the score, the gates, the axes and the worst items."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from markscheme.tell.language import translate
from markscheme.tell.words import find_lost_axes, format_cell_reason, format_row_number
from markscheme.vocabulary import format_decimal
from markscheme.weigh.result import Result

_WORST_ITEMS = 5


def build_result_html(result: Result) -> str:
    """Return a result as a piece of HTML without scripts or styles of its own."""
    summary = result.summary
    score = translate("nothing was scored")
    if summary.score is not None:
        score = translate("score {score}", score=format_decimal(summary.score))
    counts = translate("{n:,} of {answers:,} answers scored", n=summary.n, answers=summary.answers)
    gaps = len(summary.missing) + summary.errors
    if gaps:
        counts += "; " + translate("{n:,} missing or not readable", n=gaps)
    title = f"{result.rubric.name} · {result.exam.name}"
    parts = [f"<p><strong>{escape(title)}</strong>: {escape(score)} ({escape(counts)})</p>"]
    gates = [
        (found.gate.name, translate(found.outcome.value), str(found.because))
        for found in result.gates
    ]
    parts += _build_table((translate("gate"), translate("outcome"), translate("why")), gates)
    axes = [
        (spec.name, str(spec.weight), format_decimal(summary.axes.get(spec.name)))
        for spec in result.rubric
    ]
    parts += _build_table((translate("axis"), translate("weight"), translate("mean")), axes)
    head = (translate("item"), translate("score"), translate("got"), translate("lost"))
    parts += _build_table(head, _list_worst(result))
    return f"<div>{''.join(parts)}</div>"


def _list_worst(result: Result) -> Iterable[tuple[str, ...]]:
    """Yield the answers with the lowest scores below 1, each with the reason of its first loss."""
    frame = result.frame
    if frame.is_empty():
        return
    lost = frame.filter(frame["score"].is_not_null() & (frame["score"] < 1))
    for row in lost.sort("score", maintain_order=True).head(_WORST_ITEMS).iter_rows(named=True):
        reasons = [f"{axis}: {format_cell_reason(row, axis)}" for axis in _find_lost(row, result)]
        yield row["item"], format_row_number(row["score"]), row["got"] or "", "; ".join(reasons)


def _find_lost(row: dict[str, Any], result: Result) -> list[str]:
    return list(find_lost_axes(row, result.rubric))[:2]


def _build_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    body = [f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows]
    if not body:
        return []
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    return [f"<table><thead><tr>{names}</tr></thead><tbody>{''.join(body)}</tbody></table>"]
