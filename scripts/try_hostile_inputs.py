"""Try hostile inputs against every command: no traceback, no bug, no verdict on what is damaged.

    python scripts/try_hostile_inputs.py                  # all kinds, a quarter of an hour
    python scripts/try_hostile_inputs.py --only results --count 500 --seed 7

Thousands of mutated documents, answer files, logs, result and rating files and stores go through
the command line in one process for each kind; so do archives that unpack to much, patterns and
schemas without end, pipes and devices. Limits of the shell need processes of their own. Every case
must end within ten seconds and each kind within one gigabyte, with an exit code that its command
may give on bad input: never 70, and 1 only where something was judged. Prints how many cases ended
in which way.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shlex
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from copy import deepcopy
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from backports import zstd

from fuzz_lint import DOCUMENTS, mutate_text
from markscheme.cli.main import _run_command
from markscheme.cli.process import SignalHandlers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parent.parent
MAX_SECONDS = 10.0
MAX_KILOBYTES = 1_000_000
BUG, FAILED = 70, 1
_ODD_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**400, 1e308, "", "\ud800", "e\u0301", "\x1b[31m", [], {}, [[]]),
    *("::error::x\ny", "=1+1", {"a": {"b": []}}, "a" * 10_000, "NaN", "2026-13-45T99:99:99Z"),
)


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How one case ended. `verdict` says that the command judged something."""

    words: list[str]
    code: int
    output: str
    seconds: float

    @property
    def fault(self) -> str | None:
        """Return what is wrong with this ending, or `None`."""
        if "Traceback" in self.output or "panicked" in self.output:
            return "traceback"
        if self.code == BUG:
            return "exit 70"
        if self.code == FAILED and _JUDGING_COMMANDS.isdisjoint(self.words):
            return "exit 1 without a verdict"
        return "too slow" if self.seconds > MAX_SECONDS else None


_JUDGING_COMMANDS = frozenset({"lint", "gate", "verify", "compare", "audit", "demo"})


def run_in_process(words: list[str]) -> Ending:
    """Run the command line in this process."""
    sys.argv = ["markscheme", *words]
    stdout, stderr = TextIOWrapper(BytesIO(), "utf-8"), TextIOWrapper(BytesIO(), "utf-8")
    begun = time.monotonic()
    with redirect_stdout(stdout), redirect_stderr(stderr):
        code = _run_command(SignalHandlers())
    seconds = time.monotonic() - begun
    stderr.seek(0)
    output = stderr.read()
    return Ending(words=words, code=code, output=output, seconds=seconds)


def _happens(rng: random.Random, percent: int) -> bool:
    return rng.randrange(100) < percent


def mutate_json(text: str, rng: random.Random) -> str:
    """Return a JSON text in which a few values were replaced, deleted or repeated."""
    try:
        document = json.loads(text)
    except ValueError:
        return mutate_text(text, rng)
    for _ in range(rng.randint(1, 3)):
        _mutate_value(document, rng)
    return json.dumps(document)


def _mutate_value(document: Any, rng: random.Random) -> None:
    node = document
    for _ in range(rng.randint(0, 6)):
        inside = [
            value
            for value in (node.values() if isinstance(node, dict) else node)
            if isinstance(value, (dict, list)) and value
        ]
        if not inside:
            break
        node = rng.choice(inside)
    if not isinstance(node, (dict, list)) or not node:
        return
    key: Any = rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
    if _happens(rng, 25):
        del node[key]
    else:
        node[key] = deepcopy(rng.choice(_ODD_VALUES))


