"""Fingerprints: what changes them, what does not, and the canonical JSON behind them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from markscheme import DocumentError, Exam, Item, load_exam, load_rubric
from markscheme.read.documents import (
    compute_exam_fingerprint,
    dump_exam,
    parse_exam_text,
    to_canonical_json,
)
from markscheme.vocabulary import FrozenDict
from yaml_documents import EXAM, RUBRIC

if TYPE_CHECKING:
    from pathlib import Path


def reformatted(text: str) -> str:
    """Rewrite a document without changing its meaning: comments, key order, quotes, numbers."""
    return (
        "# a comment\ntitle: new\n"
        + text.replace("0.60", "6.0e-1")
        .replace("version: 2\n", "")
        .replace(
            "kind: contains_all\n    weight: 6.0e-1", "weight: 6.0e-1\n    kind: 'contains_all'"
        )
        + "version: 2 # moved\n"
    )


def test_a_fingerprint_survives_reformatting(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(RUBRIC)
    (tmp_path / "two.yaml").write_text(reformatted(RUBRIC))
    one, two = load_rubric(tmp_path / "one.yaml"), load_rubric(tmp_path / "two.yaml")
    assert (tmp_path / "one.yaml").read_text() != (tmp_path / "two.yaml").read_text()
    assert one.fingerprint == two.fingerprint
    assert one.fingerprint.startswith("b2:")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.60", "0.61"),
        ("limit: 5", "limit: 6"),
        ("[strip, lower]", "[lower, strip]"),
        ("[strip, lower]", "[strip]"),
        ("reads: answer", "match: word"),
        ("version: 2", "version: 3"),
    ],
)
def test_a_fingerprint_changes_with_anything_that_could_change_a_score(
    tmp_path: Path, old: str, new: str
) -> None:
    (tmp_path / "one.yaml").write_text(RUBRIC)
    changed = RUBRIC.replace(old, new).replace("0.40", "0.39" if new == "0.61" else "0.40")
    (tmp_path / "two.yaml").write_text(changed)
    one, two = load_rubric(tmp_path / "one.yaml"), load_rubric(tmp_path / "two.yaml")
    assert one.fingerprint != two.fingerprint


def test_a_gate_is_no_part_of_the_fingerprint_because_it_changes_no_score(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(RUBRIC)
    (tmp_path / "two.yaml").write_text(RUBRIC.replace("at_least: 0.9", "at_least: 0.8"))
    one, two = load_rubric(tmp_path / "one.yaml"), load_rubric(tmp_path / "two.yaml")
    assert one.fingerprint == two.fingerprint


@given(st.permutations(["capstone", "capstone-extra", "regression"]))
def test_the_order_of_exam_files_does_not_change_the_fingerprint(names: list[str]) -> None:
    usual = load_exam("capstone", "capstone-extra", "regression")
    assert load_exam(*names).fingerprint == usual.fingerprint


@pytest.mark.parametrize("change", [("[ate]", "[eaten]"), ("Say ran", "Say run"), ("eat}", "x}")])
def test_an_exam_fingerprint_changes_with_its_items(
    tmp_path: Path, change: tuple[str, str]
) -> None:
    (tmp_path / "one.yaml").write_text(EXAM)
    (tmp_path / "two.yaml").write_text(EXAM.replace(*change))
    one, two = load_exam(tmp_path / "one.yaml"), load_exam(tmp_path / "two.yaml")
    assert one.fingerprint != two.fingerprint


def test_no_two_built_in_documents_share_a_fingerprint() -> None:
    exams = [load_exam(name).fingerprint for name in ("capstone", "capstone-extra", "regression")]
    prints = [*exams, load_rubric("tutor-capstone").fingerprint]
    assert len(set(prints)) == len(prints)


ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals(-9, 9, places=3) | ANY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY, inner, max_size=3),
    max_leaves=6,
)
ITEMS = st.builds(
    lambda **fields: Item(**{name: FrozenDict.freeze(value) for name, value in fields.items()}),
    id=ANY,
    prompt=ANY,
    expectations=st.dictionaries(ANY, VALUES, max_size=3),
    tags=st.dictionaries(ANY, ANY, max_size=3),
)


@given(st.lists(ANY, min_size=1, max_size=2), st.lists(ITEMS, max_size=4))
def test_an_exam_comes_back_from_its_text_as_it_was(names: list[str], items: list[Item]) -> None:
    exam = Exam(
        names=tuple(names), items=tuple(items), fingerprint=compute_exam_fingerprint(names, items)
    )
    assert parse_exam_text(dump_exam(exam), "kept") == exam


def test_a_text_that_is_no_exam_says_so() -> None:
    with pytest.raises(DocumentError, match="kept:1: not JSON"):
        parse_exam_text("{", "kept")


@given(VALUES.filter(lambda value: "Decimal" not in repr(value)))
def test_the_canonical_text_of_plain_values_is_their_json(value: Any) -> None:
    assert json.loads(to_canonical_json(FrozenDict.freeze(value))) == value


WORDS = st.recursive(
    st.none() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3).map(FrozenDict)
    ),
    max_leaves=8,
)


@example({"\x7f": None})
@given(WORDS)
def test_what_is_written_by_the_encoder_is_the_canonical_text(value: Any) -> None:
    by_rule = to_canonical_json(
        [value, 0]
    )  # a number is written by its value, and all beside it by rule
    assert by_rule == f"{to_canonical_json([value])[:-1]},0]"
