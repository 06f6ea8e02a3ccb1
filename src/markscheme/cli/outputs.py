"""Reports as files: HTML, Markdown and JUnit by ending, and what GitHub Actions shows."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

import click

from markscheme import __version__
from markscheme.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.tell.reports import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Where a report goes: files that were asked for, and those that the environment names."""

    junit: Path | None
    markdown: Path | None
    summary: Path | None
    annotations: bool

    @classmethod
    def checked(cls, *, junit: str | None, markdown: str | None, inputs: Iterable[str]) -> Self:
        """Return where to write, or say at once why nothing can be written there."""
        from markscheme.tell.files import check_destination

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
    def reasons(self) -> bool:
        """Whether somebody will read why points were lost."""
        return bool(self.junit or self.markdown or self.summary)

    def write(self, report: Report) -> None:
        """Write the files; each is whole or not there, the summary of the job is added to."""
        from markscheme.tell.files import add_to, write_whole

        if self.junit:
            write_whole(self.junit, _junit(report))
        if self.markdown or self.summary:
            text = _markdown(report)
            if self.markdown:
                write_whole(self.markdown, text)
            if self.summary:
                add_to(self.summary, text)

    def annotate(self, report: Report, *, err: bool) -> None:
        """Print the annotations of a job; to stderr where stdout is a document."""
        from markscheme.tell.github import annotation_lines

        if self.annotations:
            for line in annotation_lines(report):
                click.echo(line, err=err)


def written(path: Path, report: Report) -> int:
    """Write a report in the format of the file's ending; return how many bytes it has."""
    from markscheme.tell.files import write_whole

    content = _FORMATS[path.suffix.lower()](report)
    write_whole(path, content)
    return len(content)


def _html(report: Report) -> bytes:
    from markscheme.tell.html import html

    return html(report, __version__).encode()


def _markdown(report: Report) -> bytes:
    from markscheme.tell.markdown import markdown

    return markdown(report).encode()


def _junit(report: Report) -> bytes:
    from markscheme.tell.junit import junit

    return junit(report, _time_of(report))


_FORMATS = {".html": _html, ".md": _markdown, ".xml": _junit}
REPORTS = tuple(_FORMATS)


def _time_of(report: Report) -> datetime:
    """Return when the run began; of a result file, when it was written; else it was just scored."""
    if report.stored is not None:
        return report.stored.started
    file = Path(report.past.run.name)
    return (
        datetime.fromtimestamp(file.stat().st_mtime, UTC) if file.is_file() else datetime.now(UTC)
    )
