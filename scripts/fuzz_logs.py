"""Fuzz the readers of session logs: no crash, no hang, nothing unknown taken as read.

`python scripts/fuzz_logs.py --count 10000 --seed 1` changes the logs in `tests/logs`, and real ones
in `../shared/logs/samples` if they are there: renames kinds, inserts records, blocks and calls of
unknown kinds, deletes keys, swaps types, repeats and cuts lines, damages UTF-8, puts half a
surrogate pair into ids. It also reads every log as every other format. A log with something of an
unknown kind must not be complete. A test runs a few hundred of them.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markscheme import InputError, UsageError
from markscheme.read.transcripts import list_format_names, read_transcripts
from markscheme.tell.transcript import dump_transcripts

ROOT = Path(__file__).parent.parent
FOLDERS = (ROOT / "tests/logs", ROOT.parent / "shared/logs/samples")
SUFFIXES = {".json", ".jsonl", ".ndjson", ".traj"}
LARGEST = 120_000
# Seconds, far more than any of these logs takes.
SLOWEST = 20.0
UNKNOWN = "kind-of-the-future"
HIDDEN_CALL = {"toolCallId": "h1", "toolName": "bash", "args": {"command": "rm -rf build"}}
# Lists whose elements a reader must know, and fields below which anything may stand.
LISTS = frozenset({"content", "parts", "messages", "events", "history"})
FREE_FIELDS = frozenset(
    {
        *("input", "args", "arguments", "action", "tools", "functionResponse", "properties"),
        *("result", "output", "toolUseResult", "tool_use_result", "resultDisplay", "attachments"),
        *("state", "metadata", "store", "scores", "plan", "eval", "usage", "permission_denials"),
        *("extra", "trajectory", "item", "spans", "choices"),
    }
)
OUTPUT_KINDS = frozenset({"tool_result", "tool", "function", "function_call_output"})
KIND_KEYS = ("type", "role", "event", "kind", "subtype", "status", "name", "operation")
ID_KEYS = ("id", "sessionId", "session_id", "uuid", "agentId", "tool_use_id", "callID", "call_id")
ODDITIES: tuple[Any, ...] = (None, True, -1, 2**70, 1.5, "", "x", [], {}, [[]], [None], {"": {}})


@dataclass(frozen=True, slots=True)
class Source:
    """A log that is read without a mistake, as JSON values, one for each line or the document."""

    path: Path
    format: str
    values: list[Any]
    has_lines: bool

    def write(self, values: list[Any]) -> bytes:
        """Return changed values as the log would hold them."""
        # The standard library writes half a surrogate pair as an escape, as other programs do.
        return b"\n".join(json.dumps(value).encode() for value in values) + b"\n"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed log. `hides` says what of an unknown kind was put into it, if anything was."""

    source: Source
    content: bytes
    hides: str | None = None
    read_as: str | None = None


def load_sources() -> list[Source]:
    """Return the logs that can be changed, each with the format that recognises it."""
    sources: list[Source] = []
    for folder in FOLDERS:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
            if path.suffix in SUFFIXES and path.stat().st_size <= LARGEST:
                sources.extend(_load_source(path))
    return sources


def _load_source(path: Path) -> Iterator[Source]:
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        (_, transcript), *_ = read_transcripts(path)
    except InputError:
        return
    try:
        values, has_lines = [json.loads(text)], False
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        values, has_lines = [value for line in lines for value in _parse_line(line)], True
    yield Source(path, transcript.format, values, has_lines)


def _parse_line(line: str) -> Iterator[Any]:
    try:
        yield json.loads(line)
    except ValueError:
        return


# Places in a log.


def _iter_nodes(value: Any) -> Iterator[Any]:
    """Yield every object and list, the outer ones first."""
    if isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _iter_nodes(inner)


def _iter_known_lists(value: Any) -> Iterator[list[Any]]:
    """Yield the lists of messages, blocks, parts and events that a reader must understand."""
    if isinstance(value, list):
        for inner in value:
            yield from _iter_known_lists(inner)
    elif isinstance(value, dict) and not OUTPUT_KINDS & {value.get("type"), value.get("role")}:
        for key, inner in value.items():
            if key in LISTS and isinstance(inner, list) and inner and isinstance(inner[0], dict):
                yield inner
            if key not in FREE_FIELDS:
                yield from _iter_known_lists(inner)


