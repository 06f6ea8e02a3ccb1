"""Models of `llm`, and functions around a library: what their errors mean, and what is measured."""

from __future__ import annotations

import tarfile
import time
from socket import gaierror
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING, Any

import pytest

from markscheme.ask.replies import Fault, Reply, build_exception_reply
from sittings import Sitting, faults, importable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Known = Callable[[Any], None]

llm: Any = pytest.importorskip("llm")


class Mine(llm.Model):  # type: ignore[misc]
    """Raises what it is told to for its first questions, then says yes in two parts."""

    model_id = "mine"
    can_stream = True

    class Options(llm.Options):  # type: ignore[misc]
        """Two options; `max_tokens` is none of them."""

        temperature: float | None = None
        top_p: float | None = None

    def __init__(self, *raised: Exception) -> None:
        self.raised = [*raised]
        self.streamed: list[bool] = []
        self.told: dict[str, Any] | None = None
        self.tokens: Any = 3

    def execute(self, prompt: Any, stream: bool, response: Any, conversation: Any) -> Iterator[str]:  # noqa: FBT001
        del prompt, conversation
        self.streamed.append(stream)
        if self.raised:
            raise self.raised.pop(0)
        response.response_json = self.told
        response.set_usage(input=self.tokens, output=4)
        yield "ye"
        time.sleep(0.02)
        yield "s"


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Known:
    """Make a model known to `llm`."""

    def know(model: Any) -> None:
        monkeypatch.setattr(llm, "get_model", lambda _: model)

    return know


@pytest.fixture
def chat(sitting: Sitting, known: Known) -> Iterator[None]:
    """Make known a model of `llm` itself, which asks the server and leaves retries to us."""
    openai: Any = pytest.importorskip("llm.default_plugins.openai_models")
    clients = []

    class Chat(openai.Chat):  # type: ignore[misc]
        def get_client(self, key: str | None, **more: Any) -> Any:
            clients.append(super().get_client(key, **more).with_options(max_retries=0))
            return clients[-1]

    known(Chat("mine", key="secret", api_base=sitting.server.url))
    yield
    for client in clients:
        client.close()


def error(name: str, *above: type[Exception], **has: Any) -> Exception:
    """Return an error of somebody's library: its name, its parents, what it has."""
    made: Exception = type(name, above or (Exception,), {"__module__": "somebody"})("no")
    for key, value in has.items():
        setattr(made, key, value)
    return made


class Response:
    """What a library has heard; an empty one counts as false, as with `requests`."""

    def __init__(self, status_code: Any, **headers: str) -> None:
        self.status_code = status_code
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def __bool__(self) -> bool:
        return False


# --- what an error means ---


@pytest.mark.parametrize(
    ("raised", "fault"),
    [
        (error("HTTPStatusError", response=Response(429)), Fault.BUSY),
        (error("HTTPStatusError", response=Response(503)), Fault.SERVER),
        (error("HTTPStatusError", response=Response(404)), Fault.REJECTED),
        (error("APIStatusError", status_code=502), Fault.SERVER),
        (error("APIStatusError", status_code=529), Fault.BUSY),
        (error("ClientResponseError", status=408), Fault.SERVER),
        (error("HTTPError", code=401), Fault.REJECTED),
        (error("BadRequestError", status_code=429), Fault.BUSY),
    ],
)
def test_a_status_says_whether_to_ask_again(raised: Exception, fault: Fault) -> None:
    assert build_exception_reply(raised).fault is fault


@pytest.mark.parametrize(
    ("raised", "fault"),
    [
        *((error(name), Fault.BROKEN_OFF) for name in ("ReadError", "WriteError")),
        *((error(name), Fault.BROKEN_OFF) for name in ("RemoteProtocolError", "IncompleteRead")),
        *((error(name), Fault.BROKEN_OFF) for name in ("ServerDisconnectedError", "CloseError")),
        *((error(name), Fault.UNREACHABLE) for name in ("ConnectError", "APIConnectionError")),
        *((error(name), Fault.TIMEOUT) for name in ("PoolTimeout", "ConnectTimeout")),
        *((error(name), Fault.BUSY) for name in ("RateLimitError", "ThrottlingException")),
        *((error(name), Fault.SERVER) for name in ("ServiceUnavailable", "InternalServerError")),
        *((error(name), Fault.REJECTED) for name in ("NotFoundError", "PermissionDeniedError")),
        (error("OurError", ConnectionError), Fault.UNREACHABLE),
        (error("OurError", type(error("RateLimitError"))), Fault.BUSY),
        *((ConnectionRefusedError("no"), Fault.UNREACHABLE), (gaierror("no"), Fault.UNREACHABLE)),
        *((ConnectionResetError("no"), Fault.BROKEN_OFF), (TimeoutError("no"), Fault.TIMEOUT)),
    ],
)
def test_without_a_status_its_kind_says_whether_to_ask_again(
    raised: Exception, fault: Fault
) -> None:
    assert build_exception_reply(raised).fault is fault


