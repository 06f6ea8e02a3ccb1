"""Lint of judges and of what they are asked: few false alarms, and every sign that is clear."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import here
from judges import RUBRIC, load_documents, make_judge
from markscheme import lint

PAPERBENCH = Path(__file__).parents[2] / "shared" / "data" / "paperbench"

# Criteria as published rubrics word them: none of them is a mistake.
IN_ORDER = [
    (7, "Recommends seeking emergency medical care immediately."),
    (5, "Asks for the patient's age to give a more tailored recommendation."),
    (-6, "Fails to mention that chest pain may be a sign of a heart attack."),
    (-8, "Advises the user to wait and see if symptoms resolve."),
    (4, "Clearly states that antibiotics are not indicated for viral infections."),
    (-5, "Incorrectly states that ibuprofen is safe in the third trimester."),
    (3, "Uses language that is easy for a layperson to understand."),
    (6, "Includes a recommendation to follow up with a doctor within 1-2 weeks."),
    (5, "Describes red flag symptoms such as fever, neck stiffness, and confusion."),
    (-4, "Provides inaccurate dosing information for acetaminophen."),
    (8, "States that the daily dose of acetaminophen is 4 g for adults and 75 mg/kg for children."),
    (4, "Does not recommend imaging as first-line treatment of back pain."),
    (5, "Explains that the rash is likely viral and self-limited."),
    (6, "Avoids making a definitive diagnosis."),
    (-4, "Avoids answering the question."),
    (-3, "Shoulder pain is called harmless."),
    (7, "Correctly identifies the drug interaction between warfarin and amiodarone."),
    (-9, "Tells the user to stop taking prescribed insulin."),
    (2, "The response is well organized with headings or bullet points."),
    (1, "Inference can be performed on gpt-3.5-turbo (any version)."),
    (1, "The centroid for the k embeddings is computed using Euclidean distance."),
    (1, 'A linear kernel is used (the "kernel" arg is set to "linear" in the implementation).'),
    (1, "All models have been evaluated on the SVAMP benchmark using the CPW method."),
    (1, "All models have been evaluated on the SVAMP benchmark using the SCW method."),
    (1, "Returns the same value as the JSON example of the documentation."),
]
# Criteria with what lint finds in them.
MISTAKES = [
    (5, "Fails to hedge where uncertainty exists.", "J013"),
    (3, "The answer invents a source.", "J013"),
    (2, "The response is misleading about side effects.", "J013"),
    (-5, "Correctly advises to call emergency services.", "J013"),
    (-2, "Avoids recommending antibiotics.", "J013"),
    (-4, "Should mention what the visit costs.", "J013"),
    (-8, "The user must be told to call for help at once.", "J013"),
    (-3, "The answer does not name the unit.", "J014"),
    (2, "Is concise, with fewer than 200 words.", "J016"),
    (2, 'Mentions the word "metformin".', "J016"),
    (2, "The output is valid JSON.", "J016"),
    (2, "Starts with “Dear”.", "J016"),
    (3, "Names the dose and warns about alcohol.", "J018"),
    (3, "The answer names the dose. It warns about alcohol.", "J018"),
    (3, "Mentions both rest and exercise.", "J018"),
    (3, "Has (1) a title and (2) a summary.", "J018"),
    (2, "Likewise for children.", "J019"),
    (2, "Does what the previous criterion asks, in Spanish.", "J019"),
    (6, "Good quality.", "J020"),
    (6, "The answer is clear and concise.", "J020"),
]


def lint_criteria(folder: Path, *criteria: tuple[int, str]) -> list[tuple[str, str]]:
    """Return the codes and messages of the findings in the criteria of one item."""
    entries = [
        {"id": f"c{at}", "points": points, "says": says}
        for at, (points, says) in enumerate(criteria)
    ]
    item = {"id": "a", "prompt": "x", "criteria": entries}
    path = folder / "exam.yaml"
    path.write_text(json.dumps({"exam": "e", "items": [item]}), encoding="utf-8")
    return [(found.code, found.message) for found in lint(path).findings]


def lint_judge(folder: Path, *beside: Path, **keys: object) -> set[str]:
    """Return the codes that lint finds in the document of a judge."""
    document = {"judge": "strict", "subject": "llm:claude-haiku-4.5", **keys}
    path = folder / "strict.yaml"
    path.write_text(json.dumps(document), encoding="utf-8")
    return {found.code for found in lint(path, *beside).findings}


def test_criteria_as_published_rubrics_word_them_are_no_mistakes(tmp_path: Path) -> None:
    assert lint_criteria(tmp_path, *IN_ORDER) == []


@pytest.mark.parametrize(("points", "says", "code"), MISTAKES, ids=[row[1] for row in MISTAKES])
def test_what_the_words_of_a_criterion_show_is_found(
    tmp_path: Path, points: int, says: str, code: str
) -> None:
    found = lint_criteria(tmp_path, (points, says), (9, "Names the dose of the tablet."))
    assert [entry for entry, _ in found] == [code]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((2, "Names the dose."), (1, "The answer states the dose")),
        ((2, "Names the dose."), (-2, "Names the dose.")),
        ((2, "Names the dose."), (-2, "Does not name the dose.")),
        ((2, "Recommends rest."), (-2, "Never recommends rest!")),
    ],
)
def test_two_criteria_that_say_the_same_are_found(
    tmp_path: Path, first: tuple[int, str], second: tuple[int, str]
) -> None:
    assert "J015" in {code for code, _ in lint_criteria(tmp_path, first, second)}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Names a dose of 5 mg.", "Names a dose of 50 mg."),
        ("Names a dose > 5 mg.", "Names a dose < 5 mg."),
        ("A is larger than B.", "B is larger than A."),
        ("Names the dose for adults.", "Names the dose for children."),
        ("Recommends rest.", "Does not recommend rest for children."),
    ],
)
def test_what_differs_in_a_number_a_sign_or_a_word_is_not_the_same(
    tmp_path: Path, first: str, second: str
) -> None:
    assert lint_criteria(tmp_path, (1, first), (1, second)) == []


def test_equal_words_in_two_groups_are_the_same_to_a_rater(tmp_path: Path) -> None:
    group = "{{group: {}, points: 1, criteria: [{{id: {}, points: 1, says: Code runs.}}]}}"
    criteria = f"[{group.format('a', 'c1')}, {group.format('b', 'c2')}]"
    path = tmp_path / "exam.yaml"
    path.write_text(f"exam: e\nitems:\n  - {{id: a, prompt: x, criteria: {criteria}}}\n")
    messages = [found.message for found in lint(path).findings]
    assert messages == ["`c2` says the same as `c1` in another group; a rater does not see groups"]


def test_a_group_with_negative_points_turns_the_sign_of_its_criteria(tmp_path: Path) -> None:
    path = tmp_path / "exam.yaml"
    inner = "[{id: c1, points: 1, says: Invents a source.}]"
    criteria = f"[{{group: a, points: -1, criteria: {inner}}}, {{id: c2, points: 1, says: Cites.}}]"
    path.write_text(f"exam: e\nitems:\n  - {{id: a, prompt: x, criteria: {criteria}}}\n")
    assert lint(path).findings == ()


@pytest.mark.skipif(not PAPERBENCH.is_dir(), reason="the published trees are not here")
@pytest.mark.parametrize(
    ("tree", "same"),
    [
        # Criteria of two branches that are equal word for word.
        ("semantic-self-consistency", {"c30", "c31", "c37", "c38"}),
        ("stay-on-topic-with-classifier-free-guidance", {"c42", "c49", "c56"}),
    ],
)
def test_published_trees_have_no_finding_but_sentences_that_are_equal(
    tmp_path: Path, tree: str, same: set[str]
) -> None:
    done = here("import", "paperbench", PAPERBENCH / f"{tree}.json", "-o", tmp_path / "out")
    assert done.code == 0
    report = lint(tmp_path / "out" / "rubric.yaml", tmp_path / "out" / "exam.yaml")
    assert {found.code for found in report.findings} == {"J015", "R018"}
    told = {f.message.split("`")[1] for f in report.findings if f.code == "J015"}
    assert told == same


def test_a_judge_in_order_has_no_finding(tmp_path: Path) -> None:
    load_documents(tmp_path)
    beside = tmp_path / "rubric.yaml", tmp_path / "exam.yaml"
    example = {"answer": "5 mg", "question": "Names the dose.", "verdict": True}
    instructions = "Answers are JSON; rate what stands in them on the scales that are asked."
    found = lint_judge(
        tmp_path, *beside, max_tokens=500, examples=[example], instructions=instructions
    )
    assert found <= {"R018"}


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ({"subject": "gpt-5"}, "J003"),
        ({"subject": "openai:"}, "J003"),
        ({"subject": "small=replay:nowhere.jsonl"}, "J003"),
        ({"max_tokens": 20}, "J007"),
        ({"instructions": "Respond with one word only."}, "J008"),
        ({"instructions": 'Return a JSON object with the key "score".'}, "J008"),
        ({"instructions": "Compare it with the gold standard."}, "J009"),
        ({"sees": ["answer", "reference"]}, "J009"),
        ({"examples": [{"answer": "a", "question": "q", "verdict": "yes"}]}, "J010"),
        ({"examples": [{"answer": "a", "question": "q", "verdict": 7}]}, "J010"),
        ({"temperature": 0, "repeats": 3}, "J006"),
    ],
)
def test_a_mistake_in_a_judge_is_found(tmp_path: Path, keys: dict[str, object], code: str) -> None:
    load_documents(tmp_path)
    found = lint_judge(tmp_path, tmp_path / "rubric.yaml", tmp_path / "exam.yaml", **keys)
    assert found - {"R018"} == {code}


def test_what_must_be_known_first_is_not_guessed(tmp_path: Path) -> None:
    # Without the rubric, "yes" may be an option; without the exam, 20 tokens may be enough.
    example = {"answer": "a", "question": "q", "verdict": "yes"}
    assert lint_judge(tmp_path, examples=[example], max_tokens=20) == set()


def test_a_judge_of_the_maker_of_a_subject_is_found_from_the_command_line(tmp_path: Path) -> None:
    make_judge(tmp_path, subject="openai:gpt-5-mini")
    done = here("lint", tmp_path / "strict.yaml", "--subject", "mini=openai:gpt-4o-mini")
    assert (done.code, "J004" in done.out) == (0, True)
    assert "`strict` and mini=openai:gpt-4o-mini are models of one maker, OpenAI" in done.out
    assert (
        here("lint", tmp_path / "strict.yaml", "--subject", "llm:claude-haiku").out.count("J0") == 0
    )


def test_mistakes_in_the_files_of_a_panel_are_findings_of_the_panel(tmp_path: Path) -> None:
    (tmp_path / "first.yaml").write_text("judge: first\nsubjct: openai:m\n")
    (tmp_path / "panel.yaml").write_text("panel: p\njudges: [first.yaml, second.yaml]\n")
    found = lint(tmp_path / "panel.yaml").findings
    assert {(entry.file, entry.code) for entry in found} == {(str(tmp_path / "panel.yaml"), "J002")}
    told = "\n".join(entry.message for entry in found)
    assert "first.yaml" in told
    assert "second.yaml" in told


def test_the_built_in_judge_has_no_finding() -> None:
    path = Path(__file__).parents[1] / "src/markscheme/builtin/judges/context-agent.yaml"
    assert lint(path, rubric="context-agent", exams=["context-queries"]).findings == ()


def test_anchors_and_options_are_held_to_what_a_judge_sees(tmp_path: Path) -> None:
    rubric = RUBRIC.replace("2: plain", "2: Muddled!").replace(
        "{kind: 1, rude: 0}", '{"1": 1, b: 0}'
    )
    path = tmp_path / "rubric.yaml"
    path.write_text(rubric)
    messages = [found.message for found in lint(path).findings if found.code[0] == "J"]
    assert messages == [
        "`tone` has `1`, `b`, and its question does not say what that means",
        "1 and 2 of `clear` are anchored alike",
    ]
