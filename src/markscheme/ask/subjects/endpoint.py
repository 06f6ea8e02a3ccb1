"""An OpenAI-compatible endpoint as a subject: hosted, vLLM, Ollama, llama.cpp's server."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import orjson

from markscheme.ask.addresses import HttpAddress
from markscheme.ask.completions import extract_error_message, parse_completion
from markscheme.ask.faults import build_status_reply
from markscheme.ask.http import HttpClient, HttpError
from markscheme.ask.replies import Reply
from markscheme.ask.secrets import Secrets, read_api_key
from markscheme.ask.sse import CompletionStream
from markscheme.ask.subjects.base import MODEL_OPTIONS, BaseSubject, Stopwatch, SubjectOptions
from markscheme.vocabulary import UsageError, format_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markscheme.ask.http import HttpResponse
    from markscheme.ask.questions import Question

DEFAULT_BASE_URL = "https://api.openai.com/v1"
_COMPLETIONS_PATH = "/chat/completions"
_MAX_PORT_DIGITS = 5
_UNKNOWN_PARAMETER_STATUSES = {400, 422}  # said of a parameter that an endpoint does not know
_PARAMETER_FALLBACKS = {"stream_options": None, "max_tokens": "max_completion_tokens"}


class EndpointSubject(BaseSubject):
    """Posts chat completions; a response schema is asked for by `response_format`."""

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
            body["response_format"] = _build_response_format(question.schema)
        watch = Stopwatch()
        stream = CompletionStream(watch, self.secrets) if self._options.stream else None
        try:
            response = await self._client.post(
                orjson.dumps(body), _COMPLETIONS_PATH, stream.feed if stream else None
            )
        except HttpError as error:
            return Reply.from_fault(error.fault, error.why, anew=error.is_stale_connection)
        if not response.ok:
            anew = self._adapt_parameters(response, body)
            return replace(_build_http_error_reply(response, self.secrets), anew=anew)
        latency = watch()
        if stream is not None and stream.has_events:
            return self._options.add_cost(stream.build_reply(latency))
        return self._options.add_cost(parse_completion(response.body, latency, self.secrets))

    def _adapt_parameters(self, response: HttpResponse, sent: Mapping[str, Any]) -> bool:
        """See whether a parameter is rejected by its name that can be left out, or has another."""
        for name, better in _PARAMETER_FALLBACKS.items():
            told = (better or name).encode()
            if (
                response.status in _UNKNOWN_PARAMETER_STATUSES
                and name in sent
                and told in response.body
            ):
                if name in self._fixed_parameters:
                    value = self._fixed_parameters.pop(name)
                    self._fixed_parameters |= {better: value} if better else {}
                    instead = f"{better} is sent in its place" if better else "it is left out"
                    self.remarks += (f"{self.name} does not take {name}: {instead}",)
                return True
        return False


def _build_response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    known = schema.get("properties", {})
    whole = schema.get("additionalProperties") is False
    strict = whole and set(known) == set(schema.get("required", ()))
    return {
        "type": "json_schema",
        "json_schema": {"name": "response", "schema": schema, "strict": strict},
    }


def _build_http_error_reply(response: HttpResponse, secrets: Secrets) -> Reply:
    """Say what a server means that does not answer, and when it wants to be asked again."""
    status, said = response.status, extract_error_message(response.body, secrets)
    told = f"the server says {status}{_describe_redirect(response)}{': ' if said else ''}{said}"
    return build_status_reply(status, told, response.headers.get("retry-after"))


def _describe_redirect(response: HttpResponse) -> str:
    place = response.headers.get("location")
    return f" and names {place}; redirects are not followed" if place else ""


def subject(rest: str, options: SubjectOptions) -> EndpointSubject:
    """Return a model: `MODEL` at the usual endpoint, or `MODEL@URL` at one of its own.

    The host is part of the name of the latter: the same model may be asked at two addresses.
    """
    model, at, url = rest.partition("@http")
    if not model:
        raise UsageError("`openai:` names no model; write for example openai:gpt-4o-mini")
    if at:
        found = _build_endpoint(f"http{url}", model, options)
        found.name = f"{found.name}@{found.address.host_and_port}"
        found.supported_options -= {"base_url"}
        return found
    if _has_port(rest) or "://" in rest:
        told = f"the address in {format_value(f'openai:{rest}')} does not say how to reach it"
        raise UsageError(f"{told}; write openai:MODEL@http://HOST:PORT/v1")
    if options.base_url is not None:
        return _build_endpoint(options.base_url, model, options)
    return _build_endpoint(os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL, model, options)


def _build_endpoint(url: str, model: str, options: SubjectOptions) -> EndpointSubject:
    return EndpointSubject(
        model, HttpAddress.parse(url), options, read_api_key(options.key_variable)
    )


def _has_port(text: str) -> bool:
    """Whether it ends as `@HOST:PORT`: sent as the name of a model, it would go elsewhere."""
    _, at, address = text.rpartition("@")
    port = address.partition("/")[0].rpartition(":")[2]
    return bool(at) and ":" in address and port.isdigit() and len(port) <= _MAX_PORT_DIGITS
