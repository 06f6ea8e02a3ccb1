"""Answers and test cases of other tools, in small files of their shapes (tests/other_tools)."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commands import here
from markscheme import load_exam, load_rubric, mark, score
from markscheme.vocabulary import AnswersError, UsageError

if TYPE_CHECKING:
    from commands import Done

FILES = Path(__file__).parent / "other_tools"
RUBRIC = "rubric: r\naxes: [{name: right, kind: equals, weight: 1}]\n"
EXAM = """\
exam: past
items:
  - {id: eat-in-the-past, prompt: Conjugate eat, expected: ate}
  - {id: go, prompt: Conjugate go, expected: went}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rubric.yaml").write_text(RUBRIC)
    (tmp_path / "exam.yaml").write_text(EXAM)
    return tmp_path


def score_file(folder: Path, answers: Path | str, *more: str) -> Done:
    documents = ("-r", str(folder / "rubric.yaml"), "-e", str(folder / "exam.yaml"))
    return here("score", *documents, "-a", str(answers), "--no-store", "--format", "json", *more)


def rows_of(done: Done) -> list[tuple[Any, ...]]:
    """Return what each answer is: subject, item, attempt, what was got, and its score."""
    keys = ("subject", "item", "attempt", "got", "score")
    items = done.json["items"]
    return [tuple(row[key] for key in keys) for row in items if row["status"] != "missing"]


ATE, EATED = ("eat-in-the-past", 1, "ate", 1.0), ("eat-in-the-past", 2, "eated", 0.0)


@pytest.mark.parametrize(
    ("name", "rows", "errors"),
    [
        (
            "promptfoo.json",
            [
                ("echo prompt-1", *ATE),
                ("echo short", "eat-in-the-past", 1, "eated", 0.0),
                ("echo prompt-1", "go", 1, "went", 1.0),
            ],
            ["`go`: promptfoo recorded an error: timeout"],
        ),
        (
            "lm-eval.jsonl",
            [
                (None, *ATE),
                (None, *EATED),
                (None, "go", 1, "went", 1.0),
                (None, "go", 2, "went", 1.0),
            ],
            [],
        ),
        (
            "lm-eval-likelihoods.jsonl",
            [],
            ["`eat-in-the-past`: lm-eval recorded likelihoods, no generated text"],
        ),
        (
            "deepeval.json",
            [(None, *ATE), (None, "go", 1, "went", 1.0)],
            ["no item of the exam fits: neither `third` nor its prompt names one"],
        ),
        (
            "pydantic-evals.json",
            [(None, *ATE), (None, "eat-in-the-past", 2, '{"verb": "ate"}', 0.0)],
            ["`go`: the task failed: ValueError: no idea"],
        ),
        (
            "openai-batch.jsonl",
            [("gpt-x", *ATE), ("gpt-x", *EATED), ("gpt-x", "go", 1, "went", 1.0)],
            [
                "`go`: the request failed with status 429: rate limit",
                "`go`: failed: The batch expired.",
            ],
        ),
        (
            "inspect.json",
            [("mock/model", *ATE), ("mock/model", "go", 1, "went", 1.0), ("mock/model", *EATED)],
            ["`go`: the sample failed: connection lost"],
        ),
    ],
)
def test_the_answers_of_another_tool_are_scored(
    folder: Path, name: str, rows: list[Any], errors: list[str]
) -> None:
    done = score_file(folder, FILES / name)
    assert rows_of(done) == rows
    reasons = [error["reason"] for error in done.json["errors"]]
    assert [reason[: len(error)] for reason, error in zip(reasons, errors, strict=True)] == errors
    if name == "promptfoo.json":
        assert rows_of(score_file(folder, FILES / "promptfoo.jsonl")) == rows


def test_measurements_come_with_the_answers(folder: Path) -> None:
    def measure(name: str) -> tuple[Any, ...]:
        row = score_file(folder, FILES / name).json["items"][0]
        return row["latency_ms"], row["tokens_in"], row["tokens_out"], row["cost"]

    assert measure("promptfoo.json") == (7, 3, 2, 0.25)
    assert measure("deepeval.json") == (500, None, None, 0.1)
    assert measure("pydantic-evals.json") == (250, 4, 1, 0.01)
    assert measure("openai-batch.jsonl") == (None, 5, 1, None)
    assert measure("inspect.json") == (500, 5, 2, None)


