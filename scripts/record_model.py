"""Record what the local model says to the built-in exams: the built-in answers `smollm2-*`.

    python scripts/record_model.py [--into FOLDER] [--store FILE]

Three ways of asking, each over capstone, capstone-extra and regression: free (the schema is in the
prompt, nothing holds the model to it), schema (its grammar is held to the schema), examples (three
worked examples in the prompt, free again). Broken off, it goes on where it was.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ANSWERS = Path(__file__).parent.parent / "src" / "markscheme" / "builtin" / "answers"
WAYS = {
    "free": ("--no-structured",),
    "schema": ("--structured",),
    "examples": ("--no-structured", "--examples", "tutor"),
}
EXAMS = ("capstone", "capstone-extra", "regression")


def command(way: str, into: Path, store: str) -> list[str]:
    """Return the command that records one way of asking."""
    exams = [word for exam in EXAMS for word in ("--exam", exam)]
    return [
        *(sys.executable, "-m", "markscheme", "run", "--rubric", "tutor-capstone", *exams),
        *("--subject", "local:smollm2", "--timeout", "300", *WAYS[way]),
        *("--store", store, "--resume", "--record", str(into / f"smollm2-{way}.jsonl")),
    ]


def main() -> None:
    """Record every way of asking."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--into", type=Path, default=ANSWERS)
    parser.add_argument("--store", default=".bench/record.db")
    options = parser.parse_args()
    Path(options.store).parent.mkdir(parents=True, exist_ok=True)
    for way in WAYS:
        print(way, flush=True)
        subprocess.run(command(way, options.into, options.store), check=True)  # noqa: S603


if __name__ == "__main__":
    main()
