"""Fuzz lint with mutated documents: nothing may crash, hang, or lack a line.

`python scripts/fuzz_lint.py --count 10000 --seed 1` mutates the built-in documents and those of the
tests, character by character and line by line. A test runs a few hundred of them.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme import LintReport, lint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from markscheme import LintFinding

ROOT = Path(__file__).parent.parent
DOCUMENTS = (
    ROOT / "src/markscheme/builtin/rubrics/tutor-capstone.yaml",
    ROOT / "src/markscheme/builtin/rubrics/context-agent.yaml",
    ROOT / "src/markscheme/builtin/project/rubric.yaml",
    ROOT / "src/markscheme/builtin/project/exam.yaml",
    ROOT / "tests/documents/literal-decisions.yaml",
    ROOT / "tests/golden/every-axis/rubric.yaml",
    ROOT / "tests/golden/every-axis/exam.yaml",
)
# Seconds, far more than any document takes.
SLOWEST = 20.0
ODDITIES = (
    *(".nan", "-1", "1e9999", "0x10", "99999999999999999999", "~", "[]", "{}", "''", "&a", "*a"),
    *(
        "<<: {}",
        "!!python/object:os.system x",
        "true",
        "2%",
        "\t",
        "\x00",
        "\ufeff",
        "é",
        "e\u0301",
    ),
    *("(?=x)", "[", "}", ": ", "- ", "#", "'", '"', "|", ">", "\u2028", "\r", "---", "...", "?"),
)


def mutate_text(text: str, rng: random.Random) -> str:
    """Return a text after a few random changes."""
    for _ in range(rng.randint(1, 4)):
        text = rng.choice(_CHANGES)(text, rng)
    return text


def _cut_text(text: str, rng: random.Random) -> str:
    start = rng.randint(0, len(text))
    return text[:start] + text[start + rng.randint(1, 12) :]


def _insert_oddity(text: str, rng: random.Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(ODDITIES) + text[at:]


def _replace_value(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    key, colon, _ = lines[at].partition(": ")
    lines[at] = f"{key}{colon}{rng.choice(ODDITIES)}"
    return "\n".join(lines)


def _change_digit(text: str, rng: random.Random) -> str:
    digits = [at for at, character in enumerate(text) if character.isdigit()]
    if not digits:
        return text
    at = rng.choice(digits)
    return f"{text[:at]}{rng.randint(0, 9)}{text[at + 1 :]}"


def _swap_words(text: str, rng: random.Random) -> str:
    words = text.split(" ")
    a, b = rng.randrange(len(words)), rng.randrange(len(words))
    words[a], words[b] = words[b], words[a]
    return " ".join(words)


def _change_line(change: Callable[[list[str], int, random.Random], None]) -> Callable[..., str]:
    def changed(text: str, rng: random.Random) -> str:
        lines = text.split("\n")
        change(lines, rng.randrange(len(lines)), rng)
        return "\n".join(lines)

    return changed


def _drop_line(lines: list[str], at: int, _: random.Random) -> None:
    if len(lines) > 1:
        del lines[at]


def _repeat_line(lines: list[str], at: int, rng: random.Random) -> None:
    lines[at:at] = [lines[at]] * rng.randint(1, 3)


def _move_line(lines: list[str], at: int, rng: random.Random) -> None:
    lines.insert(rng.randint(0, len(lines) - 1), lines.pop(at))


def _indent_line(lines: list[str], at: int, rng: random.Random) -> None:
    lines[at] = " " * rng.randint(0, 6) + lines[at].lstrip()


_CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    _cut_text,
    _insert_oddity,
    _replace_value,
    _change_digit,
    _swap_words,
    *map(_change_line, (_drop_line, _repeat_line, _move_line, _indent_line)),
)


def generate_mutants(count: int, seed: int) -> Iterator[tuple[Path, str]]:
    """Yield `count` mutated documents, the same ones for the same seed."""
    rng = random.Random(seed)  # noqa: S311 - a game of dice, not a secret
    texts = [(path, path.read_text(encoding="utf-8")) for path in DOCUMENTS]
    for _ in range(count):
        path, text = rng.choice(texts)
        yield path, mutate_text(text, rng)


def find_failure(text: str, file: Path) -> str:
    """Lint a document and its fixed form; return what went wrong, or an empty text."""
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    lines = len(re.split("\r\n|[\n\r\x85\u2028\u2029]", text))
    started = time.monotonic()
    try:
        found = lint(file).findings
        repaired = again = lint(file, fix=True) if any(f.fix for f in found) else LintReport()
        if repaired.fixed:
            again = lint(file, fix=True)
    except Exception as error:  # noqa: BLE001 - any exception is a failure of lint
        return f"{type(error).__name__}: {error}"
    if time.monotonic() - started > SLOWEST:
        return f"took longer than {SLOWEST} s"
    if any(not 1 <= finding.line <= lines for finding in (*found, *repaired.findings)):
        return "a finding without a line of the file"
    if repaired.fixed and (again.fixed or _is_unreadable(repaired.findings)):
        return "a repair that spoils the file, or that is never done"
    return ""


def _is_unreadable(findings: Iterable[LintFinding]) -> bool:
    return any(finding.code in {"R001", "E001"} for finding in findings)


def main() -> int:
    """Lint the mutants; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mutant.yaml"
        for number, (path, text) in enumerate(generate_mutants(options.count, options.seed)):
            failure = find_failure(text, file)
            if failure:
                print(f"mutant {number} of {path.name} (seed {options.seed}): {failure}")
                print(text)
                return 1
    print(f"{options.count:,} mutants: no traceback, no hang, every finding with its line")
    return 0


if __name__ == "__main__":
    sys.exit(main())
