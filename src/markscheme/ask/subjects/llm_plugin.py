"""A model of the `llm` package as a subject, with the plugins and keys that the user has there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from markscheme.ask.questions import Question
from markscheme.ask.replies import Reply, build_exception_reply
from markscheme.ask.secrets import Secrets
from markscheme.ask.subjects.base import MODEL_OPTIONS, BaseSubject, Stopwatch, SubjectOptions
from markscheme.ask.subjects.function import CallPool
from markscheme.read.storable import validate_count
from markscheme.vocabulary import UsageError, format_value


class PluginSubject(BaseSubject):
    """Prompts a model of `llm` in threads; sends the schema where the model supports one."""

    def __init__(self, model: Any, options: SubjectOptions) -> None:
        self.name = f"llm:{model.model_id}"
        self._model = model
        self._options = options
        self._calls = CallPool(options.concurrency)
        self._sampling = options.sampling.to_dict()
        self.parameters: dict[str, Any] = dict(self._sampling)
        self.secrets = _read_model_secrets(model)
        can_stream = bool(getattr(model, "can_stream", False))
        self.supported_options = MODEL_OPTIONS if can_stream else MODEL_OPTIONS - {"stream"}

    async def ask(self, question: Question) -> Reply:
        """Prompt the model once."""
        reply: Reply = await self._calls.run_in_thread(self._prompt_model, question)
        return reply

    def _prompt_model(self, question: Question) -> Reply:
        watch = Stopwatch()
        streams = self._options.stream and "stream" in self.supported_options
        try:
            response = self._start_response(question, stream=streams)
            first = _measure_first_token(response, watch) if streams else None
            text = response.text()
            usage = response.usage()
            tokens_in, tokens_out = validate_count(usage.input), validate_count(usage.output)
        except Exception as error:  # noqa: BLE001 - a plugin may be anybody's
            return build_exception_reply(error)
        reply = Reply(
            text=text,
            finish_reason=_find_finish_reason(getattr(response, "response_json", None)),
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            latency_us=watch(),
            first_token_us=first,
        )
        return self._options.add_cost(reply)

    def _start_response(self, question: Question, *, stream: bool) -> Any:
        """Return the response object of `llm`; the model is asked when that is read."""
        with_schema = question.schema is not None and getattr(self._model, "supports_schema", False)
        shots = [f"{asked}\n{answer}" for asked, answer in question.shots]
        return self._model.prompt(
            "\n\n".join([*shots, question.user]),
            system=question.system or None,
            schema=dict(question.schema or {}) if with_schema else None,
            stream=stream,
            **self._sampling,
        )


def _measure_first_token(response: Any, watch: Stopwatch) -> int | None:
    """Read a response to its end, and return when its first text came."""
    first = None
    for text in response:
        if text and first is None:
            first = watch()
    return first


def _find_finish_reason(response: Any) -> str | None:
    """Return why an answer ended, where the plugin keeps the raw response of its API."""
    match response:
        case (
            {"finish_reason": str(reason)}
            | {"stop_reason": str(reason)}
            | {"done_reason": str(reason)}
            | {"choices": [{"finish_reason": str(reason)}, *_]}
        ):
            return reason
    return None


def _read_model_secrets(model: Any) -> Secrets:
    """Return the key that the model will use, so that it can be redacted."""
    try:
        return Secrets.from_keys([model.get_key()])
    except Exception:  # noqa: BLE001 - a check may be anybody's
        return Secrets()


def create_llm_subject(rest: str, options: SubjectOptions) -> PluginSubject:
    """Find the model in `llm` and its plugins, and create its subject."""
    try:
        llm: Any = import_module("llm")
    except ImportError as error:
        why = "a subject llm:… needs the package llm"
        raise UsageError(f"{why}; install it with `pip install 'markscheme[llm]'`") from error
    if not rest:
        raise UsageError("`llm:` names no model; `llm models` lists them")
    try:
        model = llm.get_model(rest)
    except KeyError as error:
        raise UsageError(
            f"llm knows no model {format_value(rest)}; `llm models` lists them"
        ) from error
    except ImportError as error:
        lacking = f"as the module `{error.name}` is lacking" if error.name else f"{error}"
        why = f"a plugin of llm cannot be loaded, {lacking}; install it, or name in"
        raise UsageError(f"{why} `LLM_LOAD_PLUGINS` the plugins to load, with commas") from error
    except Exception as error:
        why = f"llm cannot load its models: {type(error).__name__}: {error}"
        raise UsageError(why) from error
    subject = PluginSubject(model, options)
    _check_model_options(subject.name, model, subject.parameters)
    return subject


def _check_model_options(name: str, model: Any, options: Mapping[str, Any]) -> None:
    """Refuse options that the model does not have, or not with these values."""
    try:
        model.Options(**options)
    except Exception as error:
        known = list(getattr(model.Options, "model_fields", ()))
        unknown = [option for option in options if option not in known]
        if unknown:
            has = _format_names(known) or "none"
            why = f"has no option {_format_names(unknown)}; it has {has}"
        else:
            why = _describe_option_error(error)
        raise UsageError(f"{format_value(name)} {why}") from error


def _describe_option_error(error: Exception) -> str:
    """Return the first problem that a validation error of pydantic lists, on one line."""
    try:
        problem = error.errors()[0]  # type: ignore[attr-defined]
        return f"does not take {_format_names(problem['loc']) or 'its options'}: {problem['msg']}"
    except Exception:  # noqa: BLE001 - a check may be anybody's
        return f"does not take its options: {type(error).__name__}: {error}"


def _format_names(names: Iterable[object]) -> str:
    return ", ".join(f"`{name}`" for name in names)
