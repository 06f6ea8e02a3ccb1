"""After a conditional decision: further queries decide, and what is missing is never good."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands import Done, here
from comparisons import AXES, GOOD, ITEMS, MODES, Files, rows, spread
from markscheme import compare, load_exam, load_rubric
from markscheme.weigh.compare import ComparisonRules

if TYPE_CHECKING:
    from collections.abc import Iterable

BAD = 15
CONDITIONAL = [GOOD, GOOD, GOOD, BAD, BAD]
FOLLOW_UP = """\
exam: further
items:
  - {id: FU-1, prompt: more, tags: {mode: thorough}}
  - {id: FU-2, prompt: more still, tags: {mode: thorough}}
  - {id: FU-3, prompt: yet more, tags: {mode: thorough}}
  - {id: FU-4, prompt: another mode, tags: {mode: quick}}
"""
FURTHER = ("FU-1", "FU-2", "FU-3", "FU-4")


def further_rows(sums: dict[str, int], variants: Iterable[str] = ("big", "small")) -> list[str]:
    """Return ratings of further queries; the sums are those of all variants but `big`."""
    return [
        f"{item},{variant},anna,{axis},{score},"
        for item, total in sums.items()
        for variant in variants
        for axis, score in zip(AXES, spread(GOOD if variant == "big" else total), strict=True)
    ]


def followed_up(
    files: Files, main: list[int], further: dict[str, int], *more: str, exam: str = FOLLOW_UP
) -> Done:
    ratings = files.ratings(rows([GOOD] * 5, main))
    words = files.words(ratings, "--follow-up", files.write("further.yaml", exam), *more)
    if further:
        words += ["--ratings", files.ratings(further_rows(further), "further.csv")]
    return here(*words, "--format", "json")


def decided(
    files: Files, main: list[int], further: dict[str, int], *more: str
) -> tuple[str, int, Any]:
    done = followed_up(files, main, further, *more)
    return done.json["decision"]["outcome"], done.code, done.json["decision"]


def test_three_good_queries_in_the_degraded_mode_lead_to_go_with_monitoring(files: Files) -> None:
    outcome, code, decision = decided(files, CONDITIONAL, dict.fromkeys(FURTHER[:3], GOOD))
    assert (outcome, code) == ("go-with-monitoring", 0)
    assert decision["rule"] == "no-further-degraded"
    assert decision["main"]["outcome"] == "conditional"
    assert decision["main"]["rule"] == "two-degraded-in-thorough"
    further = decision["follow_up"]
    assert (further["asked"], further["needed"], further["missing"]) == (True, 3, 0)
    assert further["modes"] == ["thorough"]
    assert further["counted"] == ["FU-1", "FU-2", "FU-3"]


def test_one_degraded_query_of_three_leads_to_no_go(files: Files) -> None:
    outcome, code, decision = decided(files, CONDITIONAL, {"FU-1": GOOD, "FU-2": GOOD, "FU-3": BAD})
    assert (outcome, code, decision["rule"]) == ("no-go", 1, "degraded-again")
    assert decision["follow_up"]["degraded"] == ["FU-3"]


@pytest.mark.parametrize(("rated", "missing"), [(0, 3), (1, 2), (2, 1)])
def test_fewer_than_three_stay_conditional_and_say_how_many_are_missing(
    files: Files, rated: int, missing: int
) -> None:
    sums = dict.fromkeys(FURTHER[:rated], GOOD)
    outcome, code, decision = decided(files, CONDITIONAL, sums)
    assert (outcome, code) == ("conditional", 4)
    assert decision["follow_up"]["missing"] == missing
    assert (
        f"{missing} of the 3" in decision["next"] or f"the {missing} additional" in decision["next"]
    )


def test_a_degraded_query_is_named_while_others_are_missing(files: Files) -> None:
    outcome, _, decision = decided(files, CONDITIONAL, {"FU-1": BAD})
    assert outcome == "conditional"
    assert "degraded already: FU-1" in decision["because"]


def test_a_query_of_another_mode_does_not_count_toward_the_three(files: Files) -> None:
    sums = {"FU-1": GOOD, "FU-2": GOOD, "FU-4": GOOD}
    outcome, _, decision = decided(files, CONDITIONAL, sums)
    assert outcome == "conditional"
    assert decision["follow_up"]["other_modes"] == ["FU-4"]
    assert "FU-4 (quick) do not count toward the 3" in decision["because"]


def test_a_degraded_query_of_another_mode_counts_against_the_candidate(files: Files) -> None:
    sums = dict.fromkeys(FURTHER[:3], GOOD) | {"FU-4": BAD}
    assert decided(files, CONDITIONAL, sums)[0] == "no-go"


def test_a_query_of_another_mode_need_not_be_run(files: Files) -> None:
    outcome, _, decision = decided(files, CONDITIONAL, dict.fromkeys(FURTHER[:3], GOOD))
    assert outcome == "go-with-monitoring"
    assert decision["follow_up"]["without_verdict"] == ["FU-4"]
    assert "no verdict on FU-4" in decision["because"]


def test_a_missing_verdict_is_no_good_verdict(files: Files) -> None:
    ratings = files.ratings(rows([GOOD] * 5, CONDITIONAL))
    lines = further_rows(dict.fromkeys(FURTHER, GOOD))[:-1]
    exam = FOLLOW_UP.replace("mode: quick", "mode: thorough")
    words = files.words(ratings, "--follow-up", files.write("further.yaml", exam))
    words += ["--ratings", files.ratings(lines, "further.csv"), "--format", "json"]
    assert here(*words).code == 3
    done = here(*words, "--allow-gaps")
    assert (done.json["decision"]["outcome"], done.code) == ("conditional", 4)
    assert done.json["decision"]["follow_up"]["without_verdict"] == ["FU-4"]
    assert "FU-4" in done.json["decision"]["next"]
    assert done.json["allowed_gaps"][-1].endswith("FU-4 have none.")


@pytest.mark.parametrize(("main", "outcome"), [([GOOD] * 5, "go"), ([BAD, *[GOOD] * 4], "no-go")])
def test_follow_ups_that_nobody_asked_for_decide_nothing_and_are_shown(
    files: Files, main: list[int], outcome: str
) -> None:
    sums = dict.fromkeys(FURTHER[:2], GOOD) | {"FU-3": BAD}
    found, _, decision = decided(files, main, sums)
    assert found == outcome == decision["main"]["outcome"]
    assert not decision["follow_up"]["asked"]
    assert any("nobody asked for them" in line for line in decision["warnings"])
    assert any("decide nothing: FU-3" in line for line in decision["warnings"])


def test_the_tag_round_2_says_the_same_as_an_exam_of_its_own(files: Files) -> None:
    sums = dict.fromkeys(FURTHER[:3], GOOD)
    own = followed_up(files, CONDITIONAL, sums).json
    items = FOLLOW_UP.partition("items:\n")[2].replace("mode:", "round: 2, mode:")
    files.exam = files.write("both.yaml", files.exam.read_text() + items)
    lines = rows([GOOD] * 5, CONDITIONAL) + further_rows(sums)
    tagged = here(*files.words(files.ratings(lines), "--format", "json")).json
    assert tagged["decision"] == own["decision"]
    assert tagged["queries"] == own["queries"]


def test_a_follow_up_is_counted_in_no_figure_of_the_main_round(files: Files) -> None:
    found = followed_up(files, CONDITIONAL, dict.fromkeys(FURTHER[:3], GOOD)).json
    assert found["aggregate"]["overall"]["items"] == list(ITEMS)
    assert found["statistics"]["items"] == list(ITEMS)
    assert found["aggregate"]["follow_up"]["items"] == list(FURTHER)
    assert found["aggregate"]["follow_up"]["n"] == 3
    assert [query["round"] for query in found["queries"]] == [1] * 5 + [2] * 4


def test_a_rating_of_the_follow_up_can_turn_the_decision(files: Files) -> None:
    sums = dict.fromkeys(FURTHER[:2], GOOD) | {"FU-3": 16}
    found = followed_up(files, CONDITIONAL, sums).json["statistics"]["sensitivity"]
    flips = [(one["item"], one["decision"]["after"]) for one in found if one["decides"]]
    assert flips == []
    sums = dict.fromkeys(FURTHER[:2], GOOD) | {"FU-3": 18}
    found = followed_up(files, CONDITIONAL, sums).json["statistics"]["sensitivity"]
    assert ("FU-3", "no-go") in {(one["item"], one["decision"]["after"]) for one in found}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("mode: quick}", "mode: quick, round: 1}", "is not the round of a follow-up"),
        ("FU-4", "TQ-1", "`TQ-1` is an item of the main round too"),
    ],
)
def test_what_cannot_be_a_follow_up_is_refused_with_its_line(
    files: Files, old: str, new: str, told: str
) -> None:
    done = followed_up(files, CONDITIONAL, {}, exam=FOLLOW_UP.replace(old, new))
    assert done.code == 3
    assert told in done.err
    assert "further.yaml:6" in done.err


def test_a_round_that_does_not_exist_is_refused(files: Files) -> None:
    files.write("exam.yaml", files.exam.read_text().replace("mode: quick", "mode: quick, round: 3"))
    done = here(*files.words(files.ratings(rows([GOOD] * 5, [GOOD] * 5))))
    assert done.code == 3
    assert "`3` is no round; allowed: 1 (main round), 2 (follow-up)" in done.err


def test_only_follow_ups_are_no_main_round(files: Files) -> None:
    text = files.exam.read_text()
    for mode in ("quick", "medium", "thorough"):
        text = text.replace(f"mode: {mode}", f"mode: {mode}, round: 2")
    files.write("exam.yaml", text)
    done = here(*files.words(files.ratings(rows([GOOD] * 5, [GOOD] * 5)), "--format", "json"))
    assert (done.json["decision"]["outcome"], done.code) == ("none", 4)


def test_of_several_candidates_only_the_conditional_one_is_followed_up(files: Files) -> None:
    lines = rows([GOOD] * 5, CONDITIONAL)
    better = [line.replace(",small,", ",tiny,") for line in rows([GOOD] * 5, [GOOD] * 5)]
    lines += [line for line in better if ",tiny," in line]
    further = files.ratings(further_rows(dict.fromkeys(FURTHER[:3], GOOD)), "further.csv")
    words = files.words(files.ratings(lines), "-c", "tiny", "--ratings", further)
    words += ["--follow-up", files.write("further.yaml", FOLLOW_UP)]
    found = here(*words, "--format", "json").json["pairs"]
    assert [pair["decision"]["outcome"] for pair in found[:2]] == ["go-with-monitoring", "go"]
    assert not any("asked" in line for line in found[1]["decision"]["warnings"])
    shown = here(*words, "--lang", "en")
    assert shown.code == 0
    assert "follow-up: GO, with monitoring (rule no-further-degraded)" in shown.out


def test_a_cell_that_is_rated_in_two_files_is_refused_with_both_places(files: Files) -> None:
    lines = rows([GOOD] * 5, [GOOD] * 5)
    one, other = files.ratings(lines), files.ratings(lines[:1], "again.csv")
    done = here(*files.words(one, "--ratings", other))
    assert done.code == 3
    assert "again.csv:2" in done.err
    assert f"on line 2 of {one} already" in done.err


def test_every_medium_shows_both_rounds_in_both_languages(files: Files) -> None:
    ratings = files.ratings(rows([GOOD] * 5, CONDITIONAL))
    further = files.ratings(further_rows(dict.fromkeys(FURTHER[:3], GOOD)), "further.csv")
    words = files.words(ratings, "--ratings", further)
    words += ["--follow-up", files.write("further.yaml", FOLLOW_UP)]
    pages = [files.folder / "page.html", files.folder / "page.md"]
    words += ["--html", pages[0], "--markdown", pages[1]]
    for language, told, warning in (
        ("en", "main round: CONDITIONAL", "Only anna rated"),
        ("es", "ronda principal: CONDICIONAL", "Solo evaluó anna"),
    ):
        out = here(*words, "--lang", language).out
        for text in (out, *(page.read_text(encoding="utf-8") for page in pages)):
            assert told in text
            assert warning in text


RULES = ComparisonRules(
    rubric=load_rubric("context-agent"),
    exam=load_exam("context-queries"),
    baseline="big",
    candidate="small",
)
VERDICTS = st.sampled_from(["superior", "equivalent", "acceptable", "degraded"])
FURTHER_VERDICTS = st.lists(
    st.tuples(st.sampled_from(["quick", "medium", "thorough"]), st.none() | VERDICTS), max_size=6
)


def expected_outcome(main: list[str], further: list[tuple[str, str | None]]) -> str:
    """Say the final decision: the contract, written anew."""
    bad = Counter(mode for mode, verdict in zip(MODES, main, strict=True) if verdict == "degraded")
    quick, medium, thorough = bad["quick"], bad["medium"], bad["thorough"]
    if quick or medium >= 2 or (medium and thorough):
        return "no-go"
    if thorough < 2:
        return "go-with-monitoring" if medium + thorough or "acceptable" in main else "go"
    rated = [(mode, verdict) for mode, verdict in further if verdict is not None]
    enough = sum(mode == "thorough" for mode, _ in rated) >= 3
    if not enough or ("thorough", None) in further:
        return "conditional"
    return "no-go" if any(v == "degraded" for _, v in rated) else "go-with-monitoring"


@settings(max_examples=150)
@given(st.lists(VERDICTS, min_size=5, max_size=5), FURTHER_VERDICTS)
def test_the_final_decision_is_that_of_the_contract(
    main: list[str], further: list[tuple[str, str | None]]
) -> None:
    check_decision(main, further)


@settings(max_examples=150)
@given(FURTHER_VERDICTS)
def test_after_conditional_the_final_decision_is_that_of_the_contract(
    further: list[tuple[str, str | None]],
) -> None:
    check_decision(["equivalent", "superior", "acceptable", "degraded", "degraded"], further)


def check_decision(main: list[str], further: list[tuple[str, str | None]]) -> None:
    names = [f"FU-{number}" for number in range(len(further))]
    modes = dict(zip(names, (mode for mode, _ in further), strict=True))
    maker = replace(
        RULES.decision_maker,
        modes={**RULES.decision_maker.modes, **modes},
        follow_ups=frozenset(names),
    )
    verdicts = dict(zip(ITEMS, main, strict=True)) | dict(
        zip(names, (verdict for _, verdict in further), strict=True)
    )
    ruling = maker.decide(verdicts)
    assert ruling.outcome is not None
    assert ruling.outcome.value == expected_outcome(main, further)
    assert ruling.because
    assert ruling.next


def test_the_library_takes_a_follow_up_too(files: Files) -> None:
    sums = dict.fromkeys(FURTHER[:3], GOOD)
    found = compare(
        "context-agent",
        files.exam,
        [
            files.ratings(rows([GOOD] * 5, CONDITIONAL)),
            files.ratings(further_rows(sums), "further.csv"),
        ],
        baseline="big",
        candidate="small",
        follow_up=files.write("further.yaml", FOLLOW_UP),
    )
    assert found.decision.outcome == "go-with-monitoring"
    assert found.decision.main is not None
    assert found.decision.main.outcome == "conditional"
