"""Two languages: the catalogue is whole, English is as it was, foreign text is never touched."""

from __future__ import annotations

import gettext
import gzip
import json
import os
import pickle
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commands import here, markscheme
from markscheme import load_exam, load_rubric
from markscheme.tell.language import (
    CATALOGUES,
    set_language,
    translate,
    translate_plural,
    translate_stored,
)
from markscheme.vocabulary import (
    encode_message,
    join_messages,
    restore_message,
    restore_row_messages,
    sentence,
)
from markscheme.workflows.demo import examine_tutor
from markscheme.workflows.stored_runs import fill_messages, thin_messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


MISSING = sentence("{entries} is missing from {got}", entries='"ate"', got='"I eat, or so."')
NEAR = sentence(
    "{reason}; it would pass if {condition}",
    reason=sentence("{part} lacks the accent of {entry}", part='"comio"', entry='"comió"'),
    condition=sentence("accents were ignored"),
)
BELOW = sentence("{what} {seen} is below {limit}, {by}").format(
    what=sentence("score"), seen="0.91", limit="0.92", by=sentence("by {margin}", margin="0.01")
)


@pytest.mark.usefixtures("spanish")
@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (MISSING, 'falta "ate" en "I eat, or so."'),
        (
            sentence(
                "found {places}",
                places=join_messages(
                    ", ",
                    (
                        sentence("{entry} at character {place}", entry='"ate"', place=4),
                        sentence("{entry} at character {place}", entry='"no answer"', place=9),
                    ),
                ),
            ),
            'encontrado "ate" en el carácter 4, "no answer" en el carácter 9',
        ),
        (
            sentence(
                "{reason} (the field `{field}` is missing, so the whole text was read)",
                reason=NEAR,
                field="gloss",
            ),
            (
                'a "comio" le falta la tilde de "comió"; pasaría si se ignoraran las tildes '
                "(falta el campo `gloss`, así que se leyó el texto entero)"
            ),
        ),
        (
            sentence(
                "{because}; mending {items} and {n:,} more would meet it",
                because=BELOW,
                items="e-1, e-2",
                n=1234,
            ),
            (
                "puntuación 0.91 está por debajo de 0.92, por 0.01; se cumpliría arreglando "
                "e-1, e-2 y 1,234 más"
            ),
        ),
    ],
)
def test_stored_sentences_are_told_with_what_is_inside_them(made: str, wanted: str) -> None:
    assert translate_stored(made) == wanted
    stored = restore_message(str(made), encode_message(made))
    assert translate_stored(stored) == wanted
    sent = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own
    assert translate_stored(sent) == wanted
    assert [stored, sent] == [made, made]


@pytest.mark.usefixtures("spanish")
@pytest.mark.parametrize(
    "foreign",
    [
        "",
        "no template",
        '"no answer"',
        "it is empty",
        '"ate" is missing from "I eat, or so."',
        "the run is incomplete",
    ],
)
def test_what_is_not_ours_stays_as_it_is(foreign: str) -> None:
    assert translate_stored(foreign) == foreign
    assert encode_message(foreign) is None


@pytest.mark.usefixtures("spanish")
@pytest.mark.parametrize(
    "damaged", ["", "[]", "null", '["{a}"]', '["{a.b}", {"a": "x"}]', '["it is not so"]', "[1]"]
)
def test_parts_that_do_not_make_the_text_are_not_used(damaged: str) -> None:
    text = restore_message("it is empty", damaged)
    assert text == translate_stored(text) == "it is empty"


def test_a_message_is_its_text_wherever_it_is_written() -> None:
    text = 'falta "ate"'.replace("falta", "no")
    made = sentence("no {entry}", entry='"ate"')
    assert made == text
    assert hash(made) == hash(text)
    assert json.dumps([made]) == json.dumps([text])
    assert orjson.dumps([made]) == orjson.dumps([text])
    assert pl.Series([made]).to_list() == [text]


def messages() -> list[str]:
    """Return everything that is translated, which a subject may say as well."""
    catalogue = gettext.translation("markscheme", CATALOGUES, ["es"])
    return sorted(text for text in vars(catalogue)["_catalog"] if isinstance(text, str) and text)


def describe_fault(words: str) -> str:
    return sentence(
        "{item}, attempt {attempt}: {why}",
        item="i",
        attempt=1,
        why=sentence(
            "no answer, {status}: {words} (tries: {tries})", status="failed", words=words, tries=2
        ),
    )


