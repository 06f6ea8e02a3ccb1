"""How memory is shared among threads is set up once, and never against who set it up before."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from markscheme.workflows.workers import limit_malloc_arenas

if TYPE_CHECKING:
    import pytest


def test_heaps_are_few_unless_the_environment_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("_RJEM_MALLOC_CONF", "dirty_decay_ms:0")
    limit_malloc_arenas()
    assert os.environ["_RJEM_MALLOC_CONF"] == "dirty_decay_ms:0"
    monkeypatch.delenv("_RJEM_MALLOC_CONF")
    limit_malloc_arenas()
    assert os.environ["_RJEM_MALLOC_CONF"] == "narenas:2"
