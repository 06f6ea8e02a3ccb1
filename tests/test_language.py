"""Two languages: the catalogue is whole, English is as it was, foreign text is never touched."""

from __future__ import annotations

import gettext
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from commands import here, markscheme
from markscheme import load_exam, load_rubric, score
from markscheme.tell.language import (
    CATALOGUES,
    set_language,
    translate,
    translate_plural,
    translate_stored,
)
from markscheme.vocabulary import sentence
from markscheme.workflows.demo import generate_tutor_answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sittings import Sitting

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "golden" / "spanish"


@pytest.fixture
def spanish() -> Iterator[None]:
    set_language("es")
    yield
    set_language("en")


def test_the_catalogue_is_complete_translated_and_compiled() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "build_catalogues.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert done.returncode == 0


@pytest.mark.usefixtures("spanish")
@pytest.mark.parametrize(
    ("english", "wanted"),
    [
        ('"ate" is missing from "I eat, or so."', 'falta "ate" en "I eat, or so."'),
        (
            'found "ate" at character 4, "no answer" at character 9',
            'encontrado "ate" en el carácter 4, "no answer" en el carácter 9',
        ),
        (
            (
                '"comio" lacks the accent of "comió"; it would pass if accents were ignored '
                "(the field `gloss` is missing, so the whole text was read)"
            ),
            (
                'a "comio" le falta la tilde de "comió"; pasaría si se ignoraran las tildes '
                "(falta el campo `gloss`, así que se leyó el texto entero)"
            ),
        ),
        (
            "31 words, at most 30 allowed: 1 too many",
            "31 palabras, se permiten como máximo 30: sobran 1",
        ),
        (
            "score 0.91 is below 0.92, by 0.01; mending e-1, e-2 and 1,234 more would meet it",
            (
                "puntuación 0.91 está por debajo de 0.92, por 0.01; se cumpliría arreglando "
                "e-1, e-2 y 1,234 más"
            ),
        ),
        (
            (
                "score 0.91 is down 0.09 from 1.00, below 0.98 (a drop of 2%); 16 items went from "
                "pass to fail"
            ),
            (
                "la puntuación 0.91 (0.09 menos respecto de 1.00) está por debajo de 0.98 (una "
                "bajada de 2%); 16 ítems pasaron de aprobado a suspenso"
            ),
        ),
        (
            (
                "the run is incomplete (3 missing, 1 unscored); it can be judged when every item "
                "is scored"
            ),
            (
                "la ejecución está incompleta (3 sin respuesta, 1 sin puntuar); se podrá juzgar "
                "cuando todos los ítems estén puntuados"
            ),
        ),
        ("not met: capstone, baseline", "sin cumplir: capstone, baseline"),
        (
            "score of tense: past-simple 0.5 is at least 0.5, exactly",
            "puntuación de tense: past-simple 0.5 supera o iguala 0.5, exactamente",
        ),
        ('"a" is not "x" or "y or z"', '"a" no es "x" o "y or z"'),
    ],
)
def test_stored_sentences_are_told_with_what_is_inside_them(english: str, wanted: str) -> None:
    assert translate_stored(english) == wanted


@pytest.mark.usefixtures("spanish")
@pytest.mark.parametrize(
    "foreign", ["", "no template", '"no answer"', "x: y", "(a: b) is not of type c", "\U000f0000"]
)
def test_what_is_not_ours_stays_as_it_is(foreign: str) -> None:
    assert translate_stored(foreign) == foreign


def messages() -> list[str]:
    """Return everything that is translated, which a subject may say as well."""
    catalogue = gettext.translation("markscheme", CATALOGUES, ["es"])
    return sorted(text for text in vars(catalogue)["_catalog"] if isinstance(text, str) and text)


