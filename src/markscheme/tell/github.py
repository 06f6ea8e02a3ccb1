"""What a job on GitHub Actions shows: annotations, which are lines in the log, and its summary.

A line begins with `::error`, `::warning` or `::notice`; what follows is escaped, so that nothing in
it is taken for another command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.exact import show
from markscheme.tell.language import say, told
from markscheme.tell.reports import OUTCOMES
from markscheme.tell.terminal import gate_named
from markscheme.vocabulary import Level, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.tell.reports import Report
    from markscheme.weigh.outcomes import GateOutcome

_AT_MOST = 5  # GitHub shows ten of each kind in a step
_LEVELS = {Outcome.PASS: "notice", Outcome.FAIL: "error", Outcome.UNDECIDED: "error"}


def annotation_lines(report: Report) -> Iterator[str]:
    """Yield the verdict, every gate that is not met, and what moved since the baseline."""
    said = f"{report.verdict}: {report.title}"
    yield _command(_LEVELS[report.gates.verdict], say("verdict"), said)
    for found in report.gates.outcomes:
        yield from _gate(found)
    for compared in report.comparisons:
        if compared.warning:
            yield _command("warning", say("suspicious rise"), told(compared.warning))
        for change in compared.regressed[:_AT_MOST]:
            what = say("{item} went from pass to fail", item=change.item)
            moved = f"{show(change.before)} → {show(change.after)}"
            yield _command("warning", say("regressed item"), f"{what}: {moved}")
        more = len(compared.regressed) - _AT_MOST
        if more > 0:
            yield _command("warning", say("regressed items"), say("… and {n:,} more", n=more))


def _gate(found: GateOutcome) -> Iterator[str]:
    """Yield a gate that has something to say."""
    if found.outcome in {Outcome.PASS, Outcome.NOT_APPLICABLE}:
        return
    hard = found.gate.level is Level.HARD
    level = "error" if hard else "warning" if found.outcome is Outcome.WARN else "notice"
    name = gate_named(found.gate.level, found.gate.name)
    yield _command(level, f"{name}: {told(OUTCOMES[found.outcome])}", told(found.because))


def _command(level: str, title: str, message: str) -> str:
    name = _escaped(f"markscheme: {title}").replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={name}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
