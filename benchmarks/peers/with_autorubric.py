"""autorubric: four weighted binary criteria and a grader that asks no model, in two ways.

The package is made for judges that are language models, but its base class `Grader` is public and
takes any judge: here the shared one. What an item expects travels as its reference submission,
the only text beside the answer and the prompt that a grader is given. `grade` calls the rubric
once for each answer and writes the reports; `evaluate` is the package's own batch runner, whose
checkpoint writes the list of all finished items anew after every item, so its cost grows with the
square of the answers.
"""
# autorubric is installed in the peer's environment only, so mypy cannot see it.
# mypy: disable-error-code="import-not-found, misc"

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from autorubric import (
    Criterion,
    CriterionReport,
    CriterionVerdict,
    DataItem,
    EvaluationReport,
    Rubric,
    RubricDataset,
    evaluate,
)
from autorubric.graders.base import Grader
from tutor_axes import (
    WEIGHTS,
    Cells,
    Marked,
    Recorded,
    contestant,
    judged,
    recorded,
    score_of,
    split_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CRITERIA = [
    Criterion(name=name, weight=weight / 100, requirement=name) for name, weight in WEIGHTS.items()
]


class Tutor(Grader[EvaluationReport]):
    """A grader whose judge is a function."""

    async def judge(
        self,
        to_grade: str,
        rubric: list[Criterion],  # noqa: ARG002 - the criteria are known
        query: str | None = None,  # noqa: ARG002
        reference_submission: str | None = None,
    ) -> Cells:
        """Judge one answer by what its reference holds."""
        return judged(to_grade, *json.loads(reference_submission or ""))

    async def aggregate(
        self,
        judge_results: Cells,
        *,
        normalize: bool = True,  # noqa: ARG002 - the weights sum to 1
    ) -> EvaluationReport:
        """Return the report with a verdict for each criterion."""
        score = score_of(judge_results)
        reports = [_report(criterion, judge_results[criterion.name]) for criterion in CRITERIA]
        return EvaluationReport(score=score, raw_score=score, report=reports)


def _report(criterion: Criterion, cell: int) -> CriterionReport:
    return CriterionReport(
        name=criterion.name,
        weight=criterion.weight,
        requirement=criterion.requirement,
        verdict=CriterionVerdict.MET if cell else CriterionVerdict.UNMET,
        reason="",
    )


def _reference(row: Recorded) -> str:
    return json.dumps([row.expected, row.gloss])


def by_grade(exam: Path, answers: Path, folder: Path) -> None:
    """Grade answer by answer; write each report and the mean."""
    scores = asyncio.run(_graded(exam, answers, folder / "reports.jsonl"))
    (folder / "mean.json").write_text(json.dumps(sum(scores) / len(scores)), encoding="utf-8")


async def _graded(exam: Path, answers: Path, file: Path) -> list[float]:
    rubric, grader, scores = Rubric(CRITERIA), Tutor(), []
    with file.open("w", encoding="utf-8") as lines:
        for row in recorded(exam, answers):
            report = await rubric.grade(
                row.output,
                grader=grader,
                query=row.prompt,
                reference_submission=_reference(row),
            )
            scores.append(report.score)
            lines.write(json.dumps(row.name) + "\t" + report.model_dump_json() + "\n")
    return scores


def by_evaluate(exam: Path, answers: Path, folder: Path) -> None:
    """Evaluate a dataset with the batch runner; write the names and the mean beside its files."""
    rows = list(recorded(exam, answers))
    items = [
        DataItem(
            submission=row.output,
            description=row.name,
            prompt=row.prompt,
            reference_submission=_reference(row),
        )
        for row in rows
    ]
    dataset = RubricDataset(prompt="Conjugate.", rubric=Rubric(CRITERIA), items=items, name="tutor")
    finished = asyncio.run(
        evaluate(
            dataset,
            Tutor(),
            show_progress=False,
            max_concurrent_items=1,
            experiments_dir=folder,
            experiment_name="tutor",
        )
    )
    scores = [entry.report.score for entry in finished.item_results]
    (folder / "names.json").write_text(json.dumps([row.name for row in rows]), encoding="utf-8")
    (folder / "mean.json").write_text(json.dumps(sum(scores) / len(scores)), encoding="utf-8")


def result(folder: Path) -> tuple[float, Iterator[Marked]]:
    """Read the reports of either way back."""
    mean = json.loads((folder / "mean.json").read_bytes())
    single = folder / "reports.jsonl"
    if single.exists():
        pairs = (line.split("\t", 1) for line in single.read_text(encoding="utf-8").splitlines())
        return mean, (_marked(json.loads(name), json.loads(text)) for name, text in pairs)
    names = json.loads((folder / "names.json").read_bytes())
    lines = (folder / "tutor" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    entries = map(json.loads, lines)
    return mean, (_marked(names[entry["item_idx"]], entry["report"]) for entry in entries)


def _marked(name: str, report: dict[str, Any]) -> Marked:
    criteria = report.get("criterion_reports") or report["report"]
    met = str(CriterionVerdict.MET.value)
    cells = {entry["name"]: int(entry["verdict"] == met) for entry in criteria}
    return *split_name(name), cells, report["score"]


if __name__ == "__main__":
    contestant({"grade": by_grade, "evaluate": by_evaluate}, result)
