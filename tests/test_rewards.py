"""Rewards for training, and markscheme as the scorer of other tools."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from markscheme import UsageError, load_exam, load_rubric
from markscheme.integrations.guest_scorers import dspy_metric, promptfoo_assert
from markscheme.rewards import Reward

TUTOR = load_rubric("tutor-capstone")
CAPSTONE = load_exam("capstone", rubric=TUTOR)
PROMPT = CAPSTONE.get_item("e-39-01").prompt
GOOD, BAD = "He ate. Comió.", "Eh?"


@pytest.fixture(scope="module")
def reward() -> Reward:
    return Reward(TUTOR, CAPSTONE)


def test_trl_gets_a_number_for_each_completion_and_none_where_it_cannot_be_marked(
    reward: Reward,
) -> None:
    said = [GOOD, BAD, GOOD]
    items = ["e-39-01", "e-39-01", "nowhere"]
    assert reward(prompts=["x"] * 3, completions=said, item=items) == [0.9, 0.05, None]
    assert reward(prompts=[PROMPT, PROMPT, "Another?"], completions=said) == [0.9, 0.05, None]
    assert reward.__name__ == "markscheme_tutor_capstone"


def test_conversations_are_read_by_their_last_messages(reward: Reward) -> None:
    prompt = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": PROMPT}]
    completions: list[Any] = [
        [{"role": "assistant", "content": GOOD}],
        [{"role": "assistant", "content": [{"type": "text", "text": GOOD}]}],
        [{"role": "assistant", "content": None, "tool_calls": []}],
        [],
    ]
    assert reward(prompts=[prompt] * 4, completions=completions) == [0.9, 0.9, None, None]


def test_the_means_of_the_axes_are_logged(reward: Reward) -> None:
    logged: dict[str, float] = {}
    items = ["e-39-01", "e-39-01", "nowhere", "nowhere"]
    reward(completions=[GOOD, BAD] * 2, item=items, log_metric=logged.__setitem__)
    assert logged["axis/correctness"] == 0.5
    assert logged["marked"] == 0.5


def test_an_answer_that_an_axis_cannot_score_has_no_reward(tmp_path: Path) -> None:
    path, exam = tmp_path / "rubric.yaml", tmp_path / "exam.yaml"
    scale: dict[str, Any] = {"name": "a", "kind": "scale", "weight": 1, "question": "Is it good?"}
    scale["anchors"] = {1: "no", 2: "yes"}
    path.write_text(json.dumps({"rubric": "r", "axes": [scale]}))
    exam.write_text(json.dumps({"exam": "e", "items": [{"id": "q", "prompt": "Why"}]}))
    assert Reward(path, exam)(completions=["x"], item=["q"]) == [None]
    assert Reward(path, exam, unmarked=-1.0)(completions=["x"], item=["q"]) == [-1.0]


def test_trainers_that_need_a_number_get_one_only_if_it_is_stated(reward: Reward) -> None:
    stated = Reward(TUTOR, CAPSTONE, unmarked=0.0)
    assert stated.verifiers(GOOD, prompt=PROMPT) == 0.9
    assert stated.verifiers(GOOD, info={"item": "nowhere"}) == 0.0
    scored = stated.verl("verbs", GOOD, "e-39-01")
    assert (scored["score"], scored["axis/schema"], scored["marked"]) == (0.9, 0.0, 1.0)
    assert stated.verl("verbs", GOOD, "x", extra_info={"item": "e-39-01"})["score"] == 0.9
    with pytest.raises(
        UsageError, match=r"needs a number for each answer: Reward\(…, unmarked=0.0"
    ):
        reward.verifiers(GOOD, prompt=PROMPT)


def test_openrlhf_gets_tensors_of_its_own_library(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = SimpleNamespace(tensor=lambda values, dtype: (dtype, values), float32="f32")
    monkeypatch.setitem(sys.modules, "torch", torch)
    reward = Reward(TUTOR, CAPSTONE, unmarked=0.0)
    told = reward.openrlhf([PROMPT + GOOD, f"x{BAD}"], [PROMPT, "x"], ["e-39-01", "e-39-01"])
    assert told == {
        "rewards": ("f32", [0.9, 0.05]),
        "scores": ("f32", [0.9, 0.05]),
        "extra_logs": {},
    }


def test_a_reward_can_be_pickled_and_imports_no_torch(reward: Reward) -> None:
    copy = pickle.loads(pickle.dumps(reward))  # noqa: S301 - our own bytes
    assert copy(completions=[GOOD], item=["e-39-01"]) == [0.9]
    code = (
        "import sys, markscheme.rewards as r; r.Reward('tutor-capstone', 'capstone'); "
        "print(sorted({'torch', 'polars', 'trl'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


# --- guests in other tools ---


def test_promptfoo_gets_a_grading_with_a_component_for_each_axis() -> None:
    get_assert = promptfoo_assert(TUTOR, CAPSTONE)
    told = get_assert(GOOD, {"vars": {}, "test": {"metadata": {"item": "e-39-01"}}})
    assert (told["pass"], told["score"]) == (False, 0.9)
    assert [part["pass"] for part in told["componentResults"]] == [True, True, False, True]
    assert get_assert(GOOD, {"vars": {"item": "e-39-01"}})["score"] == 0.9
    with pytest.raises(UsageError, match="the item of the answer is not named"):
        get_assert(GOOD, {"vars": {}})
    with pytest.raises(UsageError, match="has no item `e-1`"):
        get_assert(GOOD, {"vars": {"item": "e-1"}})


def test_dspy_gets_a_metric() -> None:
    metric = dspy_metric(TUTOR, CAPSTONE)
    example = SimpleNamespace(item="e-39-01")
    assert metric(example, SimpleNamespace(answer=GOOD)) == 0.9
    with pytest.raises(UsageError, match="holds no text"):
        metric(example, SimpleNamespace())


TOOLS = os.environ.get("MARKSCHEME_TOOLS")
INSPECT = """\
from inspect_ai import Task, eval as run_eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from markscheme.integrations.guest_scorers import inspect_scorer
def answer(text):
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=5, output_tokens=2, total_tokens=7)
    return output
