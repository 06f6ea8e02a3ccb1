"""Print how well the reader of commands judges the list of commands in `tests/commands.csv`.

    python scripts/measure_commands.py [FILE]

A line of the list is a command with its group and the expected answer: `mutation`, `harmless` or
`doubt`. Recall is the share of mutating commands that are found; a doubt fails the check S-06 too,
but is counted apart. A false alarm is a harmless command that is called a mutation or a doubt.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter, defaultdict
from pathlib import Path

from markscheme.read.tools import judge_script

COMMANDS = Path(__file__).parent.parent / "tests" / "commands.csv"


def judge(command: str) -> str:
    """Return the answer for a command, in the words of the list."""
    found = judge_script(command)
    return "mutation" if found.changes else "doubt" if found.doubts else "harmless"


def main() -> None:
    """Print a table by group, and the lines whose answer is not the expected one."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else COMMANDS
    answers: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    wrong = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            answer = judge(row["command"])
            for group in (row["group"], "all"):
                answers[group][row["expected"], answer] += 1
            if answer != row["expected"]:
                wrong.append(f"{row['expected']} expected, {answer} found: {row['command']!r}")
    groups = sorted(answers, key=lambda group: (group == "all", group))
    print(f"{'group':16}{'mutations seen':>16}{'false alarms':>16}{'doubts seen':>16}")
    for group in groups:
        counts = answers[group]
        cells = [
            _share(counts["mutation", "mutation"], _sum(counts, "mutation")),
            _share(
                _sum(counts, "harmless") - counts["harmless", "harmless"], _sum(counts, "harmless")
            ),
            _share(counts["doubt", "doubt"], _sum(counts, "doubt")),
        ]
        print(f"{group:16}" + "".join(f"{cell:>16}" for cell in cells))
    print(*wrong, sep="\n")


def _sum(counts: Counter[tuple[str, str]], expected: str) -> int:
    return sum(count for (key, _), count in counts.items() if key == expected)


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else "-"


if __name__ == "__main__":
    main()
