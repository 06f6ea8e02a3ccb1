"""Build an exam from rows in memory, with the same refusals as for exam files."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any

from markscheme.read.documents.exam import ItemCheck, find_duplicate_ids, parse_exam_tree
from markscheme.read.documents.fingerprint import compute_exam_fingerprint
from markscheme.read.documents.yaml import YamlMapping, YamlSequence
from markscheme.read.nfc import to_nfc
from markscheme.read.storable import find_text_fault
from markscheme.vocabulary import DocumentError, Exam, Problem

_SOURCE = "rows"
_MAX_NUMBER = 10**100


def build_exam(
    rows: Iterable[Any], *, name: str, expectations: Collection[str], check: ItemCheck
) -> Exam:
    """Build an exam of rows, each the mapping of an item; problems name the row as their line.

    Raises:
        DocumentError: something is wrong; the error holds every problem.
    """
    converter = _RowConverter()
    tree, items = YamlMapping(1), YamlSequence(1)
    for number, row in enumerate(rows, start=1):
        items.append(converter.convert(row, number, f"items.{number - 1}"))
        items.lines.append(number)
    for key, value in (("exam", name), ("items", items)):
        tree[key], tree.lines[key] = value, 1
    parsed_name, parsed, problems = parse_exam_tree(tree, _SOURCE, expectations, check)
    known = {problem.field for problem in converter.problems}
    others = [problem for problem in problems if problem.field not in known]
    problems = [*converter.problems, *others, *find_duplicate_ids(parsed)]
    if problems:
        raise DocumentError(problems)
    return Exam(
        names=(parsed_name,),
        items=tuple(parsed),
        fingerprint=compute_exam_fingerprint([parsed_name], parsed),
    )


class _RowConverter:
    """Turns rows into nodes as the YAML reader makes them, and collects what no file can hold."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def convert(self, value: Any, line: int, field: str) -> Any:
        """Return the node of a value: exact numbers, texts in NFC, containers with their lines."""
        match value:
            case None | bool():
                return value
            case str():
                return self._convert_text(value, line, field)
            case Mapping():
                return self._convert_mapping(value, line, field)
            case list() | tuple():
                sequence = YamlSequence(line)
                sequence += [
                    self.convert(entry, line, f"{field}.{at}") for at, entry in enumerate(value)
                ]
                sequence.lines = [line] * len(sequence)
                return sequence
            case int() | float() | Decimal():
                if not math.isfinite(value) or not -_MAX_NUMBER < value < _MAX_NUMBER:
                    self._add_problem(line, field, "a finite number below 10^100 is needed")
                    return None
                return Decimal(repr(value)) if isinstance(value, float) else value
            case _:
                kind = type(value).__name__
                message = f"must be text, a number, a list or a mapping, not a {kind}"
                self._add_problem(line, field, message)
        return None

    def _convert_text(self, value: str, line: int, field: str) -> str:
        fault = find_text_fault(value)
        if fault is not None:
            self._add_problem(line, field, f"holds {fault}")
            return ""
        return to_nfc(value)

    def _convert_mapping(self, value: Mapping[Any, Any], line: int, field: str) -> YamlMapping:
        mapping = YamlMapping(line)
        for key, inner in value.items():
            if not isinstance(key, str):
                self._add_problem(line, field, f"the key {key!r} must be text")
                continue
            name = self._convert_text(key, line, field)
            mapping[name] = self.convert(inner, line, f"{field}.{name}")
            mapping.lines[name] = line
        return mapping

    def _add_problem(self, line: int, field: str, message: str) -> None:
        self.problems.append(Problem(file=_SOURCE, line=line, field=field, message=message))
