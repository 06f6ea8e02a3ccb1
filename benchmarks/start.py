"""CPU of starting: `--help`, and a `score` of three answers.

The command raises the threshold of the garbage collector (`cli.start`) and exits without tearing
down the interpreter (`cli.main`). The table shows what each of the two saves.

    python benchmarks/start.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 7
ANSWERS = '{"item": "e-39-01", "output": "Ate."}\n{"item": "e-39-02", "output": "Will be."}\n'
RUN = "from markscheme.__main__ import main; main()"
VARIANTS = {
    "as it is": RUN,
    "default collector": f"import gc; gc.set_threshold = lambda *_: None; {RUN}",
    "full teardown": f"import os, sys; os._exit = sys.exit; {RUN}",
}
COMMANDS = {
    "--help": ["--help"],
    "score, 3 answers": ["score", "-r", "tutor-capstone", "-e", "capstone", "-a", "answers.jsonl"],
}


def cpu(code: str, words: list[str], folder: Path) -> float:
    """Run a command once; return its CPU milliseconds."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return (usage.ru_utime + usage.ru_stime) * 1000


def main() -> None:
    """Measure all variants in turns, and print the least of each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "answers.jsonl").write_text(ANSWERS + ANSWERS.replace("39-01", "39-03"))
        print(f"CPU ms, the least of {ROUNDS} processes each:\n")
        print(f"| command | {' | '.join(VARIANTS)} |\n|---|{'--:|' * len(VARIANTS)}")
        for command, words in COMMANDS.items():
            rounds = [
                [cpu(code, words, folder) for code in VARIANTS.values()] for _ in range(ROUNDS)
            ]
            least = [f"{min(times):.0f}" for times in zip(*rounds, strict=True)]
            print(f"| {command} | {' | '.join(least)} |")


if __name__ == "__main__":
    main()
