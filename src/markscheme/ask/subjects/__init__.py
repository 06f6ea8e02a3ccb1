"""Subjects by a short word, such as `openai:gpt-4o-mini`, `cmd:./answer.sh` or `tutor`.

Each kind is a module of its own, imported only when it is named. A kind of one's own needs none:
`python:module:function` takes any callable.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from markscheme.errors import UsageError, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from markscheme.ask.subjects.base import Options, Subject

KINDS = {
    "openai": ("endpoints", "openai:MODEL, any OpenAI-compatible endpoint"),
    "llm": ("plugins", "llm:MODEL, whatever the llm package offers"),
    "cmd": ("commands", "cmd:COMMAND, prompt on stdin or as {prompt}"),
    "python": ("functions", "python:MODULE:FUNCTION, a function of a text"),
    "tutor": ("tutors", "tutor or tutor:flawed, the bundled one"),
    "replay": ("recordings", "replay:FILE, recorded answers"),
    "local": ("models", "local:smollm2, a real model on this machine"),
}


def subject_of(named: str, options: Options) -> Subject:
    """Return the subject of a name; nothing is opened yet."""
    kind, _, rest = named.partition(":")
    if kind not in KINDS:
        forms = "; ".join(form for _, form in KINDS.values())
        raise UsageError(f"{shown(named)} is no subject; a subject is one of {forms}")
    module = import_module(f"markscheme.ask.subjects.{KINDS[kind][0]}")
    make: Callable[[str, Options], Subject] = module.subject
    return make(rest, options)
