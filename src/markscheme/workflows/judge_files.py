"""What a judged run reads and writes: answers, the file of ratings, the recording of replies."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.ask.judging import format_score
from markscheme.read.documents import resolve_answers
from markscheme.read.rating_rows import ALL_RATING_COLUMNS
from markscheme.read.spreadsheets import guard_cell
from markscheme.vocabulary import Answer, Exam, Rating, RowError
from markscheme.workflows.output_files import write_file_atomically

if TYPE_CHECKING:
    from markscheme.read.answers import AnswerBatch
    from markscheme.workflows.judged_ratings import JudgedRatings
    from markscheme.workflows.scoring_session import Answers

RATING_SUFFIXES = (".csv", ".jsonl")


def load_answers(exam: Exam, source: Answers) -> tuple[list[Answer], list[RowError]]:
    """Return the answers of a file, a folder, a frame or rows, and the rows that are none."""
    return _collect_answers(_read_batches(exam, source))


def load_log_answers(
    exam: Exam, folder: str, *, mapping: str | None = None, log_format: str | None = None
) -> tuple[list[Answer], list[RowError]]:
    """Return the final texts of a folder of logs as answers, and the logs that are none."""
    # The readers of logs take a tenth of a second to load.
    from markscheme.read.session_logs import read_logs

    logs = read_logs(folder, exam.items, mapping=mapping, log_format=log_format)
    return _collect_answers([logs.to_batch()])


def _collect_answers(batches: Iterable[AnswerBatch]) -> tuple[list[Answer], list[RowError]]:
    answers: list[Answer] = []
    errors: list[RowError] = []
    for batch in batches:
        table = (
            batch.build_table()
            .select("item", "subject", "attempt")
            .with_columns(batch.build_output_texts())
        )
        answers += [
            Answer(item=str(item), subject=subject, attempt=attempt, output=output)
            for item, subject, attempt, output in table.iter_rows()
        ]
        errors += batch.errors
    return answers, errors


def _read_batches(exam: Exam, source: Answers) -> Iterator[AnswerBatch]:
    from markscheme.read.answers import is_folder, list_answer_files, read_answers, read_rows
    from markscheme.read.tables import read_answers_in_memory
    from markscheme.read.tool_files import is_tool_file

    items = [item.id for item in exam.items]
    if not isinstance(source, str | Path):
        yield from read_answers_in_memory(source, items)
        return
    path = resolve_answers(str(source))
    if is_tool_file(path):
        from markscheme.read.other_tools import place_answers, read_tool_answers

        yield from read_rows(place_answers(read_tool_answers(path), exam), items=items)
        return
    files = list_answer_files(path) if is_folder(path) else [path]
    for file in files:
        yield from read_answers(file, items=items)


def write_ratings(path: Path, ratings: Iterable[Rating]) -> None:
    """Write ratings to a .csv or .jsonl file that `score --ratings` and `agree` read."""
    if path.suffix.lower() == ".jsonl":
        lines = (json.dumps(row, ensure_ascii=False) for row in _build_rows(ratings))
        write_file_atomically(path, "".join(f"{line}\n" for line in lines).encode())
        return
    write_file_atomically(path, format_ratings_csv(ratings).encode())


def format_ratings_csv(ratings: Iterable[Rating]) -> str:
    """Return ratings as CSV with all columns; notes cannot be taken for formulas."""
    text = io.StringIO()
    writer = csv.DictWriter(text, ALL_RATING_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({**row, "note": guard_cell(row["note"])} for row in _build_rows(ratings))
    return text.getvalue()


def _build_rows(ratings: Iterable[Rating]) -> list[dict[str, str]]:
    return [{name: _get_cell(rating, name) for name in ALL_RATING_COLUMNS} for rating in ratings]


def _get_cell(rating: Rating, name: str) -> str:
    if name == "score":
        return format_score(rating.score)
    value = getattr(rating, name)
    return "" if value is None else str(value)


def write_judge_recording(path: Path, judged: JudgedRatings) -> None:
    """Write the replies of a judge to a file that `subject: replay:FILE` reads."""
    from markscheme.workflows.live_run import build_answer_record

    lines = (json.dumps(build_answer_record(asked), ensure_ascii=False) for asked in judged.asked)
    write_file_atomically(path, "".join(f"{line}\n" for line in lines).encode())
