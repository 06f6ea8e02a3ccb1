"""The answers that raters see: from files of answers, from session logs, and from runs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markscheme.vocabulary import (
    AnswersError,
    Exam,
    InputError,
    Problem,
    RowError,
    Rubric,
    Transcript,
    UsageError,
    format_value,
)

if TYPE_CHECKING:
    from markscheme.workflows.find_run import FoundRun, RunFinder

MODEL_FAMILIES = (
    *("anthropic", "chatgpt", "claude", "cohere", "command-r", "deepseek", "gemini", "gemma"),
    *("gpt", "grok", "llama", "mistral", "mixtral", "openai", "qwen", "smollm"),
)
"""Names by which models call themselves and their makers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindAnswer:
    """An answer as a rater sees it; `variant` is not shown to the rater.

    `transcript` is what an agent did before it answered, if there is a session log.
    """

    item: str
    variant: str
    prompt: str
    text: str
    transcript: Transcript | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingSources:
    """Where the answers come from: a file, a folder of session logs, stored runs or result files.

    Texts come from answers and runs. A log of the same item and variant adds what the agent did;
    a log of another one is an answer of its own.
    """

    answers: str | Path | None = None
    logs: str | Path | None = None
    log_map: str | Path | None = None
    runs: Sequence[str] = ()
    store: str | Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersToRate:
    """The rubric, the exam, one answer for each item and variant, and logs that are no answers."""

    rubric: Rubric
    exam: Exam
    answers: tuple[BlindAnswer, ...]
    bad_logs: tuple[RowError, ...] = ()


def load_answers_to_rate(
    sources: RatingSources,
    rubric: str | Path | None,
    exams: Sequence[str | Path],
    *,
    scales_only: bool = True,
) -> AnswersToRate:
    """Return the answers as raters see them, one for each item and variant.

    Of several attempts the first is rated. Without a rubric or an exam, those of the first run are
    taken. With `scales_only` the rubric must have scales; otherwise choices or criteria will do.

    Raises:
        UsageError: nothing is named, or the rubric has nothing to rate.
        InputError: an answer cannot be placed, or two sources hold the same one.
    """
    from markscheme.workflows.documents import load_exam, load_rubric
    from markscheme.workflows.find_run import RunContext, RunFinder

    if not (sources.answers or sources.logs or sources.runs):
        raise UsageError("name what to rate: --answers FILE, --logs DIR, or runs")
    missing = [
        option for option, value in {"--rubric": rubric, "--exam": exams}.items() if not value
    ]
    if missing and not sources.runs:
        raise UsageError(f"{' and '.join(missing)} must be named, unless runs are rated")
    with RunFinder(sources.store, RunContext(rubric=rubric, exams=exams)) as finder:
        runs = [_find_run(finder, name, sources.store) for name in sources.runs]
        loaded = runs[0].past.rubric if rubric is None else load_rubric(rubric)
        _check_rated_axes(loaded, scales_only=scales_only)
        exam = load_exam(*exams, rubric=loaded) if exams else runs[0].past.exam
        collector = _AnswerCollector({item.id: item.prompt for item in exam.items})
        if sources.answers is not None:
            collector.add_file(sources.answers)
        for name, run in zip(_name_run_variants(sources.runs, runs), runs, strict=True):
            collector.add_run(finder, run, name)
    bad_logs: tuple[RowError, ...] = ()
    if sources.logs is not None:
        bad_logs = collector.add_logs(sources.logs, sources.log_map, exam)
    answers = tuple(collector.finish())
    return AnswersToRate(rubric=loaded, exam=exam, answers=answers, bad_logs=bad_logs)


def _check_rated_axes(rubric: Rubric, *, scales_only: bool) -> None:
    from markscheme.read.rating_scores import find_questions

    if scales_only and not rubric.scales:
        raise UsageError(f"the rubric `{rubric.name}` has no axis of kind `scale` to rate")
    if not find_questions(rubric):
        message = f"the rubric `{rubric.name}` has no scale, no choice and no criteria"
        raise UsageError(f"{message} that people rate")


