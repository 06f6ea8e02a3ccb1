"""A small cost is shown with two digits, never as 0.00."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import here
from comparisons import GOOD, ITEMS, Files, rows
from markscheme.vocabulary import format_amount, format_signed_amount


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("0.00012", "0.00012"),
        ("0.000123456", "0.00012"),
        ("0.0996", "0.0996"),
        ("0.012", "0.012"),
        ("0.5", "0.50"),
        ("12.345678", "12.35"),
        ("0", "0.00"),
        ("1e-20", "1.0e-20"),
    ],
)
def test_two_digits_are_shown_at_least(value: str, shown: str) -> None:
    assert format_amount(Decimal(value), 4 if value == "0.0996" else 2) == shown


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=1000))
def test_what_is_not_0_is_not_shown_as_0(value: Fraction) -> None:
    shown = Fraction(Decimal(format_amount(value)))
    assert abs(shown - value) <= value / 20
    assert format_signed_amount(-value).startswith("−")


def test_a_comparison_shows_small_costs_everywhere(tmp_path: Path) -> None:
    files = Files(tmp_path)
    lines = [
        {"item": item, "subject": who, "output": "x", "cost": cost}
        for item in ITEMS
        for who, cost in (("big", 0.00012), ("small", 0.0000345))
    ]
    answers = files.write("a.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
    ratings = files.ratings(rows([GOOD] * 5, [GOOD] * 5))
    markdown, html = tmp_path / "c.md", tmp_path / "c.html"
    done = here(*files.words(ratings, "-a", answers, "--markdown", markdown, "--html", html))
    line = next(line for line in done.out.splitlines() if line.startswith("cost"))
    assert line.split() == ["cost", "0.00012", "0.000034", "−0.000086", "5"]
    assert "cost 0.00012 / 0.000034" in done.out
    assert "| cost | 0.00012 | 0.000034 | −0.000086 | 5 |" in markdown.read_text()
    page = html.read_text()
    assert page.count("0.000034") >= 6
    assert ">0.00<" not in page.partition('id="measured"')[2].partition("</section>")[0]


def test_a_gate_on_cost_shows_what_it_measured(tmp_path: Path) -> None:
    (tmp_path / "rubric.yaml").write_text(
        "rubric: cheap\nversion: 1\n"
        "axes:\n  - {name: brief, kind: max_words, weight: 1, limit: 9}\n"
        "gates:\n  - {name: price, level: hard, metric: cost_per_answer, at_most: 0.01}\n"
    )
    (tmp_path / "exam.yaml").write_text("exam: one\nitems:\n  - {id: a, prompt: p}\n")
    (tmp_path / "a.jsonl").write_text('{"item": "a", "output": "x", "cost": 0.0000345}\n')
    words = ("-r", tmp_path / "rubric.yaml", "-e", tmp_path / "exam.yaml")
    store = ("--store", tmp_path / "runs.db")
    assert here("score", *words, "-a", tmp_path / "a.jsonl", *store).code == 0
    done = here("gate", "latest", *store)
    assert done.code == 0
    assert "0.000034" in done.out
    assert "0.00 " not in done.out
