"""What CI reads of a judged run: JUnit, Markdown, annotations; all say the same, none is markup."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from markdown_it import MarkdownIt

from commands import FULL, LONG, LONGER, RUBRIC, WRONG, Done, Project, here
from markscheme.tell.ci_reports import _escape_xml_text, _format_workflow_command
from markscheme.tell.markdown import escape_markdown, format_code_span

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).parent / "junit.xsd"))
EVIL = "<script>alert(1)</script> @octocat #1 | `x` ``y`` [a](http://x.y) **b** \x1b ::error::no"
TEXTS = st.text(st.characters(codec="utf-8"), max_size=60) | st.text(
    "`|\\<>&@#[]()*_~!:/ \n\r\tax.w1-", max_size=40
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Set a good run as baseline."""
    project = Project(tmp_path)
    project.stored(*[FULL] * 4)
    project.run("baseline", "set", "latest")
    return project


def suites(project: Project, run: str | Path, *words: str | Path) -> dict[str, Any]:
    """Judge a run, check the JUnit file against the schema, and return its test suites."""
    path = project.folder / "junit.xml"
    project.judge(run, "--junit", path, *words)
    document = etree.parse(path)
    SCHEMA.assertValid(document)
    found: dict[str, Any] = {str(suite.get("name")): suite for suite in document.getroot()}
    for suite in found.values():
        cases = suite.findall("testcase")
        assert int(suite.get("tests")) == len(cases)
        for plural, result in (("failures", "failure"), ("errors", "error")):
            assert int(suite.get(plural)) == sum(case.find(result) is not None for case in cases)
    return found


def results(suite: Any) -> dict[str, str]:
    return {
        case.get("name"): next((child.tag for child in case), "passed")
        for case in suite.findall("testcase")
    }


def comment(project: Project, run: str | Path, *words: str | Path) -> str:
    path = project.folder / "comment.md"
    project.judge(run, "--markdown", path, *words)
    return path.read_text(encoding="utf-8")


def rendered(text: str) -> str:
    return str(MarkdownIt("commonmark").enable("table").render(text))


# --- JUnit ---------------------------------------------------------------------------------------


def test_gates_and_items_are_test_cases_and_failing_items_carry_their_breakdown(
    project: Project,
) -> None:
    project.score(FULL, LONG, WRONG, FULL)
    found = suites(project, "latest")
    gates = {"verdict": "failure", "release": "failure", "beside": "failure"}
    assert results(found["gates"]) == gates
    items = {"i1": "passed", "i2": "failure", "i3": "failure", "i4": "passed"}
    assert results(found["items"]) == items
    text = found["items"].find("testcase[@name='i3']/failure").text
    assert "score 0.05, below the pass mark 0.99" in text
    assert '  right 0 × 0.95: "yes" is missing from "no"' in text
    assert "  short 1 × 0.03: 1 word" in text
    assert "got: no" in text


def test_missing_items_and_undecided_gates_are_errors(project: Project) -> None:
    project.score(FULL, FULL)
    found = suites(project, "latest")
    assert results(found["items"]) == {"i1": "passed", "i2": "passed", "i3": "error", "i4": "error"}
    assert results(found["gates"])["verdict"] == "error"
    assert results(found["gates"])["release"] == "error"


def test_soft_gates_never_make_a_case_red(project: Project) -> None:
    project.rubric.write_text(RUBRIC.replace("level: hard, at_least", "level: soft, at_least"))
    project.score(*[WRONG] * 4)
    words = ("--baseline", "latest")
    found = results(suites(project, "latest", *words)["gates"])
    assert found == {"verdict": "passed", "release": "skipped", "beside": "passed"}


def test_where_nothing_was_judged_the_verdict_is_red(project: Project) -> None:
    project.rubric.write_text(RUBRIC.partition("gates:")[0])
    project.score(*[FULL] * 4)
    assert results(suites(project, "latest")["gates"]) == {"verdict": "error"}


def test_a_run_of_another_rubric_has_no_items_to_tell(project: Project) -> None:
    other = project.write("o.yaml", RUBRIC.replace("0.03", "0.04").replace("0.95", "0.94"))
    found = suites(project, "latest", "-r", other)
    assert results(found["items"]) == {}
    assert results(found["gates"])["verdict"] == "error"


