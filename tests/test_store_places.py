"""Where the store is found and made, and what is said of a place that cannot be one."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from markscheme.keep import DEFAULT_STORE_PATH, STORE_VARIABLE, open_store
from markscheme.vocabulary import StoreUnavailableError, UsageError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a project two folders below a home of our own."""
    (tmp_path / "home" / "project" / "exams").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv(STORE_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path / "home" / "project" / "exams")
    return tmp_path / "home"


def opened(where: str | Path | None = None, *, create: bool = True) -> Path:
    with open_store(where, create=create) as store:
        return Path(store.place)


def test_the_first_run_makes_the_store_in_the_working_folder_and_git_ignores_it() -> None:
    with pytest.raises(
        UsageError, match=r"no store at `\.markscheme/markscheme\.db` yet; `markscheme"
    ):
        opened(create=False)
    assert not Path(".markscheme").exists()
    assert opened() == Path(DEFAULT_STORE_PATH)
    assert Path(DEFAULT_STORE_PATH).is_file()
    assert Path(".markscheme/.gitignore").read_text() == "*\n"
    assert opened(create=False) == Path(DEFAULT_STORE_PATH)


def test_the_store_is_found_upwards(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "project")
    opened()
    monkeypatch.chdir(home / "project" / "exams")
    assert opened() == home / "project" / DEFAULT_STORE_PATH
    assert not Path(".markscheme").exists()


def test_the_nearest_store_is_taken(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened()
    monkeypatch.chdir(home)
    opened()
    monkeypatch.chdir(home / "project" / "exams")
    assert opened(create=False) == Path(DEFAULT_STORE_PATH)
    monkeypatch.chdir(home / "project")
    assert opened(create=False) == home / DEFAULT_STORE_PATH


def test_the_search_ends_at_the_home_folder(home: Path) -> None:
    (home.parent / ".markscheme").mkdir()
    assert opened() == Path(DEFAULT_STORE_PATH)


def test_outside_the_home_folder_the_search_goes_to_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    (tmp_path / ".markscheme").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere" / "deep")
    assert opened() == tmp_path / DEFAULT_STORE_PATH


def test_the_search_ends_at_the_root_of_a_repository(home: Path) -> None:
    (home / ".markscheme").mkdir()
    (home / "project" / ".git").mkdir()
    assert opened() == Path(DEFAULT_STORE_PATH)


def test_the_store_of_a_repository_is_found_from_its_folders(home: Path) -> None:
    (home / "project" / ".git").write_text("gitdir: elsewhere")
    (home / "project" / ".markscheme").mkdir()
    assert opened() == home / "project" / DEFAULT_STORE_PATH


def mode_of(path: str | Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)  # noqa: PTH116


unix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")


@unix_only
def test_a_new_store_is_for_its_user_alone(tmp_path: Path) -> None:
    with open_store(create=True) as store:
        assert store._database.try_lock_id("s1")
        assert mode_of(".markscheme") == 0o700
        files = [path for path in Path(".markscheme").iterdir() if path.name != ".gitignore"]
        assert len(files) == 4  # the file, its log, the shared memory and the lock
        assert {mode_of(path) for path in files} == {0o600}
    assert mode_of(opened(tmp_path / "named.db")) == 0o600


@unix_only
def test_a_store_that_a_group_shares_keeps_its_mode_if_it_is_named(home: Path) -> None:
    opened()
    Path(".markscheme").chmod(0o770)
    Path(DEFAULT_STORE_PATH).chmod(0o660)
    assert opened(DEFAULT_STORE_PATH) == Path(DEFAULT_STORE_PATH)
    assert (mode_of(".markscheme"), mode_of(DEFAULT_STORE_PATH)) == (0o770, 0o660)
    del home


@unix_only
@pytest.mark.parametrize("name", [".markscheme", DEFAULT_STORE_PATH])
@pytest.mark.parametrize("mode", [0o720, 0o702])
def test_a_store_that_others_can_write_is_refused_unless_it_is_named(
    name: str, mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened()
    Path(name).chmod(mode)
    why = r"other users can write to .*name it with --store .*markscheme\.db or MARKSCHEME_STORE"
    for create in (True, False):
        with pytest.raises(UsageError, match=why):
            opened(create=create)
    assert opened(DEFAULT_STORE_PATH) == Path(DEFAULT_STORE_PATH)
    monkeypatch.setenv(STORE_VARIABLE, DEFAULT_STORE_PATH)
    assert opened() == Path(DEFAULT_STORE_PATH)


@unix_only
def test_a_store_of_another_user_is_refused_unless_it_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    opened()
    monkeypatch.chdir(home / "project" / "exams")
    somebody = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: somebody)
    with pytest.raises(UsageError, match="belongs to another user; if you trust it, name it"):
        opened()
    assert not Path(".markscheme").exists()
    assert opened(home / DEFAULT_STORE_PATH) == home / DEFAULT_STORE_PATH


def test_a_file_named_like_the_folder_is_told() -> None:
    Path(".markscheme").write_text("")
    with pytest.raises(StoreUnavailableError, match="cannot make the folder of the store"):
        opened()


def test_the_environment_names_the_store_and_the_call_overrules_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STORE_VARIABLE, str(tmp_path / "one.db"))
    assert opened() == tmp_path / "one.db"
    assert opened(tmp_path / "two.db") == tmp_path / "two.db"
    monkeypatch.setenv(STORE_VARIABLE, "")
    assert opened() == Path(DEFAULT_STORE_PATH)


def test_odd_characters_in_a_path_are_just_characters(tmp_path: Path) -> None:
    path = tmp_path / "a b?mode=memory#%41é.db"
    assert opened(path) == path
    assert path.is_file()
    assert not (tmp_path / ".gitignore").exists()


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError, match="check that it and its folder"):
        opened(tmp_path / "nowhere" / "store.db")


@pytest.mark.parametrize("where", ["", "mysql://ana:s3cret@host/x", "sqlite:///x.db", "http://h"])
def test_what_cannot_be_a_store_is_told(where: str) -> None:
    with pytest.raises(UsageError, match="a store is the path of a file, or postgresql://") as told:
        opened(where)
    assert "s3cret" not in str(told.value)


def test_a_folder_is_not_a_store(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder; name a file in it"):
        opened(tmp_path)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ana:s3/cret@host/marks",
        "postgresql://ana:s3@cret@host/marks",
        "postgresql://ana:s3cret@host:cret/marks",
        "postgresql://ana:s3cret@host/marks?cret=1",
        "postgresql://ana:s3%cret@host/marks",
    ],
)
def test_a_url_that_was_not_encoded_is_told_without_any_part_of_it(url: str) -> None:
    with pytest.raises(UsageError, match="not of the form postgresql://USER:PASSWORD") as told:
        opened(url)
    assert "cret" not in str(told.value)
    assert "s3" not in str(told.value)


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreUnavailableError, match=r"pip install 'markscheme\[postgres\]'"):
        opened("postgres://ana@host/marks")


def test_opening_a_store_imports_neither_polars_nor_a_server_driver() -> None:
    script = (
        "import sys; from markscheme.keep import open_store\n"
        "with open_store(create=True) as store: store.list_runs()\n"
        "print(sorted({'polars', 'psycopg', 'orjson', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
