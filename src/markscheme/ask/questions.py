"""Questions: what a subject is asked, in which order, and the key under which a reply is kept.

A prompt template turns an item into a question. It is text with the placeholders `{prompt}` and
`{schema}`, and can hold no code.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from markscheme.read.documents import locate_document
from markscheme.read.nfc import to_nfc
from markscheme.read.storable import find_text_fault
from markscheme.vocabulary import DocumentError, Item, Problem, Rubric, UsageError, compute_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One item as it is put to a subject: instructions, worked examples, the question itself.

    `schema` is set where the subject should enforce it by its own means. `prompt` is the item's
    own, for subjects that need no instructions. No subject is told the `attempt`.
    """

    item: str
    prompt: str
    system: str
    user: str
    shots: tuple[tuple[str, str], ...] = ()
    schema: Mapping[str, Any] | None = None
    attempt: int = 1

    @property
    def text(self) -> str:
        """The question as one text, for subjects that know no roles."""
        shots = [f"{question}\n{answer}" for question, answer in self.shots]
        return "\n\n".join(part for part in (self.system, *shots, self.user) if part)

    @property
    def messages(self) -> list[dict[str, str]]:
        """The question as the messages of a chat."""
        turns = [("system", self.system)] if self.system else []
        for question, answer in self.shots:
            turns += [("user", question), ("assistant", answer)]
        turns.append(("user", self.user))
        return [{"role": role, "content": content} for role, content in turns]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledQuestion:
    """A question for one subject, with its place in the order of the run."""

    key: str
    subject: str
    question: Question
    order: int


def compute_question_key(subject: str, parameters: Mapping[str, Any], question: Question) -> str:
    """Return the key of a question: the same words to the same subject have the same key.

    What an item expects and its position are not part of it, so a changed rubric asks nothing anew.
    """
    content = {
        "subject": subject,
        "parameters": parameters,
        "item": question.item,
        "messages": question.messages,
        "schema": question.schema,
        "attempt": question.attempt,
    }
    return compute_digest(_encode_sorted_json(content).encode())


_encode_sorted_json = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def shuffle_attempts(
    items: Sequence[Item], *, attempts: int, seed: int
) -> Iterator[tuple[Item, int]]:
    """Yield each item with each attempt, shuffled by the seed, attempt by attempt.

    The order does not depend on that of the files, or of the items in them.
    """
    by_id = sorted(items, key=lambda item: item.id)
    for attempt in range(1, attempts + 1):
        shuffled = by_id[:]
        random.Random(f"order {seed} {attempt}").shuffle(shuffled)  # noqa: S311 - no secret
        yield from ((item, attempt) for item in shuffled)


def order_subjects(subjects: Sequence[str], place: int) -> list[str]:
    """Return the order in which the subjects are asked at a place of the run.

    Every order is followed by its reverse, so of any two subjects each comes first as often as the
    other.
    """
    turn, is_reversed = divmod(place, 2)
    first = turn % len(subjects) if len(subjects) > 2 else 0  # noqa: PLR2004 - two only swap
    order = [*subjects[first:], *subjects[:first]]
    return order[::-1] if is_reversed else order


