"""A command as a subject: no shell, the prompt on stdin or as `{prompt}`, the answer on stdout."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
from typing import TYPE_CHECKING, Any

from markscheme.ask.replies import Fault, Reply
from markscheme.ask.secrets import environment_secrets
from markscheme.ask.subjects.base import BaseSubject, Stopwatch, SubjectOptions
from markscheme.vocabulary import UsageError, format_value

if TYPE_CHECKING:
    from markscheme.ask.questions import Question

LARGEST = 64_000_000  # bytes of an answer
_PROMPT_PLACEHOLDER = "{prompt}"
_MAX_OUTPUT_SHOWN = 200
_CHUNK_BYTES = 65_536


class CommandSubject(BaseSubject):
    """Starts the command once for each question."""

    def __init__(self, command: str) -> None:
        self.name = f"cmd:{command}"
        self.parameters: dict[str, Any] = {}
        self._arguments = _split_command(command)
        self._has_placeholder = any(_PROMPT_PLACEHOLDER in word for word in self._arguments)

    async def ask(self, question: Question) -> Reply:
        """Run the command to its end; what it has not done when it is cancelled is killed."""
        watch = Stopwatch()
        words = [word.replace(_PROMPT_PLACEHOLDER, question.text) for word in self._arguments]
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.DEVNULL
                if self._has_placeholder
                else asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is ours, and what it started ends with it
            )
        except (OSError, ValueError) as error:
            return Reply.from_fault(Fault.FAILED, f"the command did not start: {error}")
        try:
            given = b"" if self._has_placeholder else question.text.encode()
            out, err, _ = await asyncio.gather(
                _read_stdout(process.stdout),
                _read_stderr_tail(process.stderr),
                _write_stdin(process.stdin, given),
            )
            await process.wait()
        except _TooLargeError:
            return Reply.from_fault(Fault.TOO_LARGE, f"the answer is larger than {LARGEST:,} bytes")
        finally:
            await _kill_process_group(process)
        return _build_command_reply(process.returncode or 0, out, err, watch())


class _TooLargeError(Exception):
    """A command says more than can be an answer."""


async def _read_stdout(stream: asyncio.StreamReader | None) -> bytes:
    found, size = [], 0
    while stream is not None and (data := await stream.read(_CHUNK_BYTES)):
        size += len(data)
        if size > LARGEST:
            raise _TooLargeError
        found.append(data)
    return b"".join(found)


async def _read_stderr_tail(stream: asyncio.StreamReader | None) -> bytes:
    """Read to the end, and keep the end only."""
    found = b""
    while stream is not None and (data := await stream.read(_CHUNK_BYTES)):
        found = (found + data)[-_CHUNK_BYTES:]
    return found


async def _write_stdin(stream: asyncio.StreamWriter | None, given: bytes) -> None:
    if stream is None:
        return
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stream.write(given)
        await stream.drain()
    stream.close()


async def _kill_process_group(process: asyncio.subprocess.Process) -> None:
    """Kill what is left of it and of what it started, and let go of its pipes."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    transport = process._transport  # type: ignore[attr-defined] # noqa: SLF001 - there is no other way
    for pipe in filter(None, map(transport.get_pipe_transport, range(3))):
        pipe.close()
    try:
        await process.wait()
    finally:
        transport.close()  # closed sooner, it would take from asyncio how the process ended


def _build_command_reply(code: int, out: bytes, err: bytes, latency: int) -> Reply:
    if code:
        said = _format_last_output(err) or _format_last_output(out)
        told = f"the command ended with {code}"
        return Reply.from_fault(Fault.FAILED, f"{told}: {said}" if said else told)
    try:
        text = out.decode()
    except UnicodeDecodeError as error:
        return Reply.from_fault(Fault.GARBLED, f"the answer is not UTF-8: {error.reason}")
    return Reply(text=text.removesuffix("\n"), latency_us=latency)


def _format_last_output(told: bytes) -> str:
    text = told[-_CHUNK_BYTES:].decode("utf-8", "replace")
    return environment_secrets().redact(" ".join(text.split()))[-_MAX_OUTPUT_SHOWN:]


def _split_command(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"{format_value(command)} is no command: {error}") from error
    if not words:
        raise UsageError("`cmd:` names no command; write for example cmd:'./answer.sh --short'")
    if shutil.which(words[0]) is None:
        raise UsageError(f"there is no command {format_value(words[0])}")
    return words


def subject(rest: str, options: SubjectOptions) -> CommandSubject:
    """Return the command as a subject."""
    del options
    return CommandSubject(rest)
