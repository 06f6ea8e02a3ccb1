"""markscheme as the scorer of other tools: Inspect, promptfoo, pydantic-evals and DSPy.

Each function returns what the tool takes for a scorer. The tool asks and reports; the rubric marks.
An answer that cannot be marked is an error of the tool, or has no score; it is never a 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from markscheme.rewards import Reward
from markscheme.vocabulary import Breakdown, Exam, Rubric, UsageError

RubricSource = Rubric | str | Path
ExamSource = Exam | str | Path | Sequence[str | Path]


def inspect_scorer(rubric: RubricSource, exam: ExamSource) -> Any:
    """Return a scorer of Inspect; the id of a sample is that of the item."""
    from inspect_ai.scorer import (  # type: ignore[import-not-found] # noqa: PLC0415 - the tool's own
        Score,
        mean,
        scorer,
        stderr,
    )

    reward = Reward(rubric, exam)

    @scorer(metrics=[mean(), stderr()], name="markscheme")  # type: ignore[untyped-decorator]
    def build() -> Any:
        async def score(state: Any, target: Any) -> Any:
            del target
            text = state.output.completion
            breakdown = _mark(reward, text, state.sample_id)
            return Score(
                value=_get_score(breakdown),
                answer=text,
                explanation=_explain(breakdown),
                metadata={axis: _get_value(cell.value) for axis, cell in breakdown.cells.items()},
            )

        return score

    return build()


def promptfoo_assert(
    rubric: RubricSource, exam: ExamSource
) -> Callable[[str, Mapping[str, Any]], dict[str, Any]]:
    """Return `get_assert` of promptfoo; `metadata.item` of a test, or its variable, is the item."""
    reward = Reward(rubric, exam)

    def get_assert(output: str, context: Mapping[str, Any]) -> dict[str, Any]:
        test = context.get("test") or {}
        metadata = test.get("metadata") or {}
        item = metadata.get("item") or (context.get("vars") or {}).get("item")
        breakdown = _mark(reward, output, item)
        parts = [
            {
                "pass": cell.value == 1,
                "score": _get_value(cell.value),
                "reason": f"{axis}: {cell.reason}",
            }
            for axis, cell in breakdown.cells.items()
        ]
        return {
            "pass": breakdown.score is not None and breakdown.score >= reward.rubric.pass_mark,
            "score": _get_score(breakdown),
            "reason": _explain(breakdown),
            "componentResults": parts,
        }

    return get_assert


def pydantic_evaluator(rubric: RubricSource, exam: ExamSource) -> Any:
    """Return an evaluator of pydantic-evals; the name of a case is the id of its item."""
    from dataclasses import dataclass  # noqa: PLC0415 - beside the tool's own

    from pydantic_evals.evaluators import (  # type: ignore[import-not-found] # noqa: PLC0415
        EvaluationReason,
        Evaluator,
    )

    reward = Reward(rubric, exam)

    @dataclass
    class Markscheme(Evaluator):  # type: ignore[misc]
        """Marks the output of a case by a rubric."""

        def evaluate(self, ctx: Any) -> dict[str, Any]:
            name = str(ctx.name)
            # A repeated case is called `name [2/3]`.
            breakdown = _mark(reward, ctx.output, name.partition(" [")[0])
            axes = {
                axis: EvaluationReason(value=_get_value(cell.value), reason=cell.reason)
                for axis, cell in breakdown.cells.items()
            }
            return {"score": _get_score(breakdown), **axes}

    return Markscheme()


def dspy_metric(
    rubric: RubricSource, exam: ExamSource, *, field: str = "answer"
) -> Callable[..., float]:
    """Return a metric of DSPy; `example.item` is the item, and `prediction.answer` the answer."""
    reward = Reward(rubric, exam)

    def metric(example: Any, prediction: Any, trace: Any = None, *_: Any) -> float:
        del trace
        breakdown = _mark(reward, getattr(prediction, field, None), getattr(example, "item", None))
        return _get_score(breakdown)

    return metric


def _mark(reward: Reward, text: Any, item: Any) -> Breakdown:
    if item is None:
        raise UsageError("the item of the answer is not named")
    reward.exam.get_item(str(item))
    breakdown = reward.mark(text, item=item)
    if breakdown is None:
        raise UsageError(f"the answer to `{item}` holds no text")
    return breakdown


def _get_score(breakdown: Breakdown) -> float:
    if breakdown.score is None:
        raise UsageError(
            f"the answer to `{breakdown.item}` cannot be scored: {_explain(breakdown)}"
        )
    return float(breakdown.score)


def _get_value(value: Any) -> Any:
    return None if value is None else float(value)


def _explain(breakdown: Breakdown) -> str:
    return "; ".join(f"{axis}: {cell.reason}" for axis, cell in breakdown.cells.items())
