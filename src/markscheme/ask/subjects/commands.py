"""A command as a subject: no shell, the prompt on stdin or as `{prompt}`, the answer on stdout."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
from typing import TYPE_CHECKING, Any

from markscheme.ask.keys import in_reach
from markscheme.ask.replies import Fault, Reply
from markscheme.ask.subjects.base import BaseSubject, Options, Watch
from markscheme.errors import UsageError, shown

if TYPE_CHECKING:
    from markscheme.ask.questions import Question

LARGEST = 64_000_000  # bytes of an answer
_PROMPT = "{prompt}"
_TOLD = 200
_CHUNK = 65_536


class CommandSubject(BaseSubject):
    """Starts the command once for each question."""

    def __init__(self, command: str) -> None:
        self.name = f"cmd:{command}"
        self.parameters: dict[str, Any] = {}
        self._words = _words(command)
        self._inserted = any(_PROMPT in word for word in self._words)

    async def ask(self, question: Question) -> Reply:
        """Run the command to its end; what it has not done when it is cancelled is killed."""
        watch = Watch()
        words = [word.replace(_PROMPT, question.text) for word in self._words]
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.DEVNULL if self._inserted else asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is ours, and what it started ends with it
            )
        except (OSError, ValueError) as error:
            return Reply.failed(Fault.FAILED, f"the command did not start: {error}")
        try:
            given = b"" if self._inserted else question.text.encode()
            out, err, _ = await asyncio.gather(
                _heard(process.stdout), _tail(process.stderr), _told(process.stdin, given)
            )
            await process.wait()
        except _TooLargeError:
            return Reply.failed(Fault.TOO_LARGE, f"the answer is larger than {LARGEST:,} bytes")
        finally:
            await _end(process)
        return _reply(process.returncode or 0, out, err, watch())


class _TooLargeError(Exception):
    """A command says more than can be an answer."""


async def _heard(stream: asyncio.StreamReader | None) -> bytes:
    found, size = [], 0
    while stream is not None and (data := await stream.read(_CHUNK)):
        size += len(data)
        if size > LARGEST:
            raise _TooLargeError
        found.append(data)
    return b"".join(found)


async def _tail(stream: asyncio.StreamReader | None) -> bytes:
    """Read to the end, and keep the end only."""
    found = b""
    while stream is not None and (data := await stream.read(_CHUNK)):
        found = (found + data)[-_CHUNK:]
    return found


async def _told(stream: asyncio.StreamWriter | None, given: bytes) -> None:
    if stream is None:
        return
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stream.write(given)
        await stream.drain()
    stream.close()


async def _end(process: asyncio.subprocess.Process) -> None:
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


def _reply(code: int, out: bytes, err: bytes, latency: int) -> Reply:
    if code:
        said = _last_words(err) or _last_words(out)
        told = f"the command ended with {code}"
        return Reply.failed(Fault.FAILED, f"{told}: {said}" if said else told)
    try:
        text = out.decode()
    except UnicodeDecodeError as error:
        return Reply.failed(Fault.GARBLED, f"the answer is not UTF-8: {error.reason}")
    return Reply(text=text.removesuffix("\n"), latency_us=latency)


def _last_words(told: bytes) -> str:
    text = told[-_CHUNK:].decode("utf-8", "replace")
    return in_reach().hidden(" ".join(text.split()))[-_TOLD:]


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"{shown(command)} is no command: {error}") from error
    if not words:
        raise UsageError("`cmd:` names no command; write for example cmd:'./answer.sh --short'")
    if shutil.which(words[0]) is None:
        raise UsageError(f"there is no command {shown(words[0])}")
    return words


def subject(rest: str, options: Options) -> CommandSubject:
    """Return the command as a subject."""
    del options
    return CommandSubject(rest)
