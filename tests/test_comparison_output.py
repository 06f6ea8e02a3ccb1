"""The outputs of a comparison: the same bytes everywhere, and foreign text never markup."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from commands import here, markscheme
from comparisons import GOOD, Files, as_json, rows


def test_the_document_has_the_shape_of_the_contract(files: Files) -> None:
    found = as_json(files, [27, 24, 26, 23, 25], [25, 24, 23, 21, 24])
    keys = ["queries", "decision", "aggregate", "operational", "structural", "statistics"]
    assert list(found)[:6] == keys
    first = found["queries"][0]
    assert list(first)[:8] == [
        "item",
        "mode",
        "baseline",
        "candidate",
        "difference",
        "verdict",
        "reasons",
        "meaningful_axes",
    ]
    assert first["baseline"] == {"mean": 4.5}
    assert first["candidate"] == {"mean": 25 / 6}
    assert first["difference"] == -1 / 3
    assert list(found["decision"])[:3] == ["outcome", "rule", "because"]
    assert set(found["aggregate"]) == {"overall", "by_mode", "follow_up"}
    assert list(found["aggregate"]["by_mode"]) == ["quick", "medium", "thorough"]


def test_the_order_of_variants_alternates_and_is_recorded(files: Files) -> None:
    found = as_json(files, [GOOD] * 5, [GOOD] * 5)
    orders = [entry["variants"] for entry in found["order"]]
    assert orders[:3] == [["big", "small"], ["small", "big"], ["big", "small"]]


ENVIRONMENTS: tuple[dict[str, Any], ...] = (
    {"LC_ALL": "C", "PYTHONHASHSEED": "0", "COLUMNS": "40"},
    {"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1", "COLUMNS": "300"},
    {"LC_ALL": "es_ES.UTF-8", "PYTHONHASHSEED": "77", "LANG": "es_ES.UTF-8"},
    {"LC_ALL": "", "LC_NUMERIC": "de_DE.UTF-8", "LANG": "", "TZ": "Asia/Tokyo"},
)


def test_the_same_ratings_give_the_same_bytes_wherever_and_in_whatever_order(files: Files) -> None:
    """Text, JSON, Markdown and HTML; JSON does not even follow the language of the locale."""
    lines = rows([27, 24, 26, 23, 25], [25, 24, 23, 21, 24], raters=("zoë", "anna"))
    lines.append('TQ-4,small,anna,OP-05,,"needed, but slow"')
    kept = set()
    for number, environment in enumerate(ENVIRONMENTS):
        Random(number).shuffle(lines)  # noqa: S311 - an order
        path = files.folder / str(number)
        path.mkdir()
        words = files.words(Files(path).ratings(lines))
        written = ("--markdown", path / "o.md", "--html", path / "o.html")
        text = markscheme(*words, "--lang", "en", *written, **environment)
        data = markscheme(*words, "--format", "json", **environment)
        pages = ((path / name).read_bytes() for name in ("o.md", "o.html"))
        kept.add((text.out, text.err, text.code, data.out, data.err, *pages))
    assert len(kept) == 1


@pytest.mark.parametrize("words", [(), ("--format", "json")])
def test_a_pipe_gets_the_same_bytes_whatever_the_character_set(
    files: Files, words: tuple[str, ...]
) -> None:
    ratings = files.ratings(rows([27, 24, 26, 23, 25], [25, 24, 23, 21, 24], raters=("zoë",)))
    every = files.words(ratings, "--lang", "en", *words)
    latin = markscheme(*every, PYTHONIOENCODING="latin-1", PYTHONUTF8="0")
    assert "−" in latin.out
    assert latin.out == here(*every).out


def test_markdown_keeps_foreign_text_dead(files: Files) -> None:
    lines = [*rows([GOOD] * 5, [GOOD] * 5), "TQ-1,small,anna,OP-05,,<img src=x> @all"]
    path = files.folder / "o.md"
    here(*files.words(files.ratings(lines), "--markdown", path))
    assert "`TQ-1, small, OP-05 (anna): <img src=x> @all`" in path.read_text()
    assert path.read_text().startswith("### GO: small against big")
