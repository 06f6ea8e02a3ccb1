"""Each log is read by the reader of its own format, and damaged logs are never complete."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agent_logs import LOGS
from markscheme import MarkschemeError, Transcript, read_transcript
from markscheme.read.transcripts import list_format_names, read_transcripts
from markscheme.tell.transcript import dump_transcripts, print_timeline

# The folders of logs that are read by one format each.
FORMATS = ("atif", "langchain", "mini-swe-agent", "openhands", "swe-agent", "vercel-ai")
FILES = [path for name in FORMATS for path in sorted((LOGS / name).iterdir())]
IDS = [f"{path.parent.name}/{path.name}" for path in FILES]
MOST_PLACES = 80
DRAWN = 0.2
LONE_SURROGATE = "\\ud83d"


def read_text(folder: Path, text: str, name: str, *, draw: bool = False) -> list[Transcript]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    try:
        found = read_transcripts(path)
    except MarkschemeError:
        return []
    if draw:
        dump_transcripts(found)
        for _, transcript in found:
            print_timeline(transcript, name)
    return [transcript for _, transcript in found]


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_a_log_is_recognised_by_its_content(path: Path) -> None:
    assert {found.format for _, found in read_transcripts(path)} == {path.parent.name}


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_every_sample_is_complete(path: Path) -> None:
    for _, transcript in read_transcripts(path):
        assert transcript.complete, transcript.gaps


def test_no_other_log_is_taken_for_one_of_these() -> None:
    others = [(path, found) for path, found in read_transcripts(LOGS) if path not in FILES]
    assert others
    assert {found.format for _, found in others}.isdisjoint(FORMATS)


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.suffix != ".jsonl"],
    ids=[name for name in IDS if not name.endswith(".jsonl")],
)
def test_a_document_that_was_cut_anywhere_is_never_complete(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8").rstrip()
    for end in range(1, len(text), 397):
        for transcript in read_text(tmp_path, text[:end], path.name):
            assert not transcript.complete, end


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_half_a_character_in_any_text_stops_nothing(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    # Ids, names, commands and texts: every string of the log ends with half a character.
    damaged = text.replace('",', f'{LONE_SURROGATE}",').replace('"}', f'{LONE_SURROGATE}"}}')
    found = read_text(tmp_path, damaged, path.name, draw=True)
    with suppress(MarkschemeError):
        found += [one for _, one in read_transcripts(tmp_path / path.name, path.parent.name)]
    assert all((one.final_text or "").encode() is not None for one in found)


def iter_places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the place of every list and object in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    return [
        place,
        *(
            found
            for key, child in inner
            if isinstance(child, dict | list)
            for found in iter_places(child, (*place, key))
        ),
    ]


def sample_places(document: Any, chance: random.Random) -> list[tuple[Any, ...]]:
    """Return all places of a short log, and as many of a long one, which repeats itself."""
    places = iter_places(document)
    return chance.sample(places, min(MOST_PLACES, len(places)))


def replace_at(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = replace_at(value[place[0]], place[1:], new)
    return copy


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_wrong_types_in_any_place_stop_nothing(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else None
    document = json.loads(text) if lines is None else lines
    chance = random.Random(path.name)  # noqa: S311 - the same cases in every run
    odd: list[Any] = [None, 0, "x", [], {}, [[]], [None], {"type": {}}, ["x", 1], True]
    for place in sample_places(document, chance):
        changed = replace_at(document, place, chance.choice(odd))
        if lines is not None and isinstance(changed, list):
            changed_text = "\n".join(map(json.dumps, changed))
        else:
            changed_text = json.dumps(changed)
        draw = chance.random() < DRAWN
        for transcript in read_text(tmp_path, changed_text, path.name, draw=draw):
            assert transcript.format in list_format_names(), place


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_a_call_is_not_lost_without_a_doubt(path: Path, tmp_path: Path) -> None:
    """What holds calls is replaced by a text: the calls are still there, or there is a gap."""
    text = path.read_text(encoding="utf-8")
    document = (
        [json.loads(line) for line in text.splitlines()]
        if path.suffix == ".jsonl"
        else json.loads(text)
    )
    whole = [len(found.calls) for _, found in read_transcripts(path)]
    for place in sample_places(document, random.Random(path.name)):  # noqa: S311
        changed = replace_at(document, place, "rm -rf x")
        if path.suffix == ".jsonl" and isinstance(changed, list):
            changed_text = "\n".join(map(json.dumps, changed))
        else:
            changed_text = json.dumps(changed)
        found = read_text(tmp_path, changed_text, path.name)
        if any(transcript.complete for transcript in found) and sum(
            len(transcript.calls) for transcript in found
        ) < sum(whole):
            assert not all(transcript.complete for transcript in found), place


def test_a_log_can_be_forced_to_another_format() -> None:
    read = 0
    for path in FILES:
        for name in FORMATS:
            with suppress(MarkschemeError):
                assert read_transcript(path, name).format == name
                read += 1
    assert read >= len(FILES)
