"""Subjects: what answers an exam. One module for each kind, loaded when it is named.

Only what all kinds share is imported here.
"""

from markscheme.ask.subjects.base import (
    MODEL_OPTIONS,
    BaseSubject,
    SamplingOptions,
    Subject,
    SubjectOptions,
    TokenPrice,
)
from markscheme.ask.subjects.registry import SUBJECT_KINDS, create_subject
from markscheme.ask.subjects.tutor import FLAWED, Tutor, TutorFault

__all__ = [
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
]