def _iter_records(source: Source, values: list[Any]) -> Iterator[list[Any]]:
    """Yield the list of the log's records: its lines, or the elements of its document."""
    if source.has_lines:
        yield values
    elif isinstance(values[0], list):
        yield values[0]


# Changes that put something of an unknown kind into a log.


def _insert_record(source: Source, values: list[Any], rng: random.Random) -> str | None:
    for records in _iter_records(source, values):
        record = {"type": UNKNOWN, "name": "bash", "input": {"command": "rm -rf build"}}
        records.insert(rng.randint(0, len(records)), record)
        return "a record"
    return None


def _insert_block(source: Source, values: list[Any], rng: random.Random) -> str | None:  # noqa: ARG001 - as the others
    lists = list(_iter_known_lists(values))
    if not lists:
        return None
    block = dict.fromkeys(("type", "role", "event"), UNKNOWN)
    chosen = rng.choice(lists)
    chosen.insert(rng.randint(0, len(chosen)), {**block, "input": {"command": "rm -rf build"}})
    return "a block"


def _insert_call(source: Source, values: list[Any], rng: random.Random) -> str | None:
    lists = [*_iter_known_lists(values), *_iter_records(source, values)]
    holders = [
        holder
        for elements in lists
        for holder in elements
        if isinstance(holder, dict) and _must_be_searched(holder)
    ]
    if not holders:
        return None
    rng.choice(holders)["toolInvocations"] = [HIDDEN_CALL]
    return "a call beside the rest"


def _insert_span(source: Source, values: list[Any], rng: random.Random) -> str | None:  # noqa: ARG001 - as the others
    holders = [node for node in _iter_nodes(values) if isinstance(node, dict)]
    spans = [holder["spans"] for holder in holders if holder.get("spans")]
    if not spans:
        return None
    listed = rng.choice(spans)
    span = copy.deepcopy(rng.choice(listed))
    name = {"key": "gen_ai.operation.name"}
    span["attributes"] = [{**name, "value": {"stringValue": UNKNOWN}}]
    span["tags"] = [{**name, "value": UNKNOWN}]
    for key in span.keys() & {"spanId", "spanID"}:
        span[key] = "f00d"
    listed.append(span)
    return "a span"


def _must_be_searched(holder: dict[str, Any]) -> bool:
    """Return whether a reader looks for calls in an object: it is no call, no output, no event."""
    named = (holder.get(key) for key in ("type", "role"))
    kinds = {kind for kind in named if isinstance(kind, str)}
    is_call = "tool_calls" in holder or "function_call" in holder or "callID" in holder
    is_event = "event" in holder or "properties" in holder or "payload" in holder
    has_spans = any("pans" in key or key in {"batches", "data", "trace"} for key in holder)
    return not (is_call or is_event or has_spans or kinds & OUTPUT_KINDS) and not any(
        "call" in kind or "tool" in kind or kind in {"stream_event", "subtask"} for kind in kinds
    )


# Changes after which a log need only be read without a crash.


def _rename_kind(value: Any, rng: random.Random) -> None:
    nodes = [n for n in _iter_nodes(value) if isinstance(n, dict) and n.keys() & set(KIND_KEYS)]
    if nodes:
        node = rng.choice(nodes)
        node[rng.choice([key for key in KIND_KEYS if key in node])] = UNKNOWN


def _delete_key(value: Any, rng: random.Random) -> None:
    nodes = [node for node in _iter_nodes(value) if isinstance(node, dict) and node]
    if nodes:
        node = rng.choice(nodes)
        del node[rng.choice(list(node))]


def _swap_type(value: Any, rng: random.Random) -> None:
    nodes = [node for node in _iter_nodes(value) if node]
    if nodes:
        node = rng.choice(nodes)
        at = rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
        node[at] = copy.deepcopy(rng.choice(ODDITIES))


def _break_id(value: Any, rng: random.Random) -> None:
    nodes = [n for n in _iter_nodes(value) if isinstance(n, dict) and n.keys() & set(ID_KEYS)]
    if nodes:
        node = rng.choice(nodes)
        node[rng.choice([key for key in ID_KEYS if key in node])] = "half a pair \ud83d"


