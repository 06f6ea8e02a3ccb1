"""The calls of one thread of Codex, from three sources that must not count a call twice.

A call is an item of the log; or the code of an `exec` call calls it (code mode); or only an event
says that it was made. Events name the calls of items by id. Those of code mode have ids of their
own, so they are matched by the tool and the command.

What the code runs may be computed. It is a doubt, unless an event says later what it was.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from markscheme.read.json_fields import clean_text, split_words, to_object, to_text
from markscheme.read.tools import (
    SHELL_PROGRAMS,
    SHELL_TOOLS,
    WRITE_TOOLS,
    CallDetails,
    extract_call_details,
)
from markscheme.read.transcripts.code_mode import NestedCall, read_script
from markscheme.read.transcripts.draft import Draft, DraftCall, DraftDispatch
from markscheme.read.transcripts.formats.codex_outcomes import find_session, parse_nested_status
from markscheme.vocabulary import CallStatus

# What the tool of code mode is called: `code_mode` in its first versions.
SCRIPT_TOOLS = frozenset({"exec", "code_mode"})
TYPING_TOOL, DISPATCH_TOOL, PATCH_TOOL = "write_stdin", "spawn_agent", "apply_patch"
# Tools that run code which is not read.
_CODE_TOOLS = split_words("js_repl mcp__node_repl__js code_interpreter python")
_OWN_SPACES = split_words("functions multi_agent_v1 collaboration agents multi_agent")
_OWN_TOOLS = SHELL_TOOLS | WRITE_TOOLS | SCRIPT_TOOLS | {TYPING_TOOL, DISPATCH_TOOL}
# Keys, an answer to a question, or the end of a program: they run nothing.
_HARMLESS_TYPING = re.compile(
    r"[\x00-\x20\x7f]*(?:\x1b\[[A-D])*|\s*(?:[yYnNqQ]|yes|no|\d{1,3}|exit|quit)\s*"
)
_UNKNOWN_PART = "${unknown}"


def name_tool(name: str, space: str | None = None) -> str:
    """Return the name of a tool with its namespace, without the namespaces of Codex itself."""
    name = name.removeprefix("functions.")
    full = f"{space.rstrip('._')}__{name}" if space else name
    head, _, tail = full.rpartition("__")
    if head and not full.startswith("mcp__") and (head in _OWN_SPACES or tail in _OWN_TOOLS):
        return tail
    return full


class Report(NamedTuple):
    """What an event says about a call. `status` is `NONE` if the call has only begun."""

    name: str
    arguments: Any
    id: str | None
    status: CallStatus | None
    at: datetime | None


@dataclass(slots=True)
class _Entry:
    """A call with what is needed to match events with it."""

    call: DraftCall
    script: str | None = None
    # Whether its command is computed, so that only an event can say what was run.
    is_open: bool = False
    repeats: bool = False
    reported: bool = False


@dataclass(slots=True)
class _Script:
    """The code of one `exec` call: its calls, why there may be others, whether events followed."""

    entries: list[_Entry]
    doubts: tuple[str, ...]
    reported: bool = False


class CodexCalls:
    """The calls of one thread while its lines are read.

    `reports_all` is set for logs with an event for each call that was made.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.reports_all = False
        self._entries: dict[str, _Entry] = {}
        self._unreported: dict[tuple[str, str], deque[_Entry]] = {}
        self._patching: list[_Entry] = []
        self._open: list[_Entry] = []
        self._scripts: dict[str, _Script] = {}
        self._dispatches: dict[str, DraftDispatch] = {}
        self._programs: dict[str, str] = {}

    def add_call(
        self,
        name: str,
        arguments: Any,
        *,
        id_: str | None = None,
        other_id: str | None = None,
        at: datetime | None = None,
    ) -> DraftCall:
        """Add a call that is an item of the log, with the calls in its code.

        Results name it by `id_`; events may also name it by `other_id`.
        """
        entry = self._add_entry(name, arguments, id_, at)
        if other_id is not None:
            self._entries.setdefault(other_id, entry)
        self._check_typing(name, arguments)
        if name in SCRIPT_TOOLS:
            self._add_script(entry.call, arguments)
        return entry.call

    def _add_entry(self, name: str, arguments: Any, id_: str | None, at: datetime | None) -> _Entry:
        call = self.draft.add_call(name, _read_typing(name, arguments), id_=id_, at=at)
        entry = _Entry(call)
        if id_ is not None:
            self._entries[id_] = entry
        self._unreported.setdefault(_build_key(name, call.details), deque()).append(entry)
        if PATCH_TOOL in (call.details.command or ""):
            self._patching.append(entry)
        if name == DISPATCH_TOOL:
            self._add_dispatch(entry, to_object(arguments))
        if name in _CODE_TOOLS:
            self.draft.add_gap(f"the code of a `{name}` call is not read")
        return entry

    def find_call(self, id_: str | None) -> DraftCall | None:
        """Return the call with this id."""
        entry = self._entries.get(id_ or "")
        return None if entry is None else entry.call

    def _check_typing(self, name: str, arguments: Any) -> None:
        """Note a doubt where text is typed into a program that does not read it as a shell does."""
        typed = to_object(arguments)
        if name != TYPING_TOOL or _HARMLESS_TYPING.fullmatch(to_text(typed.get("chars")) or ""):
            return
        program = to_text(typed.get("program")) or self._programs.get(str(typed.get("session_id")))
        words = (program or "").split()
        # With an operand or `-c` a shell runs something else.
        is_shell = bool(words) and words[0].rpartition("/")[2] in SHELL_PROGRAMS
        if not is_shell or not all(re.fullmatch("-[-a-z]*[^c]", word) for word in words[1:]):
            self.draft.add_gap("text is typed into a program that is no known shell")

    # Code mode

    def _add_script(self, call: DraftCall, code: Any) -> str:
        """Add the calls that the code of an `exec` call makes or may make; return its id."""
        id_ = call.id or f"exec {len(self._scripts)}"
        if isinstance(code, dict):
            code = next((code[key] for key in ("input", "code") if key in code), None)
        if not isinstance(code, str):
            self.draft.add_gap("an `exec` call has no code that can be read")
            return id_
        reading = read_script(code)
        script = _Script([], reading.doubts)
        self._scripts[id_] = script
        for number, nested in enumerate(reading.calls, start=1):
            entry = self._add_nested_call(nested, f"{id_}#{number}", call.started)
            entry.script = id_
            script.entries.append(entry)
        return id_

    def _add_nested_call(self, nested: NestedCall, id_: str, at: datetime | None) -> _Entry:
        name = name_tool(nested.name or "?")
        entry = self._add_entry(name, nested.arguments, id_, at)
        keys = ("chars",) if name == TYPING_TOOL else ("cmd", "command")
        runs_command = name in SHELL_TOOLS
        if name in SCRIPT_TOOLS or nested.name is None:
            entry.is_open = True
        elif runs_command:
            is_known = all(nested.is_known(key) for key in keys)
            has_command = entry.call.details.command is not None or name == TYPING_TOOL
            entry.is_open = not (is_known and has_command)
            if not entry.is_open:
                self._check_typing(name, nested.arguments)
        entry.repeats = nested.repeats
        if entry.is_open:
            self._open.append(entry)
        return entry

    def _end_script(self, id_: str | None, output: Any) -> None:
        """Note that the calls in the code of an `exec` call have ended with it."""
        script = self._scripts.get(id_ or "")
        if script is None:
            return
        runs = [entry.call for entry in script.entries if entry.call.name in SHELL_TOOLS]
        if len(runs) == 1:
            self._note_session(runs[0], output)
        only = script.entries[0] if len(script.entries) == 1 else None
        for entry in script.entries:
            if not entry.call.has_result:
                once = entry is only and not entry.repeats
                entry.call.status = parse_nested_status(output) if once else None
                entry.call.has_result = True

    def add_result(self, call: DraftCall, output: Any) -> None:
        """Note what the output of a call says about the calls in its code, or its session."""
        if call.name in SCRIPT_TOOLS:
            self._end_script(call.id, output)
        else:
            self._note_session(call, output)

    def _note_session(self, call: DraftCall, output: Any) -> None:
        """Remember which command a terminal session runs."""
        session = find_session(output)
        if session is not None and call.details.command and call.name != TYPING_TOOL:
            self._programs[session] = call.details.command

    # Events

    def add_report(self, report: Report) -> None:
        """Match an event with the call that it is about; add the call if there is none."""
        entry = self._find_entry(report)
        if entry is None:
            entry = self._add_entry(report.name, report.arguments, None, report.at)
            self._check_typing(report.name, report.arguments)
            entry.call.set_outcome(report.status)
            if report.name in SCRIPT_TOOLS:
                id_ = self._add_script(entry.call, report.arguments)
                self._end_script(id_, None)
        elif entry.is_open:
            entry.call.details = self._read_details(entry.call.name, report.arguments)
            self._check_typing(entry.call.name, report.arguments)
            entry.is_open = entry.repeats and not self.reports_all
        elif report.name == PATCH_TOOL and not entry.call.details.paths:
            entry.call.details = self._read_details(PATCH_TOOL, report.arguments)
        self._mark_reported(entry, report)

    def _read_details(self, name: str, arguments: Any) -> CallDetails:
        return extract_call_details(name, _read_typing(name, arguments))

    def _mark_reported(self, entry: _Entry, report: Report) -> None:
        entry.reported = True
        if report.id is not None:
            self._entries[report.id] = entry
        script = self._scripts.get(entry.script or "") or next(
            reversed(self._scripts.values()), None
        )
        if script is not None:
            script.reported = True
        if report.status is not None and report.status is not CallStatus.NONE:
            entry.call.set_outcome(report.status)

    def _find_entry(self, report: Report) -> _Entry | None:
        known = self._entries.get(report.id or "")
        if known is not None and (report.name != PATCH_TOOL or _explains_patch(known.call)):
            return known
        details = self._read_details(report.name, report.arguments)
        same = self._unreported.get(_build_key(report.name, details))
        while same:
            entry = same.popleft()
            if not entry.reported:
                return entry
        if report.name == PATCH_TOOL:
            # Codex itself does what a shell command `apply_patch` would do.
            return next((entry for entry in self._patching if not entry.reported), None)
        return next((e for e in self._open if _may_be(e, report.name, details)), None)

    # Sub-agents

    def _add_dispatch(self, entry: _Entry, arguments: dict[str, Any]) -> None:
        kind = to_text(arguments.get("agent_type")) or to_text(arguments.get("task_name"))
        prompt = to_text(arguments.get("message"))
        dispatch = self.draft.add_dispatch(kind, entry.call, prompt)
        if entry.call.id is not None:
            self._dispatches[entry.call.id] = dispatch

    def find_dispatch(self, id_: str | None) -> DraftDispatch | None:
        """Return the dispatch of the call with this id."""
        return self._dispatches.get(id_ or "")

    def name_agent(
        self, id_: str | None, agent: str | None, path: str | None = None, kind: str | None = None
    ) -> None:
        """Say which thread a dispatch has started; add the dispatch if there is no call of it."""
        if agent is None or any(dispatch.agent == agent for dispatch in self.draft.dispatches):
            return
        dispatch = self.find_dispatch(id_) or self._find_waiting_dispatch(path, kind)
        if dispatch is None:
            dispatch = self.draft.add_dispatch(kind, None)
        dispatch.agent = agent

    def _find_waiting_dispatch(self, path: str | None, kind: str | None) -> DraftDispatch | None:
        """Return the first dispatch whose thread is not known yet; prefer that of the same task."""
        failed = {CallStatus.ERROR, CallStatus.DENIED}
        waiting = [
            dispatch
            for dispatch in self.draft.dispatches
            if dispatch.agent is None and not (dispatch.call and dispatch.call.status in failed)
        ]
        names = {(path or "").rpartition("/")[2], kind} - {"", None}
        named = [dispatch for dispatch in waiting if dispatch.kind in names]
        return next(iter([*named, *waiting]), None)

    def add_doubts(self) -> None:
        """Add to the gaps what the log does not say about its calls."""
        unknown = sum(entry.is_open for entry in self._open)
        if unknown:
            plural = "" if unknown == 1 else "s"
            self.draft.add_gap(
                f"{unknown} call{plural} in the code of `exec` whose command is not in the log"
            )
        for script in self._scripts.values():
            if not (script.reported and self.reports_all):
                for reason in script.doubts:
                    self.draft.add_gap(f"the code of an `exec` call is not understood: {reason}")


