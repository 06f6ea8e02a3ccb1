"""inspect_ai, in two ways: `eval` of a task whose solver replays, and `score` of a built log.

`eval` is what its users write: a dataset, a solver, a scorer. `score` skips the solver: the
recorded answers are put into a log, as if an evaluation had left it, and that log is scored (in
place, without a copy). One scorer returns all cells as a dictionary, so an answer is read once.
No display, no real-time log; the log is written as JSON, which is no slower here than `.eval`
after `eval`, and much faster after `score`.
"""
# inspect_ai is installed in the peer's environment only, so mypy cannot see it.
# mypy: disable-error-code="import-not-found, untyped-decorator"

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import inspect_ai
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSpec,
    read_eval_log,
    write_eval_log,
)
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from tutor_axes import WEIGHTS, Marked, Recorded, contestant, judged, recorded, score_of, split_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@solver
def replay() -> Solver:
    """Put the recorded answer where a model would have put its own."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        state.output = ModelOutput.from_content("recorded", state.metadata["output"])
        return state

    return solve


@scorer(metrics={"*": [mean()]})
def tutor() -> Scorer:
    """Judge the four axes at once."""

    async def score(state: TaskState, target: Target) -> Score:
        cells = judged(state.output.completion, target, state.metadata["gloss"])
        return Score(value={**cells, "score": score_of(cells)})

    return score


def by_eval(exam: Path, answers: Path, folder: Path) -> None:
    """Evaluate a task over a dataset."""
    samples = [
        Sample(
            id=row.name,
            input=row.prompt,
            target=row.expected,
            metadata={"gloss": row.gloss, "output": row.output},
        )
        for row in recorded(exam, answers)
    ]
    inspect_ai.eval(
        inspect_ai.Task(
            name="tutor", dataset=MemoryDataset(samples), solver=replay(), scorer=tutor()
        ),
        model=None,
        display="none",
        log_dir=str(folder),
        log_format="json",
        log_realtime=False,
        max_samples=100,
    )


def by_score(exam: Path, answers: Path, folder: Path) -> None:
    """Score a log that is made of the recorded answers."""
    spec = EvalSpec(
        created=datetime.now(UTC).isoformat(),
        task="tutor",
        model="mockllm/model",
        dataset=EvalDataset(name="tutor"),
        config=EvalConfig(),
    )
    samples = [_sample(row) for row in recorded(exam, answers)]
    log = EvalLog(status="success", eval=spec, samples=samples)
    scored = inspect_ai.score(log, tutor(), display="none", copy=False)
    write_eval_log(scored, str(folder / "log.json"))


def _sample(row: Recorded) -> EvalSample:
    return EvalSample(
        id=row.name,
        epoch=1,
        input=row.prompt,
        target=row.expected,
        output=ModelOutput.from_content("recorded", row.output),
        metadata={"gloss": row.gloss},
    )


def result(folder: Path) -> tuple[float, Iterator[Marked]]:
    """Read the log back."""
    log = read_eval_log(str(next(folder.glob("*.json"))))
    means = {entry.name: entry.metrics["mean"].value for entry in log.results.scores}
    return means["score"], map(_marked, log.samples)


def _marked(sample: EvalSample) -> Marked:
    values = sample.scores["tutor"].value
    return *split_name(sample.id), {name: values[name] for name in WEIGHTS}, values["score"]


if __name__ == "__main__":
    contestant({"eval": by_eval, "score": by_score}, result)