def test_an_item_is_its_mean_over_attempts(project: Project) -> None:
    rows = [
        {"item": item, "output": output, "attempt": attempt}
        for item in project.items
        for attempt, output in enumerate([FULL, LONG] if item == "i1" else [FULL, FULL], start=1)
    ]
    file = project.write("twice.jsonl", "\n".join(map(json.dumps, rows)))
    inputs = ("-r", project.rubric, "-e", project.exam, "-a", file)
    project.run("score", *inputs)
    assert results(suites(project, "latest")["items"])["i1"] == "passed"  # 0.99 is the pass mark
    project.rubric.write_text(RUBRIC.replace("pass_mark: 0.99", "pass_mark: 0.991"))
    project.run("score", *inputs)
    failed = suites(project, "latest")["items"].find("testcase[@name='i1']/failure")
    assert "attempt 2: score 0.98" in failed.text
    assert "attempt 1" not in failed.text


def test_model_output_is_text_in_xml(project: Project) -> None:
    project.score(EVIL, FULL, FULL, FULL)
    failed = suites(project, "latest")["items"].find("testcase[@name='i1']/failure")
    assert "<script>alert(1)</script>" in failed.text
    assert len(failed) == 0


@given(TEXTS | st.text())
def test_any_text_can_stand_in_xml(text: str) -> None:
    element = etree.Element("a")
    element.text = _escape_xml_text(text)
    assert etree.fromstring(etree.tostring(element)) is not None


def test_a_stored_run_and_its_result_file_say_the_same(project: Project) -> None:
    path = project.folder / "result.json"
    project.score(FULL, LONG, WRONG, LONGER, words=("-o", path))
    stored, file = (suites(project, run) for run in ("latest", path))
    for name in ("gates", "items"):
        cases = [
            [etree.tostring(case) for case in found[name].findall("testcase")]
            for found in (stored, file)
        ]
        if name == "items":
            assert cases[0] == cases[1]
        assert results(stored[name]) == results(file[name])
    tables = [comment(project, run).partition("#### Since")[2] for run in ("latest", path)]
    assert tables[0] == tables[1]


def test_every_output_gives_the_same_verdict(project: Project) -> None:
    for outputs in ([FULL] * 4, [LONG] * 4, [WRONG] * 4, [FULL]):
        project.score(*outputs)
        done = project.judge("latest")
        document = project.judge("latest", "--format", "json").json
        verdict = {0: "pass", 1: "fail", 4: "undecided"}[done.code]
        said = {"pass": "PASS", "fail": "FAIL", "undecided": "CANNOT TELL"}[verdict]
        assert document["verdict"] == verdict
        assert f"verdict: {said}" in done.out
        assert f"markscheme: {said}" in comment(project, "latest")
        case = {"pass": "passed", "fail": "failure", "undecided": "error"}[verdict]
        assert results(suites(project, "latest")["gates"])["verdict"] == case
        red = {item["item"] for item in document["items"] if item["status"] != "passed"}
        junit = results(suites(project, "latest")["items"])
        assert red == {item for item, result in junit.items() if result != "passed"}


# --- Markdown ------------------------------------------------------------------------------------


def test_the_comment_has_verdict_gates_deltas_and_what_regressed(project: Project) -> None:
    project.score(FULL, FULL, FULL, LONGER)
    text = comment(project, "latest")
    assert text.startswith("### ✅ markscheme: PASS (met)\n")
    assert "| `release` (hard) | ✅ pass | 0.9875 | ≥ 0.9 | +0.0875 |" in text
    assert "| **score** | 1.00 | 0.9875 | −0.0125 |" in text
    assert "| `shorter` | 1.00 | 0.75 | −0.25 |" in text
    assert "**Items that went from pass to fail (1):**" in text
    assert "- `i4`: 1.00 → 0.95 (`short` −1.00, `shorter` −1.00)" in text
    assert "  - `short`: `6 words, at most 5 allowed: 1 too many`" in text
    assert "**Evidence:** inconclusive" in text
    assert "<table>" in rendered(text)


def test_the_comment_tells_a_suspicious_rise(project: Project) -> None:
    project.score(*[LONGER] * 4)
    project.run("baseline", "set", "latest")
    project.score(*[LONG] * 4)
    text = comment(project, "latest")
    assert "**⚠️ Suspicious rise:** a rise from 0.95 to 0.98" in text
    assert "Items that moved (4)" in text


def test_the_comment_of_a_hopeless_run_stays_short(tmp_path: Path) -> None:
    project = Project(tmp_path, items=300)
    project.stored(*[FULL] * 300)
    project.run("baseline", "set", "latest")
    project.score(*["no " * 2000] * 300)
    text = comment(project, "latest")
    assert len(text) < 60_000
    assert "… and 280 more" in text


def test_what_a_model_says_is_no_markup_in_a_comment(project: Project) -> None:
    project.score(EVIL, FULL, FULL, FULL)
    html = rendered(comment(project, "latest"))
    alive = re.sub(r"<code>.*?</code>", "", html)
    assert not re.search("<(script|a|em|img|b)\\b", alive)
    assert "@octocat" not in alive
    assert "&lt;script&gt;" in html


