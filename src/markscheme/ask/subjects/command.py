"""A command as a subject, run without a shell.

It gets the prompt on stdin or in place of `{prompt}`, and its stdout is the answer. It may name
the log of the agent that answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
from typing import Any

from markscheme.ask.questions import Question
from markscheme.ask.replies import Fault, Reply
from markscheme.ask.secrets import environment_secrets
from markscheme.ask.subjects.base import BaseSubject, Stopwatch, SubjectOptions
from markscheme.ask.transcript_replies import read_transcript_reply
from markscheme.vocabulary import UsageError, format_value

LARGEST = 64_000_000  # bytes of an answer
_PROMPT_PLACEHOLDER = "{prompt}"
_MAX_OUTPUT_SHOWN = 200
_CHUNK_BYTES = 65_536


class CommandSubject(BaseSubject):
    """Runs the command once for each question."""

    def __init__(self, command: str) -> None:
        self.name = f"cmd:{command}"
        self.parameters: dict[str, Any] = {}
        self._arguments = _split_command(command)
        self._has_placeholder = any(_PROMPT_PLACEHOLDER in word for word in self._arguments)

    async def ask(self, question: Question) -> Reply:
        """Run the command to its end; kill it and its children if the question is cancelled."""
        watch = Stopwatch()
        words = [word.replace(_PROMPT_PLACEHOLDER, question.text) for word in self._arguments]
        pipe, devnull = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=devnull if self._has_placeholder else pipe,
                stdout=pipe,
                stderr=pipe,
                # A session of its own: Ctrl-C does not reach it, and its whole group can be killed.
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return Reply.from_fault(Fault.FAILED, f"the command did not start: {error}")
        try:
            prompt = b"" if self._has_placeholder else question.text.encode()
            out, err, _ = await asyncio.gather(
                _read_stdout(process.stdout),
                _read_stderr_tail(process.stderr),
                _write_stdin(process.stdin, prompt),
            )
            await process.wait()
        except _TooLargeError:
            return Reply.from_fault(Fault.TOO_LARGE, f"the answer is larger than {LARGEST:,} bytes")
        finally:
            await _kill_process_group(process)
        reply = _build_command_reply(process.returncode or 0, out, err, watch())
        return await asyncio.to_thread(read_transcript_reply, reply)


class _TooLargeError(Exception):
    """The output of a command is larger than any answer may be."""


async def _read_stdout(stream: asyncio.StreamReader | None) -> bytes:
    chunks, size = [], 0
    while stream is not None and (data := await stream.read(_CHUNK_BYTES)):
        size += len(data)
        if size > LARGEST:
            raise _TooLargeError
        chunks.append(data)
    return b"".join(chunks)


async def _read_stderr_tail(stream: asyncio.StreamReader | None) -> bytes:
    """Read to the end, and return only the last part."""
    tail = b""
    while stream is not None and (data := await stream.read(_CHUNK_BYTES)):
        tail = (tail + data)[-_CHUNK_BYTES:]
    return tail


async def _write_stdin(stream: asyncio.StreamWriter | None, prompt: bytes) -> None:
    if stream is None:
        return
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stream.write(prompt)
        await stream.drain()
    stream.close()


async def _kill_process_group(process: asyncio.subprocess.Process) -> None:
    """Kill the process and its children, and close its pipes."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        # Windows has no process groups of this kind, so only the process itself ends there.
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    # asyncio offers no public way to close the pipes of a process whose children hold them open.
    transport = process._transport  # type: ignore[attr-defined] # noqa: SLF001
    for pipe in filter(None, map(transport.get_pipe_transport, range(3))):
        pipe.close()
    try:
        await process.wait()
    finally:
        # Only now: closed before the wait, asyncio would lose the exit code.
        transport.close()


def _build_command_reply(code: int, out: bytes, err: bytes, latency: int) -> Reply:
    if code:
        output = _format_last_output(err) or _format_last_output(out)
        why = f"the command ended with {code}"
        return Reply.from_fault(Fault.FAILED, f"{why}: {output}" if output else why)
    try:
        text = out.decode()
    except UnicodeDecodeError as error:
        return Reply.from_fault(Fault.GARBLED, f"the answer is not UTF-8: {error.reason}")
    return Reply(text=text.removesuffix("\n"), latency_us=latency)


def _format_last_output(output: bytes) -> str:
    text = output[-_CHUNK_BYTES:].decode("utf-8", "replace")
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


def create_command_subject(rest: str, options: SubjectOptions) -> CommandSubject:
    """Create the subject of a command line."""
    del options
    return CommandSubject(rest)
