"""Code mode of Codex: which tools the JavaScript of an `exec` call calls, and with what.

The code is split into tokens (`tokens`), parsed (`syntax`) and followed without being run
(`evaluation`, with the `values` that it knows and the `builtins` of the language). The time is
linear in the length of the code.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from markscheme.read.transcripts.code_mode.evaluation import Evaluation
from markscheme.read.transcripts.code_mode.state import NestedCall
from markscheme.read.transcripts.code_mode.syntax import parse_script
from markscheme.read.transcripts.code_mode.tokens import ScriptError

__all__ = ["NestedCall", "ScriptReading", "read_script"]

_MAX_ROUNDS = 4
_BASE_STEPS = 100_000
_STEPS_PER_CHARACTER = 2
# Only to name what code may have called that could not be followed.
_TOOL_NAME = re.compile(r"\btools\s*(?:\?\s*)?\.\s*([A-Za-z_$][\w$]*)")


class ScriptReading(NamedTuple):
    """The calls that a script makes or may make, and why there may be others."""

    calls: tuple[NestedCall, ...]
    doubts: tuple[str, ...] = ()


def read_script(script: str) -> ScriptReading:
    """Return the calls of nested tools in the code of an `exec` call."""
    budget = _BASE_STEPS + _STEPS_PER_CHARACTER * len(script)
    shaky: frozenset[int] = frozenset()
    try:
        tree = parse_script(script)
        for _ in range(_MAX_ROUNDS):
            evaluation = Evaluation(shaky, budget)
            evaluation.follow_script(tree)
            if evaluation.found_shaky == shaky:
                return ScriptReading(tuple(evaluation.calls), tuple(evaluation.doubts))
            shaky = frozenset(evaluation.found_shaky)
    except ScriptError as error:
        return _name_tools(script, str(error))
    except RecursionError:
        return _name_tools(script, "it is nested too deeply")
    return _name_tools(script, "its values change in too many places")


def _name_tools(script: str, reason: str) -> ScriptReading:
    """Return the tools that unread code names, with unknown arguments."""
    names = dict.fromkeys(_TOOL_NAME.findall(script))
    calls = (NestedCall(name, None, frozenset("*"), repeats=True) for name in names)
    return ScriptReading(tuple(calls), (reason,))
