"""A judge made of rules, for the example of docs/calibration.md. It replies as a model must."""

import json
import re

ANSWER = re.compile(r"^BEGIN answer (\w+)\n(.*?)\nEND answer \1$", re.DOTALL | re.MULTILINE)


def mark(text: str) -> str:
    """Reply with a verdict on each entry of the list."""
    answer = ANSWER.search(text)[2]
    entries = text.rpartition("\nList:\n")[2]
    ids = re.findall(r"^([\w.-]+): ", entries, re.MULTILINE)
    marks = [{"id": id_, "why": "by rule", "verdict": decide(id_, answer)} for id_ in ids]
    return json.dumps({"marks": marks})


def decide(id_: str, answer: str) -> object:
    """Return the verdict on one entry."""
    if id_ == "days":
        return bool(re.search(r"\d+ days", answer))
    if id_ == "sorry":
        return bool(re.search(r"sorry|apologise", answer, re.IGNORECASE))
    thanks = len(re.findall(r"thank|glad|dear", answer, re.IGNORECASE))
    if thanks:
        return min(4, 2 + thanks)
    return 1 if re.search(r"problem|rules", answer) else 2
