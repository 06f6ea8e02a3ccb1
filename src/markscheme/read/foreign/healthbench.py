"""HealthBench (openai/simple-evals): conversations with criteria of positive and negative points.

Three files are read, told apart by their content:

- the benchmark, JSON lines with `prompt`, `rubrics` and perhaps `ideal_completions_data`; ideal
  completions are answers of the subject `physician`, those that the physicians were shown are
  answers of `reference-1` to `reference-4`;
- the meta-evaluation, JSON lines with `rubric`, `completion` and `binary_labels`: physicians'
  verdicts, which become ratings of people;
- the full results of a run (`…_allresults.json`), whose verdicts are those of a grader model and
  become ratings of a judge.

The score of HealthBench is that of `below_zero: kept`; what it publishes, the mean cut to 0…1, is
`score_cut` of the summary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from markscheme.read.documents import is_name, make_name
from markscheme.read.foreign.imported import (
    CRITERIA_AXIS,
    ImportedDocuments,
    Row,
    add_tag,
    build_rubric,
    read_points,
    read_tags,
    report_without_points,
)
from markscheme.read.foreign.source import (
    ForeignRecord,
    ForeignSource,
    check_tag_value,
    check_text,
    iterate_records,
    parse_json_source,
    parse_jsonl_source,
)

_AXIS = {"name": CRITERIA_AXIS, "kind": "criteria", "weight": 1, "below_zero": "kept"}
_MAIN_KEYS = {"prompt", "prompt_id", "rubrics", "example_tags", "ideal_completions_data", "canary"}
_META_KEYS = {
    *("prompt", "prompt_id", "completion", "completion_id", "rubric", "category"),
    *("binary_labels", "anonymized_physician_ids", "canary"),
}
_GRADED_KEYS = {"prompt", "prompt_id", "completion", "completion_id", "rubric_items", "score"}
_GRADER = "grader"


def parse_healthbench(data: bytes, file: str) -> ImportedDocuments:
    """Return the documents of a HealthBench file, which messages call `file`.

    Raises:
        InputError: with every mistake of the file.
    """
    source = _parse_source(data, file)
    graded = isinstance(source.root, dict)
    builder = _HealthbenchBuilder(source)
    if graded:
        builder.read_results()
    else:
        for record in iterate_records(source, (), source.root):
            if "binary_labels" in record.fields:
                builder.read_meta_row(record)
            else:
                builder.read_row(record)
    builder.check()
    source.raise_problems()
    return ImportedDocuments(
        rubric=build_rubric("healthbench", [_AXIS]),
        exam={
            "exam": make_name(PurePath(file).stem, "healthbench"),
            "items": list(builder.items.values()),
        },
        answers=builder.answers,
        ratings=builder.ratings,
        remarks=source.list_remarks(),
    )


def _parse_source(data: bytes, file: str) -> ForeignSource:
    """Parse JSON lines; a file that is one object over several lines is the results of a run."""
    first = data.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0].strip()
    if first == b"{" or b'"example_level_metadata"' in first:
        return parse_json_source(data, file)
    return parse_jsonl_source(data, file)


class _HealthbenchBuilder:
    """Collects items, answers and ratings, row by row."""

    def __init__(self, source: ForeignSource) -> None:
        self.source = source
        self.items: dict[str, dict[str, Any]] = {}
        self.answers: list[Row] = []
        self.ratings: list[Row] = []
        # Of the meta-evaluation: the ids of criteria by item and text, the attempts by item and
        # completion, and how often a physician has labelled the same.
        self._criteria: dict[str, dict[str, str]] = {}
        self._attempts: dict[str, dict[str, int]] = {}
        self._labels: dict[tuple[str, int, str, str], int] = {}
        self._texts: dict[tuple[str, int], str] = {}
        # Of the results of a run: how many answers each item has.
        self._counts: dict[str, int] = {}

    def check(self) -> None:
        """Report a file without any item."""
        if not self.items and not self.source.problems:
            self.source.add_problem((), "holds no row of HealthBench")

    # The benchmark

    def read_row(self, record: ForeignRecord) -> None:
        """Read a row of the benchmark: an item, and the completions that it holds."""
        record.check_keys(_MAIN_KEYS)
        name = _read_id(record)
        tags = read_tags(record, "example_tags", plain="tag")
        if name in self.items:
            record.add_problem("prompt_id", f"`{name}` occurs twice; each id may occur once")
        criteria = [
            criterion
            for criterion, _ in _iterate_criteria(record.get_records("rubrics"), _CRITERION_KEYS)
        ]
        _check_any(record, "rubrics", criteria)
        self._add_item(record, name, tags, criteria)
        if record.has("ideal_completions_data"):
            self._read_completions(record, name, tags)
        _read_canary(record, tags)

    def _add_item(
        self, record: ForeignRecord, name: str, tags: dict[str, str], criteria: Sequence[Row]
    ) -> None:
        item = {"id": name, "prompt": _read_conversation(record, "prompt")}
        self.items[name] = item | {"tags": tags, CRITERIA_AXIS: list(criteria)}

    def _read_completions(self, record: ForeignRecord, name: str, tags: dict[str, str]) -> None:
        ideal = record.get_record("ideal_completions_data")
        if ideal is None:
            return
        ideal.check_keys(_IDEAL_KEYS)
        if group := ideal.get_optional_text("ideal_completions_group"):
            path = (*ideal.path, "ideal_completions_group")
            add_tag(tags, "ideal_completions_group", check_tag_value(self.source, path, group))
        if text := ideal.get_optional_text("ideal_completion", longest=None):
            self.answers.append({"item": name, "subject": "physician", "output": text})
        references = "ideal_completions_ref_completions"
        texts = ideal.get_texts(references, longest=None) if ideal.has(references) else []
        for number, reference in enumerate(texts, start=1):
            row = {"item": name, "subject": f"reference-{number}", "output": reference}
            self.answers.append(row)

    # The meta-evaluation

    def read_meta_row(self, record: ForeignRecord) -> None:
        """Read the physicians' verdicts on one criterion of one completion."""
        record.check_keys(_META_KEYS)
        name = _read_id(record)
        if name not in self.items:
            self._add_item(record, name, {}, [])
            _read_canary(record, self.items[name]["tags"])
        elif _format_messages(record.fields.get("prompt")) != self.items[name]["prompt"]:
            record.add_problem("prompt", f"differs from that of an earlier row of `{name}`")
        attempt = self._read_completion(record, name)
        self._read_labels(record, name, attempt, self._read_meta_criterion(record, name))

    def _read_meta_criterion(self, record: ForeignRecord, name: str) -> str:
        """Return the id of the criterion of a row; the first row with its text defines it."""
        text = record.get_text("rubric")
        known = self._criteria.setdefault(name, {})
        if text not in known:
            known[text] = f"c{len(known) + 1}"
            record.add_remark("rubric", "has no points in this file: each criterion gets 1 point")
            criterion: dict[str, Any] = {"id": known[text], "points": 1, "says": text}
            if category := record.get_optional_text("category"):
                key, colon, value = category.partition(":")
                pair = (key, value) if colon and is_name(key) and value else ("category", category)
                check_tag_value(self.source, (*record.path, "category"), pair[1])
                criterion["tags"] = dict([pair])
            self.items[name][CRITERIA_AXIS].append(criterion)
        return known[text]

    def _read_completion(self, record: ForeignRecord, name: str) -> int:
        """Return the number of a completion among those of its item; keep a new one as answer."""
        id_ = record.get_text("completion_id", longest=None)
        text = record.get_answer("completion")
        known = self._attempts.setdefault(name, {})
        attempt = known.setdefault(id_, len(known) + 1)
        if self._texts.setdefault((name, attempt), text) != text:
            message = f"differs from that of an earlier row of the completion `{id_}`"
            record.add_problem("completion", message)
        elif len(self._texts) > len(self.answers):
            row = {"item": name, "attempt": attempt, "output": text, "completion_id": id_}
            self.answers.append(row)
        return attempt

    def _read_labels(self, record: ForeignRecord, name: str, attempt: int, criterion: str) -> None:
        labels, raters = record.get_list("binary_labels"), _read_raters(record)
        if len(labels) != len(raters):
            message = f"has {len(raters)} entries beside {len(labels)} in binary_labels"
            record.add_problem("anonymized_physician_ids", message)
        for index, (label, rater) in enumerate(zip(labels, raters, strict=False)):
            if not isinstance(label, bool):
                path = (*record.path, "binary_labels", index)
                self.source.add_problem(path, "is neither true nor false")
                continue
            key = (name, attempt, criterion, rater)
            repeat = self._labels[key] = self._labels.get(key, 0) + 1
            rating = _build_rating(name, rater, criterion, met=label)
            self.ratings.append(rating | {"attempt": attempt, "repeat": repeat - 1})

    # Results of a run

    def read_results(self) -> None:
        """Read the answers of a model and the verdicts of the grader model on them."""
        root = ForeignRecord(self.source, (), self.source.root)
        root.check_keys({"metadata", "score"})
        if root.has("score"):
            shown = root.get_number("score")
            root.add_remark("score", f"the score that the file gives is {shown:f}")
        metadata = root.get_record("metadata")
        if metadata is None:
            return
        metadata.check_keys({"example_level_metadata"})
        for record in metadata.get_records("example_level_metadata"):
            self._read_result(record)

    def _read_result(self, record: ForeignRecord) -> None:
        record.check_keys(_GRADED_KEYS)
        name = _read_id(record)
        graded = record.get_records("rubric_items")
        criteria, ratings = [], []
        for criterion, part in _iterate_criteria(graded, _GRADED_CRITERION_KEYS):
            criteria.append(criterion)
            rating = _build_rating(
                name, _GRADER, criterion["id"], met=part.get_flag("criteria_met")
            )
            note = part.get_optional_text("explanation")
            ratings.append(rating | {"source": "judge", "note": note})
        _check_any(record, "rubric_items", criteria)
        if name not in self.items:
            self._add_item(record, name, {}, criteria)
        elif self.items[name][CRITERIA_AXIS] != criteria:
            message = f"differ from those of an earlier answer to `{name}`"
            record.add_problem("rubric_items", message)
        attempt = self._counts[name] = self._counts.get(name, 0) + 1
        output = _read_output(record)
        self.answers.append({"item": name, "attempt": attempt, "output": output})
        self.ratings += [rating | {"attempt": attempt} for rating in ratings]
        record.add_remark(
            "rubric_items",
            f"the file does not name the grader model: its ratings have the rater `{_GRADER}`",
        )