FRAMES = (
    (
        "i, attempt 1: no answer, failed: {} (tries: 2)",
        "i, intento 1: sin respuesta, failed: {} (tentativas: 2)",
    ),
    ("cmd:a b rejected the first 5 questions: {}", "cmd:a b rechazó las primeras 5 preguntas: {}"),
    (
        "m rejected the first 5 questions: {}; --no-structured leaves it out",
        "m rechazó las primeras 5 preguntas: {}; --no-structured lo deja fuera",
    ),
    (
        "m said 20 times in a row that it is busy: {}",
        "m dijo 20 veces seguidas que está ocupado: {}",
    ),
    ("the axis failed: {}", "el eje falló: {}"),
)


@given(
    frame=st.sampled_from(FRAMES),
    words=st.lists(
        st.sampled_from(messages()) | st.text(st.characters(codec="utf-8", max_codepoint=0xFFFF))
    ),
)
@example(frame=FRAMES[0], words=["ValueError: failed"])
@example(frame=FRAMES[0], words=['missing, "a" is missing from "'])
@example(frame=FRAMES[1], words=["no answer, busy: x (tries: 1)"])
def test_what_a_subject_said_is_never_retold(frame: tuple[str, str], words: list[str]) -> None:
    english, spanish = frame
    said = " ".join(words)[:2000]
    assume(not said.endswith("; --no-structured leaves it out"))  # who says that is not told apart
    set_language("es")
    try:
        assert translate_stored(english.format(said)) == spanish.format(said)
    finally:
        set_language("en")


@pytest.mark.usefixtures("spanish")
def test_a_sentence_keeps_its_values_whatever_they_are() -> None:
    for value in ('"a, b; c"', '"{n} {}"', '"found x at character 1"'):
        made = sentence("{entries} is missing from {got}", entries=value, got='"x"')
        assert translate_stored(made) == f'falta {value} en "x"'


def test_english_is_said_as_it_is_written() -> None:
    assert translate("score {score}", score=1) == "score 1"
    assert translate_plural("{n} call", "{n} calls", 1) == "1 call"
    assert translate_stored("it is empty") == "it is empty"


@pytest.mark.usefixtures("spanish")
def test_one_and_many_are_told_apart() -> None:
    assert [translate_plural("{n} call", "{n} calls", n) for n in (1, 2)] == [
        "1 llamada",
        "2 llamadas",
    ]


def test_an_audit_in_spanish_has_no_english_sentence() -> None:
    page = here("audit", "tutor-capstone", "-e", "capstone", "--lang", "es").out
    assert "Mutantes" in page
    names = re.sub(r"caso de referencia .*", "", page)
    assert not re.findall(r" (?:and|the|is|of|not) ", names)


@pytest.mark.usefixtures("spanish")
def test_every_reason_of_the_flawed_tutor_is_told_in_spanish() -> None:
    rubric = load_rubric("tutor-capstone")
    exam = load_exam("capstone", "capstone-extra", rubric=rubric)
    frame = score(rubric, exam, generate_tutor_answers(exam, flawed=True)).frame
    reasons = {text for row in frame["reason"].to_list() for text in row.values()}
    assert len(reasons) > 50
    assert not [reason for reason in reasons if translate_stored(reason) == reason]


COMMANDS = {
    "demo": ("demo", "--flawed", "--no-store", "--no-report"),
    "show": ("show", "release", "--patterns"),
    "gate": ("gate", "latest"),
}


