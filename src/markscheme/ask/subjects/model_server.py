"""Serves a model file on loopback until stdin closes; run as a process of its own.

    python -m markscheme.ask.subjects.model_server MODEL.gguf THREADS

The first line on stdout is the address. In a process of its own its threads, its log and its
crashes cannot disturb the run, and it ends with the run, however that ends.
"""

from __future__ import annotations

import os
import sys

_CONTEXT_TOKENS = 2048


def main() -> None:
    """Load the model, print its address, and wait until stdin closes."""
    model, threads = sys.argv[1], int(sys.argv[2])
    # The engine prints to stdout while it loads, and that must not stand before the address.
    stdout = os.dup(1)
    os.dup2(2, 1)
    import xllamacpp  # noqa: PLC0415 - an extra, and it prints when it is imported

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
    os.write(stdout, f"{server.listening_address}\n".encode())
    sys.stdin.read()
    # The usual exit would wait for the threads of the engine.
    os._exit(0)


if __name__ == "__main__":
    main()
