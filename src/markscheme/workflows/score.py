"""Score recorded answers: the one function that reads, marks, totals, stores and writes a run.

The command, the library, the demo, comparisons and the three engines all go through `score`. polars
is imported late: worker processes are forked first, and a fork copies no other threads.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, Self, TypeVar

from markscheme.read.marks import NOTHING_GIVEN, read_marks
from markscheme.read.rating_rows import list_rating_files
from markscheme.vocabulary import Exam, FrozenDict, Rubric, UsageError
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.judging_record import merge_judging_records
from markscheme.workflows.output_files import check_destination, check_folder, check_raw_csv
from markscheme.workflows.scorer_options import ScorerOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    import polars as pl

    from markscheme.read.rating_rows import RatingSource
    from markscheme.read.session_logs import LogFolder
    from markscheme.weigh.result import Result
    from markscheme.weigh.totals import AnswerCounts
    from markscheme.workflows.scoring_session import Answers, ScoringSession
    from markscheme.workflows.sinks import RowSink


class ScoredAnswers(Protocol):
    """Some answers after scoring, as progress displays see them."""

    @property
    def answers(self) -> int:
        """Number of answers."""

    @property
    def counts(self) -> AnswerCounts:
        """Their counts."""


ScoredT = TypeVar("ScoredT", bound=ScoredAnswers)


class Progress(Protocol):
    """Wraps the chunks of a run to show how many answers are scored; `label` names the source."""

    def __call__(self, chunks: Iterable[ScoredT], label: str) -> Iterator[ScoredT]:
        """Yield the same chunks."""


class Engine(Protocol):
    """Scores the answers of one run: in this process, in several, or on Ray."""

    label: str
    """How progress names the answers."""
    is_folder: bool
    """Whether rows name the file they come from."""
    logs: bool
    """Whether rows name the session log they come from."""
    stores_rows: bool
    """Whether all rows are written before the first frame comes, which can then be skipped."""

    def __enter__(self) -> Self:
        """Start processes, or connect."""

    def __exit__(self, *_: object) -> None:
        """End them."""

    def iter_frames(self, session: ScoringSession, progress: Progress) -> Iterator[pl.DataFrame]:
        """Score everything, merging into the session; yield the rows."""


def score(  # noqa: PLR0913 - one parameter for each option of the command
    rubric: Rubric | str | Path,
    exam: Exam | str | Path | Sequence[str | Path],
    answers: Answers | None = None,
    *,
    logs: str | Path | LogFolder | None = None,
    log_map: str | Path | None = None,
    log_format: str | None = None,
    mapping: Mapping[str, str] | None = None,
    ratings: RatingSource | None = None,
    judging: Mapping[str, Mapping[str, Any]] = FrozenDict(),
    store: str | Path | None = None,
    tag: str | None = None,
    source: str | None = None,
    output: str | Path | None = None,
    raw_csv: bool = False,
    sinks: Sequence[RowSink] = (),
    workers: int | None = 1,
    engine: Literal["local", "ray"] = "local",
    ray_address: str | None = None,
    progress: Progress | None = None,
) -> Result:
    """Score recorded answers: a file (JSONL, Parquet, CSV, `-` for stdin), a table, or rows.

    A table is anything with `__arrow_c_stream__`: a frame of polars or pandas, a table of pyarrow
    or DuckDB. It needs the columns `item` and `output`.

    Results of promptfoo, lm-eval, deepeval, pydantic-evals, OpenAI batches and Inspect are
    recognised by their content. With `mapping`, a file of any shape is read: the path of each
    field, such as `{"item": "meta.id", "output": "response.text"}`.

    A folder of JSONL and Parquet files is read file by file, by name. With `logs` instead, a folder
    of agents' session logs, the final texts are the answers, and what was done is judged too; a
    `log_map` says which log answers which item, where names and prompts do not.

    `ratings` are the marks of people, or of judges: a file, several files, or rows. They mark the
    axes of kind `scale`, `choice` and `criteria`; the variant of a rating is the subject of the
    answer. What nobody marked leaves the score unknown between bounds, and `Result.unmarked`
    counts it. `judging` says how a judge came to its ratings: what `JudgedRatings.describe_judging`
    returns.

    With `store`, a file or a PostgreSQL URL, the run of each subject is stored: `Result.run_ids`
    are their ids, `tag` names the run, and `source` says where rows in memory come from. With
    `output`, rows are written to a file (.json, .jsonl, .parquet, .csv) as they are scored. In CSV,
    texts that a spreadsheet would compute get an apostrophe before them, unless `raw_csv` is true.
    `Result.frame` holds every row, unless rows go to `output` or to `sinks`; then it is empty, and
    memory does not grow with the number of answers.

    `workers` is the number of processes, None for one per core where a file is large. Processes are
    forked only before polars is imported. The `engine` `ray` scores on a Ray cluster and writes
    `output`, a folder of Parquet files. `progress` wraps the scored chunks, to show how many.

    >>> row = {"item": "e-39-01", "output": "Ate."}
    >>> score("tutor-capstone", "capstone", [row]).summary.n
    1

    A large file goes from disk to disk, and its run into a store:

    >>> result = score(
    ...     "tutor-capstone", "capstone", "answers.jsonl",
    ...     output="breakdown.parquet", store="runs.db", tag="release-1.4", workers=None,
    ... )  # doctest: +SKIP

    Raises:
        UsageError: arguments that do not go together, or a place that cannot be written.
        InputError: a document or the file of answers is not valid.
    """
    if (answers is None) == (logs is None):
        message = "the answers must be a file's path, a table, or a list of rows"
        raise UsageError(f"{message}; or give a folder of `logs` in their place")
    file = _name_source(answers, logs)
    sources = ratings if isinstance(ratings, str | Path) else list(ratings or ())
    destination = _check_output(output, engine, (rubric, exam, file, sources))
    source = source or file
    check_raw_csv(destination, raw_csv=raw_csv)
    if engine == "ray" and ratings is not None:
        raise UsageError("ratings mark answers on this machine; leave out --engine ray")
    rubric, exam = _load_documents(rubric, exam)
    if tag is not None:
        _check_tag(tag, store)

    answers = _read_mapped(answers, mapping, exam)

    given = NOTHING_GIVEN if ratings is None else read_marks(sources, rubric, exam)
    needs_messages = any(sink.needs_messages for sink in sinks)
    chosen: Engine
    if answers is None:
        from markscheme.read.session_logs import LogFolder, read_logs
        from markscheme.workflows.logs import LogEngine

        if not isinstance(logs, LogFolder):
            logs = read_logs(str(logs), exam.items, mapping=log_map, log_format=log_format)
        chosen = LogEngine(logs, source or "")
    elif engine == "ray" and destination is not None:
        from markscheme.workflows.ray import RayEngine

        chosen = RayEngine(rubric, exam, answers, destination, address=ray_address, workers=workers)
    else:
        from markscheme.workflows.local_engine import LocalEngine

        chosen = LocalEngine(
            rubric,
            exam,
            answers,
            workers,
            ScorerOptions(
                outputs=store is not None,
                messages=needs_messages or store is not None,
                marks=given.by_answer,
            ),
        )

    with chosen:
        from markscheme.workflows.scoring_session import ScoringSession
        from markscheme.workflows.sinks import FileSink, FrameCollector, StoreSink, write_rows

        rows = FrameCollector()
        stored = None
        all_sinks: list[RowSink] = []
        if destination is not None and not chosen.stores_rows:
            all_sinks.append(FileSink(destination, raw_csv=raw_csv))
        if store is not None:
            stored = StoreSink(store, rubric, exam, source=source, tag=tag)
            all_sinks.append(stored)
        all_sinks += sinks or ([rows] if output is None else [])
        session = ScoringSession(
            rubric,
            exam,
            files=chosen.is_folder,
            logs=chosen.logs,
            keep=stored.store_batch if stored and not chosen.stores_rows else None,
            messages=needs_messages,
            given=given,
            judging=merge_judging_records(given.ratings, judging, list_rating_files(sources)),
        )
        frames = chosen.iter_frames(session, progress or _show_nothing)
        if chosen.stores_rows:
            frames = _take_needed(frames, all_sinks)
        write_rows(frames, all_sinks, session.build_result)
        result = session.build_result(rows.frames)
    return replace(result, run_ids=stored.run_ids) if stored else result


def _load_documents(
    rubric: Rubric | str | Path, exam: Exam | str | Path | Sequence[str | Path]
) -> tuple[Rubric, Exam]:
    rubric = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    if not isinstance(exam, Exam):
        exam = load_exam(*((exam,) if isinstance(exam, str | Path) else exam), rubric=rubric)
    return rubric, exam


def _read_mapped(
    answers: Answers | None, mapping: Mapping[str, str] | None, exam: Exam
) -> Answers | None:
    """Return the rows of a file of any shape, if its fields are mapped; else the answers."""
    if mapping is None:
        return answers
    from markscheme.read.other_tools import parse_mapping, place_answers, read_mapped_answers

    if not isinstance(answers, str | Path) or str(answers) == "-":
        raise UsageError("a mapping of fields goes with a file of answers")
    paths = parse_mapping(f"{field}={path}" for field, path in mapping.items())
    return place_answers(read_mapped_answers(answers, paths), exam)


def _name_source(answers: Answers | None, logs: str | Path | LogFolder | None) -> str | None:
    """Return the file or folder that the answers come from; rows in memory have none."""
    named = answers if logs is None else logs
    return str(named) if isinstance(named, str | Path) else None


def _check_output(output: str | Path | None, engine: str, inputs: Iterable[object]) -> Path | None:
    """Return the checked path of the output; no input may be overwritten."""
    if engine == "ray":
        if output is None:
            raise UsageError("--engine ray writes its rows to a folder; name one with -o FOLDER")
        return check_folder(str(output))
    if output is None:
        return None
    files: list[str] = []
    for names in inputs:
        several = names if isinstance(names, tuple | list) else (names,)
        files += [str(name) for name in several if isinstance(name, str | Path)]
    return check_destination(str(output), files)


def _check_tag(tag: str, store: str | Path | None) -> None:
    from markscheme.keep import check_tag

    check_tag(tag)
    if store is None:
        raise UsageError("a run that is not stored cannot have a tag; leave out one of the two")


def _take_needed(
    frames: Iterator[pl.DataFrame], sinks: Sequence[RowSink]
) -> Iterator[pl.DataFrame]:
    """Read only as many of the written frames as the sinks need."""
    needed = [sink.frames_needed for sink in sinks]
    if None in needed:
        return frames
    # At least one: nothing is scored before the first frame is asked for.
    return islice(frames, max([1, *(count for count in needed if count)]))


def _show_nothing(chunks: Iterable[ScoredT], label: str) -> Iterator[ScoredT]:
    del label
    return iter(chunks)
