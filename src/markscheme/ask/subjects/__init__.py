"""Subjects: whatever can be asked the questions of an exam, one module per kind.

`create_subject` loads the module of a kind when a subject of that kind is named. A subject answers
one question at a time and returns a reply, also for its errors; retries and limits are the
runner's, and nothing in here knows what an item expects.
"""

from markscheme.ask.subjects.base import (
    ALIAS_PARAMETER,
    MODEL_OPTIONS,
    SUBJECT_KINDS,
    BaseSubject,
    SamplingOptions,
    Subject,
    SubjectOptions,
    TokenPrice,
    create_subject,
    split_alias,
)
from markscheme.ask.subjects.tutor import FLAWED, Tutor, TutorFault

__all__ = [
    "ALIAS_PARAMETER",
    "FLAWED",
    "MODEL_OPTIONS",
    "SUBJECT_KINDS",
    "BaseSubject",
    "SamplingOptions",
    "Subject",
    "SubjectOptions",
    "TokenPrice",
    "Tutor",
    "TutorFault",
    "create_subject",
    "split_alias",
]
