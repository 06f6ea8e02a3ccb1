"""More than two variants: each pair is compared, p-values are adjusted, and each is rated whole."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from commands import here
from comparisons import Files, rows
from markscheme.weigh.stats import adjust_by_holm

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def three(files: Files) -> list[str | Path]:
    """Ratings of three variants: `small` is as good as `big`, `tiny` is not."""
    scores = [27, 24, 26, 23, 25]
    lines = rows(scores, scores[::-1])
    worse = [line.replace(",small,", ",tiny,") for line in rows(scores, [15, 17, 16, 18, 16])]
    lines += [line for line in worse if ",tiny," in line]
    return [*files.words(files.ratings(lines)), "-c", "tiny"]


def test_more_than_two_variants_are_compared_in_pairs_with_holm(
    files: Files, three: list[str | Path]
) -> None:
    found = here(*three, "--format", "json").json
    assert found["variants"] == ["big", "small", "tiny"]
    named = [(pair["baseline"], pair["candidate"]) for pair in found["pairs"]]
    assert named == [("big", "small"), ("big", "tiny"), ("small", "tiny")]
    tested = [p["statistics"]["difference"]["sign_flip"]["two_sided"] for p in found["pairs"]]
    assert [pair["p_holm"] for pair in found["pairs"]] == [
        float(p) for p in adjust_by_holm([Fraction(p) for p in tested])
    ]
    outcomes = [pair["decision"]["outcome"] for pair in found["pairs"]]
    assert outcomes == ["go", "no-go", "no-go"]
    done = here(*three, "--markdown", files.folder / "o.md")
    assert done.code == 1
    assert "p (Holm)" in done.out
    assert "tiny: NO-GO (rule degraded-in-quick)" in done.out
    page = (files.folder / "o.md").read_text(encoding="utf-8")
    assert page.count("#### Queries") == 2


def test_each_of_several_variants_is_rated_whole(files: Files, three: list[str | Path]) -> None:
    ratings = files.folder / "ratings.csv"
    lines = ratings.read_text(encoding="utf-8").splitlines()
    ratings.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    done = here(*three)
    assert done.code == 3
    assert "lacks Q-06 for `TQ-5`, `tiny`" in done.err
    assert here(*three, "--allow-gaps").code == 4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-c", "small"), "a variant is named twice"),
        (("--plan",), "--plan takes one candidate"),
        (("--answers", "-"), "--answers - takes one candidate"),
    ],
)
def test_what_takes_two_variants_refuses_three(
    three: list[str | Path], words: tuple[str, ...], told: str
) -> None:
    done = here(*three, *words)
    assert (done.code, told in done.err) == (2, True)
