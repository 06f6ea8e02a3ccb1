"""Subjects: what answers an exam. One module for each kind, loaded when it is named.

Only what all kinds share is imported here.
"""

from markscheme.ask.subjects.registry import SUBJECT_KINDS, create_subject
