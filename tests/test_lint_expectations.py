"""Lint looks at what expectations say: forms of verbs, stray characters, alternatives, marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from markscheme import LintFinding, lint

TAGS = "tags: {verb: eat, tense: past-simple, person: 3sg}"


def find(folder: Path, code: str, *items: str, rubric: str | None = None) -> list[LintFinding]:
    path = folder / "exam.yaml"
    entries = [f"  - {{id: q{n}, prompt: Say {n}., {item}}}\n" for n, item in enumerate(items)]
    path.write_text("exam: mine\nitems:\n" + "".join(entries), encoding="utf-8")
    return [found for found in lint(path, rubric=rubric).findings if found.code == code]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (
            f"gloss_contains: [comí], {TAGS}",
            '"comí" is the form for past-simple, 1sg; past-simple, 3sg of `eat` is "comió"',
        ),
        (
            "expected: has did, tags: {verb: do, tense: present-perfect, person: 3sg}",
            '"has did" is no form of the verb; present-perfect, 3sg of `do` is "has done" or',
        ),
        (
            "expected: goed, tags: {verb: go, tense: past-simple, person: 3sg}",
            '"goed" is no form of the verb; past-simple, 3sg of `go` is "went"',
        ),
        (
            f"expected: has ate, {TAGS}",
            '"has ate" is no form of the verb; past-simple, 3sg of `eat` is "ate"',
        ),
        (
            "expected: did worked, tags: {verb: work, tense: past-simple, person: 2sg}",
            '"did worked" is no form of the verb; past-simple, 2sg of `work` is "worked"',
        ),
        (f"expected: comió, {TAGS}", '"comió" is Spanish; past-simple, 3sg of `eat` is "ate"'),
        (
            f"gloss_contains: [ate], {TAGS}",
            '"ate" is English; past-simple, 3sg of `eat` is "comió"',
        ),
    ],
)
def test_an_expectation_that_the_verb_table_contradicts_is_told(
    tmp_path: Path, item: str, message: str
) -> None:
    (found,) = find(tmp_path, "E017", item)
    assert found.message.startswith(message)
    assert found.line == 3


@pytest.mark.parametrize(
    "item",
    [
        f"expected: ate, {TAGS}",
        f"expected: She ate it., {TAGS}",
        f"expected: devoured, {TAGS}",
        "expected_contains: [has, eaten], tags: {verb: eat, tense: present-perfect, person: 3sg}",
        "expected: traveled, tags: {verb: travel, tense: past-simple, person: 3sg}",
        "expected: eated, tags: {verb: eat, tense: past}",
        "expected: eated, tags: {verb: frobnicate, tense: past-simple, person: 3sg}",
    ],
)
def test_what_may_be_right_or_is_unknown_to_the_table_is_left_alone(
    tmp_path: Path, item: str
) -> None:
    assert find(tmp_path, "E017", item) == []


def test_the_language_of_a_key_is_that_of_most_items(tmp_path: Path) -> None:
    verbs = [("go", "fue"), ("see", "vio"), ("do", "hizo"), ("buy", "bought")]
    items = [
        f"expected: {form}, tags: {{verb: {verb}, tense: past-simple, person: 3sg}}"
        for verb, form in verbs
    ]
    (found,) = find(tmp_path, "E017", *items)
    assert found.message.startswith('"bought" is English')


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (r"a\u200bte", ["E018"]),
        (r"\u202eate", ["E018"]),
        (r"coopera\u00adte", ["E018"]),
        (r"\u0430te", ["E019"]),
        (r"\u0441\u043e", ["E019"]),
        (r"\u043c\u0438\u0440", []),
        (r"\u03bb\u03cc\u03b3\u03bf\u03c2", []),
        ("a/b", []),
        ("km/h", []),
        ("travelled/traveled", ["E020"]),
        ("went | gone", ["E020"]),
        ("TCP/IP", []),
        ("and/or", []),
        ("went,", ["E021"]),
        ("went!", ["E021"]),
        ("went", []),
        ("p.m.", []),
        ("¿Qué tal?", []),
    ],
)
def test_what_a_reader_overlooks_in_an_expectation_is_found(
    tmp_path: Path, text: str, codes: list[str]
) -> None:
    wanted = ("E018", "E019", "E020", "E021")
    found = [code for code in wanted if find(tmp_path, code, f'expected_contains: ["{text}"]')]
    assert found == codes


def test_an_invisible_character_is_named_by_its_code(tmp_path: Path) -> None:
    (found,) = find(tmp_path, "E018", r'expected_contains: [[went, "we\u200bnt"]]')
    assert "U+200B ZERO WIDTH SPACE" in found.message
    assert found.field == "items.0.expected_contains.0.1"


def test_a_form_inside_another_form_is_told_with_the_item_that_asks_for_it(tmp_path: Path) -> None:
    first = f"expected_contains: [ate], {TAGS}"
    other = "expected_contains: [have eaten], "
    tags = "tags: {verb: eat, tense: present-perfect, person: 1pl}"
    (found,) = find(tmp_path, "E007", first, other + tags)
    assert '"have eaten" (present-perfect, 1pl, asked by q1)' in found.message


def test_alternatives_are_checked_one_by_one(tmp_path: Path) -> None:
    (found,) = find(tmp_path, "E021", 'expected_contains: [[went, "gone!"]]')
    assert found.field == "items.0.expected_contains.0.1"
