"""A model of `llm` is a subject; what its plugin raises is told, and says whether to ask again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from markscheme import load_exam, load_rubric
from markscheme.ask.questions import load_template
from markscheme.ask.replies import Fault, Reply
from markscheme.ask.subjects import SubjectOptions, create_subject
from markscheme.vocabulary import UsageError


def test_a_model_of_llm_is_a_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    llm: Any = pytest.importorskip("llm")

    class Model(llm.Model):  # type: ignore[misc]
        model_id = "mine"
        supports_schema = True

        def execute(self, prompt: Any, stream: bool, response: Any, conversation: Any) -> Any:  # noqa: FBT001
            del stream, conversation
            response.set_usage(input=3, output=4)
            if "2" in prompt.prompt:
                raise type("RateLimitError", (Exception,), {})("later")
            yield f"{prompt.system}|{prompt.prompt}|{bool(prompt.schema)}"

    monkeypatch.setattr(llm, "get_model", lambda name: {"mine": Model()}[name])
    rubric = load_rubric("tutor-capstone")
    template = load_template(rubric, shots=[("one", "two")])
    item = load_exam("capstone").items[0]
    subject = create_subject("llm:mine", SubjectOptions())

    async def asked() -> Reply:
        async with subject:
            return await subject.ask(template.build_question(item))

    reply = asyncio.run(asked())
    assert reply.text is not None
    assert reply.text.endswith(f"|one\ntwo\n\n{item.prompt}|True")
    assert (reply.tokens_in, reply.tokens_out) == (3, 4)
    with pytest.raises(UsageError, match="llm knows no model"):
        create_subject("llm:other", SubjectOptions())


def test_a_plugin_of_llm_that_is_broken_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    llm: Any = pytest.importorskip("llm")

    def get_model(name: str) -> None:
        raise AttributeError(f"no plugin for {name}")

    monkeypatch.setattr(llm, "get_model", get_model)
    with pytest.raises(UsageError, match="AttributeError: no plugin for mine"):
        create_subject("llm:mine", SubjectOptions())


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        *(("NeedsKeyException", Fault.REJECTED), ("AuthenticationError", Fault.REJECTED)),
        *(("BadRequestError", Fault.REJECTED), ("APIConnectionError", Fault.UNREACHABLE)),
        *(("OverloadedError", Fault.BUSY), ("APITimeoutError", Fault.TIMEOUT)),
        *(("InternalServerError", Fault.SERVER), ("OddError", Fault.FAILED)),
    ],
)
def test_what_a_plugin_of_llm_raises_says_whether_to_ask_again(
    monkeypatch: pytest.MonkeyPatch, error: str, fault: Fault
) -> None:
    llm: Any = pytest.importorskip("llm")

    class Model(llm.Model):  # type: ignore[misc]
        model_id = "mine"

        def execute(self, *_: object, **named: object) -> Any:
            del named
            raise type(error, (Exception,), {})("no")

    monkeypatch.setattr(llm, "get_model", lambda _: Model())
    subject = create_subject("llm:mine", SubjectOptions())
    question = load_template(load_rubric("tutor-capstone")).build_question(
        load_exam("capstone").items[0]
    )
    assert asyncio.run(subject.ask(question)).fault is fault
