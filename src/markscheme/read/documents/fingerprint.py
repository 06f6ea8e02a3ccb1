"""Fingerprints: a hash of what a rubric or an exam means, whatever way it is written.

The hash is taken over canonical JSON: sorted keys, numbers by value (0.60 is 0.6), no spaces. So
comments, key order, quotation marks and the spelling of numbers do not change a fingerprint.

>>> to_canonical_json({"b": Decimal("0.60"), "a": ["x", None]})
'{"a":["x",null],"b":0.6}'
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from itertools import chain
from types import NoneType
from typing import Any

import orjson
from msgspec import Struct, structs

from markscheme.vocabulary import AxisSpec, FrozenDict, Item, format_plain

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
    """Hash what can change a score or a verdict.

    That is name, version and axes (order, weights, parameters, versions), and for comparisons
    the verdict rules, decision table, and the scales, choices and notes without a weight. Gates,
    pass mark and titles of scored axes are left out.
    """
    parts = [part for part in comparison if part is not None]
    return hash_parts("rubric/1", name, version, [_describe_axis(spec) for spec in axes], *parts)


def compute_exam_fingerprint(names: Iterable[str], items: Iterable[Item]) -> str:
    """Hash the items. Their order and the number of files they come from do not matter."""
    described = [
        {
            "id": item.id,
            "prompt": item.prompt,
            "expectations": item.expectations,
            "tags": item.tags,
        }
        for item in sorted(items, key=lambda item: item.id)
    ]
    return hash_parts("exam/1", sorted(names), described)


def _describe_axis(spec: AxisSpec) -> dict[str, Any]:
    fields = dataclasses.fields(spec.axis)  # type: ignore[arg-type]
    parameters = {field.name: getattr(spec.axis, field.name) for field in fields}
    return {
        "name": spec.name,
        "kind": [spec.axis.kind, spec.axis.version, *filter(None, [spec.distribution])],
        "weight": spec.weight,
        "parameters": parameters,
    }


def hash_parts(*parts: Any) -> str:
    """Return the hash of plain values, which is a fingerprint; equal values have equal hashes."""
    digest = blake2b(
        to_canonical_json(list(parts)).encode("utf-8", "surrogatepass"), digest_size=16
    )
    return f"b2:{digest.hexdigest()}"


def to_canonical_json(value: Any) -> str:
    """Return the canonical JSON of a value: equal values give equal texts."""
    if not _is_plain_json(value):
        return _encode_canonical(value)
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONEncodeError:
        # orjson refuses a lone surrogate and very deep nesting; the standard library does not.
        return _encode_sorted_json(value)


def _is_plain_json(value: Any) -> bool:
    """Return whether orjson writes the canonical text of a value.

    Fast path: an exam of 1,000 items holds nothing but text, lists and mappings, and orjson is
    many times faster than `_encode_canonical`.
    """
    # Walk breadth first, one nesting level at a time, so that the checks run over whole lists.
    level = [value]
    while level:
        if not _PLAIN_TYPES.issuperset(map(type, level)):
            return False
        mappings = [node for node in level if type(node) in _MAPPING_TYPES]
        lists = [node for node in level if type(node) in _LIST_TYPES]
        keys = set(chain.from_iterable(mappings))
        if not _TEXT_TYPES.issuperset(map(type, keys)):
            return False
        # Keys with other characters are escaped differently by orjson.
        all_keys = "".join(keys)
        if not (all_keys.isascii() and all_keys.isprintable()):
            return False
        level = [*chain.from_iterable(map(dict.values, mappings)), *chain.from_iterable(lists)]
    return True


def _encode_canonical(value: Any) -> str:
    """Return the canonical JSON of any value: the definition that the fast path must agree with."""
    match value:
        case str() | None | bool():
            return _encode_json(value)
        case int() | Decimal():
            return format_plain(Decimal(value))
        case Fraction():
            return f"{value.numerator}/{value.denominator}"
        case float():
            return format_plain(Decimal(repr(value)))
        case Struct():
            return _encode_canonical(_select_fields(value))
        case list() | tuple():
            return f"[{','.join(map(_encode_canonical, value))}]"
        case _:
            pairs = sorted((str(key), _encode_canonical(inner)) for key, inner in value.items())
            return f"{{{','.join(f'{_encode_key(key)}:{inner}' for key, inner in pairs)}}}"


def _select_fields(value: Struct) -> dict[str, Any]:
    """Return the fields of a struct, without those that are left out and have their default."""
    left_out = getattr(value, "left_out_if_unset", ())
    defaults = {f.name: f.default for f in structs.fields(value) if f.name in left_out}
    fields = structs.asdict(value).items()
    return {k: v for k, v in fields if (v and v != defaults.get(k)) or k not in left_out}
