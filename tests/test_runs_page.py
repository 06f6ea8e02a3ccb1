"""Compared runs as a page, in a real browser: the outcome first, and what models said as text."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest

from browsing import DESK, OPEN_ALL, PHONE, faults_of_access
from commands import FULL, LONG, RUBRIC, WRONG, Done, Project, here, markscheme
from hostile import HOSTILE, without_controls

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser


def compared(project: Project, page: Path, *words: str | Path) -> Done:
    return here("compare", *words, "--store", project.store, "--html", page)


def text_of(page: Path) -> str:
    """Return what a page says, without its style, its script and its tags."""
    whole = page.read_text(encoding="utf-8")
    whole = re.sub(r"<(style|script)[^>]*>.*?</\1>", " ", whole, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", whole)).split())


@pytest.fixture(scope="module")
def tutors(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """Compare the bundled tutor with its flawed twin, asked in turns; return page and JSON."""
    folder = tmp_path_factory.mktemp("tutors")
    store, page = folder / "store.db", folder / "page.html"
    words = ("-r", "tutor-capstone", "-e", "capstone", "-s", "tutor", "-s", "tutor:flawed")
    here("run", *words, "--store", store)
    listed = here("runs", "--store", store, "--format", "json").json["runs"]
    runs = {run["subject"]: run["id"] for run in listed}
    both = (runs["tutor"], runs["flawed-tutor"])
    done = here("compare", *both, "--store", store, "--html", page, "--format", "json")
    assert (done.code, done.err) == (1, "")
    return page, done.json


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Store runs of four subjects: a good one, and those that are no worse, worse, and unclear."""
    project = Project(tmp_path_factory.mktemp("project"), items=60)
    for name, outputs in {
        "big": [FULL] * 60,
        "fine": [FULL] * 60,
        "near": [FULL] * 59 + [LONG],
        "poor": [FULL, WRONG] * 30,
        "unsure": [FULL] * 58 + [WRONG] * 2,
        "incomplete": [FULL] * 7,
    }.items():
        words = ("--tag", name, "-o", project.folder / f"{name}.json")
        project.score(*outputs, words=words, subject=name)
    return project


