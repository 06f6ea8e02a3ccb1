"""A log that a comparison cannot use is a bad row with its reason; the rest is compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import here
from comparisons import GOOD, HEADER, ITEMS, Files, rows
from made_up import PACKAGE, RECALL, Session


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def write_log(path: Path) -> None:
    """Write a session of Claude Code."""
    path.parent.mkdir(parents=True, exist_ok=True)
    name = "-".join(path.parts[-2:])
    text = Session("Ask.", session=name).calls(RECALL).say(PACKAGE).text()
    path.write_text(text, encoding="utf-8")


def write_logs(files: Files) -> Path:
    for item in ITEMS:
        for variant in ("big", "small"):
            write_log(files.folder / "logs" / variant / f"{item}.jsonl")
    return files.folder / "logs"


STRAYS = {
    "big/TQ-99.jsonl": "no item",
    "other/TQ-1.jsonl": "the variant `other` is not compared; compared are `big`, `small`",
}


def test_stray_logs_are_bad_rows_and_the_decision_stands(files: Files) -> None:
    logs = write_logs(files)
    ratings = files.ratings(rows([GOOD] * 5, [GOOD] * 5))
    before = here(*files.words(ratings, "--logs", logs, "--format", "json"))
    assert before.json["bad_rows"] == []
    for name in STRAYS:
        write_log(logs / name)
    (logs / "notes.jsonl").write_text('{"shopping": ["milk"]}\n')
    (logs / "torn.jsonl").write_bytes(b"\xff\xfe\x00{")
    done = here(*files.words(ratings, "--logs", logs, "--format", "json"))
    assert done.code == before.code == 0
    assert done.json["decision"] == before.json["decision"]
    assert done.json["structural"] == before.json["structural"]
    reasons = {row["file"]: row["reason"] for row in done.json["bad_rows"]}
    assert set(reasons) == {*STRAYS, "notes.jsonl", "torn.jsonl"}
    for name, reason in STRAYS.items():
        assert reason in reasons[name]
    assert all(reasons.values())


def test_every_page_lists_them(files: Files) -> None:
    logs = write_logs(files)
    write_log(logs / "<b>" / "TQ-1.jsonl")
    ratings = files.ratings(rows([GOOD] * 5, [GOOD] * 5))
    markdown, html = files.folder / "c.md", files.folder / "c.html"
    done = here(*files.words(ratings, "--logs", logs, "--markdown", markdown, "--html", html))
    assert done.code == 0
    assert "Logs that were not used\n  <b>/TQ-1.jsonl: the variant `<b>` is not" in done.out
    assert "Logs that were not used" in markdown.read_text()
    page = html.read_text()
    assert "&lt;b&gt;/TQ-1.jsonl" in page
    assert "<b>/TQ" not in page


def test_an_answer_without_a_usable_log_passes_no_check(files: Files) -> None:
    logs = write_logs(files)
    write_log(logs / "small" / "TQ-3-again.jsonl")
    ratings = files.ratings(rows([GOOD] * 5, [GOOD] * 5))
    done = here(*files.words(ratings, "--logs", logs, "--format", "json"))
    assert len(done.json["bad_rows"]) == 2
    check = done.json["structural"]["S-06"]
    assert check["baseline"]["judged"] == 5
    assert (check["candidate"]["judged"], check["candidate"]["abstained"]) == (4, 1)
    assert check["items"]["TQ-3"]["candidate"] is None
    reasons = [row["reason"] for row in check["reasons"] if row["item"] == "TQ-3"]
    assert "there is no session log of this answer that could be used" in reasons


def test_logs_that_say_nothing_about_a_variant_are_refused_with_every_reason(files: Files) -> None:
    for item in ITEMS:
        write_log(files.folder / "logs" / "big" / f"{item}.jsonl")
        write_log(files.folder / "logs" / "smal" / f"{item}.jsonl")
    ratings = files.ratings(rows([GOOD] * 5, [GOOD] * 5))
    done = here(*files.words(ratings, "--logs", files.folder / "logs"))
    assert done.code == 3
    assert "no log is of `small`" in done.err
    assert "smal/TQ-5.jsonl" in done.err


def test_a_log_of_another_compared_variant_is_not_stray(files: Files) -> None:
    logs = write_logs(files)
    for item in ITEMS:
        write_log(logs / "tiny" / f"{item}.jsonl")
    write_log(logs / "other" / "TQ-1.jsonl")
    lines = rows([GOOD] * 5, [GOOD] * 5)
    lines += [line.replace(",small,", ",tiny,") for line in lines if ",small," in line]
    ratings = files.write("three.csv", "\n".join((HEADER, *lines)) + "\n")
    done = here(*files.words(ratings, "-c", "tiny", "--logs", logs, "--format", "json"))
    for pair in done.json["pairs"]:
        assert [row["file"] for row in pair["bad_rows"]] == ["other/TQ-1.jsonl"]
    assert "other/TQ-1.jsonl" in here(*files.words(ratings, "-c", "tiny", "--logs", logs)).out


def test_checks_that_could_not_judge_a_doubtful_log_say_why(files: Files) -> None:
    logs = write_logs(files)
    log = logs / "small" / f"{next(iter(ITEMS))}.jsonl"
    log.write_text(log.read_text() + '{"type": "from-the-future"}\n')
    words = files.words(files.ratings(rows([GOOD] * 5, [GOOD] * 5)), "--logs", logs)
    told = (
        "S-04, S-05, S-06: the log is incomplete, so more may have been done than it shows: "
        "1 record of the unknown kind `from-the-future`"
    )
    assert told in " ".join(here(*words).out.split())
    checks = here(*words, "--format", "json").json["structural"]
    assert told.partition(": ")[2] in str(checks)
