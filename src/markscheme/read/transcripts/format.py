"""What a log format is to the rest: a name, what gives it away, and a reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from markscheme.read.transcripts.log import Log
from markscheme.vocabulary import Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFormat:
    """One log format. `looks_for` says in words what `recognises` checks in the content.

    `together` reads logs of one folder, where one may belong to another or repeat it.
    """

    name: str
    looks_for: str
    can_read_log: Callable[[Log], bool]
    read_log: Callable[[Log], list[Transcript]]
    read_together: Callable[[Sequence[Log]], Iterable[tuple[Log, Transcript]]] | None = None

    def read_logs(self, logs: Sequence[Log]) -> Iterator[tuple[Log, Transcript]]:
        """Read logs that lie together, each transcript with the log that it comes from."""
        if self.read_together is not None:
            yield from self.read_together(logs)
            return
        for log in logs:
            yield from ((log, transcript) for transcript in self.read_log(log))
