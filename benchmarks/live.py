"""A thousand items against a server that answers after 100 ms, fifty at a time.

    python benchmarks/live.py [--items 1000] [--concurrency 50] [--delay 0.1] [--rounds 3]
    python benchmarks/live.py --work FOLDER [--only NAME] [--document docs/performance.md]

Prints wall time beside the ideal (items × delay ÷ concurrency), and CPU of the whole process tree:
of `markscheme run` from its start to its page, of the same with a server that writes the head and
the body of a response apart, of asking alone inside one process, and of a bare program that only
asks, which is the floor. With a folder for their environments it measures the peers too: the same
questions through the OpenAI-compatible client of each, without cache, each answer judged on the
same four axes. Each has a server of its own. A time counts only if that server was asked every
question exactly once and every item scored 1. The best of the rounds is printed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import documents
from markscheme import __version__, load_exam, load_rubric
from markscheme.ask.questions import load_template
from markscheme.ask.rate_limit import RunLimits
from markscheme.ask.subjects import SubjectOptions, create_subject
from markscheme.keep import open_store
from markscheme.workflows.live_session import LiveSession
from markscheme.workflows.run_plan import RunPlan

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE / "peers"))

from environments import (  # noqa: E402 - beside the peers
    DEEPEVAL,
    INSPECT_AI,
    LM_EVAL,
    PROMPTFOO,
    PYDANTIC_EVALS,
    Environment,
    NotInstalledError,
    installed,
    silent_home,
)
from measure import FailedError, Usage, used  # noqa: E402 - beside the peers

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVER = HERE.parent / "tests" / "chat_server.py"
ANSWER = '{"correction": "He ate.", "spanish_gloss": "Él comió.", "explanation": "Irregular."}'
ALLOWED = 1.15
PATIENCE = 300.0

_PACKAGE = "openai==3.49.0"
PEERS = {
    "openai package": ("asks_openai.py", Environment(name="openai", pip=(_PACKAGE,))),
    "pydantic-evals": ("asks_pydantic_evals.py", PYDANTIC_EVALS.with_(_PACKAGE)),
    "lm-eval": ("asks_lm_eval.py", LM_EVAL.with_("lm-eval[api]")),
    "deepeval": ("asks_deepeval.py", DEEPEVAL.with_(_PACKAGE)),
    "inspect_ai": ("asks_inspect_ai.py", INSPECT_AI.with_(_PACKAGE)),
    "promptfoo": ("asks_promptfoo.py", PROMPTFOO),
}
ASKING, WHOLE = "markscheme, asking alone", "markscheme run, the whole command"
APART = "the same, head and body of responses written apart"
BARE = "a bare program that only asks"


@dataclass(frozen=True, kw_only=True)
class Job:
    """The questions in two notations, how many are asked at a time, and the delay of each."""

    folder: Path
    prompts: tuple[str, ...]
    at_once: int
    delay: float

    @property
    def ideal(self) -> float:
        """Return the seconds in which all could be answered."""
        return len(self.prompts) * self.delay / self.at_once

    @property
    def exam(self) -> Path:
        """Return the exam."""
        return self.folder / "exam.yaml"

    @property
    def template(self) -> Path:
        """Return the prompt that everybody sends: the question alone."""
        return self.folder / "template.txt"


def write_job(folder: Path, options: argparse.Namespace) -> Job:
    """Write an exam of so many items, for markscheme and for the peers."""
    prompts = tuple(f"Conjugate 'eat' for {n}." for n in range(options.items))
    entries = [
        {"id": f"i{n}", "prompt": prompt, "expected_contains": ["ate"], "gloss_contains": ["comió"]}
        for n, prompt in enumerate(prompts)
    ]
    task = Job(folder=folder, prompts=prompts, at_once=options.concurrency, delay=options.delay)
    lines = (f"  - {json.dumps(entry, ensure_ascii=False)}\n" for entry in entries)
    task.exam.write_text(f"exam: many\nitems:\n{''.join(lines)}", encoding="utf-8")
    task.exam.with_suffix(".json").write_text(json.dumps({"items": entries}), encoding="utf-8")
    task.template.write_text("{prompt}", encoding="utf-8")
    return task


@contextmanager
def run_server(task: Job, *how: str) -> Iterator[str]:
    """Yield the address of a server in another process; at the end, check its counts.

    Raises:
        FailedError: not every question was asked exactly once.
    """
    command = [sys.executable, str(SERVER), "0", str(task.delay), ANSWER, *how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout  # noqa: S101 - asked for above
        url = process.stdout.readline().strip()
        try:
            yield url
            with urllib.request.urlopen(f"{url}/counts") as response:  # noqa: S310 - our own
                answer = json.load(response)
        finally:
            process.kill()
    once = Counter(task.prompts)
    if answer["counts"] != once or answer["answered"] != once:
        asked = sum(answer["counts"].values())
        raise FailedError(
            f"wrong: the server was asked {asked:,} times for {len(once):,} questions"
        )


def measure_asking(task: Job, folder: Path) -> Usage:
    """Ask inside this process; return wall and CPU seconds of that alone."""
    rubric = load_rubric("tutor-capstone")
    with run_server(task) as url, open_store(folder / "store.db", create=True) as store:
        plan = RunPlan(
            rubric=rubric,
            exam=load_exam(task.exam, rubric=rubric),
            subjects=(create_subject("openai:m", SubjectOptions(base_url=url)),),
            template=load_template(rubric, str(task.template), structured=False),
            limits=RunLimits(concurrency=task.at_once),
        )
        examination = LiveSession(plan, store)
        wall, cpu = time.perf_counter(), time.process_time()
        examined = examination.run()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    replies = [one.reply for one in examined.asked.values()]
    if len(replies) < len(task.prompts) or any(reply.text is None for reply in replies):
        raise FailedError("not every item was answered")
    return Usage(cpu=cpu, wall=wall, peak_mb=0.0)


def measure_command(task: Job, folder: Path, *how: str) -> Usage:
    """Run the whole command: documents, asking, scores, the stored run, the page."""
    with run_server(task, *how) as url:
        words = ["-r", "tutor-capstone", "-e", task.exam, "-s", "openai:m", "--base-url", url]
        words += ["--template", task.template, "--no-structured", "--concurrency", task.at_once]
        words += ["--store", folder / "store.db"]
        command = [sys.executable, "-m", "markscheme", "run", *map(str, words)]
        usage = used(command, folder, silent_home(task.folder, foreign=False), PATIENCE)
    if "score 1.00 " not in (folder / "stdout.txt").read_text(encoding="utf-8"):
        raise FailedError("wrong: not every item scored 1")
    return usage


def measure_bare(task: Job, folder: Path) -> Usage:
    """Run a program that asks and does nothing else."""
    with run_server(task) as url:
        exam = task.exam.with_suffix(".json")
        words = map(str, [HERE / "peers" / "asks_bare.py", url, exam, task.at_once])
        home = silent_home(task.folder, foreign=False)
        return used([sys.executable, *words], folder, home, PATIENCE)


def measure_peer(name: str, task: Job, folder: Path, work: Path) -> Usage:
    """Let a peer ask in its own environment."""
    script, environment = PEERS[name]
    python = installed(environment, work).python
    with run_server(task) as url:
        exam = task.exam.with_suffix(".json")
        command = map(str, [python, HERE / "peers" / script, url, exam, task.at_once, folder])
        return used(list(command), folder, silent_home(work, foreign=True), PATIENCE)


def measure(name: str, task: Job, work: Path | None) -> Usage | str:
    """Measure one row in an empty folder; return a text that says what went wrong, if it did."""
    folder = task.folder / "turn"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        if name == ASKING:
            return measure_asking(task, folder)
        if name == BARE:
            return measure_bare(task, folder)
        if name == APART:
            return measure_command(task, folder, "apart")
        if work is None or name == WHOLE:
            return measure_command(task, folder)
        return measure_peer(name, task, folder, work)
    except NotInstalledError as error:
        return f"not installed: {error}"
    except FailedError as error:
        return str(error)


def format_table(best: dict[str, Usage | str], ideal: float) -> str:
    """Return the best rounds as a Markdown table; a row without figures says why."""
    lines = ["| who asks | version | wall s | × ideal | CPU s |", "|---|---|--:|--:|--:|"]
    lines.append(f"| ideal | | {ideal:.2f} | 1.00 | |")
    for name, usage in best.items():
        version = PEERS[name][1].version if name in PEERS else "" if name == BARE else __version__
        figures = f"{usage} | | |"
        if isinstance(usage, Usage):
            figures = f"{usage.wall:.2f} | {usage.wall / ideal:.2f} | {usage.cpu:.2f} |"
        lines.append(f"| {name} | {version} | {figures}")
    return "\n".join(lines)


def parse_options() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=50)
    parser.add_argument("--delay", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=Path, help="folder of the peers' environments")
    parser.add_argument("--only", action="append", choices=PEERS, help="this peer; repeatable")
    parser.add_argument("--document", type=Path, help="write the table between its marks there")
    return parser.parse_args()


def main() -> None:
    """Measure; end with 1 if the whole command took more than 1.15 times the ideal."""
    options = parse_options()
    work = options.work and options.work.resolve()
    names = [ASKING, WHOLE, APART, BARE, *((options.only or PEERS) if work else ())]
    best: dict[str, Usage | str] = {}
    with tempfile.TemporaryDirectory() as folder:
        task = write_job(Path(folder), options)
        for number in range(options.rounds):
            for name in names:
                if isinstance(best.get(name), str):
                    continue
                usage = measure(name, task, work)
                figures = usage if isinstance(usage, str) else f"{usage.wall:.3f} {usage.cpu:.3f}"
                print(f"round {number + 1}, {name}: {figures}", file=sys.stderr, flush=True)
                known = best.setdefault(name, usage)
                if (
                    isinstance(known, Usage)
                    and isinstance(usage, Usage)
                    and usage.wall < known.wall
                ):
                    best[name] = usage
    text = format_table(best, task.ideal)
    print(f"{options.items:,} items, {options.concurrency} at a time, {options.delay} s each\n")
    print(text)
    if options.document:
        documents.write(options.document, "live", text)
    command = best[WHOLE]
    raise SystemExit(isinstance(command, str) or command.wall > ALLOWED * task.ideal)


if __name__ == "__main__":
    main()
