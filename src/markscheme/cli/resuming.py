"""What to do after a live command broke off: why it did, and the command that goes on with it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from markscheme.cli.exit_codes import ExitCode, print_note
from markscheme.vocabulary import StoreUnavailableError, Terminated

# The password in the URL of a store.
_STORE_URL_PASSWORD = re.compile(
    r"(postgres(?:ql)?://[^/@:]*:)[^/@]+(?=@)|([?&](?:ssl)?password=)[^&]+"
)


@contextmanager
def tell_how_to_resume(*, stored: bool) -> Iterator[None]:
    """Say how to go on with what is asked inside, if it is interrupted or the store fails."""
    try:
        yield
    except KeyboardInterrupt:
        print_resume_hint("interrupted", stored=stored)
        # With --format json this is told in the document too.
        raise Terminated(ExitCode.INTERRUPTED) from None
    except Terminated:  # also when the terminal is closed
        print_resume_hint("terminated", stored=stored)
        raise
    except StoreUnavailableError as error:  # most likely a full disk
        raise StoreUnavailableError(
            f"{error}\nthen go on with: {build_resume_command()}"
        ) from error


def print_resume_hint(why: str, *, stored: bool) -> None:
    """Print why the run is incomplete, and the command that goes on with it."""
    print_note(why)
    if stored:
        print_note(f"every answer that counted is kept; go on with: {build_resume_command()}")


def build_resume_command() -> str:
    """Return the command that asks only what is missing.

    Variables that name the store or the endpoint stand before it; keys and passwords are masked.
    """
    import shlex

    words = [*_find_program(), *(word for word in sys.argv[1:] if word != "--resume"), "--resume"]
    options = {"MARKSCHEME_STORE": "--store", "OPENAI_BASE_URL": "--base-url"}
    assignments = (
        f"{variable}={shlex.quote(_mask_secrets(os.environ[variable]))} "
        for variable, option in options.items()
        if os.environ.get(variable) and not any(word.startswith(option) for word in words)
    )
    return "".join(assignments) + shlex.join(map(_mask_secrets, words))


def _find_program() -> list[str]:
    """Return the words that start this program again, as short as possible."""
    import shutil
    from pathlib import Path

    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return [sys.executable, "-m", "markscheme"]
    on_path = shutil.which(called.name)
    is_same = on_path is not None and called.exists() and called.samefile(on_path)
    return [called.name if is_same else sys.argv[0]]


def _mask_secrets(word: str) -> str:
    from markscheme.ask.secrets import environment_secrets

    return _STORE_URL_PASSWORD.sub(r"\1\2PASSWORD", environment_secrets().redact(word))
