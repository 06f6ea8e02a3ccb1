"""Compressed logs are read within stated limits: a small file may claim to hold gigabytes."""

from __future__ import annotations

import bz2
import json
import re
import struct
import subprocess
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd

from commands import here, prepared

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


# What a child used at most; `getrusage` would count what this process had when it forked.
REPORT_PEAK = (
    "import atexit, pathlib\n"
    "atexit.register(lambda: print(pathlib.Path('/proc/self/status').read_text()))"
)


def write_archive(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def refuse(path: Path) -> str:
    """Read a log that must be refused; return what is said."""
    done = here("transcript", path, "--format", "json")
    assert done.code == 3, done.err
    return done.err


def test_an_archive_that_unpacks_to_far_more_than_it_holds_is_refused_before_it_is_unpacked(
    tmp_path: Path,
) -> None:
    bomb = write_archive(
        tmp_path / "bomb.eval", {"header.json": HEADER, "samples/1_epoch_1.json": " " * 40_000_000}
    )
    assert bomb.stat().st_size < 80_000
    refused = refuse(bomb)
    assert "unpacks to more than 16 MB" in refused
    assert "100 times its size" in refused


def deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush()


PACKERS: dict[int, Callable[[bytes], bytes]] = {93: zstd.compress, 8: deflate, 12: bz2.compress}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system has no /proc")
@pytest.mark.parametrize("method", PACKERS, ids=["zstandard", "deflate", "bzip2"])
def test_a_member_that_states_a_smaller_size_than_it_has_is_not_unpacked_further(
    tmp_path: Path, method: int
) -> None:
    path = tmp_path / "liar.eval"
    packed = PACKERS[method](b" " * 120_000_000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("header.json", HEADER)
        archive.writestr("samples/1_epoch_1.json", packed)
    data = bytearray(path.read_bytes())
    # Both headers of the second member: the method of the packer, the stated size 100 bytes.
    for signature, place, size in ((b"PK\x03\x04", 8, 22), (b"PK\x01\x02", 10, 24)):
        at = data.rindex(signature)
        data[at + place : at + place + 2] = struct.pack("<H", method)
        data[at + size : at + size + 4] = struct.pack("<I", 100)
    path.write_bytes(data)
    done = subprocess.run(
        [*prepared(REPORT_PEAK), "transcript", path],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 3
    assert "no samples that can be read" in done.stderr
    peak = re.search(r"VmHWM:\s+(\d+) kB", done.stdout)
    assert peak is not None
    assert int(peak[1]) < 120_000, "of the 120 MB, next to nothing was unpacked"


def test_zstandard_that_unpacks_to_far_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.jsonl.zst"
    bomb.write_bytes(zstd.compress(b"0" * 40_000_000))
    assert bomb.stat().st_size < 40_000
    assert "unpacks to more than 16 MB" in refuse(bomb)


def test_many_members_cost_no_more_than_their_number(tmp_path: Path) -> None:
    members = {f"samples/{n}_epoch_1.json": SAMPLE for n in range(1_000)}
    archive = write_archive(tmp_path / "many.eval", {"header.json": HEADER, **members})
    done = here("transcript", archive, "--format", "json")
    assert done.code == 0, done.err
    # The directory is read once: again for each member, 3,000 of them took over a minute.
    assert len(json.loads(done.out)["transcripts"]) == 1_000


@pytest.mark.parametrize("frames", [1, 3])
def test_a_long_log_of_several_frames_is_read_whole(tmp_path: Path, frames: int) -> None:
    lines = [
        json.dumps({"role": "user", "content": "hi"}),
        *[json.dumps({"role": "assistant", "content": f"text {n}"}) for n in range(4_000)],
    ]
    step = len(lines) // frames + 1
    parts = [lines[start : start + step] for start in range(0, len(lines), step)]
    path = tmp_path / "chat.jsonl.zst"
    path.write_bytes(b"".join(zstd.compress(("\n".join(part) + "\n").encode()) for part in parts))
    done = here("transcript", path, "--format", "json")
    assert done.code == 0, done.err
    document = done.json
    assert (document["complete"], document["final_text"]) == (True, "text 3999")
    path.write_bytes(path.read_bytes()[:-40])
    assert here("transcript", path, "--format", "json").json["complete"] is False
