"""Find attempts to change something: tools that write, and tools whose command or code does.

What a command does is judged by `scripts`. What cannot be read is a doubt of the call, and a
program that no table knows is named in the evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markscheme.read.json_fields import split_words
from markscheme.read.tools.arguments import EDITOR_ACTION_KEY
from markscheme.read.tools.findings import Findings, shorten_code
from markscheme.read.tools.interpreters import SHELL
from markscheme.read.tools.scripts import judge_script
from markscheme.read.tools.tool_names import (
    CODE_LANGUAGES,
    ToolKind,
    get_tool_kind,
    is_ordinary_word,
    may_lack_command,
    squeeze_name,
)
from markscheme.read.tools.unknown_tools import SQL, judge_unknown_tool
from markscheme.vocabulary import Call, Mutation

EDITOR_CHANGES = split_words(
    "create str_replace insert delete write append undo_edit replace rename edit move overwrite"
)
_READING_ACTIONS = split_words(
    "view read open list ls find search grep goto scroll scroll_up scroll_down get show help"
)
_LANGUAGES = {
    ToolKind.SHELL: SHELL,
    ToolKind.TERMINAL_INPUT: SHELL,
    ToolKind.POWERSHELL: "powershell",
    **CODE_LANGUAGES,
}
_CONTROL_INPUT = re.compile(r"[\x00-\x1f\x7f\s]*")
_REDACTED = re.compile(r"\s*[\[{<(]\s*(redacted|removed|masked|hidden)\b", re.IGNORECASE)
_WATCHING_ACTIONS = split_words(
    "screenshot cursor_position mouse_move wait scroll scroll_down scroll_up zoom hold move hover "
    "launch close resize navigate goto"
)
_NOTHING = Findings()
_MISSING = Findings(doubts=["its command is not in the log"])


def find_mutation(call: Call) -> Mutation | None:
    """Return the mutation that a call attempts; `None` if it changes nothing."""
    kind = get_tool_kind(call.name)
    target = ", ".join(call.paths) or None
    if kind is ToolKind.WRITE or (
        kind is ToolKind.EDITOR and call.arguments.get(EDITOR_ACTION_KEY) in EDITOR_CHANGES
    ):
        return Mutation(name=call.name, target=target, status=call.status, call=call.index)
    changes = _judge_call(call).changes
    if not changes:
        return None
    return Mutation(name=call.name, target=changes[0], status=call.status, call=call.index)


def find_unreadable_code(call: Call) -> str | None:
    """Return why the command or code of a call cannot be read; `None` if all of it can."""
    doubts = _judge_call(call).doubts
    return f"call {call.index + 1} ({call.name}) cannot be judged: {doubts[0]}" if doubts else None


def find_unknown_programs(call: Call) -> list[str]:
    """Return the programs that a call runs whose effect is not known."""
    return _judge_call(call).programs


def _judge_call(call: Call) -> Findings:
    kind = get_tool_kind(call.name)
    if kind is None or (call.command is None and is_ordinary_word(call.name)):
        return judge_unknown_tool(call)
    if kind is ToolKind.EDITOR:
        return _judge_editor_action(call)
    if kind in {ToolKind.COMPUTER, ToolKind.PAGE}:
        return _judge_screen_action(call, kind)
    if kind not in _LANGUAGES:
        return _NOTHING
    if call.command is None:
        is_optional = may_lack_command(call.name) or "restart" in call.arguments
        is_shell = kind in {ToolKind.SHELL, ToolKind.POWERSHELL}
        return _MISSING if is_shell and not is_optional else _NOTHING
    if _REDACTED.match(call.command) is not None:
        return _MISSING
    if kind is ToolKind.QUERY and SQL.match(call.command) is None:
        return _NOTHING
    if kind is ToolKind.TERMINAL_INPUT:
        return _judge_terminal_input(call.command)
    return judge_script(call.command, language=_LANGUAGES[kind])


def _judge_editor_action(call: Call) -> Findings:
    """Judge an editor, whose action must be known; a memory is also asked without one."""
    action = call.arguments.get(EDITOR_ACTION_KEY)
    is_asked = action is None and squeeze_name(call.name).endswith("memory")
    if action in EDITOR_CHANGES or action in _READING_ACTIONS or is_asked:
        return _NOTHING
    return Findings(doubts=[f"an action of an editor: {action or 'not in the log'}"])


def _judge_screen_action(call: Call, kind: ToolKind) -> Findings:
    """Judge keys and clicks on a screen or a page, whose effect the log does not show."""
    if kind is ToolKind.PAGE:
        target = call.arguments.get("element") or call.arguments.get("selector", "")
        return Findings(doubts=[f"an action on a page: {shorten_code(target) or call.name}"])
    action = call.arguments.get("action", "")
    if action in _WATCHING_ACTIONS:
        return _NOTHING
    return Findings(doubts=[f"an action on a screen: {shorten_code(action) or 'not in the log'}"])


def _judge_terminal_input(text: str) -> Findings:
    """Judge what is typed into a running program, as if that were a shell."""
    if _CONTROL_INPUT.fullmatch(text) is not None:
        return _NOTHING
    found = judge_script(text)
    if found.programs and not found.changes:
        doubt = f"input of a running program: {shorten_code(text)}"
        return Findings(doubts=[*found.doubts, doubt])
    return found


def find_changes(script: str) -> Iterator[str]:
    """Yield what a shell script would change: the changing command, or the file redirected to."""
    yield from judge_script(script).changes