model = get_model("mockllm/model", custom_outputs=[answer("He ate. Comió."), answer("Eh?")])
samples = [Sample(id="e-39-01", input="a"), Sample(id="e-39-02", input="b")]
task = Task(dataset=samples, scorer=inspect_scorer("tutor-capstone", "capstone"))
(log,) = run_eval(task, model=model, display="none", max_samples=1, max_connections=1)
print([sample.scores["markscheme"].value for sample in log.samples])
"""
PYDANTIC = """\
from pydantic_evals import Case, Dataset
from markscheme.integrations.guest_scorers import pydantic_evaluator
cases = [Case(name="e-39-01", inputs="He ate. Comió."), Case(name="e-39-02", inputs="Eh?")]
evaluator = pydantic_evaluator("tutor-capstone", "capstone")
dataset = Dataset(name="verbs", cases=cases, evaluators=[evaluator])
report = dataset.evaluate_sync(lambda said: said, progress=False)
print([case.scores["score"].value for case in report.cases])
"""


@pytest.mark.skipif(TOOLS is None, reason="scripts/make_foreign_results.py makes the tools")
@pytest.mark.parametrize(("tool", "program"), [("inspect", INSPECT), ("pydantic-evals", PYDANTIC)])
def test_the_real_tool_takes_the_scorer(tool: str, program: str, tmp_path: Path) -> None:
    python = Path(str(TOOLS)) / tool / "environment" / "bin" / "python"
    ours = [path for path in sys.path if path.endswith(("src", "site-packages"))]
    done = subprocess.run(
        [str(python), "-W", "ignore", "-c", f"import sys; sys.path += {ours!r}\n{program}"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout.splitlines()[-1]) == [0.9, 0.05], done.stderr
