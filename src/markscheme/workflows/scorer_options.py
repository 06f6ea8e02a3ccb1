"""What a scorer keeps with the rows beside their scores, and the marks that it is given."""

from __future__ import annotations

from msgspec import Struct

from markscheme.read.marks import AnswerMarks
from markscheme.vocabulary import FrozenDict


class ScorerOptions(Struct, frozen=True, kw_only=True):
    """How answers are scored, in this process or in a worker.

    With `outputs`, the raw outputs stay with the rows, for the store; with `messages`, the messages
    of the reasons, for the store and for pages in another language. `marks` are those that people
    or judges gave.
    """

    outputs: bool = False
    messages: bool = False
    marks: AnswerMarks = FrozenDict()


PLAIN_SCORER = ScorerOptions()
"""Scores and reasons only."""