def find_revealing_names(answers: Sequence[BlindAnswer]) -> list[tuple[BlindAnswer, list[str]]]:
    """Return each answer that names a variant or a family of models, and what it names.

    Such an answer may tell the rater, who must not know it, which variant it is of. Names count as
    words of their own, in the answer and in what a session log shows of the agent.
    """
    variants = _compile_names({answer.variant for answer in answers}, end=r"(?![\w-])")
    # A version may follow: `gpt-4`, `qwen3`.
    families = _compile_names(MODEL_FAMILIES, end=r"(?![^\W\d_])")
    revealing = []
    for answer in answers:
        texts = [answer.text, *_iterate_shown_texts(answer.transcript)]
        names = {
            match.casefold()
            for text in texts
            for pattern in (variants, families)
            for match in pattern.findall(text)
        }
        if names:
            revealing.append((answer, sorted(names)))
    return revealing


def _compile_names(names: Collection[str], end: str) -> re.Pattern[str]:
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(longest_first)}){end}", re.IGNORECASE)


def _iterate_shown_texts(transcript: Transcript | None) -> Iterator[str]:
    """Yield the texts of a log that raters may see: calls with their arguments, and prompts."""
    for agent in () if transcript is None else transcript.agents():
        yield from agent.gaps
        yield from (prompt.text for prompt in agent.prompts if prompt.text)
        for call in agent.calls:
            yield call.name
            yield from call.paths
            yield call.command or ""
            yield from call.arguments.values()


def _find_run(finder: RunFinder, name: str, store: str | Path | None) -> FoundRun:
    """Find a run; a rubric and an exam that are named are for rating, not those of a stored run."""
    from markscheme.keep import RESULT_FILE_SUFFIXES
    from markscheme.workflows.find_run import RunFinder, is_open_run

    if Path(name).suffix.lower() in RESULT_FILE_SUFFIXES:
        return finder.find(name)
    with RunFinder(store) as stored:
        found = stored.find(name)
    if is_open_run(found):
        raise UsageError(f"the run `{name}` is not finished; finish it before it is rated")
    return found


def _name_run_variants(names: Sequence[str], runs: Sequence[FoundRun]) -> list[str]:
    """Return the variant of each run: its subject, or what it was called where subjects repeat."""
    if len(set(names)) < len(names):
        raise UsageError("a run is named twice; each can be rated once")
    subjects = [run.past.run.subject for run in runs]
    if None in subjects or len(set(subjects)) < len(subjects):
        return list(names)
    return [subject or "" for subject in subjects]


