"""Make result files with the real promptfoo, lm-eval, deepeval, pydantic-evals and Inspect.

python scripts/make_foreign_results.py FOLDER [TOOL …]

Each tool gets an environment of its own in FOLDER (pip; promptfoo needs npm), which a second call
uses again. Nothing asks a model: promptfoo echoes, lm-eval and Inspect have dummy models, the
others run a function. Prints the results by tool as JSON. With `MARKSCHEME_TOOLS=FOLDER`,
tests/test_real_tools.py reads what is in FOLDER.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ITEMS = {"e-39-01": ("Conjugate eat", "ate"), "e-39-02": ("Conjugate do", "are doing")}
_PROGRAMS = {
    "inspect": """\
from inspect_ai import Task, eval as run_eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

def answer(text):
    output = ModelOutput.from_content("mockllm/model", text)
    # Without it, Inspect counts tokens with a file from the network.
    output.usage = ModelUsage(input_tokens=5, output_tokens=2, total_tokens=7)
    return output

samples = [Sample(id=id, input=prompt, target=target) for id, (prompt, target) in ITEMS.items()]
texts = ["He ate.", "They are doing.", "He eats.", "They are doing it."]
for form in ("json", "eval"):
    run_eval(
        Task(dataset=samples, solver=generate(), scorer=includes(), name="verbs", epochs=2),
        model=get_model("mockllm/model", custom_outputs=[answer(text) for text in texts]),
        log_dir="results", log_format=form, display="none", max_samples=1, max_connections=1,
    )
""",
    "pydantic-evals": """\
from pathlib import Path
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Contains, EqualsExpected
from pydantic_evals.reporting import EvaluationReportAdapter

cases = [
    Case(name=id, inputs=prompt, expected_output=target, evaluators=(Contains(value=target),))
    for id, (prompt, target) in ITEMS.items()
]
dataset = Dataset(name="verbs", cases=cases, evaluators=[EqualsExpected()])
dataset.to_file("results/dataset.yaml")

def task(prompt: str) -> str:
    if "do" in prompt:
        raise ValueError("no idea")
    return "He ate."

report = dataset.evaluate_sync(task, progress=False, repeat=2)
Path("results/report.json").write_bytes(EvaluationReportAdapter.dump_json(report))
""",
    "deepeval": """\
from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, DisplayConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

class Has(BaseMetric):
    threshold, async_mode, include_reason = 0.5, False, True
    def measure(self, case, *args, **options):
        self.score = float(case.expected_output in case.actual_output)
        self.success, self.reason = self.score >= 0.5, "looked"
        return self.score
    async def a_measure(self, case, *args, **options):
        return self.measure(case)
    def is_successful(self):
        return self.success
    @property
    def __name__(self):
        return "Has"

said = ["He ate.", "No."]
cases = [
    LLMTestCase(name=id, input=prompt, actual_output=text, expected_output=target)
    for (id, (prompt, target)), text in zip(ITEMS.items(), said)
]
evaluate(
    cases, [Has()], async_config=AsyncConfig(run_async=False),
    display_config=DisplayConfig(show_indicator=False, print_results=False),
)
""",
    "lm-eval": """\
import json, subprocess, sys
from pathlib import Path

rows = [{"id": id, "prompt": p, "answer": a} for id, (p, a) in ITEMS.items()]
Path("data.jsonl").write_text("".join(json.dumps(row) + "\\n" for row in rows))
Path("tasks").mkdir(exist_ok=True)
Path("tasks/verbs.yaml").write_text('''\\
task: verbs
dataset_path: json
dataset_kwargs: {data_files: {test: data.jsonl}}
output_type: generate_until
test_split: test
doc_to_text: "{{prompt}}"
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["\\\\n"]}
repeats: 2
metric_list: [{metric: exact_match}]
''')
words = ["--model", "dummy", "--tasks", "verbs", "--include_path", "tasks", "--log_samples"]
subprocess.run([sys.executable, "-m", "lm_eval", *words, "--output_path", "results"], check=True)
""",
}
_PACKAGES = {
    "inspect": "inspect_ai",
    "pydantic-evals": "pydantic-evals",
    "deepeval": "deepeval",
    "lm-eval": "lm_eval",
}
_PROMPTFOO_CONFIG = """\
description: verbs
prompts: ["{{prompt}} ate", "Say: {{prompt}}"]
providers: [echo]
tests:
  - metadata: {id: e-39-01}
    vars: {prompt: Conjugate eat}
    assert:
      - {type: icontains, value: conjugate}
      - {type: contains, value: ate, weight: 2}
  - metadata: {id: e-39-02}
    vars: {prompt: Conjugate do}
    assert:
      - {type: contains-all, value: [Say, do]}
      - {type: starts-with, value: Say}
"""
TOOLS = (*_PROGRAMS, "promptfoo")
_QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_RESULTS_FOLDER": "results",
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_SHARING": "1",
}


def make_results(tool: str, folder: Path) -> list[Path]:
    """Install a tool if it is not there, run it, and return the files that it wrote."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results").mkdir(exist_ok=True)
    command = _install_promptfoo(folder) if tool == "promptfoo" else _install_package(tool, folder)
    run_quietly(command, folder)
    return list_results(folder)


def list_results(folder: Path) -> list[Path]:
    """Return the files with answers that a tool wrote, and the test cases that it read."""
    endings = {".json", ".jsonl", ".eval", ".yaml"}
    files = (path for path in (folder / "results").rglob("*") if path.suffix in endings)
    return sorted(path for path in files if not path.name.startswith(("results_", ".")))


def _install_package(tool: str, folder: Path) -> list[str]:
    python = folder / "environment" / "bin" / "python"
    if not python.exists():
        run_quietly([sys.executable, "-m", "venv", str(folder / "environment")], folder)
        run_quietly([str(python), "-m", "pip", "install", "--quiet", _PACKAGES[tool]], folder)
    program = folder / "make.py"
    program.write_text(f"ITEMS = {ITEMS!r}\n{_PROGRAMS[tool]}", encoding="utf-8")
    return [str(python), program.name]


def _install_promptfoo(folder: Path) -> list[str]:
    program = folder / "node_modules" / ".bin" / "promptfoo"
    if not program.exists():
        words = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), "promptfoo"]
        run_quietly(words, folder)
    config = folder / "results" / "promptfooconfig.yaml"
    config.write_text(_PROMPTFOO_CONFIG, encoding="utf-8")
    outputs = ["-o", "results/results.json", "-o", "results/results.jsonl"]
    # Assertions that fail are no failure of promptfoo here.
    command = f"{program} eval --no-cache --no-table -c {config} {' '.join(outputs)}"
    return ["/bin/sh", "-c", f"{command} || test $? = 100"]


def run_quietly(command: list[str], folder: Path) -> None:
    """Run a command in a folder; print what it said if it fails."""
    environment = {**os.environ, **_QUIET, "PROMPTFOO_CONFIG_DIR": str(folder / ".promptfoo")}
    done = subprocess.run(  # noqa: S603 - our own words
        command, cwd=folder, env=environment, check=False, capture_output=True, text=True
    )
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        raise SystemExit(f"{command[0]} failed with {done.returncode}")


def main() -> None:
    """Make the results of each tool and print their files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("tools", nargs="*", default=TOOLS, metavar="TOOL")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    made = {tool: make_results(tool, folder / tool) for tool in arguments.tools}
    print(json.dumps({tool: [str(path) for path in paths] for tool, paths in made.items()}))


if __name__ == "__main__":
    main()
