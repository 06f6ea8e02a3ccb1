"""Find the files and folders that source text reads, so that it counts as a look into a codebase.

`python -c "print(open('a.py').read())"` reads a file as `cat a.py` does. What the text says of the
path is kept; a path that is computed is a file all the same.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from markscheme.read.json_fields import split_words

_MAX_SOURCE = 100_000
_READERS = split_words(
    "read_text read_bytes iterdir rglob glob iglob walk fwalk scandir listdir getline getlines "
    "read_csv read_json read_parquet read_table loadtxt genfromtxt"
)
_WRITING_MODE = re.compile(r"[rbtU]*[wax]")
# Also for Python that cannot be parsed, such as a cell with lines of the shell.
_READING_CALL = re.compile(
    r"(?<![\w$])(?:open|read_text|read_bytes|listdir|scandir|rglob|iterdir|fopen|opendir|readfile"
    r"|file_get_contents|glob|(?:fs\.)?(?:promises\.)?(?:readFile|readdir|readTextFile|readDir)(?:Sync)?"
    r"|createReadStream|Bun\.file|require(?=\(\s*['\"]\.)"
    r"|(?:File|IO)\.(?:read|open|foreach|readlines|new)|Dir\.(?:glob|children|entries|each_child)"
    r"|io\.(?:open|lines))\s*\(?\s*(?P<rest>[^)\n]*)"
)
_TEXT = re.compile(r"['\"`](?P<text>[^'\"`]*)['\"`]")


def find_file_reads(language: str, source: str) -> list[list[str]]:
    """Return for each reading call of a source text the texts among its arguments, in its order."""
    source = source[:_MAX_SOURCE]
    if language in {"python", "notebook"}:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return list(_find_in_text(source))
        reads = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _reads(node)]
        reads.sort(key=lambda node: (node.lineno, node.col_offset))
        return [_list_texts(node) for node in reads]
    return list(_find_in_text(source))


def _find_in_text(source: str) -> Iterator[list[str]]:
    for match in _READING_CALL.finditer(source):
        texts = [text["text"] for text in _TEXT.finditer(match["rest"])]
        # The second text of a call that opens a file is the mode.
        if not any(_WRITING_MODE.fullmatch(text) for text in texts[1:]):
            yield texts


def _reads(node: ast.Call) -> bool:
    """Return whether a call opens a file for reading, or lists a folder."""
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else ""
    name = function.id if isinstance(function, ast.Name) else name
    if name != "open":
        return name in _READERS
    # The path comes first, unless the function is a method of it.
    first = 0 if isinstance(function, ast.Attribute) else 1
    modes = [
        *node.args[first:],
        *(keyword.value for keyword in node.keywords if keyword.arg == "mode"),
    ]
    texts = [mode.value for mode in modes if isinstance(mode, ast.Constant)]
    return not any(
        isinstance(text, str) and re.fullmatch(r"[rwaxbtU+]{1,4}", text) and _writes(text)
        for text in texts
    )


def _writes(mode: str) -> bool:
    return _WRITING_MODE.match(mode) is not None or "+" in mode


def _list_texts(node: ast.Call) -> list[str]:
    return [
        inner.value
        for inner in ast.walk(node)
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner.value
    ]
