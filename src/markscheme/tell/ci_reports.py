"""A judged run as CI systems read it: JUnit XML, and annotations of a GitHub Actions job.

In JUnit the gates and the items are test cases. The document follows the strictest of the schemas
in use (every attribute present, children in order), so that all tools accept it. The case `verdict`
passes exactly when the exit code is 0. An annotation is a line in the log of a job that begins with
`::error`, `::warning` or `::notice`. The rest of the line is escaped, so that nothing in it is read
as another workflow command.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from markscheme.tell.language import translate, translate_plural, translate_stored
from markscheme.tell.page import build_gate, build_verdict
from markscheme.tell.text import format_gate_name
from markscheme.tell.words import (
    OUTCOME_WORDS,
    format_answer_lines,
    format_item_line,
    format_run_title,
)
from markscheme.vocabulary import ItemStatus, Level, Outcome, format_decimal, format_short

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from markscheme.weigh.gates import GateOutcome
    from markscheme.workflows.report import RunReport


# Characters that XML 1.0 cannot hold, not even escaped.
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _JUnitCase:
    """A test case; `result` is empty (passed), `failure`, `error` or `skipped`."""

    name: str
    group: str
    result: str = ""
    kind: str = ""
    message: str = ""
    text: str = ""


def render_junit(report: RunReport, when: datetime) -> bytes:
    """Return the XML document; `when` is the time of the run."""
    suites = {"gates": list(_build_gate_cases(report)), "items": list(_build_item_cases(report))}
    root = Element("testsuites")
    for at, (name, cases) in enumerate(suites.items()):
        suite = SubElement(root, "testsuite", _build_suite_attributes(name, at, cases, when))
        properties = SubElement(suite, "properties")
        for key, value in _list_suite_properties(report):
            SubElement(properties, "property", {"name": key, "value": _escape_xml_text(value)})
        for case in cases:
            _add_case(suite, case)
        SubElement(suite, "system-out").text = _escape_xml_text(
            format_run_title(report.past, report.stored)
        )
        SubElement(suite, "system-err")
    indent(root)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _build_suite_attributes(
    name: str, at: int, cases: list[_JUnitCase], when: datetime
) -> dict[str, str]:
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


def _list_suite_properties(report: RunReport) -> Iterator[tuple[str, str]]:
    past = report.past
    yield "run", past.run.name
    yield "rubric", f"{past.rubric.name} v{past.rubric.version}"
    yield "rubric.fingerprint", past.rubric.fingerprint
    yield "exam", past.exam.name
    yield "exam.fingerprint", past.exam.fingerprint
    if past.run.subject is not None:
        yield "subject", past.run.subject


def _add_case(suite: Element, case: _JUnitCase) -> None:
    names = {
        "name": _escape_xml_text(case.name),
        "classname": f"markscheme.{case.group}",
        "time": "0",
    }
    element = SubElement(suite, "testcase", names)
    if case.result == "skipped":
        SubElement(element, "skipped", {"message": _escape_xml_text(case.message)})
    elif case.result:
        names = {"message": _escape_xml_text(case.message), "type": case.kind}
        SubElement(element, case.result, names).text = _escape_xml_text(case.text or case.message)


_JUNIT_RESULTS = {Outcome.PASS: "", Outcome.FAIL: "failure", Outcome.UNDECIDED: "error"}


def _build_gate_cases(report: RunReport) -> Iterator[_JUnitCase]:
    yield _JUnitCase(
        name="verdict",
        group="gates",
        result=_JUNIT_RESULTS[report.gates.verdict],
        kind=report.gates.verdict.value,
        message=str(build_verdict(report.gates)),
    )
    yield from map(_build_junit_gate_case, report.gates.outcomes)


def _build_junit_gate_case(found: GateOutcome) -> _JUnitCase:
    """Return a gate as a test case; a soft gate that is not met is skipped, with its warning."""
    view, hard = build_gate(found), found.gate.level is Level.HARD
    result = _JUNIT_RESULTS.get(found.outcome, "skipped")
    losses = (
        translate("{item} costs {points}", item=loss.item, points=format_short(loss.lost))
        for loss in found.fix_first
    )
    return _JUnitCase(
        name=found.gate.name,
        group=f"gates.{found.gate.level.value}",
        result=result if hard or not result else "skipped",
        kind=found.outcome.value,
        message=f"{view.outcome_word}: {view.because}",
        text="\n".join((view.because, *losses)),
    )


_ITEM_RESULTS = {ItemStatus.FAILED: "failure", ItemStatus.NOT_APPLICABLE: "skipped"}


def _build_item_cases(report: RunReport) -> Iterator[_JUnitCase]:
    items = {item.id: item for item in report.past.exam.items}
    for item in report.items:
        if item.status is ItemStatus.PASSED:
            yield _JUnitCase(name=item.item, group="items")
            continue
        message = format_item_line(item, report.past.rubric)
        lines = [message]
        for row in item.answers:
            lines += format_answer_lines(row, report.past.rubric, items[item.item])
        if item.more:
            lines.append(
                translate_plural(
                    "… and {n:,} more answer that lost points",
                    "… and {n:,} more answers that lost points",
                    item.more,
                )
            )
        yield _JUnitCase(
            name=item.item,
            group="items",
            result=_ITEM_RESULTS.get(item.status, "error"),
            kind=item.status.value,
            message=message,
            text="\n".join(lines),
        )


def _escape_xml_text(text: str) -> str:
    """Replace the characters that XML cannot hold by their escapes."""
    return _NOT_IN_XML.sub(lambda found: ascii(found[0])[1:-1], text)


# Annotations of GitHub Actions

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
