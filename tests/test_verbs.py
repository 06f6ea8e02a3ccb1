"""The verb table, the exams that are built from it, and the tutor that answers from it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import unicodedata
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from markscheme.ask.subjects import FLAWED, Tutor, TutorFault
from markscheme.read.verbs import Person, Tense, VerbTable, load_verbs

ROOT = Path(__file__).resolve().parents[1]
BUILTIN = ROOT / "src" / "markscheme" / "builtin"
SCRIPT = ROOT / "scripts" / "build_exams.py"
NAMES = ("capstone", "capstone-extra", "regression", "practice")
KEYS = {"correction", "spanish_gloss", "explanation"}
Item = dict[str, Any]


def read_exam(name: str) -> list[Item]:
    exam = YAML(typ="safe").load(BUILTIN / "exams" / f"{name}.yaml")
    assert exam["exam"] == name
    items: list[Item] = exam["items"]
    return items


def load_generator() -> Any:
    spec = importlib.util.spec_from_file_location("build_exams", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def normalise(text: str) -> str:
    return text.strip().lower().removesuffix(".")


def list_forms(entry: Any) -> list[str]:
    """The forms of which one is enough."""
    return [entry] if isinstance(entry, str) else list(entry)


def holds_every_entry(text: str, entries: list[Any]) -> bool:
    return all(any(form in normalise(text) for form in list_forms(entry)) for entry in entries)


def score(item: Item, output: str) -> Fraction:
    """The four axes of the seed, in whole hundredths."""
    answer = json.loads(output)
    correct = holds_every_entry(answer["correction"], item["expected_contains"])
    gloss = holds_every_entry(answer["spanish_gloss"], item["gloss_contains"])
    schema = set(answer) == KEYS and all(isinstance(text, str) for text in answer.values())
    concise = len(answer["explanation"].split()) <= 30
    return Fraction(60 * correct + 25 * gloss + 10 * schema + 5 * concise, 100)


def mean_score(tutor: Tutor, *names: str) -> Fraction:
    items = [item for name in names for item in read_exam(name)]
    return sum((score(item, tutor.answer(item["prompt"])) for item in items), Fraction()) / len(
        items
    )


@pytest.fixture(scope="module")
def table() -> VerbTable:
    return load_verbs()


@pytest.fixture(scope="module")
def exams() -> dict[str, list[Item]]:
    return {name: read_exam(name) for name in NAMES}


def test_the_table_has_at_least_64_verbs_with_a_form_for_every_tense_and_person(
    table: VerbTable,
) -> None:
    forms = {(verb, tense, person) for verb in table.verbs for tense in Tense for person in Person}
    assert len(table.verbs) >= 64
    assert set(table.glosses) == forms
    assert all(table.glosses.values())


def test_the_table_has_the_verbs_that_the_issue_names(table: VerbTable) -> None:
    named = "be have do go eat write see come make take know think give find say get speak live"
    assert {*named.split(), "work", "study"} <= set(table.verbs)


@pytest.mark.parametrize(
    "name", ["verbs.csv", "glosses.csv", "overrides.csv", "variants.csv", "imperfects.csv"]
)
def test_every_table_file_is_unicode_nfc_with_plain_line_ends(name: str) -> None:
    text = (BUILTIN / name).read_bytes().decode("utf-8")
    assert unicodedata.is_normalized("NFC", text)
    assert "\r" not in text
    assert all(cell == cell.strip() for line in text.splitlines() for cell in line.split(","))


@pytest.mark.parametrize(
    ("verb", "tense", "person", "english", "spanish"),
    [
        ("eat", "present-simple", "3sg", "eats", "come"),
        ("eat", "past-simple", "3sg", "ate", "comió"),
        ("eat", "future-simple", "3sg", "will eat", "comerá"),
        ("eat", "present-perfect", "3sg", "has eaten", "ha comido"),
        ("eat", "present-continuous", "3sg", "is eating", "está comiendo"),
        ("be", "present-simple", "1sg", "am", "soy"),
        ("be", "present-simple", "3sg", "is", "es"),
        ("be", "present-simple", "1pl", "are", "somos"),
        ("be", "past-simple", "1sg", "was", "fui"),
        ("be", "past-simple", "3pl", "were", "fueron"),
        ("have", "present-perfect", "2sg", "have had", "has tenido"),
        ("go", "present-continuous", "1sg", "am going", "estoy yendo"),
    ],
)
def test_forms_are_composed_by_tense_and_person(
    table: VerbTable, verb: str, tense: str, person: str, english: str, spanish: str
) -> None:
    assert table.get_english_form(verb, tense, person) == english
    assert table.get_spanish_form(verb, tense, person) == spanish


def test_a_form_outside_the_table_is_refused(table: VerbTable) -> None:
    with pytest.raises(KeyError, match="frobnicate"):
        table.get_english_form("frobnicate", "past-simple", "3sg")
    with pytest.raises(ValueError, match="2pl"):
        table.get_spanish_form("eat", "past-simple", "2pl")


def test_importing_the_table_reads_nothing() -> None:
    code = "import markscheme.read.verbs as v; print(v.load_verbs.cache_info().currsize)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "0"


def test_the_exam_files_are_what_the_generator_writes() -> None:
    command = [sys.executable, str(SCRIPT), "--check"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_generator_finds_an_edited_exam(tmp_path: Path, capsys: Any) -> None:
    generator = load_generator()
    assert generator.main(["--exams", str(tmp_path)]) == 0
    edited = tmp_path / "capstone.yaml"
    edited.write_bytes(edited.read_bytes().replace(b"[ate]", b"[eaten]"))
    assert generator.main(["--exams", str(tmp_path), "--check"]) == 1
    assert "-    expected_contains: [eaten]" in capsys.readouterr().out


def test_the_documented_counts_are_those_of_the_generator(table: VerbTable) -> None:
    documented = (ROOT / "docs" / "verb-table.md").read_text(encoding="utf-8")
    assert f"```text\n{load_generator().format_counts(table)}\n```" in documented


def test_the_first_item_is_the_example_of_the_seed(exams: dict[str, list[Item]]) -> None:
    assert exams["capstone"][0] == {
        "id": "e-39-01",
        "prompt": "Conjugate 'eat' — past simple, 3rd singular.",
        "expected_contains": ["ate"],
        "gloss_contains": ["comió"],
        "tags": {"verb": "eat", "tense": "past-simple", "person": "3sg"},
    }


def test_the_exams_have_their_sizes_and_stable_ids(exams: dict[str, list[Item]]) -> None:
    assert len(exams["capstone"]) >= 60
    assert len(exams["capstone-extra"]) >= 20
    assert len(exams["regression"]) >= 240
    assert len(exams["practice"]) >= 300
    assert exams["practice"][0]["id"] == "p-41-001"
    assert exams["capstone-extra"][0]["id"] == "x-39-01"
    assert exams["regression"][0]["id"] == "r-38-001"


def test_the_exams_can_merge(exams: dict[str, list[Item]]) -> None:
    items = [item for name in NAMES for item in exams[name]]
    assert len({item["id"] for item in items}) == len(items)
    assert len({tuple(item["tags"].values()) for item in items}) == len(items)


def test_no_practice_item_asks_for_a_form_that_a_gate_asks_for(
    exams: dict[str, list[Item]],
) -> None:
    asked = {tuple(item["tags"].values()) for name in NAMES[:3] for item in exams[name]}
    assert asked.isdisjoint(tuple(item["tags"].values()) for item in exams["practice"])


def test_every_item_expects_what_the_table_says(
    table: VerbTable, exams: dict[str, list[Item]]
) -> None:
    for item in (item for name in NAMES for item in exams[name]):
        form = tuple(item["tags"].values())
        (english,), (spanish,) = item["expected_contains"], item["gloss_contains"]
        assert list_forms(english) == list(table.list_english_forms(*form))
        assert list_forms(spanish) == list(table.list_spanish_forms(*form))
        assert list_forms(english)[0] == table.get_english_form(*form)
        assert list_forms(spanish)[0] == table.get_spanish_form(*form)


@pytest.mark.parametrize(
    ("form", "english", "spanish"),
    [
        ("eat past-simple 3sg", "ate", "comió"),
        ("be past-simple 2sg", "were", "fuiste eras"),
        ("live past-simple 1pl", "lived", "vivimos vivíamos"),
        ("live present-simple 3sg", "lives", "vive"),
        ("learn past-simple 1sg", "learned learnt", "aprendí"),
        ("travel present-continuous 3pl", "are travelling,are traveling,'re travelling,", None),
        ("get present-perfect 3sg", "has got,has gotten,'s got,’s got,'s gotten,", None),
        ("be future-simple 1sg", "will be,'ll be,’ll be,shall be", "seré"),
        ("be future-simple 3sg", "will be,'ll be,’ll be", "será"),
        ("go present-continuous 1sg", "am going,'m going,’m going", None),
    ],
)
def test_spellings_contractions_and_imperfects_of_states_are_right_too(
    table: VerbTable, form: str, english: str, spanish: str | None
) -> None:
    verb, tense, person = form.split()
    forms = table.list_english_forms(verb, tense, person)
    if "," in english:
        assert ",".join(forms).startswith(english)
    else:
        assert forms == tuple(english.split())
    if spanish is not None:
        assert table.list_spanish_forms(verb, tense, person) == tuple(spanish.split())


@pytest.mark.parametrize(
    ("item", "correction", "gloss"),
    [
        ("e-39-21", "You were.", "Eras."),
        ("e-39-51", "I knew it", "sabía"),
        ("e-39-02", "I'll be.", "seré"),
        ("e-39-02", "I’ll be.", "seré"),
        ("r-38-079", "she wore", "llevaba"),
        ("r-38-132", "we needed", "necesitábamos"),
        ("r-38-178", "we lived", "vivíamos"),
        ("r-38-237", "you wanted", "querías"),
    ],
)
def test_an_answer_that_is_right_in_another_way_gets_full_marks(
    item: str, correction: str, gloss: str
) -> None:
    items = {found["id"]: found for name in NAMES for found in read_exam(name)}
    answer = {"correction": correction, "spanish_gloss": gloss, "explanation": "So it is."}
    assert score(items[item], json.dumps(answer)) == 1


def test_an_echo_of_the_prompt_passes_only_for_the_example_of_the_seed(
    exams: dict[str, list[Item]],
) -> None:
    echoed = [
        (item["id"], text)
        for name in NAMES
        for item in exams[name]
        for entry in (*item["expected_contains"], *item["gloss_contains"])
        for text in list_forms(entry)
        if normalise(text) in normalise(item["prompt"])
    ]
    assert echoed == [("e-39-01", "ate")]  # "Conjugate" ends in it, and the example is given


def test_only_the_example_of_the_seed_is_part_of_another_form_in_the_capstone(
    table: VerbTable, exams: dict[str, list[Item]]
) -> None:
    generator = load_generator()
    items = exams["capstone"] + exams["capstone-extra"]
    forms = [
        (item["tags"]["verb"], Tense(item["tags"]["tense"]), item["tags"]["person"])
        for item in items
    ]
    assert [form for form in forms if generator.find_longer_forms(table, form)] == [forms[0]]


@pytest.mark.parametrize("name", NAMES)
def test_the_items_are_balanced(name: str, exams: dict[str, list[Item]]) -> None:
    tags = [item["tags"] for item in exams[name]]
    verbs = Counter(tag["verb"] for tag in tags)
    tenses = Counter(tag["tense"] for tag in tags if tag["tense"] != "present-simple")
    persons = Counter(tag["person"] for tag in tags if tag["tense"] != "present-simple")
    assert len(set(verbs.values())) == 1
    assert len(tenses) == len(Tense) - 1
    assert min(tenses.values()) >= Fraction(2, 3) * max(tenses.values())
    assert min(persons.values()) >= Fraction(3, 5) * max(persons.values())


def test_a_prompt_names_the_sense_only_where_the_verb_is_ambiguous(
    table: VerbTable, exams: dict[str, list[Item]]
) -> None:
    for item in (item for name in NAMES for item in exams[name]):
        verb = table.verbs[item["tags"]["verb"]]
        assert (f" ({verb.spanish}) " in item["prompt"]) is verb.ambiguous


def test_no_item_asks_for_the_continuous_of_a_state(
    table: VerbTable, exams: dict[str, list[Item]]
) -> None:
    asked = {
        item["tags"]["verb"]
        for name in NAMES
        for item in exams[name]
        if item["tags"]["tense"] == "present-continuous"
    }
    assert asked.isdisjoint(verb.base for verb in table.verbs.values() if verb.stative)


def test_the_healthy_tutor_answers_every_item_in_full() -> None:
    assert mean_score(Tutor(), *NAMES) == 1


def test_the_flawed_tutor_misses_the_hard_gate() -> None:
    assert mean_score(Tutor(faults=FLAWED), "capstone", "capstone-extra") < Fraction(92, 100)
    assert mean_score(Tutor(faults=FLAWED), "capstone") < Fraction(92, 100)


@pytest.mark.parametrize("fault", TutorFault)
def test_each_fault_but_upper_case_costs_points(fault: TutorFault) -> None:
    free = fault is TutorFault.UPPER_CASE
    assert (mean_score(Tutor(faults=frozenset({fault})), "capstone") == 1) is free


def test_the_verb_learnt_wrong_is_wrong_in_every_item_of_the_capstone() -> None:
    tutor = Tutor(faults=frozenset({TutorFault.ONE_VERB_LEARNT_WRONG}))
    items = [item for item in read_exam("capstone") if item["tags"]["verb"] == "go"]
    assert [score(item, tutor.answer(item["prompt"])) for item in items] == [Fraction(2, 5)] * 3


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "What is the capital of Peru?",
        "Conjugate 'frobnicate' — past simple, 3rd singular.",
        "Conjugate 'eat' — past simple, 2nd plural.",
        "Conjugate 'eat' — pluperfect tense, 3rd singular.",
        "Conjugate 'be' (estar) — past simple, 3rd singular.",
    ],
)
def test_the_tutor_says_so_when_it_does_not_know(prompt: str) -> None:
    answer = json.loads(Tutor().answer(prompt))
    assert set(answer) == KEYS
    assert answer["correction"] == "I do not know."


def test_explanations_vary_with_the_grammar() -> None:
    prompts = [item["prompt"] for item in read_exam("capstone")]
    assert len({json.loads(Tutor().answer(prompt))["explanation"] for prompt in prompts}) > 40
