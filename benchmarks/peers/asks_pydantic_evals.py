"""pydantic-evals: a dataset of cases, one evaluator, and a task that asks by the `openai` package.

The package has no provider of its own. Nothing is traced, no progress bar is drawn; the report is
written with the package's own adapter.
"""
# pydantic_evals is installed in the peer's environment only, so mypy cannot see it.
# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from asking import Item, Task, contestant
from asks_openai import subject
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator, EvaluatorContext
from pydantic_evals.reporting import EvaluationReportAdapter

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass
class Tutor(Evaluator[Item, str, Any]):
    """The rubric as one evaluator."""

    def evaluate(self, ctx: EvaluatorContext[Item, str, Any]) -> dict[str, float]:
        """Return every cell and the score."""
        return ctx.inputs.scores(ctx.output)


def ask(task: Task) -> Iterable[float]:
    """Evaluate the dataset; write its report."""
    cases = [Case(name=item.id, inputs=item) for item in task.items]
    dataset = Dataset(name="tutor", cases=cases, evaluators=[Tutor()])
    report = dataset.evaluate_sync(subject(task.url), progress=False, max_concurrency=task.at_once)
    (task.folder / "report.json").write_bytes(EvaluationReportAdapter.dump_json(report))
    return [case.scores["score"].value for case in report.cases]


if __name__ == "__main__":
    contestant(ask)
