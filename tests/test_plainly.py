"""Documents that are written plainly are read without a parser, and read as the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from markscheme.vocabulary.errors import DocumentError
from markscheme.read.documents.yaml import parse_yaml
from markscheme.read.documents.yaml import parse_tree
from markscheme.read.documents.plainly import read_plainly
from markscheme.read.documents.yaml import YamlMapping, YamlSequence

BUILT_IN = Path(__file__).parent.parent / "src" / "markscheme" / "builtin"
PLAIN = ("exams/capstone", "exams/regression", "rubrics/tutor-capstone", "project/exam")
VALUES = (
    *("x", "a b", "1", "1.50", "-2", "+1", ".5", "0o17", "0x1F", "1e400", "1e99999", "12:30", ""),
    *("no", "true", "~", "null", ".inf", "x # c", "x#c", "a:b", "a: b", "x  ", "(a)", "¿Qué?"),
    *('"q"', "'s'", r'"a\"b"', r'"\u00e9\n"', r'"\t"', r'"e\u0301"', "'it''s'", '"x" # c', '"x"y'),
    *("[a, b]", "[ 1, 2.5, x y ]", "[]", "[a, b,]", "[é]", "[a: b]", "[~]", "[a #b]", "[a?b]"),
    *("{a: b, c: 3}", "{ a: b }", "{}", "{a: 1, a: 2}", "{a: {b: c}}", "[[a]]", "[-]", "[-1, +2]"),
    *('{"a": [1, {"b": "c"}], "d": null}', '["x", "y"] # c', '{"a":1}', '{"a": NaN}', '["a", b]'),
    *(r'["\u00f3"]', r'["\/"]', r'["e\u0301"]', '{"a": "b", "a": 1}', '{"<<": 1}', "# c", "don't"),
    *("|", ">", "&a x", "*a", "!t x", "%x", "@x", "`x", "- x", "-", "? x", ":x", "=", "e\u0301"),
)
KEYS = ("a: ", "b: ", "c:", "d:", "", "x-y:  ", "<<: ", '"q": ', "1: ", "é: ", "? ")
LINES = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "  ", "  ", "    ", "   "]),
    st.sampled_from(["", "", "- ", "- ", "-  ", "- - "]),
    st.sampled_from(KEYS),
    st.sampled_from(VALUES),
)


SIMPLE = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "  ", "    "]),
    st.sampled_from(["", "- "]),
    st.sampled_from(["a: ", "b: ", "c: ", "d: ", "e: ", "f: ", ""]),
    st.sampled_from(["x", "1", "", "", "[a]", "# c"]),
)


def told(node: Any, line: int = 0) -> Any:
    """Return a tree with its lines, the types of its values and its problems.

    What is written within a line may be plain mappings and lists, which stand on that line.
    """
    if isinstance(node, dict | list):
        inside = list(node.items() if isinstance(node, dict) else enumerate(node))
        lines = dict.fromkeys((key for key, _ in inside), line)
        if isinstance(node, YamlMapping):
            line, lines = node.line, node.lines
        elif isinstance(node, YamlSequence):
            line, lines = node.line, dict(enumerate(node.lines))
        held = [(key, lines[key], told(value, lines[key])) for key, value in inside]
        return isinstance(node, dict), line, held
    return type(node), str(node)


def agrees(text: str) -> bool:
    """Whether the text is plain; if so, the parser must read the same."""
    tree = read_plainly(text)
    if tree is not None:
        other = parse_yaml(text, "exam.yaml")
        assert (told(tree), tree.problems) == (told(other), other.problems)
    return tree is not None


@given(st.lists(SIMPLE, max_size=8))
def test_lines_of_any_depth_are_read_as_the_parser_reads_them(lines: list[str]) -> None:
    agrees("\n".join(lines))


@given(st.lists(LINES, max_size=8), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n"]))
def test_what_is_plain_is_read_as_the_parser_reads_it(
    lines: list[str], line_break: str, end: str
) -> None:
    agrees(line_break.join(lines) + end)


@given(st.text(alphabet="ab1 -:#,[]{}\"'\\\n~.\t\r\u00e9\u0301\u2028\ufeff"))
@example("a: b\n--- \n")
@example("a: b\n...\n")
@example("%YAML 1.2\n---\na: b\n")
@example("a: b\n c\n")
@example("a:\n- b\n- c: d\n  e: f\ng: h\n")
@example("a:\n- b:\n- x\n  y: 1\n")
@example(f"{'k' * 101}: b\n")
@example(f'{{"{"k" * 2000}": 1}}')
@example('{"a": ' * 100 + "1" + "}" * 100)
@example("[" * 100_000)
@example('{"a": ' + "[" * 100_000)
def test_any_text_is_read_as_the_parser_reads_it_or_left_to_it(text: str) -> None:
    agrees(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), JSON, min_size=1, max_size=3))
def test_json_is_read_as_the_parser_reads_it(document: dict[str, Any]) -> None:
    for text in (json.dumps(document), json.dumps(document, ensure_ascii=False)):
        agrees(text)
        agrees(f"a:\n  - {text}\n  - b: {text}\n")


@pytest.mark.parametrize("name", PLAIN)
def test_the_usual_documents_are_plain(name: str) -> None:
    assert agrees((BUILT_IN / f"{name}.yaml").read_text(encoding="utf-8"))


@given(st.data())
def test_a_usual_document_with_a_sign_changed_is_read_alike(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(PLAIN))
    lines = (BUILT_IN / f"{name}.yaml").read_text(encoding="utf-8").split("\n")[:40]
    text = "\n".join(lines)
    at = data.draw(st.integers(0, len(text)))
    drop = data.draw(st.integers(0, 2))
    put = data.draw(st.sampled_from(["", " ", "-", ":", "#", "[", "}", '"', "'", "\n", "  ", ", "]))
    agrees(text[:at] + put + text[at + drop :])


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("exam: a\nexam: b\n", 2, "the key occurs twice, first on line 1; each key may occur once"),
        ("a: .nan\n", 1, "`.nan` is not a number that can be used"),
    ],
)
def test_a_mistake_in_a_plain_document_is_told_with_its_line(
    text: str, line: int, message: str
) -> None:
    (problem,) = parse_tree(text.encode(), "exam.yaml").problems
    assert (problem.file, problem.line) == ("exam.yaml", line)
    assert message in problem.message


def test_what_is_no_yaml_is_refused_though_it_begins_plainly() -> None:
    with pytest.raises(DocumentError, match="not YAML"):
        parse_tree(b"exam: a\nitems:\n  - id: b\n prompt: c\n", "exam.yaml")
