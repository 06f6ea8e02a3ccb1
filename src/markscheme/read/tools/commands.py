"""List the commands that a script runs, for families of tools such as `search`."""

from __future__ import annotations

from collections.abc import Iterator

from markscheme.read.tools.interpreters import SHELL, find_code, find_interpreter
from markscheme.read.tools.shell import SimpleCommand, parse_simple_commands
from markscheme.read.tools.wrappers import get_program_name, unwrap_command


def iter_commands(script: str, depth: int = 0) -> Iterator[list[str]]:
    """Yield the words of each command of a script, without those that only read from a pipe."""
    for simple in parse_simple_commands(script, depth):
        unwrapped = unwrap_command(simple.words)
        for inner in unwrapped.scripts:
            yield from iter_commands(inner, simple.depth + 1)
        if not unwrapped.words or simple.piped:
            continue
        words = [get_program_name(unwrapped.words[0]), *unwrapped.words[1:]]
        inner_scripts = _find_inner_scripts(words, simple)
        for inner in inner_scripts:
            yield from iter_commands(inner, simple.depth + 1)
        if not inner_scripts:
            yield words


def _find_inner_scripts(words: list[str], simple: SimpleCommand) -> list[str]:
    """Return the scripts that a shell runs: `bash -c …`, `eval …`, `sh <<EOF`."""
    if words[0] == "eval":
        return [" ".join(words[1:]), *simple.heredocs]
    interpreter = find_interpreter(words[0], words[1:])
    if interpreter is None or interpreter.language != SHELL:
        return []
    return find_code(interpreter, words[1:], simple).texts
