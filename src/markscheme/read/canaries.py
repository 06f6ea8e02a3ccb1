"""Read canaries: known answers with the marks that a judge must give them, and the injections.

A file of canaries has one JSON object in each line: `item`, `output`, `axis`, and `at_least`,
`at_most` or `one_of`; `criterion` for an axis of criteria, `name` for messages. Lines with the same
name are several ranges of one answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from msgspec import Struct

from markscheme.read.documents import BUILTIN_DIR, suggest_match
from markscheme.read.special_files import describe_special_file
from markscheme.vocabulary import InputError, Problem, UsageError, format_value

_KEYS = ("name", "item", "output", "axis", "criterion", "at_least", "at_most", "one_of")
_NEEDED = ("item", "output", "axis")


class CanaryRow(Struct, frozen=True, kw_only=True):
    """One line of a file of canaries: a known answer, and a range of marks on one axis."""

    name: str
    item: str
    output: str
    axis: str
    criterion: str = ""
    at_least: Fraction | None = None
    at_most: Fraction | None = None
    one_of: tuple[str, ...] = ()


def read_injections() -> dict[str, str]:
    """Return the built-in injections by name: texts that ask a judge for marks."""
    path = BUILTIN_DIR / "canaries" / "injections.jsonl"
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return {row["name"]: row["text"] for row in rows}


def read_canaries(
    source: str | Path, items: Iterable[str], axes: Mapping[str, Iterable[str] | None]
) -> list[CanaryRow]:
    """Return the canaries of a .jsonl file, checked against the exam and the axes.

    `axes` are the axes that a judge marks, with the ids of their criteria, or None.

    Raises:
        InputError: with every mistake in the file.
    """
    path = Path(source)
    if path.suffix.lower() != ".jsonl" or not path.is_file():
        why = describe_special_file(path) or "is no .jsonl file"
        raise UsageError(f"`{source}` {why}; canaries are a .jsonl file")
    known, named = set(items), dict[Any, Any]()
    rows: list[CanaryRow] = []
    problems: list[Problem] = []
    for line, text in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not text.strip():
            continue
        row = _parse_line(text)
        faults = [("", "is no JSON object")]
        if row is not None:
            faults = list(_find_faults(row, known, axes))
            answer = (row.get("item"), row.get("output"))
            if named.setdefault(row.get("name", line), answer) != answer:
                faults.append(("name", "is the name of another answer already"))
        problems += [
            Problem(file=str(source), line=line, field=key, message=why) for key, why in faults
        ]
        if row is not None and not faults:
            rows.append(_build_row(row, line))
    if not rows and not problems:
        problems.append(Problem(file=str(source), line=1, field="", message="holds no canary"))
    if problems:
        raise InputError(problems)
    return rows


def _parse_line(text: str) -> dict[str, Any] | None:
    """Return the object of a line; decimals stay as they are written."""
    try:
        row = json.loads(text, parse_float=str)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _find_faults(
    row: Mapping[str, Any], items: set[str], axes: Mapping[str, Iterable[str] | None]
) -> Iterator[tuple[str, str]]:
    """Yield the field and the message of everything that is wrong with a line."""
    for key in row:
        if key not in _KEYS:
            yield key, f"is unknown; allowed: {', '.join(_KEYS)}{suggest_match(key, _KEYS)}"
    for key in _NEEDED:
        if not isinstance(row.get(key), str) or not (row[key] or key == "output"):
            yield key, "must be a text"
    if isinstance(row.get("item"), str) and row["item"] not in items:
        yield "item", f"{format_value(row['item'])} is no item{suggest_match(row['item'], items)}"
    if isinstance(row.get("axis"), str):
        yield from _find_axis_faults(row, axes)
    yield from _find_range_faults(row)


def _find_axis_faults(
    row: Mapping[str, Any], axes: Mapping[str, Iterable[str] | None]
) -> Iterator[tuple[str, str]]:
    axis, criterion = row["axis"], row.get("criterion", "")
    if axis not in axes:
        allowed = f"allowed: {', '.join(axes)}{suggest_match(axis, axes)}"
        yield "axis", f"{format_value(axis)} is no axis that a judge marks; {allowed}"
        return
    known = axes[axis]
    if known is None and criterion:
        yield "criterion", f"{format_value(axis)} has no criteria; leave it out"
    if known is not None and criterion not in set(known):
        names = set(known)
        yield "criterion", f"must be a criterion{suggest_match(str(criterion), names)}"


def _find_range_faults(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    limits = [key for key in ("at_least", "at_most") if key in row]
    options = row.get("one_of")
    if not limits and options is None:
        yield "at_most", "is missing; a range has at_least, at_most or one_of"
    if options is not None and (
        limits
        or not isinstance(options, list)
        or not options
        or not all(isinstance(option, str) for option in options)
    ):
        yield "one_of", "must be a list of options, and stand without at_least and at_most"
    for key in limits:
        if _parse_number(row[key]) is None:
            yield key, f"{format_value(row[key])} is no number"
    low, high = _parse_number(row.get("at_least")), _parse_number(row.get("at_most"))
    if low is not None and high is not None and low > high:
        yield "at_least", "is above at_most; no mark is in this range"


def _parse_number(value: Any) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError):
        return None


def _build_row(row: Mapping[str, Any], line: int) -> CanaryRow:
    return CanaryRow(
        name=str(row.get("name") or f"line {line}"),
        item=row["item"],
        output=row["output"],
        axis=row["axis"],
        criterion=row.get("criterion", ""),
        at_least=_parse_number(row.get("at_least")),
        at_most=_parse_number(row.get("at_most")),
        one_of=tuple(row.get("one_of", ())),
    )
