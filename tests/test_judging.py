"""Judged runs: which calls are made, what replies become, and what counts where they differ."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from commands import here
from judges import (
    VERDICTS,
    ScriptedJudge,
    list_ids,
    make_judge,
    plan_judging,
    reply_with,
    run_judges,
    scores_of,
)
from markscheme.ask.questions import Question
from markscheme.ask.replies import Fault, Reply
from markscheme.read.documents import read_judge
from markscheme.vocabulary import Answer, DocumentError, MarkSource, Panel
from markscheme.workflows.judged_ratings import JudgedRatings

DOSE = Answer(item="dose", output="5 mg", subject="small")
HOUR = Answer(item="hour", output="Noon.", subject="small")


def judge_once(
    folder: Path, say: Any, answers: tuple[Answer, ...] = (DOSE,), **keys: Any
) -> tuple[JudgedRatings, ScriptedJudge]:
    judge = ScriptedJudge("strict", say)
    plan = plan_judging(folder, make_judge(folder, **keys), answers)
    return run_judges(plan, judge), judge


def test_a_plan_tells_calls_without_the_extra_that_counts_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    here("init", tmp_path / "desk", "--judge")
    monkeypatch.chdir(tmp_path / "desk")
    words = ("-r", "rubric.yaml", "-e", "exam.yaml", "-a", "answers.jsonl", "-j", "judge.yaml")
    told = here("judge", *words, "--plan", "--price", "1:2")
    assert told.code == 0, told.err
    assert "10 calls with 48 questions" in told.out
    assert "tokens in and cost: unknown; `pip install 'markscheme[tokens]'` counts them" in told.out
    found = here("judge", *words, "--plan", "--price", "1:2", "--format", "json").json["plan"]
    assert (found["calls"], found["tokens_in"], found["cost"]) == (10, None, None)


def test_one_call_asks_everything_about_an_answer(tmp_path: Path) -> None:
    judged, judge = judge_once(tmp_path, reply_with(VERDICTS))
    assert [list_ids(question) for question in judge.asked] == [["clear", "tone", "c1", "c2"]]
    assert scores_of(judged) == {
        ("dose", "clear"): [3],
        ("dose", "tone"): ["kind"],
        ("dose", "c1"): [1],
        ("dose", "c2"): [0],
    }
    assert judged.is_complete


def test_a_rating_says_who_judged_what_and_why(tmp_path: Path) -> None:
    judged, _ = judge_once(tmp_path, reply_with(VERDICTS))
    rating = next(rating for rating in judged.ratings if rating.criterion == "c1")
    assert (rating.rater, rating.source, rating.axis) == ("strict", MarkSource.JUDGE, "facts")
    assert (rating.variant, rating.attempt, rating.note) == ("small", 1, "why c1")


@pytest.mark.parametrize(
    ("calls", "parts"),
    [
        ("one", [["clear", "tone", "c1", "c2"]]),
        ("each", [["clear"], ["tone"], ["c1"], ["c2"]]),
        (1, [["clear", "tone", "c1", "c2"]]),
        (2, [["clear", "tone"], ["c1", "c2"]]),
        (3, [["clear"], ["tone"], ["c1", "c2"]]),
        (9, [["clear"], ["tone"], ["c1"], ["c2"]]),
    ],
)
def test_calls_split_the_list(tmp_path: Path, calls: Any, parts: list[list[str]]) -> None:
    judged, judge = judge_once(tmp_path, reply_with(VERDICTS), calls=calls)
    assert [list_ids(question) for question in judge.asked] == parts
    assert scores_of(judged)["dose", "c1"] == [1]


def test_calls_about_one_answer_begin_with_the_same_words(tmp_path: Path) -> None:
    _, judge = judge_once(tmp_path, reply_with(VERDICTS), calls="each")
    shared = {question.text.partition("\nList:")[0] for question in judge.asked}
    assert len(shared) == 1


def test_equal_answers_of_two_subjects_are_asked_about_once(tmp_path: Path) -> None:
    other = Answer(item="dose", output="5 mg", subject="large", attempt=2)
    judged, judge = judge_once(tmp_path, reply_with(VERDICTS), (DOSE, other, HOUR))
    assert len(judge.asked) == 2
    assert judged.answers == 3
    assert {rating.variant for rating in judged.ratings} == {"small", "large"}


def test_a_refused_reply_is_asked_again_as_another_try(tmp_path: Path) -> None:
    def say(question: Question, ids: list[str]) -> str:
        return "no idea" if question.attempt == 1 else reply_with(VERDICTS)(question, ids)  # type: ignore[return-value]

    judged, judge = judge_once(tmp_path, say)
    assert [question.attempt for question in judge.asked] == [1, 2]
    assert judge.asked[0].text == judge.asked[1].text
    assert judged.is_complete
    assert judged.asked_again == 1


def test_what_stays_unread_has_no_score_and_says_why(tmp_path: Path) -> None:
    judged, judge = judge_once(tmp_path, reply_with({**VERDICTS, "c1": "mostly"}))
    assert len(judge.asked) == 2
    assert {rating.score for rating in judged.ratings} == {None}
    assert {rating.note for rating in judged.ratings} == {'c1 says "mostly"'}
    assert judged.refused == {'c1 says "mostly"': 1}
    assert not judged.is_complete


def test_a_refused_call_leaves_the_other_calls_alone(tmp_path: Path) -> None:
    judged, _ = judge_once(tmp_path, reply_with({**VERDICTS, "c1": 2}), calls="each")
    assert scores_of(judged)["dose", "c1"] == [None]
    assert scores_of(judged)["dose", "c2"] == [0]


def test_null_is_an_abstention_and_not_asked_again(tmp_path: Path) -> None:
    judged, judge = judge_once(tmp_path, reply_with({**VERDICTS, "c1": None}))
    assert len(judge.asked) == 1
    rating = next(rating for rating in judged.ratings if rating.criterion == "c1")
    assert (rating.score, rating.note) == (None, "the judge cannot tell: why c1")


def test_an_error_of_the_endpoint_is_unread(tmp_path: Path) -> None:
    fault = Reply.from_fault(Fault.REJECTED, "the server says 401")
    judged, judge = judge_once(tmp_path, lambda *_: fault)
    assert len(judge.asked) == 1
    assert judged.ratings[0].note == "no reply (rejected): the server says 401"


# --- orders and repeats ---


def by_order(first: dict[str, Any], second: dict[str, Any]) -> Any:
    """Return a judge that says something else where the list is reversed."""

    def say(question: Question, ids: list[str]) -> Any:
        return reply_with(second if ids[0] == "c2" else first)(question, ids)

    return say


def test_two_orders_ask_the_list_forth_and_back(tmp_path: Path) -> None:
    judged, judge = judge_once(tmp_path, reply_with(VERDICTS), orders=2)
    first, second = (question.user for question in judge.asked)
    assert [list_ids(question) for question in judge.asked] == [
        ["clear", "tone", "c1", "c2"],
        ["c2", "c1", "tone", "clear"],
    ]
    assert first.index("1: muddled") < first.index("3: crisp")
    assert second.index("1: muddled") > second.index("3: crisp")
    assert scores_of(judged)["dose", "clear"] == [3, 3]


def test_a_scale_that_depends_on_the_order_counts_as_the_mean(tmp_path: Path) -> None:
    say = by_order(VERDICTS, {**VERDICTS, "clear": 2})
    judged, _ = judge_once(tmp_path, say, orders=2)
    assert scores_of(judged)["dose", "clear"] == [3, 2]
    assert judged.ratings[0].note == "3 and 2, by order of the list: why clear"


def test_criteria_and_choices_that_depend_on_the_order_count_as_unread(tmp_path: Path) -> None:
    say = by_order(VERDICTS, {**VERDICTS, "c1": False, "tone": "rude"})
    judged, _ = judge_once(tmp_path, say, orders=2)
    assert scores_of(judged)["dose", "c1"] == [None, None]
    assert scores_of(judged)["dose", "tone"] == [None, None]
    assert scores_of(judged)["dose", "c2"] == [0, 0]


def test_settle_lower_takes_the_verdict_that_gives_less(tmp_path: Path) -> None:
    say = by_order(VERDICTS, {"c1": False, "c2": True, "tone": "rude", "clear": 1})
    judged, _ = judge_once(tmp_path, say, orders=2, settle="lower")
    assert scores_of(judged) == {
        ("dose", "clear"): [1, 1],
        ("dose", "tone"): ["rude", "rude"],
        ("dose", "c1"): [0, 0],
        ("dose", "c2"): [1, 1],  # meeting it costs points
    }


def test_one_unread_order_voids_the_other(tmp_path: Path) -> None:
    say = by_order(VERDICTS, {**VERDICTS, "clear": None})
    judged, _ = judge_once(tmp_path, say, orders=2)
    assert scores_of(judged)["dose", "clear"] == [None, None]


def test_repeats_are_ratings_of_their_own(tmp_path: Path) -> None:
    judged, judge = judge_once(tmp_path, reply_with(VERDICTS), repeats=3)
    assert len(judge.asked) == 3
    assert len({question.text for question in judge.asked}) == 1
    clear = [rating for rating in judged.ratings if rating.axis == "clear"]
    assert [rating.repeat for rating in clear] == [0, 1, 2]


def test_one_unread_repeat_voids_the_others(tmp_path: Path) -> None:
    calls: list[Question] = []

    def say(question: Question, ids: list[str]) -> Any:
        calls.append(question)
        return reply_with({**VERDICTS, "c1": None if len(calls) == 1 else True})(question, ids)

    judged, _ = judge_once(tmp_path, say, repeats=2)
    assert scores_of(judged)["dose", "c1"] == [None, None]
    assert scores_of(judged)["dose", "c2"] == [0, 0]


# --- panels ---


def judge_panel(
    folder: Path, *verdicts: dict[str, Any], **keys: Any
) -> tuple[JudgedRatings, Panel]:
    names = [f"j{number}" for number in range(1, len(verdicts) + 1)]
    members = [{"judge": name, "subject": f"openai:{name}"} for name in names]
    path = folder / "panel.yaml"
    path.write_text(json.dumps({"panel": "three", "judges": members, **keys}))
    panel = read_judge(path)
    assert isinstance(panel, Panel)
    judges = [
        ScriptedJudge(name, reply_with(said)) for name, said in zip(names, verdicts, strict=True)
    ]
    return run_judges(plan_judging(folder, panel, [DOSE]), *judges), panel


YES, NO = VERDICTS, {**VERDICTS, "c1": False, "tone": "rude", "clear": 1}
UNREAD = {**VERDICTS, "c1": None, "tone": None, "clear": None}


@pytest.mark.parametrize(
    ("said", "keys", "expected"),
    [
        ([YES, YES, NO], {}, {"c1": 1, "tone": "kind", "clear": 3}),
        ([YES, NO, NO], {}, {"c1": 0, "tone": "rude", "clear": 1}),
        ([YES, NO], {}, {"c1": None, "tone": None, "clear": None}),
        ([YES, YES, NO], {"settle": "lower"}, {"c1": 0, "tone": "rude", "clear": 1}),
        ([YES, YES, UNREAD], {}, {"c1": 1, "tone": "kind", "clear": 3}),
        ([YES, UNREAD, UNREAD], {}, {"c1": None, "tone": None, "clear": None}),
        ([YES, UNREAD, UNREAD], {"quorum": 1}, {"c1": 1, "tone": "kind", "clear": 3}),
        ([YES, YES, UNREAD], {"quorum": 3}, {"c1": None, "tone": None, "clear": None}),
        (
            [YES, {**YES, "clear": 2}, NO],
            {"settle": "median"},
            {"c1": 1, "tone": "kind", "clear": 2},
        ),
        ([YES, {**YES, "clear": 2}], {"settle": "median"}, {"c1": 1, "tone": "kind", "clear": 2}),
    ],
)
def test_a_panel_settles_its_marks(
    tmp_path: Path, said: list[dict[str, Any]], keys: dict[str, Any], expected: dict[str, Any]
) -> None:
    judged, _ = judge_panel(tmp_path, *said, **keys)
    found = {key[1]: scores for key, scores in scores_of(judged).items()}
    assert {name: found[name] for name in expected} == {
        name: [score] for name, score in expected.items()
    }
    assert {rating.rater for rating in judged.ratings} == {"three"}


def test_a_panel_keeps_what_each_judge_said(tmp_path: Path) -> None:
    judged, _ = judge_panel(tmp_path, YES, YES, NO)
    each = {rating.rater: rating.score for rating in judged.each if rating.criterion == "c1"}
    assert each == {"j1": 1, "j2": 1, "j3": 0}
    c1 = next(rating for rating in judged.ratings if rating.criterion == "c1")
    assert c1.note == "majority of 1, 1, 0"


# --- what is kept ---


def test_the_provenance_names_judge_way_and_served_model(tmp_path: Path) -> None:
    def say(question: Question, ids: list[str]) -> Reply:
        text = reply_with(VERDICTS)(question, ids)
        return Reply(text=str(text), served="m-2026-11-01")

    judged, _ = judge_once(tmp_path, say)
    record = judged.describe_judging()
    assert list(record) == ["clear", "tone", "facts"]
    assert record["facts"] == {
        "judge": "strict",
        "fingerprint": judged.judge.fingerprint,
        "calls": "one",
        "orders": 1,
        "served": ["m-2026-11-01"],
        "panel": None,
        **judged.fingerprints["facts"],
    }


def test_a_resumed_run_asks_only_what_is_missing(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    judge = make_judge(tmp_path)
    first = ScriptedJudge("strict", reply_with(VERDICTS))
    run_judges(plan_judging(tmp_path, judge, [DOSE]), first, store=store)
    second = ScriptedJudge("strict", reply_with({**VERDICTS, "c1": False}))
    plan = plan_judging(tmp_path, judge, [DOSE, HOUR], resume=True)
    judged = run_judges(plan, second, store=store)
    assert [question.item.partition("/")[0] for question in second.asked] == ["hour"]
    assert scores_of(judged)["dose", "c1"] == [1]
    assert scores_of(judged)["hour", "c1"] == [0]


def test_the_cache_answers_the_same_text_for_another_item_and_author(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    judge = make_judge(tmp_path)
    first = ScriptedJudge("strict", reply_with(VERDICTS))
    run_judges(plan_judging(tmp_path, judge, [DOSE], cache=True), first, store=store)
    second = ScriptedJudge("strict", reply_with(VERDICTS))
    other = Answer(item="dose", output="5 mg", subject="another")
    judged = run_judges(plan_judging(tmp_path, judge, [other], cache=True), second, store=store)
    assert second.asked == []
    assert judged.is_complete


def test_a_second_try_never_comes_from_the_cache(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    judge = make_judge(tmp_path)
    for expected in (2, 1):
        # The refused first reply is in the cache after the first run; its second try is not.
        scripted = ScriptedJudge("strict", lambda *_: "no")
        plan = plan_judging(tmp_path, judge, [DOSE], cache=True)
        judged = run_judges(plan, scripted, store=store)
        assert [question.attempt for question in scripted.asked] == [1, 2][-expected:]
        assert not judged.is_complete


def test_a_budget_that_is_spent_ends_the_run_and_leaves_the_rest_unread(tmp_path: Path) -> None:
    def say(question: Question, ids: list[str]) -> Reply:
        return Reply(text=str(reply_with(VERDICTS)(question, ids)), cost=Decimal("0.01"))

    judge = ScriptedJudge("strict", say)
    plan = plan_judging(
        tmp_path, make_judge(tmp_path), [DOSE, HOUR], max_cost=Decimal("0.01"), concurrency=1
    )
    judged = run_judges(plan, judge)
    assert len(judge.asked) == 1
    assert judged.stopped is not None
    assert "not asked" in {rating.note for rating in judged.ratings}


def test_the_second_round_keeps_to_the_budget_of_both(tmp_path: Path) -> None:
    def say(*_: Any) -> Reply:
        return Reply(text="no", cost=Decimal("0.01"))

    judge = ScriptedJudge("strict", say)
    plan = plan_judging(
        tmp_path, make_judge(tmp_path), [DOSE, HOUR], max_cost=Decimal("0.03"), concurrency=1
    )
    run_judges(plan, judge)
    assert len(judge.asked) == 3


def test_judge_and_subject_of_one_maker_are_remarked(tmp_path: Path) -> None:
    answer = replace_subject(DOSE, "openai:gpt-5-mini")
    plan = plan_judging(tmp_path, make_judge(tmp_path, subject="openai:gpt-4o"), [answer])
    judged = run_judges(plan, ScriptedJudge("strict", reply_with(VERDICTS)))
    assert judged.remarks == ("strict and openai:gpt-5-mini are models of one maker, OpenAI",)


def test_an_answer_that_names_its_subject_is_remarked_and_judged_as_it_is(tmp_path: Path) -> None:
    answer = Answer(item="dose", output="I am Small, and say 5 mg", subject="small")
    judge = ScriptedJudge("strict", reply_with(VERDICTS))
    judged = run_judges(plan_judging(tmp_path, make_judge(tmp_path), [answer]), judge)
    assert "I am Small, and say 5 mg" in judge.asked[0].user
    assert judged.remarks[0].startswith("1 answer names its subject")


def replace_subject(answer: Answer, subject: str) -> Answer:
    return structs.replace(answer, subject=subject)


def test_a_mistake_in_a_judge_of_a_panel_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("judge: a\nsubject: openai:m\n")
    (tmp_path / "b.yaml").write_text("judge: b\ncalls: 0\n")
    panel = tmp_path / "panel.yaml"
    panel.write_text("panel: p\njudges: [a.yaml, b.yaml]\n")
    with pytest.raises(DocumentError) as caught:
        read_judge(panel)
    assert [problem.field for problem in caught.value.problems] == ["subject", "calls"]
    assert {Path(problem.file).name for problem in caught.value.problems} == {"b.yaml"}
