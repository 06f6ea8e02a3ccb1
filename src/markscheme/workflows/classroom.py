"""A class: its file, its learners, and its reviews as a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.keep import Learner, LearnerReview, Store
from markscheme.read.nfc import to_nfc
from markscheme.vocabulary import UsageError, format_value
from markscheme.workflows.output_files import create_file_atomically
from markscheme.workflows.review_files import format_reviews

if TYPE_CHECKING:
    from collections.abc import Collection

_CLASS_FILE = """\
# A class of learners. `markscheme class add` adds learners; the store holds them and their answers.
class: {name}
rubric: tutor-capstone
practice: [practice]
exams: [capstone, capstone-extra]
minutes: 30
new_per_day: 20
reviews_per_day: 200
"""
_LONGEST_NAME = 80


def create_class_file(path: Path) -> bool:
    """Write the file of a new class, named like the file, unless it is there already."""
    if path.exists():
        return False
    with create_file_atomically(path) as partial:
        partial.write_text(_CLASS_FILE.format(name=path.stem), encoding="utf-8")
    return True


def check_learner_name(name: str) -> str:
    """Return the name of a learner in NFC without whitespace around it; refuse other texts."""
    plain = to_nfc(name.strip())
    if not plain or not plain.isprintable() or len(plain) > _LONGEST_NAME:
        raise UsageError(f"{format_value(name)} is no name; up to 80 printable characters are one")
    return plain


def find_learners(store: Store, class_name: str, names: Collection[str]) -> list[Learner]:
    """Return the learners of a class with these names, or all that have a name."""
    learners = [one for one in store.learning.list_learners(class_name) if one.name is not None]
    unknown = set(names) - {learner.name for learner in learners}
    if unknown:
        message = f"the class `{class_name}` has no learner {format_value(min(unknown))}"
        known = ", ".join(sorted(learner.name or "" for learner in learners)) or "nobody"
        raise UsageError(f"{message}; it has {known}")
    if not learners:
        message = f"the class `{class_name}` has no learners"
        raise UsageError(f"{message}; `markscheme class add FILE NAME` adds them")
    return [learner for learner in learners if not names or learner.name in names]


def write_reviews(reviews: Sequence[LearnerReview], path: Path) -> None:
    """Write reviews as JSON lines or as CSV, by the ending of the path."""
    text = format_reviews(reviews, path.suffix.lower().removeprefix("."))
    with create_file_atomically(path) as partial:
        partial.write_bytes(text.encode())