@given(TEXTS)
def test_a_code_span_holds_any_text_and_nothing_lives_in_it(text: str) -> None:
    html = rendered(f"- {format_code_span(text)}: end")
    assert re.fullmatch(r"<ul>\n<li><code>[^<]*</code>: end</li>\n</ul>\n", html)
    row = rendered(f"| a | b |\n|---|---|\n| {format_code_span(text, cell=True)} | end |")
    assert row.count("<td>") == 2
    assert re.search(r"<td><code>[^<]*</code></td>\n<td>end</td>", row)


@given(TEXTS)
def test_a_sentence_holds_any_text_and_nothing_lives_in_it(text: str) -> None:
    html = rendered(f"said: {escape_markdown(text)} end")
    assert re.fullmatch(r"<p>said: [^<]*end</p>\n", html)
    assert not re.search(r"@\w|://\w|www\.", html)
    row = rendered(f"| a | b |\n|---|---|\n| {escape_markdown(text)} | end |")
    assert row.count("<td>") == 2


# --- GitHub --------------------------------------------------------------------------------------


def on_github(project: Project, *words: str | Path, summary: Path | None = None) -> Done:
    env = {"GITHUB_STEP_SUMMARY": str(summary)} if summary else {}
    return project.run("gate", *words, GITHUB_ACTIONS="true", **env)


def test_annotations_tell_the_verdict_the_gates_and_what_regressed(project: Project) -> None:
    project.score(FULL, FULL, LONGER, WRONG)
    done = on_github(project, "latest")
    lines = [line for line in done.out.splitlines() if line.startswith("::")]
    assert lines[0].startswith("::error title=markscheme%3A verdict::FAIL (not met: release, be")
    assert any(line.startswith("::error title=markscheme%3A hard gate release") for line in lines)
    told = "::warning title=markscheme%3A regressed item::i4 went from pass to fail: 1.00 → 0.05"
    assert told in lines
    project.score(*[FULL] * 4)
    passed = on_github(project, "latest").out
    assert "::notice title=markscheme%3A verdict::PASS" in passed
    assert "::error" not in passed
    assert "::" not in project.judge("latest").out


def test_annotations_leave_a_json_document_alone(project: Project) -> None:
    done = on_github(project, "latest", "--format", "json")
    assert done.json["verdict"] == "pass"
    assert done.err.startswith("::notice")


def test_the_summary_of_a_job_is_added_to(project: Project) -> None:
    summary = project.write("summary.md", "# Before\n")
    on_github(project, "latest", summary=summary)
    project.score(*[WRONG] * 4)
    on_github(project, "latest", summary=summary)
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("# Before\n### ✅ markscheme: PASS")
    assert "### ❌ markscheme: FAIL" in text


def test_a_summary_that_cannot_be_written_is_no_pass(project: Project) -> None:
    done = on_github(project, "latest", summary=project.folder / "no" / "such")
    assert done.code == 2
    assert "cannot be written" in done.err


@given(TEXTS)
def test_an_annotation_is_one_command_on_one_line(text: str) -> None:
    line = _format_workflow_command("error", text, text)
    assert "\n" not in line
    assert "\r" not in line
    head, _, _ = line.removeprefix("::error title=").partition("::")
    assert ":" not in head
    assert "," not in head


def test_an_output_over_an_input_is_refused(project: Project) -> None:
    file = project.result(*[FULL] * 4)
    before = file.read_bytes()
    assert project.judge(file, "--junit", file).code == 2
    assert file.read_bytes() == before


def test_no_answer_is_read_unless_reasons_are_asked_for(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.score(*[WRONG] * 4)

    def refuse(*_: object) -> None:
        raise AssertionError("read answers")

    monkeypatch.setattr("markscheme.keep.chunks.read_frames", refuse)
    for words in (["gate", "latest"], ["baseline", "show"], ["runs"]):
        assert here(*words, "--store", project.store).code in {0, 1}
    new = project.write("new.yaml", RUBRIC.replace("0.03", "0.04").replace("0.95", "0.94"))
    assert here("recalibrate", "-r", new, "--apply", "--store", project.store).code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("gate", "latest", "--markdown"),
        ("gate", "latest", "--junit"),
        ("compare", "latest", "latest~1", "--html"),
        ("compare", "latest", "latest~1", "--markdown"),
    ],
    ids=" ".join,
)
def test_nothing_is_written_over_a_store(project: Project, words: tuple[str, ...]) -> None:
    project.stored(*[FULL] * 4)
    done = project.run(*words, project.store)
    assert done.code == 2
    assert "is a database, the store perhaps; write to another file" in done.err
    assert project.run("runs").code == 0
