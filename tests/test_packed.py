"""A compressed answer is read, and one that is broken is no answer."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import TYPE_CHECKING

import pytest

from raw_server import STREAMED, always, completion, http
from wild_servers import error

if TYPE_CHECKING:
    from collections.abc import Callable

    from wild_servers import Ask


def deflated(data: bytes, bits: int = -15) -> bytes:
    packing = zlib.compressobj(wbits=bits)
    return packing.compress(data) + packing.flush()


def halves(pack: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda data: pack(data[: len(data) // 2]) + pack(data[len(data) // 2 :])


WAYS_TO_PACK: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "several in a row": ("gzip", halves(gzip.compress)),
    "zlib": ("deflate", zlib.compress),
    "without a header": ("deflate", deflated),
    "in a way that there is not": ("identity", bytes),
}


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("way", WAYS_TO_PACK)
def test_a_packed_answer_is_read(ask: Ask, way: str, *, streamed: bool) -> None:
    encoding, pack = WAYS_TO_PACK[way]
    plain = STREAMED if streamed else json.dumps(completion("yes"))
    whole = http(pack(plain.encode()), "200 OK", f"content-encoding: {encoding}")
    done = ask(always(whole[:-9], whole[-9:]), *(["--stream"] if streamed else []))
    assert done.json["items"][0]["got"] == "yes", done.err


@pytest.mark.parametrize("words", [(), ("--stream",)], ids=["whole", "streamed"])
def test_a_small_pack_with_far_too_much_in_it_is_too_large(
    ask: Ask, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("markscheme.ask.http.LARGEST", 100_000)
    packed = gzip.compress(b"data: " + b"x" * 1_000_000)
    said = error(ask(always(http(packed, "200 OK", "content-encoding: gzip")), *words))
    assert said["kind"] == "too-large"


def test_a_pack_that_breaks_is_garbled(ask: Ask) -> None:
    packed = bytearray(gzip.compress(json.dumps(completion("yes " * 100)).encode()))
    packed[-6] ^= 1
    said = http(bytes(packed), "200 OK", "content-encoding: gzip")
    assert error(ask(always(said[:-7], said[-7:])))["kind"] == "garbled"
