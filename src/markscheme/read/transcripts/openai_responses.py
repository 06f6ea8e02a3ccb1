"""OpenAI Responses: lists of items, whole responses, requests with them, recorded event streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.read.transcripts.draft import CUT_OFF, Draft, summed
from markscheme.read.transcripts.format import Format
from markscheme.read.transcripts.values import (
    Object,
    count,
    epoch,
    joined,
    mapping,
    objects,
    parsed,
    text,
)
from markscheme.transcript import CallStatus, Tokens

if TYPE_CHECKING:
    from datetime import datetime

    from markscheme.read.transcripts.log import Log
    from markscheme.transcript import Transcript

NAME = "openai-responses"
_ITEMS = frozenset({"function_call", "function_call_output", "custom_tool_call", "mcp_call"})
_SERVER_CALLS = frozenset(
    {"web_search_call", "file_search_call", "computer_call", "code_interpreter_call", "mcp_call"}
)
_TEXTS = ("input_text", "output_text", "text")


def recognises(log: Log) -> bool:
    """Say whether there are items, responses or their events."""
    return any(_is_record(record) for record in log.sample)


def _is_record(record: Object) -> bool:
    kind = text(record.get("type"))
    if kind in _ITEMS and ("call_id" in record or kind == "mcp_call"):
        return True
    if isinstance(kind, str) and kind.startswith("response.") and "sequence_number" in record:
        return True
    if kind in {"response.completed", "response.output_item.done"}:
        return True
    response = mapping(record.get("response")) or record
    return response.get("object") == "response" or any(
        text(item.get("type")) in _ITEMS for item in objects(record.get("input"))
    )


def read(log: Log) -> list[Transcript]:
    """Read one conversation; an item that is sent again counts once."""
    conversation = Conversation()
    for record in log.records():
        conversation.take(record)
    draft = conversation.draft
    draft.tokens = summed(conversation.used)
    if log.cut:
        draft.gap(CUT_OFF)
    return [draft.finish(NAME, skipped=log.skipped)]


class Conversation:
    """A conversation while its records are read."""

    def __init__(self) -> None:
        self.draft = Draft()
        self.used: list[Tokens] = []
        self._seen: set[Any] = set()
        self._sent: list[Any] = []

    def take(self, record: Object) -> None:
        """Take an item, an event, a response, or a request with its response."""
        kind = text(record.get("type"))
        if isinstance(kind, str) and kind.startswith("response."):
            self._event(kind, record)
            return
        if kind is not None and "output" not in record and "input" not in record:
            self._item(record, None)
            return
        if kind in {"function_call_output", "custom_tool_call", "computer_call_output"}:
            self._item(record, None)
            return
        request = mapping(record.get("request")) or record
        self._request(request.get("input"))
        response = mapping(record.get("response")) or record
        if "output" in response:
            self._response(response)

    def _event(self, kind: str, record: Object) -> None:
        if kind == "response.output_item.done":
            self._item(mapping(record.get("item")), None)
        elif kind in {"response.completed", "response.incomplete", "response.failed"}:
            self._response(mapping(record.get("response")))

    def _request(self, sent: Any) -> None:
        if isinstance(sent, str):
            self.draft.prompt(sent)
            return
        items = list(objects(sent))
        keys = [_key(item) for item in items]
        again = self._sent and keys[: len(self._sent)] == self._sent
        for item in items[len(self._sent) if again else 0 :]:
            self._item(item, None)
        self._sent = keys

    def _response(self, response: Object) -> None:
        created = epoch(response.get("created_at"), "s")
        completed = epoch(response.get("completed_at"), "s")
        self.draft.model(response.get("model"))
        self.draft.session = self.draft.session or text(response.get("id"))
        if self.draft.prompts and self.draft.prompts[-1].at is None:
            self.draft.prompts[-1].at = created
        for item in objects(response.get("output")):
            self._item(item, completed)
        if mapping(response.get("usage")):
            self.used.append(tokens_of(mapping(response.get("usage"))))
        if text(response.get("status")) in {"failed", "incomplete", "in_progress", "cancelled"}:
            self.draft.gap(f"a response is {response['status']}")

    def _item(self, item: Object, at: datetime | None) -> None:
        id_ = text(item.get("id"))
        if id_ is not None and (id_, text(item.get("type"))) in self._seen:
            return
        self._seen.add((id_, text(item.get("type"))))
        kind = text(item.get("type"))
        if kind in {"function_call", "custom_tool_call"}:
            self._call(item)
        elif kind in {"function_call_output", "custom_tool_call_output", "computer_call_output"}:
            self.draft.result(text(item.get("call_id")), None)
        elif kind in _SERVER_CALLS:
            self._server_call(item)
        elif kind == "message" or (kind is None and "role" in item):
            self._message(item, at)

    def _call(self, item: Object) -> None:
        call_id = text(item.get("call_id"))
        if call_id is not None and ("call", call_id) in self._seen:
            return
        self._seen.add(("call", call_id))
        raw = item.get("arguments", item.get("input"))
        found = parsed(raw)
        name = text(item.get("name")) or "?"
        self.draft.call(name, raw if found is None else found, id_=call_id)

    def _server_call(self, item: Object) -> None:
        """Take a call that the API itself carried out, with its outcome."""
        kind = str(item.get("type"))
        name = kind.removesuffix("_call")
        if kind == "mcp_call":
            name = f"mcp__{text(item.get('server_label')) or '?'}__{text(item.get('name')) or '?'}"
        given = parsed(item.get("arguments")) or item.get("action")
        made = self.draft.call(name, given, id_=text(item.get("call_id")) or text(item.get("id")))
        if item.get("error") or text(item.get("status")) == "failed":
            made.status, made.answered = CallStatus.ERROR, True
        elif text(item.get("status")) == "completed" or (kind == "mcp_call" and "output" in item):
            made.status, made.answered = CallStatus.OK, True

    def _message(self, item: Object, at: datetime | None) -> None:
        said = joined(item.get("content"), _TEXTS)
        if said is None:
            return
        if text(item.get("role")) == "assistant":
            if [said] != self.draft.final:
                self.draft.say(said, at)
        elif text(item.get("role")) == "user":
            self.draft.prompt(said)


def _key(item: Object) -> Any:
    return text(item.get("type")), item.get("call_id"), joined(item.get("content"), _TEXTS)


def tokens_of(usage: Object) -> Tokens:
    """Return a usage of the Responses API: cached tokens are part of the input."""
    input_ = count(usage.get("input_tokens"))
    cached = count(mapping(usage.get("input_tokens_details")).get("cached_tokens"))
    reasoning = mapping(usage.get("output_tokens_details")).get("reasoning_tokens")
    return Tokens(
        input_uncached=None if input_ is None else max(input_ - (cached or 0), 0),
        cache_read=cached,
        output=count(usage.get("output_tokens")),
        reasoning=count(reasoning),
    )


FORMAT = Format(
    name=NAME,
    looks_for="items with `type` function_call and `call_id`, or a `response` with `output`",
    recognises=recognises,
    read=read,
)
