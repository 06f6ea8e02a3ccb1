"""Open files: each question under way may have a connection or a process, and these are files."""

from __future__ import annotations

from contextlib import suppress

from markscheme.errors import UsageError

_FILES_PER_QUESTION = (
    4  # a process has its input, its output, its errors and a place to wait for it
)
_OWN_FILES = 50  # what we have open ourselves
_SPARE_FILES = 200  # the store, libraries that are still to be loaded, and whatever a subject opens


def raise_open_file_limit(at_once: int) -> None:
    """Let this process open as many files as so many questions take, as far as the system lets."""
    try:
        import resource  # noqa: PLC0415 - not on Windows, which has no such limit
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and at_once + _OWN_FILES > hard:
        told = (
            f"{at_once:,} questions at a time take more open files than the {hard:,} allowed here"
        )
        raise UsageError(f"{told}; lower --concurrency, or raise the limit (`ulimit -n`)")
    wanted = at_once * _FILES_PER_QUESTION + _SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
