"""Compressed logs are read within stated limits: a small file may claim to hold gigabytes."""

from __future__ import annotations

import json
import resource
import struct
import zipfile
from typing import TYPE_CHECKING

import pytest
import zstandard

from commands import markscheme

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = json.dumps(
    {
        "id": 1,
        "epoch": 1,
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}],
        "output": {"choices": [{"message": {"role": "assistant", "content": "ho"}}]},
        "events": [],
    }
)
HEADER = json.dumps({"status": "success", "eval": {"task": "t"}})


def write_archive(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def refuse(path: Path) -> str:
    """Read a log that must be refused, with little memory; return what is said."""
    done = markscheme("transcript", path, "--format", "json")
    assert done.code == 3, done.err
    return done.err


def test_an_archive_that_unpacks_to_gigabytes_is_refused_before_it_is_unpacked(
    tmp_path: Path,
) -> None:
    bomb = write_archive(
        tmp_path / "bomb.eval", {"header.json": HEADER, "samples/1_epoch_1.json": " " * 200_000_000}
    )
    assert bomb.stat().st_size < 400_000
    assert "unpacks to more than" in refuse(bomb)
    assert "100 times its size" in refuse(bomb)


def test_a_member_that_states_a_smaller_size_than_it_has_is_not_unpacked_further(
    tmp_path: Path,
) -> None:
    path = tmp_path / "liar.eval"
    packed = zstandard.compress(b" " * 300_000_000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("header.json", HEADER)
        archive.writestr("samples/1_epoch_1.json", packed)
    data = bytearray(path.read_bytes())
    # Both headers of the second member: the method becomes zstandard, the stated size 100 bytes.
    for signature, method, size in ((b"PK\x03\x04", 8, 22), (b"PK\x01\x02", 10, 24)):
        at = data.rindex(signature)
        data[at + method : at + method + 2] = struct.pack("<H", 93)
        data[at + size : at + size + 4] = struct.pack("<I", 100)
    path.write_bytes(data)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert "no samples that can be read" in refuse(path)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss - before < 200_000


def test_zstandard_that_unpacks_to_gigabytes_is_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.jsonl.zst"
    bomb.write_bytes(zstandard.compress(b"0" * 400_000_000))
    assert bomb.stat().st_size < 40_000
    assert "unpacks to more than 16 MB" in refuse(bomb)


def test_many_members_cost_no_more_than_their_number(tmp_path: Path) -> None:
    members = {f"samples/{n}_epoch_1.json": SAMPLE for n in range(3_000)}
    archive = write_archive(tmp_path / "many.eval", {"header.json": HEADER, **members})
    done = markscheme("transcript", archive, "--format", "json")
    assert done.code == 0, done.err
    # The directory is read once: again for each member, it took over a minute.
    assert len(json.loads(done.out)["transcripts"]) == 3_000


@pytest.mark.parametrize("frames", [1, 3])
def test_a_long_log_of_several_frames_is_read_whole(tmp_path: Path, frames: int) -> None:
    lines = [
        json.dumps({"role": "user", "content": "hi"}),
        *[json.dumps({"role": "assistant", "content": f"text {n}"}) for n in range(20_000)],
    ]
    step = len(lines) // frames + 1
    parts = [lines[start : start + step] for start in range(0, len(lines), step)]
    path = tmp_path / "chat.jsonl.zst"
    path.write_bytes(
        b"".join(zstandard.compress(("\n".join(part) + "\n").encode()) for part in parts)
    )
    done = markscheme("transcript", path, "--format", "json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert (document["complete"], document["final_text"]) == (True, "text 19999")
    path.write_bytes(path.read_bytes()[:-40])
    cut = json.loads(markscheme("transcript", path, "--format", "json").out)
    assert cut["complete"] is False
