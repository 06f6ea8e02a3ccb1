"""Findings of lint for people, for programs, and for code-scanning pages (SARIF 2.1.0)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markscheme.prove.lint import CODES, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.prove.lint import LintFinding, LintReport

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def format_lint_lines(report: LintReport) -> Iterator[str]:
    """Yield the findings, the hint of each code once, and the totals."""
    yield from map(str, report.findings)
    codes = dict.fromkeys(found.code for found in report.findings)
    if codes:
        yield ""
        yield from (f"{code} {CODES[code].title}: {CODES[code].hint}" for code in sorted(codes))
        yield ""
    for file, count in report.fixed.items():
        yield f"{file}: {_format_count(count, 'repair')}"
    yield f"{_format_count(len(report.files), 'file')}: {_format_lint_totals(report)}"


def _format_lint_totals(report: LintReport) -> str:
    told = [_format_count(n, severity) for severity in Severity if (n := report.count(severity))]
    return ", ".join(told) or "nothing found"


def _format_count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def build_lint_document(report: LintReport) -> dict[str, Any]:
    """Return the findings as plain data."""
    return {
        "files": list(report.files),
        "ok": report.ok,
        "counts": {str(severity): report.count(severity) for severity in Severity},
        "codes": dict(sorted(Counter(found.code for found in report.findings).items())),
        "fixed": dict(report.fixed),
        "findings": [_build_finding_record(found) for found in report.findings],
    }


def _build_finding_record(found: LintFinding) -> dict[str, Any]:
    return {
        "file": found.file,
        "line": found.line,
        "field": found.field,
        "code": found.code,
        "severity": str(found.severity),
        "message": found.message,
        "hint": found.hint,
        "fixable": found.fix is not None,
    }


def build_sarif_log(report: LintReport, version: str) -> dict[str, Any]:
    """Return the findings as a SARIF log of one run."""
    codes = list(CODES)
    driver = {
        "name": "markscheme",
        "version": version,
        "rules": [_build_sarif_rule(code) for code in codes],
    }
    results = [_build_sarif_result(found, codes.index(found.code)) for found in report.findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _build_sarif_rule(code: str) -> dict[str, Any]:
    stated = CODES[code]
    return {
        "id": code,
        "shortDescription": {"text": stated.title},
        "help": {"text": stated.hint},
        "defaultConfiguration": {"level": stated.severity},
    }


def _build_sarif_result(found: LintFinding, index: int) -> dict[str, Any]:
    named = f"{found.field}: " if found.field else ""
    place = {
        "artifactLocation": {"uri": _build_file_uri(found.file)},
        "region": {"startLine": max(found.line, 1)},
    }
    return {
        "ruleId": found.code,
        "ruleIndex": index,
        "level": str(found.severity),
        "message": {"text": f"{named}{found.message} ({found.hint})"},
        "locations": [{"physicalLocation": place}],
    }


def _build_file_uri(file: str) -> str:
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
