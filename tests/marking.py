"""What tests mark: the tutor's rubric and an item, odd texts and outputs, one axis alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from markscheme import Cell, Item, load_rubric
from markscheme.mark import read_response

if TYPE_CHECKING:
    from markscheme.vocabulary import Axis

TUTOR = load_rubric("tutor-capstone")
EAT = Item(
    id="e-39-01",
    prompt="Conjugate 'eat' — past simple, 3rd singular.",
    expectations={"expected_contains": ["ate"], "gloss_contains": ["comió"]},
)
TEXTS = st.one_of(
    st.text(),
    st.text(alphabet=" .ATEateó'\"\t\n\u0301ﬁİſΣς\x1c\x85"),
    st.sampled_from(["Ate.", "  ATE. ", "Ate..", "", "comió", "comio\u0301", "COMIÓ."]),
)
OUTPUTS = st.one_of(
    TEXTS,
    st.fixed_dictionaries(
        {},
        optional={
            "correction": st.one_of(TEXTS, st.integers()),
            "spanish_gloss": st.one_of(TEXTS, st.none()),
            "explanation": TEXTS,
            "extra": TEXTS,
        },
    ).map(json.dumps),
    TEXTS.map(lambda text: f"```json\n{json.dumps({'correction': text})}\n```"),
)


def cell(axis: Axis, text: str, **expectations: Any) -> Cell:
    """Return what the axis says of a text that is the whole response."""
    item = Item(id="x", prompt="p", expectations=expectations)
    assert list(axis.item_problems(item)) == []
    return axis.mark(read_response(text), item)


def value(axis: Axis, text: str, **expectations: Any) -> int:
    got = cell(axis, text, **expectations).value
    assert got is not None
    return int(got)
