"""Pages that begin with an example show what it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from worked_examples import DOCS, run_examples

PAGES = ["library.md", "plugins.md", "pytest.md", "other-tools.md", "mcp.md", "rewards.md"]
PAGES += [f"guides/{path.name}" for path in sorted((DOCS / "guides").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_print_what_it_shows(page: str, tmp_path: Path) -> None:
    assert run_examples(page, tmp_path) > 0
