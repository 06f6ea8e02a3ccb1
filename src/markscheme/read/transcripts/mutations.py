"""Attempts to change something: tools that write, and shell commands that do.

The names are the defaults for the supported agents; tools of MCP servers need a list of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.read.transcripts.values import split_words
from markscheme.read.transcripts.verbs import find_changes
from markscheme.transcript import Mutation

if TYPE_CHECKING:
    from markscheme.transcript import Call

WRITE_TOOLS = split_words(
    "write edit multiedit notebookedit apply_patch patch write_file create_file edit_file "
    "replace insert file_change update_file delete_file"
)
EDITOR_TOOLS = frozenset({"str_replace_editor", "str_replace_based_edit_tool", "text_editor"})
EDITOR_CHANGES = frozenset(
    {"create", "str_replace", "insert", "delete", "write", "append", "undo_edit"}
)
SHELL_TOOLS = split_words(
    "bash shell exec_command local_shell local_shell_call run_shell_command "
    "command_execution execute_command run_command run_terminal_cmd terminal "
    "container.exec unified_exec"
)


def find_mutation(call: Call) -> Mutation | None:
    """Return the attempt to change something that a call is, if it is one."""
    name = call.name.lower()
    target = ", ".join(call.paths) or None
    if name in WRITE_TOOLS or (
        name in EDITOR_TOOLS and call.arguments.get("command") in EDITOR_CHANGES
    ):
        return Mutation(name=call.name, target=target, status=call.status, call=call.index)
    if name in SHELL_TOOLS and call.command is not None:
        found = next(find_changes(call.command), None)
        if found is not None:
            return Mutation(name=call.name, target=found, status=call.status, call=call.index)
    return None
