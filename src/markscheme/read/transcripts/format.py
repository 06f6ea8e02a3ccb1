"""What a log format is to the rest: a name, what gives it away, and a reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from markscheme.read.transcripts.log import Log
from markscheme.transcript import Transcript
from markscheme.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One log format. `looks_for` says in words what `recognises` checks in the content.

    `together` reads logs of one folder, where one may belong to another or repeat it.
    """

    name: str
    looks_for: str
    recognises: Callable[[Log], bool]
    read: Callable[[Log], list[Transcript]]
    together: Callable[[Sequence[Log]], Iterable[tuple[Log, Transcript]]] | None = None

    def read_all(self, logs: Sequence[Log]) -> Iterator[tuple[Log, Transcript]]:
        """Read logs that lie together, each transcript with the log that it comes from."""
        if self.together is not None:
            yield from self.together(logs)
            return
        for log in logs:
            yield from ((log, transcript) for transcript in self.read(log))
