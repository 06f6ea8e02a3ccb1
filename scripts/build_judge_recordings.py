"""Write the recorded judges of docs and of `init --judge`; their replies are written by hand.

A recording knows a call by the words in which it is asked. Each folder has a rubric, an exam,
answers and the document of a judge; `judge_verdicts.json` beside this script says what the judge
replies about each answer. This script builds the calls, and writes the replies to `replies.jsonl`.

Example:
    python scripts/build_judge_recordings.py            write the recordings
    python scripts/build_judge_recordings.py --check    exit 1 if a file is not what it would write
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from msgspec import structs

from markscheme.read.documents import read_judge
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.judge_files import load_answers
from markscheme.workflows.judge_plan import AnswerCalls, JudgeCall, build_judge_plan
from markscheme.workflows.run_plan import Settings

if TYPE_CHECKING:
    from markscheme.vocabulary import Judge

ROOT = Path(__file__).resolve().parents[1]
VERDICTS = Path(__file__).with_name("judge_verdicts.json")
RECORDING = "replies.jsonl"
SERVED = "written by hand"
"""What stands in place of a model: these replies are examples, and no model gave them."""


def build_recording(folder: Path, verdicts: dict[str, Any]) -> str:
    """Return the replies of a folder's judge to all its calls, as JSON lines."""
    rubric = load_rubric(folder / "rubric.yaml")
    exam = load_exam(folder / "exam.yaml", rubric=rubric)
    answers, _ = load_answers(exam, folder / "answers.jsonl")
    judge = cast("Judge", read_judge(folder / "judge.yaml"))
    # The words of a call do not depend on who is asked, and the recording need not exist yet.
    asked = structs.replace(judge, subject="openai:any", recording=None)
    plan = build_judge_plan(rubric, exam, answers, asked, Settings())
    rows: dict[str, dict[str, Any]] = {}
    for entry in plan.answers:
        for call in (call for calls in entry.calls.values() for call in calls):
            rows[call.name] = build_row(entry, call, verdicts)
    lines = (json.dumps(rows[name], ensure_ascii=False) for name in sorted(rows))
    return "".join(f"{line}\n" for line in lines)


def build_row(entry: AnswerCalls, call: JudgeCall, verdicts: dict[str, Any]) -> dict[str, Any]:
    """Return one reply as a row of a recording; a text stands for a reply that is no mark."""
    answer = entry.answer
    key = f"{answer.item} {answer.subject}" if answer.subject else answer.item
    told = verdicts[key]
    reply = told if isinstance(told, str) else build_reply(call, told)
    return {"item": call.name, "output": reply, "finish_reason": "stop", "served": SERVED}


def build_reply(call: JudgeCall, told: dict[str, list[Any]]) -> str:
    """Return the marks of a call: for each question the reason and the verdict."""
    listed = call.questions[::-1] if call.order else call.questions
    marks = [
        {"id": question.id, "why": told[question.id][0], "verdict": told[question.id][1]}
        for question in listed
    ]
    return json.dumps({"marks": marks}, ensure_ascii=False)


def main() -> int:
    """Write or check every recording."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    stale = 0
    for name, verdicts in json.loads(VERDICTS.read_text(encoding="utf-8")).items():
        path, text = ROOT / name / RECORDING, build_recording(ROOT / name, verdicts)
        if check:
            is_stale = not path.exists() or path.read_text(encoding="utf-8") != text
            stale += is_stale
            if is_stale:
                sys.stderr.write(f"{name}/{RECORDING} is out of date\n")
        else:
            path.write_text(text, encoding="utf-8")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
