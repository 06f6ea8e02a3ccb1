"""The pages on the library and on other tools show what their examples print."""

from __future__ import annotations

from pathlib import Path

import pytest

from worked_examples import run_examples


@pytest.mark.parametrize(
    "page", ["library.md", "plugins.md", "pytest.md", "other-tools.md", "mcp.md", "rewards.md"]
)
def test_the_examples_of_a_page_print_what_it_shows(page: str, tmp_path: Path) -> None:
    assert run_examples(page, tmp_path) > 0
