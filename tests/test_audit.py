"""The audit: what notices a broken rubric, what is proved equivalent, and what to add."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from markscheme import AuditReport, Cell, DocumentError, Item, audit, load_exam, load_rubric
from markscheme.mark import STEPS, normalise
from markscheme.mark.axes import ComparingAxis, ContainsAll, list_alternatives
from markscheme.prove.audit import (
    ABSORBED,
    COMMUTING,
    IDEMPOTENT,
    AuditVerdict,
    MutantFate,
    MutantKind,
    build_audit_record,
    probe_gate,
    probe_pass_mark,
    prove_equal_steps,
)
from markscheme.tell.audit import format_golden_cases
from markscheme.workflows.documents import load_cases

ROOT = Path(__file__).parent.parent
TUTOR = load_rubric("tutor-capstone")
CAPSTONE = load_exam("capstone", rubric=TUTOR)
REPORT = audit(TUTOR, CAPSTONE)
BUILT_IN = ROOT / "src" / "markscheme" / "builtin"
TRICKY = st.text(st.sampled_from("aAbBΣσςİı.… \t\n'\"`éÉe\u0301ﬁßẞ-!"), max_size=12)


def run(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "markscheme", "audit", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False)


def test_the_built_in_rubric_is_sound() -> None:
    assert REPORT.verdict is AuditVerdict.SOUND
    assert not REPORT.failures
    assert not REPORT.of(MutantFate.SURVIVED)
    assert [rates.false_negative_rate for rates in REPORT.rates] == [0, 0, 0, 0]
    assert [rates.false_positive_rate for rates in REPORT.rates] == [0, 0, 0, 0]
    assert all(rates.right and rates.wrong for rates in REPORT.rates)


def test_the_strict_rubric_is_sound() -> None:
    report = audit("tutor-capstone-strict", "capstone")
    assert report.verdict is AuditVerdict.SOUND
    assert [rates.false_negative_rate for rates in report.rates] == [0] * 6
    assert [rates.false_positive_rate for rates in report.rates] == [0] * 6


def test_golden_cases_alone_kill_every_mutant_of_the_rubric_that_is_not_equivalent() -> None:
    rules = [
        tried for tried in REPORT.mutants if tried.mutant.kind is not MutantKind.DROP_EXPECTATION
    ]
    structural = {MutantKind.DROP_ENTRY, MutantKind.CHOICE, MutantKind.ORDER}
    of_criteria = {MutantKind.POINTS, MutantKind.SIGN}
    kinds = set(MutantKind) - {MutantKind.DROP_EXPECTATION} - structural - of_criteria
    assert {tried.mutant.kind for tried in rules} == kinds
    for tried in rules:
        assert bool(tried.golden) is not bool(tried.mutant.equivalent), tried.mutant.name


def test_every_expectation_of_the_exam_is_missed_when_it_is_gone() -> None:
    dropped = [
        tried for tried in REPORT.mutants if tried.mutant.kind is MutantKind.DROP_EXPECTATION
    ]
    assert len(dropped) == 2 * len(CAPSTONE.items)
    assert all(tried.fate is MutantFate.KILLED for tried in dropped)


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("drop-step {} strip", "whitespace-around-an-expectation"),
        ("drop-step {} lower", "upper-case"),
        ("drop-step {} strip_trailing_period", "a-period-behind-an-expectation"),
        ("any-entry {} any", "every-entry-is-needed"),
        ("match {} whole", "upper-case"),
    ],
)
@pytest.mark.parametrize("axis", ["correctness", "spanish_gloss"])
def test_each_rule_of_the_seed_has_a_golden_case_that_misses_it(
    axis: str, name: str, case: str
) -> None:
    tried = next(t for t in REPORT.mutants if t.mutant.name == name.format(axis))
    assert case in {miss.case for miss in tried.golden}


class _After(ContainsAll):
    """Matches first and normalises afterwards."""

    kind: ClassVar[str] = "contains_after"

    def judge(self, text: str, item: Item) -> Cell:
        found = all(entry in text for entry in item.expectations[self.expects])
        return Cell.passed(normalise(text, self.normalise)) if found else Cell.missed("not there")


class _EveryPeriod(ContainsAll):
    """Strips every period, not the last one."""

    kind: ClassVar[str] = "contains_without_periods"

    def judge(self, text: str, item: Item) -> Cell:
        entries = [self._bare(entry) for entry in item.expectations[self.expects]]
        found = all(entry in self._bare(text) for entry in entries)
        return Cell.passed("found") if found else Cell.missed("not there")

    def _bare(self, text: str) -> str:
        return text.strip().lower().replace(".", "")


class _Prompted(ContainsAll):
    """Matches against the prompt beside the answer."""

    kind: ClassVar[str] = "contains_or_asked"

    def judge(self, text: str, item: Item) -> Cell:
        return ContainsAll.judge(self, f"{text} {item.prompt}", item)


def audited_with(axis: type[ComparingAxis], folder: Path) -> AuditReport:
    """Audit the built-in rubric with another axis in the place of `contains_all`."""
    document = (BUILT_IN / "rubrics" / "tutor-capstone.yaml").read_text(encoding="utf-8")
    path = folder / "rubric.yaml"
    path.write_text(document.replace("contains_all", axis.kind), encoding="utf-8")
    rubric = load_rubric(path, axes=[axis])
    return audit(rubric, load_exam("capstone", rubric=rubric))


@pytest.mark.parametrize(
    ("axis", "case", "message"),
    [
        (_After, "upper-case", "before matching"),
        (_EveryPeriod, "periods-inside-stay", "belongs to the text"),
        (_Prompted, "the-answer-counts-not-the-question", "is not what was answered"),
    ],
)
def test_a_fault_that_was_put_in_by_hand_is_named(
    axis: type[ContainsAll], case: str, message: str, tmp_path: Path
) -> None:
    report = audited_with(axis, tmp_path)
    assert report.verdict is AuditVerdict.WRONG
    missed = {miss.case: miss for miss in report.failures}
    assert message in missed[case].because
    assert {"correctness", "spanish_gloss"} <= {m.on for m in report.failures if m.case == case}


def test_normalising_too_late_shows_as_false_negatives_in_upper_case(tmp_path: Path) -> None:
    rates = audited_with(_After, tmp_path).rates[0]
    assert rates.forms["upper case"] > 0
    assert 0 < (rates.false_negative_rate or 0) < 1
    assert rates.false_positive_rate == 0


def test_matching_the_prompt_shows_as_false_positives(tmp_path: Path) -> None:
    rates = audited_with(_Prompted, tmp_path).rates[0]
    assert rates.false_negative_rate == 0
    assert (rates.false_positive_rate or 0) > 0


def test_a_rubric_that_drops_a_step_fails_its_golden_cases(tmp_path: Path) -> None:
    document = (BUILT_IN / "rubrics" / "tutor-capstone.yaml").read_text(encoding="utf-8")
    path = tmp_path / "rubric.yaml"
    path.write_text(document.replace("strip, lower, strip", "strip, strip"), encoding="utf-8")
    done = run(path, "--exam", "capstone")
    assert done.returncode == 1
    assert b"upper-case: correctness expected 1.00, got 0.00" in done.stdout
    assert b"rule 2, case is folded" in done.stdout


def test_recorded_answers_say_how_they_notice() -> None:
    shouted = [{"item": item.id, "output": "ATE"} for item in CAPSTONE.items]
    report = audit(TUTOR, CAPSTONE, shouted)
    tried = next(t for t in report.mutants if t.mutant.name == "drop-step correctness lower")
    effect = tried.recorded
    assert effect is not None
    assert [(flip.item, flip.axis) for flip in effect.falls] == [("e-39-01", "correctness")]
    assert effect.before is not None
    assert effect.after is not None
    assert effect.before - effect.after == TUTOR.axes[0].weight / len(CAPSTONE.items)


def test_a_gate_that_flips_is_told() -> None:
    report = audit(TUTOR, CAPSTONE)
    whole = next(t for t in report.mutants if t.mutant.name == "match correctness whole")
    assert whole.recorded is not None
    flips = {change.gate: (change.before, change.after) for change in whole.recorded.gates}
    assert flips == {"capstone": ("pass", "fail")}


def test_survivors_come_with_cases_that_kill_them(tmp_path: Path) -> None:
    project = BUILT_IN / "project"
    files = (project / "rubric.yaml", "--exam", project / "exam.yaml")
    answers = ("--answers", project / "answers.jsonl")
    written = tmp_path / "cases.yaml"
    first = run(*files, *answers, "--write-cases", written)
    assert first.returncode == 1
    assert b"UNGUARDED" in first.stdout
    second = run(*files, *answers, "--cases", written, "--format", "json")
    assert second.returncode == 0, second.stderr
    document = json.loads(second.stdout)
    assert document["verdict"] == "sound"
    assert not any(fates["survived"] for fates in document["counts"].values())
    third = run(*files, "--write-cases", written)
    assert third.returncode == 2
    assert b"is already there" in third.stderr


def test_cases_that_are_written_read_back_as_they_were(tmp_path: Path) -> None:
    cases = load_cases(rubric=TUTOR)
    path = tmp_path / "again.yaml"
    path.write_text(format_golden_cases("again", cases), encoding="utf-8")
    assert load_cases(path, rubric=TUTOR) == cases


def test_without_anything_to_test_with_it_cannot_tell(tmp_path: Path) -> None:
    rubric, exam = tmp_path / "r.yaml", tmp_path / "e.yaml"
    rubric.write_text(
        "rubric: r\naxes:\n  - {name: a, kind: pattern, weight: 1, pattern: x, reads: f}\n"
    )
    exam.write_text("exam: e\nitems:\n  - {id: one, prompt: What is it}\n")
    done = run(rubric, "--exam", exam)
    assert done.returncode == 4
    assert b"CANNOT TELL" in done.stdout


def test_the_json_document_is_the_report() -> None:
    done = run("tutor-capstone", "--exam", "capstone", "--format", "json")
    assert done.returncode == 0
    assert json.loads(done.stdout) == json.loads(json.dumps(build_audit_record(REPORT)))


def test_every_mistake_of_a_file_of_cases_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "cases.yaml"
    path.write_text(
        "cases: mine\n"
        "items:\n"
        "  - id: one\n"
        "    prompt: What?\n"
        "    expected_contains: [ate]\n"
        "    answer: 7\n"
        "    cells: {corectness: 1}\n"
        "    colour: red\n"
        "gates:\n"
        "  - {gate: capston, seen: 0.92, outcome: pass}\n"
        "  - {gate: baseline, seen: 0.92, outcome: maybe}\n"
        "  - {gate: baseline, seen: 0.92, outcome: pass}\n"
        "  - {gate: latency, seen: 1e308, outcome: warn}\n"
        "pass_mark:\n"
        "  - {seen: 2, passes: true}\n"
    )
    with pytest.raises(DocumentError) as caught:
        load_cases(path, rubric=TUTOR)
    messages = [str(problem).removeprefix(f"{path}:") for problem in caught.value.problems]
    expected = [
        "3: items.0.gloss_contains: is missing",
        "6: items.0.answer: must be text or a mapping",
        "7: items.0.cells.corectness: `corectness` is no axis of the rubric",
        "8: items.0.colour: unknown key",
        "10: gates.0.gate: `capston` is no gate of the rubric",
        "11: gates.1.outcome:",
        "12: gates.2.baseline: is missing",
        "13: gates.3.seen: 1E+308 is above 9223372036854775807",
        "15: pass_mark.0.seen: 2 is above 1",
    ]
    for start in expected:
        assert any(line.startswith(start) for line in messages), (start, messages)
    assert len(messages) == len(expected)


def test_a_call_without_a_name_is_refused_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "cases.yaml"
    path.write_text(
        "cases: mine\n"
        "items:\n"
        "- {id: a, prompt: p, expected_contains: [x], gloss_contains: [y], answer: x,\n"
        "   cells: {correctness: 1},\n"
        "   transcript: {calls: [Read, '']}}\n"
    )
    with pytest.raises(DocumentError) as caught:
        load_cases(path, rubric=TUTOR)
    message = f"{path}:5: items.0.transcript.calls.1: is empty; a text is needed"
    assert str(caught.value) == message


def test_ids_are_unique_over_all_files_of_cases(tmp_path: Path) -> None:
    source = BUILT_IN / "cases" / "tutor-capstone.yaml"
    path = tmp_path / "copy.yaml"
    path.write_bytes(source.read_bytes())
    with pytest.raises(DocumentError, match="occurs twice"):
        load_cases("tutor-capstone", path, rubric=TUTOR)


@pytest.mark.parametrize("name", sorted(STEPS))
@given(text=TRICKY)
def test_steps_that_are_called_idempotent_are(name: str, text: str) -> None:
    if name in IDEMPOTENT:
        assert normalise(text, (name, name)) == normalise(text, (name,))


@given(TRICKY)
def test_steps_that_are_said_to_change_places_may(text: str) -> None:
    for one, two in map(tuple, COMMUTING):
        assert normalise(text, (one, two)) == normalise(text, (two, one))


@given(TRICKY)
def test_steps_that_are_said_to_be_absorbed_are(text: str) -> None:
    for pair, whole in ABSORBED.items():
        assert normalise(text, pair) == normalise(text, (whole,))


def test_lower_case_is_stable_and_keeps_to_what_is_said_of_it_for_every_code_point() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        lowered = character.lower()
        if lowered == character:
            continue
        assert lowered.lower() == lowered
        assert not any(c.isspace() or c in ".…" for c in character + lowered)


def test_a_final_sigma_sees_no_difference_between_an_end_and_what_is_stripped_there() -> None:
    spaces = [c for c in map(chr, range(sys.maxunicode + 1)) if c.isspace()]
    for stripped in [*spaces, ".", "…", ". ", "... "]:
        assert f"ΑΣ{stripped}".lower() == f"ας{stripped}"
        assert f"{stripped}ΣΑ".lower() == f"{stripped}σα"
        assert unicodedata.category(stripped[0]) not in {"Mn", "Me", "Cf", "Lm", "Sk"}


def test_what_is_not_proved_is_not_claimed() -> None:
    assert prove_equal_steps(("strip", "lower"), ("lower", "strip"))
    assert prove_equal_steps(("lower", "strip", "lower"), ("strip", "lower"))
    assert not prove_equal_steps(("strip_trailing_period",) * 2, ("strip_trailing_period",))
    assert not prove_equal_steps(("strip", "ignore_quotes"), ("ignore_quotes", "strip"))
    assert not prove_equal_steps(("strip",), ())


def test_an_entry_that_another_one_holds_may_go_and_the_reason_is_told() -> None:
    item = dataclasses.replace(
        CAPSTONE.items[0],
        expectations={
            "expected_contains": ("ate", "he ate"),
            "gloss_contains": ("comió",),
        },
    )
    exam = structs.replace(CAPSTONE, items=(item,))
    report = audit(TUTOR, exam, [])
    gone = [
        t for t in report.of(MutantFate.EQUIVALENT) if t.mutant.kind is MutantKind.DROP_EXPECTATION
    ]
    assert [t.mutant.equivalent for t in gone] == ["every text that holds 'he ate' holds 'ate'"]


@pytest.mark.parametrize("gate", TUTOR.gates, ids=lambda gate: gate.name)
def test_gates_are_asked_through_runs_that_show_exactly_the_value(gate: object) -> None:
    for case in load_cases(rubric=TUTOR).gates:
        found = next(g for g in TUTOR.gates if g.name == case.gate)
        if found is gate:
            outcome = probe_gate(TUTOR, found, case.seen, case.baseline)
            assert outcome.observed == Fraction(case.seen)
            assert outcome.outcome is case.outcome


def test_the_pass_mark_is_met_exactly() -> None:
    assert probe_pass_mark(TUTOR, TUTOR.pass_mark)
    assert not probe_pass_mark(TUTOR, TUTOR.pass_mark - 1 / type(TUTOR.pass_mark)(10**9))


def test_every_kind_of_mutant_has_a_section() -> None:
    text = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    assert {kind.value for kind in MutantKind} <= {
        line.lstrip("# ") for line in text.splitlines() if line.startswith("#")
    }


def test_answers_that_are_equal_only_to_python_are_told_apart() -> None:
    schema = {"correction": "ate", "spanish_gloss": "comió"}
    rows = [
        {"item": "e-39-01", "attempt": n, "output": {**schema, "explanation": value}}
        for n, value in enumerate([1, True, "1", "1"])
    ]
    flips = next(
        tried.recorded.flips
        for tried in audit(TUTOR, CAPSTONE, rows).mutants
        if tried.mutant.name == "ignore-schema schema anything" and tried.recorded is not None
    )
    assert sorted(flip.answers for flip in flips) == [1, 1]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _StartsWith(ComparingAxis):
    """A kind of somebody else: the text must start with one of the expected texts."""

    kind: ClassVar[str] = "starts_with"
    expects: str = "expected_contains"
    match: str = "substring"

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        return iter(())

    def judge(self, text: str, item: Item) -> Cell:
        entries = item.expectations[self.expects]
        wanted = tuple(text for entry in entries for text in list_alternatives(entry))
        return Cell.passed("starts") if text.startswith(wanted) else Cell.missed("does not")


def test_of_another_comparing_kind_no_text_is_taken_to_be_right_or_wrong(tmp_path: Path) -> None:
    """Only the golden cases, in all their forms, are left: these say what is right themselves."""
    rates = audited_with(_StartsWith, tmp_path).rates[0]
    built_in = REPORT.rates[0]
    assert 0 < rates.right < built_in.right / 4
    assert 0 < rates.wrong < built_in.wrong / 4
