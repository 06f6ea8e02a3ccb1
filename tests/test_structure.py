"""Axes on how an answer is built: sections, budgets, citations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme import Item, Response, load_rubric
from markscheme.mark import Outline, mark_cell
from markscheme.mark.axes import Citations, Sections, TokenBudget, Tokenizer
from markscheme.vocabulary import Axis, Cell, DocumentError, FrozenDict, Reading, Status

if TYPE_CHECKING:
    from pathlib import Path

SIX = ("Memory", "Codebase", "Patterns", "Dispatched", "Gaps", "Recommendation")
FOUR = SIX[:4]
ITEM = Item(id="TQ-1", prompt="Ask.", tags=FrozenDict(mode="quick"))
BUDGETS = FrozenDict(quick=500, medium=2000, thorough=4000)


def cell(axis: Axis, text: str, item: Item = ITEM) -> Cell:
    return mark_cell(axis, Response(reading=Reading.TEXT, text=text), item)


def passes(axis: Axis, text: str) -> bool:
    found = cell(axis, text)
    assert found.status is Status.SCORED, found.reason
    return found.value == 1


STYLES = [
    "# {}",
    "## {}",
    "###### {} ######",
    "##{}",
    "> ## {}",
    "## 1. {}",
    "## 🧠 {} Findings",
    "## **{}**",
    "## `{}`",
    "**{}**",
    "**{}:**",
    "**{}**:",
    "**{}:** with text behind it",
    "**{}**: with text behind it",
    "__{}__",
    "***{}***",
    "1. **{}**",
    "{}:",
    "{} findings:",
    "{} (3 files):",
    "{} and Related Notes:",
    "{}\n===",
    "{}\n---",
    "1. {}",
    "2) {}",
    "IV. {}",
    "<h2>{}</h2>",
    '<h3 class="x">{}</h3>',
    "=== {} ===",
    "--- {} ---",
    "─── {} ───",
    "== {}",
    "*{}*",
    "_{}_",
    "*{}:*",
    "🧠 **{}**",
    "⚠️ {}:",
    "🧠 {}",
    "{}",
    "{}: with text behind it",
    "A. {}",
    "(1) {}",
    "[{}]",
    "<b>{}</b>",
    "<details><summary><strong>{}</strong></summary>",
    "\ufeff## {}",
    "##\u00a0{}",
    "- **{}**",
    "* **{}:**",
    "- <b>{}</b>",
    "- ## {}",
    "1. ## {}",
    "1.1. {}",
    "Section 1: {}",
    "**{}** - with text behind it",
    "**{}.** With text behind it",
    "**{} (2 entries)**",
    "**{}** (2 entries)",
    ":brain: **{}**",
    "▶ {}",
    "\\section{{}}",
    "<{}>\ntext\n</{}>",
    "<{}_findings>\ntext\n</{}_findings>",
    '<section name="{}">\ntext\n</section>',
    "- **{}**: with text behind it",
    "1. **{}:** with text behind it",
]


@pytest.mark.parametrize("style", STYLES)
def test_a_heading_is_found_in_any_style(style: str) -> None:
    text = "\n\n".join(f"{style.replace('{}', name)}\n\nSome text." for name in SIX)
    assert passes(Sections(sections=SIX), text), cell(Sections(sections=SIX), text).reason


@pytest.mark.parametrize(
    "line",
    [
        "The memory is empty.",
        "Here is what is in memory:",
        "- Memory",
        "- **Memory**: nothing",
        "- **Memory leaks in every one of the loaders**",
        "<memory>",
        "`<memory>` and `</memory>`",
        "It is in <memory>\nhere\n</memory>",
        "```xml\n<memory>\n</memory>\n```",
        "#1234 says it: memory",
        "    # Memory",
        "| Memory | x |",
        "memory",
        "see memory",
        "`# Memory`",
        "1. Memory\n2. Codebase\n3. Patterns",
        "```\n# Memory\n```\nand more",
        "~~~\n# Memory\n~~~\nand more",
        "[Memory](#memory)",
        "Nothing is in memory.\n---",
        "1. **Memory**: none\n2. **Codebase**: none",
        "Immemorial:",
        "*Memory* is what matters here",
        "✅ memory was looked at",
        "Memory use of the loader",
        "Text before it.\nMemory\nand after it.",
        "Text before it.\nMemory: 3 of them",
        "a) Memory\nb) Codebase",
    ],
)
def test_what_only_mentions_a_section_is_no_heading(line: str) -> None:
    assert not passes(Sections(sections=("Memory",)), f"Intro.\n\n{line}\n\nMore.")


def test_plain_capitals_are_headings() -> None:
    text = "\n\n".join(f"{name.upper()}\n- src/a.py:1" for name in SIX)
    assert passes(Sections(sections=SIX), text)
    assert passes(Citations(sections=FOUR, other_sections=SIX[4:]), text)


TITLED = "# Context package: patterns of storage\n\n- in short\n\n" + "\n".join(
    f"## {name}\n- src/a.py:1" for name in SIX[:4]
)


def test_a_title_over_the_sections_is_none_of_them() -> None:
    text = f"{TITLED}\n## Gaps\n- unknown\n## Recommendation\n- go on\n"
    axis = Citations(sections=FOUR, other_sections=SIX[4:])
    assert cell(axis, text).reason == "4 findings, each with its source"
    without = text.replace("## Patterns\n", "")
    assert cell(Sections(sections=SIX), without).reason.startswith("no heading for Patterns; found")


def test_a_section_may_hold_the_others() -> None:
    text = "# Memory\n- mem-1\n" + "\n".join(f"## {name}\n- src/a.py:1" for name in SIX[1:])
    assert passes(Sections(sections=SIX), text)


def test_the_missing_headings_are_named_and_the_others_placed() -> None:
    found = cell(Sections(sections=SIX), "## Memory\n\n## Gaps\n")
    assert found.reason == (
        "no heading for Codebase, Patterns, Dispatched, Recommendation; "
        "found Memory (line 1), Gaps (line 3)"
    )


@pytest.mark.parametrize(
    "heading", ["Recommendations", "recommendation", "RECOMMENDATION", "My Recommendation"]
)
def test_the_key_word_is_enough(heading: str) -> None:
    assert passes(Sections(sections=("Recommendation",)), f"## {heading}")


@pytest.mark.parametrize(("key", "heading"), [("Gaps", "Gap analysis"), ("Patterns", "Pattern")])
def test_the_singular_will_do(key: str, heading: str) -> None:
    assert passes(Sections(sections=(key,)), f"## {heading}")


def test_an_answer_that_is_one_code_fence_is_read_inside_it() -> None:
    inside = "\n".join(f"## {name}" for name in SIX)
    assert passes(Sections(sections=SIX), f"```markdown\n{inside}\n```")
    assert passes(Sections(sections=SIX), f"\n```\n{inside}\n```\n")
    assert not passes(Sections(sections=SIX), f"```python\n{inside}\n```")
    code = inside.replace("## Gaps", "```py\nx\n```\n## Gaps")
    assert passes(Sections(sections=SIX), f"```markdown\n{code}\n```")
    assert not passes(Sections(sections=SIX), f"```\n{inside}\n```\nor\n```\nx\n```")


def test_a_fence_that_is_never_closed_hides_nothing() -> None:
    assert passes(Sections(sections=("Gaps",)), "```\ncode\n\n## Gaps\n")


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_any_line_end_will_do(ends: str) -> None:
    text = "## Memory\n- a (mem-1)\n## Codebase\n- b src/a.py:1".replace("\n", ends)
    assert passes(Sections(sections=("Memory", "Codebase")), text)
    assert passes(Citations(sections=FOUR), text)


@pytest.mark.parametrize(
    ("tokens", "mode", "value"),
    [
        (600, "quick", 1),
        (601, "quick", 0),
        (2400, "medium", 1),
        (2401, "medium", 0),
        (4800, "thorough", 1),
        (4801, "thorough", 0),
    ],
)
def test_a_budget_with_its_tolerance_is_met_exactly(tokens: int, mode: str, value: int) -> None:
    axis = TokenBudget(budgets=BUDGETS, by="mode", tolerance="20%")
    item = Item(id="q", prompt="Ask.", tags=FrozenDict(mode=mode))
    found = cell(axis, " word" * tokens, item)
    assert found.value == value
    assert f"{tokens:,} tokens (o200k_base), at most" in found.reason
    assert f"+ 20% (mode: {mode})" in found.reason


def test_a_budget_may_be_one_number_and_a_tolerance_may_be_tokens() -> None:
    axis = TokenBudget(budgets=3, tokenizer=Tokenizer.CL100K)
    assert cell(axis, " word" * 3).reason == "3 tokens (cl100k_base), at most 3 allowed"
    assert cell(axis, " word" * 4).value == 0


def test_special_tokens_are_text_and_an_endless_text_is_over_any_budget() -> None:
    axis = TokenBudget(budgets=10)
    assert cell(axis, "<|endoftext|>").value == 1
    assert cell(axis, "").value == 1
    found = cell(axis, "x" * 5_000_000)
    assert found.value == 0
    assert found.reason.startswith("5,000,000 bytes, more tokens (o200k_base) than the 10 allowed")


CITED = [
    "src/a.py:10",
    "`src/a.py:10`",
    "`src/a.py`:10",
    "**src/a.py:10**",
    "[src/a.py:10](x)",
    "src/a.py:10-20",
    "src/a.py:L10",
    "(a.py:1)",
    "a.py:1, b.py:2",
    "./a/b:3",
    "~/x/y.md:1",
    "/abs/path/to.rs:99",
    "C:\\x\\y.py:12",
    "Makefile:3",
    "Dockerfile:1",
    ".env:2",
    "app/[id]/page.tsx:7",
    "mem-12",
    "mem_3f2",
    "memory #7",
    "Memory ID: 4",
    "memory:project_overview",
    "#1234",
    "(#12)",
    "obs-31",
    "id: abc",
    "ADR-0003",
    "4d1f0c2a-0000-4000-8000-00000000000a",
]
UNCITED = [
    "src/a.py",
    "a.py",
    "at 10:30",
    "http://localhost:8080/",
    "https://example.org/a.py:10",
    "localhost:8080",
    "cache.example.com:6379",
    "me@host.net:22",
    "line 10 of src/a.py",
    "see memory",
    "from memory",
    "3:1",
    "note: 12 of them",
    "ratio 4:3",
    "",
]


@pytest.mark.parametrize("source", CITED)
def test_a_source_is_a_path_with_its_line_or_the_id_of_a_memory(source: str) -> None:
    assert passes(Citations(sections=FOUR), f"## Codebase\n- It loads {source}")


@pytest.mark.parametrize("source", UNCITED)
def test_what_only_looks_like_a_source_is_none(source: str) -> None:
    assert not passes(Citations(sections=FOUR), f"## Codebase\n- It loads {source}")


def test_the_findings_that_cite_nothing_are_quoted() -> None:
    text = "## Memory\n- one (mem-1)\n- two\n\n## Patterns\n* three\n"
    assert cell(Citations(sections=FOUR), text).reason == (
        '2 of 3 findings cite no source: line 3 "two"; line 6 "three"'
    )


@pytest.mark.parametrize(
    "inside",
    [
        "- one src/a.py:1\n  goes on",
        "- one\n  goes on in src/a.py:1",
        "- one\nlazily src/a.py:1",
        "- one\n\n  src/a.py:1",
        "- one:\n  ```\n  src/a.py:1: x\n  ```",
        "- one:\n  - src/a.py:1\n  - src/b.py:2",
        "- one src/a.py:1\n  - and so\n    - on",
        "- None found.",
        "- none",
        "- N/A",
        "- n/a",
        "- **None**",
        "- _None_",
        "- Empty",
        "- 0 agents",
        "- Not dispatched (quick mode).",
        "- Nothing relevant.",
        "- No relevant memories found.",
        "-",
        "- —",
        "None found.",
        "```\n- quoted\n```",
        "| a | b |\n|---|---|\n| x | src/a.py:1 |",
        "| a | b |\n|:--|--:|\n| None | |",
        "a | b\n--- | ---",
        "a | b\n--- | ---\nx | src/a.py:1",
        "### Deeper\n- src/a.py:1",
        "1. src/a.py:1\n2. src/b.py:1",
        "• src/a.py:1",
        "- [x] src/a.py:1",
    ],
)
def test_what_is_covered_or_no_finding(inside: str) -> None:
    text = f"## Memory\n{inside}\n\n## Gaps\n- uncited"
    assert passes(Citations(sections=FOUR), text), cell(Citations(sections=FOUR), text).reason


@pytest.mark.parametrize(
    ("inside", "quote"),
    [
        ("- one\n- two src/a.py:1", '"one"'),
        ("- one:\n  - src/a.py:1\n  - two", '"two"'),
        ("1. one", '"one"'),
        ("+ one", '"one"'),
        ("- Not validated: the input", '"Not validated: the input"'),
        ("- 0 is returned on error", '"0 is returned on error"'),
        ("• one", '"one"'),
        ("- [ ] one", '"[ ] one"'),
        ("| a | b |\n|---|---|\n| x | src/a.py |", '"x | src/a.py"'),
        ("| x | y |", '"x | y"'),
        ("### Deeper\n- one", '"one"'),
        ("**Deeper**\n- one", '"one"'),
        ("- one\n\nsrc/a.py:1", '"one"'),
        ("src/a.py:1 loads.\n\nIt is slow.", '"It is slow."'),
        ("1. **Loader**: loads\n2. **Cache**: src/c.py:3", '"**Loader**: loads"'),
        ("1. **Memory use**: grows\n2. src/c.py:3", '"**Memory use**: grows"'),
        ("**Note:** see\n- one", '"one"'),
        ("Key files:\n- one", '"one"'),
        ("x | y\n--- | ---\none | two", '"one | two"'),
        ("Text.\n---\n- one", '"one"'),
        ("Prose without a source.", '"Prose without a source."'),
        ("- No test covers the path where the loader meets a file that is not there", '"No test'),
    ],
)
def test_what_is_not_covered_is_quoted(inside: str, quote: str) -> None:
    found = cell(Citations(sections=FOUR), f"## Memory\n{inside}\n")
    assert found.value == 0
    assert quote in found.reason


def test_gaps_and_recommendations_need_no_source() -> None:
    text = (
        "## Memory\n- a mem-1\n## Gaps\n- b\n## Recommendation\n- c\n### Patterns to follow\n- d\n"
    )
    assert passes(Citations(sections=("Memory", "Codebase")), text)


def test_of_two_headings_with_a_key_word_the_topmost_counts() -> None:
    text = "## Patterns\n- a src/a.py:1\n## Recommendation\n### Patterns to follow\n- b\n"
    assert passes(Citations(sections=FOUR), text)


def test_without_the_sections_nothing_cites() -> None:
    found = cell(Citations(sections=FOUR), "All is well.")
    assert found.value == 0
    assert "no section Memory, Codebase, Patterns, Dispatched" in found.reason


def test_memory_ids_are_data_of_the_rubric() -> None:
    axis = Citations(sections=FOUR, memory_ids=(r"^note [a-z]+$",))
    assert passes(axis, "## Memory\n- note abc")
    assert not passes(axis, "## Memory\n- mem-12")


@pytest.mark.parametrize(
    "text",
    [
        "```x\n" * 10_000,
        "## Memory\n" * 10_000,
        "# " + "#" * 50_000 + "x",
        "==a" + " " * 50_000 + "x",
        "## Memory\n- " + "a." * 50_000,
        "## Memory\n- " + "a/(" * 10_000,
        "## Memory\n" + " " * 50_000 + "|",
        "1. x\n" + "\n" * 50_000 + "1. x",
        "## Memory\n" + "".join(f"{' ' * n}- a\n" for n in range(300)),
    ],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    for axis in (Sections(sections=SIX), Citations(sections=FOUR)):
        assert cell(axis, text).status is Status.SCORED


@given(st.text(st.sampled_from("#*_-=|:.1> \tMemoryGaps`~\n<h2/>()[]"), max_size=200))
def test_no_text_is_too_strange(text: str) -> None:
    for axis in (Sections(sections=SIX), Citations(sections=FOUR), TokenBudget(budgets=5)):
        assert cell(axis, text).status is Status.SCORED
    for heading in Outline(text, SIX).headings:
        assert heading.level >= 0
        assert 1 <= heading.line <= len(text.splitlines())


@given(st.lists(st.sampled_from(CITED + UNCITED), max_size=6))
def test_one_uncited_finding_is_enough_to_miss(sources: list[str]) -> None:
    text = "## Codebase\n" + "".join(f"- It loads {source}\n" for source in sources)
    wanted = all(source in CITED for source in sources)
    assert passes(Citations(sections=FOUR), text) is wanted


def rubric_with(tmp_path: Path, axes: str) -> Path:
    path = tmp_path / "rubric.yaml"
    path.write_text(f"rubric: r\n{axes}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("axis", "said"),
    [
        ("kind: sections, sections: []", "axes.0.sections: is an empty list"),
        ("kind: sections, sections: [' ']", "axes.0.sections.0: is empty"),
        ("kind: citations, sections: [A], memory_ids: ['(']", "axes.0.memory_ids.0: "),
        ("kind: token_budget, budgets: 0", "axes.0.budgets: must be a whole number from 1 on"),
        ("kind: token_budget, budgets: {quick: 1}", "axes.0.by: is missing"),
        ("kind: token_budget, by: mode, budgets: {quick: -1}", "axes.0.budgets.quick: must be"),
        ("kind: token_budget, by: mode, budgets: {quick: 1.5}", "axes.0.budgets.quick: must be"),
        ("kind: token_budget, by: mode, budgets: {}", "axes.0.budgets: is empty"),
        ("kind: token_budget, by: mode, budgets: 5", "axes.0.budgets: must say the limit of each"),
        ("kind: token_budget, budgets: 5, tolerance: lots", "axes.0.tolerance: "),
        ("kind: token_budget, budgets: 5, tokenizer: gpt2", "axes.0.tokenizer: "),
        ("kind: call_order, first: memry, then: search", "axes.0.first: `memry` is no family"),
        ("kind: call_order, first: search, then: search", "axes.0.then: must be another family"),
        ("kind: call_limit, family: dispatch, limits: -1", "axes.0.limits: must be a whole number"),
        ("kind: forbidden_calls, families: []", "axes.0.families: is an empty list"),
        ("kind: forbidden_calls, families: [x]", "axes.0.families: `x` is no family"),
        ("kind: forbidden_calls, families: [mutation], tool_families: {}", "axes.0.tool_families"),
    ],
)
def test_wrong_parameters_are_refused_with_their_place(
    axis: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(DocumentError, match=re.escape(f"rubric.yaml:2: {said}")):
        load_rubric(rubric_with(tmp_path, f"axes: [{{name: a, {axis}}}]"))


def test_axes_without_weights_count_alike(tmp_path: Path) -> None:
    one, two, three = (f"{{name: a{n}, kind: max_words, limit: {n}}}" for n in (1, 2, 3))
    rubric = load_rubric(rubric_with(tmp_path, f"axes: [{one}, {two}, {three}]"))
    assert [str(spec.weight) for spec in rubric] == ["1/3"] * 3


def test_some_weights_are_none(tmp_path: Path) -> None:
    one, two = (f"{{name: a{n}, kind: max_words, limit: {n}" for n in (1, 2))
    axes = f"axes:\n- {one}, weight: 1}}\n- {two}}}"
    with pytest.raises(
        DocumentError, match=r"rubric.yaml:4: axes.1.weight: is missing; give every"
    ):
        load_rubric(rubric_with(tmp_path, axes))
    with pytest.raises(DocumentError, match=r"axes.0.weight: must be a number"):
        load_rubric(rubric_with(tmp_path, "axes: [{name: a, kind: max_words, limit: 1, weight: }]"))
