"""Warnings beside a decision, and what a rubric makes blocking."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from commands import here
from comparisons import AXES, GOOD, ITEMS, Files, rows, spread
from markscheme import compare, load_exam, load_rubric
from markscheme.vocabulary import Cell, DecisionOutcome, DocumentError
from markscheme.weigh.compare import Comparison, Observed

if TYPE_CHECKING:
    from collections.abc import Mapping

SOURCE = Path(__file__).parent.parent / "src/markscheme/builtin/rubrics/context-agent.yaml"
BAD = 15


def with_keys(files: Files, *lines: str) -> Path:
    """Return the built-in rubric with more keys."""
    text = SOURCE.read_text(encoding="utf-8")
    return files.write("rubric.yaml", "\n".join([text, *lines]) + "\n")


def decide(
    files: Files,
    rubric: str | Path,
    cells: Mapping[tuple[str, str], Cell] | None = None,
    *,
    sums: list[int] | None = None,
    lines: list[str] | None = None,
) -> Comparison:
    """Compare with the cells of S-01; an answer that is not named passes it."""
    seen = [
        Observed(
            item=item,
            variant=variant,
            structural={"S-01": (cells or {}).get((item, variant), Cell.passed(""))},
        )
        for item in ITEMS
        for variant in ("big", "small")
    ]
    known = load_rubric(rubric)
    ratings = files.ratings(lines or rows([GOOD] * 5, sums or [GOOD] * 5, raters=("a", "b")))
    return compare(
        known,
        load_exam(files.exam, rubric=known),
        ratings,
        baseline="big",
        candidate="small",
        observed=[] if cells is None else seen,
    )


FAILS = {("TQ-2", "small"): Cell.missed("no")}
ABSTAINS = {("TQ-2", "small"): Cell.abstained("no log")}
BASELINE_FAILS = {("TQ-2", "big"): Cell.missed("no")}


@pytest.mark.parametrize(
    ("cells", "outcome", "met"),
    [
        ({}, "go", True),
        (BASELINE_FAILS, "go", True),
        (FAILS, "no-go", False),
        (ABSTAINS, None, None),
        (None, None, None),
        ({**ABSTAINS, ("TQ-1", "small"): Cell.missed("no")}, "no-go", False),
    ],
)
def test_a_blocking_check_must_be_passed_on_every_query(
    files: Files, cells: Any, outcome: str | None, met: Any
) -> None:
    found = decide(files, with_keys(files, "blocking: [S-01]"), cells).decision
    assert found.outcome == outcome
    assert [(one.requirement, one.met) for one in found.requirements] == [("S-01", met)]
    assert found.main is not None
    assert found.main.outcome == "go"
    if met is not True:
        assert "S-01 is blocking" in found.because
        assert "would be go" in found.next


def test_a_check_that_is_not_blocking_is_a_warning(files: Files) -> None:
    found = decide(files, "context-agent", FAILS).decision
    assert found.outcome == "go"
    assert "S-01 fails only for small, in 1 of 5: the same prompt works for big" in found.warnings


@pytest.mark.parametrize("sums", [[BAD, *[GOOD] * 4], [GOOD, GOOD, GOOD, BAD, BAD]])
@pytest.mark.parametrize("cells", [{}, FAILS, ABSTAINS, None])
def test_no_requirement_makes_a_decision_better(files: Files, sums: list[int], cells: Any) -> None:
    plain = decide(files, "context-agent", cells, sums=sums).decision.outcome
    rubric = with_keys(files, "blocking: [S-01]", "agreement: {alpha: 0.4}")
    found = decide(files, rubric, cells, sums=sums).decision
    assert plain is not None
    assert found.outcome is None or found.outcome.rank >= plain.rank
    if plain is DecisionOutcome.NO_GO:
        assert found.outcome is DecisionOutcome.NO_GO


def scattered(seed: int = 1) -> list[str]:
    """Return ratings of two raters who agree on nothing, with averages that are a plain go."""
    random = Random(seed)  # noqa: S311 - made-up ratings
    lines = []
    for item in ITEMS:
        for variant in ("big", "small"):
            for rater in ("a", "b"):
                scores = [3, 4, 5, 3, 4, 5]
                random.shuffle(scores)
                lines += [
                    f"{item},{variant},{rater},{axis},{score},"
                    for axis, score in zip(AXES, scores, strict=True)
                ]
    return lines


def test_raters_who_agree_on_nothing_are_a_warning_beside_go(files: Files) -> None:
    found = decide(files, "context-agent", lines=scattered())
    agreed = found.statistics.agreement
    assert agreed is not None
    assert agreed.alpha is not None
    assert abs(agreed.alpha) < 0.25
    assert found.decision.outcome == "go"
    assert any("agree too little to build on" in line for line in found.decision.warnings)
    done = here(*files.words(files.folder / "ratings.csv", "--lang", "en"))
    assert done.code == 0
    assert "warning: raters agree too little to build on" in done.out


def test_raters_who_agree_on_nothing_decide_nothing_where_they_must_agree(files: Files) -> None:
    found = decide(files, with_keys(files, "agreement: {alpha: 0.4}"), lines=scattered()).decision
    assert found.outcome is None
    assert "alpha of at least 0.4" in found.because
    (one,) = found.requirements
    assert (one.requirement, one.met) == ("agreement", False)


def test_raters_who_agree_well_meet_the_requirement(files: Files) -> None:
    lines = rows([GOOD, 27, 21, 25, 28], [GOOD, 27, 20, 25, 27], raters=("a", "b"))
    found = decide(files, with_keys(files, "agreement: {alpha: 0.4}"), lines=lines).decision
    assert found.outcome == "go"
    assert [one.met for one in found.requirements] == [True]


@pytest.mark.parametrize("raters", [("a",), ("a", "b")])
def test_agreement_that_cannot_be_computed_is_not_met(
    files: Files, raters: tuple[str, ...]
) -> None:
    lines = rows([GOOD] * 5, [GOOD] * 5, raters=raters)
    found = decide(files, with_keys(files, "agreement: {alpha: 0.4}"), lines=lines).decision
    assert found.outcome is None
    assert "it cannot be computed" in found.because


def test_a_single_rater_is_a_warning(files: Files) -> None:
    found = decide(files, "context-agent", lines=rows([GOOD] * 5, [GOOD] * 5)).decision
    assert any(line.startswith("Only anna rated") for line in found.warnings)


def write_modes(files: Files, modes: str) -> list[str]:
    """Write an exam with queries of these modes (q, m or t); return good ratings of it."""
    names = {"q": "quick", "m": "medium", "t": "thorough"}
    items = [
        f"  - {{id: X-{n}, prompt: ask {n}, tags: {{mode: {names[m]}}}}}"
        for n, m in enumerate(modes)
    ]
    files.write("exam.yaml", "\n".join(["exam: other", "items:", *items]) + "\n")
    return [
        f"X-{n},{variant},{rater},{axis},{score},"
        for n in range(len(modes))
        for variant in ("big", "small")
        for rater in ("a", "b")
        for axis, score in zip(AXES, spread(GOOD + n % 3), strict=True)
    ]


@pytest.mark.parametrize("modes", ["q", "t", "qmmt", "qmmmmm", "mmtt"])
def test_an_exam_that_lacks_queries_of_the_table_decides_nothing(files: Files, modes: str) -> None:
    done = here(*files.words(files.ratings(write_modes(files, modes)), "--format", "json"))
    decision = done.json["decision"]
    assert (decision["outcome"], done.code) == ("none", 4)
    assert "the exam lacks" in decision["because"]
    assert decision["rule"] is None


def test_an_exam_with_more_queries_decides_with_a_warning(files: Files) -> None:
    done = here(*files.words(files.ratings(write_modes(files, "qqmmtt")), "--format", "json"))
    assert done.code == 0
    (warning,) = done.json["decision"]["warnings"]
    assert "is made for 1 quick, 2 medium, 2 thorough queries and decides here on" in warning


def test_few_queries_are_a_warning_where_the_table_is_made_for_them(files: Files) -> None:
    ranges = "queries: { quick: {at_least: 1, at_most: 2}, medium: {at_least: 0, at_most: 2}, "
    text = SOURCE.read_text(encoding="utf-8").replace(
        "queries: { quick: 1, medium: 2, thorough: 2 }",
        f"{ranges}thorough: {{at_least: 0, at_most: 2}} }}",
    )
    found = decide(files, files.write("rubric.yaml", text), lines=write_modes(files, "q")).decision
    assert found.outcome == "go"
    assert "The decision rests on few queries: 1; one more could turn it." in found.warnings


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("blocking: [S-1]", "`S-1` is no check of this document"),
        ("blocking: [Q-01]", "`Q-01` is no check of this document"),
        ("blocking: [S-01, S-01]", "occurs twice"),
        ("blocking: []", "is empty"),
        ("blocking:", "must be"),
        ("agreement: 0.4", "must be"),
        ("agreement: {}", "is missing"),
        ("agreement: {alpha: 2}", "above 1"),
        ("agreement: {alpha: 0}", "0"),
        ("agreement: {alfa: 0.4}", "unknown"),
    ],
)
def test_a_requirement_that_cannot_be_understood_is_refused(
    files: Files, line: str, told: str
) -> None:
    with pytest.raises(DocumentError) as refused:
        load_rubric(with_keys(files, line))
    assert any(told in problem.message for problem in refused.value.problems), refused.value
    assert all(problem.line > 200 for problem in refused.value.problems)


def test_a_requirement_without_a_decision_is_refused(files: Files) -> None:
    rubric = files.write(
        "rubric.yaml",
        "rubric: r\naxes: [{name: a, kind: contains_all}]\nblocking: [a]\n",
    )
    with pytest.raises(DocumentError, match="the rubric has no `decision_table`"):
        load_rubric(rubric)


def test_requirements_are_part_of_the_fingerprint(files: Files) -> None:
    prints = {
        load_rubric(with_keys(files, *lines)).fingerprint
        for lines in ([], ["blocking: [S-01]"], ["agreement: {alpha: 0.4}"])
    }
    assert len(prints) == 3
    assert load_rubric("context-agent").fingerprint in prints


def with_order(firsts: Mapping[str, str]) -> str:
    """Return ratings with the column `order`; `firsts` names by query what was rated first."""
    lines = ["item,variant,rater,axis,score,note,order"]
    for at, (item, first) in enumerate(firsts.items()):
        for variant in ("big", "small"):
            order = 2 * at + (1 if variant == first else 2)
            lines += [f"{item},{variant},anna,{axis},4,,{order}" for axis in AXES]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("firsts", "counts", "told"),
    [
        (["big", "small"] * 2 + ["big"], (3, 2, True), "Rated first, big and small: anna 3, 2."),
        (["big"] * 4 + ["small"], (4, 1, False), "Not balanced for anna"),
    ],
)
def test_who_saw_which_variant_first_is_counted_for_every_rater(
    files: Files, firsts: list[str], counts: tuple[int, int, bool], told: str
) -> None:
    text = with_order(dict(zip(ITEMS, firsts, strict=True)))
    found = here(*files.words(files.write("order.csv", text), "--format", "json")).json
    (one,) = found["rated_first"]
    assert (one["rater"], one["round"], one["unknown"]) == ("anna", 1, 0)
    assert (one["baseline"], one["candidate"], one["balanced"]) == counts
    assert any(told in line for line in found["statistics"]["plain"])


def test_an_order_that_is_not_recorded_is_said_to_be_unknown(files: Files) -> None:
    found = here(*files.words(files.ratings(rows([GOOD] * 5, [GOOD] * 5)), "--format", "json")).json
    assert found["rated_first"][0]["balanced"] is None
    assert any(
        "order the answers were rated is not recorded" in line
        for line in found["statistics"]["plain"]
    )


def test_a_blocking_check_of_a_follow_up_that_nobody_asked_for_blocks_nothing(
    files: Files,
) -> None:
    item = "  - {id: FU-1, prompt: more, tags: {mode: thorough, round: 2}}\n"
    files.write("exam.yaml", files.exam.read_text(encoding="utf-8") + item)
    lines = rows([GOOD] * 5, [GOOD] * 5)
    lines += [line.replace("TQ-1,", "FU-1,") for line in lines if line.startswith("TQ-1,")]
    found = decide(files, with_keys(files, "blocking: [S-01]"), {}, lines=lines).decision
    assert found.outcome == "go"
    assert found.follow_up is not None
    assert not found.follow_up.asked
