"""Words for the tags and axes of the built-in documents: `past-simple` is "past simple"."""

from __future__ import annotations

from collections.abc import Mapping

from markscheme.vocabulary.messages import sentence

_NAMES: Mapping[tuple[str, str], str] = {
    ("tense", "present-simple"): sentence("present simple"),
    ("tense", "past-simple"): sentence("past simple"),
    ("tense", "future-simple"): sentence("future simple"),
    ("tense", "present-perfect"): sentence("present perfect"),
    ("tense", "present-continuous"): sentence("present continuous"),
    ("person", "1sg"): sentence("1st person singular"),
    ("person", "2sg"): sentence("2nd person singular"),
    ("person", "3sg"): sentence("3rd person singular"),
    ("person", "1pl"): sentence("1st person plural"),
    ("person", "3pl"): sentence("3rd person plural"),
}
_KEYS = {"tense": sentence("tense"), "person": sentence("person"), "verb": sentence("verb")}


AXIS_TITLES = (
    sentence("English form"),
    sentence("Spanish meaning"),
    sentence("Form of the response"),
    sentence("Short explanation"),
    sentence("One English form"),
    sentence("One Spanish form"),
)
"""Titles of the axes of the built-in rubrics, which pages show in the reader's language."""


def describe_tag(key: str, value: str) -> str:
    """Return the name of a tag's value, as a message if it is a word of the verb table.

    >>> describe_tag("person", "3sg")
    '3rd person singular'
    """
    return _NAMES.get((key, value), value)


def describe_tag_key(key: str) -> str:
    """Return the name of a tag's key."""
    return _KEYS.get(key, key)