def mutate_bytes(content: bytes, rng: random.Random) -> bytes:
    """Return bytes after a few random changes."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 2, 5, 20))):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data[: rng.randrange(len(data) + 1)] if _happens(rng, 20) else data)


def mutate_lines(text: str, rng: random.Random) -> str:
    """Return JSON lines of which one was mutated, or a text mutated as such."""
    lines = text.splitlines()
    if _happens(rng, 30) or not lines:
        return mutate_text(text, rng)
    at = rng.randrange(len(lines))
    lines[at] = mutate_json(lines[at], rng)
    return "\n".join(lines)


def _write(path: Path, content: str | bytes) -> str:
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    path.write_bytes(data)
    return str(path)


def list_documents(folder: Path, rng: random.Random) -> Iterator[list[str]]:
    """Lint and use mutated documents."""
    texts = [path.read_text("utf-8") for path in DOCUMENTS]
    while True:
        document = _write(folder / "document.yaml", mutate_text(rng.choice(texts), rng))
        answers = _write(folder / "answers.jsonl", '{"item": "c-01", "output": "Paris."}\n')
        yield rng.choice(
            (
                ["lint", document],
                ["lint", document, "--format", "json"],
                ["score", "-r", document, "-e", "capstone", "-a", answers, "--no-store"],
                ["score", "-r", "tutor-capstone", "-e", document, "-a", answers, "--no-store"],
            )
        )


def list_answers(folder: Path, rng: random.Random) -> Iterator[list[str]]:
    """Score mutated answer files of all formats."""
    rows = [
        {
            "item": f"e-39-{n:02d}",
            "subject": "s",
            "attempt": 1,
            "latency_ms": 12.5,
            "output": json.dumps({"correction": "Ate.", "spanish_gloss": "Comió", "n": n}),
        }
        for n in range(1, 40)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    pl.DataFrame(rows).write_parquet(folder / "whole.parquet")
    pl.DataFrame(rows).write_csv(folder / "whole.csv")
    parquet = (folder / "whole.parquet").read_bytes()
    table = (folder / "whole.csv").read_text("utf-8")
    while True:
        kind = rng.choice(("parquet", "csv", "bytes", "lines"))
        if kind == "parquet":
            path = _write(folder / "answers.parquet", mutate_bytes(parquet, rng))
        elif kind == "csv":
            path = _write(folder / "answers.csv", mutate_text(table, rng))
        elif kind == "bytes":
            path = _write(folder / "answers.jsonl", mutate_bytes(lines.encode(), rng))
        else:
            path = _write(folder / "answers.jsonl", mutate_lines(lines, rng))
        words = ["score", "-r", "tutor-capstone", "-e", "capstone", "-a", path, "--no-store"]
        yield [*words, *rng.choice(((), ("--format", "json"), ("-o", str(folder / "out.csv"))))]


def list_logs(folder: Path, rng: random.Random) -> Iterator[list[str]]:
    """Read mutated logs of every format that the tests have."""
    logs = [path for path in sorted((ROOT / "tests/logs").rglob("*")) if path.is_file()]
    while True:
        path = rng.choice(logs)
        content = path.read_bytes()
        if path.suffix in {".json", ".jsonl", ".ndjson"} and _happens(rng, 70):
            text = content.decode("utf-8", "replace")
            change = mutate_lines if path.suffix != ".json" else mutate_json
            content = change(text, rng).encode("utf-8", "surrogatepass")
        else:
            content = mutate_bytes(content, rng)
        yield ["transcript", _write(folder / path.name, content), "--format", "json"]


def list_results(folder: Path, rng: random.Random) -> Iterator[list[str]]:
    """Show, report, verify and judge mutated result files."""
    # A file whose numbers do not agree is refused before it is drawn, so each text is a whole run.
    said = [json.dumps({"correction": f"Drew {n}", "spanish_gloss": "Dibuje"}) for n in range(20)]
    rows = [{"item": f"x-39-{n:02d}", "output": output} for n, output in enumerate(said, start=1)]
    extra = _write(folder / "extra.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    tutor = str(ROOT / "src/markscheme/builtin/examples/tutor.jsonl")
    texts: list[str] = []
    for exam, answers in (("capstone", tutor), *[("capstone-extra", extra)] * 9):
        whole = folder / "whole.json"
        words = ["score", "-r", "tutor-capstone", "-e", exam, "-a", answers, "--no-store"]
        run_in_process([*words, "-o", str(whole)])
        texts.append(whole.read_text("utf-8"))
    while True:
        path = _write(folder / "result.json", mutate_json(rng.choice(texts), rng))
        yield rng.choice(
            (
                ["gate", path, "-r", "tutor-capstone"],
                ["gate", path, "--format", "json"],
                ["gate", path, "--junit", str(folder / "junit.xml")],
                ["verify", path],
                ["report", path, "-o", str(folder / "page.md")],
                ["report", path, "-o", str(folder / "page.xml")],
                ["report", path, "-o", str(folder / "page.html")],
                ["show", path],
            )
        )


def list_ratings(folder: Path, rng: random.Random) -> Iterator[list[str]]:
    """Compare with mutated files of ratings."""
    texts = [path.read_text("utf-8") for path in sorted((ROOT / "docs/examples").glob("*.csv"))]
    while True:
        text = rng.choice(texts)
        if _happens(rng, 50):
            header, *lines = text.splitlines()
            names = header.split(",")
            rows = [dict(zip(names, line.split(","), strict=False)) for line in lines]
            path = folder / "ratings.jsonl"
            changed = "\n".join(json.dumps(row) for row in rows)
            _write(path, mutate_lines(changed, rng))
        else:
            path = folder / "ratings.csv"
            _write(path, mutate_text(text, rng))
        words = ["compare", "-r", "context-agent", "-e", "context-queries", "-b", "big"]
        yield [*words, "-c", "small", "--ratings", str(path), "--format", "json"]


def list_stores(folder: Path, rng: random.Random) -> Iterator[list[str]]:
    """Read stores whose bytes or values were changed."""
    whole = folder / "whole.db"
    run_in_process(["demo", "--flawed", "--no-report", "--store", str(whole)])
    run_in_process(["demo", "--no-report", "--store", str(whole)])
    bad = _write(folder / "bad.jsonl", '{"item": "e-39-01", "output": "Ate."}\n{\nno\n[]\n')
    words = ["score", "-r", "tutor-capstone", "-e", "capstone", "-a", bad]
    run_in_process([*words, "--store", str(whole)])
    content = whole.read_bytes()
    with closing(sqlite3.connect(whole)) as database:
        tables = {
            name: [row[1] for row in database.execute(f"PRAGMA table_info({name})")]
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
    while True:
        path = folder / "store.db"
        for extra in folder.glob("store.db*"):
            extra.unlink()
        if _happens(rng, 40):
            _write(path, mutate_bytes(content, rng))
        else:
            _write(path, content)
            _change_store_value(path, tables, rng)
        store = ["--store", str(path)]
        yield rng.choice(
            (
                ["runs", *store],
                ["show", "latest", *store],
                ["show", "latest", "--format", "json", *store],
                ["gate", "latest", *store],
                ["report", "latest", "-o", str(folder / "page.html"), *store],
                ["report", "latest", "-o", str(folder / "page.md"), *store],
                ["baseline", "show", *store],
                ["recalibrate", "-r", "tutor-capstone", *store],
                ["demo", "--no-report", *store],
            )
        )


def _change_store_value(path: Path, tables: dict[str, list[str]], rng: random.Random) -> None:
    table = rng.choice(list(tables))
    column = rng.choice(tables[table])
    value = rng.choice((None, "", -1, 10**15, b"\xff", "{}", "[]", "null", '{"a": 1}', "\x1b[31m"))
    with closing(sqlite3.connect(path)) as database, suppress(sqlite3.Error), database:
        if _happens(rng, 30):
            database.execute(f"DELETE FROM {table} WHERE abs(random()) % 2 = 0")  # noqa: S608
            return
        old = database.execute(f'SELECT "{column}" FROM {table} LIMIT 1').fetchone()  # noqa: S608
        if old and isinstance(old[0], str) and old[0][:1] in "{[" and _happens(rng, 70):
            value = mutate_json(old[0], rng)
        database.execute(f'UPDATE {table} SET "{column}" = ?', [value])  # noqa: S608


def list_special_files(folder: Path, rng: random.Random) -> Iterator[list[str]]:
    """Give pipes and devices where files are needed."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    ratings = ["compare", "-r", "context-agent", "-e", "context-queries", "-b", "b", "-c", "c"]
    while True:
        path = rng.choice((str(pipe), "/dev/zero", "/dev/null", str(folder)))
        yield rng.choice(
            (
                ["lint", path],
                ["score", "-r", path, "-e", "capstone", "-a", path, "--no-store"],
                ["score", "-r", "tutor-capstone", "-e", path, "-a", path, "--no-store"],
                ["transcript", path],
                ["verify", path],
                [*ratings, "--ratings", path],
                ["run", "-r", "tutor-capstone", "-e", "capstone", "-s", f"replay:{path}"],
            )
        )


