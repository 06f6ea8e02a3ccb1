"""A subject may have a name of the user's own; the store keeps that name and what was asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import here
from markscheme.ask.subjects import SUBJECT_KINDS, split_alias

RUN = ("run", "-r", "tutor-capstone", "-e", "capstone")


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("small=openai:gpt-5-mini", ("small", "openai:gpt-5-mini")),
        ("v1.2_b-3=tutor", ("v1.2_b-3", "tutor")),
        ("a=cmd:env X=1 ./answer.sh", ("a", "cmd:env X=1 ./answer.sh")),
        ("cmd:env X=tutor ./answer.sh", (None, "cmd:env X=tutor ./answer.sh")),
        ("X=1", (None, "X=1")),
        ("a b=tutor", (None, "a b=tutor")),
        ("=tutor", (None, "=tutor")),
        ("a=b=tutor", (None, "a=b=tutor")),
    ],
)
def test_only_a_plain_name_before_a_known_kind_is_an_alias(name: str, split: Any) -> None:
    assert split_alias(name) == split


@given(st.sampled_from(sorted(SUBJECT_KINDS)), st.text())
def test_a_subject_without_an_alias_has_none_whatever_it_holds(kind: str, rest: str) -> None:
    name = f"{kind}:{rest}"
    assert split_alias(name) == (None, name)
    assert split_alias(f"mine={name}") == ("mine", name)


def test_the_alias_names_the_run_and_the_store_keeps_both(tmp_path: Path) -> None:
    store = ("--store", tmp_path / "runs.db")
    done = here(*RUN, "-s", "good=tutor", "-s", "bad=tutor:flawed", *store, "--format", "json")
    assert done.code == 0
    first, second = done.json["runs"]
    assert first["summary"]["subjects"][0]["subject"] == "good"
    assert {row["subject"] for row in second["items"]} == {"bad"}
    assert (first["live"]["subject"], first["live"]["alias_of"]) == ("good", "tutor")
    listed = here("runs", *store, "--format", "json").json["runs"]
    assert {(run["subject"], run["source"]) for run in listed} == {
        ("good", "live tutor"),
        ("bad", "live flawed-tutor"),
    }
    page = here("compare", first["run"], second["run"], *store).out
    assert "good" in page
    assert "bad" in page


def test_the_same_alias_for_another_subject_resumes_nothing(tmp_path: Path) -> None:
    store = ("--store", tmp_path / "runs.db")
    assert here(*RUN, "-s", "mine=tutor", *store).code == 0
    again = here(*RUN, "-s", "mine=tutor", *store, "--resume")
    assert "60 of 60 questions have their answer" in again.err
    other = here(*RUN, "-s", "mine=tutor:flawed", *store, "--resume")
    assert "nothing to go on with" in other.err
    assert len(here("runs", *store, "--format", "json").json["runs"]) == 3


def test_one_alias_for_two_subjects_is_refused_and_two_for_one_are_not(tmp_path: Path) -> None:
    store = ("--store", tmp_path / "runs.db")
    done = here(*RUN, "-s", "a=tutor", "-s", "a=tutor:flawed", *store)
    assert done.code == 2
    assert "a subject is named twice" in done.err
    assert here(*RUN, "-s", "a=tutor", "-s", "b=tutor", *store).code == 0
