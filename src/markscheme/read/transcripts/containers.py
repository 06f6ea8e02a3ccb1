"""Finds tool calls in the parts of a record that a reader does not read.

Formats grow: a call may stand in a place of which a reader knows nothing. Such a place is found by
the names that the APIs and agents give to calls. Only the structure is searched, never text: the
output of a tool may quote anything, so readers leave outputs out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from markscheme.read.json_fields import JsonObject, split_words

# The `type` of an object that is a call.
_CALL_KINDS = split_words(
    "tool_use server_tool_use mcp_tool_use tool_call tool-call toolcall toolCall tool-invocation "
    "dynamic-tool function_call functionCall custom_tool_call local_shell_call shell_call "
    "apply_patch_call mcp_call computer_call web_search_call file_search_call "
    "code_interpreter_call image_generation_call toolRequest tool_request tool-request"
)
# Fields that hold one call or a list of calls.
_CALL_FIELDS = split_words(
    "tool_calls toolCalls tool_call toolCall tool_use toolUse tool_uses toolUses function_call "
    "functionCall function_calls functionCalls tool_invocations toolInvocations toolInvocation "
    "tool_requests toolRequests toolRequest"
)
_ID_FIELDS = ("toolCallId", "tool_call_id", "callID", "call_id", "toolUseId", "tool_use_id")
_INPUT_FIELDS = ("input", "args", "arguments", "rawInput", "toolInput", "tool_input")
# Fields that name a tool, and fields that hold its arguments and no schema of them.
_NAME_FIELDS = ("tool", "tool_name", "toolName", "name", "action", "function", "recipient_name")
_ARGUMENT_FIELDS = (*_INPUT_FIELDS, "parameters", "params", "action_input", "tool_params")
_SCHEMA_FIELDS = split_words("properties $schema type $ref")


def find_call_containers(record: JsonObject, read: Collection[str] = ()) -> Iterator[str]:
    """Yield the name of each field or type that holds a call, outside the fields in `read`."""
    waiting: list[Any] = []
    for key, value in record.items():
        if key not in read and isinstance(value, dict | list) and value:
            if key in _CALL_FIELDS:
                yield key
            else:
                waiting.append(value)
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(inner for inner in value if isinstance(inner, dict | list))
            continue
        name = _find_call_name(value)
        if name is not None:
            yield name
            continue
        waiting.extend(inner for inner in value.values() if isinstance(inner, dict | list))


def _find_call_name(value: JsonObject) -> str | None:
    """Return the type or field by which an object is or holds a call; `None` if it does not."""
    kind = value.get("type")
    if isinstance(kind, str) and kind in _CALL_KINDS:
        return kind
    for key in value.keys() & _CALL_FIELDS:
        if isinstance(value[key], dict | list) and value[key]:
            return key
    has_id = any(isinstance(value.get(key), str) for key in _ID_FIELDS)
    if has_id and any(isinstance(value.get(key), dict | list) for key in _INPUT_FIELDS):
        return next(key for key in _ID_FIELDS if key in value)
    if any(isinstance(value.get(key), str) for key in _NAME_FIELDS):
        return next((key for key in _ARGUMENT_FIELDS if _holds_arguments(value.get(key))), None)
    return None


def _holds_arguments(value: Any) -> bool:
    """Return whether a value is the arguments of a call, and not the schema of them."""
    return isinstance(value, dict) and bool(value) and not _SCHEMA_FIELDS & value.keys()
