"""Templates and examples make the prompt, and those that cannot be used are refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from markscheme import load_exam
from markscheme.ask.questions import read_shots
from markscheme.read.documents import list_builtin_names

if TYPE_CHECKING:
    from sittings import Sitting


def test_a_template_and_examples_make_the_prompt(sitting: Sitting) -> None:
    template = sitting.write("t.txt", "Be {brief}.\n---\nQ: {prompt}")
    examples = sitting.write("e.jsonl", '{"prompt": "another", "output": "yes"}\n')
    sitting.asks("fine 1").run("--template", template, "--examples", examples)
    (body,) = sitting.server.bodies
    assert [(turn["role"], turn["content"]) for turn in body["messages"]] == [
        ("system", "Be {brief}."),
        ("user", "Q: another"),
        ("assistant", "yes"),
        ("user", "Q: fine 1"),
    ]


def test_an_example_that_is_an_item_is_refused(sitting: Sitting) -> None:
    examples = sitting.write("e.jsonl", '{"prompt": "fine 1", "output": "yes"}\n')
    done = sitting.asks("fine 1").run("--examples", examples)
    assert done.code == 3
    assert f"{examples}:1: example: is the item `i0` of the exam" in done.err
    assert not sitting.server.counts


def test_marks_of_an_editor_and_rare_line_ends_are_no_part_of_a_prompt(sitting: Sitting) -> None:
    template = sitting.write("template.txt", "\ufeffSay: {prompt}")
    rare = json.dumps({"prompt": "a\u2028b", "output": "c"}, ensure_ascii=False)
    examples = sitting.write("examples.jsonl", f"\ufeff{rare}\r\n")
    done = sitting.asks("fine 1").run("--template", template, "--examples", examples)
    assert done.code == 0
    (request,) = sitting.server.bodies
    said = [turn["content"] for turn in request["messages"]]
    assert said == ["Say: a\u2028b", "c", "Say: fine 1"]


def test_an_example_that_is_an_item_is_refused_however_its_accents_are_written(
    sitting: Sitting,
) -> None:
    shown = json.dumps({"prompt": "¿Comio\u0301?", "output": "yes"})
    done = sitting.asks("¿Comi\u00f3?").run("--examples", sitting.write("shots.jsonl", shown))
    assert done.code == 3
    assert "is the item `i0` of the exam" in done.err


def test_an_example_that_cannot_be_sent_is_refused(sitting: Sitting) -> None:
    examples = sitting.write("examples.jsonl", '{"prompt": "a", "output": "\\ud800"}\n')
    done = sitting.asks("fine 1").run("--examples", examples)
    assert done.code == 3
    assert "examples.jsonl:1: example: holds a lone surrogate" in done.err


def test_a_template_without_the_prompt_is_refused(sitting: Sitting) -> None:
    template = sitting.write("t.txt", "Answer!\n")
    done = sitting.asks("fine 1").run("--template", template)
    assert done.code == 3
    assert "`{prompt}` is missing" in done.err


def test_the_built_in_examples_are_items_of_no_built_in_exam() -> None:
    for name in list_builtin_names("exams"):
        shots = read_shots("tutor", load_exam(name).items)
        assert len(shots) == 3
