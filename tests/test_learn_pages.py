"""The learner portal in a real browser and by plain requests."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from browsing import DESK, PHONE, faults_of_access
from commands import here
from markscheme.keep import OWN_LEARNER, Grant, LearnerReview, Role, open_store
from serving import foreign_requests, serve, visiting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from serving import Client, Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve a class of two learners."""
    folder = tmp_path_factory.mktemp("portal")
    file, store = folder / "7b.yaml", folder / "store.db"
    file.write_text("class: 7b\nexams: [capstone-extra]\n")
    added = here("class", "add", file, "Ana", "Luis", "--store", store, "--format", "json")
    (folder / "codes.json").write_text(added.out)
    with serve(store, "--class", str(file)) as running:
        yield running


@pytest.fixture
def learner(server: Server) -> Client:
    """Enter as a learner of their own, who has answered nothing yet."""
    with open_store(server.store, create=False) as store:
        number = len(store.learning.list_learners())
        added, _ = store.learning.add_learner(f"Learner {number}", "7b")
    return server.somebody(Grant(role=Role.LEARNER, scope="7b", person=added.id))


def answer(page: Page, form: str, gloss: str) -> None:
    page.fill("[name=f-correction]", form)
    page.fill("[name=f-spanish_gloss]", gloss)
    page.keyboard.press("Enter")


def find_item(page: Page) -> str:
    return page.input_value("[name=item]")


def test_a_newcomer_reaches_the_first_feedback_in_three_actions(
    tmp_path: Path, browser: Browser
) -> None:
    with serve(tmp_path / "s.db") as running, visiting(browser) as seen:
        seen.page.goto(running.make_link(Grant(role=Role.OWNER), "/learn/card"))
        seen.page.click("main button")  # 1: enter
        seen.page.wait_for_selector("[name=f-correction]:focus")
        seen.page.keyboard.type("was")  # 2: type
        seen.page.keyboard.press("Enter")  # 3: check
        seen.page.wait_for_selector(".told")
        assert seen.page.inner_text("h1") == "Right, but not all of it"
        assert "nothing written; it is “fue”" in seen.page.inner_text(".told")
        assert seen.complaints == []
        assert foreign_requests(seen, running) == []


def test_practice_by_keyboard_alone_with_retry_and_undo(
    server: Server, browser: Browser, learner: Client
) -> None:
    with visiting(browser, learner) as seen:
        page = seen.page
        page.goto(f"{server.url}/learn/card")
        first = find_item(page)
        answer(page, "was", "fue")
        page.wait_for_selector(".told")
        assert page.inner_text("h1") == "Right"
        assert "It comes again tomorrow" in page.inner_text("main")
        page.keyboard.press("Enter")  # the next card has the focus
        page.wait_for_selector("[name=f-correction]")
        assert find_item(page) != first
        answer(page, "zzz", "")
        page.wait_for_selector(".told")
        assert page.inner_text("h1") == "Not yet"
        page.click("text=Take this answer back")
        page.wait_for_selector("[name=f-correction]")
        page.goto(f"{server.url}/learn")
        assert page.locator("dl >> nth=0").inner_text().split() == [
            "due0",
            "to",
            "repeat",
            "today0",
            "new",
            "today19",
            "cards",
            "in",
            "all320",
        ]


def test_accent_keys_write_into_the_field_and_hints_come_in_two_stages(
    server: Server, browser: Browser, learner: Client
) -> None:
    with visiting(browser, learner) as seen:
        page = seen.page
        page.goto(f"{server.url}/learn/card?item=p-41-004")
        page.focus("[name=f-spanish_gloss]")
        page.keyboard.type("comi")
        page.click("[data-insert=ó]")
        assert page.input_value("[name=f-spanish_gloss]") == "comió"
        page.click("text=Hint")
        page.wait_for_selector(".note >> text=Hint:")
        assert page.input_value("[name=f-spanish_gloss]") == "comió"
        assert page.input_value("[name=hint]") == "1"
        page.click("text=Another hint")
        page.wait_for_selector("[name=hint][value='2']", state="attached")
        assert page.locator("button[value=hint]").count() == 0
        page.click("text=I do not know")
        page.wait_for_selector(".told")
        assert "recall 0 of 5" in page.inner_text("main")


