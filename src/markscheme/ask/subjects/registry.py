"""Creates a subject from its name, such as `openai:gpt-4o-mini`, `cmd:./answer.sh` or `tutor`.

To add a kind, write a module with a `create_…_subject` function and add it to `SUBJECT_KINDS`.
Users who want a subject of their own need no kind: `python:module:function` takes any callable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from markscheme.ask.subjects.base import Subject, SubjectOptions
from markscheme.vocabulary import UsageError, format_value

SubjectFactory = Callable[[str, SubjectOptions], Subject]


@dataclass(frozen=True, slots=True)
class SubjectKind:
    """How subjects of one kind are named, and which function of which module creates them."""

    module: str
    factory: str
    form: str

    def load_factory(self) -> SubjectFactory:
        """Import the module now: a run must not wait for kinds that it does not use."""
        module = import_module(f"markscheme.ask.subjects.{self.module}")
        factory: SubjectFactory = getattr(module, self.factory)
        return factory


SUBJECT_KINDS = {
    "openai": SubjectKind(
        "endpoint", "create_endpoint_subject", "openai:MODEL, any OpenAI-compatible endpoint"
    ),
    "llm": SubjectKind(
        "llm_plugin", "create_llm_subject", "llm:MODEL, whatever the llm package offers"
    ),
    "cmd": SubjectKind(
        "command", "create_command_subject", "cmd:COMMAND, prompt on stdin or as {prompt}"
    ),
    "python": SubjectKind(
        "function", "create_function_subject", "python:MODULE:FUNCTION, a function of a text"
    ),
    "tutor": SubjectKind("tutor", "create_tutor_subject", "tutor or tutor:flawed, the bundled one"),
    "replay": SubjectKind("replay", "create_replay_subject", "replay:FILE, recorded answers"),
    "local": SubjectKind(
        "local_model",
        "create_local_model_subject",
        "local:smollm2, a real model on this machine",
    ),
}


def create_subject(name: str, options: SubjectOptions) -> Subject:
    """Create the subject that a name stands for; nothing is opened yet."""
    kind, _, rest = name.partition(":")
    if kind not in SUBJECT_KINDS:
        forms = "; ".join(known.form for known in SUBJECT_KINDS.values())
        raise UsageError(f"{format_value(name)} is no subject; a subject is one of {forms}")
    return SUBJECT_KINDS[kind].load_factory()(rest, options)
