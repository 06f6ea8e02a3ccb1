"""The store when things go wrong: several writers, kills, full disks, damage, locks, servers."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands import nobody
from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.keep import Document, DocumentKind, NewRun, Store, open_store
from markscheme.vocabulary import (
    MarkschemeError,
    StoreError,
    StoreInvalidError,
    StoreUnavailableError,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

KILL = Path(__file__).parent.parent / "scripts" / "kill_store.py"

WRITER = """
import sys, polars as pl
from markscheme.keep import *
place, subject, appends, shared = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
print("ready", flush=True)
sys.stdin.readline()
with open_store(place, create=True) as store:
    rubric, exam = (
        store.save_document(Document(kind=kind, name="r", version=1, fingerprint="f", body=""))
        for kind in DocumentKind
    )
    new = NewRun(subject=subject, rubric=rubric, exam=exam, axis_versions={}, tool_version="0")
    run = shared[0] if shared else store.begin_run(new)
    for number in range(appends):
        text = f"{subject} {number}"
        answers, cells = pl.DataFrame({"output": [text, "same"]}), pl.DataFrame({"x": [1, 1]})
        store.append_chunk(run, answers, cells)
    if not shared:
        store.finish_run(run, counts={}, summary={}, measures={}, marks={})
"""


def new_run(store: Store) -> NewRun:
    rubric, exam = (
        store.save_document(Document(kind=kind, name="r", version=1, fingerprint="f", body=""))
        for kind in DocumentKind
    )
    return NewRun(subject=None, rubric=rubric, exam=exam, axis_versions={}, tool_version="0")


def append(store: Store, run: str, text: str) -> None:
    store.append_chunk(run, pl.DataFrame({"output": [text]}), pl.DataFrame({"x": [1]}))


def outputs(store: Store, run: str) -> list[str]:
    return [text for frame in store.read_answers(run) for text in frame["output"].to_list()]


def at_once(place: str, *arguments: str, writers: int = 3) -> None:
    """Let so many processes write at the same moment."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, place, f"writer-{number}", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(writers)
    ]
    for process in started:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    for process in started:
        process.communicate()
    assert [process.returncode for process in started] == [0] * writers


def test_processes_that_make_the_store_at_once_all_succeed_and_lose_nothing(place: str) -> None:
    at_once(place, "20")
    with open_store(place, create=False) as store:
        assert len(store.list_runs()) == 3
        for run in store.list_runs():
            said = outputs(store, run.id)
            assert said[::2] == [f"{run.subject} {number}" for number in range(20)]
        assert len(list(store.read_run_data(run.id for run in store.list_runs()))) == 3


def test_processes_that_write_one_run_at_once_lose_nothing(place: str) -> None:
    with open_store(place, create=True) as store:
        run = store.begin_run(new_run(store))
        at_once(place, "20", run)
        said = outputs(store, run)[::2]
        assert sorted(said) == sorted(
            f"writer-{writer} {number}" for writer in range(3) for number in range(20)
        )
        for writer in range(3):
            own = [text for text in said if text.startswith(f"writer-{writer}")]
            assert own == [f"writer-{writer} {number}" for number in range(20)]
        assert [chunk.seq for chunk in store.list_chunks(run)] == list(range(1, 61))


def test_ten_kills_lose_nothing_and_keep_nothing_twice(
    place: str, request: pytest.FixtureRequest
) -> None:
    server = ["--postgres", request.getfixturevalue("postgres_server")] if "://" in place else []
    command = [sys.executable, KILL, "--kills", "10", *server]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10 kills" in done.stdout
    assert "0 lost" in done.stdout