@pytest.fixture(scope="module")
def several(project: Project) -> Path:
    page = project.folder / "several.html"
    assert compared(project, page, "big", "near", "poor", "unsure").code == 1
    return page


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compare runs in which everything that can be said is hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    project = Project(folder)
    items = [
        {
            "id": f"h{at}",
            "prompt": text,
            "expected_contains": [text[:2000]],
            "tags": {"pair": without_controls(HOSTILE[at // 2 * 2])[:300], "odd": str(at % 2)},
        }
        for at, text in enumerate(HOSTILE)
    ]
    project.items = [str(item["id"]) for item in items]
    exam = {"exam": "hostile", "items": items}
    project.exam = project.write("exam.yaml", json.dumps(exam, ensure_ascii=False))
    said, other = list(HOSTILE), [text if at % 3 else "no" for at, text in enumerate(HOSTILE)]
    one = project.stored(*said, subject=HOSTILE[0])
    two = project.stored(*other, subject="<b>" + "w" * 300)
    three = project.stored(*other[1:], "no", subject="three")
    page = folder / "page.html"
    assert compared(project, page, one, two, three).code in {0, 1, 4}
    return page


def test_the_outcome_stands_first_with_why_the_difference_and_the_margin(
    look: Any, tutors: tuple[Path, Any]
) -> None:
    page, data = tutors
    seen = look(page)
    first = seen.page.inner_text(".verdict")
    assert seen.page.inner_text("h1") == "Is flawed-tutor worse than tutor?"
    assert "worse" in first
    assert data["decision"]["outcome"] == "worse"
    assert "−0.0958" in first
    assert "flawed-tutor 0.9042, tutor 1.00" in first
    assert "beyond the margin of −0.02." in first
    assert "12 items went from pass to fail, 0 the other way." in first
    assert "Most is lost on spanish_gloss: −0.0417 points of the score." in first
    assert "tense=past-simple loses most beyond the average" in first
    assert seen.page.locator(".verdict .chart svg").count() == 1
    assert seen.page.locator(".verdict").bounding_box()["y"] < DESK[1] / 2
    assert seen.complaints == []
    assert [url for url in seen.requests if not url.startswith("data:")] == [page.as_uri()]


def test_the_bounds_on_the_page_are_those_that_decided(tutors: tuple[Path, Any]) -> None:
    page, data = tutors
    (pair,) = data["pairs"]
    evidence = pair["statistics"]["non_inferiority"]
    upper = evidence["upper"] - 0.02  # of the difference: with 2 % the limit is 0, not −0.02
    assert f"below −{abs(upper):.4f}" in text_of(page)


def test_the_page_holds_what_the_json_says(tutors: tuple[Path, Any]) -> None:
    page, data = tutors
    (pair,) = data["pairs"]
    text = text_of(page)
    for axis, sides in pair["axes"].items():
        assert f"{axis} {sides['baseline']:.2f}" in text
    for item in pair["regressed"]:
        assert item in text
    assert [tag["value"] for tag in pair["tags"][:2]] == ["go", "past-simple"]
    assert "verb=go 3 −0.70 0 / 3 / 0 1.00" in text
    asked = pair["asked_first"]
    assert f"tutor was asked first {asked['baseline']}" in text
    assert f"flawed-tutor was asked first {asked['candidate']}" in text
    for line in pair["statistics"]["plain"]:
        by_subject = line
        for run, subject in zip(data["runs"], data["subjects"], strict=True):
            by_subject = by_subject.replace(run, subject)
            assert f"{subject} (run {run})" in text
        assert by_subject in text


def test_an_item_opens_with_what_both_said_and_why(look: Any, tutors: tuple[Path, Any]) -> None:
    seen = look(tutors[0])
    lost = seen.page.locator(".regressed .item")
    assert lost.count() == 12
    lost.first.locator("summary").first.click()
    inside = lost.first.locator(".inside").inner_text()
    assert "Conjugate 'go' — past simple, 2nd singular." in inside
    assert "You went." in inside
    assert "YOU GOED." in inside
    assert '"went" is missing from "YOU GOED."' in inside
    lost.first.locator(".side details summary").first.click()
    assert '"spanish_gloss": "Tú fuiste."' in lost.first.locator("pre").first.inner_text()


def test_losses_and_gains_are_apart_and_what_is_left_out_is_said(
    look: Any, project: Project, tutors: tuple[Path, Any], tmp_path: Path
) -> None:
    assert "… and 13 more items, which the JSON document has." in text_of(tutors[0])
    compared(project, tmp_path / "p.html", "poor", "near")
    seen = look(tmp_path / "p.html")
    assert seen.page.locator(".regressed .item").count() == 0
    assert seen.page.locator(".lost .item").count() == 0
    assert seen.page.locator(".gained .item").count() == 15
    assert "fail → pass" in seen.page.inner_text(".gained")
    assert "… and 15 more items" in seen.page.inner_text(".gained")


@pytest.mark.parametrize(
    ("name", "word", "told", "code"),
    [
        ("near", "not worse", "and so within the margin of −0.02.", 0),
        ("poor", "worse", "and so beyond the margin of −0.02.", 1),
        ("unsure", "cannot tell", "the margin of −0.02 lies between.", 4),
        ("fine", "cannot tell", "where now there are 60.", 4),
    ],
)
def test_the_word_why_and_the_exit_code(
    project: Project, tmp_path: Path, name: str, word: str, told: str, code: int
) -> None:
    page = tmp_path / "page.html"
    assert compared(project, page, "big", name).code == code
    text = text_of(page)
    assert f" {word} " in text
    assert told in text
    assert ("What would settle it" in text) is (code == 4)


def test_what_would_settle_it_is_said_in_numbers(project: Project, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = here(
        *("compare", "big", "unsure", "--store", project.store, "--html", page),
        *("--format", "json"),
    )
    statistics = done.json["pairs"][0]["statistics"]
    needed = statistics["non_inferiority"]["pairs_needed"]
    alike = statistics["detectable"]["pairs_needed"]
    text = text_of(page)
    assert f"About {needed:,} items like these, where now there are 60." in text
    assert f"If the two are truly alike, about {alike:,} show it 4 times in 5." in text


def test_what_speaks_against_the_outcome_stands_beside_it(look: Any, tmp_path: Path) -> None:
    project = Project(tmp_path, items=5)
    one, two = project.stored(*[FULL] * 5), project.stored(*[FULL, LONG, FULL, FULL, FULL])
    assert compared(project, tmp_path / "p.html", one, two, "--margin", "0.2").code == 0
    doubts = look(tmp_path / "p.html").page.inner_text(".first .stack")
    assert "Before you rely on it" in doubts
    assert "With 5 pairs, statistical significance cannot be reached" in doubts
    assert "Which of the two was asked first is not recorded" in doubts


def test_several_runs_have_every_two_first_and_then_each_beside_the_first(
    look: Any, several: Path
) -> None:
    seen = look(several)
    assert "worse than big by more than the margin: poor" in seen.page.inner_text(
        ".verdict >> nth=0"
    )
    assert seen.page.locator(".gatelist li").count() == 3
    assert seen.page.locator("#together tbody tr").count() == 6
    assert [one.inner_text() for one in seen.page.locator("main > section > h2").all()][:2] == [
        "Every two",
        "near beside big",
    ]
    assert seen.page.locator("#r2-items .regressed .item").count() == 13
    assert "… and 17 more items" in seen.page.inner_text("#r2-items")
    ids = seen.script("[...document.querySelectorAll('[id]')].map(one => one.id)")
    assert len(ids) == len(set(ids))
    links = seen.script("[...document.querySelectorAll('a')].map(one => one.hash.slice(1))")
    assert set(links) <= set(ids)
    assert seen.complaints == []


def test_result_files_make_the_page_of_the_stored_runs(project: Project, tmp_path: Path) -> None:
    files = (project.folder / "big.json", project.folder / "poor.json")
    assert compared(project, tmp_path / "a.html", "big", "poor").code == 1
    named = ("-r", project.rubric, "-e", project.exam)
    assert compared(project, tmp_path / "b.html", *files, *named).code == 1
    ours, theirs = (
        text_of(tmp_path / name).partition(" rubric words ")[2] for name in ("a.html", "b.html")
    )
    assert ours == theirs
    assert "score 0.05" in ours


def test_runs_of_one_subject_keep_their_names(tmp_path: Path) -> None:
    project = Project(tmp_path, items=5)
    one, two = project.stored(*[FULL] * 5, subject="s"), project.stored(*[WRONG] * 5, subject="s")
    compared(project, tmp_path / "p.html", one, two)
    assert f"Is {two} worse than {one}?" in text_of(tmp_path / "p.html")


def test_an_axis_called_like_the_score_is_drawn_beside_it(look: Any, tmp_path: Path) -> None:
    project = Project(tmp_path, items=3, rubric=RUBRIC.replace("name: right", "name: score"))
    one, two = project.stored(*[FULL] * 3), project.stored(*[WRONG] * 3)
    compared(project, tmp_path / "p.html", one, two)
    figure = look(tmp_path / "p.html").page.locator("figure")
    assert figure.locator(".chart circle").count() == 2 * 4


@pytest.mark.parametrize("lang", ["en", "es"])
def test_runs_that_cannot_be_compared_make_a_page_that_says_why(
    project: Project, tmp_path: Path, lang: str
) -> None:
    page = tmp_path / "page.html"
    assert compared(project, page, "big", "incomplete", "--lang", lang).code == 4
    text = text_of(page)
    assert "(53 missing)" in text if lang == "en" else "53" in text
    assert {"en": "What would settle it", "es": "Qué lo resolvería"}[lang] in text
    other = Project(tmp_path, items=60, rubric=RUBRIC.replace("limit: 5", "limit: 6"))
    other.store = project.store
    run = other.stored(*[FULL] * 60)
    assert compared(project, page, "big", run).code == 4
    assert "another rubric fingerprint" in text_of(page)


def attempted(project: Project, name: str, wrong: set[tuple[str, int]]) -> str:
    """Store a run with five attempts on each item, some of them wrong."""
    rows = [
        {"item": i, "attempt": k, "subject": name, "output": WRONG if (i, k) in wrong else FULL}
        for i in project.items
        for k in range(1, 6)
    ]
    file = project.write(f"{name}.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    words = ("-r", project.rubric, "-e", project.exam, "-a", file, "--store", project.store)
    return here("score", *words).err.split()[-1]


def test_of_several_attempts_those_that_differ_are_shown(look: Any, tmp_path: Path) -> None:
    project = Project(tmp_path, items=6)
    one = attempted(project, "steady", set())
    two = attempted(project, "shaky", {("i1", 2), *(("i2", k) for k in range(1, 6))})
    compared(project, tmp_path / "p.html", one, two)
    seen = look(tmp_path / "p.html")
    seen.script(OPEN_ALL)
    worst, other = (item.inner_text() for item in seen.page.locator(".regressed .item").all())
    assert [f"attempt {k}" in worst for k in range(1, 6)] == [True] * 3 + [False] * 2
    assert "2 more attempts differ." in worst
    assert "attempt 2" in other
    assert "attempt 1" not in other
    assert "pairs of answers\t30" in seen.page.inner_text("#tags")


def test_the_page_speaks_spanish(project: Project, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    compared(project, page, "big", "poor", "--lang", "es")
    text = text_of(page)
    assert '<html lang="es">' in page.read_text(encoding="utf-8")
    assert "¿Es poor peor que big?" in text
    assert "La diferencia verdadera está por debajo de" in text
    assert "30 ítems pasaron de aprobado a suspenso; 0 al revés." in text
    for english in ("The ", "worse", "margin ", "items", "lost", "Outcome", "Before"):
        assert english not in text


@pytest.mark.parametrize("name", ["tutors", "several"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_accessibility_checker_finds_nothing_serious(
    look: Any, request: pytest.FixtureRequest, name: str, scheme: str
) -> None:
    found = request.getfixturevalue(name)
    seen = look(found[0] if isinstance(found, tuple) else found, scheme=scheme)
    seen.script(OPEN_ALL)
    assert faults_of_access(seen.page) == []


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_hostile_names_and_answers_are_inert_accessible_and_fit(
    look: Any, hostile: Path, size: tuple[int, int]
) -> None:
    seen = look(hostile, size=size)
    seen.script(OPEN_ALL)
    seen.settle()
    assert seen.script("window.pwned") is None
    assert seen.complaints == []
    assert seen.script("document.querySelectorAll('script').length") == 2
    assert seen.script("document.querySelectorAll('main b, h1 b').length") == seen.script(
        "document.querySelectorAll('.numbers b, .side li b').length"
    )
    assert seen.script("document.documentElement.scrollWidth") <= size[0]
    assert faults_of_access(seen.page) == []
    assert [url for url in seen.requests if not url.startswith("data:")] == [hostile.as_uri()]


def test_a_phone_shows_everything_without_scrolling_sideways(look: Any, several: Path) -> None:
    seen = look(several, size=PHONE)
    seen.script(OPEN_ALL)
    seen.settle()
    assert seen.script("document.documentElement.scrollWidth") <= PHONE[0]


def test_on_paper_what_went_from_pass_to_fail_is_open(look: Any, tutors: tuple[Path, Any]) -> None:
    seen = look(tutors[0])
    seen.script("dispatchEvent(new Event('beforeprint'))")
    assert seen.page.locator(".item[open]").count() == 12
    seen.script("dispatchEvent(new Event('afterprint'))")
    assert seen.page.locator(".item[open]").count() == 0


def test_without_its_script_the_page_shows_everything(
    browser: Browser, tutors: tuple[Path, Any]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(tutors[0].as_uri())
    page.locator(".regressed .item summary").first.click()
    assert "YOU GOED." in page.locator(".regressed .inside").first.inner_text()
    context.close()


def test_the_page_has_the_same_bytes_wherever_it_is_written(
    project: Project, tmp_path: Path
) -> None:
    kept = set()
    for locale, seed in (("C", "0"), ("es_ES.UTF-8", "77")):
        page = tmp_path / f"{seed}.html"
        words = ("compare", "big", "poor", "unsure", "--store", project.store, "--lang", "en")
        markscheme(*words, "--html", page, LC_ALL=locale, PYTHONHASHSEED=seed)
        kept.add(page.read_bytes())
    assert len(kept) == 1


def test_thousands_of_long_answers_make_a_small_page(tmp_path: Path) -> None:
    project = Project(tmp_path, items=2000)
    one = project.stored(*[f"yes {'x' * 5_000}"] * 2000, subject="one")
    two = project.stored(*[f"no {'x' * 5_000}"] * 2000, subject="two")
    page = tmp_path / "page.html"
    assert compared(project, page, one, two).code == 1
    assert page.stat().st_size < 2_000_000
    assert "… and 1,960 more items" in text_of(page)


def test_a_page_of_a_plan_is_refused_and_no_input_is_overwritten(project: Project) -> None:
    done = here("compare", "--plan", "--margin", "1", "--noise", "1", "--html", "x.html")
    assert (done.code, "not with --plan" in done.err) == (2, True)
    file = project.folder / "big.json"
    before = file.read_bytes()
    named = ("-r", project.rubric, "-e", project.exam)
    assert compared(project, file, file, project.folder / "poor.json", *named).code == 2
    assert file.read_bytes() == before
