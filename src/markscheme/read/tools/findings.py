"""`Findings`: what a piece of code or a command was found to do."""

from __future__ import annotations

from msgspec import Struct, field

MAX_SHOWN_LENGTH = 200


class Findings(Struct):
    """What was found, in the order of the code.

    - `changes`: what would be changed, or the statement that changes it;
    - `doubts`: why a part cannot be read;
    - `programs`: programs and modules whose effect is not known;
    - `scripts`: shell scripts that the code starts, still to be judged.
    """

    changes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    programs: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)


def shorten_code(text: str) -> str:
    """Return code as one short line, to be quoted."""
    line = " ".join(text[: 2 * MAX_SHOWN_LENGTH].split())
    return line if len(line) <= MAX_SHOWN_LENGTH else f"{line[: MAX_SHOWN_LENGTH - 1]}…"
