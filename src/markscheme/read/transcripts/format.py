"""The protocol that each log format implements: a name, a check of the content, and a reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from markscheme.read.transcripts.log import Log
from markscheme.vocabulary import Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFormat:
    """One log format.

    `name` is what `--log-format` takes. `looks_for` describes in words what `can_read_log` checks;
    it is shown when no format recognises a log. `read_log` returns one transcript per session.

    `read_together` is for formats in which the files of a folder depend on each other: a sub-agent
    has a file of its own, or a forked session repeats the lines of another. Without it, each log of
    a folder is read on its own.
    """

    name: str
    looks_for: str
    can_read_log: Callable[[Log], bool]
    read_log: Callable[[Log], list[Transcript]]
    read_together: Callable[[Sequence[Log]], Iterable[tuple[Log, Transcript]]] | None = None

    def read_logs(self, logs: Sequence[Log]) -> Iterator[tuple[Log, Transcript]]:
        """Read the logs of one folder; yield each transcript with the log it comes from."""
        if self.read_together is not None:
            yield from self.read_together(logs)
            return
        for log in logs:
            yield from ((log, transcript) for transcript in self.read_log(log))
