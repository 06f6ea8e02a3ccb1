"""An OpenAI-compatible endpoint as a subject: hosted, vLLM, Ollama, llama.cpp's server."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import orjson

from markscheme.ask.completions import completion_of, said_in
from markscheme.ask.keys import Secrets, key_of
from markscheme.ask.replies import Reply
from markscheme.ask.statuses import failed_with
from markscheme.ask.streams import Stream
from markscheme.ask.subjects.base import SPEAKING, BaseSubject, Options, Watch
from markscheme.ask.wire import Address, Wire, WireError
from markscheme.errors import UsageError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markscheme.ask.questions import Question
    from markscheme.ask.wire import Response

USUAL = "https://api.openai.com/v1"
_PATH = "/chat/completions"
_LONGEST_PORT = 5
_UNKNOWN = {400, 422}  # said of a parameter that an endpoint does not know
_REPLACED = {"stream_options": None, "max_tokens": "max_completion_tokens"}


class EndpointSubject(BaseSubject):
    """Posts chat completions; a response schema is asked for by `response_format`."""

    heeds = SPEAKING | {"base_url", "key_env"}

    def __init__(self, model: str, address: Address, options: Options, key: str | None) -> None:
        self.name = f"openai:{model}"
        self._model = model
        self.address = address
        self._options = options
        self._key = key
        self.secrets = Secrets.of([key])
        self._wire: Wire | None = None
        self._fixed: dict[str, Any] = {"model": model, **options.sampling.to_dict()}
        self.parameters: dict[str, Any] = {"endpoint": str(address), **self._fixed}
        if options.stream:
            self._fixed |= {"stream": True, "stream_options": {"include_usage": True}}

    async def __aenter__(self) -> Self:
        headers = {} if self._key is None else {"authorization": f"Bearer {self._key}"}
        self._wire = Wire(self.address, headers)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._wire is not None:
            self._wire.close()

    async def ask(self, question: Question) -> Reply:
        """Post one question."""
        if self._wire is None:
            raise RuntimeError("the subject was not entered")
        body: dict[str, Any] = {**self._fixed, "messages": question.messages}
        if question.schema is not None:
            body["response_format"] = _format(question.schema)
        watch = Watch()
        stream = Stream(watch, self.secrets) if self._options.stream else None
        try:
            response = await self._wire.send(
                orjson.dumps(body), _PATH, stream.hear if stream else None
            )
        except WireError as error:
            return Reply.failed(error.fault, error.why, anew=error.let_go)
        if not response.ok:
            anew = self._learnt_from(response, body)
            return replace(_fault(response, self.secrets), anew=anew)
        latency = watch()
        if stream is not None and stream.spoke:
            return self._options.priced(stream.reply(latency))
        return self._options.priced(completion_of(response.body, latency, self.secrets))

    def _learnt_from(self, response: Response, sent: Mapping[str, Any]) -> bool:
        """See whether a parameter is rejected by its name that can be left out, or has another."""
        for name, better in _REPLACED.items():
            told = (better or name).encode()
            if response.status in _UNKNOWN and name in sent and told in response.body:
                if name in self._fixed:
                    value = self._fixed.pop(name)
                    self._fixed |= {better: value} if better else {}
                    instead = f"{better} is sent in its place" if better else "it is left out"
                    self.remarks += (f"{self.name} does not take {name}: {instead}",)
                return True
        return False


def _format(schema: Mapping[str, Any]) -> dict[str, Any]:
    known = schema.get("properties", {})
    whole = schema.get("additionalProperties") is False
    strict = whole and set(known) == set(schema.get("required", ()))
    return {
        "type": "json_schema",
        "json_schema": {"name": "response", "schema": schema, "strict": strict},
    }


def _fault(response: Response, secrets: Secrets) -> Reply:
    """Say what a server means that does not answer, and when it wants to be asked again."""
    status, said = response.status, said_in(response.body, secrets)
    told = f"the server says {status}{_elsewhere(response)}{': ' if said else ''}{said}"
    return failed_with(status, told, response.headers.get("retry-after"))


def _elsewhere(response: Response) -> str:
    place = response.headers.get("location")
    return f" and names {place}; redirects are not followed" if place else ""


def subject(rest: str, options: Options) -> EndpointSubject:
    """Return a model: `MODEL` at the usual endpoint, or `MODEL@URL` at one of its own.

    The host is part of the name of the latter: the same model may be asked at two addresses.
    """
    model, at, url = rest.partition("@http")
    if not model:
        raise UsageError("`openai:` names no model; write for example openai:gpt-4o-mini")
    if at:
        found = _at(f"http{url}", model, options)
        found.name = f"{found.name}@{found.address.named}"
        found.heeds -= {"base_url"}
        return found
    if _names_a_port(rest) or "://" in rest:
        told = f"the address in {shown(f'openai:{rest}')} does not say how to reach it"
        raise UsageError(f"{told}; write openai:MODEL@http://HOST:PORT/v1")
    if options.base_url is not None:
        return _at(options.base_url, model, options)
    return _at(os.environ.get("OPENAI_BASE_URL") or USUAL, model, options)


def _at(url: str, model: str, options: Options) -> EndpointSubject:
    return EndpointSubject(model, Address.of(url), options, key_of(options.key_variable))


def _names_a_port(text: str) -> bool:
    """Whether it ends as `@HOST:PORT`: sent as the name of a model, it would go elsewhere."""
    _, at, address = text.rpartition("@")
    port = address.partition("/")[0].rpartition(":")[2]
    return bool(at) and ":" in address and port.isdigit() and len(port) <= _LONGEST_PORT
