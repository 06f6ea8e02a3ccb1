"""Every code of lint is documented, and its examples are what they say they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from markscheme import lint
from markscheme.prove.lint import CODES

TEXT = (Path(__file__).parent.parent / "docs" / "lint.md").read_text(encoding="utf-8")
SECTIONS = {part[:4]: part for part in TEXT.split("\n### ")[1:]}
REST = {
    "R": {
        "rubric": "rubric: example",
        "axes": "axes: [{name: right, kind: contains_all, weight: 1}]",
        "gates": "gates: [{name: bar, level: hard, at_least: 0.9}]",
    },
    "E": {"exam": "exam: example"},
    "D": {"rubric": "rubric: example", "verdicts": "verdicts: [better, same, worse]"},
    "J": {"judge": "judge: example", "subject": "subject: llm:claude-haiku-4.5"},
}
JUDGED = "openai:gpt-5-mini"


def list_missing_keys(code: str, stated: set[str]) -> dict[str, str]:
    """Return what makes an example whole; codes of judges are about exams and rubrics too."""
    if code[0] == "J" and "items" in stated:
        return REST["E"]
    if code[0] == "J" and "axes" in stated:
        return {"rubric": REST["R"]["rubric"]}
    return {} if "panel" in stated else REST[code[0]]


def example(code: str, kind: str) -> str:
    """Return an example as a whole document. The document of kind `with` is complete already."""
    found = re.findall(rf"```yaml {kind}\n(.*?)```", SECTIONS[code], flags=re.DOTALL)
    text: str = found[0]
    if kind == "with":
        return text
    stated = set(re.findall(r"^(\w+):", text, flags=re.MULTILINE))
    rest = [line for key, line in list_missing_keys(code, stated).items() if key not in stated]
    return "\n".join([*rest, text])


def codes_of(code: str, kind: str, folder: Path) -> tuple[set[str], list[str]]:
    """Lint an example; return the codes that were found, and the errors in full."""
    main, beside = folder / "example.yaml", folder / "beside.yaml"
    main.write_text(example(code, kind), encoding="utf-8")
    exams, rubric = [], None
    if "```yaml with" in SECTIONS[code]:
        beside.write_text(example(code, "with"), encoding="utf-8")
        if code[0] == "E":
            rubric = beside
        else:
            exams = [beside]
    report = lint(main, rubric=rubric, exams=exams, judged=[JUDGED])
    errors = [str(found) for found in report.findings if found.severity == "error"]
    return {found.code for found in report.findings}, errors


def test_every_code_has_a_section_with_its_title_and_severity() -> None:
    assert list(SECTIONS) == list(CODES)
    for code, section in SECTIONS.items():
        title, _, body = section.partition("\n")
        assert title == f"{code}: {CODES[code].title}"
        assert body.lstrip().startswith(f"*{CODES[code].severity}*. ")


@pytest.mark.parametrize("code", CODES)
def test_the_bad_example_has_the_finding(code: str, tmp_path: Path) -> None:
    assert code in codes_of(code, "bad", tmp_path)[0]


@pytest.mark.parametrize("code", CODES)
def test_the_good_example_has_not_and_no_error_at_all(code: str, tmp_path: Path) -> None:
    codes, errors = codes_of(code, "good", tmp_path)
    assert code not in codes
    assert errors == []
