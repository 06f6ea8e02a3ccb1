"""Stored runs and result files in pairs; and plans before any money is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commands import FULL, LONG, RUBRIC, WRONG, Done, Project, exam_text, here

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("project"), items=200)
    for name, outputs in {
        "good": [FULL] * 200,
        "same": [FULL] * 200,
        "bad": [FULL, WRONG] * 100,
        "near": [FULL] * 199 + [LONG],
        "incomplete": [FULL] * 7,
    }.items():
        project.score(*outputs, words=("--tag", name, "-o", project.folder / f"{name}.json"))
    return project


def compared(project: Project, *words: str | Path) -> Done:
    return here("compare", *words, "--store", project.store)


def as_json(project: Project, *words: str | Path) -> Any:
    return compared(project, *words, "--format", "json").json


@pytest.mark.parametrize(
    ("names", "outcome", "code"),
    [
        (("good", "same"), "not-worse", 0),
        (("good", "near"), "not-worse", 0),
        (("good", "bad"), "worse", 1),
        (("bad", "good"), "not-worse", 0),
        (("good", "incomplete"), "inconclusive", 4),
        (("good", "same", "bad"), "worse", 1),
    ],
)
def test_the_outcome_and_its_exit_code(
    project: Project, names: tuple[str, ...], outcome: str, code: int
) -> None:
    done = compared(project, *names, "--format", "json")
    assert (done.json["decision"]["outcome"], done.code) == (outcome, code)
    assert compared(project, *names).code == code


def test_pairs_are_by_item_with_wins_losses_and_ties(project: Project) -> None:
    (pair,) = as_json(project, "good", "bad")["pairs"]
    difference = pair["statistics"]["difference"]
    assert (difference["wins"], difference["losses"], difference["ties"]) == (0, 100, 100)
    assert pair["score"]["difference"] == pytest.approx(-0.475)
    assert pair["axes"]["right"]["difference"] == -0.5
    assert pair["passed"]["baseline_only"] == 100
    assert pair["statistics"]["axes"]["right"]["p_holm"] < 1e-20
    assert len(pair["moved"]) == 100


def test_more_than_two_runs_are_compared_in_pairs_with_holm(project: Project) -> None:
    pairs = as_json(project, "good", "same", "bad")["pairs"]
    assert [(p["statistics"]["n"]) for p in pairs] == [200, 200, 200]
    assert pairs[0]["p_holm"] == 1
    assert pairs[1]["p_holm"] == pytest.approx(
        3 * pairs[1]["statistics"]["difference"]["sign_flip"]["two_sided"]
    )
    assert "p (Holm)" in compared(project, "good", "same", "bad").out


def test_result_files_compare_like_the_stored_runs(project: Project) -> None:
    by_name = as_json(project, "good", "bad")["pairs"][0]
    files = [project.folder / "good.json", project.folder / "bad.json"]
    named = ["-r", project.rubric, "-e", project.exam]
    by_file = as_json(project, *files, *named)["pairs"][0]
    assert by_file["statistics"] | {"plain": []} == by_name["statistics"] | {"plain": []}


def test_another_fingerprint_is_refused_like_the_gate_does(
    project: Project, tmp_path: Path
) -> None:
    other = Project(tmp_path, items=200, rubric=RUBRIC.replace("limit: 5", "limit: 6"))
    other.store = project.store
    run = other.stored(*[FULL] * 200)
    done = compared(project, "good", run, "--format", "json")
    assert done.code == 4
    assert done.json["pairs"] == []
    assert "another rubric fingerprint" in done.json["decision"]["because"]


def test_a_margin_in_points_replaces_that_of_the_gate(project: Project) -> None:
    assert as_json(project, "good", "bad")["decision"]["margin"] == "2%"
    done = compared(project, "good", "bad", "--margin", "0.9", "--format", "json")
    assert (done.json["decision"]["margin"], done.code) == ("0.9", 0)


def test_groups_by_tag_and_clusters(tmp_path: Path) -> None:
    project = Project(tmp_path, items=12)
    text = exam_text(*project.items)
    for at, item in enumerate(project.items):
        text = text.replace(f"{{at: {item}}}", f"{{verb: v{at // 3}}}")
    project.exam = project.write("exam.yaml", text)
    one = project.stored(*[FULL] * 12)
    two = project.stored(*[FULL] * 9, *[WRONG] * 3)
    (pair,) = as_json(project, one, two, "--cluster", "verb")["pairs"]
    assert (pair["tags"][0]["tag"], pair["tags"][0]["value"]) == ("verb", "v3")
    assert (pair["tags"][0]["losses"], pair["tags"][0]["n"]) == (3, 3)
    assert pair["statistics"]["clustered"]["clusters"] == 4
    done = compared(project, one, two, "--cluster", "verb")
    assert "verb=v3" in done.out
    assert "4 clusters" in done.out
    assert compared(project, one, two, "--cluster", "tense").code == 2


def test_markdown_of_runs(project: Project, tmp_path: Path) -> None:
    compared(project, "good", "bad", "--markdown", tmp_path / "o.md")
    text = (tmp_path / "o.md").read_text()
    assert text.startswith("### worse: ")
    assert "| right |" in text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["good"], "one run is named"),
        (["good", "good"], "named twice"),
        (["good", "bad", "--ratings", "x.csv"], "--ratings goes with ratings, not with runs"),
        (["good", "none"], "none"),
    ],
)
def test_what_cannot_be_compared_is_wrong_usage(
    project: Project, words: list[str], told: str
) -> None:
    done = compared(project, *words)
    assert done.code == 2
    assert told in done.err


def test_a_plan_from_a_guess() -> None:
    done = here("compare", "--plan", "--margin", "0.5", "--noise", "0.6")
    assert done.code == 0
    assert "run 11 queries once with each variant (22 answers)" in done.out
    found = here("compare", "--plan", "--margin", "0.5", "--noise", "0.6", "--format", "json").json
    assert found["plan"]["by_repeats"][0]["queries"] == 11
    assert found["plan"]["ladder"][0]["power"] < 0.5


def test_a_plan_from_earlier_runs(project: Project) -> None:
    done = compared(project, "--plan", "good", "bad", "--format", "json")
    assert done.json["plan"]["source"] == "seen in earlier runs"
    assert done.json["plan"]["noise"] == pytest.approx(0.476, abs=1e-3)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--noise", "1"], "needs a margin"),
        (["--margin", "1"], "--plan needs the noise"),
        (["good", "same"], "there is no noise to plan by"),
        (["good", "incomplete"], "cannot be compared"),
    ],
)
def test_a_plan_needs_a_margin_and_noise(project: Project, words: list[str], told: str) -> None:
    done = compared(project, "--plan", *words)
    assert done.code == 2
    assert told in done.err


def test_a_plan_as_markdown(tmp_path: Path) -> None:
    here("compare", "--plan", "--margin", "1", "--noise", "1", "--markdown", tmp_path / "p.md")
    assert "| runs of each query |" in (tmp_path / "p.md").read_text()
