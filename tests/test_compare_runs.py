"""Stored runs and result files in pairs; and plans before any money is spent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from commands import FULL, LONG, LONGER, RUBRIC, WRONG, Done, Project, exam_text, here, markscheme

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


def test_items_that_went_from_pass_to_fail_and_back_are_listed(project: Project) -> None:
    (worse,) = as_json(project, "good", "bad")["pairs"]
    (better,) = as_json(project, "bad", "good")["pairs"]
    assert len(worse["regressed"]) == worse["passed"]["baseline_only"] == 100
    assert (worse["recovered"], better["regressed"]) == ([], [])
    assert sorted(better["recovered"]) == sorted(worse["regressed"])
    assert set(worse["regressed"]) <= set(worse["moved"])


def test_an_item_is_passed_by_the_mean_of_its_attempts(tmp_path: Path) -> None:
    project = Project(tmp_path, items=2)
    one = attempted(project, *[(i, k, FULL) for i in project.items for k in (1, 2)])
    two = attempted(
        project,
        *(("i1", 1, FULL), ("i1", 2, WRONG), ("i2", 1, FULL), ("i2", 2, LONG)),
        name="two.jsonl",
    )
    (pair,) = as_json(project, one, two)["pairs"]
    assert pair["regressed"] == ["i1"]  # the other has 0.99, which is the pass mark
    assert list(pair["moved"]) == ["i1", "i2"]


def test_a_small_difference_that_would_be_noticed_is_not_told_as_none(project: Project) -> None:
    told = compared(project, "good", "near").out
    assert "A true difference of 0.00 points" not in told
    assert "A true difference of 0.00" in told


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
    files = (project.folder / "good.json", project.folder / "bad.json")
    named = ("-r", project.rubric, "-e", project.exam)
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


def tagged(project: Project, verbs: list[str]) -> None:
    """Write the exam with a verb for each item; an empty one is none."""
    text = exam_text(*project.items)
    for item, verb in zip(project.items, verbs, strict=True):
        text = text.replace(f"{{at: {item}}}", f"{{verb: {verb}}}" if verb else "{}")
    project.exam = project.write("exam.yaml", text)


def test_an_item_without_the_tag_is_a_cluster_of_its_own(tmp_path: Path) -> None:
    project = Project(tmp_path, items=12)
    tagged(project, ["v0"] * 6 + [""] * 6)
    one, two = project.stored(*[FULL] * 12), project.stored(*[WRONG, LONG] * 3, *[FULL] * 6)
    (pair,) = as_json(project, one, two, "--cluster", "verb")["pairs"]
    assert pair["statistics"]["clustered"]["clusters"] == 7


def test_items_that_are_not_independent_decide_by_cluster(tmp_path: Path) -> None:
    project = Project(tmp_path, items=40)
    tagged(project, [f"v{at // 10}" for at in range(40)])
    one, two = project.stored(*[FULL] * 40), project.stored(*[LONG] * 10, *[FULL] * 30)
    words = (one, two, "--margin", "0.01", "--format", "json")
    assert compared(project, *words).code == 0
    done = compared(project, *words, "--cluster", "verb")
    assert (done.code, done.json["decision"]["outcome"]) == (4, "inconclusive")
    evidence = done.json["pairs"][0]["statistics"]["non_inferiority"]
    assert evidence["lower"] == pytest.approx(-0.005 - 2.3533634348 * 0.005)
    assert evidence["p_t"] == pytest.approx(0.1955011095)
    assert evidence["p_sign_flip"] == 0.3125
    assert evidence["pairs_needed"] == 130


def test_one_cluster_alone_decides_nothing(tmp_path: Path) -> None:
    project = Project(tmp_path, items=12)
    tagged(project, ["v0"] * 12)
    one, two = project.stored(*[FULL] * 12), project.stored(*[FULL] * 11, LONG)
    words = (one, two, "--margin", "0.01", "--format", "json")
    assert compared(project, *words).code == 0
    done = compared(project, *words, "--cluster", "verb")
    assert done.code == 4
    (pair,) = done.json["pairs"]
    told = pair["statistics"]["non_inferiority"]["because"]
    assert told == "all items are in one cluster: a spread needs at least two"


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


def test_runs_give_the_same_bytes_wherever_they_are_compared(
    project: Project, tmp_path: Path
) -> None:
    words = ("compare", "good", "near", "bad", "--store", project.store)
    kept = set()
    for locale, seed in (("C", "0"), ("C.UTF-8", "1"), ("es_ES.UTF-8", "77")):
        there: dict[str, Any] = {"LC_ALL": locale, "PYTHONHASHSEED": seed}
        page = tmp_path / f"{seed}.md"
        text = markscheme(*words, "--lang", "en", "--markdown", page, **there)
        data = markscheme(*words, "--format", "json", **there)
        kept.add((text.out, data.out, page.read_bytes()))
    assert len(kept) == 1


def test_a_plan_from_runs_with_attempts_sees_what_comes_anew_with_every_run(
    tmp_path: Path,
) -> None:
    """On nearly every item one attempt of two is lost: repeats would take the noise away."""
    project = Project(tmp_path, items=6)
    asked = [(item, attempt) for item in project.items for attempt in (1, 2)]
    one = attempted(project, *[(*key, FULL) for key in asked])
    two = attempted(
        project,
        *[(*key, WRONG if at % 4 in {0, 3} or at == 5 else FULL) for at, key in enumerate(asked)],
        name="two.jsonl",
    )
    found = as_json(project, "--plan", one, two)["plan"]
    anew = 5 * 2 * 0.475**2 / 6  # the variance around the means of items
    assert found["noise"] ** 2 == pytest.approx(0.475**2 / 6 + anew / 2)
    assert found["within"] == found["noise"]
    assert found["by_repeats"][1]["noise"] ** 2 == pytest.approx(found["noise"] ** 2 / 2)
    steady = attempted(project, *[(*key, WRONG if key[0] == "i1" else FULL) for key in asked])
    assert as_json(project, "--plan", one, steady)["plan"]["within"] == 0


def attempted(project: Project, *rows: tuple[str, int, str], name: str = "attempts.jsonl") -> str:
    """Score answers given as item, attempt and output; return the id of the stored run."""
    lines = (
        json.dumps({"item": item, "attempt": attempt, "output": output}) + "\n"
        for item, attempt, output in rows
    )
    answers = project.write(name, "".join(lines))
    result = project.folder / f"{name}.json"
    words = ("-r", project.rubric, "-e", project.exam, "-a", answers, "-o", result)
    return here("score", *words, "--store", project.store).err.split()[-1]


def test_attempts_are_won_and_lost_in_pairs_and_tested_by_item(tmp_path: Path) -> None:
    project = Project(tmp_path, items=3)
    one = [(i, k, FULL) for k in (1, 2) for i in project.items]
    two = [
        (i, k, WRONG if (i, k) in {("i1", 1), ("i1", 2), ("i2", 2)} else FULL) for i, k, _ in one
    ]
    (pair,) = as_json(
        project, attempted(project, *one), attempted(project, *two, name="two.jsonl")
    )["pairs"]
    difference = pair["statistics"]["difference"]
    assert (difference["wins"], difference["losses"], difference["ties"]) == (0, 3, 3)
    assert difference["n"] == 3
    assert difference["mean"] == pytest.approx((-0.95 - 0.475) / 3)
    assert difference["sign_flip"]["two_sided"] == 0.5  # of two items that moved, not of three
    right = pair["statistics"]["axes"]["right"]
    assert (right["losses"], right["ties"], right["n"]) == (3, 3, 3)
    assert pair["attempts"] == {"pairs": 6, "baseline_only": 0, "candidate_only": 0}
    assert (pair["passed"]["baseline_only"], pair["passed"]["p_two_sided"]) == (3, 0.5)
    assert pair["passed"]["interval"]["lower"] < -0.5 < pair["passed"]["interval"]["upper"]


def test_the_order_of_attempts_decides_who_is_paired_with_whom(tmp_path: Path) -> None:
    """The means are the same; in pairs one attempt is won and one is lost."""
    project = Project(tmp_path, items=1)
    one = attempted(project, ("i1", 1, FULL), ("i1", 2, WRONG))
    two = attempted(project, ("i1", 1, WRONG), ("i1", 2, FULL), name="two.jsonl")
    difference = as_json(project, one, two)["pairs"][0]["statistics"]["difference"]
    assert (difference["wins"], difference["losses"], difference["ties"]) == (1, 1, 0)
    assert difference["mean"] == 0


def test_attempts_of_one_run_only_are_counted_and_said(tmp_path: Path) -> None:
    project = Project(tmp_path, items=2)
    one = attempted(project, *[(i, k, FULL) for i in project.items for k in (1, 2)])
    two = attempted(project, ("i1", 2, FULL), ("i1", 7, WRONG), ("i2", 1, FULL), name="two.jsonl")
    (pair,) = as_json(project, one, two)["pairs"]
    assert pair["attempts"] == {"pairs": 2, "baseline_only": 2, "candidate_only": 1}
    assert pair["score"]["difference"] == 0  # the wrong seventh attempt has no other side
    told = f"Attempts that only one of the runs has are not compared: 2 of {one}, 1 of {two}."
    assert told in compared(project, one, two).out


def test_the_page_says_that_attempts_of_an_item_are_not_independent(tmp_path: Path) -> None:
    project = Project(tmp_path, items=5)
    both = [
        attempted(
            project, *[(i, k, o) for i in project.items for k in (1, 2, 3)], name=f"{o}.jsonl"
        )
        for o in (FULL, LONG)
    ]
    page = compared(project, *both).out
    assert "15 pairs of attempts on 5 items" in page
    assert "the attempts of one item are not independent" in page
    assert "(5 items, 15 pairs)" in page
    assert "With 5 items, statistical significance cannot be reached" in page
    assert "0 / 15 / 0" in page


def test_an_item_without_a_common_attempt_leaves_the_runs_uncompared(tmp_path: Path) -> None:
    project = Project(tmp_path, items=2)
    one = attempted(project, ("i1", 1, FULL), ("i1", 2, FULL), ("i2", 1, FULL))
    two = attempted(project, ("i1", 1, FULL), ("i1", 2, FULL), ("i2", 2, FULL), name="two.jsonl")
    done = compared(project, one, two, "--format", "json")
    assert (done.code, done.json["pairs"]) == (4, [])
    assert "no attempt of the same number on i2;" in done.json["decision"]["because"]


def test_an_attempt_of_a_result_file_is_a_whole_number(tmp_path: Path) -> None:
    project = Project(tmp_path, items=1)
    attempted(project, ("i1", 1, FULL), ("i1", 2, FULL))
    file = tmp_path / "attempts.jsonl.json"
    document = json.loads(file.read_text())
    for wrong in ("b", 1.5, -1, [1], True):
        document["items"][1]["attempt"] = wrong
        other = project.write("other.json", json.dumps(document))
        done = compared(project, file, other, "-r", project.rubric, "-e", project.exam)
        assert done.code == 3
        assert "items.1.attempt: must be a whole number from 0 on" in done.err
    document["items"][1]["attempt"] = None
    other = project.write("other.json", json.dumps(document))
    done = compared(project, file, other, "-r", project.rubric, "-e", project.exam)
    assert "items.1.item: occurs twice with the same attempt" in done.err


def test_a_subject_of_a_result_file_is_a_text(tmp_path: Path) -> None:
    project = Project(tmp_path, items=2)
    file = project.result(FULL)
    document = json.loads(file.read_text())
    for at, told in ((0, "items.0.subject: must be a text, or null"), (1, "no text")):
        for wrong in (1, True, [1], {"a": 1}):
            changed = json.loads(file.read_text())
            changed["items"][at]["subject"] = wrong
            done = project.judge(project.write("other.json", json.dumps(changed)))
            assert done.code == 3
            assert told in done.err
    document["summary"]["errors"] = [1]
    done = project.judge(project.write("other.json", json.dumps(document)))
    assert done.code == 3
    assert "summary.errors: 1 is published, 0 is right" in done.err


def test_a_latency_that_no_double_holds_is_refused(tmp_path: Path) -> None:
    project = Project(tmp_path, items=1)
    document = json.loads(project.result(FULL).read_text())
    document["items"][0]["latency_ms"] = "LATENCY"
    text = json.dumps(document).replace('"LATENCY"', "1e399")
    done = project.judge(project.write("other.json", text))
    assert done.code == 3
    assert "items.0.latency_ms: must be a number from 0 to 9223372036854775807" in done.err


def test_result_files_with_attempts_compare_like_the_stored_runs(tmp_path: Path) -> None:
    project = Project(tmp_path, items=3)
    rows = [(i, k, FULL) for i in project.items for k in (0, 1)]
    by_name = [
        attempted(project, *rows),
        attempted(project, *rows[:-1], ("i3", 1, LONGER), name="two.jsonl"),
        attempted(project, *rows[:-2], ("i3", 0, WRONG), ("i3", 3, FULL), name="three.jsonl"),
    ]
    files = [tmp_path / f"{name}.jsonl.json" for name in ("attempts", "two", "three")]
    named = as_json(project, *by_name)["pairs"]
    read = as_json(project, *files, "-r", project.rubric, "-e", project.exam)["pairs"]
    assert len(read) == 3
    for ours, theirs in zip(named, read, strict=True):
        assert ours["attempts"] == theirs["attempts"]
        assert ours["statistics"] | {"plain": []} == theirs["statistics"] | {"plain": []}
    assert "How the runs were paired\n" in compared(project, *by_name).out
