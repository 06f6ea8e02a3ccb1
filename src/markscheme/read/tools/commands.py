"""List the commands that a call runs, for families of tools such as `search`.

A file that code reads counts as `cat FILE`, whether a shell runs the code or a tool for code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markscheme.read.tools.code import find_file_reads, judge_code
from markscheme.read.tools.interpreters import (
    SHELL,
    Interpreter,
    find_code,
    find_interpreter,
)
from markscheme.read.tools.shell import MAX_DEPTH, SimpleCommand, parse_simple_commands
from markscheme.read.tools.tool_names import CODE_LANGUAGES, get_tool_kind, is_shell_tool
from markscheme.read.tools.wrappers import get_program_name, unwrap_command
from markscheme.vocabulary import Call

# `perl -ne CODE FILE` runs the code for each line of the files.
_LINE_OPTION = re.compile(r"-[a-zA-Z0-9]*[npF].*", re.DOTALL)
# They read a file that is redirected to them: `while read line; do …; done < FILE`.
_INPUT_READERS = frozenset({"done", "read", "mapfile", "readarray", "tr"})
_LINE_LANGUAGES = frozenset({"perl", "ruby"})


def iter_call_commands(call: Call) -> Iterator[list[str]]:
    """Yield the words of each command that a call of a shell, or of a tool for code, runs."""
    if call.command is None:
        return
    kind = get_tool_kind(call.name)
    if kind in CODE_LANGUAGES and not is_shell_tool(call.name):
        yield from _iter_code_commands(CODE_LANGUAGES[kind], call.command, 0)
    else:
        yield from iter_commands(call.command)


def iter_commands(script: str, depth: int = 0) -> Iterator[list[str]]:
    """Yield the words of each command of a script, without those that only read from a pipe."""
    for simple in parse_simple_commands(script, depth):
        unwrapped = unwrap_command(simple.words)
        if simple.reads and (not simple.words or simple.words[0] in _INPUT_READERS):
            yield ["cat", *simple.reads]
        for inner in unwrapped.scripts:
            yield from iter_commands(inner, simple.depth + 1)
        if not unwrapped.words:
            continue
        words = [get_program_name(unwrapped.words[0]), *unwrapped.words[1:]]
        interpreter = find_interpreter(words[0], words[1:])
        if interpreter is not None and interpreter.language != SHELL:
            yield from _iter_interpreter_commands(interpreter, words, simple)
        if simple.piped:
            continue
        inner_scripts = _find_inner_scripts(words, interpreter, simple)
        for inner in inner_scripts:
            yield from iter_commands(inner, simple.depth + 1)
        if not inner_scripts:
            yield words


def _find_inner_scripts(
    words: list[str], interpreter: Interpreter | None, simple: SimpleCommand
) -> list[str]:
    """Return the scripts that a shell runs: `bash -c …`, `eval …`, `sh <<EOF`."""
    if words[0] == "eval":
        return [" ".join(words[1:]), *simple.heredocs]
    if interpreter is None or interpreter.language != SHELL:
        return []
    return find_code(interpreter, words[1:], simple).texts


def _iter_interpreter_commands(
    interpreter: Interpreter, words: list[str], simple: SimpleCommand
) -> Iterator[list[str]]:
    code = find_code(interpreter, words[1:], simple)
    for text in code.texts:
        yield from _iter_code_commands(code.language, text, simple.depth + 1)
    is_for_lines = interpreter.language in _LINE_LANGUAGES and any(
        map(_LINE_OPTION.fullmatch, words[1:])
    )
    files = [word for word in words[1:] if word[:1] != "-" and word not in code.texts]
    if is_for_lines and files and code.texts:
        yield ["cat", *files]


def _iter_code_commands(language: str, text: str, depth: int) -> Iterator[list[str]]:
    """Yield what code reads as commands, then the commands that it starts."""
    if depth >= MAX_DEPTH:
        return
    for texts in find_file_reads(language, text):
        yield ["cat", *texts]
    for script in judge_code(language, text).scripts:
        yield from iter_commands(script, depth + 1)
