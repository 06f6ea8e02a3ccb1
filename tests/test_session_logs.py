"""Session logs as answers: which item each answers, what is measured, what cannot be placed."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import markscheme
from commands import here
from made_up import EDIT, GREP, PACKAGE, READ, RECALL, TASK, Session
from markscheme import load_exam, load_rubric, score
from markscheme.mark import mark_answer
from markscheme.read.session_logs import (
    LogFolder,
    LogName,
    measure_transcript,
    parse_log_name,
    read_logs,
)
from markscheme.read.transcripts import read_transcripts
from markscheme.vocabulary import InputError, UsageError

if TYPE_CHECKING:
    from markscheme.vocabulary import SessionMetrics
    from markscheme.weigh.totals import OperationGroup

GOLDEN = Path(__file__).parent / "golden" / "context-agent" / "logs"
LOGS = Path(__file__).parent / "logs"
QUERIES = load_exam("context-queries")
IDS = [item.id for item in QUERIES.items]
RUN = ("score", "-r", "context-agent", "-e", "context-queries", "--no-store")


def write(folder: Path, name: str, session: Session | str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(session if isinstance(session, str) else session.text(), encoding="utf-8")
    return path


def good(prompt: str = "Ask.", **more: Any) -> Session:
    return Session(prompt, **more).calls(RECALL, READ).say(PACKAGE)


def read(folder: Path, **more: Any) -> LogFolder:
    return read_logs(folder, QUERIES.items, **more)


def placed(logs: LogFolder) -> list[tuple[str, str | None, int]]:
    return [(answer.item, answer.variant, answer.attempt) for answer in logs.answers]


@pytest.mark.parametrize(
    ("path", "item", "variant", "attempt"),
    [
        ("TQ-1.haiku.jsonl", "TQ-1", "haiku", 1),
        ("haiku/TQ-1.jsonl", "TQ-1", "haiku", 1),
        ("TQ-1_haiku.json", "TQ-1", "haiku", 1),
        ("haiku-TQ-1.json", "TQ-1", "haiku", 1),
        ("TQ-1--sonnet--2.jsonl", "TQ-1", "sonnet", 2),
        ("haiku/TQ-1--3.jsonl", "TQ-1", "haiku", 3),
        ("haiku/TQ-1.run2.jsonl", "TQ-1", "haiku", 2),
        ("TQ-1.haiku.attempt-4.jsonl", "TQ-1", "haiku", 4),
        ("TQ-1.gpt-4.jsonl", "TQ-1", "gpt-4", 1),
        ("TQ-1.claude-haiku-4-5.jsonl", "TQ-1", "claude-haiku-4-5", 1),
        ("tq-1.HAIKU.jsonl", "TQ-1", "HAIKU", 1),
        ("TQ-1/haiku.jsonl", "TQ-1", "haiku", 1),
        ("haiku/TQ-1/session.jsonl", "TQ-1", "haiku", 1),
        ("TQ-1.jsonl", "TQ-1", None, 1),
        ("TQ-1.jsonl.zst", "TQ-1", None, 1),
    ],
)
def test_a_name_says_item_variant_and_attempt(
    path: str, item: str, variant: str | None, attempt: int
) -> None:
    found = parse_log_name(PurePath(path), IDS)
    assert (found.items, found.variant, found.attempt) == ((item,), variant, attempt)


def test_a_name_without_an_item_may_still_say_the_variant() -> None:
    assert parse_log_name(PurePath("haiku/4d1f.jsonl"), IDS) == LogName(variant="haiku")
    assert parse_log_name(PurePath("TQ-10.jsonl"), IDS).items == ()
    assert parse_log_name(PurePath("TQ-1-TQ-2.jsonl"), IDS).items == ("TQ-1", "TQ-2")
    assert parse_log_name(PurePath("a-b.jsonl"), ["a", "a-b"]).items == ("a-b",)


@given(st.text(st.sampled_from("TQ-12_.#/haiku0"), min_size=1, max_size=30))
def test_no_name_is_too_strange(path: str) -> None:
    found = parse_log_name(PurePath(path), IDS) if PurePath(path).parts else LogName()
    assert set(found.items) <= set(IDS)
    assert found.attempt >= 0


def test_a_log_is_found_by_what_was_asked(tmp_path: Path) -> None:
    equal = QUERIES.items[1].prompt.upper().replace(" ", "\n ")
    inside = f"You are a careful agent.\n\n{QUERIES.items[2].prompt}\n\nThank you."
    write(tmp_path, "haiku/a.jsonl", good(equal, session="a"))
    write(tmp_path, "haiku/b.jsonl", good(inside, session="b"))
    assert placed(read(tmp_path)) == [("TQ-2", "haiku", 1), ("TQ-3", "haiku", 1)]


def test_where_folders_hold_both_variants_the_file_names_tell_them_apart(tmp_path: Path) -> None:
    for name in ("quick/TQ-1_big", "quick/TQ-1_small", "medium/TQ-2.big", "medium/TQ-2.small"):
        write(tmp_path, f"{name}.jsonl", good(session=name))
    found = read(tmp_path)
    assert found.errors == ()
    assert sorted(placed(found)) == [
        (item, variant, 1) for item in ("TQ-1", "TQ-2") for variant in ("big", "small")
    ]


def test_where_nothing_names_a_variant_it_is_the_model(tmp_path: Path) -> None:
    write(tmp_path, "a.jsonl", good(QUERIES.items[0].prompt, model="m-1", session="a"))
    write(tmp_path, "b.jsonl", good(QUERIES.items[0].prompt, model="m-2", session="b"))
    assert placed(read(tmp_path)) == [("TQ-1", "m-1", 1), ("TQ-1", "m-2", 1)]


def test_what_cannot_be_placed_is_a_row_with_its_reason(tmp_path: Path) -> None:
    both = f"{QUERIES.items[0].prompt} {QUERIES.items[1].prompt}"
    write(tmp_path, "a.jsonl", good("Something else.", session="a"))
    write(tmp_path, "b.jsonl", good(both, session="b"))
    write(tmp_path, "TQ-1-TQ-2.jsonl", good(session="c"))
    write(tmp_path, "x/TQ-3.jsonl", good(session="d"))
    write(tmp_path, "x/TQ-3.extra.jsonl", good(session="e"))
    write(tmp_path, "TQ-4.jsonl", "this is no log\n")
    write(tmp_path, "TQ-5.jsonl", good(session="f"))
    logs = read(tmp_path)
    assert placed(logs) == [("TQ-5", "made-up-1", 1)]
    told = {str(error.file): error.reason for error in logs.errors}
    assert told.keys() == {
        *("a.jsonl", "b.jsonl", "TQ-1-TQ-2.jsonl", "TQ-4.jsonl"),
        *("x/TQ-3.jsonl", "x/TQ-3.extra.jsonl"),
    }
    assert "neither its name nor what was asked" in told["a.jsonl"]
    assert told["b.jsonl"] == "what was asked fits several items: TQ-1, TQ-2"
    assert "its name fits several items: TQ-1, TQ-2" in told["TQ-1-TQ-2.jsonl"]
    assert "2 logs are the answer to `TQ-3` by `x`, attempt 1" in told["x/TQ-3.jsonl"]
    assert "no log format is recognised" in told["TQ-4.jsonl"]


MAPS = {
    "map.csv": "log,item,variant,attempt\na.jsonl,TQ-1,haiku,\nb.jsonl,TQ-1,haiku,2\n",
    "map.jsonl": '{"log": "a.jsonl", "item": "TQ-1", "variant": "haiku"}\n\n'
    '{"log": "b.jsonl", "item": "TQ-1", "variant": "haiku", "attempt": 2}\n',
    "map.yaml": "logs:\n  - {log: a.jsonl, item: TQ-1, variant: haiku}\n"
    "  - {log: b.jsonl, item: TQ-1, variant: haiku, attempt: 2}\n",
}


@pytest.mark.parametrize("name", MAPS)
def test_a_mapping_file_comes_first(name: str, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    write(logs, "a.jsonl", good(QUERIES.items[4].prompt, session="a"))
    write(logs, "b.jsonl", good(session="b"))
    write(logs, "sonnet/TQ-1.jsonl", good(session="c"))
    mapping = write(logs if name == "map.jsonl" else tmp_path, name, MAPS[name])
    found = read(logs, mapping=mapping)
    assert found.errors == ()
    assert placed(found) == [("TQ-1", "haiku", 1), ("TQ-1", "haiku", 2), ("TQ-1", "sonnet", 1)]


def test_every_mistake_of_a_mapping_file_is_told_at_once(tmp_path: Path) -> None:
    write(tmp_path, "logs/a.jsonl", good())
    rows = ["log,item,varant,attempt", "a.jsonl,TQ-9,x,0", ",TQ-1,,", "a.jsonl,TQ-1,,x,y"]
    mapping = write(tmp_path, "map.csv", "\n".join(rows))
    with pytest.raises(InputError) as caught:
        read(tmp_path / "logs", mapping=mapping)
    problems = [str(problem).partition("map.csv:")[2] for problem in caught.value.problems]
    assert any(problem.startswith("2: item: `TQ-9` is no item of the exam") for problem in problems)
    assert any(
        problem.startswith("2: attempt: must be a whole number from 1 on") for problem in problems
    )
    assert any(problem.startswith("2: varant: unknown key") for problem in problems)
    assert any(problem.startswith("3: log: is missing") for problem in problems)
    assert any(problem.startswith("4: must be a mapping") for problem in problems)


def test_a_mapping_of_logs_that_are_not_there_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "logs/a.jsonl", good())
    write(tmp_path, "b.jsonl.bak", "not in the folder of logs")
    text = "log,item\nb.jsonl.bak,TQ-1\na.jsonl,TQ-1\na.jsonl,TQ-2\n"
    mapping = write(tmp_path, "map.csv", text)
    with pytest.raises(InputError) as caught:
        read(tmp_path / "logs", mapping=mapping)
    told = [problem.message for problem in caught.value.problems]
    assert told == ["no log of this name was read", "the log is named twice, first on line 3"]


def test_a_log_of_the_mapping_that_no_format_recognises_is_a_bad_row(tmp_path: Path) -> None:
    write(tmp_path, "logs/a.jsonl", good())
    write(tmp_path, "logs/b.jsonl", '{"kind": "response", "parts": []}\n')
    mapping = write(tmp_path, "map.csv", "log,item\na.jsonl,TQ-1\nb.jsonl,TQ-1\n")
    found = read(tmp_path / "logs", mapping=mapping)
    assert [answer.file for answer in found.answers] == ["a.jsonl"]
    assert [error.file for error in found.errors] == ["b.jsonl"]


@pytest.mark.parametrize(
    ("name", "text"),
    [("map.txt", "x"), ("map.yaml", "other: 1\n"), ("map.csv", "\xff")],
)
def test_a_mapping_that_is_none_is_refused(name: str, text: str, tmp_path: Path) -> None:
    write(tmp_path, "logs/a.jsonl", good())
    mapping = tmp_path / name
    mapping.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError):
        read(tmp_path / "logs", mapping=mapping)


def only(folder: Path, session: Session) -> SessionMetrics:
    ((_, transcript),) = read_transcripts(write(folder, "s.jsonl", session))
    return measure_transcript(transcript)


def test_what_is_measured_in_a_session(tmp_path: Path) -> None:
    found = only(tmp_path, good())
    assert found.latency_s == 5
    assert (found.tool_calls, found.subagent_calls, found.dispatches) == (2, 0, 0)
    assert (found.tokens_in, found.tokens_out, found.tokens) == (3330, 60, 3390)
    assert found.lower_bounds == ("tokens",)  # the format understates its output


def test_what_may_be_more_is_a_lower_bound_and_what_is_not_known_is_none(tmp_path: Path) -> None:
    found = only(tmp_path, Session("Ask.").calls(TASK).say("Looking.").call(*GREP, None))
    assert found.latency_s is None
    assert found.lower_bounds == ("tool_calls", "dispatches", "tokens")


def test_calls_and_tokens_of_sub_agents_count_and_compaction_costs_too() -> None:
    ((_, transcript),) = read_transcripts(LOGS / "claude-code" / "agents")
    found = measure_transcript(transcript)
    inner = [agent for agent in transcript.subagents if not agent.internal]
    assert found.subagent_calls == sum(len(agent.calls) for agent in inner) > 0
    assert found.tool_calls == len(transcript.calls) + found.subagent_calls
    internal = [agent.tokens.output for agent in transcript.subagents if agent.internal]
    agents = [agent.tokens.output for agent in transcript.agents()]
    assert internal
    assert found.tokens_out == sum(output or 0 for output in (*agents, *internal))


def test_a_dispatch_that_failed_started_nobody_who_could_be_missed(tmp_path: Path) -> None:
    found = only(tmp_path, Session("Ask.").call(*TASK, "denied").say(PACKAGE))
    assert found.dispatches == 1
    assert "tool_calls" not in found.lower_bounds


def test_a_format_without_times_has_no_latency() -> None:
    ((_, transcript),) = read_transcripts(LOGS / "codex" / "exec.jsonl")
    assert measure_transcript(transcript).latency_s is None


def group(result: markscheme.Result, **wanted: str | None) -> OperationGroup:
    keys = {"item": None, "variant": None, "tag": None, "value": None, **wanted}
    (matching,) = (
        group for group in result.operations if {key: getattr(group, key) for key in keys} == keys
    )
    return matching


def test_metrics_are_summed_by_item_variant_and_tag_exactly() -> None:
    result = score("context-agent", "context-queries", logs=GOLDEN)
    whole = group(result).metrics
    assert group(result).sessions == 10
    assert (whole["latency_s"].sum, whole["latency_s"].unknown) == (Fraction(55), 1)
    assert whole["latency_s"].mean == Fraction(55, 9)
    assert whole["tool_calls"].sum == 26
    assert whole["dispatches"].sum == 5
    assert group(result, variant="sonnet").metrics["dispatches"].mean == Fraction(3, 5)
    assert group(result, tag="mode", value="medium").sessions == 4
    assert group(result, item="TQ-5", variant="haiku").metrics["latency_s"].sum is None
    record = result.to_dict()["operational"][0]
    assert record["latency_s"]["exact"] == {"sum": "55/1", "mean": "55/9"}
    assert record["latency_s"]["unknown"] == 1


def test_a_run_without_logs_measures_nothing_of_this_kind() -> None:
    rows = [{"item": "e-39-01", "output": "Ate."}]
    assert "operational" not in score("tutor-capstone", "capstone", rows).to_dict()


def test_answers_without_logs_abstain_on_what_was_done() -> None:
    row = {"item": "TQ-1", "output": PACKAGE}
    (first, *_) = score("context-agent", "context-queries", [row]).to_dict()["items"]
    assert first["breakdown"]["S-01"] == 1
    assert first["breakdown"]["S-06"] is None
    assert first["reason"]["S-06"] == "there is no transcript of what was done"
    assert first["score"] is None


def test_equal_texts_of_different_sessions_keep_their_own_cells(tmp_path: Path) -> None:
    write(tmp_path, "a/TQ-1.jsonl", Session("Ask.", session="a").calls(RECALL).say(PACKAGE))
    write(tmp_path, "b/TQ-1.jsonl", Session("Ask.", session="b").calls(EDIT).say(PACKAGE))
    items = score("context-agent", "context-queries", logs=tmp_path).to_dict()["items"]
    cells = {row["subject"]: row["breakdown"]["S-06"] for row in items if row["got"]}
    assert cells == {"a": 1, "b": 0}


def test_examined_logs_are_the_same_cells_one_by_one() -> None:
    rubric = load_rubric("context-agent")
    folder = read_logs(GOLDEN, QUERIES.items)
    result = score(rubric, QUERIES, logs=GOLDEN)
    rows = {(row["subject"], row["item"]): row for row in result.to_dict()["items"]}
    items = {item.id: item for item in QUERIES.items}
    assert len(folder.answers) == 10
    for log in folder.answers:
        row = rows[log.variant, log.item]
        breakdown = mark_answer(rubric, items[log.item], log.output, log.transcript)
        assert row["breakdown"] == {name: cell.value for name, cell in breakdown.cells.items()}
        assert row["tool_calls"] == log.metrics.tool_calls
    assert [error.file for error in folder.errors] == ["notes.jsonl"]
    assert result.operations


def test_the_command_shows_evidence_and_measures_and_writes_them(tmp_path: Path) -> None:
    out = tmp_path / "cells.csv"
    done = here(*RUN, "--logs", str(GOLDEN), "-o", str(out))
    assert done.code == 4  # one log cannot be placed, one session was stopped
    assert "search came first: Grep (call 1, at 10:00:01, ok)" in done.out
    assert "notes.jsonl" in done.out
    assert "Measured, not scored" in done.out
    with out.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["tool_calls"] for row in rows] == [*"2331333242", ""]
    document = json.loads(here(*RUN, "--logs", str(GOLDEN), "--format", "json").out)
    assert document["items"][0]["tool_calls"] == 2
    assert document["items"][0]["file"] == "haiku/TQ-1.jsonl"
    assert document["errors"][0]["file"] == "notes.jsonl"


def test_the_example_of_the_docs_is_what_is_said() -> None:
    text = (Path(__file__).parent.parent / "docs" / "agents.md").read_text(encoding="utf-8")
    lines = text.partition("```text\n")[2].partition("\n```")[0].splitlines()
    items = score("context-agent", "context-queries", logs=GOLDEN).to_dict()["items"]
    reasons = {f"{row['subject']}/{row['item']}": row["reason"] for row in items}
    assert len(lines) == 3
    for line in lines:
        label, axis, reason = line.split(maxsplit=2)
        assert reasons[label][axis] == reason


def test_a_complete_folder_of_logs_exits_with_0_and_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARKSCHEME_STORE", str(tmp_path / "store.db"))
    for item in QUERIES.items:
        write(tmp_path, f"logs/sonnet/{item.id}.jsonl", good(item.prompt, session=item.id))
    done = here(*RUN[:-1], "--logs", str(tmp_path / "logs"))
    assert done.code == 0, done.out + done.err
    assert "stored as run" in done.err


def test_a_stored_run_of_logs_still_knows_what_was_measured(tmp_path: Path) -> None:
    for item in IDS:
        write(tmp_path, f"logs/small/{item}.jsonl", good())
    store = ("--store", tmp_path / "store.db")
    scored = here(*RUN[:-1], "--logs", tmp_path / "logs", *store, "--format", "json").json
    shown = here("show", "latest", *store, "--format", "json").json
    own = [group for group in scored["operational"] if group["variant"] == "small"]
    assert shown["operational"] == [{**group, "variant": None} for group in own]
    assert "Measured, not scored" in here("show", "latest", *store).out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "no answers: give recorded ones with --answers"),
        (("--answers", "x", "--logs", "y"), "choose one"),
        (("--answers", "x", "--log-map", "y"), "go with --logs"),
        (("--logs", "nowhere"), "is no folder"),
        (("--logs", "y", "--engine", "ray", "-o", "z"), "leave out --engine ray"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: tuple[str, ...], said: str) -> None:
    done = here(*RUN, *options)
    assert done.code == 2
    assert said in done.err


def test_a_folder_without_logs_is_refused(tmp_path: Path) -> None:
    assert here(*RUN, "--logs", str(tmp_path)).code == 3


def test_the_library_wants_answers_or_logs() -> None:
    with pytest.raises(UsageError, match="or give a folder of `logs`"):
        score("context-agent", "context-queries", [], logs=GOLDEN)


def test_the_five_queries_have_their_modes() -> None:
    modes = [item.tags["mode"] for item in QUERIES.items]
    assert modes == ["quick", "medium", "medium", "thorough", "thorough"]
    assert len({item.prompt for item in QUERIES.items}) == 5


def test_the_audit_of_the_agent_rubric_is_sound() -> None:
    report = markscheme.audit("context-agent", "context-queries")
    assert report.verdict.value == "sound", report.failures
    assert {tried.fate.value for tried in report.mutants} == {"killed"}