def printed(store: Path, *words: str) -> str:
    out = here(*words, "--lang", "es", MARKSCHEME_STORE=str(store)).out
    out = re.sub(r"\b[0-9a-f]{12}\b", "ID", out)
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "WHEN", out)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with a good run as the baseline, and a flawed one after it."""
    place = tmp_path_factory.mktemp("spanish") / "store.db"
    env = {"MARKSCHEME_STORE": str(place)}
    here("demo", "--no-report", **env)
    here("baseline", "set", "latest", **env)
    here("demo", "--flawed", "--no-report", **env)
    return place


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_printed_in_spanish_is_what_was_looked_at(name: str, store: Path) -> None:
    words = [word.replace("release", "latest") for word in COMMANDS[name]]
    golden = GOLDEN / f"{name}.txt"
    text = printed(store, *words)
    if os.environ.get("MARKSCHEME_WRITE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_the_language_comes_from_the_locale_and_the_option_wins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def first(*words: str, **env: str) -> str:
        for name, value in {"LC_ALL": "", "LC_MESSAGES": "", "LANG": "", **env}.items():
            monkeypatch.setenv(name, value)
        return markscheme("demo", "--no-store", "--no-report", *words).out.split()[0]

    assert first(LANG="es_ES.UTF-8") == "ítem"
    assert first(LANG="es_ES.UTF-8", LC_ALL="C.UTF-8") == "item"
    assert first("--lang", "en", LANG="es_ES.UTF-8") == "item"
    assert first(LANG="fr_FR.UTF-8") == "item"


def test_json_and_files_are_english_in_every_language(store: Path, tmp_path: Path) -> None:
    env = {"MARKSCHEME_STORE": str(store)}
    for words in (("gate", "latest"), ("show", "latest", "--patterns")):
        both = [
            here(*words, "--format", "json", "--lang", lang, **env).out for lang in ("en", "es")
        ]
        assert both[0] == both[1]
    files = [tmp_path / f"{lang}.jsonl" for lang in ("en", "es")]
    for file in files:
        here("show", "latest", "-o", file, "--lang", file.stem, **env)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert json.loads(files[0].read_text().splitlines()[0])["reason"]


def test_markdown_junit_and_annotations_speak_the_language(store: Path, tmp_path: Path) -> None:
    markdown, junit = tmp_path / "c.md", tmp_path / "j.xml"
    out = here(
        "gate",
        "latest",
        *("--lang", "es", "--markdown", markdown, "--junit", junit),
        MARKSCHEME_STORE=str(store),
        GITHUB_ACTIONS="true",
    ).out
    assert "NO APTO (sin cumplir: capstone, baseline)" in markdown.read_text(encoding="utf-8")
    xml = junit.read_text(encoding="utf-8")
    assert 'type="fail"' in xml
    assert "el texto está vacío; se espera" in xml
    assert "::error title=markscheme%3A veredicto::NO APTO" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--max-time", "0.4"), "detenido: se acabó el tiempo de --max-time (0.4 s)"),
        (
            ("--price", "100000:100000", "--max-cost", "1.5"),
            "detenido: se gastó lo que permite --max-cost (1.5); permite más para seguir",
        ),
        (
            ("--max-cost", "1.5"),
            "detenido: --max-cost no se puede respetar: el sujeto no dice su coste; mira --price",
        ),
    ],
)
def test_a_live_run_tells_in_spanish_why_it_stopped(
    sitting: Sitting, words: tuple[str, ...], told: str
) -> None:
    sitting.server.delay = 0.25
    sitting.asks("fine 1", "fine 2", "fine 3")
    done = sitting.run(*words, "--concurrency", "1", "--lang", "es", COLUMNS="200")
    assert told in done.out.splitlines()
    shown = here("show", "latest", "--lang", "es", "--store", sitting.store, COLUMNS="200").out
    assert told in shown.splitlines()


def test_errors_of_a_subject_are_in_its_own_words_on_every_page(sitting: Sitting) -> None:
    says = "print('failed: score of the run is missing', file=__import__('sys').stderr); exit(3)"
    subject = f"cmd:{shlex.join([sys.executable, '-c', says])}"
    done = sitting.asks("x").run("--lang", "es", subject=subject)
    where = ("latest", "--lang", "es", "--store", sitting.store)
    report = sitting.folder / "report.md"
    here("report", *where, "-o", report)
    told = "sin respuesta, failed: the command ended with 3: failed: score of the run is missing ("
    for page in (done.out, here("show", *where).out, report.read_text(encoding="utf-8")):
        assert told in " ".join(page.replace("\\", "").split())
    assert "errores: failed 1" in done.out
