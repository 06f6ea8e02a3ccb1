"""A judged run as JUnit XML, which every CI system reads: its gates and its items as test cases.

It keeps to the strictest of the schemas in use (every attribute there, children in order), so that
the others accept it too. The case `verdict` is green exactly when the exit code is 0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from markscheme.tell.language import say, told
from markscheme.tell.reports import OUTCOMES, ItemStatus, answer_lines, item_line
from markscheme.values import dataclass
from markscheme.vocabulary import Level, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from markscheme.tell.reports import ItemReport, Report
    from markscheme.weigh.outcomes import GateOutcome

# What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A test case: passed, or failure, error, skipped with a message and a text."""

    name: str
    group: str
    result: str = ""
    kind: str = ""
    message: str = ""
    text: str = ""


def junit(report: Report, when: datetime) -> bytes:
    """Return the whole document; `when` is the time of the run."""
    suites = {"gates": list(_gates(report)), "items": list(_items(report))}
    root = Element("testsuites")
    for at, (name, cases) in enumerate(suites.items()):
        suite = SubElement(root, "testsuite", _attributes(name, at, cases, when))
        properties = SubElement(suite, "properties")
        for key, value in _properties(report):
            SubElement(properties, "property", {"name": key, "value": _text(value)})
        for case in cases:
            _add(suite, case)
        SubElement(suite, "system-out").text = _text(report.title)
        SubElement(suite, "system-err")
    indent(root)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _attributes(name: str, at: int, cases: list[_Case], when: datetime) -> dict[str, str]:
    counts = {
        plural: str(sum(case.result == result for case in cases))
        for plural, result in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    return {
        "id": str(at),
        "package": "markscheme",
        "name": name,
        "timestamp": f"{when:%Y-%m-%dT%H:%M:%S}",
        "hostname": "localhost",
        "tests": str(len(cases)),
        **counts,
        "time": "0",
    }


def _properties(report: Report) -> Iterator[tuple[str, str]]:
    past = report.past
    yield "run", past.run.name
    yield "rubric", f"{past.rubric.name} v{past.rubric.version}"
    yield "rubric.fingerprint", past.rubric.fingerprint
    yield "exam", past.exam.name
    yield "exam.fingerprint", past.exam.fingerprint
    if past.run.subject is not None:
        yield "subject", past.run.subject


def _add(suite: Element, case: _Case) -> None:
    names = {"name": _text(case.name), "classname": f"markscheme.{case.group}", "time": "0"}
    element = SubElement(suite, "testcase", names)
    if case.result == "skipped":
        SubElement(element, "skipped", {"message": _text(case.message)})
    elif case.result:
        names = {"message": _text(case.message), "type": case.kind}
        SubElement(element, case.result, names).text = _text(case.text or case.message)


_RESULTS = {Outcome.PASS: "", Outcome.FAIL: "failure", Outcome.UNDECIDED: "error"}


def _gates(report: Report) -> Iterator[_Case]:
    yield _Case(
        name="verdict",
        group="gates",
        result=_RESULTS[report.gates.verdict],
        kind=report.gates.verdict.value,
        message=report.verdict,
    )
    yield from map(_gate, report.gates.outcomes)


def _gate(found: GateOutcome) -> _Case:
    """Return a gate as a test case: a soft one that is not met is skipped with its warning."""
    hard = found.gate.level is Level.HARD
    result = _RESULTS.get(found.outcome, "skipped")
    return _Case(
        name=found.gate.name,
        group=f"gates.{found.gate.level.value}",
        result=result if hard or not result else "skipped",
        kind=found.outcome.value,
        message=f"{told(OUTCOMES[found.outcome])}: {told(found.because)}",
        text="\n".join(_gate_lines(found)),
    )


def _gate_lines(found: GateOutcome) -> Iterator[str]:
    yield told(found.because)
    for loss in found.fix_first:
        yield say("{item} costs {points:.4g}", item=loss.item, points=float(loss.lost))


def _items(report: Report) -> Iterator[_Case]:
    for item in report.items:
        if item.status is ItemStatus.PASSED:
            yield _Case(name=item.item, group="items")
            continue
        message = item_line(item, report.past.rubric)
        yield _Case(
            name=item.item,
            group="items",
            result="failure" if item.status is ItemStatus.FAILED else "error",
            kind=item.status.value,
            message=message,
            text="\n".join([message, *_answers(item, report)]),
        )


def _answers(item: ItemReport, report: Report) -> Iterator[str]:
    for row in item.answers:
        yield from answer_lines(row, report.past.rubric)
    if item.more:
        yield say("… and {n:,} more answers that lost points", n=item.more)


def _text(text: str) -> str:
    """Return a text that XML can hold, with what it cannot hold written out."""
    return _FORBIDDEN.sub(lambda found: ascii(found[0])[1:-1], text)
