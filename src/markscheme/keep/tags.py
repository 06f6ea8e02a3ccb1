"""Hold a tag for a run that is about to begin, so that the tag does not name an older run.

A process can be killed before its run begins. If the tag still named the run of yesterday, a gate
on the tag would judge that one and pass.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from markscheme.keep.open import open_store
from markscheme.vocabulary import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def hold_tag(tag: str | None, place: str | Path | None) -> Iterator[None]:
    """Take a tag from its run until the new run begins; give it back if the inputs are refused.

    A store that does not exist has no tag to take.
    """
    if tag is None:
        yield
        return
    claim = _claim_tag(tag, place)
    try:
        yield
    except (InputError, UsageError):
        if claim is not None:
            with open_store(place, create=False) as store:
                store.release_tag(tag, claim)
        raise


def _claim_tag(tag: str, place: str | Path | None) -> int | None:
    try:
        with open_store(place, create=False) as store:
            return store.claim_tag(tag)
    except UsageError:
        # There is no store yet, or the command itself will say what is wrong with its options.
        return None
