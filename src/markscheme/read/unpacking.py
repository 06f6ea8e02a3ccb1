"""Unpack compressed logs within limits: a small file may claim to hold gigabytes.

A compressed log may unpack to 100 times its size, or to 16 MB if that is more. Agents' logs shrink
to a tenth or a twentieth, so what exceeds the limit is no log, and it is refused before it takes
memory or time.
"""

from __future__ import annotations

import io
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Self

from markscheme.vocabulary import InputError

_MAX_RATIO = 100
_MIN_ALLOWANCE = 16 * 1024**2
_MAX_MEMBERS = 100_000
_ZSTANDARD_METHOD = 93
_ENCRYPTED = 1
_LOCAL_HEADER_BYTES = 30
_PIECE_BYTES = 1 << 16
_MAX_WINDOW_LOG = 27

BuildError = Callable[[str], InputError]


def compute_allowance(packed_bytes: int) -> int:
    """Return how many bytes a compressed file of this size may unpack to."""
    return max(_MIN_ALLOWANCE, _MAX_RATIO * packed_bytes)


def _refuse_size(build_error: BuildError, allowance: int) -> InputError:
    return build_error(
        f"unpacks to more than {allowance // 1024**2} MB; a compressed log may unpack to "
        f"{_MAX_RATIO} times its size, or to {_MIN_ALLOWANCE // 1024**2} MB if that is more"
    )


def _load_zstd() -> Any:
    """Load the module for zstandard, which the standard library has from Python 3.14 on."""
    return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def _create_decompressor(zstd: Any) -> Any:
    """Return a decompressor of one frame that refuses to allocate more than the largest window."""
    options = {zstd.DecompressionParameter.window_log_max: _MAX_WINDOW_LOG}
    return zstd.ZstdDecompressor(options=options)


class ZstandardStream(io.RawIOBase):
    """A zstandard file, unpacked while it is read. It ends where the file is damaged or cut.

    `is_cut` says whether the file ends in the middle of a frame.
    """

    def __init__(self, file: BinaryIO, size: int, build_error: BuildError) -> None:
        self.is_cut = False
        self._file = file
        self._zstd = _load_zstd()
        self._decompressor = _create_decompressor(self._zstd)
        self._build_error = build_error
        self._allowance = compute_allowance(size)
        self._unpacked_bytes = 0
        self._piece = memoryview(b"")

    def readable(self) -> bool:
        """Return true: the stream can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill the buffer as far as the next piece goes."""
        while not self._piece:
            packed = self._read_packed()
            if packed is None:
                return 0
            try:
                unpacked = self._decompressor.decompress(packed, _PIECE_BYTES)
            except self._zstd.ZstdError:
                self.is_cut = True
                return 0
            self.is_cut = not self._decompressor.eof
            self._unpacked_bytes += len(unpacked)
            if self._unpacked_bytes > self._allowance:
                raise _refuse_size(self._build_error, self._allowance)
            self._piece = memoryview(unpacked)
        count = min(len(buffer), len(self._piece))
        buffer[:count] = self._piece[:count]
        self._piece = self._piece[count:]
        return count

    def _read_packed(self) -> bytes | None:
        """Return the next bytes to unpack, none if some are still waiting, `None` at the end."""
        if self._decompressor.eof:
            # The next frame begins with what was left over.
            packed = self._decompressor.unused_data or self._file.read(_PIECE_BYTES)
            self._decompressor = _create_decompressor(self._zstd)
            return packed or None
        return (self._file.read(_PIECE_BYTES) or None) if self._decompressor.needs_input else b""


class ZipArchive:
    """The members of a ZIP archive, by name; use it in a `with` block.

    Members are stored, deflated, or compressed with zstandard; others are taken for damaged.

    Raises:
        InputError: the archive is damaged, or its members unpack to more than is allowed.
    """

    def __init__(self, path: Path, build_error: BuildError) -> None:
        self._path = path
        try:
            self._archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise build_error(f"cannot be read as an archive: {error}") from error
        self._members = {member.filename: member for member in self._archive.infolist()}
        self._check_limits(build_error)

    def _check_limits(self, build_error: BuildError) -> None:
        # Nothing unpacks to more than its stated size: `_unpack_member` stops there.
        allowance = compute_allowance(self._path.stat().st_size)
        count = len(self._archive.infolist())
        if count > _MAX_MEMBERS:
            raise build_error(f"holds {count:,} files; at most {_MAX_MEMBERS:,} are read")
        if sum(member.file_size for member in self._archive.infolist()) > allowance:
            raise _refuse_size(build_error, allowance)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    @property
    def names(self) -> list[str]:
        """The names of the members."""
        return list(self._members)

    def read_text(self, name: str) -> str | None:
        """Return a member as text; `None` if it is missing or damaged."""
        member = self._members.get(name)
        if member is None or member.flag_bits & _ENCRYPTED:
            return None
        try:
            content = _unpack_member(member, self._read_packed(member))
        except (OSError, EOFError, struct.error):
            return None
        return None if content is None else content.decode("utf-8", "replace")

    def _read_packed(self, member: zipfile.ZipInfo) -> bytes:
        """Return the compressed bytes of a member, which follow its name and extra field."""
        with self._path.open("rb") as file:
            file.seek(member.header_offset)
            head = file.read(_LOCAL_HEADER_BYTES)
            name_length, extra_length = struct.unpack("<HH", head[26:30])
            file.seek(member.header_offset + _LOCAL_HEADER_BYTES + name_length + extra_length)
            return file.read(member.compress_size)


def _unpack_member(member: zipfile.ZipInfo, packed: bytes) -> bytes | None:
    """Unpack a member to no more than its stated size; `None` if it is damaged or states another.

    The methods are those of Inspect. `zipfile` would unpack the others, and members that state a
    smaller size than they have, as a whole.
    """
    limit = max(1, member.file_size)
    if member.compress_type == zipfile.ZIP_STORED:
        content = packed
    elif member.compress_type == zipfile.ZIP_DEFLATED:
        inflator = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
        try:
            content = inflator.decompress(packed, limit)
        except zlib.error:
            return None
    elif member.compress_type == _ZSTANDARD_METHOD:
        zstd = _load_zstd()
        try:
            content = _create_decompressor(zstd).decompress(packed, limit)
        except zstd.ZstdError:
            return None
    else:
        return None
    is_whole = len(content) == member.file_size and zlib.crc32(content) == member.CRC
    return content if is_whole else None
