"""The figures behind docs/decisions/0007: what imports cost, and how frames become bytes.

pip install sqlalchemy alembic     # only to measure them; what is not installed is left out
python benchmarks/store_choices.py
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import zlib
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from store import scored

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 7
MODULES = ("sqlite3", "psycopg", "sqlalchemy", "alembic", "polars", "markscheme.keep")
SIZES = (1, 10, 1_000, 32_768)


def cpu_of(statement: str) -> float:
    """Return the least CPU milliseconds of a Python process that runs one statement."""
    found = []
    for _ in range(ROUNDS):
        process = subprocess.Popen([sys.executable, "-c", statement])
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        found.append(usage.ru_utime + usage.ru_stime)
    return min(found) * 1000


def imports() -> None:
    """Print what importing costs, beyond starting Python."""
    start = cpu_of("pass")
    print("| import | CPU ms |\n|---|--:|")
    for module in MODULES:
        if importlib.util.find_spec(module):
            print(f"| {module} | {cpu_of(f'import {module}') - start:.0f} |", flush=True)


def stream(frame: pl.DataFrame, compression: Literal["uncompressed", "zstd"]) -> bytes:
    """Return Arrow's stream format."""
    oldest = pl.CompatLevel.oldest()
    return frame.write_ipc_stream(None, compression=compression, compat_level=oldest).getvalue()


def parquet(frame: pl.DataFrame) -> bytes:
    """Return Parquet."""
    out = BytesIO()
    frame.write_parquet(out, compression="zstd", statistics=False)
    return out.getvalue()


ENCODINGS: dict[str, Callable[[pl.DataFrame], bytes]] = {
    "Parquet, zstd": parquet,
    "Arrow, zstd by column": lambda frame: stream(frame, "zstd"),
    "Arrow, zlib as a whole": lambda frame: zlib.compress(stream(frame, "uncompressed"), 1),
}


def encodings() -> None:
    """Print bytes and CPU of answers with their cells, for each encoding and number of rows."""
    print("\n| answers and cells of | encoding | bytes | CPU ms to write |\n|--:|---|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            ((answers, cells, _),) = scored(1, size, Path(folder))
            for name, encode in ENCODINGS.items():
                found = []
                for _ in range(ROUNDS):
                    started = time.process_time()
                    bodies = encode(answers), encode(cells)
                    found.append((time.process_time() - started, sum(map(len, bodies))))
                print(f"| {size:,} | {name} | {found[0][1]:,} | {min(found)[0] * 1000:.1f} |")


if __name__ == "__main__":
    imports()
    encodings()