class _AnswerCollector:
    """Collects answers by item and variant, and every problem that is met on the way."""

    def __init__(self, prompts: dict[str, str]) -> None:
        self._prompts = prompts
        self._answers: dict[tuple[str, str], BlindAnswer] = {}
        self._problems: list[Problem] = []

    def add_file(self, source: str | Path) -> None:
        """Add the answers of a file; the variant of an answer is its subject."""
        from markscheme.read.answers import read_answers

        def complain(line: int, field: str, message: str) -> None:
            self._problems.append(
                Problem(file=str(source), line=line, field=field, message=message)
            )

        first: dict[tuple[str, str], tuple[int, BlindAnswer]] = {}
        for batch in read_answers(source, items=self._prompts):
            for error in batch.errors:
                complain(error.line, "row", error.reason)
            rows = batch.build_table().iter_rows(named=True)
            for row, text in zip(rows, batch.build_output_texts(), strict=True):
                variant = row["subject"]
                if variant is None:
                    complain(
                        row["line"], "subject", "is missing; it names the variant of the answer"
                    )
                else:
                    answer = self._build_answer(row["item"], variant, text)
                    _keep_first_attempt(first, answer, row["attempt"])
        if not (first or self._problems):
            complain(1, "", "holds no answer")
        self._add(str(source), [answer for _, answer in first.values()])

    def add_run(self, finder: RunFinder, run: FoundRun, variant: str) -> None:
        """Add the answers of a run as those of one variant."""
        from markscheme.workflows.run_rows import select_answers

        answered = {item for item, counts in run.past.run.marks.items.items() if counts}
        for item in sorted(answered - self._prompts.keys()):
            message = f"{format_value(item)} is no item of the exam that is rated"
            self._problems.append(Problem(file=run.name, line=1, field="item", message=message))
        first: dict[tuple[str, str], tuple[int, BlindAnswer]] = {}
        for row in select_answers(finder, run, answered & self._prompts.keys()):
            text = _get_answer_text(row)
            if text is not None:
                answer = self._build_answer(row["item"], variant, text)
                _keep_first_attempt(first, answer, row.get("attempt") or 1)
        self._add(run.name, [answer for _, answer in first.values()])

    def add_logs(
        self, folder: str | Path, mapping: str | Path | None, exam: Exam
    ) -> tuple[RowError, ...]:
        """Add session logs; return those that could not be read or placed."""
        from markscheme.read.session_logs import read_logs

        logs = read_logs(folder, exam.items, mapping=mapping)
        first: dict[tuple[str, str], tuple[int, BlindAnswer]] = {}
        for log in logs.answers:
            if log.variant is None:
                message = "no variant: neither its folder, its name nor a model says whose it is"
                self._problems.append(
                    Problem(file=log.file, line=1, field="variant", message=message)
                )
                continue
            answer = self._build_answer(log.item, log.variant, log.output)
            _keep_first_attempt(first, replace(answer, transcript=log.transcript), log.attempt)
        for key, (_, logged) in first.items():
            known = self._answers.get(key)
            # What was recorded as the answer stays; the log adds what the agent did.
            self._answers[key] = (
                logged if known is None else replace(known, transcript=logged.transcript)
            )
        if not self._answers and not self._problems:
            raise InputError(_list_log_problems(folder, logs.errors))
        return logs.errors

    def _build_answer(self, item: str, variant: str, text: str) -> BlindAnswer:
        return BlindAnswer(item=item, variant=variant, prompt=self._prompts[item], text=text)

    def _add(self, source: str, answers: Iterable[BlindAnswer]) -> None:
        for answer in answers:
            key = (answer.item, answer.variant)
            if key in self._answers:
                what = f"{format_value(answer.item)} of {format_value(answer.variant)}"
                message = f"the answer to {what} is in another source too; name it once"
                self._problems.append(Problem(file=source, line=1, field="item", message=message))
            self._answers[key] = answer

    def finish(self) -> Iterator[BlindAnswer]:
        """Yield the answers; raise if there was any problem, or if there is no answer."""
        if self._problems:
            raise AnswersError(self._problems)
        if not self._answers:
            raise UsageError("there is no answer to rate in what was named")
        yield from self._answers.values()


def _keep_first_attempt(
    first: dict[tuple[str, str], tuple[int, BlindAnswer]], answer: BlindAnswer, attempt: int
) -> None:
    key = (answer.item, answer.variant)
    if attempt <= first.get(key, (attempt, None))[0]:
        first[key] = (attempt, answer)


def _get_answer_text(row: Any) -> str | None:
    """Return the raw output of a row, or what a result file shows of it."""
    output = row.get("output")
    got = row.get("got") if output is None else output
    return None if got is None else str(got)


def _list_log_problems(folder: str | Path, errors: Collection[RowError]) -> list[Problem]:
    problems = [
        Problem(file=error.file or str(folder), line=error.line, field="", message=error.reason)
        for error in errors
    ]
    return problems or [
        Problem(file=str(folder), line=1, field="", message="holds no log of an answer")
    ]
