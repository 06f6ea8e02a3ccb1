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
    counts = [_format_count(n, severity) for severity in Severity if (n := report.count(severity))]
    yield f"{_format_count(len(report.files), 'file')}: {', '.join(counts) or 'nothing found'}"


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
        "findings": [
            {
                "file": finding.file,
                "line": finding.line,
                "field": finding.field,
                "code": finding.code,
                "severity": str(finding.severity),
                "message": finding.message,
                "hint": finding.hint,
                "fixable": finding.fix is not None,
            }
            for finding in report.findings
        ],
    }


def build_sarif_log(report: LintReport, version: str) -> dict[str, Any]:
    """Return the findings as a SARIF log of one run."""
    codes = list(CODES)
    driver = {
        "name": "markscheme",
        "version": version,
        "rules": [
            {
                "id": code,
                "shortDescription": {"text": rule.title},
                "help": {"text": rule.hint},
                "defaultConfiguration": {"level": rule.severity},
            }
            for code, rule in CODES.items()
        ],
    }
    results = [
        _build_sarif_result(finding, codes.index(finding.code)) for finding in report.findings
    ]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _build_sarif_result(finding: LintFinding, index: int) -> dict[str, Any]:
    field, path = f"{finding.field}: " if finding.field else "", Path(finding.file)
    location = {
        "artifactLocation": {
            "uri": path.as_uri() if path.is_absolute() else quote(path.as_posix())
        },
        "region": {"startLine": max(finding.line, 1)},
    }
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": str(finding.severity),
        "message": {"text": f"{field}{finding.message} ({finding.hint})"},
        "locations": [{"physicalLocation": location}],
    }
