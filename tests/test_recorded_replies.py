"""2,000 real replies of judges, recorded in both orders: as they are, and as they would be asked.

LLMBar asked which of two outputs is better, once in each order. As text, none of these replies is
a mark. Put into the form that is asked for, they are read; where the two orders differ, nothing
counts.
"""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from commands import here
from markscheme.ask.judging import RefusedReply, ask_choice, read_judge_text
from markscheme.read.documents import read_judge
from markscheme.vocabulary import ChoiceAxis, Judge
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.judge_files import load_answers
from markscheme.workflows.judge_plan import build_judge_plan
from markscheme.workflows.run_plan import Settings

DATA = Path(__file__).parents[2] / "shared" / "data" / "llmbar" / "judge_outputs.sample.jsonl"
RUBRIC = """\
rubric: better
axes:
  - name: better
    kind: choice
    weight: 1
    question: Which of the two outputs follows the instruction better?
    options: {first: 1, second: 0}
"""
NAMES = {"1": "first", "2": "second"}

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the recorded replies are not here")


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    with DATA.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_project(folder: Path, records: list[dict[str, Any]]) -> None:
    """Write rubric, exam, answers, gold and judge, and the replies in the form that is asked."""
    items = [{"id": f"q{n}", "prompt": f"Pair {n}"} for n in range(len(records))]
    (folder / "rubric.yaml").write_text(RUBRIC)
    (folder / "exam.yaml").write_text(json.dumps({"exam": "llmbar", "items": items}))
    rows = ({"item": item["id"], "output": f"outputs of {item['id']}"} for item in items)
    (folder / "answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    gold = (f"q{n},,gold,better,{NAMES[str(row['gold'])]}\n" for n, row in enumerate(records))
    (folder / "gold.csv").write_text(f"item,variant,rater,axis,score\n{''.join(gold)}")
    (folder / "replies.jsonl").touch()
    (folder / "judge.yaml").write_text("judge: bar\nsubject: replay:replies.jsonl\norders: 2\n")
    rubric = load_rubric(folder / "rubric.yaml")
    exam = load_exam(folder / "exam.yaml", rubric=rubric)
    judge = read_judge(folder / "judge.yaml")
    assert isinstance(judge, Judge)
    asked = structs.replace(judge, subject="openai:any", recording=None)
    answers, _ = load_answers(exam, folder / "answers.jsonl")
    plan = build_judge_plan(rubric, exam, answers, asked, Settings())
    replies = []
    for entry in plan.answers:
        record = records[int(entry.answer.item[1:])]
        for (_, _, order), (call,) in entry.calls.items():
            verdict = NAMES.get(record[f"winner_{order == 1}"])
            mark = {"id": "better", "why": "", "verdict": verdict}
            output = json.dumps({"marks": [mark]})
            # Some of the endpoints did not tell how a reply ended.
            reason = record[f"finish_{order == 1}"] or None
            replies.append({"item": call.name, "output": output, "finish_reason": reason})
    (folder / "replies.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in replies))


def test_no_reply_in_words_is_a_mark(records: list[dict[str, Any]]) -> None:
    options = {"first": Fraction(1), "second": Fraction(0)}
    question = ask_choice(ChoiceAxis(name="better", question="Which?", options=options))
    texts = [record[f"swap_{order}"] for record in records for order in ("False", "True")]
    assert len(texts) == 4_000
    for text in texts:
        assert isinstance(read_judge_text(text or "", [question]), RefusedReply), text


def test_where_the_orders_differ_nothing_counts_and_kappa_is_that_of_the_rest(
    tmp_path: Path, records: list[dict[str, Any]]
) -> None:
    write_project(tmp_path, records)
    files = {"-r": "rubric.yaml", "-e": "exam.yaml", "-a": "answers.jsonl", "-j": "judge.yaml"}
    named = [word for option, name in files.items() for word in (option, tmp_path / name)]
    judged = tmp_path / "judged.csv"
    done = here("judge", *named, "--no-store", "-o", judged, "--format", "json")
    assert done.code == 4
    ratings = done.json["ratings"]
    both = [record for record in records if is_told(record) and record["finish_True"] != "length"]
    flips = [r for r in both if r["winner_False"] != r["winner_True"]]
    same = [r for r in both if r["winner_False"] == r["winner_True"]]
    assert (len(flips), len(same)) == (725, 1_266)
    notes = [rating["note"] for rating in ratings if not rating["repeat"]]
    assert sum("depends on the order of the list" in note for note in notes) == len(flips)
    assert sum(r["score"] is not None for r in ratings if not r["repeat"]) == len(same)
    gold = here(
        *("agree", "--ratings", judged, "--ratings", tmp_path / "gold.csv"),
        *("-r", tmp_path / "rubric.yaml", "--format", "json"),
    )
    (pair,) = gold.json["axes"]["better"]["pairs"]
    assert pair["n"] == len(same)
    assert pair["kappa"] == pytest.approx(float(compute_kappa(same)), abs=1e-12)


def is_told(record: dict[str, Any]) -> bool:
    """Whether the judge named one of the two outputs in both orders."""
    return {record["winner_False"], record["winner_True"]} <= set(NAMES)


def compute_kappa(records: list[dict[str, Any]]) -> Fraction:
    """Return Cohen's kappa of the judge with the gold labels, from the counts."""
    pairs = Counter((record["winner_False"], str(record["gold"])) for record in records)
    size = pairs.total()
    agreed = Fraction(sum(pairs[name, name] for name in NAMES), size)
    judge = {name: sum(pairs[name, other] for other in NAMES) for name in NAMES}
    gold = {name: sum(pairs[other, name] for other in NAMES) for name in NAMES}
    chance = Fraction(sum(judge[name] * gold[name] for name in NAMES), size**2)
    return (agreed - chance) / (1 - chance)