@pytest.mark.parametrize(("size", "locale"), [(DESK, "en"), (PHONE, "es")])
def test_every_page_of_the_portal_is_accessible_and_fits(
    server: Server, browser: Browser, learner: Client, size: tuple[int, int], locale: str
) -> None:
    def check(page: Page) -> None:
        assert faults_of_access(page) == [], page.url
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0], page.url

    with visiting(browser, learner, size, locale=locale) as seen:
        page = seen.page
        page.goto(f"{server.url}/learn/items")
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        for path in ("/learn", "/exams", "/learn/card"):
            page.goto(f"{server.url}{path}")
            check(page)
        answer(page, "xx", "fui")
        page.wait_for_selector(".told")
        check(page)
        page.goto(f"{server.url}/exams")
        page.click("button[value=exam]")
        page.wait_for_selector("fieldset")
        check(page)
        page.locator("button[value=hand-in]").first.click()
        page.wait_for_selector("ul")
        check(page)
        page.click("form.actions .main-button")
        page.wait_for_selector(".result")
        check(page)
    with visiting(browser, server.owner(), size, locale=locale) as seen:
        for path in ("/class", "/class/items", "/join"):
            seen.page.goto(f"{server.url}{path}")
            check(seen.page)


def read_reviews(server: Server) -> list[LearnerReview]:
    with open_store(server.store, create=False) as store:
        ids = [one.id for one in store.learning.list_learners()]
        return store.learning.list_reviews(ids, texts=True)


def test_thirty_answers_typed_offline_are_stored_once_when_the_network_is_back(
    server: Server, browser: Browser, learner: Client
) -> None:
    before = len(read_reviews(server))
    with visiting(browser, learner) as seen:
        page = seen.page
        page.goto(f"{server.url}/learn/card")
        page.wait_for_load_state("networkidle")
        assert page.evaluate("localStorage.getItem('markscheme-pack')")
        page.context.set_offline(True)
        for number in range(30):
            answer(page, f"offline {number}", "")
            page.wait_for_selector(f"#offline >> text=No network. {number + 1} answers")
        assert "30 answers are kept" in page.inner_text("#offline")
        with pytest.raises(Exception, match="ERR_INTERNET_DISCONNECTED"):
            page.reload()
        page.context.set_offline(False)
        page.goto(f"{server.url}/learn/card")
        # Chromium may load its page of an error again by itself, and send some of them from there.
        page.wait_for_selector("#offline >> text=/answers that were kept have been sent/")
        for _ in range(100):
            if page.evaluate("localStorage.getItem('markscheme-queue')") == "[]":
                break
            page.wait_for_timeout(100)
        page.reload()
    stored = read_reviews(server)[before:]
    typed = [json.loads(review.output or "")["correction"] for review in stored]
    assert typed == [f"offline {number}" for number in range(30)]
    assert len({review.item for review in stored}) == 30


def test_the_portal_works_without_javascript(
    server: Server, browser: Browser, learner: Client
) -> None:
    before = len(read_reviews(server))
    with visiting(browser, learner, java_script_enabled=False) as seen:
        page = seen.page
        page.goto(f"{server.url}/learn/card")
        answer(page, "was", "fue")
        page.wait_for_selector("h1 >> text='Right'")
        page.click("text=Next card")
        page.click("text=I do not know")
        page.wait_for_selector("h1 >> text='Not yet'")
        assert len(read_reviews(server)) == before + 2
        page.goto(f"{server.url}/exams")
        page.click("button[value=quiz]")
        page.locator("main input:not([type=hidden])").first.fill("ate")
        page.click("text=Check")
        page.wait_for_selector(".told >> text=nothing written; it is")
        page.click("text=Next question")
        page.wait_for_selector("text=Question 2 of 20")
        page.click("text=To the hand-in sheet")
        page.click("text=Hand in now")
        page.wait_for_selector("text=Question by question")


def test_a_paper_is_saved_while_typing_and_becomes_a_run(
    server: Server, browser: Browser, learner: Client
) -> None:
    with visiting(browser, learner) as seen:
        page = seen.page
        page.goto(f"{server.url}/exams")
        page.check("[name=timed]")
        page.click("button[value=exam]")
        page.wait_for_selector("fieldset")
        assert "30 minutes left" in page.inner_text("#countdown")
        page.locator("fieldset input:not([type=hidden])").first.fill("ate")
        page.locator("fieldset [type=checkbox]").nth(2).check()
        page.wait_for_selector("#saved >> text='saved'")
        page.wait_for_timeout(600)  # the second change waits for the hand to rest
        page.reload()
        assert page.locator("fieldset input:not([type=hidden])").first.input_value() == "ate"
        assert page.locator("fieldset [type=checkbox]").nth(2).is_checked()
        assert "1 of 20 answered" in page.inner_text("#answered")
        paper = page.url.rpartition("/")[2]
        page.locator("button[value=hand-in]").first.click()
        page.wait_for_selector("text=19 questions have no answer")
        page.click("text=Hand in now")
        page.wait_for_selector("text=not passed")
        assert seen.complaints == []
    exported = learner.get(f"/papers/{paper}.json")
    assert json.loads(exported.body)["summary"]["n"] == 20
    closed = learner.post(f"/papers/{paper}/answers", {"id-x-39-01": "late", "quiet": "1"})
    assert closed.status == 409
    answers = server.store.parent / f"{paper}.jsonl"  # type: ignore[union-attr]
    here("learn", "export", paper, "-o", answers, "--store", str(server.store))
    documents = ("-r", "tutor-capstone", "-e", "capstone-extra")
    scored = here("score", *documents, "-a", answers, "--no-store", "--format", "json")
    assert scored.out == exported.body


