"""What the store promises, the same in a real SQLite file and on a real PostgreSQL server."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from markscheme.keep import (
    AnswerSource,
    Document,
    DocumentKind,
    NewRun,
    RunStatus,
    Store,
    StoredFrame,
    open_store,
    schema,
)
from markscheme.vocabulary import StoreInvalidError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

START = datetime(2025, 1, 31, 23, 59, 59, 123456, tzinfo=UTC)
EMPTY: dict[str, Any] = {"counts": {}, "summary": {}, "measures": {}, "marks": {}}


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    seconds = count()
    with open_store(
        place, create=True, now=lambda: START + timedelta(seconds=next(seconds))
    ) as opened:
        yield opened


def document(kind: DocumentKind, name: str, body: str = "{}") -> Document:
    version = 3 if kind is DocumentKind.RUBRIC else None
    return Document(kind=kind, name=name, version=version, fingerprint=f"b2:{name}", body=body)


def begun(store: Store, *, rubric: str = "tutor", exam: str = "capstone", **more: Any) -> str:
    rubric_digest = store.save_document(document(DocumentKind.RUBRIC, rubric))
    exam_digest = store.save_document(document(DocumentKind.EXAM, exam))
    known = {"subject": "gpt", "axis_versions": {"contains_all": 1}, "tool_version": "0.1.0"}
    return store.begin_run(NewRun(rubric=rubric_digest, exam=exam_digest, **{**known, **more}))


def finished(store: Store, **more: Any) -> str:
    run = begun(store, **more)
    store.finish_run(run, **EMPTY)
    return run


def answers(*texts: str | None) -> pl.DataFrame:
    rows = range(len(texts))
    return pl.DataFrame(
        {
            "item": [f"i-{row}" for row in rows],
            "output": pl.Series(texts, dtype=pl.String),
            "latency_ms": pl.Series([row / 3 for row in rows], dtype=pl.Float64),
        }
    )


def cells(*values: float | None) -> pl.DataFrame:
    breakdown = [{"correctness": value, "concise": 1.0} for value in values]
    shape = pl.Struct({"correctness": pl.Float64, "concise": pl.Float64})
    return pl.DataFrame({"breakdown": pl.Series(breakdown, dtype=shape)})


def whole(frames: Iterator[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames)


def test_a_run_reads_back_as_it_was_begun(store: Store) -> None:
    first = finished(store)
    source = AnswerSource(name="answers.jsonl", digest="b2:00")
    run = begun(store, subject=None, seed=2**70, source=source, rescored_from=first)
    found = store.find_run(run)
    assert found.id == run
    assert re.fullmatch("[0-9a-f]{12}", run)
    assert (found.status, found.finished, found.counts) == (RunStatus.OPEN, None, None)
    assert found.started == START + timedelta(seconds=3)
    assert (found.subject, found.seed, found.source) == (None, 2**70, source)
    assert (found.rescored_from, found.tool_version) == (first, "0.1.0")
    assert found.axis_versions == {"contains_all": 1}
    assert (found.rubric.name, found.rubric.version, found.rubric.fingerprint) == (
        *("tutor", 3, "b2:tutor"),
    )
    assert (found.exam.name, found.exam.version) == ("capstone", None)


def test_a_finished_run_says_when_and_what_was_decided(store: Store) -> None:
    run = begun(store)
    decided: dict[str, Any] = {
        "summary": {"score": "1/3", "note": "comió \ud800 \0 ✓"},
        "measures": {"cost": None},
        "marks": {"items": {"i-0": [[["1", None], 2**80]]}},
    }
    store.finish_run(run, counts={"answers": 1}, **decided)
    found = store.find_run(run)
    assert (found.status, found.counts) == (RunStatus.FINISHED, {"answers": 1})
    assert found.finished == START + timedelta(seconds=2)
    (data,) = store.read_run_data([run])
    assert (data.measures, data.marks) == (decided["measures"], decided["marks"])
    assert list(store.read_summaries([run])) == [(run, decided["summary"])]


def test_what_is_not_a_number_cannot_be_kept(store: Store) -> None:
    run = begun(store)
    with pytest.raises(ValueError, match="Out of range float"):
        store.finish_run(run, counts={}, summary={"score": float("nan")}, measures={}, marks={})
    assert store.find_run(run).status is RunStatus.OPEN


def test_data_of_many_runs_comes_in_the_order_asked_without_the_open_ones(store: Store) -> None:
    runs = [begun(store) for _ in range(4)]
    for number, run in enumerate(runs[:3]):
        store.finish_run(run, **{**EMPTY, "marks": {"number": number}})
    asked = [runs[2], runs[3], runs[0], "feedfeedfeed"]
    assert [(data.run, data.marks["number"]) for data in store.read_run_data(asked)] == [
        (runs[2], 2),
        (runs[0], 0),
    ]
    assert list(store.read_run_data([])) == []


def test_answers_and_cells_read_back_in_the_order_they_were_added(store: Store) -> None:
    run = begun(store)
    many = [f"said {number}" for number in range(1000)]
    assert store.append_chunk(run, answers("ate", None), cells(1.0, None)).seq == 1
    assert store.append_chunk(run, answers(*many), cells(*[0.0] * 1000)).seq == 2
    assert store.append_chunk(run, answers("eaten \0 ✓"), cells(0.0)).seq == 3
    assert_frame_equal(
        whole(store.read_answers(run)),
        pl.concat([answers("ate", None), answers(*many), answers("eaten \0 ✓")]),
    )
    wanted = pl.concat([cells(1.0, None), cells(*[0.0] * 1000), cells(0.0)])
    assert_frame_equal(whole(store.read_cells(run)), wanted)
    assert [chunk.answers.height for chunk in store.list_chunks(run)] == [2, 1000, 1]


def test_single_answers_come_back_many_at_a_time(store: Store) -> None:
    run = begun(store)
    for number in range(30):
        store.append_chunk(run, answers(str(number)), cells(1.0))
    (frame,) = store.read_answers(run)
    assert frame["output"].to_list() == [str(number) for number in range(30)]


def test_frames_of_different_columns_are_not_forced_into_one(store: Store) -> None:
    run = begun(store)
    store.append_chunk(run, answers("a"), cells(1.0))
    store.append_chunk(run, answers("b").with_columns(cost=pl.lit(1)), cells(1.0))
    assert [frame.width for frame in store.read_answers(run)] == [3, 4]


def test_a_frame_cut_from_a_large_one_takes_only_its_own_room(store: Store) -> None:
    run = begun(store)
    large = answers(*[f"a text that is too long to be kept inline: {n}" for n in range(5000)])
    store.append_chunk(run, large.slice(1000, 1000), cells(*[1.0] * 1000))
    ((cut,),) = store._database.fetch_rows("SELECT MAX(LENGTH(body)) FROM blobs")
    store.append_chunk(run, large, cells(*[1.0] * 5000))
    ((whole_,),) = store._database.fetch_rows("SELECT MAX(LENGTH(body)) FROM blobs")
    assert cut < whole_ / 3


def test_a_run_without_answers_has_none(store: Store) -> None:
    run = finished(store)
    assert list(store.read_answers(run)) == []
    assert list(store.read_cells(run)) == []


def test_the_same_frame_is_kept_once(store: Store) -> None:
    first, second = begun(store), begun(store)
    for run in (first, second):
        store.append_chunk(run, answers("ate"), cells(1.0))
    assert store.list_chunks(first) == store.list_chunks(second)
    assert store._database.fetch_rows("SELECT COUNT(*) FROM blobs") == [(2,)]


def test_a_rescored_run_points_at_the_old_answers(store: Store) -> None:
    old = begun(store)
    store.append_chunk(old, answers("ate", "eaten"), cells(1.0, 1.0))
    new = begun(store, rescored_from=old)
    for chunk in store.list_chunks(old):
        store.append_chunk(new, chunk.answers, cells(1.0, 0.0))
    assert_frame_equal(whole(store.read_answers(new)), answers("ate", "eaten"))
    assert_frame_equal(whole(store.read_cells(new)), cells(1.0, 0.0))
    assert_frame_equal(whole(store.read_cells(old)), cells(1.0, 1.0))
    assert store._database.fetch_rows("SELECT COUNT(*) FROM blobs") == [(3,)]


def test_answers_and_cells_must_pair_up(store: Store) -> None:
    run = begun(store)
    with pytest.raises(ValueError, match="number of rows"):
        store.append_chunk(run, answers("ate"), cells(1.0, 0.0))
    with pytest.raises(ValueError, match="number of rows"):
        store.append_chunk(run, StoredFrame(digest="b2:00", height=2), cells(1.0))
    assert store.list_chunks(run) == []


def test_nothing_is_added_to_a_finished_or_unknown_run(store: Store) -> None:
    run = finished(store)
    with pytest.raises(UsageError, match=f"`{run}` is finished"):
        store.append_chunk(run, answers("late"), cells(1.0))
    with pytest.raises(UsageError, match=f"`{run}` is finished"):
        store.finish_run(run, **EMPTY)
    with pytest.raises(UsageError, match="there is no run `nowhere`"):
        store.append_chunk("nowhere", answers("late"), cells(1.0))


def test_a_document_is_kept_once_and_whole(store: Store) -> None:
    rubric = document(DocumentKind.RUBRIC, "tutor", body='{"axes": ["comió"]}')
    gates = document(DocumentKind.RUBRIC, "tutor", body='{"axes": ["comió"], "gates": []}')
    assert store.save_document(rubric) == store.save_document(rubric) == rubric.digest
    assert store.save_document(gates) != rubric.digest
    assert store.load_document(rubric.digest) == rubric
    with pytest.raises(UsageError, match="no document `b2:none`"):
        store.load_document("b2:none")


def test_text_that_a_database_would_change_is_refused(store: Store) -> None:
    for subject in ("a\0b", "half \ud800"):
        with pytest.raises(UsageError, match="NUL or half a surrogate pair"):
            begun(store, subject=subject)
    assert store.list_runs() == []
    assert store.find_run(begun(store, subject="comió 👩‍🏫")).subject == "comió 👩‍🏫"


def test_runs_are_listed_newest_first_and_filtered(store: Store) -> None:
    one = finished(store, rubric="a", exam="x", subject="gpt")
    two = begun(store, rubric="a", exam="y", subject="llama")
    three = finished(store, rubric="b", exam="x", subject=None)
    assert [run.id for run in store.list_runs()] == [three, two, one]
    assert [run.id for run in store.list_runs(limit=2)] == [three, two]
    assert [run.id for run in store.list_runs(rubric="a")] == [two, one]
    assert [run.id for run in store.list_runs(exam="x", limit=1)] == [three]
    assert [run.id for run in store.list_runs(rubric="a", subject="llama")] == [two]
    assert store.list_runs(subject="nobody") == []


def test_a_run_is_found_by_the_beginning_of_its_id_by_latest_and_by_tag(store: Store) -> None:
    runs = [begun(store) for _ in range(3)]
    store.tag_run(runs[0], "release-1.0")
    assert store.find_run(runs[1]).id == runs[1]
    assert store.find_run(runs[1][:8].upper()).id == runs[1]
    assert store.find_run("latest").id == store.find_run("latest~0").id == runs[2]
    assert store.find_run("latest~2").id == runs[0]
    assert store.find_run("release-1.0").id == runs[0]


def test_latest_does_not_pass_over_a_run_that_broke_off(store: Store) -> None:
    finished(store)
    broken = begun(store)
    assert store.find_run("latest").id == broken


def test_a_prefix_of_several_ids_lists_them(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = iter(["abcd00000001", "abcd00000002", "abcd00000002", "abcd00000003"])
    monkeypatch.setattr("markscheme.keep.store.generate_id", lambda: next(ids))
    assert [begun(store) for _ in range(3)][2] == "abcd00000003", "a taken id is not given twice"
    with pytest.raises(UsageError, match="`abcd` could be any of `abcd00000003`, `abcd00000002`"):
        store.find_run("abcd")
    assert store.find_run("abcd00000002").id == "abcd00000002"


def test_an_unknown_name_says_what_there_is(store: Store) -> None:
    with pytest.raises(UsageError, match="no run `latest`: the store holds 0 runs"):
        store.find_run("latest")
    with pytest.raises(UsageError, match="no run `nightly`: the store holds no run yet"):
        store.find_run("nightly")
    run = begun(store)
    store.tag_run(run, "nightly")
    with pytest.raises(UsageError, match="no run `nightyl`; there is `nightly`;"):
        store.find_run("nightyl")
    with pytest.raises(UsageError, match=f"`nightly`, `{run}`; name a run by an id"):
        store.find_run("%")
    with pytest.raises(UsageError, match="no run `latest~1`: the store holds one run"):
        store.find_run("latest~1")
    for name in ("", run[:3], "latest~", "latest~-1", "latest~9999999999"):
        with pytest.raises(UsageError, match="there is no run"):
            store.find_run(name)


def test_the_newest_tag_of_a_name_wins(store: Store) -> None:
    one, two = begun(store), begun(store)
    for run, name in ((one, "prod"), (one, "old"), (two, "prod")):
        store.tag_run(run, name)
    assert store.find_run("prod").id == two
    assert [(tag.name, tag.run) for tag in store.list_tags()] == [("prod", two), ("old", one)]


@pytest.mark.parametrize("name", ["latest", "Latest", "latest~2", "cafe", "0123456789ab", "BEEF"])
def test_a_tag_that_looks_like_another_name_is_refused(store: Store, name: str) -> None:
    with pytest.raises(UsageError, match=f"`{name}` would look like|cannot be a tag"):
        store.tag_run(begun(store), name)


@pytest.mark.parametrize("name", ["", "-x", "a b", "a/b", "ñ", "x" * 101, "result.json", "a\n"])
def test_a_tag_is_a_plain_word(store: Store, name: str) -> None:
    with pytest.raises(UsageError, match=r"cannot be a tag|a result file"):
        store.tag_run(begun(store), name)


def test_a_baseline_belongs_to_a_rubric_and_an_exam_and_its_history_stays(store: Store) -> None:
    one, two = finished(store), finished(store)
    other = finished(store, exam="regression")
    assert store.find_baseline("tutor", "capstone") is None
    first = store.set_baseline(one, by="ana", note="the first")
    store.set_baseline(other, by=None, note=None)
    second = store.set_baseline(two, by="ben", note=None)
    assert (first.rubric, first.exam, first.run) == ("tutor", "capstone", one)
    assert store.find_baseline("tutor", "capstone") == second
    assert [found.run for found in store.list_baselines()] == [two, other, one]
    assert [found.run for found in store.list_baselines(exam="capstone")] == [two, one]
    assert (store.list_baselines()[2].set_by, store.list_baselines()[2].note) == (
        "ana",
        "the first",
    )


def test_calibrations_are_kept_whole_and_the_newest_comes_first(store: Store) -> None:
    first = store.save_calibration(judge="strict", outcome="fail", body={"axes": {"a": 1.5}})
    second = store.save_calibration(judge="strict", outcome="pass", body={"axes": {}, "s": "ñ"})
    newest, oldest = store.list_calibrations()
    assert (newest.id, newest.outcome, newest.body) == (second, "pass", {"axes": {}, "s": "ñ"})
    assert (oldest.id, oldest.judge, oldest.body) == (first, "strict", {"axes": {"a": 1.5}})
    assert oldest.made < newest.made


def test_an_open_or_unknown_run_cannot_be_a_baseline(store: Store) -> None:
    for run in (begun(store), "feedfeedfeed"):
        with pytest.raises(UsageError, match="not finished"):
            store.set_baseline(run, by=None, note=None)
    assert store.list_baselines() == []


def test_every_outcome_of_the_gates_stays_on_record(store: Store) -> None:
    base, run = finished(store), finished(store)
    store.save_outcomes(run, baseline=None, outcomes={"hard": "fail"})
    store.save_outcomes(run, baseline=base, outcomes={"hard": "pass"})
    found = store.list_outcomes(run)
    assert [one.outcomes for one in found] == [{"hard": "pass"}, {"hard": "fail"}]
    assert [one.baseline for one in found] == [base, None]
    assert found[0].decided > found[1].decided
    assert store.list_outcomes(base) == []


def test_another_opening_sees_everything(store: Store, place: str) -> None:
    run = begun(store)
    store.append_chunk(run, answers("ate"), cells(1.0))
    with open_store(place, create=False) as again:
        assert again.find_run("latest").id == run
        assert_frame_equal(whole(again.read_answers(run)), answers("ate"))


def test_a_store_that_is_not_there_is_only_made_when_asked(place: str) -> None:
    with pytest.raises(UsageError, match="there is no store at"):
        open_store(place, create=False)
    open_store(place, create=True).close()
    with open_store(place, create=False) as store:
        assert store.list_runs() == []


def test_an_older_store_is_brought_up_to_date(
    store: Store, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begun(store)
    added = ("CREATE TABLE ratings (number {serial}, run TEXT NOT NULL REFERENCES runs (id))",)
    monkeypatch.setattr("markscheme.keep.schema.MIGRATIONS", (*schema.MIGRATIONS, added))
    monkeypatch.setattr("markscheme.keep.open.MIGRATIONS", schema.MIGRATIONS)
    with open_store(place, create=False) as again:
        assert "ratings" in again._database.list_tables()
        assert again.find_run("latest").id == run
        versions = again._database.fetch_rows(
            "SELECT version FROM schema_versions ORDER BY version"
        )
    assert versions == [(number,) for number in range(1, len(schema.MIGRATIONS) + 1)]


def test_a_migration_that_breaks_off_leaves_nothing_behind(
    store: Store, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begun(store)
    broken = ("CREATE TABLE ratings (number {serial})", "CREATE TABLE runs (id TEXT)")
    with monkeypatch.context() as patched:
        patched.setattr("markscheme.keep.schema.MIGRATIONS", (*schema.MIGRATIONS, broken))
        patched.setattr("markscheme.keep.open.MIGRATIONS", schema.MIGRATIONS)
        with pytest.raises(Exception, match="already exists"):
            open_store(place, create=True)
    with open_store(place, create=False) as again:
        assert "ratings" not in again._database.list_tables()
        assert again.find_run("latest").id == run


def test_a_newer_store_is_refused_with_instructions(store: Store, place: str) -> None:
    store._database.execute_change(
        "INSERT INTO schema_versions (version, applied) VALUES (99, 'then')"
    )
    for create in (True, False):
        with pytest.raises(StoreInvalidError, match=r"newer markscheme .*99.*upgrade markscheme"):
            open_store(place, create=create)


def test_a_store_without_its_tables_is_damaged(store: Store, place: str) -> None:
    store._database.execute_change("DROP TABLE gate_outcomes")
    with pytest.raises(StoreInvalidError, match="is damaged"):
        store.list_outcomes("feedfeedfeed")
    store._database.execute_change("DROP TABLE schema_versions")
    with pytest.raises(StoreInvalidError, match="holds tables that are not markscheme's"):
        open_store(place, create=True)


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("blobs", "body", b"something else"),
        ("run_data", "body", '{"score": "1"}'),
        ("documents", "body", '{"weights": "others"}'),
    ],
)
def test_what_was_changed_behind_our_back_is_noticed(
    store: Store, table: str, column: str, value: Any
) -> None:
    run = begun(store)
    store.append_chunk(run, answers("ate"), cells(1.0))
    store.finish_run(run, counts={}, summary={"score": "0"}, measures={}, marks={})
    digest = store.find_run(run).rubric.digest
    store._database.execute_change(f"UPDATE {table} SET {column} = ?", [value])  # noqa: S608 - see above
    with pytest.raises(StoreInvalidError, match="is damaged"):
        [*store.read_answers(run), *store.read_run_data([run]), store.load_document(digest)]


def test_a_chunk_that_is_gone_is_noticed(store: Store) -> None:
    run = begun(store)
    for text in ("a", "b", "c"):
        store.append_chunk(run, answers(text), cells(1.0))
    store._database.execute_change("DELETE FROM chunks WHERE seq = 2")
    with pytest.raises(StoreInvalidError, match="the cells of the run"):
        list(store.read_cells(run))


_EVENTS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.one_of(
            st.lists(st.one_of(st.none(), st.text(max_size=5)), max_size=4),
            st.just("finish"),
        ),
    ),
    max_size=12,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=_EVENTS)
def test_any_interleaving_of_appends_and_finishes_reads_back(
    store: Store, events: list[tuple[int, Any]]
) -> None:
    subject = uuid4().hex
    runs = [begun(store, subject=subject) for _ in range(3)]
    said: list[list[str | None]] = [[], [], []]
    done: dict[int, int] = {}
    for number, (which, event) in enumerate(events):
        if which in done:
            with pytest.raises(UsageError, match="is finished"):
                store.append_chunk(runs[which], answers("late"), cells(1.0))
        elif event == "finish":
            store.finish_run(runs[which], **{**EMPTY, "marks": {"number": number}})
            done[which] = number
        else:
            store.append_chunk(runs[which], answers(*event), cells(*[1.0] * len(event)))
            said[which] += event
    for run, texts in zip(runs, said, strict=True):
        found = [text for frame in store.read_answers(run) for text in frame["output"].to_list()]
        assert found == texts
        assert sum(frame.height for frame in store.read_cells(run)) == len(texts)
    assert {
        runs.index(data.run): data.marks["number"] for data in store.read_run_data(runs)
    } == done
    listed = store.list_runs(subject=subject)
    assert [run.id for run in listed] == runs[::-1]
    assert {runs.index(run.id) for run in listed if run.status is RunStatus.FINISHED} == set(done)
