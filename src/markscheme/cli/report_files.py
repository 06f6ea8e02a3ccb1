"""Write reports: HTML, Markdown or JUnit by the suffix, and the outputs of GitHub Actions."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from markscheme import __version__
from markscheme.vocabulary import UnescapedWriter, escape_control_characters

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.workflows.report import RunReport


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFiles:
    """Where a report is written: the files of the options, and those that GitHub Actions names."""

    junit: Path | None
    markdown: Path | None
    summary: Path | None
    annotations: bool

    @classmethod
    def from_options(
        cls, *, junit: str | None, markdown: str | None, inputs: Iterable[str]
    ) -> Self:
        """Check the destinations before the work starts; raise if nothing can be written there."""
        from markscheme.workflows.output_files import check_destination

        def destination(name: str | None) -> Path | None:
            return None if name is None else check_destination(name, inputs, suffixes=())

        summary = os.environ.get("GITHUB_STEP_SUMMARY")
        return cls(
            junit=destination(junit),
            markdown=destination(markdown),
            summary=Path(summary) if summary else None,
            annotations=os.environ.get("GITHUB_ACTIONS") == "true",
        )

    @property
    def needs_reasons(self) -> bool:
        """Whether an output shows why points were lost, so that the answers must be read."""
        return bool(self.junit or self.markdown or self.summary)

    def write_reports(self, report: RunReport) -> None:
        """Write each file atomically, and append to the summary of the job."""
        from markscheme.workflows.output_files import append_to_file, write_file_atomically

        if self.junit:
            write_file_atomically(self.junit, _render_junit_report(report))
        if self.markdown or self.summary:
            text = _render_markdown_report(report)
            if self.markdown:
                write_file_atomically(self.markdown, text)
            if self.summary:
                append_to_file(self.summary, text)

    def print_annotations(self, report: RunReport, *, err: bool) -> None:
        """Print the annotations of a job; `err` keeps stdout free for a JSON document."""
        from markscheme.tell.ci_reports import format_annotations

        if self.annotations:
            for line in format_annotations(report):
                stream = UnescapedWriter(sys.stderr if err else sys.stdout)
                stream.write(f"{escape_control_characters(line)}\n")


def write_report(path: Path, report: RunReport) -> int:
    """Write a report in the format of the suffix; return its size in bytes."""
    from markscheme.workflows.output_files import write_file_atomically

    content = _RENDERERS[path.suffix.lower()](report)
    write_file_atomically(path, content)
    return len(content)


def _render_html_report(report: RunReport) -> bytes:
    from markscheme.tell.html import render_run_html

    return render_run_html(report, __version__).encode()


def _render_markdown_report(report: RunReport) -> bytes:
    from markscheme.tell.markdown import render_run_markdown

    return render_run_markdown(report).encode()


def _render_junit_report(report: RunReport) -> bytes:
    from markscheme.tell.ci_reports import render_junit

    return render_junit(report, _find_run_time(report))


_RENDERERS = {
    ".html": _render_html_report,
    ".md": _render_markdown_report,
    ".xml": _render_junit_report,
}
REPORT_SUFFIXES = tuple(_RENDERERS)


def _find_run_time(report: RunReport) -> datetime:
    """Return when the run began; for a result file, its modification time; else now."""
    if report.stored is not None:
        return report.stored.started
    file = Path(report.past.run.name)
    return (
        datetime.fromtimestamp(file.stat().st_mtime, UTC) if file.is_file() else datetime.now(UTC)
    )
