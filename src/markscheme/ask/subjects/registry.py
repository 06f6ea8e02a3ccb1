"""Subjects by a short word, such as `openai:gpt-4o-mini`, `cmd:./answer.sh` or `tutor`.

Each kind is a module of its own, imported only when it is named. A kind of one's own needs none:
`python:module:function` takes any callable.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from markscheme.vocabulary import UsageError, format_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from markscheme.ask.subjects.base import Subject, SubjectOptions

SUBJECT_KINDS = {
    "openai": ("endpoint", "openai:MODEL, any OpenAI-compatible endpoint"),
    "llm": ("llm_plugin", "llm:MODEL, whatever the llm package offers"),
    "cmd": ("command", "cmd:COMMAND, prompt on stdin or as {prompt}"),
    "python": ("function", "python:MODULE:FUNCTION, a function of a text"),
    "tutor": ("tutor", "tutor or tutor:flawed, the bundled one"),
    "replay": ("replay", "replay:FILE, recorded answers"),
    "local": ("local_model", "local:smollm2, a real model on this machine"),
}


def create_subject(named: str, options: SubjectOptions) -> Subject:
    """Return the subject of a name; nothing is opened yet."""
    kind, _, rest = named.partition(":")
    if kind not in SUBJECT_KINDS:
        forms = "; ".join(form for _, form in SUBJECT_KINDS.values())
        raise UsageError(f"{format_value(named)} is no subject; a subject is one of {forms}")
    module = import_module(f"markscheme.ask.subjects.{SUBJECT_KINDS[kind][0]}")
    make: Callable[[str, SubjectOptions], Subject] = module.subject
    return make(rest, options)
