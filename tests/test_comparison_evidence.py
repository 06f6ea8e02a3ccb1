"""The evidence for a decision: what five queries can show, single flips, and noise."""

from __future__ import annotations

import pytest

from commands import here
from comparisons import GOOD, ITEMS, Files, as_json, compared, rows


def test_five_queries_are_said_to_be_no_proof(files: Files) -> None:
    found = as_json(files, [27, 24, 26, 23, 25], [25, 24, 23, 21, 24])["statistics"]
    assert found["descriptive_only"]
    assert found["smallest_p"] == {"two_sided": 0.0625, "one_sided": 0.03125}
    assert any("significance cannot be reached" in line for line in found["plain"])
    assert "0.0625" in compared(files, [GOOD] * 5, [GOOD] * 5).out


def test_the_statistics_of_d5_stand_in_the_document(files: Files) -> None:
    found = as_json(files, [27, 24, 26, 23, 25], [25, 24, 23, 21, 24])["statistics"]
    difference, evidence = found["difference"], found["non_inferiority"]
    assert difference["mean"] == pytest.approx(-0.266667, abs=1e-6)
    assert difference["sd"] == pytest.approx(0.190029, abs=1e-6)
    assert difference["t"] == pytest.approx(-3.137858, abs=1e-6)
    assert difference["p_t"] == pytest.approx(0.034920, abs=1e-6)
    assert difference["interval"]["lower"] == pytest.approx(-0.502619, abs=1e-6)
    assert difference["sign_flip"]["two_sided"] == 0.125
    assert difference["sign_flip"]["worse"] == 0.0625
    assert evidence["margin"] == 0.5
    assert evidence["p_t"] == pytest.approx(0.025803, abs=1e-6)
    assert evidence["p_sign_flip"] == 0.0625


def test_one_margin_decides_the_evidence_and_nothing_else(files: Files) -> None:
    wide = as_json(files, [27, 24, 26, 23, 25], [25, 24, 23, 21, 24], "--margin", "0.1")
    assert wide["statistics"]["non_inferiority"]["margin"] == 0.1
    assert wide["statistics"]["non_inferiority"]["outcome"] == "inconclusive"
    assert wide["decision"]["outcome"] == "go"


def test_raters_who_disagree_are_told_to_talk(files: Files) -> None:
    lines = rows([GOOD] * 5, [GOOD] * 5, raters=("a", "b"))
    lines = [
        line.replace(",b,Q-01,4", ",b,Q-01,2").replace(",a,Q-02,4", ",a,Q-02,5") for line in lines
    ]
    found = here(*files.words(files.ratings(lines), "--format", "json")).json
    agreed = found["statistics"]["agreement"]
    assert (agreed["raters"], agreed["units"]) == (["a", "b"], 60)
    assert agreed["percent"] == pytest.approx(40 / 60)
    assert agreed["alpha_ordinal"] < 0.667
    assert any("go through the anchors" in note for note in found["decision"]["warnings"])
    assert "raters agree: alpha" in here(*files.words(files.ratings(lines), "--lang", "en")).out


def test_a_single_rating_that_would_flip_the_decision_is_named(files: Files) -> None:
    found = as_json(files, [GOOD] * 5, [24, 24, 21, 24, 24])["statistics"]["sensitivity"]
    assert found[0]["item"] == "TQ-3"
    assert found[0]["verdict"] == {"before": "equivalent", "after": "acceptable"}
    assert found[0]["decision"] == {"before": "go", "after": "go-with-monitoring"}
    quiet = as_json(files, [GOOD] * 5, [GOOD] * 5)["statistics"]["sensitivity"]
    assert quiet == []


def test_a_flip_is_what_compare_says_of_the_changed_file(files: Files) -> None:
    lines = rows([GOOD] * 5, [24, 24, 21, 16, 24])
    before = here(*files.words(files.ratings(lines), "--format", "json")).json
    for flip in before["statistics"]["sensitivity"]:
        row = f"{flip['item']},{flip['variant']},anna,{flip['axis']},"
        changed = [f"{row}{flip['instead']}," if line.startswith(row) else line for line in lines]
        after = here(*files.words(files.ratings(changed, "other.csv"), "--format", "json")).json
        at = ITEMS.index(flip["item"])
        assert after["queries"][at]["verdict"] == flip["verdict"]["after"]
        assert after["decision"]["outcome"] == flip["decision"]["after"]


def test_without_any_noise_nothing_is_said_of_what_it_does(files: Files) -> None:
    words = files.words(files.ratings(rows([GOOD] * 5, [GOOD] * 5)))
    assert "so no noise was seen" in here(*words).out
    assert here(*words, "--format", "json").json["statistics"]["operating"] is None


def test_the_simulation_of_the_table_has_a_seed(files: Files) -> None:
    words = files.words(files.ratings(rows([27, 24, 26, 23, 25], [25, 24, 23, 21, 24])))
    one, same, other = (
        here(*words, *seed, "--format", "json").json["statistics"]["operating"]
        for seed in ((), ("--seed", "0"), ("--seed", "5"))
    )
    assert one == same
    assert one["identical"] == other["identical"]
    assert one["simulated"]["identical"] != other["simulated"]["identical"]
    assert (other["simulated"]["seed"], other["simulated"]["draws"]) == (5, 10_000)
    assert "a simulation of 10,000 comparisons (seed 5)" in here(*words, "--seed", "5").out
