"""Judge models: who is asked to mark answers, and how.

A judge is a rater: it answers the questions that a rubric's scales, choices and criteria ask. The
document of a judge says which model is asked, what it sees, and in how many calls.

>>> judge = Judge(name="strict", subject="openai:gpt-5-mini", fingerprint="b2:0")
>>> judge.calls, judge.orders, [sight.value for sight in judge.sees]
(1, 1, ['prompt', 'answer'])
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum

from msgspec import Struct

JUDGE_PROTOCOL = 1
"""The version of the words in which judges are asked; a change makes every fingerprint another."""


class JudgeSight(StrEnum):
    """What a judge can see of an answer: what was asked, the answer, what is expected of it."""

    PROMPT = "prompt"
    ANSWER = "answer"
    REFERENCE = "reference"


class SettleRule(StrEnum):
    """Which mark counts where several marks of the same thing differ."""

    MEDIAN = "median"
    MAJORITY = "majority"
    LOWER = "lower"


class JudgeExample(Struct, frozen=True, kw_only=True):
    """A worked example for a judge: an answer, a question about it, and the right verdict."""

    answer: str
    question: str
    verdict: Decimal | str | bool | None
    prompt: str = ""
    why: str = ""


class Judge(Struct, frozen=True, kw_only=True):
    """A model that marks answers, and the way in which it is asked.

    - `calls`: in how many calls the questions about one answer are asked; `None` asks each of them
      in a call of its own.
    - `orders`: with 2, everything is asked a second time with the list in reverse.
    - `repeats`: how many times the same is asked.
    - `settle`: what counts where the two orders differ; without it, nothing does.

    - `recording`: the file that a `replay:` subject reads, where it lies beside the document.

    `base_url`, `key_env` and `price` are the options of `markscheme run` by these names.
    """

    name: str
    subject: str
    fingerprint: str
    sees: tuple[JudgeSight, ...] = (JudgeSight.PROMPT, JudgeSight.ANSWER)
    calls: int | None = 1
    orders: int = 1
    repeats: int = 1
    settle: SettleRule | None = None
    temperature: Decimal | None = None
    max_tokens: int | None = None
    instructions: str = ""
    examples: tuple[JudgeExample, ...] = ()
    base_url: str | None = None
    key_env: str | None = None
    price: str | None = None
    recording: str | None = None

    @property
    def judges(self) -> tuple[Judge, ...]:
        """This judge: a judge is a panel of one."""
        return (self,)

    @property
    def is_recorded(self) -> bool:
        """Whether replies come from a recording, and no model is asked."""
        return strip_alias(self.subject).startswith("replay:")

    @property
    def calls_label(self) -> str:
        """The way of calling as a document states it: `one`, `each`, or a number of calls."""
        return {None: "each", 1: "one"}.get(self.calls, str(self.calls))


def strip_alias(subject: str) -> str:
    """Return a subject without the user's own name for it: `small=openai:x` is `openai:x`.

    >>> strip_alias("small=openai:gpt-5-mini"), strip_alias("cmd:./ask --as=json")
    ('openai:gpt-5-mini', 'cmd:./ask --as=json')
    """
    alias, equals, rest = subject.partition("=")
    return rest if equals and ":" not in alias and " " not in alias else subject


class Panel(Struct, frozen=True, kw_only=True):
    """Several judges whose marks are settled into one; too few marks to reach `quorum` are none."""

    name: str
    judges: tuple[Judge, ...]
    quorum: int
    settle: SettleRule
    fingerprint: str


class JudgedAxis(Struct, frozen=True, kw_only=True):
    """Who marked an axis of a run, and how; gates compare it with calibrations.

    - `fingerprint`: of the judge, which covers its instructions, its model and the way of calling.
    - `axis_fingerprint`: of what the axis asks; `call_fingerprint` of all that is asked together
      with it.
    - `served`: the models that the servers say answered.
    - `canaries`: the known answers whose marks were out of range.
    - `doubt`: why no gate may rest on these marks; empty if a calibration allows it.

    What a file of ratings does not say is None, and no calibration fits it.
    """

    judge: str
    fingerprint: str | None = None
    axis_fingerprint: str | None = None
    call_fingerprint: str | None = None
    served: tuple[str, ...] = ()
    canaries: tuple[str, ...] = ()
    doubt: str = ""

    @property
    def instrument(self) -> tuple[object, ...]:
        """What must be the same for marks to be comparable."""
        return (self.fingerprint, self.axis_fingerprint, self.call_fingerprint, self.served)