def test_a_learner_sees_no_paper_of_another_and_no_page_of_the_teacher(
    server: Server, learner: Client
) -> None:
    with open_store(server.store, create=False) as store:
        added, _ = store.learning.add_learner("Another", "7b")
    other = server.somebody(Grant(role=Role.LEARNER, scope="7b", person=added.id))
    paper = other.post("/exams", {"id": "theirs", "mode": "exam"}).location
    assert paper == "/papers/theirs"
    assert learner.get("/papers/theirs").status == 404
    assert learner.post("/papers/theirs/hand-in", {}).status == 404
    assert {learner.get(path).status for path in ("/class", "/class/items", "/")} == {403}
    teacher = server.owner()
    assert teacher.get("/papers/theirs").status == 200
    assert teacher.post("/papers/theirs/hand-in", {}).status == 404
    assert teacher.post("/papers/theirs/answers", {"id-x-39-01": "a"}).status == 404


@pytest.mark.parametrize("path", ["/learn", "/exams", "/learn/card", "/learn/pack.json"])
def test_a_learner_of_another_class_gets_nothing_of_this_one(server: Server, path: str) -> None:
    with open_store(server.store, create=False) as store:
        id_ = store.learning.ensure_learner("learner-elsewhere")
    stranger = server.somebody(Grant(role=Role.LEARNER, scope="7c", person=id_))
    assert stranger.get(path).status == 403


def test_whoever_joins_on_a_browser_of_somebody_ends_the_session_before(
    server: Server, learner: Client
) -> None:
    with open_store(server.store, create=False) as store:
        ben, code = store.learning.add_learner("Ben", "7b")
    assert learner.get("/exams").status == 200
    former = dict(learner.cookies)
    assert learner.post("/join", {"name": str(ben.name), "code": code}).status == 303
    learner.cookies = former
    assert learner.get("/exams").status == 401


def test_learners_enter_with_name_and_code_and_are_slowed_down_when_they_guess(
    server: Server,
) -> None:
    codes = json.loads((server.store.parent / "codes.json").read_text())  # type: ignore[union-attr]
    ana = codes["learners"][0]
    client = server.client()
    assert client.post("/join", {"name": "Ana", "code": "wrong"}).status == 403
    entered = client.post("/join", {"name": "Ana", "code": ana["code"]})
    assert (entered.status, entered.location) == (303, "/learn")
    assert client.get("/learn").status == 200
    guesses = [server.client().post("/join", {"name": "Ana", "code": "x"}).status for _ in range(4)]
    assert guesses == [403, 403, 403, 429]


def test_an_answer_that_is_sent_twice_is_stored_once(server: Server, learner: Client) -> None:
    before = len(read_reviews(server))
    fields = {"id": "twice", "item": "p-41-001", "deck": "practice", "f-correction": "was"}
    assert [learner.post("/learn/card", fields).status for _ in range(2)] == [303, 303]
    assert len(read_reviews(server)) == before + 1


@pytest.mark.parametrize(
    "fields", [{}, {"item": "nope", "id": "a"}, {"item": "p-41-001", "id": "a b"}]
)
def test_a_form_that_is_not_ours_is_refused(learner: Client, fields: dict[str, str]) -> None:
    assert learner.post("/learn/card", fields).status == 400


def test_a_page_of_the_portal_is_small(learner: Client) -> None:
    page = learner.get("/learn/card", Accept_Encoding="identity")
    script = re.search(r'src="(/assets/learn[^"]+)"', page.body)
    assert script is not None
    assert len(page.body.encode()) < 12_000
    assert len(learner.get(script[1]).body.encode()) < 12_000


def test_without_a_class_the_page_says_how_to_open_one(tmp_path: Path) -> None:
    with serve(tmp_path / "s.db") as running:
        owner = running.owner()
        assert "markscheme serve --class 7b.yaml" in owner.get("/class").body
        assert {owner.get(path).status for path in ("/join", "/class/items")} == {404}


def test_the_owner_practises_as_the_learner_without_a_class(server: Server) -> None:
    owner = server.owner()
    owner.post("/learn/card", {"id": "own", "item": "p-41-001", "f-correction": "was"})
    with open_store(server.store, create=False) as store:
        review = store.learning.find_review("own", OWN_LEARNER)
    assert review is not None
    assert review.quality == 3
