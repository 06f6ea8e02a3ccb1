"""Read a raw output as a response: one JSON object, else one JSON object in a fence, else text.

Models often put their JSON into a Markdown code fence, so fences are looked for in several forms.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, NoReturn

import orjson

from markscheme.read.nfc import to_nfc
from markscheme.vocabulary import FrozenDict, Reading, Response, ResponseFields, sentence

_LINE_END = re.compile(r"\r\n|\n|\r")
_FENCE_OPENING = re.compile(
    r"(?P<before>[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?)(?P<mark>`{3,}|~{3,})(?P<info>.*)"
)
_BACKTICKS = re.compile(r"`{3,}")
_INFO_STRING = re.compile(r"[ \t]*[\w.+-]*\s*")
_NO_FIELDS = ResponseFields()
_BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
_HUGE_NUMBER = Decimal("1E+999999")
# Words in orjson's messages about text that is JSON all the same.
_BEYOND_ORJSON = ("surrogate", "number", "infinity")


def has_fence_marks(text: str) -> bool:
    """Return whether a text contains fence marks at all; few do."""
    return "```" in text or "~~~" in text


def find_fenced_blocks(text: str) -> Iterator[str]:
    """Yield the contents of fenced blocks, in one pass.

    A fence opens with three or more backticks or tildes at the start of a line, at any indentation
    and also after the marks of a quotation or a list item. It closes with a line of at least as
    many, or at the end of the text.
    """
    lines = iter(_LINE_END.split(text))
    for line in lines:
        opening = _FENCE_OPENING.fullmatch(line)
        if opening is None or (opening["mark"][0] == "`" and "`" in opening["info"]):
            continue
        content = []
        for content_line in lines:
            bare = content_line.strip(" \t>")
            if len(bare) >= len(opening["mark"]) and not bare.strip(opening["mark"][0]):
                break
            content.append(bare if ">" in opening["before"] else content_line)
        yield "\n".join(content)


def find_backtick_spans(text: str) -> Iterator[str]:
    """Yield the text between runs of backticks anywhere, without the language name in front.

    Models also open a fence in the middle of a line, or open and close it in one line.
    """
    for span in _BACKTICKS.split(text)[1::2]:
        yield _INFO_STRING.sub("", span, count=1)


def read_response(output: str | Mapping[str, Any], fields: ResponseFields = _NO_FIELDS) -> Response:
    """Read one raw output; `fields` are those that axes want to read.

    >>> read_response('{"correction": "Ate."}').reading.value
    'object'
    """
    if not isinstance(output, str):
        text = _dump_document(output)
        return _build_response(Reading.OBJECT, text, text, _compose_document(dict(output)), fields)
    document, why = _parse_object(output)
    if document is not None:
        return _build_response(Reading.OBJECT, output, output, document, fields)
    blocks: list[tuple[str, dict[str, Any]]] = []
    if has_fence_marks(output):
        blocks = _parse_objects(find_fenced_blocks(output)) or _parse_objects(
            find_backtick_spans(output)
        )
    if len(blocks) == 1:
        return _build_response(Reading.FENCED, output, *blocks[0], fields, why)
    if blocks:
        why = sentence("it holds {n} fenced JSON objects, not one", n=len(blocks))
    return Response(reading=Reading.TEXT, text=to_nfc(output), why=why)


def _parse_objects(blocks: Iterable[str]) -> list[tuple[str, dict[str, Any]]]:
    parsed = ((block, _parse_object(block)[0]) for block in blocks)
    return [(block, document) for block, document in parsed if document is not None]


def _build_response(
    reading: Reading,
    output: str,
    source: str,
    document: dict[str, Any],
    fields: ResponseFields,
    why: str = "",
) -> Response:
    accepted = fields.accepted.items()
    lacking = tuple(name for name, types in accepted if type(document.get(name)) not in types)
    return Response(
        reading=reading,
        text=to_nfc(output),
        document=document,
        why=why,
        lacking=lacking,
        numbers=_parse_exact_numbers(source, fields.numeric) if fields.numeric else FrozenDict(),
    )


def _dump_document(document: Mapping[str, Any]) -> str:
    try:
        return json.dumps(document, ensure_ascii=False, default=str)
    # A number of thousands of digits, or a document that contains itself.
    except (ValueError, RecursionError):
        return ""


def _parse_exact_numbers(source: str, names: Iterable[str]) -> FrozenDict:
    """Return the numbers in these fields exactly as written, not as doubles."""
    exact = _parse_with_stdlib(source.removeprefix(_BYTE_ORDER_MARK))
    if not isinstance(exact, dict):
        return FrozenDict()
    return FrozenDict({name: exact[name] for name in names if isinstance(exact.get(name), Decimal)})


def _parse_object(text: str) -> tuple[dict[str, Any] | None, str]:
    """Return the JSON object of a text, or `None` and the reason."""
    text = text.removeprefix(_BYTE_ORDER_MARK)
    if not text or text.isspace():
        return None, sentence("it is empty")
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        why = _format_json_error(error.msg, error.lineno, error.colno)
        if not _is_beyond_orjson(error.msg):
            return None, why
        value = _parse_with_stdlib(text)
        return (_compose_document(value), "") if isinstance(value, dict) else (None, why)
    if isinstance(value, dict):
        plain = text.isascii() and "\\u" not in text
        return (value if plain else _compose_document(value)), ""
    return None, sentence("JSON, but {kind}, not an object", kind=_describe_json_kind(value))


@lru_cache(maxsize=4096)
def _format_json_error(why: str, line: int, column: int) -> str:
    """Describe a JSON error; cached, because outputs are often cut off at the same length."""
    return sentence(
        "not JSON ({why}, line {line} column {column})", why=why, line=line, column=column
    )


@lru_cache(maxsize=256)
def _is_beyond_orjson(why: str) -> bool:
    """Return whether orjson rejects a text that may be JSON; it has only few messages."""
    return any(word in why for word in _BEYOND_ORJSON)


def _parse_with_stdlib(text: str) -> Any:
    """Parse JSON that orjson rejects: numbers beyond a double, lone surrogates."""
    try:
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_parse_decimal,
            parse_int=_parse_decimal,
        )
    except (ValueError, RecursionError):
        return None
    _replace_surrogates(value)
    return value


def _parse_decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    # The exponent is larger than `Decimal` allows.
    except InvalidOperation:
        return _HUGE_NUMBER


def _replace_surrogates(value: Any) -> None:
    """Replace lone surrogates in all texts of a JSON value, at any depth."""
    pending = [value]
    while pending:
        node = pending.pop()
        entries: list[tuple[Any, Any]]
        if isinstance(node, dict):
            entries = [(_compose_text(key), inner) for key, inner in node.items()]
            node.clear()
        elif isinstance(node, list):
            entries = list(enumerate(node))
        else:
            continue
        for key, inner in entries:
            node[key] = _compose_text(inner) if isinstance(inner, str) else inner
            pending.append(inner)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _describe_json_kind(value: Any) -> str:
    match value:
        case None:
            return sentence("null")
        case bool():
            return sentence("true or false")
        case int() | float():
            return sentence("a number")
        case str():
            return sentence("a string")
        case _:
            return sentence("a list")


def _compose_document(document: dict[str, Any]) -> dict[str, Any]:
    """Normalise keys and text fields to NFC; an escaped accent may be two code points."""
    return {
        _compose_text(k): _compose_text(v) if isinstance(v, str) else v for k, v in document.items()
    }


def _compose_text(text: str) -> str:
    """Return the text in NFC, with lone surrogates replaced."""
    if text.isascii():
        return text
    return to_nfc(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
