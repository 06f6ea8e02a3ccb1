"""Vercel AI SDK: model messages, messages of its UI, and results of `generateText` with steps.

The same calls are written in several ways: parts `tool-call` and `tool-result` of model messages,
one part for a call with its state in messages of the UI, and lists of both in older steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    parse_json_or_raw,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import Draft, parse_inclusive_usage
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, Tokens, Transcript

FORMAT_NAME = "vercel-ai"
_ROLES = frozenset({"system", "user", "assistant", "tool", "data"})
_UI_PREFIX = "tool-"
_RESULT_PARTS = frozenset({"tool-result", "tool-error"})
_CALL_PARTS = frozenset({"tool-call", "tool-invocation", "dynamic-tool"})
_APPROVAL_PARTS = frozenset({"tool-approval-request", "tool-approval-response"})
_HARMLESS_PARTS = split_words(
    "text reasoning reasoning-file redacted-reasoning file image source source-url source-document "
    "step-start"
)
_READ_FIELDS = frozenset({"parts", "content", "toolInvocations"})
_READ_PART_FIELDS = split_words("input args rawInput output result toolInvocation toolCall")
# Fields that are read, or that repeat the calls of the step and of earlier ones.
_READ_STEP_FIELDS = split_words(
    "content toolCalls toolResults staticToolCalls dynamicToolCalls staticToolResults "
    "dynamicToolResults request response"
)
_STATUSES: dict[str, CallStatus | None] = {
    "input-streaming": CallStatus.NONE,
    "input-available": CallStatus.NONE,
    "approval-requested": CallStatus.NONE,
    "approval-responded": CallStatus.NONE,
    "output-available": CallStatus.OK,
    "output-error": CallStatus.ERROR,
    "output-denied": CallStatus.DENIED,
    # States of version 4, whose results have no error flag.
    "partial-call": CallStatus.NONE,
    "call": CallStatus.NONE,
    "result": None,
}
_OUTPUT_STATUSES = {
    "text": CallStatus.OK,
    "json": CallStatus.OK,
    "content": CallStatus.OK,
    "error-text": CallStatus.ERROR,
    "error-json": CallStatus.ERROR,
    "execution-denied": CallStatus.DENIED,
}
_CUT_REASONS = frozenset({"length", "content-filter", "error", "abort"})


def can_read_log(log: Log) -> bool:
    """Return whether there are messages with parts of the SDK, or steps."""
    return any(
        _is_step(record)
        or any(map(_is_step, iter_objects(record.get("steps"))))
        or any(map(_is_sdk_message, _iter_messages(record)))
        for record in log.sample
    )


def _iter_messages(record: JsonObject) -> Iterator[JsonObject]:
    """Yield the messages of a record: itself, those it lists, or those of its response."""
    if "role" in record:
        yield record
        return
    response = to_object(record.get("response"))
    for holder in (record, response):
        yield from iter_objects(holder.get("messages"))


def _is_sdk_message(message: JsonObject) -> bool:
    if to_text(message.get("role")) not in _ROLES:
        return False
    if any("toolCallId" in call for call in iter_objects(message.get("toolInvocations"))):
        return True
    kinds = [to_text(part.get("type")) for part in iter_objects(message.get("parts"))]
    if kinds and all(kinds):
        return True
    return any(
        to_text(part.get("type")) in _CALL_PARTS | _RESULT_PARTS and "toolCallId" in part
        for part in iter_objects(message.get("content"))
    )


def _is_step(record: JsonObject) -> bool:
    has_calls = isinstance(record.get("toolCalls"), list) or isinstance(record.get("content"), list)
    return has_calls and "finishReason" in record and "role" not in record


def read_log(log: Log) -> list[Transcript]:
    """Read one conversation. A message that is written again replaces the earlier one."""
    conversation = VercelConversation()
    for record in log.iter_records():
        conversation.add_record(record)
    conversation.read_messages()
    return [
        conversation.draft.build_transcript(
            FORMAT_NAME, skipped=log.skipped, truncated=log.truncated
        )
    ]


class VercelConversation:
    """A conversation while its records are read."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._messages: list[JsonObject] = []
        self._listed: list[Any] = []
        self._positions: dict[str, int] = {}
        self._approvals: dict[str, str] = {}
        # Texts between two calls are parts of one text.
        self._section = 0
        # Messages of responses beside the steps that they repeat.
        self._repeated: list[Any] = []

    def add_record(self, record: JsonObject) -> None:
        """Add a message, a list of messages, a step, or a result with its steps."""
        if "role" in record:
            self._add_message(record)
            return
        self.draft.session = self.draft.session or to_text(record.get("id"))
        if "messages" in record:
            self._add_message_list(record["messages"])
        if "steps" in record:
            steps = list(self.draft.iter_elements(record["steps"], "step"))
        else:
            steps = [record] if _is_step(record) else []
        answered = to_object(record.get("response")).get("messages")
        if answered is not None and not steps:
            self._add_message_list(answered)
        elif answered is not None and steps[0] is not record:
            self._repeated.append(answered)
        elif not steps and "messages" not in record:
            self.draft.add_unknown_kind("record", record.get("type"))
        if steps and to_text(record.get("prompt")) is not None:
            self._messages.append({"role": "user", "content": record["prompt"]})
        for step in steps:
            # A step is read as a message, in its place among the others.
            self._messages.append({"role": "step", **step})
        total = _parse_usage(record.get("totalUsage"))
        if total is not None and "usage" not in (steps or [{}])[0]:
            self.draft.add_usage(total)

    def _add_message_list(self, messages: Any) -> None:
        """Add a list; one that goes on where an earlier list ends adds only what is new."""
        elements = messages if isinstance(messages, list) else [messages]
        known = len(self._listed) if elements[: len(self._listed)] == self._listed else 0
        for message in self.draft.iter_elements(elements[known:], "message"):
            self._add_message(message)
        self._listed = elements

    def _add_message(self, message: JsonObject) -> None:
        id_ = to_text(message.get("id"))
        if id_ is not None and id_ in self._positions:
            self._replace_message(self._positions[id_], message)
            return
        if id_ is not None:
            self._positions[id_] = len(self._messages)
        self._messages.append(message)

    def _replace_message(self, position: int, message: JsonObject) -> None:
        """Replace a message by its later version; what the earlier one hides is still noted."""
        earlier = self._messages[position]
        if not _find_call_ids(earlier) <= _find_call_ids(message):
            self.draft.add_unknown_kind("message", "written again without its calls")
        if earlier != message:
            aside = VercelConversation()
            aside.read_message(earlier)
            self.draft.unknown_kinds.update(aside.draft.unknown_kinds)
        self._messages[position] = message

    def read_messages(self) -> None:
        """Read all messages in their order."""
        for message in self._messages:
            self._section += 1
            if message.get("role") == "step":
                self._read_step(message)
            else:
                self.read_message(message)
        for messages in self._repeated:
            self._check_repeated_messages(messages)

    def read_message(self, message: JsonObject) -> None:
        """Read one message."""
        role = to_text(message.get("role"))
        if role not in _ROLES:
            self.draft.add_unknown_kind("message", role)
        self.draft.add_unread_calls(message, _READ_FIELDS)
        parts = message.get("parts")
        # Version 4 of the UI repeats in `toolInvocations` and `content` what its parts hold.
        invocations = list(
            self.draft.iter_elements(message.get("toolInvocations"), "tool invocation")
        )
        if isinstance(parts, list):
            part_ids = _find_call_ids({"parts": parts})
            for invocation in invocations:
                if to_text(invocation.get("toolCallId")) not in part_ids:
                    self.draft.add_unknown_kind("tool invocation", "without its part")
        else:
            parts = message.get("content")
            for invocation in invocations:
                self._add_ui_call(invocation, to_text(invocation.get("toolName")))
        if isinstance(parts, str):
            parts = [{"type": "text", "text": parts}]
        elements = list(self.draft.iter_elements(parts, "part"))
        texts = [text for part in elements if (text := to_text(part.get("text"))) is not None]
        for text in texts:
            self.draft.check_text_commands(role, text)
        if role == "user":
            self.draft.add_prompt("\n".join(texts) or None)
        for part in elements:
            self._add_part(part, is_answer=role == "assistant")

    def _read_step(self, step: JsonObject) -> None:
        """Read a step: its content, or the lists of calls and results of older versions."""
        self.draft.add_unread_calls(step, _READ_STEP_FIELDS)
        if "content" in step:
            for part in self.draft.iter_elements(step["content"], "part"):
                self._add_part(part, is_answer=True)
        else:
            text = to_text(step.get("text"))
            if text is not None:
                self._add_text(text)
            for call in self.draft.iter_elements(step.get("toolCalls"), "tool call"):
                self._add_call(call)
            for result in self.draft.iter_elements(step.get("toolResults"), "tool result"):
                self._add_result(result)
        usage = _parse_usage(step.get("usage"))
        if usage is not None:
            self.draft.add_usage(usage)
        response = to_object(step.get("response"))
        self._check_repeated_messages(response.get("messages"))
        self.draft.add_model(response.get("modelId") or to_object(step.get("model")).get("modelId"))
        reason = to_text(step.get("finishReason"))
        if reason in _CUT_REASONS:
            self.draft.pending_gap = f"the last step ended with `{reason}`"

    def _check_repeated_messages(self, messages: Any) -> None:
        """Note what the messages of a response hold beyond the steps, which they repeat."""
        known_ids = {call.id for call in self.draft.calls}
        for message in self.draft.iter_elements(messages, "message"):
            self.draft.add_unread_calls(message, ("content",))
            if to_text(message.get("role")) not in _ROLES:
                self.draft.add_unknown_kind("message", message.get("role"))
            for part in self.draft.iter_blocks(message.get("content"), "part"):
                self.draft.add_unread_calls(part, _READ_PART_FIELDS)
                kind = to_text(part.get("type"))
                is_known = kind in _HARMLESS_PARTS | _RESULT_PARTS | _APPROVAL_PARTS
                is_repeated = kind == "tool-call" and to_text(part.get("toolCallId")) in known_ids
                if not is_known and not is_repeated:
                    self.draft.add_unknown_kind("part", kind)

    def _add_part(self, part: JsonObject, *, is_answer: bool) -> None:
        kind = to_text(part.get("type"))
        self.draft.add_unread_calls(part, _READ_PART_FIELDS)
        if kind == "text":
            text = to_text(part.get("text"))
            if is_answer and text is not None:
                self._add_text(text)
            if part.get("state") == "streaming":
                self.draft.add_gap("a text was still being written")
        elif kind in _APPROVAL_PARTS and "approvalId" in part:
            self._add_approval(part)
        elif kind == "dynamic-tool" or (kind or "").startswith(_UI_PREFIX):
            self._add_tool_part(part, str(kind))
        elif kind not in _HARMLESS_PARTS and not (kind or "").startswith("data-"):
            self.draft.add_unknown_kind("part", part.get("kind") or kind)

    def _add_tool_part(self, part: JsonObject, kind: str) -> None:
        """Add a part that holds a call or a result; any other `tool-NAME` is a call of the UI."""
        if kind in _RESULT_PARTS and "toolName" in part:
            self._add_result(part)
        elif kind == "tool-call" and "toolName" in part:
            self._add_call(part)
        elif kind == "tool-invocation":
            invocation = to_object(part.get("toolInvocation"))
            self._add_ui_call(invocation, to_text(invocation.get("toolName")))
        elif kind == "dynamic-tool":
            self._add_ui_call(part, to_text(part.get("toolName")))
        else:
            self._add_ui_call(part, kind.removeprefix(_UI_PREFIX) or None)

    def _add_text(self, text: str) -> None:
        self.draft.add_text(text, message=self._section)

    def _add_call(self, part: JsonObject) -> None:
        """Add a call of a model message or a step; its result may stand in the same part."""
        self._section += 1
        name = to_text(part.get("toolName"))
        id_ = to_text(part.get("toolCallId"))
        arguments = parse_json_or_raw(part.get("input", part.get("args")))
        self.draft.add_call(name or "?", arguments, id_=id_)
        if "result" in part or "output" in part:
            self._add_result(part)

    def _add_ui_call(self, part: JsonObject, name: str | None) -> None:
        """Add a call of the UI, whose state says how it went."""
        self._section += 1
        state = to_text(part.get("state"))
        if state not in _STATUSES:
            self.draft.add_unknown_kind("state of a call", state)
        raw = part.get("input", part.get("args", part.get("rawInput")))
        id_ = to_text(part.get("toolCallId"))
        call = self.draft.add_call(name or "?", parse_json_or_raw(raw), id_=id_)
        is_rejected = to_object(part.get("approval")).get("approved") is False
        status = _STATUSES.get(state or "", CallStatus.NONE)
        if state == "result" and isinstance(part.get("isError"), bool):
            status = CallStatus.ERROR if part["isError"] else CallStatus.OK
        if state == "output-available" and part.get("preliminary") is True:
            status = CallStatus.NONE
        call.set_outcome(CallStatus.DENIED if is_rejected else status)

    def _add_result(self, part: JsonObject) -> None:
        if part.get("preliminary") is True:
            return
        id_ = to_text(part.get("toolCallId"))
        if self.draft.add_result(id_, _parse_result_status(part)) is None:
            self.draft.add_unknown_kind("result", "without its call")

    def _add_approval(self, part: JsonObject) -> None:
        """Note for which call a person was asked; a call that is not approved is denied."""
        approval = to_text(part.get("approvalId")) or ""
        if part.get("type") == "tool-approval-request":
            asked = to_object(part.get("toolCall"))
            id_ = to_text(part.get("toolCallId")) or to_text(asked.get("toolCallId"))
            self._approvals[approval] = id_ or ""
            if id_ not in {call.id for call in self.draft.calls}:
                self.draft.add_unknown_kind("approval", "without its call")
        elif approval not in self._approvals:
            self.draft.add_unknown_kind("approval", "without its request")
        elif part.get("approved") is False:
            for call in self.draft.calls:
                if call.id is not None and call.id == self._approvals[approval]:
                    call.set_outcome(CallStatus.DENIED)


