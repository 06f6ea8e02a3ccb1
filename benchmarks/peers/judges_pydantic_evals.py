"""pydantic-evals: a case for each answer, an `LLMJudge` for each of its criteria."""
# pydantic_evals is installed in the peer's environment only, so mypy cannot see it.
# mypy: disable-error-code="import-not-found, misc"

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from asking import KEY, MODEL
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import LLMJudge


def judge_all(url: str, job: dict[str, Any]) -> None:
    """Evaluate the dataset; every criterion of every answer must have a verdict."""
    items = {item["id"]: item for item in job["items"]}
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=url, api_key=KEY))
    outputs = {items[row["item"]]["prompt"]: row["output"] for row in job["answers"]}
    cases = [
        Case(
            name=row["item"],
            inputs=items[row["item"]]["prompt"],
            evaluators=tuple(
                LLMJudge(
                    rubric=entry["says"],
                    model=model,
                    include_input=True,
                    assertion={"evaluation_name": entry["id"], "include_reason": True},
                )
                for entry in items[row["item"]]["criteria"]
            ),
        )
        for row in job["answers"]
    ]
    dataset = Dataset(name="health", cases=cases)
    report = dataset.evaluate_sync(outputs.__getitem__, progress=False)
    wanted = sum(len(items[row["item"]]["criteria"]) for row in job["answers"])
    if sum(len(case.assertions) for case in report.cases) != wanted:
        raise SystemExit("wrong: a criterion has no verdict")


if __name__ == "__main__":
    judge_all(sys.argv[1], json.loads(Path(sys.argv[2]).read_bytes()))
