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
from markscheme.ask.subjects.base import BaseSubject, Options, Watch
from markscheme.errors import UsageError, shown

if TYPE_CHECKING:
    from markscheme.ask.questions import Question

LARGEST = 64_000_000  # bytes of an answer
_PROMPT = "{prompt}"
_TOLD = 200


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
            given = None if self._inserted else question.text.encode()
            out, err = await process.communicate(given)
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        return _reply(process.returncode or 0, out, err, watch())


def _reply(code: int, out: bytes, err: bytes, latency: int) -> Reply:
    if code:
        said = " ".join(err.decode("utf-8", "replace").split())[-_TOLD:]
        return Reply.failed(Fault.FAILED, f"the command ended with {code}: {said}")
    if len(out) > LARGEST:
        return Reply.failed(Fault.TOO_LARGE, f"the answer has {len(out):,} bytes")
    try:
        text = out.decode()
    except UnicodeDecodeError as error:
        return Reply.failed(Fault.GARBLED, f"the answer is not UTF-8: {error.reason}")
    return Reply(text=text.removesuffix("\n"), finish_reason="stop", latency_us=latency)


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
