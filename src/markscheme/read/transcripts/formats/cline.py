"""Cline and Roo Code: `api_conversation_history.json`, and session files of the Cline SDK.

The messages have the blocks of the Anthropic API. Where the model has no tools of its own, its text
holds the calls as XML (`<write_to_file><path>…`), and the next message of the user names each call
before its result: `[write_to_file for 'a.md'] Result:`. Each result has to have a call, so that a
call in XML of an unknown tool is noticed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_count,
    parse_epoch,
    parse_id,
    parse_json,
    parse_json_or_raw,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.tools import CallDetails, extract_call_details
from markscheme.read.transcripts.draft import UNNAMED_TOOL, DraftCall, DraftDispatch
from markscheme.read.transcripts.formats.anthropic import (
    AnthropicConversation,
    find_messages,
    get_kind,
    iter_blocks,
)
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, Tokens, Transcript

FORMAT_NAME = "cline"
# Tools that a model may call in XML.
_XML_TOOLS = (
    "execute_command read_file write_to_file replace_in_file apply_diff insert_content edit_file "
    "search_and_replace search_replace apply_patch delete_file search_files list_files "
    "list_code_definition_names codebase_search browser_action use_mcp_tool access_mcp_resource "
    "load_mcp_documentation ask_followup_question attempt_completion plan_mode_respond "
    "act_mode_respond new_task switch_mode update_todo_list fetch_instructions generate_image "
    "web_fetch web_search condense summarize_task report_bug new_rule use_skill use_subagents "
    "run_slash_command skill focus_chain edit read_command_output"
)
_TOOL_TAG = re.compile(rf"<({'|'.join(_XML_TOOLS.split())})>")
_XML_PATH = re.compile(r"<path>(.*?)</path>", re.DOTALL)
# Tools whose argument is the answer of the agent.
_ANSWERS = {
    "attempt_completion": "result",
    "plan_mode_respond": "response",
    "submit_and_exit": "summary",
}
_SHELL_TOOLS = frozenset({"execute_command", "run_commands"})
_RESULT_HEADER = re.compile(r"\[(\w[\w.-]*).*?\] Result:", re.DOTALL)
_NOT_RUN = re.compile(r"Skipping tool \[|Tool \[.{1,20000}?\] was (?:not|interrupted)", re.DOTALL)
# How the text of a result begins if the client refused the call, or if it failed.
_DENIED = re.compile(
    r"The user denied|Skipping tool|Tool .* due to user rejecting|Command execution blocked by"
    r"|Access to .* is blocked by",
    re.DOTALL,
)
_FAILED = re.compile(
    r"The tool execution failed|Missing value for required parameter|Tool .* was not executed"
    r"|Command failed with exit code|Command execution (?:was not|timed out)|<error>"
    r"|Error executing|Failed to |Invalid JSON argument|The '\w+' parameter was empty"
)
_STATUSES = {"denied": CallStatus.DENIED, "error": CallStatus.ERROR}
_EXIT_CODE = re.compile(r"[Ee]xit code:? (-?\d{1,9})")
_PROMPT = re.compile(r"<(task|user_message|feedback)>(.*?)</\1>", re.DOTALL)
# Texts of the client in a message of the user.
_NOTICES = (
    "<environment_details>",
    "[ERROR]",
    "[TASK RESUMPTION]",
    "[NOTE]",
    "# task_progress",
    "# TODO LIST",
    "Files attached by the user",
    "New instructions for task continuation",
    "New message to respond to",
    "(The user did not provide",
    "The user has provided feedback",
    "The user provided the following",
    "You seem to be having trouble",
)
_INTERRUPTED = "Response interrupted by"
_CLINE_MCP = re.compile(r"(\w+?)0mcp0(\w+)")


def can_read_log(log: Log) -> bool:
    """Return whether the messages have fields or texts that only these clients write."""
    return any(
        _is_cline_message(message)
        for record in log.sample
        for message in find_messages(record)[:50]
        if isinstance(message, dict) and "tool_calls" not in message
    )


def _is_cline_message(message: JsonObject) -> bool:
    role = message.get("role")
    if role == "assistant" and "ts" in message and ("modelInfo" in message or "metrics" in message):
        return True
    texts = [to_text(block.get("text")) or "" for block in iter_blocks(message)]
    if role == "user":
        return any(text.startswith("<environment_details>") for text in texts) or any(
            _RESULT_HEADER.match(text) for text in texts
        )
    # A message in XML is a call if it has an argument too.
    return role == "assistant" and any(
        match is not None and text[match.end() :].lstrip().startswith("<")
        for text in texts
        for match in [_TOOL_TAG.search(text)]
    )


def read_log(log: Log) -> list[Transcript]:
    """Read one task."""
    conversation = ClineConversation()
    for record in log.iter_records():
        conversation.add_record(record)
    conversation.finish()
    transcript = conversation.draft.build_transcript(
        FORMAT_NAME, skipped=log.skipped, truncated=log.truncated
    )
    return [transcript]


class ClineConversation(AnthropicConversation):
    """A task while its messages are read."""

    blocks_without_calls = AnthropicConversation.blocks_without_calls | split_words(
        "file media reasoning thoughtSignature"
    )

    reads_texts = True

    def __init__(self) -> None:
        super().__init__()
        # Calls of the last message of the agent whose results may follow as text.
        self._open_calls: list[DraftCall] = []
        # Further sub-agents that one call has started.
        self._further_dispatches: list[tuple[DraftDispatch, DraftCall]] = []
        self._usages: list[tuple[Tokens, int]] = []
        self._is_summary = False
        self._may_hold_xml = True

    def add_record(self, record: JsonObject) -> None:
        """Add a session, a message, or an encrypted thought, which Roo Code keeps as a record."""
        self.draft.session = parse_id(record.get("sessionId")) or self.draft.session
        if record.get("type") != "reasoning" or "role" in record:
            super().add_record(record)

    def parse_time(self, message: JsonObject) -> datetime | None:
        """Return when a message was written."""
        return parse_epoch(message.get("ts"), "ms")

    def add_assistant_message(self, message: JsonObject, at: datetime | None) -> None:
        """Add a message of the agent; without calls in blocks, its text may hold calls in XML."""
        self._open_calls = []
        info = to_object(message.get("modelInfo"))
        self.draft.add_model(info.get("modelId") or info.get("id"))
        self._is_summary = bool(message.get("isSummary"))
        self._may_hold_xml = all(get_kind(block) != "tool_use" for block in iter_blocks(message))
        super().add_assistant_message(message, at)
        if _INTERRUPTED in (join_text(message.get("content")) or ""):
            self.draft.pending_gap = "the last turn was interrupted"

    def add_text(self, text: str, at: datetime | None) -> None:
        """Add a text of the agent, and the calls in it."""
        position = 0
        for start, end, name, arguments in find_xml_calls(text) if self._may_hold_xml else ():
            self._add_prose(text[position:start], at)
            self._add_call(name, arguments, None, at)
            position = end
        self._add_prose(text[position:], at)

    def _add_prose(self, text: str, at: datetime | None) -> None:
        # A summary that replaces older messages for the model is no answer.
        if not self._is_summary:
            super().add_text(text.strip(), at)

    def add_call_block(self, block: JsonObject, at: datetime | None) -> DraftCall:
        """Add a call of the client."""
        name = to_text(block.get("name")) or UNNAMED_TOOL
        return self._add_call(name, block.get("input"), parse_id(block.get("id")), at)

    def _add_call(
        self, name: str, arguments: Any, id_: str | None, at: datetime | None
    ) -> DraftCall:
        fields = to_object(arguments)
        shown = _build_shown_name(name, fields)
        call = self.draft.add_call(shown, _extract_details(name, arguments), id_=id_, at=at)
        self._open_calls.append(call)
        answer = _ANSWERS.get(name)
        if answer is not None:
            # The session may end here, without a result.
            call.set_outcome(CallStatus.OK)
            self._add_prose(to_text(fields.get(answer)) or "", at)
        elif name in {"new_task", "spawn_agent"}:
            kind = to_text(fields.get("mode")) or to_text(fields.get("agent"))
            self.draft.add_dispatch(kind, call, to_text(fields.get("message")))
        elif name == "use_subagents":
            self._add_subagents(fields, call)
        return call

    def _add_subagents(self, fields: JsonObject, call: DraftCall) -> None:
        """Add a dispatch for each prompt. Only the first names the call, so that all count."""
        prompts = [text for key, text in fields.items() if key.startswith("prompt")]
        self.draft.add_dispatch(None, call, to_text(prompts[0]) if prompts else None)
        for prompt in prompts[1:]:
            dispatch = self.draft.add_dispatch(None, None, to_text(prompt))
            self._further_dispatches.append((dispatch, call))

    def add_message(self, message: Any) -> None:
        """Add one message; a summary for the model is no prompt."""
        is_note = isinstance(message, dict) and (
            message.get("isTruncationMarker")
            or (message.get("isSummary") and message.get("role") == "user")
        )
        if not is_note or {get_kind(block) for block in iter_blocks(message)} != {"text"}:
            super().add_message(message)

    def add_user_message(self, blocks: list[JsonObject], at: datetime | None) -> None:
        """Add results in blocks and in texts; other texts are prompts or notices of the client."""
        has_results = False
        for block in blocks:
            if get_kind(block) == "tool_result":
                self.add_result_block(block, at)
                has_results = True
        header: re.Match[str] | None = None
        parts: list[str] = []
        for text in ((to_text(block.get("text")) or "").strip() for block in blocks):
            match = _RESULT_HEADER.match(text)
            if match is not None or _NOT_RUN.match(text):
                self._add_text_result(header, parts, at)
                header, parts = match, [text if match is None else text[match.end() :]]
                has_results = True
            elif parts and not text.startswith(_NOTICES):
                parts.append(text)
            elif text and (text.startswith(_NOTICES) or not has_results):
                self._add_user_text(text, at)
        self._add_text_result(header, parts, at)

    def _add_user_text(self, text: str, at: datetime | None) -> None:
        """Add the prompts in a text; without marks, a text that is no notice is a prompt itself."""
        prompts = [match[2].strip() for match in _PROMPT.finditer(text)]
        if not prompts and not text.startswith((*_NOTICES, "The user")):
            prompts = [text]
        for prompt in prompts:
            self.draft.add_prompt(prompt, at)

    def _add_text_result(
        self, header: re.Match[str] | None, parts: list[str], at: datetime | None
    ) -> None:
        """Pair a result in text with a call of the message before it."""
        if not parts:
            return
        name = None if header is None else header[1]
        waiting = [call for call in self._open_calls if call.name == name] or self._open_calls
        if not waiting:
            self.draft.add_unknown_kind("call", name)
            return
        body = "\n".join(parts).strip()
        call = waiting[0]
        self._open_calls.remove(call)
        if call.name not in _ANSWERS:
            call.set_outcome(_parse_result(call.name, body))
            call.ended = at
        # A person may refuse, approve or correct in words.
        if body.startswith("The user"):
            self._add_user_text(body, at)

    def add_result_block(self, block: JsonObject, at: datetime | None) -> None:
        """Pair a result with its call by the id."""
        super().add_result_block(block, at)
        id_ = parse_id(block.get("tool_use_id"))
        for call in [call for call in self._open_calls if call.id == id_]:
            self._open_calls.remove(call)
            if not block.get("is_error"):
                call.status = _parse_result(call.name, block.get("content"))

    def parse_status(self, block: JsonObject) -> CallStatus | None:
        """Return the status of a failed call: only its text tells a refusal from an error."""
        if not block.get("is_error"):
            return CallStatus.OK
        is_denied = _parse_result("", block.get("content")) is CallStatus.DENIED
        return CallStatus.DENIED if is_denied else CallStatus.ERROR

    def add_usage(self, message: JsonObject) -> None:
        """Add what the client states of a model call."""
        metrics = to_object(message.get("metrics"))
        tokens = to_object(metrics.get("tokens"))
        if tokens:
            # It is not known whether the prompt of a provider includes the cached tokens.
            usage = Tokens(
                input_uncached=parse_count(tokens.get("prompt")),
                output=parse_count(tokens.get("completion")),
            )
            self._usages.append((usage, parse_count(tokens.get("cached")) or 0))
        elif metrics:
            input_, read, write = (
                parse_count(metrics.get(key))
                for key in ("inputTokens", "cacheReadTokens", "cacheWriteTokens")
            )
            usage = Tokens(
                input_uncached=None
                if input_ is None
                else max(input_ - (read or 0) - (write or 0), 0),
                cache_read=read,
                cache_write=write,
                output=parse_count(metrics.get("outputTokens")),
            )
            self._usages.append((usage, 0))

    def finish(self) -> None:
        """Add what only the whole log shows: the usage, and how further sub-agents ended."""
        is_known = all(not cached for _, cached in self._usages)
        for usage, _ in self._usages:
            self.draft.add_usage(usage if is_known else Tokens(output=usage.output))
        for dispatch, call in self._further_dispatches:
            dispatch.has_own_status, dispatch.status = True, call.status


def find_xml_calls(text: str) -> Iterator[tuple[int, int, str, JsonObject]]:
    """Yield start, end, name and arguments of the calls in a text, also of one that is cut off."""
    position = 0
    while (match := _TOOL_TAG.search(text, position)) is not None:
        name, position = match[1], match.end()
        arguments: JsonObject = {}
        tag = re.compile(rf"</{name}>|<(\w+)>")
        while (inner := tag.search(text, position)) is not None:
            position = inner.end()
            if inner[1] is None:
                break
            end = text.find(f"</{inner[1]}>", position)
            arguments[inner[1]] = text[position : None if end < 0 else end].strip()
            position = len(text) if end < 0 else end + len(inner[1]) + 3
        else:
            position = len(text)
        yield match.start(), position, name, arguments


def _build_shown_name(name: str, arguments: JsonObject) -> str:
    """Return the name of a call; tools of MCP servers are named as elsewhere."""
    if name == "use_mcp_tool":
        server, tool = to_text(arguments.get("server_name")), to_text(arguments.get("tool_name"))
        return f"mcp__{server or UNNAMED_TOOL}__{tool or UNNAMED_TOOL}"
    if name.startswith("mcp--"):
        return name.replace("--", "__")
    match = _CLINE_MCP.fullmatch(name)
    return name if match is None else f"mcp__{match[1]}__{match[2]}"


def _extract_details(name: str, arguments: Any) -> CallDetails:
    """Extract what is kept of the arguments; some tools have lists of files or of commands."""
    fields = to_object(arguments)
    if name == "use_mcp_tool":
        return extract_call_details(name, parse_json_or_raw(fields.get("arguments")))
    if name == "run_commands":
        return extract_call_details(name, {"command": _join_commands(arguments)})
    details = extract_call_details(name, arguments)
    files = fields.get("files")
    paths = [
        *_XML_PATH.findall(to_text(fields.get("args")) or ""),
        *filter(None, (to_text(file.get("path")) for file in iter_objects(files))),
        *(file for file in (files if isinstance(files, list) else ()) if isinstance(file, str)),
    ]
    return details._replace(paths=(*details.paths, *paths)) if paths else details


def _join_commands(arguments: Any) -> str:
    """Return the commands of a call as one script. A command is a text, or a program with words."""
    fields = to_object(arguments)
    commands = fields.get("commands", fields.get("command", fields.get("cmd", arguments)))
    lines = []
    for command in commands if isinstance(commands, list) else [commands]:
        if isinstance(command, dict):
            words = [command.get("command"), *(command.get("args") or [])]
            lines.append(" ".join(word for word in words if isinstance(word, str)))
        elif isinstance(command, str):
            lines.append(command)
    return "\n".join(lines)


def _parse_result(name: str, content: Any) -> CallStatus | None:
    """Return the status of a call. The client marks failures; older ones state no exit code."""
    text = content if isinstance(content, str) else join_text(content) or ""
    header = _RESULT_HEADER.match(text)
    text = text if header is None else text[header.end() :].lstrip()
    records = parse_json(text) if text[:1] in {"{", "["} else content
    for record in [records] if isinstance(records, dict) else iter_objects(records):
        status = _STATUSES.get(to_text(record.get("status")) or "")
        if status is not None or record.get("success") is False:
            return status or CallStatus.ERROR
    if _DENIED.match(text):
        return CallStatus.DENIED
    code = _EXIT_CODE.search(text.partition("Output:")[0]) if name in _SHELL_TOOLS else None
    if _FAILED.match(text) or (code is not None and int(code[1])):
        return CallStatus.ERROR
    return None if name == "execute_command" and code is None else CallStatus.OK


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="messages with `modelInfo` and `ts`, or texts such as `[read_file …] Result:`",
    can_read_log=can_read_log,
    read_log=read_log,
)
