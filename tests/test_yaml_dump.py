"""YAML that we write: it reads back as what was written, and people can edit it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from markscheme.read.documents import CommentedMapping, dump_yaml, parse_yaml
from markscheme.read.nfc import to_nfc

# Texts that YAML may read as something else, signs that it treats in its own way, and long lines.
WORDS = ("word", "a", "- x", "#", "x:", "true", "0.5", "longer-word", "«quoted»")
SIGNS = "ab  \n\n\t:#-'\"&*!|>%@`{}[],?é\u0301\x85\u2028\ufeff\xa0\u200d😀~="
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60),
    st.text(
        st.sampled_from("ab  \n\n\t:#-'\"&*!|>%@`{}[],?é\u0301\x85\u2028\ufeff\xa0\u200d😀~="),
        max_size=300,
    ),
    st.lists(st.sampled_from(WORDS), max_size=80).map(" ".join),
    st.sampled_from(["no", "null", "~", "0x10", "1e3", ".5", "- a", "? a", "a: b", "a #b", "---"]),
)
NUMBERS = st.one_of(
    st.integers(-(10**9), 10**9),
    st.decimals(min_value=-1000, max_value=1000, places=3),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(TEXTS, NUMBERS, st.booleans()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(TEXTS.map(lambda text: to_nfc(text[:100])), inner, max_size=4),
        st.builds(CommentedMapping, TEXTS, st.dictionaries(st.just("k"), inner, max_size=1)),
    ),
    max_leaves=12,
)


def as_read(value: Any) -> Any:
    """Return a value as it is read: texts in NFC."""
    if isinstance(value, str):
        return to_nfc(value)
    if isinstance(value, dict):
        return {to_nfc(key): as_read(entry) for key, entry in value.items()}
    return [as_read(entry) for entry in value] if isinstance(value, list) else value


@given(st.dictionaries(st.sampled_from(["a", "items", "says"]), VALUES, min_size=1))
def test_what_is_written_reads_back_as_the_same_values(document: dict[str, Any]) -> None:
    text = dump_yaml(document)
    tree = parse_yaml(text, "written.yaml")
    assert tree.problems == ()
    assert as_read(document) == tree, text


def test_long_texts_are_folded_and_lines_of_a_text_stay_lines() -> None:
    words = " ".join(["word"] * 40)
    text = dump_yaml({"items": [{"id": "c1", "says": words, "prompt": "user: a\n\nuser: b\n"}]})
    assert text.startswith("items:\n  - id: c1\n    says: >-\n      word word")
    assert text.endswith("    prompt: |\n      user: a\n\n      user: b\n")
    assert max(map(len, text.splitlines())) <= 100


def test_comments_stand_before_what_they_are_about() -> None:
    group = CommentedMapping("What it is about.\n\u2028", {"group": "g1", "criteria": [1]})
    assert dump_yaml({"criteria": [group]}) == (
        'criteria:\n  # What it is about.\n  # "\\u2028"\n  - group: g1\n    criteria:\n      - 1\n'
    )
