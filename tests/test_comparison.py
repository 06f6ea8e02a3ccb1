"""Comparisons: verdicts and decisions on every case there is, and what every output says."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from commands import Done, here, markscheme
from comparisons import AXES, GOOD, ITEMS, MODES, Files, rows, spread
from markscheme import DocumentError, UsageError, compare, load_exam, load_rubric
from markscheme.vocabulary import Cell, Rating
from markscheme.weigh.comparing import Contest
from markscheme.weigh.comparison import Observed, Sides
from markscheme.weigh.scores import scores_of
from markscheme.weigh.statistics import holm

if TYPE_CHECKING:
    from pathlib import Path

RUBRIC = load_rubric("context-agent")
VERDICTS = ("superior", "equivalent", "acceptable", "degraded")


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@pytest.fixture
def contest(files: Files) -> Contest:
    exam = load_exam(files.exam, rubric=RUBRIC)
    return Contest(rubric=RUBRIC, exam=exam, baseline="big", candidate="small")


def compared(files: Files, baseline: list[int], candidate: list[int], *more: str) -> Done:
    return here(*files.words(files.ratings(rows(baseline, candidate)), *more))


def as_json(files: Files, baseline: list[int], candidate: list[int], *more: str) -> Any:
    return compared(files, baseline, candidate, "--format", "json", *more).json


def verdict_of(b: int, c: int) -> tuple[str, set[str]]:
    """Say the verdict on two sums of six scores in whole numbers: the contract, written anew."""
    reasons = {"floor"} if c < 18 else set()
    if c - b <= -9:
        reasons.add("relative")
    if reasons:
        return "degraded", reasons
    if -3 <= c - b <= 3:
        return "equivalent", set()
    return ("acceptable" if c < b else "superior"), set()


def decision_of(verdicts: tuple[str, ...]) -> str:
    """Say the decision on five verdicts: the contract, written anew."""
    bad = Counter(m for m, verdict in zip(MODES, verdicts, strict=True) if verdict == "degraded")
    quick, medium, thorough = bad["quick"], bad["medium"], bad["thorough"]
    if quick or medium >= 2 or (medium and thorough) or quick + medium + thorough > 2:
        return "no-go"
    if thorough == 2:
        return "conditional"
    if medium + thorough == 1 or "acceptable" in verdicts:
        return "go-with-monitoring"
    return "go"


def test_the_verdict_on_all_625_pairs_of_averages(contest: Contest) -> None:
    item = contest.exam.items[0]
    for b, c in product(range(6, 31), repeat=2):
        ratings = [
            Rating(item=item.id, variant=variant, rater="r", axis=axis, score=score)
            for variant, total in (("big", b), ("small", c))
            for axis, score in zip(AXES, spread(total), strict=True)
        ]
        query = contest.query(item, scores_of(ratings))
        assert (query.verdict, set(query.reasons)) == verdict_of(b, c), (b, c)
        assert query.mean == Sides(baseline=Fraction(b, 6), candidate=Fraction(c, 6))
        assert query.baseline_below_floor == (b < 18)


def test_the_decision_on_all_1024_vectors_of_verdicts(contest: Contest) -> None:
    for verdicts in product(VERDICTS, repeat=5):
        ruling = contest.decide(dict(zip(ITEMS, verdicts, strict=True)))
        assert ruling.outcome is not None
        assert ruling.outcome.value == decision_of(verdicts), verdicts


def test_a_missing_verdict_decides_nothing(contest: Contest) -> None:
    for missing in range(5):
        verdicts = dict.fromkeys(ITEMS, "equivalent") | {ITEMS[missing]: None}
        ruling = contest.decide(verdicts)
        assert ruling.outcome is None
        assert ITEMS[missing] in ruling.because


@pytest.mark.parametrize(
    ("candidate", "outcome", "rule", "code"),
    [
        ([24, 24, 24, 24, 24], "go", "all-equivalent-or-superior", 0),
        ([24, 24, 20, 24, 24], "go-with-monitoring", "some-acceptable", 0),
        ([24, 24, 15, 24, 24], "go-with-monitoring", "one-degraded", 0),
        ([24, 24, 24, 15, 15], "conditional", "two-degraded-in-thorough", 4),
        ([15, 24, 24, 24, 24], "no-go", "degraded-in-quick", 1),
        ([24, 15, 15, 24, 24], "no-go", "two-degraded-in-medium", 1),
        ([24, 15, 24, 15, 24], "no-go", "degraded-in-medium-and-thorough", 1),
    ],
)
def test_each_decision_has_its_rule_and_exit_code(
    files: Files, candidate: list[int], outcome: str, rule: str, code: int
) -> None:
    done = compared(files, [GOOD] * 5, candidate, "--format", "json")
    decision = done.json["decision"]
    assert (decision["outcome"], decision["rule"], done.code) == (outcome, rule, code)
    assert decision["because"]
    assert decision["next"]


def test_the_document_has_the_shape_of_the_contract(files: Files) -> None:
    found = as_json(files, [27, 24, 26, 23, 25], [25, 24, 23, 21, 24])
    keys = ["queries", "decision", "aggregate", "operational", "structural", "statistics"]
    assert list(found)[:6] == keys
    first = found["queries"][0]
    assert list(first)[:8] == [
        "item",
        "mode",
        "baseline",
        "candidate",
        "difference",
        "verdict",
        "reasons",
        "meaningful_axes",
    ]
    assert first["baseline"] == {"mean": 4.5}
    assert first["candidate"] == {"mean": 25 / 6}
    assert first["difference"] == -1 / 3
    assert list(found["decision"])[:3] == ["outcome", "rule", "because"]
    assert set(found["aggregate"]) == {"overall", "by_mode"}
    assert list(found["aggregate"]["by_mode"]) == ["quick", "medium", "thorough"]


def test_both_reasons_are_recorded_where_both_hold(files: Files) -> None:
    found = as_json(files, [27, 24, 24, 24, 24], [17, 24, 24, 24, 24])
    assert found["queries"][0]["reasons"] == ["floor", "relative"]


def test_a_baseline_below_the_floor_is_flagged(files: Files) -> None:
    found = as_json(files, [17, 24, 24, 24, 24], [17, 24, 24, 24, 24])
    assert found["queries"][0]["baseline_below_floor"]
    assert not found["queries"][1]["baseline_below_floor"]
    assert any("below the floor" in note for note in found["decision"]["monitoring"])


def test_two_points_on_an_axis_are_meaningful_and_one_is_not(files: Files) -> None:
    lines = rows([GOOD] * 5, [GOOD] * 5)
    lines = [line.replace("TQ-2,small,anna,Q-03,4", "TQ-2,small,anna,Q-03,2") for line in lines]
    lines = [line.replace("TQ-2,small,anna,Q-04,4", "TQ-2,small,anna,Q-04,5") for line in lines]
    done = here(*files.words(files.ratings(lines), "--format", "json"))
    assert done.json["queries"][1]["meaningful_axes"] == ["Q-03"]


def test_the_mean_of_several_raters_is_exact(files: Files) -> None:
    lines = rows([GOOD] * 5, [GOOD] * 5, raters=("a", "b", "c"))
    lines = [line.replace("TQ-1,small,a,Q-01,4", "TQ-1,small,a,Q-01,3") for line in lines]
    found = here(*files.words(files.ratings(lines), "--format", "json")).json
    assert found["queries"][0]["difference"] == -1 / 18
    assert found["raters"] == ["a", "b", "c"]


def test_raters_who_disagree_are_told_to_talk(files: Files) -> None:
    lines = rows([GOOD] * 5, [GOOD] * 5, raters=("a", "b"))
    lines = [
        line.replace(",b,Q-01,4", ",b,Q-01,2").replace(",a,Q-02,4", ",a,Q-02,5") for line in lines
    ]
    found = here(*files.words(files.ratings(lines), "--format", "json")).json
    agreed = found["statistics"]["agreement"]
    assert (agreed["raters"], agreed["units"]) == (["a", "b"], 60)
    assert agreed["percent"] == pytest.approx(40 / 60)
    assert agreed["alpha_ordinal"] < 0.667
    assert any("go through the anchors" in note for note in found["decision"]["monitoring"])
    assert "raters agree: alpha" in here(*files.words(files.ratings(lines), "--lang", "en")).out


def test_the_order_of_variants_alternates_and_is_recorded(files: Files) -> None:
    found = as_json(files, [GOOD] * 5, [GOOD] * 5)
    orders = [entry["variants"] for entry in found["order"]]
    assert orders[:3] == [["big", "small"], ["small", "big"], ["big", "small"]]


def test_conditional_says_where_to_run_three_more_queries(files: Files) -> None:
    found = as_json(files, [GOOD] * 5, [24, 24, 24, 15, 15])
    assert "3" in found["decision"]["next"]
    assert found["decision"]["next"].endswith("in: thorough.")


def test_the_widest_mode_and_the_weakest_axis_are_named(files: Files) -> None:
    notes = as_json(files, [GOOD] * 5, [24, 19, 20, 23, 24])["decision"]["monitoring"]
    assert "medium shows the widest gap: −0.75 on average" in notes
    assert any(note.endswith("loses most: −0.60 on average") for note in notes)


def test_five_queries_are_said_to_be_no_proof(files: Files) -> None:
    found = as_json(files, [27, 24, 26, 23, 25], [25, 24, 23, 21, 24])["statistics"]
    assert found["descriptive_only"]
    assert found["smallest_p"] == {"two_sided": 0.0625, "one_sided": 0.03125}
    assert any("significance cannot be reached" in line for line in found["plain"])
    assert "0.0625" in compared(files, [GOOD] * 5, [GOOD] * 5).out


def test_the_statistics_of_d5_stand_in_the_document(files: Files) -> None:
    found = as_json(files, [27, 24, 26, 23, 25], [25, 24, 23, 21, 24])["statistics"]
    difference, evidence = found["difference"], found["non_inferiority"]
    assert difference["mean"] == pytest.approx(-0.266667, abs=1e-6)
    assert difference["sd"] == pytest.approx(0.190029, abs=1e-6)
    assert difference["t"] == pytest.approx(-3.137858, abs=1e-6)
    assert difference["p_t"] == pytest.approx(0.034920, abs=1e-6)
    assert difference["interval"]["lower"] == pytest.approx(-0.502619, abs=1e-6)
    assert difference["sign_flip"]["two_sided"] == 0.125
    assert difference["sign_flip"]["worse"] == 0.0625
    assert evidence["margin"] == 0.5
    assert evidence["p_t"] == pytest.approx(0.025803, abs=1e-6)
    assert evidence["p_sign_flip"] == 0.0625


def test_a_single_rating_that_would_flip_the_decision_is_named(files: Files) -> None:
    found = as_json(files, [GOOD] * 5, [24, 24, 21, 24, 24])["statistics"]["sensitivity"]
    assert found[0]["item"] == "TQ-3"
    assert found[0]["verdict"] == {"before": "equivalent", "after": "acceptable"}
    assert found[0]["decision"] == {"before": "go", "after": "go-with-monitoring"}
    quiet = as_json(files, [GOOD] * 5, [GOOD] * 5)["statistics"]["sensitivity"]
    assert quiet == []


def test_a_flip_is_what_compare_says_of_the_changed_file(files: Files) -> None:
    lines = rows([GOOD] * 5, [24, 24, 21, 16, 24])
    before = here(*files.words(files.ratings(lines), "--format", "json")).json
    for flip in before["statistics"]["sensitivity"]:
        row = f"{flip['item']},{flip['variant']},anna,{flip['axis']},"
        changed = [f"{row}{flip['instead']}," if line.startswith(row) else line for line in lines]
        after = here(*files.words(files.ratings(changed, "other.csv"), "--format", "json")).json
        at = ITEMS.index(flip["item"])
        assert after["queries"][at]["verdict"] == flip["verdict"]["after"]
        assert after["decision"]["outcome"] == flip["decision"]["after"]


def test_one_margin_decides_the_evidence_and_nothing_else(files: Files) -> None:
    wide = as_json(files, [27, 24, 26, 23, 25], [25, 24, 23, 21, 24], "--margin", "0.1")
    assert wide["statistics"]["non_inferiority"]["margin"] == 0.1
    assert wide["statistics"]["non_inferiority"]["outcome"] == "inconclusive"
    assert wide["decision"]["outcome"] == "go"


def test_no_variant_and_no_rubric_names_a_model() -> None:
    assert "haiku" not in RUBRIC.source.lower()
    assert "sonnet" not in RUBRIC.source.lower()


@pytest.fixture
def three(files: Files) -> list[str | Path]:
    """Ratings of three variants: `small` is as good as `big`, `tiny` is not."""
    scores = [27, 24, 26, 23, 25]
    lines = rows(scores, scores[::-1])
    worse = [line.replace(",small,", ",tiny,") for line in rows(scores, [15, 17, 16, 18, 16])]
    lines += [line for line in worse if ",tiny," in line]
    return [*files.words(files.ratings(lines)), "-c", "tiny"]


def test_more_than_two_variants_are_compared_in_pairs_with_holm(
    files: Files, three: list[str | Path]
) -> None:
    found = here(*three, "--format", "json").json
    assert found["variants"] == ["big", "small", "tiny"]
    named = [(pair["baseline"], pair["candidate"]) for pair in found["pairs"]]
    assert named == [("big", "small"), ("big", "tiny"), ("small", "tiny")]
    tested = [p["statistics"]["difference"]["sign_flip"]["two_sided"] for p in found["pairs"]]
    assert [pair["p_holm"] for pair in found["pairs"]] == [
        float(p) for p in holm([Fraction(p) for p in tested])
    ]
    outcomes = [pair["decision"]["outcome"] for pair in found["pairs"]]
    assert outcomes == ["go", "no-go", "no-go"]
    done = here(*three, "--markdown", files.folder / "o.md")
    assert done.code == 1
    assert "p (Holm)" in done.out
    assert "tiny: NO-GO (rule degraded-in-quick)" in done.out
    page = (files.folder / "o.md").read_text(encoding="utf-8")
    assert page.count("#### Queries") == 2


def test_each_of_several_variants_is_rated_whole(files: Files, three: list[str | Path]) -> None:
    ratings = files.folder / "ratings.csv"
    lines = ratings.read_text(encoding="utf-8").splitlines()
    ratings.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    done = here(*three)
    assert done.code == 3
    assert "lacks Q-06 for `TQ-5`, `tiny`" in done.err
    assert here(*three, "--allow-gaps").code == 4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-c", "small"), "a variant is named twice"),
        (("--plan",), "--plan takes one candidate"),
        (("--answers", "-"), "--answers - takes one candidate"),
    ],
)
def test_what_takes_two_variants_refuses_three(
    three: list[str | Path], words: tuple[str, ...], told: str
) -> None:
    done = here(*three, *words)
    assert (done.code, told in done.err) == (2, True)


def test_checks_and_measures_of_every_query_are_side_by_side(files: Files) -> None:
    lines = [
        {"item": item, "subject": variant, "output": "no headers", "tokens_in": 1000 + 500 * at}
        for item in ITEMS
        for at, variant in enumerate(("big", "small"))
    ]
    answers = files.write("a.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
    page = files.folder / "o.md"
    words = files.words(files.ratings(rows([GOOD] * 5, [23] * 5)), "--answers", answers)
    told = "TQ-3 (medium): S-01 ✗ / ✗, S-02 ✓ / ✓, S-03 ✗ / ✗; tokens_in 1,000 / 1,500"
    assert told in here(*words, "--markdown", page).out
    assert told in page.read_text(encoding="utf-8").replace("\\", "")


def test_without_any_noise_nothing_is_said_of_what_it_does(files: Files) -> None:
    words = files.words(files.ratings(rows([GOOD] * 5, [GOOD] * 5)))
    assert "so no noise was seen" in here(*words).out
    assert here(*words, "--format", "json").json["statistics"]["operating"] is None


def test_the_simulation_of_the_table_has_a_seed(files: Files) -> None:
    words = files.words(files.ratings(rows([27, 24, 26, 23, 25], [25, 24, 23, 21, 24])))
    one, same, other = (
        here(*words, *seed, "--format", "json").json["statistics"]["operating"]
        for seed in ((), ("--seed", "0"), ("--seed", "5"))
    )
    assert one == same
    assert one["identical"] == other["identical"]
    assert one["simulated"]["identical"] != other["simulated"]["identical"]
    assert (other["simulated"]["seed"], other["simulated"]["draws"]) == (5, 10_000)
    assert "a simulation of 10,000 comparisons (seed 5)" in here(*words, "--seed", "5").out


ENVIRONMENTS: tuple[dict[str, Any], ...] = (
    {"LC_ALL": "C", "PYTHONHASHSEED": "0", "COLUMNS": "40"},
    {"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1", "COLUMNS": "300"},
    {"LC_ALL": "es_ES.UTF-8", "PYTHONHASHSEED": "77", "LANG": "es_ES.UTF-8"},
    {"LC_ALL": "", "LC_NUMERIC": "de_DE.UTF-8", "LANG": "", "TZ": "Asia/Tokyo"},
)


def test_the_same_ratings_give_the_same_bytes_wherever_and_in_whatever_order(files: Files) -> None:
    """Text, JSON, Markdown and HTML; JSON does not even follow the language of the locale."""
    lines = rows([27, 24, 26, 23, 25], [25, 24, 23, 21, 24], raters=("zoë", "anna"))
    lines.append('TQ-4,small,anna,OP-05,,"needed, but slow"')
    kept = set()
    for number, environment in enumerate(ENVIRONMENTS):
        Random(number).shuffle(lines)  # noqa: S311 - an order
        path = files.folder / str(number)
        path.mkdir()
        words = files.words(Files(path).ratings(lines))
        written = ("--markdown", path / "o.md", "--html", path / "o.html")
        text = markscheme(*words, "--lang", "en", *written, **environment)
        data = markscheme(*words, "--format", "json", **environment)
        pages = ((path / name).read_bytes() for name in ("o.md", "o.html"))
        kept.add((text.out, text.err, text.code, data.out, data.err, *pages))
    assert len(kept) == 1


@pytest.mark.parametrize("words", [(), ("--format", "json")])
def test_a_pipe_gets_the_same_bytes_whatever_the_character_set(
    files: Files, words: tuple[str, ...]
) -> None:
    ratings = files.ratings(rows([27, 24, 26, 23, 25], [25, 24, 23, 21, 24], raters=("zoë",)))
    every = files.words(ratings, "--lang", "en", *words)
    latin = markscheme(*every, PYTHONIOENCODING="latin-1", PYTHONUTF8="0")
    assert "−" in latin.out
    assert latin.out == here(*every).out


def test_markdown_keeps_foreign_text_dead(files: Files) -> None:
    lines = [*rows([GOOD] * 5, [GOOD] * 5), "TQ-1,small,anna,OP-05,,<img src=x> @all"]
    path = files.folder / "o.md"
    here(*files.words(files.ratings(lines), "--markdown", path))
    assert "`TQ-1, small, OP-05 (anna): <img src=x> @all`" in path.read_text()
    assert path.read_text().startswith("### GO: small against big")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-b", "small"], "baseline and candidate are both `small`"),
        (["--margin", "-1"], "is not above 0"),
        (["--margin", "nan"], "is not above 0"),
        (["--margin", "1e400"], "is not between"),
        (["--plan", "--noise", "1e-300"], "is not between"),
        (["--markdown", "ratings.csv"], "is an input of this run"),
        (["--log-map", "map.csv"], "--log-map goes with --logs"),
        (["--plan", "--seed", "1"], "--seed goes with ratings"),
        (["--noise", "1"], "--noise goes with --plan"),
        (["--cluster", "mode"], "--cluster goes with runs"),
        (["--markdown", "out", "--html", "./out"], "one file for --markdown and --html"),
        (["-r", "tutor-capstone"], "no axes of kind `scale`, no `verdict_rules`, no `decision_"),
    ],
)
def test_what_cannot_be_carried_out_is_wrong_usage(
    files: Files, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str
) -> None:
    monkeypatch.chdir(files.folder)
    files.ratings(rows([GOOD] * 5, [GOOD] * 5))
    usual = ["-r", "context-agent", "-e", "exam.yaml", "-b", "big", "-c", "small"]
    exam = ["-e", "capstone"] if "tutor-capstone" in words else usual[2:4]
    done = here("compare", *usual[:2], *exam, *usual[4:], "--ratings", "ratings.csv", *words)
    assert done.code == 2
    assert told in done.err


def test_a_variant_is_the_same_however_its_accent_is_typed(files: Files) -> None:
    lines = [line.replace("small", "zo\u00eb") for line in rows([GOOD] * 5, [GOOD] * 5)]
    words = files.words(files.ratings(lines), "--format", "json")
    done = here(*("zoe\u0308" if word == "small" else word for word in words))
    assert done.code == 0
    assert done.json["candidate"] == "zo\u00eb"


@pytest.mark.parametrize(("noise", "margin"), [("1e-6", "1e6"), ("1e6", "1e-6")])
def test_a_plan_for_the_strangest_numbers_is_a_plan(noise: str, margin: str) -> None:
    assert here("compare", "--plan", "--noise", noise, "--margin", margin).code == 0


def test_what_is_missing_is_named(files: Files) -> None:
    done = here("compare", "-r", "context-agent", "-e", files.exam)
    assert done.code == 2
    assert "missing: --baseline, --candidate, --ratings" in done.err


def test_a_query_without_a_mode_of_the_table_is_refused_with_its_line(files: Files) -> None:
    files.write("exam.yaml", files.exam.read_text().replace("mode: quick", "mode: fast"))
    with pytest.raises(DocumentError) as refused:
        compare(RUBRIC, load_exam(files.exam), [], baseline="big", candidate="small")
    (problem,) = refused.value.problems
    assert (problem.line, problem.field) == (3, "items.0.tags.mode")
    assert "`fast` is no mode of the decision table" in problem.message


def observed(files: Files, failing: dict[tuple[str, str], list[str]]) -> Any:
    """Return a comparison with checks of two axes; the failing ones are named by axis."""
    exam = load_exam(files.exam, rubric=RUBRIC)
    seen = [
        Observed(
            item=item,
            variant=variant,
            structural={
                axis: Cell.missed("no")
                if axis in failing.get((item, variant), [])
                else Cell.passed("")
                for axis in ("S-01", "S-02")
            },
            metrics={"latency_s": Fraction(10 if variant == "big" else 20), "tokens": None},
        )
        for item in ITEMS
        for variant in ("big", "small")
    ]
    ratings = files.ratings(rows([GOOD] * 5, [GOOD] * 5))
    return compare(RUBRIC, exam, ratings, baseline="big", candidate="small", observed=seen)


def test_a_check_that_fails_for_both_is_a_prompt_problem(files: Files) -> None:
    failing = {(item, variant): ["S-02"] for item in ITEMS[:4] for variant in ("big", "small")}
    found = observed(files, failing)
    told = "S-02 fails for both variants in 8 of 10: a prompt problem, not a model problem"
    assert told in found.decision.monitoring
    assert found.structural[1].failed == (4, 4)


def test_a_check_that_fails_only_for_the_candidate_is_its_doing(files: Files) -> None:
    found = observed(files, {("TQ-1", "small"): ["S-01"]})
    told = "S-01 fails only for small, in 1 of 5: the same prompt works for big"
    assert told in found.decision.monitoring


def test_measured_numbers_stand_side_by_side_and_unknown_ones_stay_unknown(files: Files) -> None:
    latency, tokens = observed(files, {}).operational
    assert latency.mean == Sides(baseline=Fraction(10), candidate=Fraction(20))
    assert (tokens.n, tokens.mean) == (0, Sides(baseline=None, candidate=None))


def test_answers_are_marked_and_shown_beside_the_verdicts(files: Files) -> None:
    anchors = "{1: a, 2: b, 3: c, 4: d, 5: e}"
    rubric = files.write(
        "rubric.yaml",
        RUBRIC.source.partition("axes:")[0].replace("context-agent", "mine")
        + "axes:\n  - {name: brief, kind: max_words, weight: 1, limit: 3}\n"
        + "".join(
            f"  - {{name: {axis}, kind: scale, question: q, anchors: {anchors}}}\n" for axis in AXES
        )
        + "verdicts:"
        + RUBRIC.source.partition("verdicts:")[2],
    )
    answers = files.write(
        "answers.jsonl",
        "".join(
            json.dumps({"item": item, "subject": variant, "output": text, "latency_ms": 5}) + "\n"
            for item in ITEMS
            for variant, text in (("big", "one two"), ("small", "one two three four"))
        ),
    )
    words = ("--ratings", files.ratings(rows([GOOD] * 5, [GOOD] * 5)), "-a", answers)
    usual = ("compare", "-r", rubric, "-e", files.exam, "-b", "big", "-c", "small")
    done = here(*usual, *words, "--format", "json")
    assert done.code == 0
    assert done.json["structural"]["brief"]["baseline"] == {"judged": 5, "failed": 0}
    assert done.json["structural"]["brief"]["candidate"] == {"judged": 5, "failed": 5}
    assert done.json["operational"]["latency_ms"]["baseline"] == 5
    assert done.json["operational"]["cost"]["baseline"] is None
    assert "brief" in here(*usual, *words).out


def test_a_contest_needs_rules_and_scales() -> None:
    tutor = load_rubric("tutor-capstone")
    exam = load_exam("capstone", rubric=tutor)
    with pytest.raises(UsageError, match="no axes of kind `scale`, no `verdict_rules`"):
        Contest(rubric=tutor, exam=exam, baseline="a", candidate="b")
