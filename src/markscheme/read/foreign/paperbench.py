"""PaperBench (openai/frontier-evals): a tree of tasks with weights, and perhaps its grades.

The tree becomes nested groups; weights become points. The grades at the leaves become ratings:
those of a person, or those of a judge if the file names the judge model or holds what a judge
replied (`judge_metadata`). Scores of inner nodes are computed from the leaves and are not read.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import PurePath
from typing import Any

from markscheme.read.documents import CommentedMapping, make_name
from markscheme.read.foreign.imported import (
    CRITERIA_AXIS,
    ImportedDocuments,
    Row,
    build_rubric,
    read_points,
    report_without_points,
)
from markscheme.read.foreign.source import ForeignRecord, check_tag_value, parse_json_source
from markscheme.vocabulary import InputError, Problem, format_value

_AXIS = {"name": CRITERIA_AXIS, "kind": "criteria", "weight": 1}
# A document may be nested 64 levels deep, and each level of groups takes two of them.
_MAX_DEPTH = 28
_NODE_KEYS = {
    *("id", "requirements", "weight", "sub_tasks", "task_category", "finegrained_task_category"),
    *("score", "valid_score", "explanation", "judge_metadata"),
}
_RESULT_KEYS = {"graded_task_tree", "model_name", "graded_at", "score", "judge_type"}
_NO_SUBMISSION = "(The submission is not in the imported file; only its grades are.)"


def parse_paperbench(data: bytes, file: str) -> ImportedDocuments:
    """Return the documents of a task tree, graded or not, which messages call `file`.

    Raises:
        InputError: with every mistake of the file.
    """
    source = parse_json_source(data, file)
    if not isinstance(source.root, dict):
        message = f"is {format_value(source.root)}; a tree of tasks is needed, which is an object"
        raise InputError([Problem(file=file, line=1, field="", message=message)])
    root = ForeignRecord(source, (), source.root)
    reader = _TreeReader(_read_rater(root), make_name(PurePath(file).stem, "paper"))
    tree = root
    if root.has("graded_task_tree"):
        root.check_keys(_RESULT_KEYS)
        tree = root.get_record("graded_task_tree") or root
    item = reader.read_item(tree)
    source.raise_problems()
    answers = [{"item": item["id"], "output": _NO_SUBMISSION}] if reader.ratings else []
    if answers:
        source.add_remark((), reader.describe_rater())
        source.add_remark((), "the submission is not in the file: answers.jsonl stands in for it")
    return ImportedDocuments(
        rubric=build_rubric("paperbench", [_AXIS]),
        exam={"exam": reader.name, "items": [item]},
        answers=answers,
        ratings=reader.ratings,
        remarks=source.list_remarks(),
    )


def _read_rater(root: ForeignRecord) -> dict[str, Any]:
    """Return what the ratings say about their rater.

    A judge is named by the results of a grading, or is seen from what it replied.
    """
    if root.has("graded_task_tree"):
        name = root.get_optional_text("model_name") or root.get_optional_text("judge_type")
        check_tag_value(root.source, ("model_name",), name)
        at = root.get_optional_text("graded_at")
        return {"rater": name or "judge", "source": "judge"} | ({"at": at} if at else {})
    if _holds_judge_reply(root.fields):
        return {"rater": "judge", "source": "judge"}
    return {"rater": "grader"}


def _holds_judge_reply(root: Any) -> bool:
    """Return whether a node of the tree holds what a judge model replied."""
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if not isinstance(node, dict):
            continue
        if node.get("judge_metadata"):
            return True
        children = node.get("sub_tasks")
        nodes += children if isinstance(children, list) else []
    return False


class _TreeReader:
    """Reads the nodes of a tree from left to right, and numbers criteria and groups."""

    def __init__(self, rater: dict[str, Any], name: str) -> None:
        self.name = name
        self.ratings: list[Row] = []
        self._rater = rater
        self._criteria = 0
        self._groups = 0

    def describe_rater(self) -> str:
        """Return whose the grades are taken for."""
        if self._rater.get("source") == "judge":
            return f"the grades are ratings of the judge `{self._rater['rater']}`"
        return "the grades are ratings of a person: no node holds the reply of a judge model"

    def read_item(self, root: ForeignRecord) -> Row:
        """Return the item: its prompt is what the root requires, its criteria are the rest."""
        item = {"id": self.name, "prompt": root.get_text("requirements")}
        if root.fields.get("sub_tasks"):
            _check_node(root)
            criteria = self._read_children(root, 1)
        else:
            criteria = self._read_nodes([root], 1)
        return item | {CRITERIA_AXIS: criteria}

    def _read_children(self, record: ForeignRecord, depth: int) -> list[Row]:
        if depth > _MAX_DEPTH:
            message = f"tasks are nested deeper than {_MAX_DEPTH} levels, the most that is read"
            record.add_problem("sub_tasks", message)
            return []
        criteria = self._read_nodes(record.get_records("sub_tasks"), depth)
        if not criteria:
            message = "no task has a weight, so there is nothing to score; at least one needs one"
            record.add_problem("sub_tasks", message)
        return criteria

    def _read_nodes(self, records: list[ForeignRecord], depth: int) -> list[Row]:
        entries = (self._read_node(record, depth) for record in records)
        return [entry for entry in entries if entry is not None]

    def _read_node(self, record: ForeignRecord, depth: int) -> Row | None:
        """Return the criterion or group of a task, or None if it has no weight."""
        is_leaf = not record.fields.get("sub_tasks")
        _check_node(record)
        points = read_points(record, "weight")
        if points < 0:
            record.add_problem("weight", f"is {points}; weights of tasks are not negative")
        if not points:
            report_without_points(record, "weight", "task")
            return None
        return (
            self._read_leaf(record, points) if is_leaf else self._read_group(record, points, depth)
        )

    def _read_group(self, record: ForeignRecord, points: int | Decimal, depth: int) -> Row:
        self._groups += 1
        group: dict[str, Any] = {"group": f"g{self._groups}", "points": points}
        comment = f"{record.get_text('requirements')}\n(task {record.get_text('id')})"
        record.add_remark("requirements", "what a group requires is a comment in exam.yaml")
        return CommentedMapping(
            comment, group | {"criteria": self._read_children(record, depth + 1)}
        )

    def _read_leaf(self, record: ForeignRecord, points: int | Decimal) -> Row:
        self._criteria += 1
        id_ = f"c{self._criteria}"
        tags = {"task": record.get_text("id")}
        for key in ("task_category", "finegrained_task_category"):
            if text := record.get_optional_text(key):
                tags[key.removeprefix("task_")] = text
        for key, text in tags.items():
            check_tag_value(record.source, (*record.path, key), text)
        if record.has("score"):
            self._add_rating(record, id_)
        return {
            "id": id_,
            "points": points,
            "says": record.get_text("requirements"),
            "tags": tags,
        }

    def _add_rating(self, record: ForeignRecord, criterion: str) -> None:
        """Keep the grade of a leaf. A grade that is not valid is a rating without a score."""
        score = read_points(record, "score")
        if score not in {0, 1}:
            record.add_problem("score", f"is {score}; the score of a criterion is 1 or 0")
        is_valid = record.get_flag("valid_score") if record.has("valid_score") else True
        note = record.get_optional_text("explanation")
        if not is_valid:
            note = f"not valid: {note}" if note else "not valid"
        rating = {
            "item": self.name,
            "axis": CRITERIA_AXIS,
            "criterion": criterion,
            "score": score if is_valid else "",
            "note": note,
        }
        self.ratings.append(rating | self._rater)


def _check_node(record: ForeignRecord) -> None:
    record.check_keys(_NODE_KEYS)
    if record.fields.get("judge_metadata"):
        record.add_remark("judge_metadata", "has no place in the documents: left out")
