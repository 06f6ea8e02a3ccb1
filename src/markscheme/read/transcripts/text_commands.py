"""Finds commands that an agent wrote into its text, for a program around it to run.

Some agents have no calls in their messages: the text holds a command in a marked place, and the
next message of the user is the output. Where no reader understands such a log, it must not count as
a conversation without calls.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

from markscheme.read.json_fields import iter_objects, parse_json, split_words
from markscheme.read.tools import judge_script
from markscheme.read.transcripts.containers import find_call_containers

# At the start of a line of the assistant's text: the marks that models and agents give to a call.
_COMMAND = re.compile(
    r"^[ \t]*(?:```)?(<tool_call>|<tool_use>|<function=|<function_calls>|<invoke name=|<execute>"
    r"|<execute_bash>|<execute_ipython>|<execute_command>|<run_command>|<bash>|<tool_code>"
    r"|tool_code\b|<write_to_file>|<write_file\b|<replace_in_file>|<apply_diff>|<\w+:tool_call>"
    r"|mswea_bash_command|Action Input:|Action:\s*(?:```(?:json)?\s*)?[\[{]|<<<<<<< SEARCH"
    r"|\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool_calls?\w*\|>"
    r"|<\|channel\|>commentary to=|<\|start\|>assistant to=|<\uff5ctool|>>>\w+\n\s*\{"
    r"|\[(?:\w+Block\(|ToolCall\())",
    re.MULTILINE,
)
# The longest text that may be calls in the manner of Python: `[bash(command="ls")]`.
_MAX_PYTHON_CALLS = 20_000
_FENCE = re.compile(r"\s*```(?:json)?\s*(?P<inner>.*?)\s*```\s*", re.DOTALL)
# A block of code that a program around the agent may run.
_CODE_BLOCK = re.compile(
    r"^[ \t]*(?:```(?P<language>bash|sh|shell|zsh|console|powershell|python|py|javascript|js)\s*\n"
    r"(?P<code>.*?)^[ \t]*```|<code>\s*\n(?P<tagged>(?:(?!<code>).)*?)</code>)",
    re.MULTILINE | re.DOTALL,
)
_LANGUAGES = {
    **dict.fromkeys(("python", "py"), "python"),
    **dict.fromkeys(("javascript", "js"), "javascript"),
    "powershell": "powershell",
}
# Fields of an object that name a tool, and those that hold what it is handed.
_NAME_FIELDS = split_words("name tool tool_name toolName function action recipient_name command")
_INPUT_FIELDS = split_words(
    "input args arguments parameters params tool_input toolInput action_input kwargs"
)
_COMMAND_FIELDS = ("command", "commands", "cmd", "keystrokes", "bash", "shell", "execute")
# At the start of what the program around the agent says as the user.
_OUTPUT = re.compile(
    r"\s*(<returncode>|OBSERVATION:|Observation:|<tool_response>|<function_results>"
    r"|EXECUTION RESULT of \[|\[\w+ for '[^\n]*'\] Result:)"
)
_NAMED_RESULT = re.compile(r"\[\w+ for .*")


def find_text_command(role: str | None, text: str | None) -> str | None:
    """Return the mark of a command in a message's text, or of its output; `None` if there is none.

    The assistant writes the command, and the output comes as a message of the user.
    """
    if text is None or role not in {"assistant", "user"}:
        return None
    if role == "user":
        match = _OUTPUT.match(text)
        return None if match is None else _NAMED_RESULT.sub("Result:", match.group(1))
    match = _COMMAND.search(text)
    if match is not None:
        return match.group(1).strip()
    if _is_python_calls(text):
        return "[…(…)]"
    return next((name for value in _parse_objects(text) for name in _find_calls(value)), None)


def find_command_block(text: str | None) -> str | None:
    """Return the mark of a block of code or of JSON in a text which a program may have carried out.

    An answer may hold such a block too, so it counts only where the conversation goes on after it.
    A block that would change nothing is no matter.
    """
    if text is None:
        return None
    for match in _CODE_BLOCK.finditer(text):
        code = match["code"] or match["tagged"] or ""
        language = _LANGUAGES.get(match["language"] or "py", "shell")
        found = judge_script(code, language=language)
        if found.changes or found.doubts:
            return "<code>" if match["code"] is None else f"```{match['language']}"
    objects = _parse_objects(text)
    return next((key for value in objects for key in _COMMAND_FIELDS if value.get(key)), None)


def _is_python_calls(text: str) -> bool:
    text = text.strip()
    if text[:1] != "[" or text[-1:] != "]" or len(text) > _MAX_PYTHON_CALLS:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    elements = body.elts if isinstance(body, ast.List) else []
    return bool(elements) and all(isinstance(element, ast.Call) for element in elements)


def _parse_objects(text: str) -> list[dict[str, Any]]:
    """Return the objects of a text that is JSON as a whole, be it in a block."""
    fenced = _FENCE.fullmatch(text)
    inner = text if fenced is None else fenced["inner"]
    if inner.lstrip()[:1] not in {"{", "["}:
        return []
    value = parse_json(inner)
    return [value] if isinstance(value, dict) else list(iter_objects(value))


def _find_calls(value: dict[str, Any]) -> list[str]:
    """Return the name of each field by which an object is a call."""
    named = [key for key in _NAME_FIELDS if isinstance(value.get(key), str | dict)]
    handed = [key for key in _INPUT_FIELDS if isinstance(value.get(key), str | dict | list)]
    if named and handed:
        return handed
    if isinstance(value.get("command"), dict):
        return ["command"]
    return list(find_call_containers({"": value}))
