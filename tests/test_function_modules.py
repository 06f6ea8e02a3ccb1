"""The module of a function is the one that is meant, or the call is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from commands import markscheme
from markscheme import UsageError, run
from sittings import importable

if TYPE_CHECKING:
    from sittings import Sitting


def as_the_script_does(sitting: Sitting, subject: str) -> subprocess.CompletedProcess[str]:
    """Run a subject of the present folder, in which the script itself looks for no module."""
    words = map(str, sitting.asks("x").words(subject=subject))
    return subprocess.run(
        [sys.executable, "-P", "-m", "markscheme", *words],
        cwd=sitting.folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("file", "advice"),
    [
        *((file, "write python:mine:answer") for file in ("mine.py", "./mine", "./mine.py")),
        ("deep/mine.py", "write python:deep.mine:answer"),
        ("../mine.py", "write python:mine:answer in its folder"),
    ],
)
def test_the_name_of_a_file_is_not_that_of_a_module(
    sitting: Sitting, file: str, advice: str
) -> None:
    sitting.write("mine.py", "def answer(prompt):\n    return 'yes'\n")
    words = sitting.asks("x").words(subject=f"python:{file}:answer")
    done = markscheme(*words, cwd=sitting.folder)
    assert (done.code, done.err) == (2, f"Error: `{file}` is a file, and not a module; {advice}\n")


@pytest.mark.parametrize("name", ["queue", "orjson"])
def test_a_module_that_is_loaded_already_is_not_taken_for_one_of_ones_own(
    sitting: Sitting, name: str
) -> None:
    mine = sitting.write(f"{name}.py", "def answer(prompt):\n    return 'yes'\n")
    done = as_the_script_does(sitting, f"python:{name}:answer")
    assert done.returncode == 2
    other = sys.modules[name].__file__
    told = f"`{name}` is `{other}`, which is found first, and not `{mine}`; rename yours"
    assert done.stderr == f"Error: {told}\n"


def test_modules_named_like_those_that_markscheme_needs_stand_in_nobodys_way(
    sitting: Sitting,
) -> None:
    sitting.write("mine.py", "def answer(prompt):\n    return 'yes'\n")
    (sitting.folder / "rich").mkdir()
    for name in ("polars.py", "csv.py", "statistics.py", "rich/__init__.py"):
        sitting.write(name, "raise SystemExit('the wrong module')\n")
    done = as_the_script_does(sitting, "python:mine:answer")
    assert (done.returncode, "wrong module" in done.stderr) == (0, False)


@pytest.mark.parametrize("leaves", ["import sys; sys.exit(0)", "raise BaseException('panic')"])
def test_a_module_that_leaves_when_it_is_imported_is_wrong_usage(
    sitting: Sitting, leaves: str
) -> None:
    sitting.write("my_script.py", leaves)
    words = sitting.asks("x").words(subject="python:my_script:answer")
    done = markscheme(*words, cwd=sitting.folder)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "cannot import `answer` of `my_script`" in done.err


def test_a_function_whose_module_would_import_another_than_its_neighbour_is_refused(
    sitting: Sitting,
) -> None:
    sitting.write("mine.py", "import this\ndef answer(prompt):\n    return 'yes'\n")
    mine = sitting.write("this.py", "")
    done = as_the_script_does(sitting, "python:mine:answer")
    assert done.returncode == 2
    assert f"which is found first, and not `{mine}`; rename yours" in done.stderr


def test_a_module_that_cannot_be_imported_shows_why_to_who_calls_the_library(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    importable(sitting, "lacking", "import no_such_module_of_anybody\n", monkeypatch)
    with pytest.raises(UsageError, match="cannot import") as caught:
        run("tutor-capstone", "capstone", "python:lacking:answer")
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)
