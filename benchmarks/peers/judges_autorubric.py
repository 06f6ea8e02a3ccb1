"""autorubric: each answer with its criteria in one call (`llm_calls="per_item"`), no cache."""
# autorubric is installed in the peer's environment only, so mypy cannot see it.
# mypy: disable-error-code="import-not-found, misc"

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from asking import KEY, MODEL
from autorubric import Criterion, LLMConfig, Rubric
from autorubric.graders import CriterionGrader


async def grade_all(url: str, job: dict[str, Any]) -> None:
    """Grade answer by answer."""
    items = {item["id"]: item for item in job["items"]}
    config = LLMConfig(
        model=f"openai/{MODEL}", api_base=url, api_key=KEY, cache_enabled=False, max_retries=1
    )
    grader = CriterionGrader(judge_model_config=config, llm_calls="per_item", normalize=False)
    for row in job["answers"]:
        item = items[row["item"]]
        criteria = [
            Criterion(name=entry["id"], weight=entry["points"], requirement=entry["says"])
            for entry in item["criteria"]
        ]
        report = await Rubric(criteria).grade(row["output"], grader=grader, query=item["prompt"])
        if report.error:
            raise SystemExit(f"wrong: {report.error}")


if __name__ == "__main__":
    asyncio.run(grade_all(sys.argv[1], json.loads(Path(sys.argv[2]).read_bytes())))
