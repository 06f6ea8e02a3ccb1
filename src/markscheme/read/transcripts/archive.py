"""ZIP archives, also with members packed by zstandard, which Python before 3.14 cannot unpack."""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markscheme.read.transcripts.log import Log

_ZSTANDARD_METHOD = 93
_LOCAL_HEADER_BYTES = 30
_MAX_MEMBER_BYTES = 2**31


class ZipArchive:
    """The members of an archive, by name."""

    def __init__(self, log: Log) -> None:
        self._log = log
        try:
            with zipfile.ZipFile(log.path) as found:
                self._members = {member.filename: member for member in found.infolist()}
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise log.build_error(f"cannot be read as an archive: {error}") from None

    @property
    def names(self) -> list[str]:
        """The names of the members."""
        return list(self._members)

    def read_text(self, name: str) -> str | None:
        """Return a member as text; nothing where it is not there or damaged."""
        member = self._members.get(name)
        if member is None or member.file_size > _MAX_MEMBER_BYTES:
            return None
        try:
            raw = (
                self._read_zstandard_member(member)
                if member.compress_type == _ZSTANDARD_METHOD
                else self._read_member(member)
            )
        except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, struct.error):
            return None
        except (NotImplementedError, RuntimeError):  # a packing or an encryption nobody can undo
            return None
        return None if raw is None else raw.decode("utf-8", "replace")

    def _read_member(self, member: zipfile.ZipInfo) -> bytes:
        with zipfile.ZipFile(self._log.path) as found:
            return found.read(member)

    def _read_zstandard_member(self, member: zipfile.ZipInfo) -> bytes | None:
        from zstandard import ZstdDecompressor, ZstdError  # noqa: PLC0415 - only where it is met

        with self._log.path.open("rb") as file:
            file.seek(member.header_offset)
            head = file.read(_LOCAL_HEADER_BYTES)
            name, extra = struct.unpack("<HH", head[26:30])
            file.seek(member.header_offset + _LOCAL_HEADER_BYTES + name + extra)
            packed = file.read(member.compress_size)
        try:
            return ZstdDecompressor().decompress(packed, max_output_size=member.file_size or 1)
        except ZstdError:
            return None
