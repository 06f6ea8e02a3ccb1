"""OpenAI Responses API: lists of items, responses, requests with responses, recorded events."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_count,
    parse_epoch,
    parse_json,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import Draft
from markscheme.read.transcripts.format import LogFormat
from markscheme.read.transcripts.log import Log
from markscheme.vocabulary import CallStatus, Tokens, Transcript

FORMAT_NAME = "openai-responses"
_ITEM_TYPES = frozenset({"function_call", "function_call_output", "custom_tool_call", "mcp_call"})
_SERVER_CALL_TYPES = frozenset(
    {"web_search_call", "file_search_call", "computer_call", "code_interpreter_call", "mcp_call"}
)
_TEXT_TYPES = ("input_text", "output_text", "text")


def can_read_log(log: Log) -> bool:
    """Return whether the log has items, responses or their events."""
    return any(_is_responses_record(record) for record in log.sample)


def _is_responses_record(record: JsonObject) -> bool:
    kind = to_text(record.get("type"))
    if kind in _ITEM_TYPES and ("call_id" in record or kind == "mcp_call"):
        return True
    if isinstance(kind, str) and kind.startswith("response.") and "sequence_number" in record:
        return True
    if kind in {"response.completed", "response.output_item.done"}:
        return True
    response = to_object(record.get("response")) or record
    return response.get("object") == "response" or any(
        to_text(item.get("type")) in _ITEM_TYPES for item in iter_objects(record.get("input"))
    )


def read_log(log: Log) -> list[Transcript]:
    """Read one conversation. An item that is sent again counts once."""
    conversation = ResponsesConversation()
    for record in log.iter_records():
        conversation.add_record(record)
    transcript = conversation.draft.build_transcript(
        FORMAT_NAME, skipped=log.skipped, truncated=log.truncated
    )
    return [transcript]


class ResponsesConversation:
    """A conversation while its records are read."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._seen_items: set[Any] = set()
        self._sent_keys: list[Any] = []

    def add_record(self, record: JsonObject) -> None:
        """Add an item, an event, a response, or a request with its response."""
        kind = to_text(record.get("type"))
        if isinstance(kind, str) and kind.startswith("response."):
            self._add_event(kind, record)
            return
        if kind is not None and "output" not in record and "input" not in record:
            self._add_item(record, None)
            return
        if kind in {"function_call_output", "custom_tool_call", "computer_call_output"}:
            self._add_item(record, None)
            return
        request = to_object(record.get("request")) or record
        self._add_request(request.get("input"))
        response = to_object(record.get("response")) or record
        if "output" in response:
            self._add_response(response)

    def _add_event(self, kind: str, record: JsonObject) -> None:
        if kind == "response.output_item.done":
            self._add_item(to_object(record.get("item")), None)
        elif kind in {"response.completed", "response.incomplete", "response.failed"}:
            self._add_response(to_object(record.get("response")))

    def _add_request(self, sent: Any) -> None:
        if isinstance(sent, str):
            self.draft.add_prompt(sent)
            return
        items = list(iter_objects(sent))
        keys = [_build_item_key(item) for item in items]
        is_repeat = self._sent_keys and keys[: len(self._sent_keys)] == self._sent_keys
        for item in items[len(self._sent_keys) if is_repeat else 0 :]:
            self._add_item(item, None)
        self._sent_keys = keys

    def _add_response(self, response: JsonObject) -> None:
        created = parse_epoch(response.get("created_at"), "s")
        completed = parse_epoch(response.get("completed_at"), "s")
        self.draft.add_model(response.get("model"))
        self.draft.session = self.draft.session or to_text(response.get("id"))
        if self.draft.prompts and self.draft.prompts[-1].at is None:
            self.draft.prompts[-1].at = created
        for item in iter_objects(response.get("output")):
            self._add_item(item, completed)
        if to_object(response.get("usage")):
            self.draft.add_usage(_parse_usage(to_object(response.get("usage"))))
        if to_text(response.get("status")) in {"failed", "incomplete", "in_progress", "cancelled"}:
            self.draft.add_gap(f"a response is {response['status']}")

    def _add_item(self, item: JsonObject, at: datetime | None) -> None:
        id_ = to_text(item.get("id"))
        if id_ is not None and (id_, to_text(item.get("type"))) in self._seen_items:
            return
        self._seen_items.add((id_, to_text(item.get("type"))))
        kind = to_text(item.get("type"))
        if kind in {"function_call", "custom_tool_call"}:
            self._add_call(item)
        elif kind in {"function_call_output", "custom_tool_call_output", "computer_call_output"}:
            self.draft.add_result(to_text(item.get("call_id")), None)
        elif kind in _SERVER_CALL_TYPES:
            self._add_server_call(item)
        elif kind == "message" or (kind is None and "role" in item):
            self._add_message(item, at)

    def _add_call(self, item: JsonObject) -> None:
        call_id = to_text(item.get("call_id"))
        if call_id is not None and ("call", call_id) in self._seen_items:
            return
        self._seen_items.add(("call", call_id))
        raw = item.get("arguments", item.get("input"))
        arguments = parse_json(raw)
        name = to_text(item.get("name")) or "?"
        self.draft.add_call(name, raw if arguments is None else arguments, id_=call_id)

    def _add_server_call(self, item: JsonObject) -> None:
        """Add a call that the API itself carried out, with its outcome."""
        kind, status = str(item.get("type")), to_text(item.get("status"))
        name = kind.removesuffix("_call")
        if kind == "mcp_call":
            server, tool = to_text(item.get("server_label")), to_text(item.get("name"))
            name = f"mcp__{server or '?'}__{tool or '?'}"
        arguments = parse_json(item.get("arguments")) or item.get("action")
        id_ = to_text(item.get("call_id")) or to_text(item.get("id"))
        call = self.draft.add_call(name, arguments, id_=id_)
        if item.get("error") or status == "failed":
            call.set_outcome(CallStatus.ERROR)
        elif status == "completed" or (kind == "mcp_call" and "output" in item):
            call.set_outcome(CallStatus.OK)

    def _add_message(self, item: JsonObject, at: datetime | None) -> None:
        text = join_text(item.get("content"), _TEXT_TYPES)
        if text is None:
            return
        if to_text(item.get("role")) == "assistant":
            # The same text again is the message without an id that a later request repeats.
            if [text] != self.draft.final_texts:
                self.draft.add_text(text, at)
        elif to_text(item.get("role")) == "user":
            self.draft.add_prompt(text)


def _build_item_key(item: JsonObject) -> Any:
    """Return what identifies an item when a later request repeats it."""
    return (
        to_text(item.get("type")),
        item.get("call_id"),
        join_text(item.get("content"), _TEXT_TYPES),
    )


def _parse_usage(usage: JsonObject) -> Tokens:
    """Return a usage of the Responses API, whose input tokens include cached ones."""
    input_ = parse_count(usage.get("input_tokens"))
    cached = parse_count(to_object(usage.get("input_tokens_details")).get("cached_tokens"))
    reasoning = to_object(usage.get("output_tokens_details")).get("reasoning_tokens")
    return Tokens(
        input_uncached=None if input_ is None else max(input_ - (cached or 0), 0),
        cache_read=cached,
        output=parse_count(usage.get("output_tokens")),
        reasoning=parse_count(reasoning),
    )


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="items with `type` function_call and `call_id`, or a `response` with `output`",
    can_read_log=can_read_log,
    read_log=read_log,
)
