"""What a judged run costs: calls and input tokens, CPU of reading, and time beside the ideal.

    python benchmarks/judge.py [--answers 1000] [--concurrency 50] [--delay 0.5] [--rounds 3]
    python benchmarks/judge.py --work FOLDER [--document docs/performance.md]

1. An exam in the shape of HealthBench: 20 answers with 232 criteria, made of words that a seed
   draws. A server on loopback keeps every request. Tokens are those of all messages, by one
   tokenizer for everybody; the ideal is conversation, answer and criteria once. With a folder for
   their environments, autorubric (one call for each item) and pydantic-evals (LLMJudge) judge the
   same answers.
2. 1,000 recorded replies are read and marked: CPU of `markscheme score --judge` from its start to
   its page.
3. 1,000 answers are judged, 50 at a time, by a server that answers after 0.5 s, which is fast for
   a dozen verdicts with reasons: wall time of `markscheme judge` from its start to its page, beside
   the ideal. The command starts and prints in half a second: the ratio rises with a faster server.

The best of the rounds is printed. Ends with 1 if markscheme makes more than one call for each
answer or 1.3 times the ideal input, or takes more than 1 s of CPU or 1.15 times the ideal time.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE / "peers"), str(HERE.parent / "tests")]

from environments import (  # noqa: E402 - beside the peers
    AUTORUBRIC,
    PYDANTIC_EVALS,
    NotInstalledError,
    installed,
    silent_home,
)
from measure import FailedError, Usage, used  # noqa: E402 - beside the peers

import documents  # noqa: E402 - beside this file
from judge_server import JudgeServer, decide  # noqa: E402 - of the tests
from markscheme import __version__  # noqa: E402
from markscheme.mark.axes import load_token_counter  # noqa: E402

SERVER = HERE.parent / "tests" / "judge_server.py"
MARKSCHEME = "markscheme, one call"
PEERS = {
    "autorubric, per item": ("judges_autorubric.py", AUTORUBRIC),
    "pydantic-evals LLMJudge": (
        "judges_pydantic_evals.py",
        PYDANTIC_EVALS.with_("pydantic-ai-slim[openai]==2.62.0"),
    ),
}
ANSWERS, CRITERIA = 20, 232
MOST_TOKENS, MOST_CPU, MOST_TIME = 1.3, 1.0, 1.15
PATIENCE = 300.0
TEXT = """
    patient doctor should answer because symptoms fever before dose daily children adults may
    treatment risk advice urgent care days weeks when rest fluids pain medicine blood test sleep
    breathing history allergy side effects clinic plan follow safe signs severe mild water food
