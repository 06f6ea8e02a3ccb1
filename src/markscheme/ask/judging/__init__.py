"""Asks judge models about answers: what is asked, in which words, and how a reply is read.

`questions` lists what an answer is asked about, `prompt` puts it into the words of one call,
`verdicts` reads the reply or refuses it with a reason, and `settle` decides what counts where
orders, repeats or judges differ. The reader decides and never the judge: what is not read is no
number. Nothing in here asks by itself (the runner does), stores, or adds up scores.
"""

from markscheme.ask.judging.makers import find_maker
from markscheme.ask.judging.prompt import (
    JudgedTexts,
    JudgePrompt,
    build_judge_prompt,
    build_reply_schema,
)
from markscheme.ask.judging.questions import (
    JudgeQuestion,
    QuestionKind,
    ask_choice,
    ask_criterion,
    ask_scale,
    fingerprint_axes,
    name_questions,
    split_questions,
)
from markscheme.ask.judging.settle import format_score, settle_orders, settle_panel, settle_repeats
from markscheme.ask.judging.verdicts import (
    JudgeVerdict,
    RefusedReply,
    read_judge_reply,
    read_judge_text,
)

__all__ = [
    "JudgePrompt",
    "JudgeQuestion",
    "JudgeVerdict",
    "JudgedTexts",
    "QuestionKind",
    "RefusedReply",
    "ask_choice",
    "ask_criterion",
    "ask_scale",
    "build_judge_prompt",
    "build_reply_schema",
    "find_maker",
    "fingerprint_axes",
    "format_score",
    "name_questions",
    "read_judge_reply",
    "read_judge_text",
    "settle_orders",
    "settle_panel",
    "settle_repeats",
    "split_questions",
]
