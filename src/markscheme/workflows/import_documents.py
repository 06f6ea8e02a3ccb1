"""Import a rubric and graded answers of another tool: read one file, write our own documents."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markscheme.read.documents import MAX_DOCUMENT_BYTES, dump_yaml, read_document_bytes
from markscheme.read.foreign import FOREIGN_PARSERS, ImportedDocuments, recognise_test_cases
from markscheme.read.spreadsheets import guard_cell
from markscheme.vocabulary import InputError, Problem, UsageError
from markscheme.workflows.output_files import create_folder_atomically, write_file_atomically

_MAX_FOREIGN_BYTES = 1024 * 1024 * 1024
# The first five columns are there in every file; the others where a rating says something.
_REQUIRED_COLUMNS = ("item", "variant", "rater", "axis", "score")
_FURTHER_COLUMNS = ("note", "at", "criterion", "source", "repeat", "attempt")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOutcome:
    """What an import wrote: the files, how much is in them, and what the reader should know."""

    folder: Path
    files: tuple[str, ...]
    items: int
    criteria: int
    answers: int
    ratings: int
    remarks: tuple[Problem, ...]


def import_documents(tool: str, file: str, folder: str | None = None) -> ImportOutcome:
    """Read a file of another tool and write rubric, exam, answers and ratings to a folder.

    Without `folder`, it is named after the file and lies in the present folder.

    Raises:
        UsageError: a file to write is there already, or cannot be written.
        InputError: with every mistake of the file.
    """
    target = Path(folder) if folder is not None else Path(Path(file).stem)
    data = read_document_bytes(Path(file), file, _MAX_FOREIGN_BYTES)
    documents = FOREIGN_PARSERS[tool](data, file)
    texts = dict(_format_files(documents, file))
    _write_files(target, texts)
    return ImportOutcome(
        folder=target,
        files=tuple(texts),
        items=len(documents.items),
        criteria=documents.count_criteria(),
        answers=len(documents.answers),
        ratings=len(documents.ratings),
        remarks=tuple(documents.remarks),
    )


def import_test_cases(file: str, folder: str) -> ImportOutcome:
    """Write a project from the test cases of promptfoo or pydantic-evals, told by their content.

    Raises:
        UsageError: the file is of neither tool, or the folder cannot be written.
        InputError: with every mistake of the file.
    """
    data = read_document_bytes(Path(file), file, _MAX_FOREIGN_BYTES)
    tool = recognise_test_cases(data, file)
    if tool is None:
        tools = "a configuration of promptfoo or a dataset of pydantic-evals"
        raise UsageError(f"`{file}` is not {tools}; `markscheme import` reads other tools")
    return import_documents(tool, file, folder)


def _format_files(documents: ImportedDocuments, file: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file to write."""
    yield "rubric.yaml", dump_yaml(documents.rubric)
    yield from _format_exam(documents.exam, file)
    if documents.answers:
        lines = (json.dumps(row, ensure_ascii=False) for row in documents.answers)
        yield "answers.jsonl", "".join(f"{line}\n" for line in lines)
    if documents.ratings:
        yield "ratings.csv", _format_ratings(documents.ratings)


def _format_exam(exam: Mapping[str, Any], file: str) -> Iterator[tuple[str, str]]:
    """Yield the exam as one file, or as several if it is larger than a document may be."""
    parts = 1
    while True:
        texts = list(_format_exam_parts(exam, parts))
        if all(len(text.encode()) <= MAX_DOCUMENT_BYTES for text in texts):
            break
        if parts >= len(exam["items"]):
            limit = MAX_DOCUMENT_BYTES // (1024 * 1024)
            message = f"an item is larger than {limit} MB, the most that a document may have"
            raise InputError([Problem(file=file, line=1, field="", message=message)])
        parts = min(2 * parts, len(exam["items"]))
    if parts == 1:
        yield "exam.yaml", texts[0]
        return
    for number, text in enumerate(texts, start=1):
        yield f"exam-{number}.yaml", text


def _format_exam_parts(exam: Mapping[str, Any], parts: int) -> Iterator[str]:
    items = exam["items"]
    size = -(-len(items) // parts)
    for number, start in enumerate(range(0, len(items), size), start=1):
        name = exam["exam"] if parts == 1 else f"{exam['exam']}-{number}"
        yield dump_yaml({**exam, "exam": name, "items": items[start : start + size]})


def _format_ratings(ratings: Sequence[Mapping[str, Any]]) -> str:
    """Return the ratings as CSV, with the further columns that any rating uses."""
    used = {name for rating in ratings for name, value in rating.items() if value != ""}
    columns = [*_REQUIRED_COLUMNS, *(name for name in _FURTHER_COLUMNS if name in used)]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for rating in ratings:
        note = {"note": guard_cell(rating["note"])} if rating.get("note") else {}
        writer.writerow({**rating, **note})
    return stream.getvalue()


def _write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write all files to a new folder in one step, or each of them to a folder that is there."""
    if not folder.exists():
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with create_folder_atomically(folder) as partial:
                for name, text in texts.items():
                    (partial / name).write_bytes(text.encode())
        except OSError as error:
            message = f"`{folder}` cannot be written: {error.strerror or error}"
            raise UsageError(message) from None
        return
    if not folder.is_dir():
        raise UsageError(f"`{folder}` is a file; name a folder")
    if there := [name for name in texts if (folder / name).exists()]:
        named = ", ".join(there)
        raise UsageError(f"`{folder}` holds {named} already; nothing is overwritten")
    for name, text in texts.items():
        write_file_atomically(folder / name, text.encode())
