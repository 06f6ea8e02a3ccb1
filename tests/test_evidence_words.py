"""Words of verdicts: evidence as a drop, what could not tell, plural forms, parameters."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from commands import FULL, LONG, RUBRIC, WRONG, Project, here
from markscheme.vocabulary import Allowance
from markscheme.weigh.gates import evaluate_non_inferiority

if TYPE_CHECKING:
    from collections.abc import Sequence

TWO_PERCENT = Allowance(amount=Decimal("0.02"), relative=True)
TWO_POINTS = Allowance(amount=Decimal("0.02"), relative=False)


def told(changes: Sequence[str], limit: Allowance = TWO_PERCENT, before: str = "1/2") -> str:
    pairs = [(Fraction(before), Fraction(before) + Fraction(change)) for change in changes]
    return str(evaluate_non_inferiority(pairs, limit).because)


def test_evidence_says_between_which_values_the_true_drop_is() -> None:
    noisy = ["-0.04", "0", "-0.01", "0.01"] * 10
    assert told(noisy) == (
        "the true drop is between 1.0% and 3.0%; allowed is 2%: 40 pairs cannot tell (one-sided "
        "95 % bounds); no number of items like these would settle it"
    )
    steady = ["-0.02", "-0.021"] * 10
    assert told(steady).startswith("the true drop is between 4.1% and 4.1%; allowed is 2%: more")
    even = ["-0.004", "0.004"] * 100
    assert told(even).startswith(
        "the true change is between a rise of 0.1% and a drop of 0.1%; a drop of 2% is allowed"
    )
    better = ["0.02", "0.021"] * 10
    assert told(better).startswith(
        "the true rise is between 4.1% and 4.1%; a drop of 2% is allowed"
    )


def test_evidence_in_points_is_told_in_points() -> None:
    assert told(["-0.04", "0", "-0.01", "0.01"] * 10, TWO_POINTS).startswith(
        "the true drop is between 0.005 and 0.015; allowed is 0.02: shown by 40 pairs"
    )


def test_a_bound_near_the_limit_is_shown_with_enough_digits_to_differ() -> None:
    near = ["-0.00995", "-0.01005"] * 50
    low, high = re.findall(r"(\d\.\d+)%", told(near))[:2]
    assert float(low) < 2 < float(high)


def test_the_verdict_names_soft_gates_that_cannot_tell_and_a_missed_target(
    project: Project,
) -> None:
    text = RUBRIC.replace("at_least: 0.90}", "at_least: 0.90, target: 0.999}")
    soft = "  - {name: speed, level: soft, metric: latency_p50, at_most: 250}\n"
    project.rubric = project.write("rubric.yaml", text + soft)
    project.stored(*[LONG] * 4)
    done = project.judge("latest")
    assert done.code == 0
    assert "PASS (met; cannot tell: speed; target not reached: release (0.999))" in done.out
    project.stored(*[FULL] * 4)
    assert "PASS (met; cannot tell: speed)" in project.judge("latest").out


@pytest.mark.parametrize(
    ("lang", "one"),
    [("en", "(1 answer scored, 1 item)"), ("es", "(1 respuesta puntuada, 1 ítem)")],
)
def test_one_is_not_told_as_many(project: Project, lang: str, one: str) -> None:
    small = Project(project.folder, items=1)
    assert one in small.score(FULL, words=("--lang", lang)).out
    small.run("baseline", "set", "latest")
    last = {"en": "last run: 1.0000", "es": "última ejecución: 1.0000"}[lang]
    assert last in small.run("baseline", "show", "--lang", lang).out


def test_required_evidence_is_told_in_a_sentence(project: Project) -> None:
    text = RUBRIC.replace("max_drop: 2%}", "max_drop: 2%, evidence: required}")
    small = Project(project.folder, items=200, rubric=text)
    small.stored(*[FULL] * 200)
    small.run("baseline", "set", "latest")
    assert "evidence is required and passes" in small.judge("latest").out


def test_break_substring_keeps_asking_for_every_entry(project: Project) -> None:
    exam = (
        "exam: two\nitems:\n"
        "  - {id: i1, prompt: both, expected_contains: ['will', 'eat']}\n"
        "  - {id: i2, prompt: one, expected_contains: ['yes']}\n"
    )
    project.exam = project.write("two.yaml", exam)
    file = project.answers("eat", "yes sir")
    words = ("-r", project.rubric, "-e", project.exam, "-a", file, "--format", "json")
    done = here("break", "substring", *words)
    assert done.code == 0
    patterns = [(one["axis"], one["direction"], one["items"]) for one in done.json["patterns"]]
    assert patterns == [("right", "fall", 1)]
    assert [moved["item"] for moved in done.json["symptoms"]["items"]] == ["i2"]


def test_a_longer_word_differs_from_its_part(project: Project) -> None:
    words = RUBRIC.replace("kind: contains_all,", "kind: contains_all, match: word,")
    project.rubric = project.write("rubric.yaml", words)
    out = project.score("_yes", "_yes_ sir", FULL, WRONG).out
    assert '"_yes" differs from "yes"' in out
    assert '"_yes_" differs from "yes"' in out
    assert '"yes" differs from "yes"' not in out


def test_recalibrate_writes_parameters_as_a_rubric_does(project: Project) -> None:
    project.stored(*[FULL] * 4)
    new = project.write("new.yaml", RUBRIC.replace("[strip, lower]", "[strip]"))
    done = project.run("recalibrate", "-r", new)
    assert '`normalise` of the axis `right` was ["strip", "lower"] and is ["strip"]' in done.out
