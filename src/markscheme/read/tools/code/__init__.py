"""Judge source text that a command carries: Python, JavaScript, SQL and others.

`judge_code` returns what the text changes, which commands it starts, and what cannot be read. Only
text whose every part is known to read or compute is harmless; the rest is a change or a doubt.
"""

from __future__ import annotations

import re

from markscheme.read.tools.code.file_reads import find_file_reads
from markscheme.read.tools.code.python_code import judge_notebook_cell, judge_python
from markscheme.read.tools.code.script_code import LANGUAGES, judge_script_code
from markscheme.read.tools.code.sql import judge_mongo, judge_sql
from markscheme.read.tools.code.text_scripts import judge_awk, judge_editor, judge_sed
from markscheme.read.tools.findings import Findings, shorten_code

__all__ = ["find_file_reads", "judge_awk", "judge_code", "judge_editor", "judge_sed"]

# Code in a language that is not read: only printing what is written there is harmless.
_LITERAL = (
    r"(?:\"[^\"$#\\`]*\"|'[^'\\`]*'|[\d.\s+\-*/%()]+|version\b|VERSION\b|System\.version\(\))"
)
_PRINTS_LITERAL = re.compile(
    rf"\s*(?:(?:print|println|puts|cat|echo|display|say|IO\.puts|IO\.inspect|System\.out\.println|putStrLn)"
    rf"\s*\(?\s*)?{_LITERAL}\s*\)?\s*;?\s*"
)


def judge_code(language: str, text: str) -> Findings:
    """Return what source text in a language does."""
    if language == "python":
        return judge_python(text)
    if language == "notebook":
        return judge_notebook_cell(text)
    if language == "sql":
        return judge_sql(text)
    if language == "mongo":
        return judge_mongo(text)
    if language in LANGUAGES:
        return judge_script_code(language, text)
    if _PRINTS_LITERAL.fullmatch(text) is not None:
        return Findings()
    return Findings(doubts=[f"code in a language that is not read: {shorten_code(text)}"])
