"""Show a lint report: as text lines, as JSON data, and as SARIF 2.1.0 for code scanning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markscheme.prove.lint import CODES, LintFinding, LintReport, Severity

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def format_lint_lines(report: LintReport) -> Iterator[str]:
    """Yield the findings, the hint of each code once, and the totals."""
    yield from map(str, report.findings)
    codes = dict.fromkeys(finding.code for finding in report.findings)
    if codes:
        yield ""
        yield from (f"{code} {CODES[code].title}: {CODES[code].hint}" for code in sorted(codes))
        yield ""
    for file, count in report.fixed.items():
        yield f"{file}: {_format_count(count, 'repair')}"
    yield f"{_format_count(len(report.files), 'file')}: {_format_lint_totals(report)}"


def _format_lint_totals(report: LintReport) -> str:
    counts = [_format_count(n, severity) for severity in Severity if (n := report.count(severity))]
    return ", ".join(counts) or "nothing found"


def _format_count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def build_lint_document(report: LintReport) -> dict[str, Any]:
    """Return the report as plain data, for `--format json`."""
    return {
        "files": list(report.files),
        "ok": report.ok,
        "counts": {str(severity): report.count(severity) for severity in Severity},
        "codes": dict(sorted(Counter(finding.code for finding in report.findings).items())),
        "fixed": dict(report.fixed),
        "findings": [_build_finding_record(finding) for finding in report.findings],
    }


def _build_finding_record(finding: LintFinding) -> dict[str, Any]:
    return {
        "file": finding.file,
        "line": finding.line,
        "field": finding.field,
        "code": finding.code,
        "severity": str(finding.severity),
        "message": finding.message,
        "hint": finding.hint,
        "fixable": finding.fix is not None,
    }


def build_sarif_log(report: LintReport, version: str) -> dict[str, Any]:
    """Return the findings as a SARIF log of one run."""
    codes = list(CODES)
    driver = {
        "name": "markscheme",
        "version": version,
        "rules": [_build_sarif_rule(code) for code in codes],
    }
    results = [
        _build_sarif_result(finding, codes.index(finding.code)) for finding in report.findings
    ]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _build_sarif_rule(code: str) -> dict[str, Any]:
    rule = CODES[code]
    return {
        "id": code,
        "shortDescription": {"text": rule.title},
        "help": {"text": rule.hint},
        "defaultConfiguration": {"level": rule.severity},
    }


def _build_sarif_result(finding: LintFinding, index: int) -> dict[str, Any]:
    field = f"{finding.field}: " if finding.field else ""
    location = {
        "artifactLocation": {"uri": _build_file_uri(finding.file)},
        "region": {"startLine": max(finding.line, 1)},
    }
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": str(finding.severity),
        "message": {"text": f"{field}{finding.message} ({finding.hint})"},
        "locations": [{"physicalLocation": location}],
    }


def _build_file_uri(file: str) -> str:
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
