"""An OpenAI-compatible endpoint as a subject: a hosted API, vLLM, Ollama or llama.cpp's server."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import orjson

from markscheme.ask.completions import CompletionStream, extract_error_message, parse_completion
from markscheme.ask.http import HttpAddress, HttpClient, HttpError, HttpResponse
from markscheme.ask.questions import Question
from markscheme.ask.replies import Reply, build_status_reply
from markscheme.ask.secrets import Secrets, read_api_key
from markscheme.ask.subjects.base import MODEL_OPTIONS, BaseSubject, Stopwatch, SubjectOptions
from markscheme.vocabulary import UsageError, format_value

DEFAULT_BASE_URL = "https://api.openai.com/v1"
_MAX_PORT_DIGITS = 5
_UNKNOWN_PARAMETER_STATUSES = {400, 422}
# Parameters that some endpoints reject, and the name to use instead; None leaves it out.
_PARAMETER_FALLBACKS = {"stream_options": None, "max_tokens": "max_completion_tokens"}
# The ways of asking a judge for JSON, the strictest first; an endpoint that rejects one gets the
# next. The last is the prompt alone, which asks for it in every case.
_JSON_WAYS = ("json_schema", "json_object", "the prompt alone")


class EndpointSubject(BaseSubject):
    """Posts chat completions; a response schema is sent as `response_format`."""

    supported_options = MODEL_OPTIONS | {"base_url", "key_env"}

    def __init__(
        self, model: str, address: HttpAddress, options: SubjectOptions, key: str | None
    ) -> None:
        self.name = f"openai:{model}"
        self._model = model
        self.address = address
        self._options = options
        self._key = key
        self.secrets = Secrets.from_keys([key])
        self._client: HttpClient | None = None
        self._json_way = 0
        self._fixed_parameters: dict[str, Any] = {"model": model, **options.sampling.to_dict()}
        self.parameters: dict[str, Any] = {"endpoint": str(address), **self._fixed_parameters}
        if options.stream:
            self._fixed_parameters |= {"stream": True, "stream_options": {"include_usage": True}}

    async def __aenter__(self) -> Self:
        headers = {} if self._key is None else {"authorization": f"Bearer {self._key}"}
        self._client = HttpClient(self.address, headers)
        self._client.open_session()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._client is not None:
            await self._client.close()

    async def ask(self, question: Question) -> Reply:
        """Post one question."""
        if self._client is None:
            raise RuntimeError("the subject was not entered")
        body: dict[str, Any] = {**self._fixed_parameters, "messages": question.messages}
        if question.schema is not None:
            body |= self._build_response_format(question.schema)
        watch = Stopwatch()
        stream = CompletionStream(watch, self.secrets) if self._options.stream else None
        try:
            response = await self._client.post(
                orjson.dumps(body), "/chat/completions", stream.feed if stream else None
            )
        except HttpError as error:
            return Reply.from_fault(error.fault, error.why, anew=error.is_stale_connection)
        if not response.ok:
            anew = self._adapt_parameters(response, body) or self._step_down(response, body)
            return replace(_build_http_error_reply(response, self.secrets), anew=anew)
        latency = watch()
        if stream is not None and stream.has_events:
            return self._options.add_cost(stream.build_reply(latency))
        reply = parse_completion(
            response.body, latency, self.secrets, judging=self._options.judging
        )
        return self._options.add_cost(reply)

    def _build_response_format(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameter that asks for JSON in the way that the endpoint takes, if any."""
        way = _JSON_WAYS[self._json_way]
        if way == "json_schema":
            return {"response_format": _build_schema_format(schema)}
        return {"response_format": {"type": way}} if way == "json_object" else {}

    def _step_down(self, response: HttpResponse, sent: Mapping[str, Any]) -> bool:
        """Ask a judge for JSON in the next way, if the endpoint rejects this one.

        Several questions may be rejected at the same time; the first of them changes the way.
        """
        names_it = any(word in response.body for word in (b"response_format", b"json_schema"))
        if (
            not self._options.judging
            or response.status not in _UNKNOWN_PARAMETER_STATUSES
            or "response_format" not in sent
            or not names_it
        ):
            return False
        refused = sent["response_format"]["type"]
        if refused == _JSON_WAYS[self._json_way]:
            self._json_way += 1
            instead = f"{_JSON_WAYS[self._json_way]} asks for JSON in its place"
            self.remarks += (f"{self.name} does not take {refused}: {instead}",)
        return True

    def _adapt_parameters(self, response: HttpResponse, sent: Mapping[str, Any]) -> bool:
        """Leave out or rename a parameter that the endpoint rejects; return whether one was.

        The question is then asked again at once. Several questions may be rejected at the same
        time; the first of them changes the parameters.
        """
        if response.status not in _UNKNOWN_PARAMETER_STATUSES:
            return False
        for name, fallback in _PARAMETER_FALLBACKS.items():
            if name in sent and (fallback or name).encode() in response.body:
                if name in self._fixed_parameters:
                    value = self._fixed_parameters.pop(name)
                    self._fixed_parameters |= {fallback: value} if fallback else {}
                    instead = f"{fallback} is sent in its place" if fallback else "it is left out"
                    self.remarks += (f"{self.name} does not take {name}: {instead}",)
                return True
        return False


def _build_schema_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    # Strict mode requires every property to be required, and no others to be allowed.
    is_closed = schema.get("additionalProperties") is False
    strict = is_closed and set(schema.get("properties", {})) == set(schema.get("required", ()))
    return {
        "type": "json_schema",
        "json_schema": {"name": "response", "schema": schema, "strict": strict},
    }


def _build_http_error_reply(response: HttpResponse, secrets: Secrets) -> Reply:
    """Build the reply for a status that is no success."""
    location = response.headers.get("location")
    redirect = f" and names {location}; redirects are not followed" if location else ""
    message = extract_error_message(response.body, secrets)
    why = f"the server says {response.status}{redirect}{': ' if message else ''}{message}"
    return build_status_reply(response.status, why, response.headers.get("retry-after"))


def create_endpoint_subject(rest: str, options: SubjectOptions) -> EndpointSubject:
    """Create the subject of `MODEL` at the configured endpoint, or of `MODEL@URL`.

    The host is part of the name of the latter: one run may ask the same model at two addresses.
    """
    model, at, url = rest.partition("@http")
    if not model:
        raise UsageError("`openai:` names no model; write for example openai:gpt-4o-mini")
    if not at and (_has_port(rest) or "://" in rest):
        why = f"the address in {format_value(f'openai:{rest}')} does not say how to reach it"
        raise UsageError(f"{why}; write openai:MODEL@http://HOST:PORT/v1")
    if at:
        url = f"http{url}"
    elif options.base_url is not None:
        url = options.base_url
    else:
        url = os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL
    address, key = HttpAddress.parse(url), read_api_key(options.key_variable)
    subject = EndpointSubject(model, address, options, key)
    if at:
        subject.name = f"{subject.name}@{address.host_and_port}"
        subject.supported_options -= {"base_url"}
    return subject


def _has_port(text: str) -> bool:
    """Whether a model name ends in `@HOST:PORT`, so that it is most likely meant as an address."""
    _, at, address = text.rpartition("@")
    port = address.partition("/")[0].rpartition(":")[2]
    return bool(at) and ":" in address and port.isdigit() and len(port) <= _MAX_PORT_DIGITS
