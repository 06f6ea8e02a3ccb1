"""Lines by the shape of the first: rows that all have its keys, decoded straight into columns.

This decides nothing. Lines that do not all have the shape are left to the next way of reading
them, and what is taken here is what any JSON parser makes of it, one row for each line. No decoded
text holds a surrogate.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_TYPES: dict[str, Any] = {
    "item": str,
    "output": str,
    "subject": str | None,
    "attempt": int | None,
    "latency_ms": int | float | None,
    "tokens_in": int | None,
    "tokens_out": int | None,
    "cost": int | float | None,
}


def typed_columns(text: bytes) -> dict[str, Sequence[Any]] | None:
    """Return the columns of whole lines that all have the keys of the first; else `None`."""
    try:
        keys = tuple(orjson.loads(text.split(b"\n", 1)[0]))
        decode = _decoder(keys)
        rows = list(map(decode, text.split(b"\n")))
    except (orjson.JSONDecodeError, msgspec.MsgspecError, UnicodeDecodeError, KeyError, TypeError):
        return None
    return {key: list(map(attrgetter(key), rows)) for key in keys}


@cache
def _decoder(keys: tuple[str, ...]) -> Callable[[bytes], Any]:
    """Return a decoder of objects with exactly these keys; `KeyError` where one is no field."""
    row = msgspec.defstruct(
        "Row", [(key, _TYPES[key]) for key in keys], forbid_unknown_fields=True, gc=False
    )
    return msgspec.json.Decoder(row).decode
