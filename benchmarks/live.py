"""A thousand items against a server that answers after 100 ms, fifty at a time.

    python benchmarks/live.py [--items 1000] [--concurrency 50] [--delay 0.1] [--rounds 3]

Prints wall time beside the ideal (items × delay ÷ concurrency), and CPU: of asking alone, inside
one process; of the `openai` package doing only that, with which inspect_ai, deepeval and others
ask; and of the whole command with its start, its store and its page.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme import load_exam, load_rubric
from markscheme.ask.pace import Limits
from markscheme.ask.subjects import subject_of
from markscheme.ask.subjects.base import Options
from markscheme.ask.templates import template_of
from markscheme.history.asking import Examination, Plan
from markscheme.keep import open_store
from process_tree import measured

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVER = Path(__file__).parent.parent / "tests" / "chat_server.py"
SDK = Path(__file__).with_name("asks_openai.py")
ANSWER = '{"correction": "He ate.", "spanish_gloss": "Él comió.", "explanation": "Irregular."}'
ALLOWED = 1.15


@contextmanager
def server(delay: float) -> Iterator[str]:
    """Give the address of a server in a process of its own."""
    command = [sys.executable, str(SERVER), "0", str(delay), ANSWER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout  # noqa: S101 - asked for above
        yield process.stdout.readline().strip()
        process.kill()


def exam_file(folder: Path, items: int) -> Path:
    """Write an exam of so many items."""
    path = folder / "exam.yaml"
    entries = (
        f"  - {{id: i{n}, prompt: Conjugate 'eat' for {n}., expected_contains: [ate],"
        f" gloss_contains: [comió]}}\n"
        for n in range(items)
    )
    path.write_text(f"exam: many\nitems:\n{''.join(entries)}", encoding="utf-8")
    return path


def asking(url: str, exam: Path, concurrency: int, store: Path) -> tuple[float, float]:
    """Ask inside this process; return wall and CPU seconds of that alone."""
    rubric = load_rubric("tutor-capstone")
    plan = Plan(
        rubric=rubric,
        exam=load_exam(exam, rubric=rubric),
        subjects=(subject_of("openai:m", Options(base_url=url, concurrency=concurrency)),),
        template=template_of(rubric),
        limits=Limits(concurrency=concurrency),
    )
    with open_store(store, create=True) as opened:
        examination = Examination(plan, opened)
        wall, cpu = time.perf_counter(), time.process_time()
        examined = examination.run()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if examined.stopped or any(one.reply.text is None for one in examined.asked.values()):
        raise SystemExit("not every item was answered")
    return wall, cpu


def main() -> None:
    """Measure; end with 1 if asking took more than 1.15 times the ideal."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=50)
    parser.add_argument("--delay", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    ideal = options.items * options.delay / options.concurrency
    best = (float("inf"), 0.0)
    with tempfile.TemporaryDirectory() as name, server(options.delay) as url:
        folder = Path(name)
        exam = exam_file(folder, options.items)
        for number in range(options.rounds):
            found = asking(url, exam, options.concurrency, folder / f"{number}.db")
            best = min(best, found)
            print(f"round {number + 1}: wall {found[0]:.3f} s, CPU {found[1]:.3f} s", flush=True)
        words: tuple[str, ...] = ("run", "-r", "tutor-capstone", "-e", str(exam), "-s", "openai:m")
        words += ("--base-url", url, "--concurrency", str(options.concurrency))
        command = [sys.executable, "-m", "markscheme", *words, "--store", str(folder / "all.db")]
        whole = measured(command)
        floor = [sys.executable, str(SDK), url, str(options.items), str(options.concurrency)]
        sdk = subprocess.run(floor, check=True, capture_output=True, text=True).stdout.strip()
    ratio = best[0] / ideal
    print(f"{options.items:,} items, {options.concurrency} at a time, {options.delay} s each")
    print(f"ideal           wall {ideal:.3f} s")
    print(f"asking          wall {best[0]:.3f} s = {ratio:.3f} × ideal, CPU {best[1]:.3f} s")
    print(f"openai package  {sdk}")
    print(f"whole command   wall {whole['wall']:.3f} s, CPU {whole['cpu']:.3f} s")
    raise SystemExit(ratio > ALLOWED)


if __name__ == "__main__":
    main()
