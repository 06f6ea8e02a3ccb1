"""Starting is quick: help is there, and nothing is loaded that is not needed."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from commands import markscheme
from small_exam import answers

if TYPE_CHECKING:
    from pathlib import Path


def test_every_command_has_help_with_an_example() -> None:
    from markscheme.cli.main import COMMANDS  # noqa: PLC0415

    commands = [*COMMANDS, "baseline set", "baseline show", "class add", "class codes"]
    commands.remove("baseline")
    commands.remove("class")
    for command in commands:
        done = markscheme(*command.split(), "--help")
        assert done.code == 0
        assert f"Example:\n    markscheme {command.split()[0]}" in done.out
        # What `mcp` writes to stdout belongs to the protocol.
        assert ("--format" in done.out) == (command != "mcp")


def test_the_first_help_page_is_laid_out() -> None:
    out = markscheme("--help").out
    assert "\\b" not in out
    assert "\n    markscheme demo  " in out


HEAVY = ("polars", "ruamel", "jsonschema_rs", "rich", "orjson", "numpy")


@pytest.mark.parametrize(
    "code",
    [
        "import markscheme",
        "import markscheme; markscheme.Cell",
        "sys.argv = ['m', '--help']; from markscheme.cli.main import run; run()",
        "sys.argv = ['m', 'score', '--help']; from markscheme.cli.main import run; run()",
        "sys.argv = ['m', 'scroe']; from markscheme.cli.main import run; run()",
        "sys.argv = ['m', 'score', '-x']; from markscheme.cli.main import run; run()",
        "sys.argv = ['m', '--version']; from markscheme.cli.main import run; run()",
    ],
)
def test_help_usage_errors_and_import_load_nothing_heavy(code: str) -> None:
    probe = f"""
import atexit, sys
loaded = lambda: {{name.partition('.')[0] for name in sys.modules}}
atexit.register(lambda: print(sorted(loaded() & set({HEAVY!r}))))
{code}
"""
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


def loaded_by(words: list[str], unneeded: list[str], cwd: Path) -> str:
    """Run a command in a new process; return which of these modules it loaded."""
    probe = (
        "import atexit, sys\n"
        f"found = lambda: sorted(set(sys.modules) & set({unneeded!r}))\n"
        "atexit.register(lambda: print(found(), file=sys.stderr))\n"
        f"sys.argv = {['m', *words]!r}; from markscheme.cli.main import run; run()"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode in {0, 1, 4}, done.stderr
    return done.stderr.splitlines()[-1]


def test_scoring_and_judging_a_few_answers_load_no_more_than_they_need(exam_folder: Path) -> None:
    unneeded = ["alembic", "numpy", "psycopg", "pyarrow", "ray", "scipy", "sqlalchemy"]
    unneeded += ["backports.zstd", "jinja2", "pydantic", "pydantic_core"]
    answers(exam_folder, {"item": "e-39-01", "output": "Ate."})
    score = ["score", "-r", "tutor-capstone", "-e", "exam.yaml", "-a", "answers.jsonl"]
    for words in (score, ["gate", "latest"], ["runs"]):
        assert loaded_by(words, unneeded, exam_folder) == "[]"


LOG_READERS = [
    "markscheme.read.session_logs",
    "markscheme.read.transcripts.reading",
    "markscheme.read.transcripts.formats",
]


def test_scoring_loads_the_kinds_of_axes_that_the_rubric_names_and_no_words_of_logs(
    exam_folder: Path,
) -> None:
    # Modules of axes are cheap and load together. What an axis needs from others is not: a
    # tokenizer, a validator of schemas, the readers of logs.
    topics = ["gates", "compare", "patterns", "recalibrate", "stats", "verify"]
    unneeded = [f"markscheme.weigh.{topic}" for topic in topics]
    unneeded += ["markscheme.prove", "markscheme.workflows.workers", "multiprocessing"]
    unneeded += ["rich.progress", "bpe_openai", "jsonschema_rs", *LOG_READERS]
    answers(exam_folder, {"item": "e-39-01", "output": "Ate."})
    score = ["score", "-r", "tutor-capstone", "-e", "exam.yaml", "-a", "answers.jsonl"]
    assert loaded_by(score, unneeded, exam_folder) == "[]"


def test_reading_a_log_loads_no_rubrics_and_no_readers_of_databases(tmp_path: Path) -> None:
    unneeded = ["polars", "pydantic", "ruamel", "jinja2", "jsonschema_rs", "sqlite3"]
    unneeded += ["markscheme.read.documents.rubric", "markscheme.keep.store"]
    log = tmp_path / "log.jsonl"
    message = {"role": "user", "content": "Go."}
    log.write_text(json.dumps({"type": "user", "sessionId": "s", "message": message}) + "\n")
    assert loaded_by(["transcript", str(log), "--format", "json"], unneeded, tmp_path) == "[]"
