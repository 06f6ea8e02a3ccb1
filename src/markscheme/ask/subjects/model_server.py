"""Serves a model file on loopback until stdin closes; run as a process of its own.

    python -m markscheme.ask.subjects.model_server MODEL.gguf THREADS

The first line on stdout is the address. A process of its own, so that its threads, its log and its
crashes are not ours, and so that it ends with us however we end.
"""

from __future__ import annotations

import os
import sys

_CONTEXT_TOKENS = 2048


def main() -> None:
    """Load the model, say where it listens, and wait."""
    model, threads = sys.argv[1], int(sys.argv[2])
    said = os.dup(1)
    os.dup2(2, 1)  # what the engine prints must not stand before the address
    import xllamacpp  # noqa: PLC0415 - an extra, and only after its threads were told to wait

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = _CONTEXT_TOKENS
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    server = xllamacpp.Server(params)
    os.write(said, f"{server.listening_address}\n".encode())
    sys.stdin.read()
    os._exit(0)  # the engine's threads need not be waited for


if __name__ == "__main__":
    main()
