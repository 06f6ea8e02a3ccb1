"""How a raw output is read, first match: one JSON object, one fenced JSON object, plain text."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import orjson

from markscheme.read.composed import composed
from markscheme.vocabulary import Reading, Response

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NO_FIELDS: Mapping[str, tuple[type, ...]] = MappingProxyType({})
_FENCES = ("```", "~~~")


def read_response(
    output: str | Mapping[str, Any], fields: Mapping[str, tuple[type, ...]] = _NO_FIELDS
) -> Response:
    """Read one raw output; `fields` are those that axes want to read, with the types they accept.

    >>> read_response('{"correction": "Ate."}').reading.value
    'object'
    """
    if not isinstance(output, str):
        return _structured(Reading.OBJECT, _as_text(output), _composed(dict(output)), fields)
    document, why = _parsed(output)
    if document is not None:
        return _structured(Reading.OBJECT, composed(output), document, fields)
    text = composed(output)
    fenced = [found for found in map(_object_in, _fenced_blocks(output)) if found is not None]
    if len(fenced) == 1:
        return _structured(Reading.FENCED, text, fenced[0], fields, why)
    if fenced:
        why = f"it holds {len(fenced)} fenced JSON objects, not one"
    return Response(reading=Reading.TEXT, text=text, why=why)


def _structured(
    reading: Reading,
    text: str,
    document: dict[str, Any],
    fields: Mapping[str, tuple[type, ...]],
    why: str = "",
) -> Response:
    lacking = tuple(name for name, types in fields.items() if type(document.get(name)) not in types)
    return Response(reading=reading, text=text, document=document, why=why, lacking=lacking)


def _as_text(document: Mapping[str, Any]) -> str:
    return composed(json.dumps(document, ensure_ascii=False, default=str))


def _parsed(text: str) -> tuple[dict[str, Any] | None, str]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return None, f"not JSON ({error.msg}, line {error.lineno} column {error.colno})"
    if isinstance(value, dict):
        plain = text.isascii() and "\\u" not in text
        return (value if plain else _composed(value)), ""
    return None, f"JSON, but {_kind_of(value)}, not an object"


def _object_in(text: str) -> dict[str, Any] | None:
    return _parsed(text)[0]


def _kind_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case _:
            return "a list"


def _composed(document: dict[str, Any]) -> dict[str, Any]:
    """Bring the text fields to NFC: an escaped accent may still be two code points."""
    return {
        composed(key): composed(value) if isinstance(value, str) else value
        for key, value in document.items()
    }


def _fenced_blocks(text: str) -> Iterator[str]:
    """Yield what stands between fences, in one pass.

    A fence opens where three or more backticks or tildes stand in a line and closes at a line of
    the same mark, at the same mark later in its own line, or at the end of the text.
    """
    if "```" not in text and "~~~" not in text:
        return
    lines = iter(text.splitlines())
    for line in lines:
        mark, rest = _opening(line)
        if not mark:
            continue
        inline, closed, _ = rest.partition(mark)
        if closed:
            yield _without_info(inline)
            continue
        inside = [_without_info(rest)]
        for following in lines:
            if following.strip().startswith(mark) and not following.strip().strip(mark[0]):
                break
            inside.append(following)
        yield "\n".join(inside)


def _opening(line: str) -> tuple[str, str]:
    starts = [(line.find(mark), mark) for mark in _FENCES if mark in line]
    if not starts:
        return "", ""
    start, mark = min(starts)
    rest = line[start:].lstrip(mark[0])
    return line[start : len(line) - len(rest)], rest


def _without_info(rest: str) -> str:
    """Drop the info string of a fence (`json`), keep what follows it on the line."""
    brace = rest.find("{")
    return rest[brace:] if brace >= 0 else ""