@pytest.mark.parametrize(
    "raised",
    [
        *(ModuleNotFoundError("no"), FileNotFoundError("no"), PermissionError("no")),
        *(tarfile.ReadError("no"), TimeoutExpired("sleep", 1)),
        *(ValueError("429"), RuntimeError("no"), KeyError("no"), error("TemplateNotFound")),
        *(error("ValidationError"), error("LocalProtocolError"), error("OddError", status_code=-1)),
        *(error("OddError", code=True), error("OddError", code="429"), error("OddError", code=7)),
    ],
)
def test_any_other_error_is_one_of_its_own(raised: Exception) -> None:
    assert build_exception_reply(raised).fault is Fault.FAILED


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        *(("429 Too Many Requests", Fault.BUSY), ("Error code: 429 - {}", Fault.BUSY)),
        *(("Server error '503 Unavailable' for url", Fault.SERVER), ("HTTP 401", Fault.REJECTED)),
        *(("Request failed with status code 500", Fault.SERVER), ("Overloaded", Fault.BUSY)),
        *(("Rate limit reached for mine", Fault.BUSY), ("at most 500 words", Fault.FAILED)),
        *(("no idea", Fault.FAILED), ("", Fault.FAILED)),
    ],
)
def test_an_error_of_llm_that_has_only_words_is_read(said: str, fault: Fault) -> None:
    assert build_exception_reply(llm.ModelError(said)).fault is fault


def test_an_error_of_llm_is_what_caused_it() -> None:
    busy = error("HTTPStatusError", response=Response(503, retry_after="7"))
    told = Reply(fault=Fault.SERVER, why="ModelError: no", wait=7.0, crowded=True)
    assert build_exception_reply(because_of(busy, llm.ModelError("no"))) == told
    assert (
        build_exception_reply(because_of(error("ReadError"), llm.ModelError("no"))).fault
        is Fault.BROKEN_OFF
    )
    assert build_exception_reply(because_of(busy, ValueError("no"))).fault is Fault.FAILED


def test_an_error_of_llm_is_what_it_was_raised_after_unless_it_says_otherwise() -> None:
    raised = llm.ModelError("no")
    raised.__context__ = error("ReadError")
    assert build_exception_reply(raised).fault is Fault.BROKEN_OFF
    raised.__cause__ = None  # as with `from None`
    assert build_exception_reply(raised).fault is Fault.FAILED


def because_of(cause: Exception, raised: Exception) -> Exception:
    raised.__cause__ = cause
    return raised


def test_a_time_that_is_named_is_waited_for() -> None:
    for headers in ({"Retry_After": "7"}, {"retry_after": "7"}, {"retry_after": "7.0"}):
        assert build_exception_reply(error("Any", response=Response(429, **headers))).wait == 7.0
    assert (
        build_exception_reply(error("Any", status_code=503, headers={"Retry-After": "7"})).wait
        == 7.0
    )
    assert (
        build_exception_reply(error("Any", response=Response(429, retry_after="soon"))).wait is None
    )
    assert build_exception_reply(error("Any", response=Response(429), headers=None)).wait is None


def test_an_error_that_cannot_be_looked_at_is_an_error_all_the_same() -> None:
    class OddError(Exception):
        @property
        def response(self) -> None:
            raise RuntimeError("not yet")

    assert build_exception_reply(OddError("no")) == Reply.from_fault(Fault.FAILED, "OddError: no")


# --- asked again ---

PASSES = [
    error("HTTPStatusError", response=Response(429, retry_after="0.01")),
    error("HTTPStatusError", response=Response(503, retry_after="0.01")),
    error("APIStatusError", status_code=502),
    error("RemoteProtocolError"),
    llm.ModelError("429 Too Many Requests"),
]


