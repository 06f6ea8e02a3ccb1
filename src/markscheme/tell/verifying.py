"""What verification found, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.tell.language import say, told

if TYPE_CHECKING:
    from markscheme.weigh.verification import Finding


def finding_line(found: Finding) -> str:
    """Return where something published is wrong, what is right, and why."""
    item = f"{found.item}: " if found.item else ""
    was = (
        say("{value} are published", value=found.published)
        if ", " in found.published
        else say("{value} is published", value=found.published)
    )
    right = (
        say("{value} are right", value=found.computed)
        if ", " in found.computed
        else say("{value} is right", value=found.computed)
    )
    place = f"{found.file}:{found.line}: {item}{found.field}"
    return f"{place}: {was}, {right}: {told(found.because)}"
