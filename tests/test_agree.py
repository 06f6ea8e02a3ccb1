"""`agree`: how far raters agree, for any file of ratings, with judges kept apart from people."""

from __future__ import annotations

import csv
import json
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import here
from markscheme import InputError, UsageError, agree

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
HEADER = ("item", "variant", "rater", "axis", "score", "note")
# Krippendorff's example of four observers and twelve units; None is a gap.
KRIPPENDORFF = {
    "A": (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    "B": (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    "C": (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    "D": (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
}

Row = tuple[object, ...]


def rows_of(scores: Mapping[str, Sequence[object]], axis: str = "tone") -> list[Row]:
    """Return rows of the long form, one for each score that is there."""
    return [
        (f"q{at:03}", "v", rater, axis, score, "")
        for rater, given in scores.items()
        for at, score in enumerate(given)
        if score is not None
    ]


def write(path: Path, rows: Iterable[Row], header: Sequence[str] = HEADER) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def agreed(*arguments: str | Path) -> Any:
    """Return the axes of `agree --format json`."""
    done = here("agree", "--format", "json", *arguments)
    assert done.code == 0, done.err
    return done.json["axes"]


def shared(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"the shared data {name} is not here")
    return path


def records(rows: Iterable[Row]) -> list[dict[str, Any]]:
    return [dict(zip(HEADER, row, strict=True)) for row in rows]


def measure(rows: Iterable[Row], **options: Any) -> dict[str, Any]:
    """Return the agreement on `tone` by the library, as plain data."""
    axis: dict[str, Any] = agree(records(rows), **options).to_dict()["axes"]["tone"]
    return axis


def test_krippendorffs_example_has_his_alphas(tmp_path: Path) -> None:
    file = write(tmp_path / "r.csv", rows_of(KRIPPENDORFF))
    published = {"nominal": 0.743421, "ordinal": 0.815388, "interval": 0.849107}
    for level, alpha in published.items():
        found = agreed("--ratings", file, "--level", level)["tone"]
        assert found["alpha"] == pytest.approx(alpha, abs=5e-7)
        assert (found["n"], found["level"]) == (11, level)
        assert found["raters"] == ["A", "B", "C", "D"]
    assert agreed("--ratings", file)["tone"]["level"] == "ordinal"


def test_the_json_has_the_promised_keys(tmp_path: Path) -> None:
    file = write(tmp_path / "r.csv", rows_of(KRIPPENDORFF))
    axis = agreed("--ratings", file)["tone"]
    assert {"n", "raters", "level", "alpha", "ac2", "percent", "pairs"} <= axis.keys()
    assert len(axis["pairs"]) == 6
    keys = {"raters", "n", "kappa", "pearson", "spearman", "kendall", "rmse"}
    assert all(keys <= pair.keys() for pair in axis["pairs"])
    assert axis["pairs"][0]["raters"] == ["A", "B"]


def test_newsroom_has_its_published_alphas() -> None:
    axes = agreed("--ratings", shared("newsroom/ratings.csv"))
    published = {
        "Informativeness": 0.284873,
        "Relevance": 0.115121,
        "Fluency": -0.015808,
        "Coherence": 0.064972,
    }
    found = {name: axis["alpha"] for name, axis in axes.items()}
    assert found == pytest.approx(published, abs=5e-7)
    for axis in axes.values():
        interval = axis["alpha_interval"]
        assert interval["low"] < axis["alpha"] < interval["high"]


LLM_RUBRIC = {
    "judge_argmax": (1.201643, 0.140091, 0.086990, 0.081134),
    "judge_expected": (0.918676, 0.177301, 0.086675, 0.065928),
}


@pytest.mark.parametrize("column", LLM_RUBRIC)
def test_llm_rubric_has_its_published_correlations(tmp_path: Path, column: str) -> None:
    with shared("llm-rubric/judge_vs_human.csv").open(encoding="utf-8") as file:
        rows = [
            (row["item"], "v", rater, row["axis"], row[name], "")
            for row in csv.DictReader(file)
            for rater, name in (("human", "human"), ("judge", column))
        ]
    file_ = write(tmp_path / "ratings.csv", rows)
    axis = agreed("--ratings", file_, "--judge", "judge")["Q0"]
    (pair,) = axis["pairs"]
    found = [pair[name] for name in ("rmse", "pearson", "spearman", "kendall")]
    assert found == pytest.approx(LLM_RUBRIC[column], abs=5e-7)
    assert (pair["n"], pair["kind"]) == (223, "person and judge")
    assert axis["level"] == ("ordinal" if column == "judge_argmax" else "interval")


def test_a_judge_is_compared_with_all_people_together() -> None:
    ratings = shared("llm-rubric/ratings.csv")
    (judge,) = agreed("--ratings", ratings, "--judge", "gpt-3.5")["Q0"]["judges"]
    found = [judge[name] for name in ("rmse", "pearson", "spearman", "kendall")]
    assert found == pytest.approx(LLM_RUBRIC["judge_argmax"], abs=5e-7)
    assert judge["raters"] == ["people", "gpt-3.5"]


SOURCED = (*HEADER, "source")


def test_judges_never_enter_the_agreement_of_the_people(tmp_path: Path) -> None:
    people = rows_of({"ana": (1, 2, 3, 4), "ben": (1, 2, 3, 5)})
    judge = rows_of({"gpt": (5, 4, 1, 1)})
    alone = agreed("--ratings", write(tmp_path / "alone.csv", people))["tone"]
    rows = [(*row, "") for row in people] + [(*row, "judge") for row in judge]
    mixed = agreed("--ratings", write(tmp_path / "mixed.csv", rows, SOURCED))["tone"]
    assert [mixed[key] for key in ("n", "raters", "alpha", "percent")] == [
        alone[key] for key in ("n", "raters", "alpha", "percent")
    ]
    assert mixed["with_judges"]["raters"] == ["ana", "ben", "gpt"]
    assert mixed["with_judges"]["alpha"] < mixed["alpha"]
    assert [pair["kind"] for pair in mixed["pairs"]] == [
        "people",
        "person and judge",
        "person and judge",
    ]
    assert alone["with_judges"] is None


def test_judges_alone_are_no_people(tmp_path: Path) -> None:
    rows = [(*row, "judge") for row in rows_of({"one": (1, 2, 3), "two": (1, 2, 2)})]
    axis = agreed("--ratings", write(tmp_path / "r.csv", rows, SOURCED))["tone"]
    assert (axis["n"], axis["raters"], axis["alpha"]) == (0, [], None)
    assert axis["reasons"]["alpha"] == "no person rated"
    assert axis["with_judges"]["percent"] == pytest.approx(2 / 3)


def test_a_rater_is_a_person_or_a_judge_but_not_both(tmp_path: Path) -> None:
    rows = [("q1", "v", "ana", "tone", 1, "", ""), ("q2", "v", "ana", "tone", 1, "", "judge")]
    rows += [("q3", "v", "ana", "tone", 1, "", "robot")]
    done = here("agree", "--ratings", write(tmp_path / "r.csv", rows, SOURCED))
    assert done.code == 3
    assert "r.csv:3: source: `ana` is a judge here and a person on an earlier row" in done.err
    assert "r.csv:4: source: `robot` is no source; allowed: person, judge" in done.err


def test_answers_without_a_subject_have_no_variant(tmp_path: Path) -> None:
    rows = [(item, "", *more) for item, _, *more in rows_of({"ana": (1, 2, 3), "ben": (1, 2, 2)})]
    axis = agreed("--ratings", write(tmp_path / "r.csv", rows))["tone"]
    assert (axis["n"], axis["percent"]) == (3, pytest.approx(2 / 3))
    twice = write(tmp_path / "twice.csv", [*rows, rows[0]])
    assert "was rated by `ana` on line 2" in here("agree", "--ratings", twice).err


def test_two_files_are_read_as_one_and_a_rating_twice_is_refused(tmp_path: Path) -> None:
    ana = write(tmp_path / "ana.csv", rows_of({"ana": (1, 2, 3)}))
    ben = write(tmp_path / "ben.csv", rows_of({"ben": (1, 2, 2)}))
    assert agreed("--ratings", ana, "--ratings", ben)["tone"]["n"] == 3
    again = write(tmp_path / "again.csv", rows_of({"ana": (4,)}))
    done = here("agree", "--ratings", ana, "--ratings", again)
    assert done.code == 3
    assert "again.csv:2: axis: `tone` of `q000, v` was rated by `ana` on line 2 of" in done.err


def test_what_is_no_score_is_refused_with_every_line(tmp_path: Path) -> None:
    rows = [
        (item, "v", "ana", "tone", score, "")
        for item, score in enumerate((1, "nan", "good", "3,5", "1e999", "1/2"))
    ]
    done = here("agree", "--ratings", write(tmp_path / "r.csv", rows))
    assert done.code == 3
    assert "r.csv:3: score: `nan` is no score" in done.err
    assert "r.csv:4: score: `good` is a word, and the scores of `tone` are numbers" in done.err
    assert "r.csv:7: score: `1/2` is a word, and the scores of `tone` are numbers" in done.err
    assert "r.csv:5" not in done.err
    assert "r.csv:6" in done.err


def test_a_word_is_written_in_one_way(tmp_path: Path) -> None:
    rows = rows_of({"ana": ("yes", "no"), "ben": ("Yes", "no")})
    done = here("agree", "--ratings", write(tmp_path / "r.csv", rows))
    assert done.code == 3
    assert "is also written `yes`" in done.err or "is also written `Yes`" in done.err


@pytest.mark.parametrize(
    ("scores", "level"),
    [
        ((1, 2, 3), "ordinal"),
        (("1.0", "2,0", 3), "ordinal"),
        (tuple(range(12)), "interval"),
        ((1, 2.5, 3), "interval"),
        (("yes", "no", "no"), "nominal"),
        ((True, False, True), "nominal"),
    ],
)
def test_scores_say_what_level_their_axis_has(scores: tuple[object, ...], level: str) -> None:
    assert measure(rows_of({"ana": scores, "ben": scores}))["level"] == level


def test_words_have_kappa_and_no_correlations() -> None:
    rows = rows_of({"ana": ("a", "b", "a", "c"), "ben": ("a", "b", "b", "c")})
    (pair,) = measure(rows)["pairs"]
    assert pair["kappa"] == pytest.approx(7 / 11)
    assert [pair[name] for name in ("pearson", "spearman", "kendall", "rmse")] == [None] * 4
    assert pair["reason"] == "names have no order: only kappa is defined"
    same = measure(rows_of({"ana": ("a", "a"), "ben": ("a", "a")}))["pairs"][0]
    assert (same["kappa"], same["reason"]) == (
        None,
        "both raters gave one and the same score throughout",
    )


def test_a_level_is_for_one_axis_or_for_all_others(tmp_path: Path) -> None:
    rows = [*rows_of({"ana": (1, 2), "ben": (1, 3)}), *rows_of({"ana": (1, 2)}, "other")]
    file = write(tmp_path / "r.csv", rows)
    axes = agreed("--ratings", file, "--level", "tone=nominal", "--level", "interval")
    assert (axes["tone"]["level"], axes["other"]["level"]) == ("nominal", "interval")
    for wrong in ("tune=nominal", "rational"):
        assert here("agree", "--ratings", file, "--level", wrong).code == 2
    assert here("agree", "--ratings", file, "--judge", "carl").code == 2


def test_gaps_and_what_does_not_apply_are_no_scores() -> None:
    rows = rows_of({"ana": (1, 2, "n/a", ""), "ben": (1, 2, 3, 4)})
    axis = measure(rows)
    assert (axis["n"], axis["empty"], axis["percent"]) == (2, 2, 1.0)


def test_repeats_of_a_rater_are_left_out_and_criteria_are_things_to_rate() -> None:
    shared_ = {"item": "q", "variant": "v", "axis": "tone"}
    rows = [
        {**shared_, "rater": rater, "criterion": criterion, "repeat": repeat, "score": score}
        for rater, criterion, repeat, score in (
            ("ana", "c1", "", 1),
            ("ana", "c2", "", 0),
            ("gpt", "c1", 1, 1),
            ("gpt", "c1", 2, 0),
            ("gpt", "c2", 1, 0),
        )
    ]
    axis = agree(rows).to_dict()["axes"]["tone"]
    assert (axis["n"], axis["percent"], axis["repeats"]) == (2, 1.0, 1)


def test_a_rubric_says_which_axes_and_scores_there_are(tmp_path: Path) -> None:
    good = write(tmp_path / "good.csv", rows_of({"ana": (1, 2, 5), "ben": (1, 2, 4)}, "Q-01"))
    axis = agreed("--ratings", good, "-r", "context-agent")["Q-01"]
    assert axis["level"] == "ordinal"
    bad = write(tmp_path / "bad.csv", [*rows_of({"ana": (6,)}, "Q-01"), *rows_of({"ana": (1,)})])
    done = here("agree", "--ratings", bad, "-r", "context-agent")
    assert done.code == 3
    assert "bad.csv:2: score: `6` is no score; allowed: numbers from 1 to 5" in done.err
    assert "bad.csv:3: axis: `tone` is no scale of the rubric context-agent; allowed: Q-01" in (
        done.err
    )
    with pytest.raises(UsageError, match="has no scale"):
        agree(good, "tutor-capstone")


def test_wide_tables_and_json_lines_are_read_too(tmp_path: Path) -> None:
    header = ("item", "variant", "rater", "tone", "tone note", "fit")
    rows = [("q1", "v", "ana", 4, "why", 1.5), ("q1", "v", "ben", 4, "", 2)]
    axes = agreed("--ratings", write(tmp_path / "wide.csv", rows, header))
    assert {name: axis["percent"] for name, axis in axes.items()} == {"fit": 0.0, "tone": 1.0}
    lines = tmp_path / "r.jsonl"
    found = records(rows_of({"ana": (1, 2.5, 3), "ben": (1, 2.5, 2)}))
    lines.write_text("\n".join(map(json.dumps, found)), encoding="utf-8")
    assert agreed("--ratings", lines)["tone"]["percent"] == pytest.approx(2 / 3)


def test_workbooks_with_any_axes_are_read(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (
        ("item", "variant", "rater", "tone", "cited"),
        ("q1", "v", "ana", 3.5, "yes"),
        ("q1", "v", "ben", 3, "yes"),
    ):
        book.active.append(row)
    book.save(tmp_path / "r.xlsx")
    axes = agreed("--ratings", tmp_path / "r.xlsx")
    assert {name: axis["level"] for name, axis in axes.items()} == {
        "cited": "nominal",
        "tone": "interval",
    }
    assert axes["tone"]["pairs"][0]["rmse"] == 0.5


def test_words_have_no_order_to_ask_for(tmp_path: Path) -> None:
    file = write(tmp_path / "r.csv", rows_of({"ana": ("yes",), "ben": ("no",)}))
    done = here("agree", "--ratings", file, "--level", "ordinal")
    assert done.code == 3
    assert "r.csv:2: score: `yes` is a word, and the scores of `tone` are numbers" in done.err


def test_what_cannot_be_computed_is_null_and_says_why(tmp_path: Path) -> None:
    one = write(tmp_path / "one.csv", rows_of({"ana": (1, 2, 3)}))
    done = here("agree", "--ratings", one)
    assert done.code == 4
    assert "tone: no alpha, AC2, equal, 95 % interval: only one rater gave scores" in (
        " ".join(done.out.split())
    )
    same = write(tmp_path / "same.csv", rows_of({"ana": (3, 3), "ben": (3, 3)}))
    axis = agreed("--ratings", same)["tone"]
    assert (axis["alpha"], axis["ac2"], axis["percent"]) == (None, None, 1.0)
    (pair,) = axis["pairs"]
    assert (pair["kappa"], pair["pearson"], pair["rmse"]) == (None, None, 0.0)
    assert pair["reason"] == "both raters gave one and the same score throughout"


def test_an_interval_takes_50_shared_answers_and_keeps_its_seed() -> None:
    scores = [1 + at % 4 for at in range(50)]
    rows = rows_of({"ana": scores, "ben": [*scores[:40], *[1] * 10]})
    few = measure([row for row in rows if row[0] != "q000"])
    assert few["alpha_interval"] is None
    assert few["reasons"]["alpha_interval"] == (
        "49 answers were rated by two people; an interval takes 50"
    )
    found = measure(rows)["alpha_interval"]
    assert found["low"] < measure(rows)["alpha"] < found["high"]
    assert measure(rows)["alpha_interval"] == found
    assert measure(rows, seed=1)["alpha_interval"]["low"] != found["low"]


def test_an_interval_is_not_told_from_one_score_that_differs() -> None:
    rows = rows_of({"ana": [1] * 60, "ben": [*[1] * 59, 2]})
    axis = measure(rows)
    assert axis["alpha_interval"] is None
    assert "some draws hold none" in axis["reasons"]["alpha_interval"]


def test_162_raters_are_summed_up_and_not_listed(tmp_path: Path) -> None:
    crowd = {
        f"r{rater:03}": [(at * 7 + rater * at % 3) % 5 + 1 for at in range(31)]
        for rater in range(162)
    }
    file = write(tmp_path / "crowd.csv", rows_of(crowd))
    done = here("agree", "--ratings", file)
    assert done.code == 0
    assert "median of 13,041 pairs (two people)" in done.out
    assert "worst: " in done.out
    assert len(done.out.splitlines()) < 15


def test_pairs_with_few_common_answers_are_told_from_chance(tmp_path: Path) -> None:
    scores = {f"r{rater}": [rater % 3 + 1, 2, 3] for rater in range(6)}
    done = here("agree", "--ratings", write(tmp_path / "few.csv", rows_of(scores)))
    assert "no two raters have 10 answers in common: what pairs show is mostly chance" in done.out
    scores = {name: [*given, *range(1, 8)] for name, given in scores.items()} | {"r9": [1, 2]}
    axis = agreed("--ratings", write(tmp_path / "more.csv", rows_of(scores)))["tone"]
    (summary,) = axis["pair_summaries"]
    assert (summary["pairs"], summary["few"]) == (21, 6)
    assert "r9" not in (*summary["worst"], *summary["best"])
    # The median is over the pairs that count, and says how many these are.
    assert "median of 15 pairs" in here("agree", "--ratings", tmp_path / "more.csv").out
    assert {one["rater"] for one in axis["by_rater"]} == {*scores}


SCORES = st.lists(
    st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=3, max_size=3),
    min_size=1,
    max_size=12,
)


def rows_by_answer(answers: list[list[int | None]]) -> list[Row]:
    return rows_of({name: [row[at] for row in answers] for at, name in enumerate("abc")})


@given(SCORES, st.randoms(use_true_random=False), st.sampled_from(["nominal", "ordinal"]))
def test_the_order_of_rows_and_the_names_of_raters_change_nothing(
    answers: list[list[int | None]], random: Any, level: str
) -> None:
    rows = rows_by_answer(answers)
    if not rows:
        return
    shuffled = random.sample(rows, len(rows))
    assert measure(shuffled, level=level) == measure(rows, level=level)
    names = {"a": "c", "b": "a", "c": "b"}
    renamed = [(*row[:2], names[str(row[2])], *row[3:]) for row in rows]
    keys = ("n", "alpha", "ac2", "percent")
    found, other = measure(rows, level=level), measure(renamed, level=level)
    assert [found[key] for key in keys] == [other[key] for key in keys]
    text = json.dumps(found)
    assert "NaN" not in text
    assert "Infinity" not in text


@given(st.lists(st.integers(1, 5), min_size=2, max_size=10).filter(lambda s: len(set(s)) > 1))
def test_raters_who_agree_throughout_have_1_everywhere(scores: list[int]) -> None:
    axis = measure(rows_of({"a": scores, "b": scores, "c": scores}))
    assert (axis["alpha"], axis["ac2"], axis["percent"]) == (1.0, 1.0, 1.0)
    for pair in axis["pairs"]:
        assert pair["kappa"] == 1.0
        found = [pair[name] for name in ("pearson", "spearman", "kendall")]
        assert found == pytest.approx([1, 1, 1])
        assert pair["rmse"] == 0.0


def test_the_library_raises_every_problem_at_once() -> None:
    with pytest.raises(InputError) as error:
        agree([{"item": "q"}, {"item": "", "variant": "v", "rater": "r", "axis": "a", "score": 1}])
    assert len(error.value.problems) == 4


def test_pairs_that_share_no_answer_are_not_listed() -> None:
    rows = rows_of({"a": (1, 2, None), "b": (1, None, 3), "c": (None, None, 3)})
    assert [pair["raters"] for pair in measure(rows)["pairs"]] == [
        list(pair) for pair in combinations("abc", 2) if pair != ("a", "c")
    ]


def test_the_example_of_the_docs_is_what_the_command_prints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = Path(__file__).parent.parent
    monkeypatch.chdir(root)
    text = (root / "docs" / "agreement.md").read_text(encoding="utf-8")
    command, _, wanted = (
        text.partition("```console\n$ markscheme ")[2].partition("```")[0].partition("\n")
    )
    printed = [line.rstrip() for line in here(*command.split()).out.splitlines()]
    assert printed == wanted.splitlines()
