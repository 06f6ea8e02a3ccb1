"""mini-swe-agent: `*.traj.json` with its messages, or the bare list of them.

The agent has one tool, the shell. Newer models call it as a tool; others write the command into a
block of their text, which counts only if there is exactly one. A person who works with the agent
may type commands too; those are no calls of the agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_epoch,
    parse_json_or_raw,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import Draft, DraftCall, parse_inclusive_usage
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, Transcript

FORMAT_NAME = "mini-swe-agent"
NO_EXIT_STATUS = "there is no exit status, so the run was stopped"
_TOOL = "bash"
_OWN_BLOCK = "mswea_bash_command"
_COMMAND_BLOCKS = (
    re.compile(rf"```{_OWN_BLOCK}\s*\n(.*?)\n```", re.DOTALL),
    re.compile(rf"<{_OWN_BLOCK}>(.*?)</{_OWN_BLOCK}>", re.DOTALL),
    re.compile(r"```bash\s*\n(.*?)\n```", re.DOTALL),
)
_RETURN_CODE = re.compile(r"<returncode>\s*(-?\d+)\s*</returncode>")
_SUBMISSION = re.compile(r"\b(?:COMPLETE_TASK_AND_SUBMIT|MICRO_SWE_AGENT|MINI_SWE_AGENT)_FINAL_OUT")
_REJECTIONS = ("Command not executed", "Commands not executed")
_SUBMITTED = "Submitted"
_TEXT_KINDS = ("text", "input_text", "output_text")
_HARMLESS_BLOCKS = frozenset({*_TEXT_KINDS, "image_url", "input_image", "thinking"})
_PROMPT_INTERRUPTS = frozenset({"UserInterruption", "UserNewTask", "UserRejection"})


def can_read_log(log: Log) -> bool:
    """Return whether this is a trajectory, or a list of messages with its command blocks."""
    document = log.document
    if isinstance(document, dict):
        return _is_trajectory(document)
    return isinstance(document, list) and any(
        to_text(message.get("role")) == "assistant"
        and _OWN_BLOCK in (join_text(message.get("content")) or "")
        for message in log.sample
    )


def _is_trajectory(document: JsonObject) -> bool:
    version = to_text(document.get("trajectory_format")) or ""
    is_named = version.startswith(FORMAT_NAME)
    return "messages" in document and (
        is_named or "mini_version" in to_object(document.get("info"))
    )


def read_log(log: Log) -> list[Transcript]:
    """Read one run."""
    run = MiniSweAgentRun()
    records = list(log.iter_records())
    if len(records) == 1 and "messages" in records[0]:
        document = records[0]
        run.add_messages(list(run.draft.iter_elements(document["messages"], "message")))
        run.add_info(document)
    else:
        run.add_messages(records)
        run.end_without_info()
    return [run.draft.build_transcript(FORMAT_NAME, skipped=log.skipped, truncated=log.truncated)]


class MiniSweAgentRun:
    """One run while its messages are read."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._turn_calls: list[DraftCall] = []
        self._open_calls: list[DraftCall] = []
        self._exit: JsonObject | None = None
        self._is_users_command = False
        self._last_user_text: str | None = None

    def add_messages(self, messages: list[JsonObject]) -> None:
        """Add the messages in their order."""
        for message in messages:
            self._add_message(message)

    def _add_message(self, message: JsonObject) -> None:
        extra = to_object(message.get("extra"))
        kind = to_text(message.get("role")) or to_text(message.get("type"))
        self.draft.add_unread_calls(message, ("content", "tool_calls", "output", "extra"))
        if kind == "assistant" or to_text(message.get("object")) == "response":
            self._add_turn(message, extra)
        elif kind in {"tool", "function_call_output"}:
            self._add_observation(message, extra)
        elif kind == "user":
            self._check_blocks(message.get("content"))
            self._add_user_message(message, extra)
        elif kind == "exit":
            self._exit = extra
        elif kind != "system":
            self.draft.add_unknown_kind("message", kind)

    def _check_blocks(self, content: Any) -> None:
        if isinstance(content, str):
            return
        for block in self.draft.iter_elements(content, "content block"):
            self.draft.add_unread_calls(block)
            if to_text(block.get("type")) not in _HARMLESS_BLOCKS:
                self.draft.add_unknown_kind("content block", block.get("type"))

    def _add_turn(self, message: JsonObject, extra: JsonObject) -> None:
        """Add what the model said in one turn, and the commands that it gave."""
        response = to_object(extra.get("response")) or message
        self.draft.add_model(response.get("model"))
        usage = to_object(response.get("usage"))
        if usage:
            self.draft.add_usage(_parse_usage(usage))
        self._check_blocks(message.get("content"))
        text = _join_turn_text(message)
        if text is not None:
            self.draft.add_text(text, parse_epoch(extra.get("timestamp"), "s"), id(message))
        self._is_users_command = False
        self._turn_calls = list(self._add_calls(message, extra, text))
        self._open_calls = list(self._turn_calls)

    def _add_calls(
        self, message: JsonObject, extra: JsonObject, text: str | None
    ) -> Iterator[DraftCall]:
        at = parse_epoch(extra.get("timestamp"), "s")
        tool_ids = set()
        for id_, name, arguments in self._iter_tool_calls(message):
            tool_ids.add(id_)
            yield self.draft.add_call(name, arguments, id_=id_, at=at)
        if "actions" in extra:
            for action in self.draft.iter_elements(extra["actions"], "action"):
                id_ = to_text(action.get("tool_call_id"))
                if to_text(action.get("command")) is None:
                    self.draft.add_unknown_kind("action", "without a command")
                elif id_ is None or id_ not in tool_ids:
                    yield self.draft.add_call(_TOOL, action, id_=id_, at=at)
        elif not tool_ids:
            command = _find_command(text or "")
            if command is not None:
                yield self.draft.add_call(_TOOL, {"command": command}, at=at)

    def _iter_tool_calls(self, message: JsonObject) -> Iterator[tuple[str | None, str, Any]]:
        """Yield id, name and arguments of the tool calls of the chat API or Responses API."""
        for call in self.draft.iter_elements(message.get("tool_calls"), "tool call"):
            function = to_object(call.get("function"))
            name = to_text(function.get("name"))
            yield to_text(call.get("id")), name or "?", parse_json_or_raw(function.get("arguments"))
        for item in self.draft.iter_elements(message.get("output"), "output item"):
            kind = to_text(item.get("type"))
            if kind == "function_call":
                name = to_text(item.get("name")) or "?"
                id_ = to_text(item.get("call_id")) or to_text(item.get("id"))
                yield id_, name, parse_json_or_raw(item.get("arguments"))
            elif kind not in {"message", "reasoning"}:
                self.draft.add_unknown_kind("output item", kind)

    def _add_observation(self, message: JsonObject, extra: JsonObject) -> None:
        """Add the result of a tool call."""
        id_ = to_text(message.get("tool_call_id")) or to_text(message.get("call_id"))
        at = parse_epoch(extra.get("timestamp"), "s")
        text = join_text(message.get("content")) or to_text(message.get("output"))
        call = self.draft.add_result(id_, _parse_status(extra, text), at)
        if call is None:
            self.draft.add_unknown_kind("result", "without its call")
        elif call in self._open_calls:
            self._open_calls.remove(call)

    def _add_user_message(self, message: JsonObject, extra: JsonObject) -> None:
        """Add a message that may be a prompt, the result of a command, or a remark of the client.

        Older versions do not mark which it is: what follows a command is its result.
        """
        text = join_text(message.get("content"), _TEXT_KINDS)
        interrupt = to_text(extra.get("interrupt_type"))
        self._last_user_text = text
        if "actions" in extra:
            self._is_users_command = True
        elif interrupt is not None:
            self._add_interruption(interrupt, text)
        elif not self.draft.calls and not self.draft.final_texts:
            self.draft.add_prompt(text)
        elif self._open_calls:
            call = self._open_calls.pop(0)
            is_rejected = text is not None and text.startswith(_REJECTIONS)
            call.set_outcome(CallStatus.DENIED if is_rejected else _parse_status(extra, text))
            call.ended = parse_epoch(extra.get("timestamp"), "s")
        elif not self._is_users_command and ("returncode" in extra or _has_return_code(text)):
            self.draft.add_unknown_kind("command", "not found in the turn")

    def _add_interruption(self, interrupt: str, text: str | None) -> None:
        if interrupt == "UserRejection":
            for call in self._open_calls:
                call.set_outcome(CallStatus.DENIED)
            self._open_calls = []
        if interrupt in _PROMPT_INTERRUPTS:
            self.draft.add_prompt(text)
        elif interrupt != "FormatError":
            self.draft.add_unknown_kind("interruption", interrupt)

    def add_info(self, document: JsonObject) -> None:
        """Add how the run ended, as the document states it after or before its messages."""
        info = to_object(document.get("info"))
        model = to_object(to_object(info.get("config")).get("model"))
        if not self.draft.models:
            self.draft.add_model(model.get("model_name"))
        self.draft.session = to_text(document.get("instance_id"))
        stated = self._exit or info
        self._end_run(to_text(stated.get("exit_status")), to_text(stated.get("submission")))

    def end_without_info(self) -> None:
        """End a bare list of messages: the last command has to be the one that submits."""
        if self._exit is not None:
            self._end_run(
                to_text(self._exit.get("exit_status")), to_text(self._exit.get("submission"))
            )
            return
        last = self.draft.calls[-1].details.command if self.draft.calls else None
        is_submitted = _SUBMISSION.search(last or "") is not None
        self._end_run(_SUBMITTED if is_submitted else None, self._last_user_text)

    def _end_run(self, exit_status: str | None, submission: str | None) -> None:
        if exit_status is None:
            self.draft.add_gap(NO_EXIT_STATUS)
        elif exit_status != _SUBMITTED:
            self.draft.add_gap(f"the run ended with `{exit_status}`")
        else:
            # The command that submits ends the run, so its result is not in the log. The commands
            # of the same turn after it were not run.
            waiting = [call for call in self._turn_calls if call.status is CallStatus.NONE]
            for call in waiting:
                call.has_result = True
            for call in waiting[:1]:
                call.set_outcome(None)
            # What was submitted is the answer, though the agent did not say it.
            answer = submission or "\n".join(self.draft.final_texts)
            self.draft.add_text(answer, self.draft.final_at)