_SCHEMA_TEMPLATE = """\
Answer with one JSON object that keeps to this JSON Schema, and with nothing else:
{schema}
---
{prompt}"""
_PLACEHOLDERS = re.compile(r"\{(prompt|schema)\}")
_SEPARATOR = re.compile(r"^---[ \t]*$\n?", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class PromptTemplate:
    """Instructions above a line of three dashes and the question below, or only the question.

    `{prompt}` stands for the item's prompt, `{schema}` for the response schema of the rubric.
    """

    system: str
    user: str
    shots: tuple[tuple[str, str], ...] = ()
    schema: Mapping[str, Any] | None = None
    structured: bool = False

    def build_question(self, item: Item, attempt: int = 1) -> Question:
        """Build the question for one attempt at an item."""
        return Question(
            item=item.id,
            prompt=item.prompt,
            system=self._shared_system or self._fill_placeholders(self.system, item.prompt),
            user=self._fill_placeholders(self.user, item.prompt),
            shots=self._filled_shots,
            schema=self.schema if self.structured else None,
            attempt=attempt,
        )

    @cached_property
    def _shared_system(self) -> str:
        """The instructions, if they are the same for every item; then all questions share them."""
        return "" if "{prompt}" in self.system else self._fill_placeholders(self.system, "")

    @cached_property
    def _filled_shots(self) -> tuple[tuple[str, str], ...]:
        return tuple(
            (self._fill_placeholders(self.user, prompt), answer) for prompt, answer in self.shots
        )

    @cached_property
    def _schema_json(self) -> str:
        return "" if self.schema is None else json.dumps(self.schema, ensure_ascii=False)

    def _fill_placeholders(self, text: str, prompt: str) -> str:
        if "{" not in text:
            return text
        values = {"prompt": prompt, "schema": self._schema_json}
        return _PLACEHOLDERS.sub(lambda name: values[name[1]], text)


def load_template(
    rubric: Rubric,
    file: str | None = None,
    *,
    structured: bool = True,
    shots: Iterable[tuple[str, str]] = (),
) -> PromptTemplate:
    """Load a template file, or the default one: the prompt, after the schema if there is one.

    With `structured`, subjects that can enforce a schema are asked to do so.
    """
    schema = find_response_schema(rubric)
    if file is None:
        text = "{prompt}" if schema is None else _SCHEMA_TEMPLATE
    else:
        text = _read_template_file(file, schema)
    parts = _SEPARATOR.split(text, maxsplit=1)
    system, user = parts if len(parts) > 1 else ("", text)
    return PromptTemplate(
        system=system.strip(),
        user=user.strip(),
        shots=tuple(shots),
        schema=schema,
        structured=structured and schema is not None,
    )


def find_response_schema(rubric: Rubric) -> Mapping[str, Any] | None:
    """Return the response schema of the rubric's first axis that has one."""
    schemas = (getattr(spec.axis, "schema", None) for spec in rubric)
    first = next((schema for schema in schemas if schema is not None), None)
    return None if first is None else json.loads(json.dumps(first, default=float))


def _read_template_file(file: str, schema: Mapping[str, Any] | None) -> str:
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the template `{file}`: {_describe_read_error(error)}"
        ) from error
    text = to_nfc(text)
    problems = []
    if "{prompt}" not in _SEPARATOR.split(text, maxsplit=1)[-1]:
        problems.append("`{prompt}` is missing; it stands where the item's prompt goes")
    if "{schema}" in text and schema is None:
        problems.append("`{schema}` is asked for, but no axis of the rubric has a schema")
    if problems:
        raise DocumentError(
            Problem(file=file, line=1, field="template", message=problem) for problem in problems
        )
    return text


def _describe_read_error(error: OSError | UnicodeDecodeError) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"it is not UTF-8 at byte {error.start + 1}"


def read_shots(source: str, items: Iterable[Item]) -> list[tuple[str, str]]:
    """Read worked examples, JSON lines with `prompt` and `output`, from a file or by built-in name.

    An example that is an item of the exam would give its answer away, and is refused.
    """
    path, shown = locate_document(source, "examples", ".jsonl")
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the examples `{shown}`: {_describe_read_error(error)}"
        ) from error
    asked = {item.prompt.strip(): item.id for item in items}
    problems: list[Problem] = []
    shots = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            problem, shot = _parse_shot(line, asked)
            shots.append(shot)
            if problem:
                problems.append(Problem(file=shown, line=number, field="example", message=problem))
    if not shots:
        problems.append(Problem(file=shown, line=1, field="example", message="there is none"))
    if problems:
        raise DocumentError(problems)
    return shots


def _parse_shot(line: str, asked: Mapping[str, str]) -> tuple[str, tuple[str, str]]:
    """Return what is wrong with a line, or an empty text, and its prompt and output."""
    try:
        row = json.loads(line)
        prompt, output = row["prompt"], row["output"]
    except (ValueError, KeyError, TypeError):
        return 'must be an object such as {"prompt": "…", "output": "…"}', ("", "")
    if not isinstance(prompt, str) or not isinstance(output, str | dict):
        return "`prompt` must be text, `output` text or an object", ("", "")
    prompt = to_nfc(prompt)
    if prompt.strip() in asked:
        return f"is the item `{asked[prompt.strip()]}` of the exam, and would answer it", ("", "")
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    fault = find_text_fault(prompt + text)
    return (f"holds {fault}" if fault else ""), (prompt, to_nfc(text))
