"""The library: its public names, and what must hold for every run."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import markscheme
from markscheme import (
    Answer,
    Cell,
    Exam,
    Gate,
    Item,
    Level,
    Response,
    UsageError,
    load_exam,
    load_rubric,
    score,
)
from markscheme.keep import open_store
from markscheme.workflows.run_plan import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from markscheme.workflows.run_plan import RunSettings
    from sittings import Sitting

TUTOR = load_rubric("tutor-capstone")
CAPSTONE = load_exam("capstone", rubric=TUTOR)
TEXTS = st.sampled_from(
    [
        "Ate.",
        "He will be. Seré.",
        "",
        '{"correction": "have had", "spanish_gloss": "has tenido", "explanation": "x"}',
        '{"correction": "will be", "spanish_gloss": "", "explanation": "x"}',
        '```json\n{"correction": "are doing"}\n```',
        "word " * 31,
    ]
)
ROWS = st.lists(
    st.tuples(st.sampled_from([item.id for item in CAPSTONE.items[:4]]), TEXTS), max_size=12
)


def rows_of(pairs: list[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"item": item, "output": text, "attempt": n} for n, (item, text) in enumerate(pairs)]


def test_the_public_names_are_exactly_these() -> None:
    names = {name for name in dir(markscheme) if name == "__version__" or name[0] != "_"}
    assert names == set(markscheme.__all__)
    assert all(getattr(markscheme, name) is not None for name in markscheme.__all__)
    functions = {name for name in names if name[0].islower()}
    assert functions == {
        "agree",
        "audit",
        "calibrate",
        "compare",
        "compare_runs",
        "exam",
        "gate",
        "judge",
        "lint",
        "load_exam",
        "load_rubric",
        "mark",
        "read_transcript",
        "run",
        "score",
        "verify",
    }


def test_everything_public_is_documented() -> None:
    for name in set(markscheme.__all__) - {"__version__"}:
        assert getattr(markscheme, name).__doc__, name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no public name `scor`"):
        _ = markscheme.scor


@given(st.data(), ROWS)
def test_the_result_does_not_depend_on_the_order_of_answers(
    data: st.DataObject, pairs: list[tuple[str, str]]
) -> None:
    rows = rows_of(pairs)
    moved = data.draw(st.permutations(rows))
    assert score(TUTOR, CAPSTONE, rows).summary == score(TUTOR, CAPSTONE, moved).summary


@given(st.permutations(CAPSTONE.items[:4]), ROWS)
def test_the_score_does_not_depend_on_the_order_of_items(
    items: list[Item], pairs: list[tuple[str, str]]
) -> None:
    one = Exam(names=("e",), items=CAPSTONE.items[:4], fingerprint="b2:0")
    two = Exam(names=("e",), items=tuple(items), fingerprint="b2:0")
    first, second = (score(TUTOR, exam, rows_of(pairs)).summary for exam in (one, two))
    assert (first.score, first.axes, first.n) == (second.score, second.axes, second.n)
    assert set(first.missing) == set(second.missing)


@given(ROWS)
def test_the_mean_is_the_exact_mean_of_the_rows(pairs: list[tuple[str, str]]) -> None:
    result = score(TUTOR, CAPSTONE, rows_of(pairs))
    hundredths = [round(value * 100) for value in result.frame["score"].drop_nulls()]
    assert len(hundredths) == result.summary.n
    if hundredths:
        assert result.summary.score == Fraction(sum(hundredths), 100 * len(hundredths))
    else:
        assert result.summary.score is None


@given(ROWS)
def test_every_row_comes_out_once(pairs: list[tuple[str, str]]) -> None:
    rows = [*rows_of(pairs), {"item": "nowhere", "output": "x"}, "no row at all"]
    result = score(TUTOR, CAPSTONE, rows)  # type: ignore[arg-type]
    counts = dict(result.frame["status"].value_counts().rows())
    assert counts.get("scored", 0) == len(pairs) == result.summary.n
    assert counts["error"] == len(result.errors) == 2
    assert counts.get("missing", 0) == len(result.summary.missing)


def test_groups_by_tag_are_exact_and_the_worst_comes_first() -> None:
    exam = load_exam("capstone", rubric=TUTOR)
    rows = [{"item": item.id, "output": "I do not know."} for item in exam.items[1:]]
    good = {"correction": "ate", "spanish_gloss": "comió", "explanation": ""}
    result = score(TUTOR, exam, [{"item": "e-39-01", "output": good}, *rows])
    verbs = [group for group in result.summary.groups if group.tag == "verb"]
    lost = [group.n * (1 - group.score) for group in verbs if group.score is not None]
    assert lost == sorted(lost, reverse=True)
    eat = next(group for group in verbs if group.value == "eat")
    assert (eat.n, eat.score) == (3, (1 + 2 * Fraction(5, 100)) / 3)


def test_answers_may_be_values_of_the_library() -> None:
    result = score(TUTOR, CAPSTONE, [Answer(item="e-39-01", output="Ate.", subject="me")])
    assert result.frame["subject"][0] == "me"
    assert result.frame["score"][0] == 0.65


def test_a_polars_frame_is_as_good_as_a_file() -> None:
    frame = pl.DataFrame({"item": ["e-39-01"], "output": ["Ate."], "subject": ["me"]})
    assert score(TUTOR, CAPSTONE, frame).frame["score"][0] == 0.65


@pytest.mark.parametrize("answers", [None, b"x", {"item": "e-39-01", "output": "Ate."}])
def test_what_is_no_answers_is_refused_in_words(answers: Any) -> None:
    with pytest.raises(markscheme.UsageError, match="a file's path, a table, or a list"):
        score(TUTOR, CAPSTONE, answers)


def test_a_nest_too_deep_to_show_is_a_bad_row() -> None:
    nest: dict[str, Any] = {}
    for _ in range(3000):
        nest = {"a": nest}
    assert score(TUTOR, CAPSTONE, [{"item": "e-39-01", "output": nest}]).summary.errors == 1


def test_names_and_paths_are_loaded_on_the_way(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"item": "e-39-01", "output": "Ate."}\n')
    assert score("tutor-capstone", "capstone", path).summary.n == 1


def test_the_result_as_a_dict_is_the_document_of_the_command(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"item": "e-39-01", "output": "Ate."}\n{bad\n')
    command = ["score", "-r", "tutor-capstone", "-e", "capstone", "-a", path, "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "markscheme", *map(str, command)], capture_output=True, check=False
    )
    assert json.loads(done.stdout) == score("tutor-capstone", "capstone", path).to_dict()


EVERY_SETTING: RunSettings = {
    "base_url": None,
    "key_env": None,
    "template": None,
    "examples": "tutor",
    "structured": False,
    "stream": False,
    "temperature": 0.5,
    "max_tokens": 10,
    "attempts": 2,
    "concurrency": 3,
    "timeout": 5,
    "retries": 0,
    "requests_per_minute": 1_000_000,
    "tokens_per_minute": None,
    "price": "1:2",
    "max_cost": None,
    "max_time": 60.0,
    "seed": 7,
    "cache": False,
    "resume": False,
}


def test_a_score_is_stored_tagged_and_written_as_by_the_command(tmp_path: Path) -> None:
    answers = [{"item": "e-39-01", "output": "Ate.", "subject": "me"}]
    documents = ("tutor-capstone", "capstone")
    place, output = tmp_path / "runs.db", tmp_path / "breakdown.parquet"
    in_memory = markscheme.score(*documents, answers)
    result = markscheme.score(*documents, answers, store=place, tag="first", output=output)
    assert result.summary == in_memory.summary
    assert result.frame.is_empty()
    assert pl.read_parquet(output).equals(in_memory.frame)
    assert in_memory.run_ids == ()
    with open_store(place, create=False) as store:
        assert (store.find_run("first").id,) == result.run_ids


def test_a_score_that_is_not_stored_has_no_tag(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot have a tag"):
        markscheme.score("tutor-capstone", "capstone", [], tag="first")
    with pytest.raises(UsageError, match="the ending decides the format"):
        markscheme.score("tutor-capstone", "capstone", [], output=tmp_path / "rows.txt")


def test_the_answers_are_never_overwritten_also_if_their_source_has_a_name(tmp_path: Path) -> None:
    answers = tmp_path / "a.jsonl"
    answers.write_text('{"item": "e-39-01", "output": "Ate."}\n')
    with pytest.raises(UsageError, match="is an input of this run"):
        markscheme.score("tutor-capstone", "capstone", answers, output=answers, source="portal")
    assert "Ate." in answers.read_text()


def test_a_script_scores_with_several_processes(tmp_path: Path) -> None:
    rows = [{"item": "e-39-01", "output": "Ate.", "attempt": n} for n in range(1, 50)]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    code = """