def test_an_archive_of_inspect_is_read_as_its_document_is(folder: Path) -> None:
    document = json.loads((FILES / "inspect.json").read_text())
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        header = {key: value for key, value in document.items() if key != "samples"}
        archive.writestr("header.json", json.dumps(header))
        for sample in document["samples"]:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))
    assert sorted(rows_of(score_file(folder, path))) == sorted(
        rows_of(score_file(folder, FILES / "inspect.json"))
    )


@pytest.mark.parametrize("name", ["openai-batch.jsonl", "inspect.json"])
def test_a_file_may_be_packed_with_gzip(folder: Path, name: str) -> None:
    packed = folder / f"{name}.gz"
    packed.write_bytes(gzip.compress((FILES / name).read_bytes()))
    assert rows_of(score_file(folder, packed)) == rows_of(score_file(folder, FILES / name))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl.gz", '{"item": "go", "output": "went"}\n'),
        ("a.csv.gz", "item,output\ngo,went\n"),
    ],
)
def test_our_own_answers_may_be_packed_too(folder: Path, name: str, text: str) -> None:
    packed = folder / name
    packed.write_bytes(gzip.compress(text.encode()))
    assert rows_of(score_file(folder, packed)) == [(None, "go", 1, "went", 1.0)]
    packed.write_bytes(gzip.compress(text.encode())[:-9])
    assert score_file(folder, packed).code == 3
    packed.write_bytes(text.encode())
    assert "this cannot be read: Not a gzipped file" in score_file(folder, packed).err


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", '{"results": [1]}', "these are no results of promptfoo, lm-eval"),
        ("a.json", '{"a": ', "not JSON"),
        ("a.json", "[" * 100_000, "nested too deep|not JSON"),
        ("a.eval", "no archive", "cannot be read as an archive"),
        ("none.json", None, "there is no such file"),
        (
            "a.jsonl",
            '{"custom_id": "a", "response": null, "error": null}\n7\n',
            "must be an object",
        ),
    ],
)
def test_what_is_not_understood_is_refused(
    folder: Path, name: str, text: str | None, message: str
) -> None:
    if text is not None:
        (folder / name).write_text(text)
    rubric = load_rubric(folder / "rubric.yaml")
    with pytest.raises(AnswersError, match=message):
        score(rubric, folder / "exam.yaml", folder / name)


# --- --map ---

ROWS: list[dict[str, Any]] = [
    {"meta": {"id": "go"}, "choices": [{"text": "went"}], "who": "m", "a.b": 3},
    {"meta": {"id": "go"}, "choices": []},
    {"meta": {"id": "no"}, "choices": [{"text": "x"}]},
]
MAP = ("--map", "item=meta.id", "--map", "output=choices.0.text", "--map", "subject=who")


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.jsonl.gz", "b.json"])
def test_a_file_of_any_shape_is_read_by_the_paths_of_its_fields(folder: Path, name: str) -> None:
    text = json.dumps({"runs": {"all": ROWS}} if name == "b.json" else ROWS)
    text = "\n".join(map(json.dumps, ROWS)) if "jsonl" in name else text
    data = text.encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    more = ("--map", "rows=/runs/all") if name == "b.json" else ()
    done = score_file(folder, folder / name, *MAP, *more, "--map", "tokens_in=a.b")
    assert rows_of(done) == [("m", "go", 1, "went", 1.0)]
    assert done.json["items"][0]["tokens_in"] == 3
    missing, unknown = (error["reason"] for error in done.json["errors"])
    assert missing == "`go`: there is no output under `choices.0.text`"
    assert unknown.startswith("no item of the exam fits: neither `no` nor its prompt names one")


def test_the_columns_of_a_table_are_named_the_same_way(folder: Path) -> None:
    path = folder / "a.csv"
    path.write_text("Question,Reply,ms\ngo,went,12.5\ngo,,\n")
    words = ("--map", "item=Question", "--map", "output=Reply", "--map", "latency_ms=ms")
    done = score_file(folder, path, *words)
    assert rows_of(done) == [(None, "go", 1, "went", 1.0), (None, "go", 2, "", 0.0)]
    assert done.json["items"][0]["latency_ms"] == 12.5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--map", "item"), "--map takes FIELD=PATH, not `item`"),
        (("--map", "items=a"), "a field is one of rows, item, output"),
        (("--map", "item=a", "--map", "item=b"), "names `item` twice"),
        (("--map", "item=a"), "--map output=PATH must say where that stands"),
        (("--map", "item=a", "--map", "output=b", "--engine", "ray"), "without --judge"),
    ],
)
def test_a_wrong_mapping_is_refused(folder: Path, words: tuple[str, ...], message: str) -> None:
    done = score_file(folder, FILES / "inspect.json", *words)
    assert done.code == 2
    assert message in done.err