def _repeat_element(value: Any, rng: random.Random) -> None:
    nodes = [node for node in _iter_nodes(value) if isinstance(node, list) and node]
    if nodes:
        node = rng.choice(nodes)
        node.insert(rng.randint(0, len(node)), copy.deepcopy(rng.choice(node)))


def _cut_content(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randint(0, len(content))]


def _damage_bytes(content: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(content))
    return content[:at] + rng.randbytes(rng.randint(1, 3)) + content[at + rng.randint(0, 3) :]


_INSERTIONS: tuple[Callable[[Source, list[Any], random.Random], str | None], ...] = (
    _insert_record,
    _insert_block,
    _insert_call,
    _insert_span,
)
_CHANGES: tuple[Callable[[Any, random.Random], None], ...] = (
    _rename_kind,
    _delete_key,
    _swap_type,
    _break_id,
    _repeat_element,
)


def generate_mutants(sources: list[Source], count: int, seed: int) -> Iterator[Mutant]:
    """Yield `count` changed logs, the same ones for the same seed."""
    rng = random.Random(seed)  # noqa: S311 - a game of dice, not a secret
    by_format: dict[str, list[Source]] = {}
    for source in sources:
        by_format.setdefault(source.format, []).append(source)
    for _ in range(count):
        source = rng.choice(by_format[rng.choice(sorted(by_format))])
        yield _mutate_source(source, rng)


def _mutate_source(source: Source, rng: random.Random) -> Mutant:
    values = copy.deepcopy(source.values)
    way = rng.randrange(4)
    if way == 0:
        hidden = rng.choice(_INSERTIONS)(source, values, rng)
        return Mutant(source, source.write(values), hidden)
    if way == 1:
        change = rng.choice((_cut_content, _damage_bytes))
        return Mutant(source, change(source.write(values), rng))
    for _ in range(rng.randint(1, 3)):
        rng.choice(_CHANGES)(values, rng)
    return Mutant(source, source.write(values))


def generate_misread_logs(sources: list[Source]) -> Iterator[Mutant]:
    """Yield every log to be read as every other format."""
    for source in sources:
        for name in list_format_names():
            if name != source.format:
                yield Mutant(source, source.path.read_bytes(), read_as=name)


def find_failure(mutant: Mutant, folder: Path) -> str:
    """Read a log; return what went wrong, or an empty text."""
    file = folder / mutant.source.path.name
    file.write_bytes(mutant.content)
    started = time.monotonic()
    try:
        read = read_transcripts(file, mutant.read_as)
        dump_transcripts(read)
    except (InputError, UsageError):
        return ""
    except Exception as error:  # noqa: BLE001 - any other exception is a failure of a reader
        return f"{type(error).__name__}: {error}"
    if time.monotonic() - started > SLOWEST:
        return f"took longer than {SLOWEST} s"
    agents = [agent for _, transcript in read for agent in transcript.agents()]
    if not all(agent.complete for agent in agents):
        return ""
    if mutant.hides is not None:
        return f"is complete, with {mutant.hides} of an unknown kind"
    if mutant.read_as is not None:
        own = [agent for _, t in read_transcripts(mutant.source.path) for agent in t.agents()]
        if sum(len(agent.calls) for agent in agents) < sum(len(agent.calls) for agent in own):
            return "is complete as another format, with fewer calls"
    return ""


def main() -> int:
    """Read the mutants; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10_000, help="changed logs (10000)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same logs (1)")
    parser.add_argument("--keep-going", action="store_true", help="list every failure")
    options = parser.parse_args()
    sources = load_sources()
    counts: Counter[str] = Counter()
    hidden: Counter[str] = Counter()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        mutants = generate_mutants(sources, options.count, options.seed)
        for number, mutant in enumerate((*generate_misread_logs(sources), *mutants)):
            counts[mutant.source.format] += 1
            hidden[mutant.source.format] += mutant.hides is not None
            failure = find_failure(mutant, Path(folder))
            if failure:
                failures += 1
                read_as = f" as {mutant.read_as}" if mutant.read_as else ""
                source = f"{mutant.source.path.name} ({mutant.source.format})"
                print(f"{number}: {source}{read_as}: {failure}")
                if not options.keep_going:
                    print(mutant.content.decode("utf-8", "replace"))
                    return 1
    for name, count in sorted(counts.items()):
        print(f"{name}: {count:,} logs, {hidden[name]:,} with something of an unknown kind")
    print(f"{counts.total():,} logs: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