def _join_turn_text(message: JsonObject) -> str | None:
    """Return the text of a turn, of the chat API or the Responses API."""
    holders = [message, *iter_objects(message.get("output"))]
    texts = [join_text(holder.get("content"), _TEXT_KINDS) for holder in holders]
    return "\n".join(text for text in texts if text is not None) or None


def _find_command(text: str) -> str | None:
    """Return the command in a text. With none, or more than one, the client runs nothing."""
    for pattern in _COMMAND_BLOCKS:
        blocks = pattern.findall(text)
        if blocks:
            return blocks[0].strip() if len(blocks) == 1 else None
    return None


def _has_return_code(text: str | None) -> bool:
    return text is not None and _RETURN_CODE.search(text) is not None


def _parse_status(extra: JsonObject, text: str | None) -> CallStatus | None:
    """Return the status that the exit code of a command means."""
    code = extra.get("returncode")
    if code is None:
        match = _RETURN_CODE.search(text or "")
        code = None if match is None else match[1]
    if extra.get("exception_info"):
        is_skipped = extra["exception_info"] == "action was not executed"
        return CallStatus.NONE if is_skipped else CallStatus.ERROR
    if isinstance(code, bool) or not isinstance(code, int | str):
        return None
    return CallStatus.OK if str(code) == "0" else CallStatus.ERROR


def _parse_usage(usage: JsonObject) -> Any:
    """Return the usage of the chat API or the Responses API."""
    prompt = "prompt_tokens" if "prompt_tokens" in usage else "input_tokens"
    answer = "completion_tokens" if "prompt_tokens" in usage else "output_tokens"
    return parse_inclusive_usage(
        usage.get(prompt),
        to_object(usage.get(f"{prompt}_details")).get("cached_tokens"),
        usage.get(answer),
        to_object(usage.get(f"{answer}_details")).get("reasoning_tokens"),
    )


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="`messages` with `trajectory_format` mini-swe-agent or `info.mini_version`, or "
    "blocks of `mswea_bash_command`",
    can_read_log=can_read_log,
    read_log=read_log,
)
