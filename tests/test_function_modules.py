"""The module of a function is the one that is meant, or the call is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from commands import markscheme

if TYPE_CHECKING:
    from sittings import Sitting


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
    words = map(str, sitting.asks("x").words(subject=f"python:{name}:answer"))
    done = subprocess.run(  # as the script does it, which does not look in the present folder
        [sys.executable, "-P", "-m", "markscheme", *words],
        cwd=sitting.folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    other = sys.modules[name].__file__
    told = f"`{name}` is `{other}`, which is loaded already, and not `{mine}`; rename yours"
    assert done.stderr == f"Error: {told}\n"


def test_a_module_that_stands_in_our_way_is_wrong_usage(sitting: Sitting) -> None:
    sitting.write("mine.py", "def answer(prompt):\n    return 'yes'\n")
    sitting.write("polars.py", "")
    (sitting.folder / "rich").mkdir()
    sitting.write("rich/__init__.py", "")
    words = map(str, sitting.asks("x").words(subject="python:mine:answer"))
    done = subprocess.run(
        [sys.executable, "-P", "-m", "markscheme", *words],
        cwd=sitting.folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    told = "`polars`, `rich` of the present folder would be loaded instead of what markscheme needs"
    assert (done.returncode, done.stderr) == (2, f"Error: {told}; rename them\n")


@pytest.mark.parametrize("leaves", ["import sys; sys.exit(0)", "raise BaseException('panic')"])
def test_a_module_that_leaves_when_it_is_imported_is_wrong_usage(
    sitting: Sitting, leaves: str
) -> None:
    sitting.write("my_script.py", leaves)
    words = sitting.asks("x").words(subject="python:my_script:answer")
    done = markscheme(*words, cwd=sitting.folder)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "cannot import `answer` of `my_script`" in done.err