_CRITERION_KEYS = {"criterion", "points", "tags"}
_GRADED_CRITERION_KEYS = {*_CRITERION_KEYS, "criteria_met", "explanation"}
_IDEAL_KEYS = {
    "ideal_completion",
    "ideal_completions_group",
    "ideal_completions_ref_completions",
}


def _read_id(record: ForeignRecord) -> str:
    name = record.get_text("prompt_id")
    if name and not is_name(name):
        message = f"`{name}` is no id of an item; ids are letters, digits, `.`, `_` and `-`"
        record.add_problem("prompt_id", message)
    return name


def _read_canary(record: ForeignRecord, tags: dict[str, str]) -> None:
    """Keep the sign by which training data is searched for the benchmark."""
    if text := record.get_optional_text("canary"):
        add_tag(tags, "canary", check_tag_value(record.source, (*record.path, "canary"), text))


def _iterate_criteria(
    records: list[ForeignRecord], known: set[str]
) -> Iterator[tuple[dict[str, Any], ForeignRecord]]:
    """Yield each criterion with points, and the object that it was made from."""
    number = 0
    for record in records:
        record.check_keys(known)
        points = read_points(record, "points")
        text = record.get_text("criterion")
        tags = read_tags(record, "tags", plain="tag")
        if not points:
            report_without_points(record, "points", "criterion")
            continue
        number += 1
        criterion: dict[str, Any] = {"id": f"c{number}", "points": points, "says": text}
        yield criterion | ({"tags": tags} if tags else {}), record


