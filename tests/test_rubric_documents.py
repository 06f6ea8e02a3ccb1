"""Rubric files: what is read, what is refused, and what the refusal says."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from markscheme import Rubric, load_rubric
from yaml_documents import RUBRIC, problems_of

if TYPE_CHECKING:
    from pathlib import Path


def test_a_rubric_is_read_into_frozen_types_with_exact_weights(tmp_path: Path) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text(RUBRIC)
    rubric = load_rubric(path)
    assert (rubric.name, rubric.version) == ("mine", 2)
    assert [spec.weight for spec in rubric] == [Decimal("0.60"), Decimal("0.40")]
    assert rubric.axes[0].axis.normalise == ("strip", "lower")  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        rubric.name = "other"  # type: ignore[misc]


def test_an_axis_may_have_its_own_normalisation(tmp_path: Path) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text(RUBRIC.replace("    reads: answer", "    normalise: [strip]"))
    assert load_rubric(path).axes[0].axis.normalise == ("strip",)  # type: ignore[attr-defined]


def test_the_built_in_rubric_is_the_seeds() -> None:
    rubric: Rubric = load_rubric("tutor-capstone")
    weights = {spec.name: str(spec.weight) for spec in rubric}
    assert weights == {
        "correctness": "0.60",
        "spanish_gloss": "0.25",
        "schema": "0.10",
        "conciseness": "0.05",
    }
    assert rubric.gates[0].at_least == Decimal("0.92")


@pytest.mark.parametrize(
    ("old", "new", "expected_text"),
    [
        (
            "version: 2",
            "verion: 2",
            "r.yaml:2: verion: unknown key; allowed: rubric, version, title",
        ),
        ("version: 2", "rubric: x", "r.yaml:2: rubric: the key occurs twice, first on line 1"),
        ("rubric: mine", "title: x", "r.yaml:1: rubric: is missing; it is required"),
        ("version: 2", "version: two", "r.yaml:2: version: must be a whole number, not `two`"),
        ("version: 2", "version: 0", "r.yaml:2: version: 0 is below 1; allowed: 1 or more"),
        ("0.60", ".nan", "r.yaml:7: axes.0.weight: `.nan` is not a number that can be used"),
        ("0.60", "1e999999999", "axes.0.weight: `1e999999999` is not a number that can be"),
        ("0.60", "-.inf", "r.yaml:7: axes.0.weight: `-.inf` is not a number that can be used"),
        ("0.60", "-0.60", "r.yaml:7: axes.0.weight: -0.60 is below 0"),
        ("0.60", "'0.60'", "axes.0.weight: must be a number, not `0.60` in quotation marks"),
        ("kind: max_words", "kind: 1", "r.yaml:10: axes.1.kind: must be text, not the number 1"),
        ("kind: max_words", "kind: [a]", "r.yaml:10: axes.1.kind: must be text, not a list"),
        ("    kind: max_words\n", "", "r.yaml:9: axes.1.kind: is missing"),
        ("[strip, lower]", "[[strip]]", "r.yaml:3: normalise.0: a list is no normalisation step"),
        ("[strip, lower]", "[Strip]", "did you mean `strip`?"),
        ("reads: answer", "expects: prompt", "axes.0.expects: `prompt` is no expectation"),
        ("rubric: mine", 'rubric: "\\e[31m"', "rubric: `\\x1b[31m` is no name"),
        (
            "0.40",
            "0.45",
            (
                "r.yaml:11: axes.1.weight: 0.45 makes the weights sum to 1.05 (0.60 + 0.45); they "
                "must sum to exactly 1"
            ),
        ),
        (
            "0.40",
            "0.399999999999",
            "sum to 0.999999999999 (0.60 + 0.399999999999); they",
        ),
        (
            "max_words",
            "max_wrds",
            "r.yaml:10: axes.1.kind: `max_wrds` is no kind of axis; allowed:",
        ),
        (
            "limit: 5",
            "limt: 5",
            "r.yaml:12: axes.1.limt: unknown key; allowed: name, kind, weight,",
        ),
        ("limit: 5", "limit: -5", "r.yaml:12: axes.1.limit: -5 is below 0"),
        ("limit: 5", "limit: 5.5", "axes.1.limit: must be a whole number, not the number 5.5"),
        ("    limit: 5\n", "", "r.yaml:9: axes.1.limit: is missing; it is required"),
        ("lower]", "upper]", "r.yaml:3: normalise.1: `upper` is no normalisation step; allowed:"),
        ("name: brief", "name: right", "r.yaml:9: axes.1.name: `right` occurs twice, first on"),
        ("hard", "firm", "r.yaml:14: gates.0.level: `firm` is not allowed; allowed: `hard` or"),
        ("at_least: 0.9", "at_least: 1.9", "gates.0.at_least: 1.9 is above 1; at most 1"),
        ("reads: answer", "match: exact", "axes.0.match: `exact` is not allowed; allowed: `subs"),
        ("rubric: mine", "rubric: !!python/name:os.system x", "r.yaml:1: rubric: the tag"),
        ("rubric: mine", "<<: {rubric: x}", "r.yaml:1: <<: merge keys are refused"),
    ],
)
def test_each_mistake_in_a_rubric_is_told_with_line_and_field(
    tmp_path: Path, old: str, new: str, expected_text: str
) -> None:
    assert old in RUBRIC
    found = problems_of(tmp_path / "r.yaml", RUBRIC.replace(old, new, 1))
    assert any(expected_text in problem for problem in found), found


@pytest.mark.parametrize(
    ("axis", "expected_text"),
    [
        ("kind: pattern, pattern: '(?=a)'", "axes.0.pattern: `(?=a)` is refused: look-around"),
        ("kind: pattern, pattern: '('", "axes.0.pattern: `(` is refused: unclosed group"),
        ("kind: json_schema, schema: {type: 3}", "axes.0.schema.type: not a JSON Schema"),
        (
            "kind: json_schema, schema: {$ref: 'http://x/y'}",
            'schema.$ref: "http://x/y" leads outsi',
        ),
        ("kind: json_schema", "axes.0.schema: is missing"),
        ("kind: length", "axes.0.at_most: is missing, so every text would pass"),
        ("kind: length, at_least: 3, at_most: 2", "axes.0.at_most: 2 is below at_least, 3"),
        ("kind: length, unit: bytes", "axes.0.unit: `bytes` is not allowed; allowed: `characters`"),
        (
            "kind: number_within, tolerance: 5 percent",
            "axes.0.tolerance: `5 percent` is no tolerance",
        ),
        ("kind: number_within, tolerance: -1", "axes.0.tolerance: the number -1 is no tolerance"),
    ],
)
def test_parameters_that_no_axis_can_use_are_refused(
    tmp_path: Path, axis: str, expected_text: str
) -> None:
    text = f"rubric: r\naxes:\n  - {{name: a, weight: 1, {axis}}}\n"
    found = problems_of(tmp_path / "r.yaml", text)
    assert any(expected_text in problem for problem in found), found


def test_an_axis_of_unknown_kind_is_told_once_and_its_parameters_are_left_alone(
    tmp_path: Path,
) -> None:
    found = problems_of(tmp_path / "r.yaml", RUBRIC.replace("kind: max_words", "kind: 7"))
    assert len(found) == 1


def test_a_weight_out_of_range_blames_no_other_axis(tmp_path: Path) -> None:
    found = problems_of(tmp_path / "r.yaml", RUBRIC.replace("0.60", "-0.60"))
    assert found == ["r.yaml:7: axes.0.weight: -0.60 is below 0; allowed: 0 or more"]


def test_weights_that_miss_1_by_a_hair_are_refused_with_the_whole_sum(tmp_path: Path) -> None:
    found = problems_of(tmp_path / "r.yaml", RUBRIC.replace("0.40", "0.4000000000000000000000001"))
    assert "sum to 1.0000000000000000000000001 (0.60 + " in found[0]
    found = problems_of(tmp_path / "r.yaml", RUBRIC.replace("0.40", "0.4" + "0" * 60 + "1"))
    assert "sum to a little more than 1 (0.60 + " in found[0]


def test_normalisation_that_is_left_empty_is_refused_not_guessed(tmp_path: Path) -> None:
    rubric = b"rubric: r\nnormalise:\naxes:\n  - {name: a, kind: contains_all, weight: 1}\n"
    message = problems_of(tmp_path / "r.yaml", rubric)
    assert message == ["r.yaml:2: normalise: must be a list, not nothing"]


def test_only_a_number_is_said_to_stand_in_quotation_marks(tmp_path: Path) -> None:
    rubric = "rubric: r\naxes:\n  - {{name: a, kind: max_words, limit: 3, weight: {}}}\n"
    expected_text = [
        problems_of(tmp_path / "r.yaml", rubric.format(w).encode()) for w in ('"1"', "1/1")
    ]
    assert expected_text == [
        ["r.yaml:3: axes.0.weight: must be a number, not `1` in quotation marks"],
        ["r.yaml:3: axes.0.weight: must be a number, not `1/1`"],
    ]


def test_every_mistake_of_a_file_is_told_at_once_in_the_order_of_its_lines(tmp_path: Path) -> None:
    text = RUBRIC.replace("version", "verion").replace("0.60", ".nan").replace("max_w", "mx_w")
    lines = [int(message.split(":")[1]) for message in problems_of(tmp_path / "r.yaml", text)]
    assert lines == [2, 7, 10]
