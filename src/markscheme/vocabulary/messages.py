"""Sentences that are kept: English in every file, and marked so that pages can translate them."""

from __future__ import annotations


def sentence(template: str, /, **values: object) -> str:
    """Return an English sentence made from a template.

    What is stored and what JSON says is English whatever the language of the reader. The template
    is what the message catalogues hold: `tell.language.told` finds the values in the sentence
    again and puts them into the translation.
    """
    return template.format(**values) if values else template