def _check_any(record: ForeignRecord, key: str, criteria: Sequence[Row]) -> None:
    if not criteria and record.has(key):
        record.add_problem(key, "holds no criterion with points; at least one is needed")


def _read_conversation(record: ForeignRecord, key: str) -> str:
    """Return the messages of a conversation as one text, each after its role."""
    for message in record.get_records(key):
        message.check_keys({"role", "content"})
        message.get_text("role")
        message.get_answer("content")
    messages = record.fields.get(key)
    if messages == []:
        record.add_problem(key, "holds no message; at least one is needed")
    text = _format_messages(messages)
    return check_text(record.source, (*record.path, key), text, longest=100_000)


def _format_messages(messages: Any) -> str:
    if not isinstance(messages, list):
        return ""
    parts = [part for part in messages if isinstance(part, dict)]
    return "\n\n".join(f"{part.get('role')}: {part.get('content')}" for part in parts)


def _read_raters(record: ForeignRecord) -> list[str]:
    """Return who gave each label. A file without ids has physicians without names."""
    if not record.has("anonymized_physician_ids"):
        count = len(record.get_list("binary_labels"))
        record.add_remark("binary_labels", "no ids of physicians: they are numbered in each row")
        return [f"physician-{number}" for number in range(1, count + 1)]
    path = (*record.path, "anonymized_physician_ids")
    raters = record.get_texts("anonymized_physician_ids")
    return [check_tag_value(record.source, (*path, at), name) for at, name in enumerate(raters)]


def _read_output(record: ForeignRecord) -> str:
    """Return the answer of a result: the content of its messages."""
    messages = record.get_records("completion")
    if len(messages) != 1:
        record.add_problem("completion", f"holds {len(messages)} messages; one is needed")
        return ""
    messages[0].check_keys({"role", "content"})
    return messages[0].get_answer("content")


def _build_rating(item: str, rater: str, criterion: str, *, met: bool | None) -> dict[str, Any]:
    return {
        "item": item,
        "rater": rater,
        "axis": CRITERIA_AXIS,
        "criterion": criterion,
        "score": "" if met is None else int(met),
    }