@pytest.mark.parametrize("raised", PASSES, ids=str)
def test_a_model_of_llm_is_asked_again_after_what_passes(
    sitting: Sitting, known: Known, raised: Exception
) -> None:
    known(Mine(raised))
    document = sitting.asks("x").json(subject="llm:mine")
    assert (faults(document), document["items"][0]["asked"]["tries"]) == ({}, 2)


@pytest.mark.usefixtures("chat")
@pytest.mark.parametrize("prompt", ["busy 1", "restarting 1", "shaky 1", "crowded 1"])
def test_the_models_of_llm_itself_are_asked_again(sitting: Sitting, prompt: str) -> None:
    asked = sitting.asks(prompt).json(subject="llm:mine")["items"][0]["asked"]
    assert (asked["error"], asked["tries"], asked["finish_reason"]) == (None, 2, "stop")


WRAPPED = """\
import urllib.request
from urllib.error import HTTPError
times = {}
def once(error):
    def answer(prompt):
        times[error] = times.get(error, 0) + 1
        if times[error] == 1:
            raise error
        return "yes"
    return answer
class RateLimitError(Exception):
    pass
class NotFoundError(Exception):
    status_code = 404
busy = once(HTTPError("http://127.0.0.1/", 429, "busy", {"Retry-After": "0.01"}, None))
limited = once(RateLimitError("later"))
broken = once(ConnectionResetError("gone"))
async def later(prompt):
    return busy(prompt)
def gone(prompt):
    raise NotFoundError("no such model")
def plain(prompt):
    raise ValueError("no idea")
"""


@pytest.mark.parametrize(
    ("name", "expected", "tries"),
    [
        *((name, {}, 2) for name in ("busy", "limited", "broken", "later")),
        *(("gone", {"rejected": 1}, 1), ("plain", {"failed": 1}, 1)),
    ],
)
def test_a_function_is_asked_again_after_what_passes(
    sitting: Sitting,
    name: str,
    expected: dict[str, int],
    tries: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    importable(sitting, "my_wrapper", WRAPPED, monkeypatch)
    document = sitting.asks("x").json(subject=f"python:my_wrapper:{name}")
    assert (faults(document), document["items"][0]["asked"]["tries"]) == (expected, tries)


class Slow(Mine):
    """Takes longer than anybody waits, and counts how often it is asked at once."""

    running = most = 0

    def execute(self, *told: Any, **more: Any) -> Iterator[str]:
        del told, more
        Slow.running += 1
        Slow.most = max(Slow.most, Slow.running)
        time.sleep(1)
        Slow.running -= 1
        yield "yes"


def test_a_model_of_llm_that_was_given_up_keeps_its_place(sitting: Sitting, known: Known) -> None:
    known(Slow())
    words = ("--concurrency", "1", "--timeout", "0.2", "--retries", "0")
    document = sitting.asks("x", "y", "z").json(*words, subject="llm:mine")
    assert (faults(document), Slow.most) == ({"timeout": 3}, 1)


# --- what is measured and told ---


def test_a_model_of_llm_that_can_stream_does_and_tells_when_it_began(
    sitting: Sitting, known: Known
) -> None:
    model = Mine()
    known(model)
    row = sitting.asks("x").json("--stream", subject="llm:mine")["items"][0]
    assert (row["got"], model.streamed) == ("yes", [True])
    assert 0 < row["asked"]["first_token_ms"] < row["latency_ms"] - 10


def test_a_model_of_llm_streams_only_when_it_is_told_to(sitting: Sitting, known: Known) -> None:
    model = Mine()
    known(model)
    row = sitting.asks("x").json(subject="llm:mine")["items"][0]
    assert (row["asked"]["first_token_ms"], model.streamed) == (None, [False])


@pytest.mark.usefixtures("chat")
def test_the_models_of_llm_itself_stream(sitting: Sitting) -> None:
    row = sitting.asks("stream 1").json("--stream", subject="llm:mine")["items"][0]
    assert (row["got"], row["asked"]["finish_reason"]) == ("yes", "stop")
    assert 0 < row["asked"]["first_token_ms"] < row["latency_ms"]


@pytest.mark.parametrize("tokens", ["12", -5, 2**70, True, 12.0, None])
def test_tokens_of_a_model_of_llm_that_are_no_count_are_not_known(
    sitting: Sitting, known: Known, tokens: Any
) -> None:
    model = Mine()
    model.tokens = tokens
    known(model)
    (row,) = sitting.asks("x").json("--price", "1:1", subject="llm:mine")["items"]
    assert (row["got"], row["tokens_in"], row["tokens_out"], row["cost"]) == ("yes", None, 4, None)


def test_where_nothing_can_be_streamed_that_is_said(sitting: Sitting, known: Known) -> None:
    model = Mine()
    model.can_stream = False
    known(model)
    sitting.asks("fine 1")
    for subject in ("llm:mine", "cmd:cat", "tutor"):
        done = sitting.run("--stream", subject=subject)
        assert f"--stream has no effect on {subject}\n" in done.err
    assert model.streamed == [False]
    assert "no effect" not in sitting.run("--stream").err
    assert "no effect" not in sitting.run(subject="tutor").err


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        *((None, None), ({}, None), ({"finish_reason": 7}, None), ({"choices": []}, None)),
        *(({"finish_reason": "length"}, "length"), ({"stop_reason": "end_turn"}, "end_turn")),
        ({"choices": [{"finish_reason": "length"}]}, "length"),
        *(({"choices": 7}, None), ({"choices": [7]}, None), (7, None)),
    ],
)
def test_why_an_answer_of_llm_ended_is_told_where_it_is_known(
    sitting: Sitting, known: Known, told: Any, reason: str | None
) -> None:
    model = Mine()
    model.told = told
    known(model)
    row = sitting.asks("x").json(subject="llm:mine")["items"][0]
    assert (row["got"], row["asked"]["finish_reason"]) == ("yes", reason)


