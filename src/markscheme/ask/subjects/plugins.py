"""Whatever the `llm` package offers, with the models, plugins and keys that its user has there."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from markscheme.ask.calls import Calls
from markscheme.ask.keys import Secrets
from markscheme.ask.raised import reply_to
from markscheme.ask.replies import Reply
from markscheme.ask.subjects.base import SPEAKING, BaseSubject, Options, Watch
from markscheme.errors import UsageError, shown
from markscheme.read.sound import whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from markscheme.ask.questions import Question


class PluginSubject(BaseSubject):
    """A model of `llm`, asked in threads; a schema goes with the question where the model can."""

    def __init__(self, model: Any, options: Options) -> None:
        self.name = f"llm:{model.model_id}"
        self._model = model
        self._options = options
        self._calls = Calls(options.concurrency)
        self._said = options.sampling.to_dict()
        self.parameters: dict[str, Any] = dict(self._said)
        self.secrets = _secrets_of(model)
        can_stream = bool(getattr(model, "can_stream", False))
        self.heeds = SPEAKING if can_stream else SPEAKING - {"stream"}

    async def ask(self, question: Question) -> Reply:
        """Prompt the model once."""
        reply: Reply = await self._calls.in_thread(self._prompted, question)
        return reply

    def _prompted(self, question: Question) -> Reply:
        watch = Watch()
        streams = self._options.stream and "stream" in self.heeds
        try:
            response = self._response(question, stream=streams)
            first = _first_token(response, watch) if streams else None
            text = response.text()
            usage = response.usage()
            tokens_in, tokens_out = whole(usage.input), whole(usage.output)
        except Exception as error:  # noqa: BLE001 - a plugin may be anybody's
            return reply_to(error)
        reply = Reply(
            text=text,
            finish_reason=_reason(getattr(response, "response_json", None)),
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            latency_us=watch(),
            first_token_us=first,
        )
        return self._options.priced(reply)

    def _response(self, question: Question, *, stream: bool) -> Any:
        """Return what the model will say; it says it when it is heard."""
        held = question.schema is not None and getattr(self._model, "supports_schema", False)
        shots = [f"{asked}\n{answer}" for asked, answer in question.shots]
        return self._model.prompt(
            "\n\n".join([*shots, question.user]),
            system=question.system or None,
            schema=dict(question.schema or {}) if held else None,
            stream=stream,
            **self._said,
        )


def _first_token(response: Any, watch: Watch) -> int | None:
    """Hear a response to its end, and return when its first text came."""
    first = None
    for text in response:
        if text and first is None:
            first = watch()
    return first


def _reason(told: Any) -> str | None:
    """Return why an answer ended, where the plugin keeps what its maker said of that."""
    match told:
        case (
            {"finish_reason": str(reason)}
            | {"stop_reason": str(reason)}
            | {"done_reason": str(reason)}
            | {"choices": [{"finish_reason": str(reason)}, *_]}
        ):
            return reason
    return None


def _secrets_of(model: Any) -> Secrets:
    """Return the key that the model will use, so that it can be hidden."""
    try:
        return Secrets.of([model.get_key()])
    except Exception:  # noqa: BLE001 - it has none, or will say so itself when it is asked
        return Secrets()


def subject(rest: str, options: Options) -> PluginSubject:
    """Find the model among those that `llm` and its plugins know."""
    try:
        llm: Any = import_module("llm")
    except ImportError as error:
        told = "a subject llm:… needs the package llm"
        raise UsageError(f"{told}; install it with `pip install 'markscheme[llm]'`") from error
    if not rest:
        raise UsageError("`llm:` names no model; `llm models` lists them")
    try:
        model = llm.get_model(rest)
    except KeyError as error:
        raise UsageError(f"llm knows no model {shown(rest)}; `llm models` lists them") from error
    except ImportError as error:
        lacking = f"as the module `{error.name}` is lacking" if error.name else f"{error}"
        told = f"a plugin of llm cannot be loaded, {lacking}; install it, or name in"
        raise UsageError(f"{told} `LLM_LOAD_PLUGINS` the plugins to load, with commas") from error
    except Exception as error:
        told = f"llm cannot load its models: {type(error).__name__}: {error}"
        raise UsageError(told) from error
    found = PluginSubject(model, options)
    _check_options(found.name, model, found.parameters)
    return found


def _check_options(name: str, model: Any, told: Mapping[str, Any]) -> None:
    """Refuse options that the model does not have, or not with these values."""
    try:
        model.Options(**told)
    except Exception as error:
        has = list(getattr(model.Options, "model_fields", ()))
        lacks = [one for one in told if one not in has]
        if lacks:
            why = f"has no option {_listed(lacks)}; it has {_listed(has) or 'none'}"
        else:
            why = _not_taken(error)
        raise UsageError(f"{shown(name)} {why}") from error


def _not_taken(error: Exception) -> str:
    """Say in one line what a check of values found, as pydantic lists it."""
    try:
        found = error.errors()[0]  # type: ignore[attr-defined]
        return f"does not take {_listed(found['loc']) or 'its options'}: {found['msg']}"
    except Exception:  # noqa: BLE001 - a check may be anybody's
        return f"does not take its options: {type(error).__name__}: {error}"


def _listed(names: Iterable[object]) -> str:
    return ", ".join(f"`{name}`" for name in names)
