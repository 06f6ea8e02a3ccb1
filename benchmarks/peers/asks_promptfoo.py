"""promptfoo: `promptfoo eval` by its provider `openai:chat`, on its own Node.

One JavaScript assertion, a file, judges the four axes. So many requests at a time, no cache, no
database, no table, no progress bar; the results go to one JSON file. An item that does not score 1
is a failed test, with which promptfoo ends with 100.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from asking import KEY
from with_promptfoo import ENTRY, OPTIONS, node

CONFIG = Path(__file__).parent / "promptfoo" / "asking.yaml"


def main() -> None:
    """Become promptfoo."""
    url, exam, at_once, folder = sys.argv[1:]
    entry = Path(sys.prefix).parent / ENTRY
    output = Path(folder) / "results.json"
    arguments = [node(), entry, "eval", "-c", CONFIG, "-o", output, "-j", at_once, *OPTIONS]
    where = {"PEERS_EXAM": exam, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY}
    os.execve(node(), list(map(str, arguments)), os.environ | where)  # noqa: S606 - no shell


if __name__ == "__main__":
    main()
