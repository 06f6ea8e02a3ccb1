"""What verification found, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.tell.language import translate, translate_stored

if TYPE_CHECKING:
    from markscheme.weigh.verification import Finding


def format_verification_finding(found: Finding) -> str:
    """Return where something published is wrong, what is right, and why."""
    item = f"{found.item}: " if found.item else ""
    was = (
        translate("{value} are published", value=found.published)
        if ", " in found.published
        else translate("{value} is published", value=found.published)
    )
    right = (
        translate("{value} are right", value=found.computed)
        if ", " in found.computed
        else translate("{value} is right", value=found.computed)
    )
    place = f"{found.file}:{found.line}: {item}{found.field}"
    return f"{place}: {was}, {right}: {translate_stored(found.because)}"
