"""What a teacher sees of a class, from what its learners answered."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from markscheme.keep import PaperAnswer, PaperMode, Store, open_store
from markscheme.workflows.class_overview import analyse_class_items, load_class_overview
from markscheme.workflows.papers import hand_in_paper, open_paper
from markscheme.workflows.portal import Portal, load_class_portal
from markscheme.workflows.practice import CardAnswer, grade_card

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def portal(tmp_path: Path) -> Portal:
    file = tmp_path / "7b.yaml"
    file.write_text("class: 7b\nexams: [capstone-extra]\n")
    return load_class_portal(file, zone=UTC)


def sit_exam(place: Path, portal: Portal, learner: str, *, right: int) -> str:
    """Hand in a paper whose first answers are right and whose others are blank."""
    paper = f"p-{learner}"
    with open_store(place, create=False) as store:
        open_paper(
            store,
            id_=paper,
            learner=learner,
            rubric=portal.rubric,
            exam=portal.exam,
            mode=PaperMode.EXAM,
            now=NOW,
        )
        answers = []
        for number, item in enumerate(portal.exam.items):
            entry = item.expectations["expected_contains"][0]
            form = str(entry if isinstance(entry, str) else entry[0])
            typed = (
                form if number < right else f"{form[0]}\u0301{form[1:]}" if number == right else ""
            )
            answers.append(
                PaperAnswer(
                    id=f"{paper}-{number}",
                    paper=paper,
                    item=item.id,
                    at=NOW,
                    fields={"correction": typed},
                )
            )
        store.learning.add_paper_answers(answers)
    return hand_in_paper(place, paper)


def practise(store: Store, portal: Portal, learner: str, number: int, form: str) -> None:
    item = portal.practice.items[number]
    answer = CardAnswer(id=f"{learner}-{number}", item=item.id, fields={"correction": form})
    store.learning.add_review(grade_card(portal.practice, learner, answer, NOW).review)


def test_learners_have_due_cards_shares_and_their_last_paper(
    tmp_path: Path, portal: Portal
) -> None:
    place = tmp_path / "s.db"
    with open_store(place, create=True) as store:
        ana, _ = store.learning.add_learner("Ana", "7b")
        store.learning.add_learner("Eva", "7b")
        store.learning.add_learner("Elsewhere", "7c")
        for number, form in enumerate(("was", "will have", "zzz", "zzz")):
            practise(store, portal, ana.id, number, form)
    run = sit_exam(place, portal, ana.id, right=20)
    with open_store(place, create=False) as store:
        first, second = load_class_overview(store, portal, NOW + timedelta(days=1)).learners
    assert (first.name, first.due, first.done, first.recalled) == ("Ana", 4, 4, Fraction(1, 2))
    assert first.paper is not None
    assert (first.paper.run, first.score) == (run, Fraction(3, 4))
    assert (second.name, second.due, second.done, second.recalled) == ("Eva", 0, 0, None)
    assert (second.paper, second.score, second.weakest) == (None, None, None)


def test_the_tags_that_the_class_finds_hard_count_all_learners(
    tmp_path: Path, portal: Portal
) -> None:
    past = [
        number
        for number, item in enumerate(portal.practice.items)
        if item.tags["tense"] == "past-simple"
    ]
    with open_store(tmp_path / "s.db", create=True) as store:
        for name, number in zip(("Ana", "Eva", "Luis"), past, strict=False):
            learner, _ = store.learning.add_learner(name, "7b")
            practise(store, portal, learner.id, number, "was")
        hardest = load_class_overview(store, portal, NOW).hardest
    assert [(tag.key, tag.value, tag.share, tag.answers) for tag in hardest] == [
        ("tense", "past-simple", Fraction(1, 3), 3)
    ]


def test_items_are_analysed_over_papers_also_of_learners_who_were_forgotten(
    tmp_path: Path, portal: Portal
) -> None:
    place = tmp_path / "s.db"
    with open_store(place, create=True) as store:
        learners = [store.learning.add_learner(f"L{n}", "7b")[0].id for n in range(6)]
    for number, learner in enumerate(learners):
        sit_exam(place, portal, learner, right=number + 1)
    with open_store(place, create=False) as store:
        before = analyse_class_items(store, portal)
        store.learning.forget_learner(learners[0])
        assert analyse_class_items(store, portal) == before
    assert before.n == 6
    assert [item.right for item in before.items[:7]] == [6, 5, 4, 3, 2, 1, 0]
    assert before.items[1].difficulty == Fraction(5, 6)
    assert before.items[1].flags == ()
    assert before.reliability is None
