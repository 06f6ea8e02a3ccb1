"""Events and history items of Codex that are about calls, as `Report`s.

Events of the legacy history are `exec_command_end`, `patch_apply_end`, `mcp_tool_call_end` …; items
of the paginated history are `CommandExecution`, `FileChange`, `McpToolCall` …
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from datetime import datetime
from typing import Any

from markscheme.read.json_fields import JsonObject, to_object, to_text
from markscheme.read.tools import SHELL_PROGRAMS, extract_call_details
from markscheme.read.transcripts.formats.codex_calls import (
    DISPATCH_TOOL,
    PATCH_TOOL,
    TYPING_TOOL,
    CodexCalls,
    Report,
    name_tool,
)
from markscheme.read.transcripts.formats.codex_kinds import HARMLESS_EXTENSIONS
from markscheme.read.transcripts.formats.codex_outcomes import parse_event_status
from markscheme.vocabulary import CallStatus

_EXTENSION_TOOLS = {"image_gen.generation": "image_generation", "web.search": "web_search"}
_BEGINNINGS = ("_begin", "_request", "_started")


def read_call_event(event: JsonObject, at: datetime | None) -> list[Report] | None:
    """Return what an event says about calls; `None` if it is no event about calls."""
    kind = to_text(event.get("type")) or ""
    read = _READERS.get(kind)
    if read is None:
        return None
    named = read(event)
    if named is None:
        return []
    name, arguments = named
    if name is None:
        return None
    id_ = to_text(event.get("call_id")) or to_text(event.get("id")) or to_text(event.get("callId"))
    begins = kind.endswith(_BEGINNINGS) or event.get("has_ended") is False
    status = CallStatus.NONE if begins else parse_event_status(event)
    return [Report(name, arguments, id_, status, at)]


def name_agents(calls: CodexCalls, event: JsonObject) -> None:
    """Say which threads the calls of an event have started."""
    id_ = (
        to_text(event.get("call_id")) or to_text(event.get("event_id")) or to_text(event.get("id"))
    )
    kind = to_text(event.get("type"))
    path = to_text(event.get("agent_path"))
    if kind in {"sub_agent_activity", "subagentactivity"}:
        if event.get("kind") == "started":
            calls.name_agent(id_, to_text(event.get("agent_thread_id")), path)
    elif kind == "collab_agent_spawn_end":
        calls.name_agent(id_, to_text(event.get("new_thread_id")), path)
    elif kind == "collabagenttoolcall" and _is_spawn(event):
        threads = event.get("receiver_thread_ids")
        for thread in threads if isinstance(threads, list) else []:
            calls.name_agent(id_, to_text(thread), path)


# Each reader returns the tool and its arguments; `None` for an event that is about no call of the
# agent, and no tool for one that is not known.
_Named = tuple[str | None, Any]


def _read_command(event: JsonObject) -> _Named | None:
    source = to_text(event.get("source"))
    if source in {"user_shell", "userShell"}:
        return None
    if source in {"unified_exec_interaction", "unifiedExecInteraction"}:
        typed = event.get("interaction_input")
        program = event.get("command")
        if isinstance(program, list):
            program = extract_call_details("", {"cmd": program}).command
        return TYPING_TOOL, {"chars": to_text(typed) or "", "program": program}
    return "exec_command", {"cmd": _split_command(event.get("command"))}


def _split_command(command: Any) -> Any:
    """Return the words of a command that is written as one text with its shell: `sh -lc '…'`."""
    if isinstance(command, str) and " -" in command:
        try:
            words = shlex.split(command)
        except ValueError:
            return command
        if words[0].rpartition("/")[2] in SHELL_PROGRAMS:
            return words
    return command


def _read_typing(event: JsonObject) -> _Named | None:
    return TYPING_TOOL, {"chars": to_text(event.get("stdin")) or ""}


def _read_patch(event: JsonObject) -> _Named | None:
    """Return the files that a patch changes; `changes` has them as keys, or as a list."""
    changes = event.get("changes")
    if isinstance(changes, dict):
        changes = [
            {"path": path}
            for file, change in changes.items()
            for path in (file, to_object(change).get("move_path"))
            if isinstance(path, str)
        ]
    return PATCH_TOOL, {"changes": changes}


def _read_mcp_call(event: JsonObject) -> _Named | None:
    invocation = to_object(event.get("invocation")) or event
    server, tool = to_text(invocation.get("server")), to_text(invocation.get("tool"))
    return f"mcp__{server or '?'}__{tool or '?'}", invocation.get("arguments")


def _read_dynamic_call(event: JsonObject) -> _Named | None:
    name = name_tool(to_text(event.get("tool")) or "?", to_text(event.get("namespace")))
    return name, event.get("arguments")


def _read_web_search(event: JsonObject) -> _Named | None:
    return "web_search", {"query": event.get("query")}


def _read_image_view(event: JsonObject) -> _Named | None:
    return "view_image", {"path": event.get("path")}


def _read_image_generation(event: JsonObject) -> _Named | None:
    return "image_generation", {"prompt": event.get("revised_prompt")}


def _read_extension(event: JsonObject) -> _Named | None:
    kind = to_text(event.get("kind"))
    if kind in HARMLESS_EXTENSIONS:
        return None
    return _EXTENSION_TOOLS.get(kind or ""), None


def _read_spawn(event: JsonObject) -> _Named | None:
    return DISPATCH_TOOL, {
        "message": event.get("prompt"),
        "agent_type": event.get("new_agent_role"),
    }


def _read_agent_tool(event: JsonObject) -> _Named | None:
    return _read_spawn(event) if _is_spawn(event) else None


def _is_spawn(event: JsonObject) -> bool:
    return to_text(event.get("tool")) in {"spawn_agent", "spawnAgent", "SpawnAgent"}


def _read_nothing(event: JsonObject) -> _Named | None:  # noqa: ARG001 - as the others
    return None


_READERS: dict[str, Callable[[JsonObject], _Named | None]] = {
    "exec_command_begin": _read_command,
    "exec_command_end": _read_command,
    "exec_approval_request": _read_command,
    "terminal_interaction": _read_typing,
    "patch_apply_begin": _read_patch,
    "patch_apply_end": _read_patch,
    "apply_patch_approval_request": _read_patch,
    "mcp_tool_call_begin": _read_mcp_call,
    "mcp_tool_call_end": _read_mcp_call,
    "dynamic_tool_call_request": _read_dynamic_call,
    "dynamic_tool_call_response": _read_dynamic_call,
    "web_search_begin": _read_web_search,
    "web_search_end": _read_web_search,
    "view_image_tool_call": _read_image_view,
    "image_generation_begin": _read_image_generation,
    "image_generation_end": _read_image_generation,
    "collab_agent_spawn_begin": _read_spawn,
    "collab_agent_spawn_end": _read_spawn,
    "sub_agent_activity": _read_nothing,
    "commandexecution": _read_command,
    "filechange": _read_patch,
    "mcptoolcall": _read_mcp_call,
    "dynamictoolcall": _read_dynamic_call,
    "collabagenttoolcall": _read_agent_tool,
    "subagentactivity": _read_nothing,
    "websearch": _read_web_search,
    "imageview": _read_image_view,
    "imagegeneration": _read_image_generation,
    "extension": _read_extension,
}
