"""Rows of answers, good and bad, and how tests read them: every batch in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from markscheme.read.answers import AnswerBatch, KnownItems, ReadLimits, read_answers

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from markscheme.vocabulary import RowError

ITEMS = ("e-39-01", "e-39-02", "ñandú")
KNOWN = KnownItems(ITEMS)
GOOD = b'{"item":"e-39-01","output":"Ate."}'
BAD_ROWS = {
    b"nope": "not JSON",
    b'{"item":"e-39-01","output":"At': "cut off",
    b"[1]": "not a list",
    b"7": "not the number `7`",
    b'{"output":"x"}': "`item` is missing",
    b'{"item":null,"output":"x"}': "`item` is missing",
    b'{"item":3,"output":"x"}': "`item` must be text, not the number `3`",
    b'{"item":["e-39-01"],"output":"x"}': "`item` must be text, not a list",
    b'{"item":"q-1","output":"x"}': "unknown item `q-1`",
    b'{"item":" E_39_1","output":"x"}': "did you mean `e-39-01`?",
    b'{"item":"e-39-01"}': "`output` is missing",
    b'{"item":"e-39-01","output":null}': "not null",
    b'{"item":"e-39-01","output":3}': "text or an object, not the number `3`",
    b'{"item":"e-39-01","output":["x"]}': "text or an object, not a list",
    b'{"item":"e-39-01","output":"\\ud800"}': "lone surrogate",
    b'{"item":"e-39-01","output":"\xed\xa0\x80"}': "lone surrogate",
    b'{"item":"e-39-01","output":"\\u0000"}': "`output` holds a NUL",
    b'{"item":"e-39-01","output":{"a":["\\u0000"]}}': "`output` holds a NUL",
    b'{"item":"e-39-01","output":{"\\u0000":1}}': "`output` holds a NUL",
    b'{"item":"e-39-01","output":"x","subject":"\\u0000"}': "`subject` holds a NUL",
    b'{"item":"\\u0000","output":"x"}': "`item` holds a NUL",
    b'{"item":"e-39-01","output":"\x00"}': "NUL byte",
    b'{"item":"e-39-01","output":"\xff"}': "not UTF-8: byte 0xff at byte 29",
    b'{"item":"e-39-01","output":"x","k":' + b"[" * 3000: "nested too deep",
    b'{"item":"e-39-01","output":{"a":' + b"[" * 200 + b"]" * 200 + b"}}": "nested more than 100",
    b'{"item":"e-39-01","output":"x","subject":7}': "`subject` must be text",
    b'{"item":"e-39-01","output":"x","attempt":true}': "`attempt` must be a whole number",
    b'{"item":"e-39-01","output":"x","attempt":-1}': "`attempt` must be a whole number",
    b'{"item":"e-39-01","output":"x","attempt":1.5}': "`attempt` must be a whole number",
    b'{"item":"e-39-01","output":"x","attempt":"1"}': "not the text `1`",
    b'{"item":"e-39-01","output":"x","attempt":9223372036854775808}': "`attempt` must be a whole",
    b'{"item":"e-39-01","output":"x","tokens_in":1e30}': "`tokens_in` must be a whole number",
    b'{"item":"e-39-01","output":"x","tokens_out":-3}': "`tokens_out` must be a whole number",
    b'{"item":"e-39-01","output":"x","latency_ms":-0.5}': "`latency_ms` must be a number",
    b'{"item":"e-39-01","output":"x","latency_ms":NaN}': "NaN and Infinity",
    b'{"item":"e-39-01","output":"x","latency_ms":-Infinity}': "NaN and Infinity",
    b'{"item":"e-39-01","output":"x","latency_ms":1e999}': "`latency_ms` must be a number",
    b'{"item":"e-39-01","output":"x","cost":false}': "`cost` must be a number",
    b'{"item":"e-39-01","output":"x"},{"item":"e-39-02","output":"x"}': "not JSON",
}
"""Rows that are no answers, and words of the reason that is told of each."""


def merged(batches: Iterable[AnswerBatch]) -> AnswerBatch:
    whole = AnswerBatch()
    for batch in batches:
        lengths = {len(column) for column in batch.get_columns()}
        assert lengths == {len(batch)}
        whole.extend(batch.lines, batch.get_columns()[1:])
        whole.errors.extend(batch.errors)
    return whole


def read(path: Path, content: bytes | None = None, **limits: int) -> AnswerBatch:
    if content is not None:
        path.write_bytes(content)
    return merged(read_answers(path, items=ITEMS, limits=ReadLimits(**limits)))


def only_error(batch: AnswerBatch) -> RowError:
    (error,) = batch.errors
    return error


def written(rows: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)
