"""Open files: each question under way may have a connection or a process, and these are files."""

from __future__ import annotations

from contextlib import suppress

from markscheme.errors import UsageError

_EACH = 4  # a process has its input, its output, its errors and a place to wait for it
_LEAST = 50  # what we have open ourselves
_ELSE = 200  # the store, libraries that are still to be loaded, and whatever a subject opens


def allow(at_once: int) -> None:
    """Let this process open as many files as so many questions take, as far as the system lets."""
    try:
        import resource  # noqa: PLC0415 - not on Windows, which has no such limit
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and at_once + _LEAST > hard:
        told = (
            f"{at_once:,} questions at a time take more open files than the {hard:,} allowed here"
        )
        raise UsageError(f"{told}; lower --concurrency, or raise the limit (`ulimit -n`)")
    wanted = at_once * _EACH + _ELSE
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
