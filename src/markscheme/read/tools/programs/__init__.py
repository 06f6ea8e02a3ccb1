"""Tables of programs: what a program does with its arguments, as far as the tables know.

To teach markscheme a program, add a `ProgramRule` to the table of its topic, or a name to
`READING_PROGRAMS`. A program in no table has an unknown effect: it is named in the evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from markscheme.read.tools.programs import (
    builds,
    databases,
    files,
    formatters,
    infrastructure,
    packages,
    system,
    version_control,
    windows,
)
from markscheme.read.tools.programs.cmdlets import judge_cmdlet
from markscheme.read.tools.programs.readers import READING_PROGRAMS
from markscheme.read.tools.programs.rules import (
    Effect,
    ProgramRule,
    find_option_values,
    is_dry_run,
    is_real_file,
    judge_by_rule,
)

__all__ = [
    "READING_PROGRAMS",
    "Effect",
    "ProgramRule",
    "find_option_values",
    "is_dry_run",
    "is_known_program",
    "is_real_file",
    "judge_program",
    "list_ruled_programs",
]

_TABLES = (
    builds.RULES,
    infrastructure.RULES,
    packages.RULES,
    formatters.RULES,
    databases.RULES,
    system.RULES,
    files.RULES,
    version_control.RULES,
    windows.RULES,
)
_RULES: dict[str, ProgramRule] = {
    name: rule for rule in chain.from_iterable(_TABLES) for name in rule.programs.split()
}


def list_ruled_programs() -> list[str]:
    """Return the name of each program as often as tables name it; once is right."""
    rules = chain.from_iterable(_TABLES)
    return [*(name for rule in rules for name in rule.programs.split()), *READING_PROGRAMS]


def is_known_program(program: str) -> bool:
    """Return whether a table knows the program."""
    return program in _RULES or program in READING_PROGRAMS


def judge_program(program: str, words: Sequence[str]) -> Effect:
    """Return what a program, named without its folder, does with these arguments."""
    rule = _RULES.get(program)
    if rule is not None:
        return judge_by_rule(rule, words)
    if program in READING_PROGRAMS:
        return Effect.READ
    return judge_cmdlet(program, words)