def _read_typing(name: str, arguments: Any) -> Any:
    """Read what is typed into a running shell as a command."""
    typed = to_text(to_object(arguments).get("chars")) or ""
    if name != TYPING_TOOL or _HARMLESS_TYPING.fullmatch(typed):
        return arguments
    return {**to_object(arguments), "cmd": typed}


def _build_key(name: str, details: CallDetails) -> tuple[str, str]:
    """Return what a call and an event about it have in common."""
    if name == TYPING_TOOL:
        return TYPING_TOOL, details.command or details.arguments.get("chars", "")
    if name in SHELL_TOOLS:
        return "shell", details.command or ""
    if name == PATCH_TOOL:
        return PATCH_TOOL, ""
    if name in {"web_search", "web__run"}:
        return "web_search", ""
    return re.sub(r"\W", "_", name), ""


def _explains_patch(call: DraftCall) -> bool:
    """Return whether a call is one that shows the change of a file already."""
    is_patch = call.name in WRITE_TOOLS
    return is_patch or PATCH_TOOL in (call.details.command or "")


def _may_be(entry: _Entry, name: str, details: CallDetails) -> bool:
    """Return whether a call with a computed command may be the one that an event is about."""
    if not entry.is_open or (entry.reported and not entry.repeats):
        return False
    is_typing = name == TYPING_TOOL
    if entry.call.name != "?" and (entry.call.name == TYPING_TOOL) != is_typing:
        return False
    if name not in SHELL_TOOLS and not is_typing:
        return entry.call.name == "?"
    return _fits(entry.call.details.command or _UNKNOWN_PART, details.command or "")


def _fits(partial: str, command: str) -> bool:
    """Return whether a command has all known parts of a computed one, in their order."""
    at = 0
    for part in partial.split(_UNKNOWN_PART):
        found = command.find(clean_text(part), at)
        if found < 0:
            return False
        at = found + len(part)
    return True
