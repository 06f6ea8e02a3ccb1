"""A judged run as annotations of a GitHub Actions job: lines in its log that GitHub highlights.

A line begins with `::error`, `::warning` or `::notice`. The rest is escaped, so that nothing in it
is read as another workflow command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.tell.language import translate, translate_stored
from markscheme.tell.page import build_verdict
from markscheme.tell.text import format_gate_name
from markscheme.tell.words import OUTCOME_WORDS, format_run_title
from markscheme.vocabulary import Level, Outcome, format_decimal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.weigh.gates import GateOutcome
    from markscheme.workflows.report import RunReport

_ANNOTATIONS_SHOWN = 5  # GitHub shows ten of each kind in a step
_ANNOTATION_LEVELS = {Outcome.PASS: "notice", Outcome.FAIL: "error", Outcome.UNDECIDED: "error"}


def format_annotations(report: RunReport) -> Iterator[str]:
    """Yield the verdict, every gate that is not met, and what moved since the baseline."""
    verdict = f"{build_verdict(report.gates)}: {format_run_title(report.past, report.stored)}"
    yield _format_workflow_command(
        _ANNOTATION_LEVELS[report.gates.verdict], translate("verdict"), verdict
    )
    for found in report.gates.outcomes:
        yield from _format_gate_annotation(found)
    for compared in report.comparisons:
        if compared.warning:
            yield _format_workflow_command(
                "warning", translate("suspicious rise"), translate_stored(compared.warning)
            )
        for change in compared.regressed[:_ANNOTATIONS_SHOWN]:
            what = translate("{item} went from pass to fail", item=change.item)
            moved = f"{format_decimal(change.before)} → {format_decimal(change.after)}"
            yield _format_workflow_command(
                "warning", translate("regressed item"), f"{what}: {moved}"
            )
        more = len(compared.regressed) - _ANNOTATIONS_SHOWN
        if more > 0:
            yield _format_workflow_command(
                "warning", translate("regressed items"), translate("… and {n:,} more", n=more)
            )


def _format_gate_annotation(found: GateOutcome) -> Iterator[str]:
    """Yield an annotation for a gate that is not met or undecided."""
    if found.outcome in {Outcome.PASS, Outcome.NOT_APPLICABLE}:
        return
    hard = found.gate.level is Level.HARD
    level = "error" if hard else "warning" if found.outcome is Outcome.WARN else "notice"
    name = format_gate_name(found.gate.level, found.gate.name)
    yield _format_workflow_command(
        level,
        f"{name}: {translate_stored(OUTCOME_WORDS[found.outcome])}",
        translate_stored(found.because),
    )


def _format_workflow_command(level: str, title: str, message: str) -> str:
    name = _escape_workflow_text(f"markscheme: {title}").replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={name}::{_escape_workflow_text(message)}"


def _escape_workflow_text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