"""
Figures = tuple[int, int, int]
VERBS = ["States", "Recommends", "Explains", "Asks", "Mentions", "Describes", "Advises"]


@dataclass(frozen=True, kw_only=True)
class Job:
    """The documents of one exam, and the texts of which it consists."""

    folder: Path
    texts: tuple[str, ...]

    def count_ideal(self) -> int:
        """Return the tokens of all texts, each once."""
        return sum(map(load_token_counter("o200k_base"), self.texts))

    def write_judge(self, **keys: Any) -> None:
        """Write the document of the judge."""
        document = {"judge": "strict", "subject": "openai:m", **keys}
        (self.folder / "judge.yaml").write_text(json.dumps(document), encoding="utf-8")

    def build_command(self, verb: str, *options: str | int | Path) -> list[str]:
        """Return a command of markscheme on these documents."""
        files = {"-r": "rubric.yaml", "-e": "exam.yaml", "-a": "answers.jsonl", "-j": "judge.yaml"}
        named = [word for option, name in files.items() for word in (option, self.folder / name)]
        return [sys.executable, "-m", "markscheme", verb, *map(str, [*named, *options])]


def write_job(folder: Path, answers: int) -> Job:
    """Write an exam with criteria as HealthBench has them, and so many answers to it."""
    chance, words = random.Random(1), TEXT.split()  # noqa: S311 - no secret

    def draw(length: int) -> str:
        return " ".join(chance.choices(words, k=length))

    items: list[dict[str, Any]] = []
    for number in range(ANSWERS):
        size = CRITERIA // ANSWERS + (number < CRITERIA % ANSWERS)
        criteria = [
            {
                "id": f"c{at}",
                "points": chance.choice((-8, -5, 3, 5, 8)),
                "says": f"{chance.choice(VERBS)} that {draw(26)}.",
            }
            for at in range(1, size + 1)
        ]
        prompt = f"user: {draw(60)}.\n\nassistant: {draw(90)}.\n\nuser: {draw(50)}?"
        items.append({"id": f"i{number}", "prompt": prompt, "criteria": criteria})
    rows = [
        {"item": f"i{n % ANSWERS}", "attempt": n // ANSWERS + 1, "output": f"{draw(349)}."}
        for n in range(answers)
    ]
    folder.mkdir()
    rubric = "rubric: health\naxes: [{name: facts, kind: criteria, points: 1}]\n"
    (folder / "rubric.yaml").write_text(rubric, encoding="utf-8")
    (folder / "exam.yaml").write_text(json.dumps({"exam": "h", "items": items}), encoding="utf-8")
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "answers.jsonl").write_text(lines, encoding="utf-8")
    (folder / "exam.json").write_text(json.dumps({"items": items, "answers": rows}), "utf-8")
    by_id = {item["id"]: item for item in items}
    texts = [
        text
        for row in rows
        for item in [by_id[row["item"]]]
        for text in (
            item["prompt"],
            row["output"],
            *(criterion["says"] for criterion in item["criteria"]),
        )
    ]
    return Job(folder=folder, texts=tuple(texts))


# --- 1. calls and input tokens ---


def reply_as_asked(body: dict[str, Any]) -> str | dict[str, Any]:
    """Reply in the form that each contestant asks for; everything is met."""
    if body.get("tools"):
        arguments = json.dumps({"reason": "so", "pass": True, "score": 1.0})
        function = {"name": body["tools"][0]["function"]["name"], "arguments": arguments}
        return {
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": function}],
        }
    user = body["messages"][-1]["content"]
    if "\nList:\n" in user:
        return decide(body)
    ids = sorted(set(re.findall(r"\bc\d+\b", user)))
    judgments = [
        {"criterion_id": id_, "criterion_status": "MET", "explanation": "so"} for id_ in ids
    ]
    return json.dumps({"judgments": judgments})


def count_words(bodies: list[dict[str, Any]]) -> int:
    """Return the tokens of all messages; the form of the reply and of tools is not among them."""
    count = load_token_counter("o200k_base")
    return sum(count(message["content"]) for body in bodies for message in body["messages"])


def count_forms(bodies: list[dict[str, Any]]) -> int:
    """Return the tokens of the schemas and tools that requests hold beside their messages."""
    count = load_token_counter("o200k_base")
    forms = [body.get(key) for body in bodies for key in ("response_format", "tools")]
    return sum(count(json.dumps(form)) for form in forms if form)


def ask_markscheme(job: Job, url: str, folder: Path) -> None:
    """Judge with markscheme."""
    job.write_judge(base_url=url)
    used(
        job.build_command("judge", "--no-store"),
        folder,
        silent_home(folder, foreign=False),
        PATIENCE,
    )


def ask_peer(name: str, job: Job, url: str, folder: Path, work: Path) -> None:
    """Judge with a peer in its own environment."""
    script, environment = PEERS[name]
    python = installed(environment, work).python
    command = map(str, [python, HERE / "peers" / script, url, job.folder / "exam.json"])
    used(list(command), folder, silent_home(work, foreign=True), PATIENCE)


def measure_tokens(
    job: Job, folder: Path, work: Path | None
) -> dict[str, tuple[int, int, int] | str]:
    """Return calls, tokens of messages and tokens of forms by contestant, or what went wrong."""
    found: dict[str, tuple[int, int, int] | str] = {}
    for name in (MARKSCHEME, *(PEERS if work else ())):
        server = JudgeServer(say=reply_as_asked)
        server.start()
        try:
            if name == MARKSCHEME:
                ask_markscheme(job, server.url, folder)
            elif work:
                ask_peer(name, job, server.url, folder, work)
        except (FailedError, NotInstalledError) as error:
            found[name] = str(error)
            continue
        found[name] = len(server.bodies), count_words(server.bodies), count_forms(server.bodies)
    return found


# --- 2. reading and marking ---


def record_replies(job: Job, folder: Path) -> None:
    """Record the replies of a server to all calls."""
    server = JudgeServer()
    server.start()
    job.write_judge(base_url=server.url)
    recording = job.folder / "replies.jsonl"
    words = job.build_command("judge", "--no-store", "--record", recording, "--concurrency", 50)
    used(words, folder, silent_home(folder, foreign=False), PATIENCE)
    job.write_judge(subject="replay:replies.jsonl")


def measure_marking(job: Job, folder: Path) -> Usage:
    """Score with the recorded judge: documents, answers, replies, marks, the page."""
    command = job.build_command("score", "--no-store")
    return used(command, folder, silent_home(folder, foreign=False), PATIENCE)


# --- 3. asking ---


def measure_asking(job: Job, folder: Path, options: argparse.Namespace) -> Usage:
    """Judge by a server in another process that replies after a delay."""
    command = [sys.executable, str(SERVER), "0", str(options.delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout  # noqa: S101 - asked for above
        try:
            job.write_judge(base_url=process.stdout.readline().strip())
            words = job.build_command(
                "judge", "--concurrency", options.concurrency, "--store", folder / "store.db"
            )
            return used(words, folder, silent_home(folder, foreign=False), PATIENCE)
        finally:
            process.kill()


def take_best(rounds: list[Usage], name: str) -> Usage:
    """Return the round in which a figure was lowest."""
    return min(rounds, key=lambda usage: float(getattr(usage, name)))


def main() -> None:
    """Measure and print; end with 1 if a figure is beyond its limit."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--answers", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=50)
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=Path, help="folder of the peers' environments")
    parser.add_argument("--document", type=Path, help="write the table between its marks there")
    options = parser.parse_args()
    work = options.work and options.work.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        turn = folder / "turn"
        turn.mkdir()
        small = write_job(folder / "small", ANSWERS)
        tokens = measure_tokens(small, turn, work)
        large = write_job(folder / "large", options.answers)
        record_replies(large, turn)
        marking = [measure_marking(large, turn) for _ in range(options.rounds)]
        asking = []
        for _ in range(options.rounds):
            (turn / "store.db").unlink(missing_ok=True)
            asking.append(measure_asking(large, turn, options))
    cpu, asked = take_best(marking, "cpu").cpu, take_best(asking, "wall")
    ideal = options.answers * options.delay / options.concurrency
    at_once = f"{options.concurrency} at a time, {options.delay} s each"
    text = "\n".join(
        [
            *format_tokens(tokens, small),
            "",
            f"- {options.answers:,} recorded replies read and marked: {cpu:.2f} s of CPU",
            f"- {options.answers:,} answers judged, {at_once}: {asked.wall:.2f} s,",
            f"  {asked.wall / ideal:.2f} × the ideal, with {asked.cpu:.2f} s of CPU",
        ]
    )
    print(text)
    if options.document:
        documents.write(options.document, "judges", text)
    is_met = keeps_token_limits(tokens[MARKSCHEME], small)
    raise SystemExit(not is_met or cpu > MOST_CPU or asked.wall > MOST_TIME * ideal)


def format_tokens(found: dict[str, Figures | str], job: Job) -> list[str]:
    """Return the table of calls and tokens as lines; a row without figures says why."""
    ideal = job.count_ideal()
    lines = [
        f"{ANSWERS} answers, {CRITERIA} criteria; the ideal is {ideal / ANSWERS:.0f} tokens each.",
        "",
        "| judge | version | calls an answer | tokens in | × ideal | with schemas |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for name, figures in found.items():
        version = PEERS[name][1].version if name in PEERS else __version__
        if isinstance(figures, str):
            lines.append(f"| {name} | {version} | {figures} | | | |")
            continue
        calls, words, forms = figures
        shares = f"{words / ideal:.2f} | {(words + forms) / ideal:.2f}"
        row = f"{calls / ANSWERS:.1f} | {words / ANSWERS:.0f} | {shares}"
        lines.append(f"| {name} | {version} | {row} |")
    return lines


def keeps_token_limits(own: Figures | str, job: Job) -> bool:
    """Whether markscheme makes one call for each answer, with little more than the ideal."""
    if isinstance(own, str):
        return False
    return own[0] == ANSWERS and own[1] <= MOST_TOKENS * job.count_ideal()


if __name__ == "__main__":
    main()
