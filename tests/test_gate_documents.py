"""Gates in YAML: the gates of the contract are built in, and each mistake has its line."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from markscheme import DocumentError, Rubric, load_exam, load_rubric, score
from markscheme.ask.subjects import FLAWED, Tutor
from markscheme.vocabulary import Attempts

if TYPE_CHECKING:
    from pathlib import Path

TUTOR = load_rubric("tutor-capstone")
RUBRIC = """\
rubric: mine
axes:
  - {name: right, kind: max_words, weight: 1, limit: 5}
gates:
  - {name: bar, level: hard, METRIC}
"""


def load(folder: Path, metric: str, *more: str) -> Rubric:
    path = folder / "r.yaml"
    path.write_text(RUBRIC.replace("METRIC", metric) + "".join(more))
    return load_rubric(path)


def test_the_seeds_gates_stand_as_in_the_contract() -> None:
    assert Decimal("0.92") == TUTOR.pass_mark
    outcomes = {
        found.name: (found.level.value, found.metric, found.at_least, found.at_most, found.exams)
        for found in TUTOR.gates
    }
    both = ("capstone", "capstone-extra")
    assert outcomes == {
        "capstone": ("hard", "score", Decimal("0.92"), None, both),
        "latency": ("soft", "latency_p50", None, 250, ()),
        "schema": ("soft", "failures", None, 0, ("regression",)),
        "regression": ("soft", "score", Decimal("0.93"), None, ("regression",)),
        "baseline": ("hard", "baseline", None, None, ()),
    }
    assert TUTOR.gates[0].target == Decimal("0.95")
    limit = TUTOR.gates[4].baseline
    assert limit is not None
    assert str(limit.max_drop) == str(limit.suspicious_rise) == "2%"


def test_the_soft_gates_of_the_seed_warn_on_the_regression_set() -> None:
    exam = load_exam("regression", rubric=TUTOR)
    tutor = Tutor(faults=FLAWED)
    rows = [{"item": i.id, "output": tutor.answer(i.prompt), "latency_ms": 251} for i in exam.items]
    rows[0]["output"] = f"Sure! {rows[0]['output']}"
    report = score(TUTOR, exam, rows).judge()
    outcomes = {found.gate.name: found.outcome.value for found in report.outcomes}
    assert outcomes == {
        "latency": "warn",
        "schema": "warn",
        "regression": "warn",
        "baseline": "not applicable",
    }
    assert report.verdict == "pass"


@pytest.mark.parametrize(
    ("metric", "expected_text"),
    [
        ("at_most: 1.5", "gates.0.at_most: 1.5 is above 1"),
        ("metric: score", "gates.0: has no limit; give it `at_least`, `at_most` or both"),
        ("at_least: 0.9, at_most: 0.8", "gates.0.at_least: 0.9 is above `at_most`, 0.8"),
        ("metric: axis, at_least: 1", "gates.0.axis: is missing"),
        ("metric: axis, axis: left, at_least: 1", "`left` is no axis of this rubric; allowed: ri"),
        ("axis: right, at_least: 1", "gates.0.axis: unknown key"),
        ("max_drop: 2%", "gates.0: `max_drop` needs `metric`: `baseline`"),
        ("metric: scor, at_least: 1", "gates.0.metric: `scor` is no metric; allowed: score, axis"),
        ("metric: [score], at_least: 1", "gates.0.metric: must be text, not a list"),
        ("metric: latency_p0, at_most: 1", "`latency_p0` is no metric"),
        ("metric: latency_p100, at_most: 1", "`latency_p100` is no metric"),
        ("metric: latency_p50, at_least: 1", "gates.0.at_least: unknown key"),
        ("metric: latency_p50, at_most: -1", "gates.0.at_most: -1 is below 0"),
        ("metric: latency_p50, at_most: .nan", "`.nan` is not a number that can be used"),
        ("metric: cost, at_most: .inf", "`.inf` is not a number that can be used"),
        ("metric: cost, at_most: 1e400", "is above 9223372036854775807"),
        ("metric: failures, axis: right, at_most: 0.5", "must be a whole number"),
        ("metric: errors, at_most: 0, tags: {a: b}", "gates.0.tags: unknown key"),
        ("at_least: 1, tags: {}", "gates.0.tags: is empty"),
        ("at_least: 1, tags: {a: [b]}", "gates.0.tags.a: must be"),
        (
            "metric: passed, at_least: 1, attempts: {at_least: 3, of: 2}",
            "attempts.at_least: 3 is more than `of`, 2",
        ),
        ("metric: passed, at_least: 1, attempts: {at_least: 0, of: 2}", "0 is below 1"),
        ("metric: baseline", "gates.0.max_drop: is missing"),
        ("metric: baseline, max_drop: 2 percent", "must be a share such as `2%` or points"),
        ("metric: baseline, max_drop: 101%", "must be a share such as `2%` or points"),
        ("metric: baseline, max_drop: -0.1", "must be a share such as `2%` or points"),
        ("metric: baseline, max_drop: 2%, at_least: 1", "gates.0.at_least: unknown key"),
        ("metric: baseline, max_drop: 2%, evidence: yes", "`yes` is not allowed; allowed: `shown`"),
    ],
)
def test_each_mistake_in_a_gate_is_told_with_line_and_field(
    tmp_path: Path, metric: str, expected_text: str
) -> None:
    with pytest.raises(DocumentError) as caught:
        load(tmp_path, metric)
    assert any(
        "r.yaml:5: gates.0" in str(p) and expected_text in str(p) for p in caught.value.problems
    ), caught.value.problems


@pytest.mark.parametrize("value", ["0", "1.1", "'1'", "-0.5"])
def test_a_pass_mark_is_above_0_and_at_most_1(tmp_path: Path, value: str) -> None:
    with pytest.raises(DocumentError, match=r"r\.yaml:6: pass_mark: "):
        load(tmp_path, "at_least: 1", f"pass_mark: {value}\n")


def test_gates_and_pass_mark_change_no_fingerprint(tmp_path: Path) -> None:
    one = load(tmp_path, "at_least: 1")
    two = load(tmp_path, "metric: baseline, max_drop: 0.02", "pass_mark: 0.5\n")
    assert one.fingerprint == two.fingerprint


def test_gates_are_read_as_they_are_written(tmp_path: Path) -> None:
    found = load(tmp_path, "metric: passed, at_least: 0.9, attempts: {at_least: 2, of: 3}").gates[0]
    assert found.attempts == Attempts(at_least=2, of=3)
    found = load(tmp_path, "at_least: 0.9, tags: {person: 3, done: true}").gates[0]
    assert found.tags == {"person": "3", "done": "true"}
    found = load(tmp_path, "metric: latency_p99.9, at_most: 250.5, target: 100").gates[0]
    assert (found.metric, found.target) == ("latency_p99.9", Decimal(100))
    assert found.at_most == Decimal("250.5")
    limit = "metric: baseline, max_drop: 2.5%, suspicious_rise: 0.04, evidence: required"
    baseline = load(tmp_path, limit).gates[0].baseline
    assert baseline is not None
    assert (baseline.max_drop.amount, baseline.max_drop.relative) == (Decimal("0.025"), True)
    assert (str(baseline.max_drop), str(baseline.suspicious_rise)) == ("2.5%", "0.04")
    assert baseline.evidence_required