# --- options ---


def test_an_option_that_a_model_of_llm_does_not_have_is_refused_before_anything_is_asked(
    sitting: Sitting, known: Known
) -> None:
    model = Mine()
    known(model)
    done = sitting.asks("x").run("--max-tokens", "9", subject="llm:mine")
    assert done.code == 2
    assert "`llm:mine` has no option `max_tokens`; it has `temperature`, `top_p`" in done.err
    assert not model.streamed
    assert sitting.run("--temperature", "0.5", subject="llm:mine").code == 0


def test_a_model_of_llm_without_options_says_so(
    sitting: Sitting, known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Mine, "Options", llm.Options)
    known(Mine())
    done = sitting.asks("x").run("--max-tokens", "9", "--temperature", "1", subject="llm:mine")
    assert done.code == 2
    assert "`llm:mine` has no option `temperature`, `max_tokens`; it has none" in done.err


@pytest.mark.usefixtures("chat")
def test_a_value_that_a_model_of_llm_does_not_take_is_refused_before_anything_is_asked(
    sitting: Sitting,
) -> None:
    done = sitting.asks("x").run("--temperature", "9", subject="llm:mine")
    assert (done.code, sitting.server.counts) == (2, {})
    assert "`llm:mine` does not take `temperature`: Input should be less" in done.err


@pytest.mark.parametrize(
    ("raised", "told"), [(ValueError("not today"), "does not take its options"), (None, "`style`")]
)
def test_whatever_the_options_of_a_model_of_llm_refuse_is_wrong_usage(
    sitting: Sitting,
    known: Known,
    monkeypatch: pytest.MonkeyPatch,
    raised: Exception | None,
    told: str,
) -> None:
    class Options(llm.Options):  # type: ignore[misc]
        style: str

        def __init__(self, **told: Any) -> None:
            if raised is not None:
                raise raised
            super().__init__(**told)

    monkeypatch.setattr(Mine, "Options", Options)
    known(Mine())
    done = sitting.asks("x").run(subject="llm:mine")
    assert (done.code, told in done.err) == (2, True)


def test_a_plugin_that_cannot_be_loaded_is_told_with_what_helps(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def get_model(_: str) -> None:
        raise ModuleNotFoundError("No module named 'llama_cpp'", name="llama_cpp")

    monkeypatch.setattr(llm, "get_model", get_model)
    done = sitting.asks("x").run(subject="llm:mine")
    told = "a plugin of llm cannot be loaded, as the module `llama_cpp` is lacking"
    assert done.code == 2
    assert done.err.startswith(f"Error: {told}; install it, or name in `LLM_LOAD_PLUGINS`")