def list_bombs(folder: Path, rng: random.Random) -> Iterator[list[str]]:
    """Read archives and compressed logs that unpack to much, patterns and schemas without end."""
    del rng
    header, sample = '{"status": "success", "eval": {}}', "samples/1_epoch_1.json"
    with zipfile.ZipFile(folder / "bomb.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", header)
        archive.writestr(sample, b" " * 200_000_000)
    # The same with a smaller size stated in the directory of the archive.
    liar = bytearray((folder / "bomb.eval").read_bytes())
    at = liar.rindex(b"PK\x01\x02") + 24
    liar[at : at + 4] = (100).to_bytes(4, "little")
    (folder / "liar.eval").write_bytes(liar)
    with zipfile.ZipFile(folder / "many.eval", "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("header.json", header)
        for number in range(20_000):
            archive.writestr(f"samples/{number}_epoch_1.json", "{}")
    (folder / "bomb.jsonl.zst").write_bytes(zstd.compress(b"0" * 200_000_000))
    for name in ("bomb.eval", "liar.eval", "many.eval", "bomb.jsonl.zst"):
        yield ["transcript", str(folder / name)]
    exam = _write(folder / "exam.yaml", "exam: e\nitems:\n  - {id: x, prompt: p}\n")
    nested: Any = 1
    for _ in range(60):
        nested = {"a": nested}
    schema = {"anyOf": [{"properties": {"a": {"$ref": "#"}}, "required": [name]} for name in "bc"]}
    for axis, output in (
        ({"kind": "json_schema", "schema": schema}, json.dumps(nested)),
        ({"kind": "pattern", "pattern": "a{500}{500}"}, "a" * 1_000_000),
        ({"kind": "pattern", "pattern": "a{100}{100}"}, "a" * 1_000_000),
        ({"kind": "pattern", "pattern": r"(\w+ ?)+x{20}{20}"}, "word " * 200_000),
    ):
        axes = json.dumps([{"name": "x", "weight": 1, **axis}])
        rubric = _write(folder / "rubric.yaml", f"rubric: r\naxes: {axes}\n")
        row = json.dumps({"item": "x", "output": output})
        answers = _write(folder / "answers.jsonl", row)
        yield ["score", "-r", rubric, "-e", exam, "-a", answers, "--no-store"]


def list_limits(folder: Path, rng: random.Random) -> Iterator[list[str]]:
    """Score under limits of the shell on memory, descriptors and the size of files."""
    rows = [{"item": f"e-39-{n % 40 + 1:02d}", "subject": f"s{n // 40}"} for n in range(8_000)]
    lines = "".join(json.dumps({**row, "output": "Ate."}) + "\n" for row in rows)
    answers = _write(folder / "answers.jsonl", lines)
    base = ["score", "-r", "tutor-capstone", "-e", "capstone", "-a", answers]
    while True:
        option, largest = rng.choice((("-v", 1_500_000), ("-n", 40), ("-f", 3_000)))
        limit = rng.randint(6 if option == "-n" else largest // 50, largest)
        out = rng.choice(("out.parquet", "out.json", "out.csv", "out.jsonl"))
        store = ["--store", str(folder / "store.db")]
        words = rng.choice(
            (["-o", str(folder / out), "--no-store"], store, ["--no-store", "--format", "json"])
        )
        yield ["limit", option, str(limit), *base, *words]


def list_outputs(folder: Path, rng: random.Random) -> Iterator[list[str]]:
    """Print to a full disk and to readers that leave."""
    del folder
    while True:
        words = rng.choice(
            (
                ["demo", "--flawed"],
                ["lint", "capstone"],
                ["audit", "tutor-capstone"],
                ["audit", "tutor-capstone", "-e", "capstone-extra"],
            )
        )
        words = [*words, *rng.choice(((), ("--format", "json")))]
        yield ["print", rng.choice(("> /dev/full", "| head -c 1", ">&-")), *words]


def run_in_shell(words: list[str]) -> Ending:
    """Run a command with a limit, or with its output led somewhere; the first words say which."""
    if words[0] == "limit":
        _, option, limit, *command = words
        line = f"ulimit {option} {limit}; exec {_build_command(command)} > /dev/null"
    else:
        _, where, *command = words
        line = f"set -o pipefail; {_build_command(command)} {where}"
    begun = time.monotonic()
    done = subprocess.run(  # noqa: S603 - our own command
        ["bash", "-c", line],  # noqa: S607
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    seconds = time.monotonic() - begun
    output = done.stderr.decode(errors="replace")
    return Ending(words=words, code=done.returncode, output=output, seconds=seconds)


def _build_command(words: list[str]) -> str:
    return shlex.join([sys.executable, "-m", "markscheme", *words])


KINDS: dict[str, tuple[int, Callable[[Path, random.Random], Iterator[list[str]]]]] = {
    "documents": (5000, list_documents),
    "answers": (4000, list_answers),
    "logs": (3000, list_logs),
    "results": (2000, list_results),
    "ratings": (2000, list_ratings),
    "stores": (1200, list_stores),
    "special-files": (60, list_special_files),
    "bombs": (8, list_bombs),
    "limits": (100, list_limits),
    "outputs": (30, list_outputs),
}


def try_kind(kind: str, count: int, seed: int) -> int:
    """Try the cases of one kind; print the counts and every fault, and return the faults."""
    cases = KINDS[kind][1]
    codes: Counter[int] = Counter()
    faults, slowest = 0, 0.0
    with tempfile.TemporaryDirectory() as name:
        for at, words in zip(range(count), cases(Path(name), random.Random(seed)), strict=False):  # noqa: S311
            in_shell = words[0] in {"limit", "print"}
            ending = run_in_shell(words) if in_shell else run_in_process(words)
            codes[ending.code] += 1
            slowest = max(slowest, ending.seconds)
            if ending.fault is not None:
                faults += 1
                print(f"{kind} {at}: {ending.fault}: {' '.join(words)}\n{ending.output[-2000:]}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    counts = ", ".join(f"exit {code}: {codes[code]:,}" for code in sorted(codes))
    print(
        f"{kind}: {sum(codes.values()):,} cases, {counts}; slowest {slowest:.1f} s,"
        f" peak {peak // 1000:,} MB, {faults} faults",
        flush=True,
    )
    return faults + (peak > MAX_KILOBYTES)


def main() -> int:
    """Try every kind in a process of its own; return 1 if there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.only:
        count = options.count or KINDS[options.only][0]
        return int(try_kind(options.only, count, options.seed) > 0)
    faults = 0
    for kind, (count, _) in KINDS.items():
        words = ["--only", kind, "--count", str(options.count or count)]
        done = subprocess.run(  # noqa: S603 - our own script
            [sys.executable, __file__, *words, "--seed", str(options.seed)], check=False
        )
        faults += done.returncode != 0
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
