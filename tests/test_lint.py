"""Lint: its findings with location and severity, `--fix`, and its output formats."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from importlib import util
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from markscheme import InputError, LintReport, Severity, UsageError, lint, load_exam, load_rubric
from markscheme.cli.main import main
from markscheme.prove.lint import CODES

ROOT = Path(__file__).parent.parent
RUBRIC = """\
# what is scored
rubric: mine
normalise: [strip, lower, strip]  # twice
axes:
  - name: right
    kind: contains_all
    weight: "0.60"   # in quotes
  - {name: brief, kind: max_words, weight: 0.40, limit: 5}
gates:
  - {name: bar, level: hard, at_least: 0.9}
"""
EXAM = """\
exam: mine   # the name
items:
  - id: a
    prompt: When did it end.
    expected_contains:
      - 1918     # a year
  - {id: b, prompt: Past of go., expected_contains: went}
  - id: c
    prompt: Past of see.
    expected_contains: ["saw. ", 'it']
"""


def write(folder: Path, **texts: str) -> list[Path]:
    paths = []
    for name, text in texts.items():
        path = folder / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def run(*words: object) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "markscheme", "lint", *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout, done.stderr


def call(*words: object) -> tuple[int, str]:
    """Run the command in this process."""
    done = CliRunner().invoke(main, ["lint", *map(str, words)], standalone_mode=False)
    assert done.exception is None
    return int(done.return_value), done.stdout


def test_equal_findings_of_one_line_are_told_in_the_order_of_the_document(tmp_path: Path) -> None:
    items = ", ".join(f"{{id: q{number}}}" for number in range(8))
    (path,) = write(tmp_path, exam=f"exam: mine\nitems: [{items}]\n")
    fields = [found.field for found in lint(path).findings if found.field.endswith("prompt")]
    assert fields == [f"items.{number}.prompt" for number in range(8)]


def codes(report: LintReport) -> Counter[str]:
    return Counter(found.code for found in report.findings)


def test_the_built_in_documents_have_no_errors_and_only_known_warnings() -> None:
    report = lint("tutor-capstone", "capstone", "capstone-extra", "regression")
    assert report.ok
    assert set(codes(report)) == {"E007", "E008", "E009", "E014"}
    assert codes(report)["E014"] == 2  # the capstone and its extra file are small
    assert lint("context-agent", "context-queries").findings == ()
    assert lint("tutor-capstone-strict").findings == ()
    practice = lint("practice", rubric="tutor-capstone-strict")
    assert practice.ok
    assert set(codes(practice)) == {"E007"}


def test_the_first_item_of_the_seed_would_pass_by_an_echo_and_by_a_wrong_participle() -> None:
    found = [f for f in lint("capstone", rubric="tutor-capstone").findings if f.line == 7]
    assert [f.code for f in found] == ["E007", "E009"]
    assert '"ate" is also part of "have eaten" (present-perfect' in found[0].message
    assert "a wrong form of `eat` would pass" in found[0].message
    assert "an echo would pass" in found[1].message


def test_lint_finds_nothing_in_the_project_that_init_writes() -> None:
    folder = ROOT / "src/markscheme/builtin/project"
    report = lint(folder / "rubric.yaml", folder / "exam.yaml")
    assert not codes(report)


def test_every_finding_names_a_code_and_its_severity_and_hint(tmp_path: Path) -> None:
    report = lint(*write(tmp_path, rubric=RUBRIC, exam=EXAM))
    for found in report.findings:
        assert found.severity == CODES[found.code].severity
        assert found.hint == CODES[found.code].hint
        assert str(found).startswith(f"{found.file}:{found.line}: {found.code} ")


def test_what_the_readers_refuse_is_found_with_its_line(tmp_path: Path) -> None:
    rubric, exam = write(tmp_path, rubric=RUBRIC, exam=EXAM)
    found = {(Path(f.file).stem, f.line, f.code) for f in lint(rubric, exam).findings}
    assert {("rubric", 7, "R003"), ("exam", 6, "E003"), ("exam", 7, "E003")} <= found


def test_what_is_safe_is_repaired_and_everything_else_stays(tmp_path: Path) -> None:
    rubric, exam = write(tmp_path, rubric=RUBRIC, exam=EXAM)
    exam_text = EXAM
    report = lint(rubric, exam, fix=True)
    assert report.fixed == {str(rubric): 2, str(exam): 3}
    wanted = RUBRIC.replace('"0.60"', "0.60").replace("lower, strip]", "lower]")
    assert rubric.read_text() == wanted
    for old, new in (("- 1918 ", '- "1918" '), (": went}", ": [went]}"), ('"saw. "', '"saw."')):
        exam_text = exam_text.replace(old, new)
    assert exam.read_text() == exam_text
    assert load_exam(exam, rubric=load_rubric(rubric)).items[0].expectations == {
        "expected_contains": ("1918",)
    }
    assert lint(rubric, exam, fix=True).fixed == {}


def test_a_repair_keeps_line_ends_the_byte_order_mark_and_permissions(tmp_path: Path) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + RUBRIC.replace("\n", "\r\n").encode())
    path.chmod(0o640)
    lint(path, fix=True)
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf# what is scored\r\n")
    assert b"normalise: [strip, lower]  # twice\r\n" in data
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_missing_line_is_added_where_it_belongs(tmp_path: Path) -> None:
    path = tmp_path / "table.yaml"
    path.write_text((ROOT / "tests/documents/literal-decisions.yaml").read_text())
    assert "D012" in codes(lint(path))
    report = lint(path, fix=True)
    assert "D012" not in codes(report)
    assert "decision_table:\n  missing: none\n  match: any\n" in path.read_text()


def test_a_step_in_a_list_of_lines_is_dropped_unless_a_comment_would_go(tmp_path: Path) -> None:
    text = RUBRIC.replace(
        "normalise: [strip, lower, strip]  # twice", "normalise:\n  - strip\n  - lower\n  - strip\n"
    )
    (path,) = write(tmp_path, rubric=text)
    lint(path, fix=True)
    assert "normalise:\n  - strip\n  - lower\n\n" in path.read_text()
    path.write_text(text.replace("  - lower\n  - strip\n", "  - lower\n  - strip # why\n"))
    assert "R014" in codes(lint(path, fix=True))
    assert "# why" in path.read_text()


def test_only_files_of_the_users_own_are_repaired() -> None:
    with pytest.raises(UsageError, match="is built in"):
        lint("capstone", fix=True)


def test_a_repair_moves_no_score(tmp_path: Path) -> None:
    text = EXAM.replace("- 1918", '- "1918"').replace(": went}", ": [went]}")
    rubric, exam = write(tmp_path, rubric=RUBRIC.replace('"0.60"', "0.60"), exam=text)
    axis = load_rubric(rubric).axes[0].axis
    before = load_exam(exam)
    lint(rubric, exam, fix=True)
    after = load_exam(exam)
    assert before != after
    repaired = load_rubric(rubric).axes[0].axis
    for old, new in zip(before.items, after.items, strict=True):
        for answer in ("He saw it.", "saw", "SAW. it ", "1918", "went.", ""):
            assert axis.judge(answer, old).value == repaired.judge(answer, new).value  # type: ignore[attr-defined]


WORDS = st.text(st.sampled_from("aeE. é'#:-,]\"1\t"), min_size=1, max_size=6)


@given(st.lists(WORDS, min_size=1, max_size=3))
def test_a_repair_never_makes_a_document_worse(tmp_path_factory: Any, words: list[str]) -> None:
    path = tmp_path_factory.mktemp("fix") / "exam.yaml"
    entries = ", ".join(json.dumps(word, ensure_ascii=False) for word in words)
    path.write_text(f"exam: e\nitems:\n  - {{id: a, prompt: x, expected_contains: [{entries}]}}\n")
    rubric = ROOT / "src/markscheme/builtin/project/rubric.yaml"
    before = lint(path, rubric=rubric)
    after = lint(path, rubric=rubric, fix=True)
    assert after.count(Severity.ERROR) <= before.count(Severity.ERROR)
    assert "E005" not in codes(after)


def test_an_exam_is_read_by_the_rubric_that_is_given_with_it(tmp_path: Path) -> None:
    word = RUBRIC.replace('"0.60"', "0.60\n    match: word").replace("lower, strip]", "lower]")
    exam = "exam: e\nitems:\n  - {id: a, prompt: Conjugate eat., expected_contains: [ate]}\n"
    rubric, path = write(tmp_path, rubric=word, exam=exam)
    assert "E009" in codes(lint(path))
    assert "E009" not in codes(lint(path, rubric=rubric))
    assert "E009" not in codes(lint(path, rubric))


def test_an_exam_beside_two_rubrics_is_read_without_either(tmp_path: Path) -> None:
    exam = "exam: e\nitems:\n  - {id: a, prompt: x, expected_contains: [y]}\n"
    other = RUBRIC.replace("kind: contains_all", "kind: contains_all\n    expects: answer_contains")
    one, two, path = write(tmp_path, one=RUBRIC, two=other, exam=exam)
    for text in (one, two):
        text.write_text(text.read_text().replace('"0.60"', "0.60"))
    assert not [f for f in lint(one, two, path).findings if f.file == str(path)]
    assert "E003" in codes(lint(path, rubric=two))


def test_gates_are_held_to_the_exams_that_they_are_bound_to_together() -> None:
    report = lint("tutor-capstone", exams=["capstone", "capstone-extra"])
    assert set(codes(report)) == {"E014"}
    assert all(found.file.endswith("tutor-capstone.yaml") for found in report.findings)
    other = lint("capstone", rubric="tutor-capstone")
    (small,) = [found for found in other.findings if found.code == "E014"]
    assert (Path(small.file).name, small.line) == ("capstone.yaml", 2)
    assert "at least 149 items" in small.message


def test_thousands_of_items_that_hold_each_other_are_looked_at(tmp_path: Path) -> None:
    items = [
        f"  - {{id: i{n}, prompt: Say {n}., expected_contains: [word{n}]}}" for n in range(3000)
    ]
    (path,) = write(tmp_path, exam="\n".join(["exam: large", "items:", *items]))
    assert "E008" in codes(lint(path))


@pytest.mark.parametrize(
    ("value", "found"),
    [("psat", 1), ("pas", 0), ("paste", 1), ("pest", 1), ("PAST", 1), ("now", 0)],
)
def test_a_slip_of_a_finger_in_a_tag_is_told(value: str, found: int, tmp_path: Path) -> None:
    tags = ["past"] * 3 + ["present"] * 3 + [value]
    items = [
        f"  - {{id: i{n}, prompt: Say {n}., tags: {{tense: {tag}}}}}" for n, tag in enumerate(tags)
    ]
    (path,) = write(tmp_path, exam="\n".join(["exam: e", "items:", *items]))
    assert codes(lint(path))["E012"] == len(lint(path).findings) == found


@pytest.mark.parametrize("words", [["nope.yaml"], ["."], ["capstone", "nope.yaml"]])
def test_a_file_that_cannot_be_read_is_exit_3(words: list[str]) -> None:
    code, _, output = run(*words)
    assert code == 3
    assert re.search(r"^(nope.yaml|\.):1: is ", output)
    with pytest.raises(InputError):
        lint(*words)


def test_the_exit_code_is_1_for_errors_and_0_for_warnings(tmp_path: Path) -> None:
    (bad,) = write(tmp_path, rubric=RUBRIC)
    assert call(bad)[0] == 1
    assert call("capstone")[0] == 0
    assert run()[0] == 2
    assert run("capstone", "--format", "xml")[0] == 2


def test_the_text_says_every_hint_once_and_the_totals() -> None:
    code, output = call(ROOT / "tests/documents/literal-decisions.yaml")
    assert code == 1
    lines = output.splitlines()
    assert "D003 error" in lines[0]
    assert "141 of 625 pairs of averages have more than one verdict" in lines[0]
    assert any("337 of 1,024 vectors of verdicts have no decision" in line for line in lines)
    assert any("81 of 1,024 vectors of verdicts have more than one" in line for line in lines)
    assert lines[-1] == "1 file: 3 errors, 1 warning"


def test_json_is_one_document_with_everything() -> None:
    code, output = call("capstone", "-r", "tutor-capstone", "--format", "json")
    document = json.loads(output)
    assert code == 0
    assert document["ok"] is True
    assert document["counts"]["error"] == 0
    first = document["findings"][0]
    assert set(first) == {
        *("file", "line", "field", "code", "severity", "message", "hint", "fixable")
    }
    assert sum(document["codes"].values()) == len(document["findings"])


def test_a_level_leaves_out_what_is_less_grave() -> None:
    assert "nothing found" in call("capstone", "--level", "error")[1]
    assert {f.severity for f in lint("capstone").at_least("warning").findings} == {"warning"}


def test_sarif_keeps_to_the_rules_of_the_standard(tmp_path: Path) -> None:
    """Check the parts of SARIF 2.1.0 that code scanning requires."""
    (rubric,) = write(tmp_path, **{"my rubric é": RUBRIC})
    target = tmp_path / "lint.sarif"
    assert call(rubric, ROOT / "tests/documents/literal-decisions.yaml", "--sarif", target)[0] == 1
    log = json.loads(target.read_text())
    assert log["version"] == "2.1.0"
    assert log["$schema"].startswith("https://")
    (found,) = log["runs"]
    rules = found["tool"]["driver"]["rules"]
    assert found["tool"]["driver"]["name"] == "markscheme"
    assert [rule["id"] for rule in rules] == list(CODES)
    for rule in rules:
        assert rule["shortDescription"]["text"]
        assert rule["help"]["text"]
        assert rule["defaultConfiguration"]["level"] in {"none", "note", "warning", "error"}
    assert found["results"]
    for result in found["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] == CODES[result["ruleId"]].severity
        assert result["message"]["text"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["region"]["startLine"] >= 1
        assert re.fullmatch(r"[A-Za-z0-9._~:/%-]+", place["artifactLocation"]["uri"])
    allowed = {"ruleId", "ruleIndex", "level", "message", "locations"}
    assert all(set(result) == allowed for result in found["results"])
    assert set(found) == {"tool", "columnKind", "results"}


def test_sarif_is_never_written_over_an_input(tmp_path: Path) -> None:
    (rubric,) = write(tmp_path, rubric=RUBRIC)
    assert call(rubric, "--sarif", rubric)[0] == 2
    assert rubric.read_text() == RUBRIC


def fuzzer() -> Any:
    spec = util.spec_from_file_location("fuzz_lint", ROOT / "scripts/fuzz_lint.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_hundreds_of_mutated_documents_are_all_told_with_lines(tmp_path: Path) -> None:
    fuzz = fuzzer()
    for path, text in fuzz.generate_mutants(300, seed=7):
        assert fuzz.find_failure(text, tmp_path / "mutant.yaml") == "", f"{path.name}:\n{text}"