def _find_call_ids(message: JsonObject) -> set[str]:
    """Return the ids of all calls in a message."""
    holders = [
        holder
        for key in ("parts", "content", "toolInvocations")
        for holder in iter_objects(message.get(key))
    ]
    inner = [to_object(holder.get("toolInvocation")) for holder in holders]
    return {
        holder["toolCallId"]
        for holder in (*holders, *inner)
        if isinstance(holder.get("toolCallId"), str)
    }


def _parse_result_status(part: JsonObject) -> CallStatus | None:
    if part.get("type") == "tool-error" or "error" in part:
        return CallStatus.ERROR
    if isinstance(part.get("isError"), bool):
        return CallStatus.ERROR if part["isError"] else CallStatus.OK
    if "output" not in part:
        return None
    kind = to_text(to_object(part["output"]).get("type"))
    # In a message the output has a type; in a step, an output that failed is another part.
    return _OUTPUT_STATUSES.get(kind or "", CallStatus.OK)


def _parse_usage(value: Any) -> Tokens | None:
    """Return a usage of version 4, 5 or 6."""
    usage = to_object(value)
    inputs = to_object(usage.get("inputTokenDetails"))
    outputs = to_object(usage.get("outputTokenDetails"))
    tokens = parse_inclusive_usage(
        usage.get("inputTokens", usage.get("promptTokens")),
        inputs.get("cacheReadTokens", usage.get("cachedInputTokens")),
        usage.get("outputTokens", usage.get("completionTokens")),
        outputs.get("reasoningTokens", usage.get("reasoningTokens")),
        inputs.get("cacheWriteTokens"),
    )
    return None if tokens == Tokens() else tokens


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="messages with parts of `type` tool-call, tool-result or tool-NAME, or `steps` with "
    "`finishReason`",
    can_read_log=can_read_log,
    read_log=read_log,
)
