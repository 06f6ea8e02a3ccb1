"""Record what the local model says to the built-in exams: the built-in answers `smollm2-*`.

    python scripts/record_model.py [--way free|schema|examples] [--into FOLDER] [--work FOLDER]

Three ways of asking: free (the schema is in the prompt, nothing enforces it), schema (a grammar
enforces it), examples (three worked examples in the prompt, nothing enforced). Each is two runs,
the capstone with its extra file and the regression set, in one file. After an interruption the
same command goes on where it was.
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
EXAMS = (("capstone", "capstone-extra"), ("regression",))


def record_answers(way: str, exams: tuple[str, ...], work: Path) -> bytes:
    """Return what the model said to some exams, asked in one way."""
    exam_options = [word for exam in exams for word in ("--exam", exam)]
    part = work / f"{way}-{exams[0]}.jsonl"
    command = [
        *(sys.executable, "-m", "markscheme", "run", "--rubric", "tutor-capstone", *exam_options),
        *("--subject", "local:smollm2", "--timeout", "300", *WAYS[way]),
        *("--store", str(work / f"{way}.db"), "--resume", "--record", str(part)),
    ]
    subprocess.run(command, check=True)  # noqa: S603 - our own command
    return part.read_bytes()


def main() -> None:
    """Record the ways of asking."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--way", choices=WAYS, action="append")
    parser.add_argument("--into", type=Path, default=ANSWERS)
    parser.add_argument("--work", type=Path, default=Path(".bench"))
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    for way in options.way or WAYS:
        parts = [record_answers(way, exams, options.work) for exams in EXAMS]
        (options.into / f"smollm2-{way}.jsonl").write_bytes(b"".join(parts))


if __name__ == "__main__":
    main()
