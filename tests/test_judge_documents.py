"""The documents of judges and panels: what they may hold, and what makes a judge another one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judges import make_judge
from markscheme.read.documents import BUILTIN_DIR, read_judge
from markscheme.vocabulary import DocumentError, Judge, JudgeSight, Panel, SettleRule, UsageError

FULL: dict[str, Any] = {
    "subject": "openai:m",
    "base_url": "http://127.0.0.1:1/v1",
    "sees": ["prompt", "answer"],
    "calls": "one",
    "orders": 2,
    "repeats": 2,
    "settle": "lower",
    "temperature": 0.5,
    "max_tokens": 500,
    "instructions": "Mark with care.",
    "examples": [{"answer": "5 mg", "question": "Names the dose.", "verdict": True, "why": "5"}],
}


def refuse(folder: Path, text: str) -> dict[str, str]:
    """Return what is wrong with a document, by field."""
    path = folder / "judge.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        read_judge(path)
    return {problem.field: problem.message for problem in caught.value.problems}


def test_a_judge_needs_a_name_and_a_subject_only(tmp_path: Path) -> None:
    judge = make_judge(tmp_path)
    assert isinstance(judge, Judge)
    assert judge.sees == (JudgeSight.PROMPT, JudgeSight.ANSWER)
    assert (judge.calls_label, judge.orders, judge.repeats) == ("one", 1, 1)
    assert judge.temperature is None


def test_every_mistake_is_reported_at_once(tmp_path: Path) -> None:
    problems = refuse(
        tmp_path,
        "judge: str ict\ncalls: some\norders: 3\nrepeats: 0\nsees: [prompt, prompt, promt]\n"
        "settle: median\ntemperature: 3\nmax_tokens: 0\nexamples: [{answer: a}]\nkey: 1\n",
    )
    assert set(problems) == {
        "judge",
        "subject",
        "calls",
        "orders",
        "repeats",
        "sees.2",
        "settle",
        "temperature",
        "max_tokens",
        "examples.0.question",
        "examples.0.verdict",
        "key",
    }
    assert "`one`, `each` or a number of calls" in problems["calls"]


@pytest.mark.parametrize(
    ("keys", "field", "message"),
    [
        ("sees: [prompt]", "sees", "must have `answer`"),
        ("sees: [answer, answer]", "sees.1", "is there twice"),
        ("settle: lower", "settle", "goes with `orders: 2`"),
        ("calls: true", "calls", "must be `one`, `each`"),
        ("calls: 0", "calls", "must be `one`, `each`"),
    ],
)
def test_what_means_nothing_is_refused(tmp_path: Path, keys: str, field: str, message: str) -> None:
    assert message in refuse(tmp_path, f"judge: j\nsubject: openai:m\n{keys}\n")[field]


def test_another_document_is_refused(tmp_path: Path) -> None:
    problems = refuse(tmp_path, "rubric: r\naxes: []\n")
    assert "a judge begins with `judge: NAME`" in problems[""]


def test_a_judge_that_is_not_there_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match=r"no built-in judge \(context-agent\)"):
        read_judge("context-agnt")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("subject", "openai:n"),
        ("base_url", "http://127.0.0.1:2/v1"),
        ("sees", ["answer"]),
        ("calls", "each"),
        ("calls", 2),
        ("orders", 1),
        ("repeats", 3),
        ("settle", None),
        ("temperature", 0.25),
        ("max_tokens", 501),
        ("instructions", "Mark with great care."),
        (
            "examples",
            [{"answer": "6 mg", "question": "Names the dose.", "verdict": True, "why": "5"}],
        ),
        ("examples", []),
    ],
)
def test_what_may_change_a_verdict_changes_the_fingerprint(
    tmp_path: Path, key: str, value: Any
) -> None:
    changed: dict[str, Any] = {**FULL, key: value}
    if changed["orders"] == 1 or value is None:
        changed.pop("settle", None)
    first, second = make_judge(tmp_path, **FULL), make_judge(tmp_path, **changed)
    assert first.fingerprint != second.fingerprint


def test_names_comments_and_order_of_keys_do_not_change_the_fingerprint(tmp_path: Path) -> None:
    first = make_judge(tmp_path, **FULL)
    path = tmp_path / "other.yaml"
    lines = [f"{key}: {json.dumps(value)} # said\n" for key, value in reversed(FULL.items())]
    further = ["key_env: MY_KEY\n", "price: 0.15:0.60\n", "judge: other\n"]
    text = "".join([*lines, *further])
    path.write_text(text.replace("0.5 #", "0.50 #").replace("openai:m", "mine=openai:m"))
    assert read_judge(path).fingerprint == first.fingerprint


def test_where_a_recording_lies_does_not_change_the_fingerprint(tmp_path: Path) -> None:
    far = make_judge(tmp_path, subject="replay:replies.jsonl")
    (tmp_path / "replies.jsonl").touch()
    beside = make_judge(tmp_path, subject="replay:replies.jsonl")
    assert isinstance(far, Judge)
    assert isinstance(beside, Judge)
    assert (far.recording, beside.recording) == (None, str(tmp_path / "replies.jsonl"))
    assert far.fingerprint == beside.fingerprint


def test_the_order_of_what_a_judge_sees_is_no_difference(tmp_path: Path) -> None:
    first = make_judge(tmp_path, sees=["answer", "prompt"])
    assert first.fingerprint == make_judge(tmp_path, sees=["prompt", "answer"]).fingerprint


def write_panel(folder: Path, text: str) -> Path:
    for name in ("a", "b", "c"):
        make_judge(folder, name, subject=f"openai:{name}")
    path = folder / "panel.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_panel_finds_its_judges_beside_it(tmp_path: Path) -> None:
    path = write_panel(tmp_path, "panel: p\njudges: [a.yaml, b.yaml, c.yaml]\n")
    panel = read_judge(path)
    assert isinstance(panel, Panel)
    assert [judge.name for judge in panel.judges] == ["a", "b", "c"]
    assert (panel.quorum, panel.settle) == (2, SettleRule.MAJORITY)


def test_the_order_of_judges_is_no_difference_and_the_quorum_is(tmp_path: Path) -> None:
    texts = [
        "panel: p\njudges: [a.yaml, b.yaml, c.yaml]\n",
        "panel: q\njudges: [c.yaml, b.yaml, a.yaml]\n",
        "panel: p\njudges: [a.yaml, b.yaml, c.yaml]\nquorum: 3\n",
        "panel: p\njudges: [a.yaml, b.yaml, c.yaml]\nsettle: median\n",
    ]
    first, second, *others = (read_judge(write_panel(tmp_path, text)).fingerprint for text in texts)
    assert first == second
    assert len({first, *others}) == 3


@pytest.mark.parametrize(
    ("text", "field", "message"),
    [
        ("judges: [a.yaml]", "judges", "is empty"),
        ("judges: [a.yaml, a.yaml]", "judges.1", "is there twice"),
        ("judges: [a.yaml, b.yaml]\nquorum: 3", "quorum", "cannot be reached"),
        ("judges: [a.yaml, 3]", "judges.1", "must be a file or the keys of a judge"),
        ("judges: [a.yaml, none.yaml]", "judges.1", "is no file and no built-in judge"),
        ("judges: [a.yaml, b.yaml]\nsettle: mean", "settle", "is not allowed"),
        (
            "judges: [a.yaml, {judge: d, subject: 'openai:a'}]",
            "judges.1",
            "asks the same of the same model as `a`",
        ),
        ("judges: [a.yaml, panel.yaml]", "judges.1", "a panel holds judges only"),
    ],
)
def test_a_panel_says_what_is_wrong(tmp_path: Path, text: str, field: str, message: str) -> None:
    path = write_panel(tmp_path, f"panel: p\n{text}\n")
    if "panel.yaml]" in text:
        inner = tmp_path / "inner.yaml"
        inner.write_text("panel: i\njudges: [b.yaml, c.yaml]\n", encoding="utf-8")
        path.write_text("panel: p\njudges: [a.yaml, inner.yaml]\n", encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        read_judge(path)
    problems = {problem.field: problem.message for problem in caught.value.problems}
    assert message in problems[field]


def test_the_built_in_judge_asks_all_in_one_call() -> None:
    judge = read_judge("context-agent")
    assert isinstance(judge, Judge)
    assert (judge.name, judge.calls_label) == ("context-agent", "one")


@pytest.mark.parametrize("name", ["judge", "panel"])
def test_editors_get_a_schema_of_each_document(name: str) -> None:
    schema = json.loads((BUILTIN_DIR / "schemas" / f"{name}.schema.json").read_text("utf-8"))
    assert name in schema["properties"]
    assert schema["additionalProperties"] is False