FRAMES: tuple[tuple[Callable[[str], str], str], ...] = (
    (describe_fault, "i, intento 1: sin respuesta, failed: {} (tentativas: 2)"),
    (
        lambda words: sentence(
            "{subject} rejected the first {n} questions: {words}",
            subject="cmd:a b",
            n=5,
            words=words,
        ),
        "cmd:a b rechazó las primeras 5 preguntas: {}",
    ),
    (
        lambda words: sentence(
            "{subject} rejected the first {n} questions: {words}; --no-structured leaves it out",
            subject="m",
            n=5,
            words=words,
        ),
        "m rechazó las primeras 5 preguntas: {}; --no-structured lo deja fuera",
    ),
    (lambda words: sentence("the axis failed: {words}", words=words), "el eje falló: {}"),
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
@example(frame=FRAMES[2], words=["; --no-structured leaves it out"])
def test_what_a_subject_said_is_never_retold(
    frame: tuple[Callable[[str], str], str], words: list[str]
) -> None:
    make, spanish = frame
    said = " ".join(words)[:2000]
    made = make(said)
    set_language("es")
    try:
        for message in (made, restore_message(str(made), encode_message(made))):
            assert translate_stored(message) == spanish.replace("{}", said)
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
    assert translate_stored(sentence("it is empty")) == "it is empty"


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
    frame = examine_tutor(rubric, exam, flawed=True, messages=True)[0].frame
    rows = restore_row_messages(frame.iter_rows(named=True))
    reasons = {text for row in rows for text in row["reason"].values()}
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

    assert first(LANG="es_ES.UTF-8") == "veredicto:"
    assert first(LANG="es_ES.UTF-8", LC_ALL="C.UTF-8") == "verdict:"
    assert first("--lang", "en", LANG="es_ES.UTF-8") == "verdict:"
    assert first(LANG="fr_FR.UTF-8") == "verdict:"


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


def test_a_result_file_has_no_messages_so_its_reasons_stay_english(
    store: Path, tmp_path: Path
) -> None:
    env = {"MARKSCHEME_STORE": str(store)}
    file = tmp_path / "result.json"
    here("show", "latest", "-o", file, **env)
    assert "message" not in json.loads(file.read_text(encoding="utf-8"))["items"][0]
    shown = here("show", file, "--lang", "es", **env).out
    assert "the text is empty; " in shown
    assert "el texto está vacío; " not in shown


def test_reasons_of_an_axis_that_only_look_like_ours_are_not_translated() -> None:
    ours, theirs = sentence("it is empty"), "it is empty"
    rows = [
        {"reason": {"a": text}, "message": {"a": encode_message(text)}} for text in (ours, theirs)
    ]
    set_language("es")
    try:
        told = [translate_stored(row["reason"]["a"]) for row in restore_row_messages(rows)]
    finally:
        set_language("en")
    assert told == ["está vacía", "it is empty"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1))
def test_each_message_is_stored_once_and_found_by_every_row(cells: list[tuple[str, str]]) -> None:
    names = ("first", "second")
    frame = pl.DataFrame(
        {
            "reason": [dict(zip(names, row, strict=True)) for row in cells],
            "message": [
                {
                    name: encode_message(sentence(text))
                    for name, text in zip(names, row, strict=True)
                }
                for row in cells
            ],
        }
    )
    thin = thin_messages(frame)
    for at, name in enumerate(names):
        kept = thin["message"].struct.field(name).drop_nulls()
        assert len(kept) == len({row[at] for row in cells})
    assert fill_messages(thin).equals(frame)


def test_reasons_that_an_earlier_version_stored_stay_english(tmp_path: Path) -> None:
    store = tmp_path / "markscheme.db"
    kept = ROOT / "tests" / "golden" / "store-0.1.0" / "markscheme.db.gz"
    store.write_bytes(gzip.decompress(kept.read_bytes()))
    shown = here("show", "candidate", "--lang", "es", "--store", store).out
    assert "the text is empty; " in shown
    assert "el texto está vacío" not in shown
    assert "puntuación" in shown
    stopped = here("show", "latest", "--lang", "es", "--store", store).out
    assert "detenido: --max-time of 1 s is over" in stopped