def test_an_interrupted_append_leaves_the_run_as_it_was(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(place, create=True) as store:
        run = store.begin_run(new_run(store))
        append(store, run, "one")
        with monkeypatch.context() as patched:
            patched.setattr(store._database, "transaction", _interrupted(store))
            with pytest.raises(KeyboardInterrupt):
                append(store, run, "two")
        append(store, run, "three")
        assert outputs(store, run) == ["one", "three"]


def _interrupted(store: Store) -> Any:
    whole = store._database.transaction

    @contextmanager
    def transaction() -> Iterator[None]:
        with whole():
            yield
            raise KeyboardInterrupt

    return transaction


def test_a_full_disk_is_told_and_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db", create=True) as store:
        run = store.begin_run(new_run(store))
        append(store, run, "small")
        ((pages,),) = store._database.fetch_rows("PRAGMA page_count")
        store._database.fetch_rows(f"PRAGMA max_page_count = {pages + 4}")
        with pytest.raises(StoreUnavailableError, match="the disk is full; what was stored"):
            append(store, run, os.urandom(100_000).hex())
        assert outputs(store, run) == ["small"]
    with open_store(tmp_path / "store.db", create=True) as store:
        append(store, run, "after room was made")
        assert outputs(store, run) == ["small", "after room was made"]


def test_a_file_that_may_not_grow_is_told_by_the_system_itself(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db", create=True) as store:
        run = store.begin_run(new_run(store))
        append(store, run, "small")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
    big = WRITER.replace('"same"', "__import__('os').urandom(300_000).hex()")
    command = [sys.executable, "-c", limit + big, str(tmp_path / "store.db"), "x", "1"]
    done = subprocess.run(command, input="\n", capture_output=True, text=True, check=False)
    assert "StoreUnavailableError" in done.stderr
    assert "what was stored before is kept" in done.stderr
    with open_store(tmp_path / "store.db", create=False) as store:
        assert outputs(store, run) == ["small"]


@pytest.mark.parametrize(
    ("state", "error", "told"),
    [
        ("53100", StoreUnavailableError, "disk is full"),
        ("42501", StoreUnavailableError, "may not be used like this"),
        ("25006", StoreUnavailableError, "may not be used like this"),
        ("57P01", StoreUnavailableError, "cannot be reached"),
        ("XX001", StoreInvalidError, "is damaged"),
    ],
)
def test_what_the_server_raises_is_told(
    postgres_url: str, state: str, error: type[StoreError], told: str
) -> None:
    raised = f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{state}'; END $$"
    with open_store(postgres_url, create=True) as store, pytest.raises(error, match=told):
        store._database.execute_change(raised)


def test_a_locked_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(path, create=True, patience=0.05) as store:
        run = store.begin_run(new_run(store))
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailableError, match="locked by another process"):
                append(store, run, "one")
        append(store, run, "two")
        assert outputs(store, run) == ["two"]


def test_a_locked_table_on_the_server_is_told(postgres_url: str) -> None:
    with (
        open_store(postgres_url, create=True, patience=0.05) as store,
        open_store(postgres_url, create=True) as other,
    ):
        run = store.begin_run(new_run(store))
        with other._database.transaction():
            other._database.execute_change("LOCK TABLE chunks IN EXCLUSIVE MODE")
            with pytest.raises(StoreUnavailableError, match="locked by another process"):
                append(store, run, "one")
        append(store, run, "two")
        assert outputs(store, run) == ["two"]


def test_a_file_that_is_no_database_is_told_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to be one\n" * 50)
    for create in (True, False):
        with pytest.raises(StoreInvalidError, match=r"notes\.txt` is not a database of markscheme"):
            open_store(path, create=create)
    assert path.read_text().startswith("not a database")


def test_a_database_of_something_else_is_told_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE customers (name TEXT)")
    with pytest.raises(StoreInvalidError, match="tables that are not markscheme's"):
        open_store(path, create=True)
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("customers",)]


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()  # what a kill in the first moment leaves
    with open_store(path, create=True) as store:
        assert store.list_runs() == []


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.9])
def test_a_file_cut_short_is_told(tmp_path: Path, keep: float) -> None:
    path = tmp_path / "store.db"
    with open_store(path, create=True) as store:
        run = store.begin_run(new_run(store))
        for number in range(20):
            append(store, run, os.urandom(3_000).hex() + str(number))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * keep)])
    with (
        pytest.raises(StoreInvalidError, match=r"is damaged|not a database"),
        open_store(path, create=False) as store,
    ):
        outputs(store, store.find_run("latest").id)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a small store that has a record of each kind."""
    path = tmp_path_factory.mktemp("sound") / "store.db"
    with open_store(path, create=True) as store:
        run = store.begin_run(new_run(store))
        append(store, run, "comió")
        store.finish_run(run, counts={"n": 1}, summary={"s": 1}, measures={}, marks={"m": "1/3"})
        store.tag_run(run, "mine")
        store.set_baseline(run, by="ana", note="ñ")
        store.save_outcomes(run, baseline=run, outcomes={"hard": "pass"})
    return path.read_bytes()


def everything(path: Path) -> list[object]:
    with open_store(path, create=False) as store:
        run = store.find_run("mine").id
        found: list[object] = [store.list_outcomes(run), outputs(store, run), store.list_tags()]
        found += [store.list_baselines(), *store.read_run_data([run]), *store.read_summaries([run])]
        return [*found, *(store.load_document(run.rubric.digest) for run in store.list_runs())]


@settings(max_examples=150)
@given(
    places=st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=20),
    byte=st.integers(0, 255),
)
def test_damage_anywhere_in_the_file_is_told_or_harmless(
    sound: bytes, places: list[float], byte: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        damaged = bytearray(sound)
        for place in places:
            damaged[int(place * len(sound))] = byte
        path.write_bytes(damaged)
        with suppress(MarkschemeError):
            assert everything(path)


def test_a_folder_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with nobody() as folder:
        monkeypatch.delenv("MARKSCHEME_STORE", raising=False)
        monkeypatch.chdir(folder)
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
        with pytest.raises(StoreUnavailableError, match=r"cannot make the folder .*--store"):
            open_store(create=True)
        with pytest.raises(StoreUnavailableError, match="check that it and its folder"):
            open_store(folder / "store.db", create=True)
        monkeypatch.undo()


@pytest.mark.parametrize("writer_is_there", [False, True])
def test_a_store_in_a_folder_that_cannot_be_written_can_be_read(*, writer_is_there: bool) -> None:
    with nobody() as folder:
        path = folder / "store.db"
        writer = open_store(path, create=True)
        run = writer.begin_run(new_run(writer))
        append(writer, run, "one")
        if not writer_is_there:
            writer.close()
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
        with open_store(path, create=False) as store:
            assert outputs(store, run) == ["one"]
            with pytest.raises(StoreUnavailableError, match="cannot be opened or written"):
                append(store, run, "two")
        folder.chmod(stat.S_IRWXU)
        writer.close()


def test_a_server_that_is_away_is_told_without_the_password() -> None:
    with pytest.raises(StoreUnavailableError, match="cannot be reached") as told:
        open_store("postgresql://ana:s3cret@127.0.0.1:9/marks", create=True)
    assert "postgresql://ana@127.0.0.1:9/marks" in str(told.value)
    assert "s3cret" not in str(told.value)


def test_a_refused_password_is_told_without_it(postgres_url: str) -> None:
    wrong = postgres_url.replace(":p%40ss", ":wr0ng")
    with pytest.raises(StoreUnavailableError, match="password authentication failed") as told:
        open_store(wrong, create=True)
    assert "wr0ng" not in str(told.value)


def test_a_store_that_is_open_never_shows_its_password(postgres_url: str) -> None:
    with open_store(postgres_url, create=True) as store:
        assert "marks@127.0.0.1" in store.place
        assert "ss" not in store.place.partition("://")[2]


def test_a_server_that_goes_away_in_the_middle_is_told(postgres_url: str) -> None:
    with open_store(postgres_url, create=True) as store:
        run = store.begin_run(new_run(store))
        append(store, run, "one")
        with open_store(postgres_url, create=True) as other:
            ((backend,),) = store._database.fetch_rows("SELECT pg_backend_pid()")
            other._database.fetch_rows("SELECT pg_terminate_backend(?)", [backend])
        with pytest.raises(StoreUnavailableError, match="cannot be reached"):
            append(store, run, "two")
    with open_store(postgres_url, create=False) as store:
        assert outputs(store, run) == ["one"]


def test_a_server_that_is_told_to_answer_before_it_has_synced_is_overruled(
    postgres_url: str,
) -> None:
    with open_store(f"{postgres_url}?options=-csynchronous_commit%3Doff", create=True) as store:
        assert store._database.fetch_rows("SHOW synchronous_commit") == [("on",)]


def test_each_commit_to_a_file_is_synced_and_readers_do_not_wait(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db", create=True) as store:
        assert store._database.fetch_rows("PRAGMA journal_mode") == [("wal",)]
        assert store._database.fetch_rows("PRAGMA synchronous") == [(2,)]
        with (
            store._database.transaction(),
            open_store(tmp_path / "store.db", create=False, patience=0.05) as reader,
        ):
            assert reader.list_runs() == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StoreUnavailableError("it is away"), ExitCode.USAGE),
        (StoreInvalidError("it is damaged"), ExitCode.INVALID),
    ],
)
def test_an_error_of_the_store_has_a_message_and_an_exit_code(
    error: StoreError, code: ExitCode, capsys: pytest.CaptureFixture[str]
) -> None:
    @handle_errors
    def command() -> ExitCode:
        raise error

    assert command() is code
    assert str(error) in capsys.readouterr().err


@pytest.mark.parametrize("replaced", [False, True])
def test_a_store_that_was_removed_while_it_is_used_takes_nothing_more(
    tmp_path: Path, *, replaced: bool
) -> None:
    path = tmp_path / "store.db"
    with open_store(path, create=True) as store:
        run = store.begin_run(new_run(store))
        for part in tmp_path.glob("store.db*"):
            part.unlink()
        if replaced:
            open_store(path, create=True).close()
        with pytest.raises(StoreUnavailableError, match="was removed while it was in use"):
            append(store, run, "lost")


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_in_another_encoding_keeps_every_character_or_is_refused(
    postgres_url: str, encoding: str
) -> None:
    psycopg = pytest.importorskip("psycopg")
    name = f"test_{encoding.lower()}_{os.getpid()}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
        )
    place = postgres_url.rpartition("/")[0] + f"/{name}"
    if encoding == "LATIN1":
        with pytest.raises(UsageError, match="a database in LATIN1, which lacks characters"):
            open_store(place, create=True)
        return
    with open_store(place, create=True) as store:  # it keeps whatever bytes it is given
        run = store.begin_run(new_run(store))
        append(store, run, "Łódź")
    with open_store(place, create=False) as store:
        (frame,) = store.read_answers(run)
        assert frame["output"].to_list() == ["Łódź"]
