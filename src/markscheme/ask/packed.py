"""Bodies that a server packed though it was not asked to, unpacked as they come."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_ANY_HEADER = 32 + zlib.MAX_WBITS  # of gzip or of zlib
_NO_HEADER = -zlib.MAX_WBITS
_WAYS = {
    "gzip": (_ANY_HEADER,),
    "x-gzip": (_ANY_HEADER,),
    "deflate": (_ANY_HEADER, _NO_HEADER),  # what it means was long disputed
}


class BrokenPackError(Exception):
    """What was packed is not what comes out."""


class Unpacking:
    """Unpacks a body part by part; what is not packed after all is given back as it is."""

    def __init__(self, encoding: str) -> None:
        self._ways = list(_WAYS.get(encoding.strip().lower(), ()))
        self._held: list[bytes] = []  # what came before anything could be unpacked
        self._gave = self._between = self._over = False
        self._begin()

    def _begin(self) -> None:
        self._unpack = zlib.decompressobj(self._ways[0]) if self._ways else None

    def take(self, data: bytes, most: int) -> bytes:
        """Take a part; return at most so many bytes of what is in it."""
        if self._unpack is None or self._over:
            return b"" if self._over else data
        found: list[bytes] = []
        try:
            for part in self._parts(data, most):
                found.append(part)  # noqa: PERF402 - what comes before an error counts
        except zlib.error:
            if not self._gave and not any(found):
                return self._otherwise(data, most)
            if not self._between:
                raise BrokenPackError from None
            self._over = True  # what follows the end is no other pack
        if not self._gave:
            self._held.append(data)
            self._gave = any(found)
        return b"".join(found)

    def _parts(self, data: bytes, most: int) -> Iterator[bytes]:
        """Unpack a part, which may hold the end of one pack and the next."""
        while data and most > 0 and self._unpack is not None:
            found = self._unpack.decompress(data, most)
            most -= len(found)
            data = self._unpack.unused_data
            self._between = self._unpack.eof or (self._between and not found)
            if self._unpack.eof:
                self._begin()
            yield found

    def _otherwise(self, data: bytes, most: int) -> bytes:
        """Begin again in the next way; no text that is packed begins like an object of JSON."""
        whole, self._held = b"".join([*self._held, data]), []
        self._ways = [] if whole.startswith(b"{") else self._ways[1:]
        self._begin()
        return self.take(whole, most)
