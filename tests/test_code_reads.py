"""Code that reads files counts as a search of the codebase, or as a look into the memory."""

from __future__ import annotations

from typing import Any

import pytest

from markscheme import Item, Response
from markscheme.mark import mark_cell
from markscheme.mark.axes import CallOrder
from markscheme.read.transcripts import Draft
from markscheme.vocabulary import CallStatus, Reading

PROTOCOL = CallOrder(first="memory", then=("search", "explore"))
RECALL: tuple[str, Any] = ("mcp__memory__search_nodes", {})


def checks_memory_first(*calls: tuple[str, Any]) -> bool:
    draft = Draft()
    draft.add_prompt("Where is it?")
    for name, arguments in calls:
        draft.add_call(name, arguments).set_outcome(CallStatus.OK)
    draft.add_text("There.")
    transcript = draft.build_transcript("made-up")
    response = Response(reading=Reading.TEXT, text="There.", transcript=transcript)
    return mark_cell(PROTOCOL, response, Item(id="a", prompt="Where is it?")).value == 1


@pytest.mark.parametrize(
    "command",
    [
        """python -c "print(open('src/app.py').read())" """,
        """python3 -c "from pathlib import Path; print(Path('src/app.py').read_text())" """,
        """python3 -c "import os; print(os.listdir('src'))" """,
        """python3 -c "import glob; print(glob.glob('src/**'))" """,
        """python3 -c "import subprocess; subprocess.run(['rg', 'x', 'src'])" """,
        "python3 - <<'E'\nwith open(NAME) as file:\n    print(file.read())\nE",
        """echo "print(open('a.py').read())" | python3""",
        """node -e "console.log(require('fs').readFileSync('a.js', 'utf8'))" """,
        """node -p "require('./package.json').version" """,
        """ruby -e 'puts File.read("a.rb")'""",
        "perl -ne 'print if /x/' src/app.pl",
        """bash -c "python -c 'print(open(1).read())'" """,
        "sudo python3 -c \"print(open('a').read())\"",
        "jq .name package.json",
        "tac src/app.py",
        "sort src/app.py | head",
        "cut -c1-80 src/app.py",
        "diff src/a.py src/b.py",
        "wc -l src/app.py",
        "while read line; do echo $line; done < src/app.py",
        'echo "$(<src/app.py)"',
        "tr a-z A-Z < src/app.py",
        "mapfile lines < src/app.py",
    ],
)
def test_code_in_a_command_that_reads_a_file_is_a_search(command: str) -> None:
    assert not checks_memory_first(("Bash", {"command": command}), RECALL)
    assert checks_memory_first(RECALL, ("Bash", {"command": command}))


@pytest.mark.parametrize(
    ("tool", "code"),
    [
        ("execute_python", "print(open('src/app.py').read())"),
        ("run_javascript", "console.log(fs.readFileSync('a.js'))"),
        ("execute_ipython_cell", "!cat src/app.py"),
        ("execute_ipython_cell", "%time print(open('a.py').read())\n!ls"),
    ],
)
def test_a_tool_for_code_that_reads_a_file_searches(tool: str, code: str) -> None:
    assert not checks_memory_first((tool, {"code": code}), RECALL)


@pytest.mark.parametrize(
    "command",
    [
        "python -c 'print(1 + 1)'",
        "python --version",
        "node -e 'console.log(process.version)'",
        "python -c 'import json; print(json.dumps({}))'",
        """python -c "print('please open (this)')" """,
    ],
)
def test_code_that_reads_no_file_is_no_search(command: str) -> None:
    assert checks_memory_first(("Bash", {"command": command}), RECALL)


def test_code_that_reads_a_file_of_the_memory_reads_the_memory() -> None:
    code = "print(open('.claude/memory/overview.md').read())"
    look = ("Read", {"file_path": "a.py"})
    assert checks_memory_first(("Bash", {"command": f'python -c "{code}"'}), look)
    assert checks_memory_first(("execute_python", {"code": code}), look)
