"""What the functions of the language and of the sandbox do with values.

The sandbox of code mode has no file system, network, console or modules. Apart from the tools, its
functions print (`text`, `image`, `audio`, `notify`), keep values (`store`, `load`) or wait.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from markscheme.read.json_fields import parse_json, split_words
from markscheme.read.transcripts.code_mode.values import (
    TOOLS,
    UNKNOWN,
    Container,
    ListValue,
    Method,
    ObjectValue,
    PartialText,
)

if TYPE_CHECKING:
    from markscheme.read.transcripts.code_mode.evaluation import Evaluation

# Ways to code or to a global object that is not followed.
REVEALING_NAMES = split_words(
    "eval Function import Reflect Proxy constructor prototype __proto__ __defineGetter__ "
    "getPrototypeOf setPrototypeOf this self window global process require"
)
HARMLESS_NAMES = split_words(
    "text image audio generatedImage store load notify exit yield_control setTimeout "
    "clearTimeout ALL_TOOLS add_content output_text output_image console Promise JSON "
    "Object Array String Number Boolean Math Date RegExp Error TypeError RangeError "
    "SyntaxError Set Map WeakMap WeakSet Symbol BigInt Intl NaN Infinity parseInt "
    "parseFloat isNaN isFinite encodeURIComponent decodeURIComponent encodeURI decodeURI "
    "escape unescape"
)
CHANGING_METHODS = split_words(
    "push unshift pop shift splice sort reverse fill copyWithin set add delete clear"
)
# They print or look at a value, and keep nothing of it.
_LOOKING = split_words(
    "text image audio generatedImage notify JSON.stringify Object.keys console.log"
)
_CALLBACK_METHODS = split_words("map flatMap forEach filter some every find findIndex")
_PROMISE_METHODS = frozenset({"then", "catch", "finally"})
_MAX_JSON_DEPTH = 8


def call_builtin(evaluation: Evaluation, name: str, arguments: list[Any], at: int) -> Any:
    """Follow a call of a function of the language; return what is known of its result."""
    first = arguments[0] if arguments else None
    if name in _LOOKING and first is TOOLS:
        return UNKNOWN
    result = _compute_result(evaluation, name, arguments, at)
    if result is not UNKNOWN:
        return result
    if name in {"setTimeout", "new Promise"}:
        evaluation.call_later(first)
        return UNKNOWN
    changes = name in {"Object.assign", "Object.defineProperty", "Object.defineProperties"}
    if changes and isinstance(first, Container):
        evaluation.note_change(first)
    for argument in arguments:
        evaluation.release(argument, opens=changes)
    return UNKNOWN


def _compute_result(evaluation: Evaluation, name: str, arguments: list[Any], at: int) -> Any:
    first = arguments[0] if arguments else None
    if isinstance(first, Container):
        evaluation.note_reading(first)
    if name in {"Promise.all", "Promise.resolve", "Object.freeze"} and arguments:
        return first
    if name in {"Array.from", "new Set", "Array.of"} and len(arguments) == 1:
        items = [*arguments] if name == "Array.of" else _list_known_items(first)
        return UNKNOWN if items is None else evaluation.make_list(items, at)
    if name == "String" and arguments:
        return evaluation.join_values([first])
    if name == "JSON.stringify" and isinstance(first, str):
        return json.dumps(first, ensure_ascii=False)
    if name == "JSON.parse" and isinstance(first, str):
        return _convert_json(evaluation, parse_json(first), at)
    if name in {"Object.entries", "Object.values", "Object.keys"}:
        return _list_fields(evaluation, name, first, at)
    return UNKNOWN


def _list_known_items(value: Any) -> list[Any] | None:
    is_known = isinstance(value, ListValue) and not value.is_open
    return list(value.items) if is_known else None


def _list_fields(evaluation: Evaluation, name: str, value: Any, at: int) -> Any:
    if not isinstance(value, ObjectValue) or value.is_open:
        return UNKNOWN
    parts: dict[str, list[Any]] = {
        "Object.keys": list(value.fields),
        "Object.values": list(value.fields.values()),
        "Object.entries": [
            evaluation.make_list([key, item], at) for key, item in value.fields.items()
        ],
    }
    return evaluation.make_list(parts[name], at)


def _convert_json(evaluation: Evaluation, value: Any, at: int, depth: int = 0) -> Any:
    if value is None or isinstance(value, str | int):
        return value
    if depth < _MAX_JSON_DEPTH and isinstance(value, dict):
        fields = {k: _convert_json(evaluation, v, at, depth + 1) for k, v in value.items()}
        return evaluation.make_object(fields, at)
    if depth < _MAX_JSON_DEPTH and isinstance(value, list):
        return evaluation.make_list(
            [_convert_json(evaluation, item, at, depth + 1) for item in value], at
        )
    return UNKNOWN


def call_method(evaluation: Evaluation, method: Method, arguments: list[Any], at: int) -> Any:
    """Follow a call of a method; return what is known of its result."""
    receiver, name = method.receiver, method.name
    if isinstance(receiver, str | PartialText):
        result = _call_text_method(evaluation, method, arguments, at)
    elif isinstance(receiver, ListValue) and not receiver.is_open:
        result = _call_list_method(evaluation, method, arguments, at)
    else:
        result = UNKNOWN
    if result is not UNKNOWN:
        return result
    evaluation.release(receiver, opens=name in CHANGING_METHODS)
    for argument in arguments:
        if name in _PROMISE_METHODS:
            evaluation.call_later(argument)
        else:
            evaluation.release(argument)
    return UNKNOWN


def _call_text_method(evaluation: Evaluation, method: Method, arguments: list[Any], at: int) -> Any:
    text, name = method.receiver, method.name
    if name == "concat":
        return evaluation.join_values([text, *arguments])
    if isinstance(text, PartialText):
        return text if name in {"trim", "toString"} else UNKNOWN
    if name in {"trim", "toString"}:
        return text.strip() if name == "trim" else text
    if not all(isinstance(argument, str) for argument in arguments):
        return UNKNOWN
    if name == "split" and len(arguments) == 1 and arguments[0]:
        return evaluation.make_list(text.split(arguments[0]), at)
    if name in {"replace", "replaceAll"} and len(arguments) == 2 and "$" not in arguments[1]:  # noqa: PLR2004 - old and new
        parts = text.split(arguments[0], 1 if name == "replace" else -1) if arguments[0] else []
        return _join_values(evaluation, list(parts), arguments[1]) if parts else UNKNOWN
    return UNKNOWN


def _join_values(evaluation: Evaluation, values: list[Any], separator: Any) -> Any:
    parts = [part for value in values for part in (separator, value)]
    return evaluation.join_values(parts[1:])


def _call_list_method(evaluation: Evaluation, method: Method, arguments: list[Any], at: int) -> Any:
    values, name = method.receiver, method.name
    evaluation.note_reading(values)
    first = arguments[0] if arguments else None
    if name == "join":
        return _join_values(evaluation, values.items, "," if first is None else first)
    if name == "push":
        values.items.extend(arguments)
        return len(values.items)
    if name == "concat" and all(_list_known_items(a) is not None for a in arguments):
        joined = [item for a in arguments for item in a.items]
        return evaluation.make_list([*values.items, *joined], at)
    if name in {"slice", "values", "toSorted", "toReversed"}:
        # Leaving some out would miss calls; all of them is what may be used.
        return evaluation.make_list(list(values.items), at)
    if name == "entries":
        pairs = [evaluation.make_list([i, item], at) for i, item in enumerate(values.items)]
        return evaluation.make_list(list(pairs), at)
    if name in _CALLBACK_METHODS and arguments:
        return _call_for_each(evaluation, method, first, at)
    return UNKNOWN


def _call_for_each(evaluation: Evaluation, method: Method, callback: Any, at: int) -> Any:
    items = list(method.receiver.items)
    results = [
        evaluation.call_value(callback, [item, index, UNKNOWN], at)
        for index, item in enumerate(items)
    ]
    if method.name == "map":
        return evaluation.make_list(results, at)
    if method.name == "filter":
        return evaluation.make_list(items, at)
    if method.name == "flatMap":
        for result in results:
            evaluation.release(result, opens=False)
    return UNKNOWN if method.name != "forEach" else None
