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

from markscheme.vocabulary import FrozenDict, format_plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.vocabulary import AxisSpec, Item


_encode_sorted_json = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":")
).encode
_encode_json = json.JSONEncoder(ensure_ascii=False).encode
_encode_key = json.JSONEncoder().encode
_TEXT_TYPES = {str}
_MAPPING_TYPES, _LIST_TYPES = {dict, FrozenDict}, {list, tuple}
_PLAIN_TYPES = _TEXT_TYPES | _MAPPING_TYPES | _LIST_TYPES | {NoneType}


def compute_rubric_fingerprint(
    name: str, version: int, axes: Iterable[AxisSpec], comparison: Iterable[Any] = ()
) -> str:
    """Hash what can change a score or a verdict: name, version, axes, rules, table and scales.

    Of the axes it is their order, weights, parameters and versions.
    """
    parts = [dataclasses.asdict(part) for part in comparison if part is not None]
    return _hash_parts("rubric/1", name, version, [_describe_axis(spec) for spec in axes], *parts)


def compute_exam_fingerprint(names: Iterable[str], items: Iterable[Item]) -> str:
    """Hash the items, whatever their order and however many files they came in."""
    by_id = sorted(items, key=lambda item: item.id)
    return _hash_parts("exam/1", sorted(names), [_describe_item(item) for item in by_id])


def _describe_axis(spec: AxisSpec) -> dict[str, Any]:
    fields = dataclasses.fields(spec.axis)  # type: ignore[arg-type]
    parameters = {field.name: getattr(spec.axis, field.name) for field in fields}
    return {
        "name": spec.name,
        "kind": [spec.axis.kind, spec.axis.version],
        "weight": spec.weight,
        "parameters": parameters,
    }


def _describe_item(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "prompt": item.prompt,
        "expectations": item.expectations,
        "tags": item.tags,
    }


def _hash_parts(*parts: Any) -> str:
    digest = blake2b(
        to_canonical_json(list(parts)).encode("utf-8", "surrogatepass"), digest_size=16
    )
    return f"b2:{digest.hexdigest()}"


def to_canonical_json(value: Any) -> str:
    """Return one text for one meaning: sorted keys, numbers by value (0.60 is 0.6), no spaces."""
    return _dump_sorted_json(value) if _is_plain_json(value) else _encode_canonical(value)


def _dump_sorted_json(value: Any) -> str:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONEncodeError:  # half a surrogate pair, or very deep
        return _encode_sorted_json(value)


def _is_plain_json(value: Any) -> bool:
    """Whether JSON as it is usually written is the canonical text, and is made much faster."""
    level = [value]
    while level:  # all that is equally deep at once
        if not _PLAIN_TYPES.issuperset(map(type, level)):
            return False
        mappings = [one for one in level if type(one) in _MAPPING_TYPES]
        lists = [one for one in level if type(one) in _LIST_TYPES]
        keys = set(chain.from_iterable(mappings))
        if not _TEXT_TYPES.issuperset(map(type, keys)):
            return False
        told = "".join(keys)  # signs that are not shown are escaped in one way or another
        if not (told.isascii() and told.isprintable()):
            return False
        level = [*chain.from_iterable(map(dict.values, mappings)), *chain.from_iterable(lists)]
    return True


def _encode_canonical(value: Any) -> str:
    match value:
        case str() | None | bool():
            return _encode_json(value)
        case int() | Decimal():
            return format_plain(Decimal(value))
        case Fraction():
            return f"{value.numerator}/{value.denominator}"
        case float():
            return format_plain(Decimal(repr(value)))
        case list() | tuple():
            return f"[{','.join(map(_encode_canonical, value))}]"
        case _:
            pairs = sorted((str(key), _encode_canonical(inner)) for key, inner in value.items())
            return f"{{{','.join(f'{_encode_key(key)}:{inner}' for key, inner in pairs)}}}"