def test_a_mapping_needs_a_file(folder: Path) -> None:
    rubric = load_rubric(folder / "rubric.yaml")
    exam = load_exam(folder / "exam.yaml", rubric=rubric)
    with pytest.raises(UsageError, match="a mapping of fields goes with a file"):
        score(rubric, exam, [], mapping={"item": "a", "output": "b"})
    (folder / "a.json").write_text("{}")
    with pytest.raises(AnswersError, match="name the list of rows with --map rows=PATH"):
        score(rubric, exam, folder / "a.json", mapping={"item": "a", "output": "b"})


# --- init --from ---


def start_from(folder: Path, name: str) -> Done:
    return here("init", str(folder / "new"), "--from", str(FILES / name), "--format", "json")


def test_a_project_starts_from_the_tests_of_promptfoo(folder: Path) -> None:
    done = start_from(folder, "promptfooconfig.yaml")
    assert (done.code, done.json["items"], done.json["criteria"]) == (0, 2, 10)
    remarks = [remark["message"] for remark in done.json["remarks"]]
    assert any("`not-contains` is decided by no axis" in remark for remark in remarks)
    assert any("is a measurement" in remark for remark in remarks)
    assert any("is 0, so the assertion counts nothing" in remark for remark in remarks)
    rubric = load_rubric(folder / "new" / "rubric.yaml")
    exam = load_exam(folder / "new" / "exam.yaml", rubric=rubric)
    assert [(item.id, item.prompt) for item in exam.items] == [
        ("eat-in-the-past", "Past of eat?"),
        ("go", "Past of go?"),
    ]
    eat = mark(rubric, exam.get_item("eat-in-the-past"), "Eaten a.b").cells["criteria"].reason
    # Of 1 + 2.5 + 1 + 1 + 1 points: `E` in any case and `eaten` no, since `contains-any` is exact.
    assert "c2 not met" not in eat
    assert "c3 not met" in eat
    assert "c4 not met" in eat
    assert "c5 not marked" in eat
    assert exam.get_item("go").tags == {"kind": "irregular"}


def test_a_project_starts_from_a_dataset_of_pydantic_evals(folder: Path) -> None:
    done = start_from(folder, "pydantic-dataset.yaml")
    assert (done.code, done.json["items"], done.json["criteria"]) == (0, 2, 5)
    rubric = load_rubric(folder / "new" / "rubric.yaml")
    exam = load_exam(folder / "new" / "exam.yaml", rubric=rubric)
    assert [item.id for item in exam.items] == ["eat-in-the-past", "case-2"]
    assert mark(rubric, exam.get_item("case-2"), "It went.").score == 1
    assert [remark["message"] for remark in done.json["remarks"]] == [
        "IsInstance is decided by no axis: people or a judge mark the criterion",
        "MaxDuration is a measurement: a gate of the rubric can limit it; left out",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\n", "is not a configuration of promptfoo or a dataset of pydantic-evals"),
        (
            "prompts: ['file://p.txt']\ntests: [{assert: [{type: equals, value: a}]}]\n",
            "not followed",
        ),
        ("prompts: ['{{a}}']\ntests: [{assert: [{type: equals, value: a}]}]\n", "has no value"),
        ("prompts: ['{{a | upper}}']\ntests: [{vars: {a: b}}]\n", "only `{{name}}` is filled"),
        ("prompts: ['{{a}}']\ntests: [{vars: {a: [b, c]}}]\n", "a list makes several tests"),
        ("prompts: [a]\ntests: [{vars: {}}]\n", "an item needs at least one assertion"),
        ("prompts: [a]\ntests: file://tests.csv\n", "a list is needed"),
        ("cases: [{name: a, inputs: b}]\n", "no evaluator decides anything"),
    ],
)
def test_test_cases_that_cannot_be_expressed_are_refused(
    folder: Path, text: str, message: str
) -> None:
    path = folder / "config.yaml"
    path.write_text(text)
    done = here("init", str(folder / "new"), "--from", str(path))
    assert done.code in {2, 3}
    assert message in done.err
    assert not (folder / "new").exists()