import markscheme
result = markscheme.score("tutor-capstone", "capstone", "a.jsonl", output="b.jsonl", workers=2)
assert result.summary.n == 49
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert len((tmp_path / "b.jsonl").read_text().splitlines()) == 49 + 59


def test_a_run_takes_every_option_of_the_command_by_name(sitting: Sitting) -> None:
    assert set(EVERY_SETTING) == {field.name for field in dataclasses.fields(Settings)}
    told: RunSettings = {**EVERY_SETTING, "base_url": sitting.server.url}
    result = markscheme.run("tutor-capstone", "capstone", "openai:m", **told)
    assert result.summary.answers == 120
    assert sitting.server.bodies[0]["temperature"] == 0.5


@pytest.mark.parametrize(
    "wrong",
    [
        *({"concurrency": 0}, {"attempts": 0}, {"attempts": True}, {"retries": -1}),
        *({"timeout": 0}, {"timeout": "60"}, {"timeout": None}, {"max_time": float("nan")}),
        *({"temperature": "hot"}, {"max_cost": -1}, {"price": (1, 2)}, {"template": 7}),
        *({"requests_per_minute": 0}, {"concurency": 4}, {"structured": "no"}, {"resume": 1}),
        *({"seed": "7"}, {"seed": 1.5}, {"seed": True}, {"timeout": 10**400}),
        *({"max_cost": Decimal("nan")}, {"temperature": Decimal("sNaN")}),
    ],
)
def test_a_run_refuses_settings_that_cannot_be(wrong: Any) -> None:
    (name,) = wrong
    with pytest.raises(markscheme.UsageError, match=f"^`{name}` "):
        markscheme.run("tutor-capstone", "capstone", "tutor", **wrong)


