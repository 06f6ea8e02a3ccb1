"""Fingerprints: a hash of what a document means, blind to how it is written."""

from __future__ import annotations

import dataclasses
import json
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any

import orjson

from markscheme.exact import plain
from markscheme.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.vocabulary import AxisSpec, Item


_words = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
_word = json.JSONEncoder(ensure_ascii=False).encode
_key = json.JSONEncoder().encode
_TEXTS = {str}
_MAPPINGS, _LISTS = {dict, Frozen}, {list, tuple}
_WORDY = _TEXTS | _MAPPINGS | _LISTS | {NoneType}


def rubric_fingerprint(
    name: str, version: int, axes: Iterable[AxisSpec], comparison: Iterable[Any] = ()
) -> str:
    """Hash what can change a score or a verdict: name, version, axes, rules, table and scales.

    Of the axes it is their order, weights, parameters and versions.
    """
    parts = [dataclasses.asdict(part) for part in comparison if part is not None]
    return _hashed("rubric/1", name, version, [_axis(spec) for spec in axes], *parts)


def exam_fingerprint(names: Iterable[str], items: Iterable[Item]) -> str:
    """Hash the items, whatever their order and however many files they came in."""
    by_id = sorted(items, key=lambda item: item.id)
    return _hashed("exam/1", sorted(names), [_item(item) for item in by_id])


def _axis(spec: AxisSpec) -> dict[str, Any]:
    fields = dataclasses.fields(spec.axis)  # type: ignore[arg-type]
    parameters = {field.name: getattr(spec.axis, field.name) for field in fields}
    return {
        "name": spec.name,
        "kind": [spec.axis.kind, spec.axis.version],
        "weight": spec.weight,
        "parameters": parameters,
    }


def _item(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "prompt": item.prompt,
        "expectations": item.expectations,
        "tags": item.tags,
    }


def _hashed(*parts: Any) -> str:
    digest = blake2b(canonical(list(parts)).encode("utf-8", "surrogatepass"), digest_size=16)
    return f"b2:{digest.hexdigest()}"


def canonical(value: Any) -> str:
    """Return one text for one meaning: sorted keys, numbers by value (0.60 is 0.6), no spaces."""
    return _written(value) if _is_of_words(value) else _canonical(value)


def _written(value: Any) -> str:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONEncodeError:  # half a surrogate pair, or very deep
        return _words(value)


def _is_of_words(value: Any) -> bool:
    """Whether JSON as it is usually written is the canonical text, and is made much faster."""
    level = [value]
    while level:  # all that is equally deep at once
        if not _WORDY.issuperset(map(type, level)):
            return False
        mappings = [one for one in level if type(one) in _MAPPINGS]
        lists = [one for one in level if type(one) in _LISTS]
        keys = set(chain.from_iterable(mappings))
        if not _TEXTS.issuperset(map(type, keys)):
            return False
        told = "".join(keys)  # signs that are not shown are escaped in one way or another
        if not (told.isascii() and told.isprintable()):
            return False
        level = [*chain.from_iterable(map(dict.values, mappings)), *chain.from_iterable(lists)]
    return True


def _canonical(value: Any) -> str:
    match value:
        case str() | None | bool():
            return _word(value)
        case int() | Decimal():
            return plain(Decimal(value))
        case Fraction():
            return f"{value.numerator}/{value.denominator}"
        case float():
            return plain(Decimal(repr(value)))
        case list() | tuple():
            return f"[{','.join(map(_canonical, value))}]"
        case _:
            pairs = sorted((str(key), _canonical(inner)) for key, inner in value.items())
            return f"{{{','.join(f'{_key(key)}:{inner}' for key, inner in pairs)}}}"
