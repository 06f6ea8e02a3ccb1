"""A result file whose texts are missing or of another type: read, or refused with the place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from commands import FULL, WRONG, Done, Project, here

WAYS = [
    "show changed.json",
    "report changed.json -o page.html",
    "gate changed.json --junit junit.xml",
    "compare result.json changed.json",
]
WRONG_TYPES: list[tuple[int, str, Any, str]] = [
    (0, "reason", 5, "reason: must be a mapping of axes to texts, or null"),
    (0, "near_miss", "strip", "near_miss: must be a mapping of axes to texts, or null"),
    (0, "reading", 5, "reading: must be a text, or null"),
    (1, "reason", {"right": 5}, "reason.right: must be a text, or null"),
    (1, "near_miss", {"right": ["x"]}, "near_miss.right: must be a text, or null"),
    (1, "reading", {}, "reading: must be a text, or null"),
    (2, "reason", [], "reason: must be a mapping of axes to texts, or null"),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("project"))
    project.result(FULL, WRONG, FULL, FULL)
    return project


def load(project: Project) -> Any:
    return json.loads((project.folder / "result.json").read_text(encoding="utf-8"))


def run_on_changed(project: Project, way: str, document: Any) -> Done:
    project.write("changed.json", json.dumps(document, indent=1))
    words = [project.folder / word if "." in word else word for word in way.split()]
    return here(*words, "-r", project.rubric, "-e", project.exam)


@pytest.mark.parametrize("way", WAYS)
def test_texts_that_are_missing_stop_nothing(project: Project, way: str) -> None:
    document = load(project)
    for key in ("reason", "near_miss", "reading"):
        del document["items"][1][key]
        document["items"][2][key] = None
    done = run_on_changed(project, way, document)
    assert done.code in {0, 1, 4}
    assert done.err == ""
    assert ("no reason is recorded" in done.out) == way.startswith("show")


@pytest.mark.parametrize("way", WAYS)
def test_texts_of_another_type_are_refused_with_their_places(project: Project, way: str) -> None:
    document = load(project)
    for at, key, value, _ in WRONG_TYPES:
        document["items"][at][key] = value
    done = run_on_changed(project, way, document)
    assert done.code == 3
    file = project.folder / "changed.json"
    lines = file.read_text(encoding="utf-8").splitlines()
    reported = []
    for message in done.err.splitlines():
        number, field, needed = message.removeprefix(f"{file}:").split(": ", 2)
        assert f'"{field.rpartition(".")[2]}"' in lines[int(number) - 1]
        reported.append(f"{field}: {needed}")
    expected = [f"items.{at}.{message}" for at, _, _, message in WRONG_TYPES]
    assert sorted(reported) == sorted(expected)


@pytest.mark.parametrize("way", WAYS[:3])
@pytest.mark.parametrize("item", [{}, [[]], None, 5])
def test_an_item_that_is_no_text_is_a_mistake_of_the_file(
    project: Project, way: str, item: Any
) -> None:
    document = load(project)
    document["items"][1]["item"] = item
    done = run_on_changed(project, way, document)
    assert done.code == 3
    assert "items.1.item" in done.err