def test_the_settings_of_a_run_are_typed() -> None:
    with pytest.raises(markscheme.UsageError, match="is no option of a run"):
        markscheme.run("tutor-capstone", "capstone", "tutor", concurency=4)  # type: ignore[call-arg]


def test_an_incomplete_run_meets_no_gate() -> None:
    result = score(TUTOR, CAPSTONE, [{"item": "e-39-01", "output": "Ate."}])
    found = {outcome.gate.name: outcome for outcome in result.gates}
    assert found["capstone"].outcome == found["latency"].outcome == "undecided"
    assert found["baseline"].outcome == "not applicable"
    assert "59 missing" in found["capstone"].because


def test_a_soft_gate_that_is_not_met_warns() -> None:
    gate = Gate(name="soft", level=Level.SOFT, at_least=Decimal(1))
    rubric = dataclasses.replace(TUTOR, gates=(gate,))
    result = score(rubric, CAPSTONE, rows_of([(item.id, "x") for item in CAPSTONE.items]))
    assert [found.outcome.value for found in result.gates] == ["warn"]
    assert "is below 1" in result.gates[0].because


@dataclasses.dataclass(frozen=True, kw_only=True)
class StartsWith:
    """An axis of somebody else's: no base class of ours, only the contract."""

    kind: ClassVar[str] = "starts_with"
    version: ClassVar[int] = 1
    letter: str
    share: float = 0.5

    def mark(self, response: Response, item: Item) -> Cell:
        hit = response.text.startswith(self.letter)
        return Cell.passed(f"{item.id} starts well") if hit else Cell.missed("no")

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        if len(self.letter) != 1:
            yield "letter", "one letter is needed"

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        yield from ()


def test_an_axis_of_ones_own_is_named_in_yaml_and_given_as_an_argument(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(
        "rubric: own\naxes:\n  - {name: a, kind: starts_with, weight: 1, letter: H, share: 0.25}\n"
    )
    rubric = load_rubric(path, axes=[StartsWith])
    assert rubric.axes[0].axis == StartsWith(letter="H", share=0.25)
    result = score(rubric, CAPSTONE, [{"item": "e-39-01", "output": "He ate."}])
    assert result.frame["score"][0] == 1.0
    path.write_text(path.read_text().replace("letter: H", "letter: He"))
    with pytest.raises(markscheme.DocumentError, match=r"axes\.0\.letter: one letter is needed"):
        load_rubric(path, axes=[StartsWith])
    with pytest.raises(markscheme.DocumentError, match="`starts_with` is no kind of axis"):
        load_rubric(path)


def test_a_gate_of_another_exam_says_nothing() -> None:
    gates = score(TUTOR, load_exam("regression", rubric=TUTOR), []).gates
    assert {found.gate.name for found in gates} == {"latency", "schema", "regression", "baseline"}


def peak(folder: Path, count: int, size: int, suffix: str) -> float:
    """Score so many different answers of so many characters; return the peak memory in MB."""
    answers = folder / "a.jsonl"
    with answers.open("w") as file:
        for n in range(count):
            fields = {"correction": "Ate.", "spanish_gloss": "Comió.", "explanation": f"{n} ok"}
            output = json.dumps(fields | {"explanation": f"{n} {'word ' * (size // 5)}"})
            row = {"item": f"e-39-{n % 60 + 1:02}", "attempt": n, "output": output}
            file.write(json.dumps(row) + "\n")
    command = ["score", "-r", "tutor-capstone", "-e", "capstone", "-a", answers]
    call = [sys.executable, "-m", "markscheme", *command, "-o", folder / f"o.{suffix}"]
    # A child counts what its parent held when it was forked, so the parent is a small one.
    watch = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    started = [sys.executable, "-c", watch, *map(str, call)]
    done = subprocess.run(started, check=True, capture_output=True, text=True)
    return int(done.stdout) / 1024


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_100_000_answers_are_scored_and_written_in_flat_memory(tmp_path: Path, suffix: str) -> None:
    assert peak(tmp_path, 100_000, 50, suffix) < 400
    written = tmp_path / f"o.{suffix}"
    rows = pl.scan_parquet(written) if suffix == "parquet" else pl.scan_ndjson(written)
    assert rows.select(pl.len()).collect().item() == 100_000


def test_long_answers_do_not_fill_the_memory(tmp_path: Path) -> None:
    few, many = (peak(tmp_path, count, 20_000, "parquet") for count in (1_000, 3_000))
    assert many < few + 75
