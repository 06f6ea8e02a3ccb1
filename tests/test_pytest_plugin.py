"""The pytest plugin, in real sessions: one test per item, xdist, the stored run, the gates."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from markscheme.keep import open_store

ROOT = Path(__file__).parent.parent
RUBRIC = """\
rubric: capitals
normalise: [strip, lower]
axes: [{{name: right, kind: contains_all, weight: 1}}]
gates: [{{name: release, level: hard, at_least: {at_least}}}]
"""
ITEMS = "".join(f'  - {{id: c-{n}, prompt: "{n}", expected_contains: ["{n}"]}}\n' for n in range(6))
TESTS = """\
import pytest

@pytest.mark.markscheme(rubric="rubric.yaml", exam="exam.yaml"{more})
def test_numbers(item, marks):
    {body}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path)
    return tmp_path


def write(
    folder: Path, *, body: str = "marks(item.prompt)", at_least: str = "0.5", more: str = ""
) -> None:
    (folder / "rubric.yaml").write_text(RUBRIC.format(at_least=at_least))
    (folder / "exam.yaml").write_text(f"exam: numbers\nitems:\n{ITEMS}")
    (folder / "test_numbers.py").write_text(TESTS.format(more=more, body=body))


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a real session that knows only the plugins named here, installed or not."""
    plugins = ("markscheme.integrations.pytest_plugin", "xdist.plugin")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rN", *words],
        cwd=folder,
        env={
            **os.environ,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_PLUGINS": ",".join(plugins),
        },
        check=False,
        capture_output=True,
        text=True,
    )


def read_run(place: Path) -> tuple[int, dict[str, int | float | None]]:
    """Return how many runs are stored, and the counts of the newest."""
    with open_store(place, create=False) as store:
        runs = store.list_runs()
    return len(runs), dict(runs[0].counts or {})


def test_the_plugin_is_declared_for_pytest() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    plugin = import_module(project["entry-points"]["pytest11"]["markscheme"])
    assert plugin.pytest_addoption


def test_two_workers_make_one_run_of_all_items(folder: Path, own_store: Path) -> None:
    write(folder, body='marks(item.prompt if item.id != "c-3" else "no", latency_ms=5)')
    done = run_pytest(folder, "-n", "2", "--markscheme-gate")
    assert done.returncode == 1
    assert "1 failed, 5 passed" in done.stdout
    assert '  right 0 × 1: "3" is missing from "no"' in done.stdout
    assert "hard gate release: pass (score 0.8333" in done.stdout
    count, counts = read_run(own_store)
    assert count == 1
    assert (counts["answers"], counts["missing"]) == (6, 0)


def test_the_gate_decides_alone_where_no_item_has_to_pass(folder: Path) -> None:
    write(folder, body='marks("no")', more=", at_least=0")
    done = run_pytest(folder, "--markscheme-gate", "--markscheme-no-store")
    assert done.returncode == 1
    assert "6 passed" in done.stdout
    assert "hard gate release: fail" in done.stdout
    assert "not stored" in done.stdout


def test_a_part_of_the_items_is_not_stored_and_passes_no_gate(
    folder: Path, own_store: Path
) -> None:
    done = run_pytest(folder, "-k", "c-1", "--markscheme-gate")
    assert done.returncode == 1
    assert "1 passed" in done.stdout
    assert "not stored, because 5 items were not run" in done.stdout
    assert "verdict: undecided" in done.stdout
    assert not own_store.exists()


def test_a_test_that_breaks_leaves_its_item_without_an_answer(
    folder: Path, own_store: Path
) -> None:
    write(folder, body='marks({"0": "0"}.get(item.prompt) or 1 / (item.id != "c-2") and "9")')
    done = run_pytest(folder, "-p", "no:cacheprovider")
    assert "ZeroDivisionError" in done.stdout
    assert read_run(own_store)[1]["missing"] == 1


MARKED = '@pytest.mark.markscheme(rubric="rubric.yaml", exam="{exam}")'
WRONG_USES = {
    "use @pytest.mark.markscheme(": '@pytest.mark.markscheme("a")\ndef test_it(item): pass',
    "none.yaml": f"{MARKED.format(exam='none.yaml')}\ndef test_it(item): pass",
    "so it needs the argument `item`": f"{MARKED.format(exam='exam.yaml')}\ndef test_it(): pass",
    "`item` comes from the marker": "def test_it(item): pass",
    "`marks` needs @pytest.mark.markscheme": "def test_it(marks): pass",
}


def test_the_rubric_may_name_axes_of_a_plugin(folder: Path) -> None:
    text = (ROOT / "docs" / "plugins.md").read_text()
    (folder / "letters.py").write_text(text.partition("```python\n")[2].partition("```")[0])
    write(folder, body='marks("Apple")', more=', plugin="letters.py"')
    axis = "{name: a, kind: starts_with, letter: A, weight: 1}"
    (folder / "rubric.yaml").write_text(f"rubric: r\naxes: [{axis}]\n")
    assert "6 passed" in run_pytest(folder, "-n", "2", "--markscheme-no-store").stdout


def test_wrong_use_is_said_without_a_traceback(folder: Path) -> None:
    (folder / "test_numbers.py").unlink()
    for n, text in enumerate(WRONG_USES.values()):
        (folder / f"test_wrong_{n}.py").write_text(f"import pytest\n\n{text}\n")
    done = run_pytest(folder, "--continue-on-collection-errors")
    assert "5 errors" in done.stdout
    for message in WRONG_USES:
        assert message in done.stdout
    assert "Traceback" not in done.stdout


def test_a_session_without_the_marker_loads_nothing_of_the_package(folder: Path) -> None:
    (folder / "test_numbers.py").write_text("def test_it(): pass\n")
    report = "import sys\ndef pytest_unconfigure(): print(sorted(sys.modules))\n"
    (folder / "conftest.py").write_text(report)
    done = run_pytest(folder)
    modules = set(re.findall(r"'(markscheme[\w.]*)'", done.stdout))
    assert modules == {
        "markscheme",
        "markscheme.version",
        "markscheme.integrations",
        "markscheme.integrations.pytest_plugin",
    }


def test_further_attempts_of_an_item_are_attempts_of_the_run(folder: Path, own_store: Path) -> None:
    write(folder, body='marks({"answer": item.prompt}); marks(item.prompt)', more=', subject="m"')
    assert run_pytest(folder).returncode == 0
    with open_store(own_store, create=False) as store:
        (run,) = store.list_runs()
    assert run.subject == "m"
    assert json.loads(json.dumps(run.counts))["answers"] == 12


def test_gates_that_were_asked_for_need_a_test_that_marks(folder: Path) -> None:
    tests = folder / "test_numbers.py"
    marking = tests.read_text().replace("marks(item.prompt)", "assert item.prompt")
    tests.write_text(marking.replace("(item, marks)", "(item)"))
    assert run_pytest(folder, "--markscheme-no-store").returncode == 0
    done = run_pytest(folder, "--markscheme-no-store", "--markscheme-gate")
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert "it needs the argument `marks`" in done.stdout
