"""Finds commands that an agent wrote into its text, for a program around it to run.

Some agents have no calls in their messages: the text holds a command in a marked place, and the
next message of the user is the output. Where no reader understands such a log, it must not count as
a conversation without calls.
"""

from __future__ import annotations

import re

# At the start of a line of the assistant's text. A block of code alone is no command: every answer
# may have one.
_COMMAND = re.compile(
    r"^[ \t]*(?:```)?(<tool_call>|<function=|<function_calls>|<invoke name=|<execute_bash>"
    r"|<execute_ipython>|<execute_command>|<write_to_file>|<replace_in_file>|<apply_diff>"
    r"|mswea_bash_command|Action Input:)",
    re.MULTILINE,
)
# At the start of what the program around the agent says as the user.
_OUTPUT = re.compile(
    r"\s*(<returncode>|OBSERVATION:|Observation:|<tool_response>|<function_results>"
    r"|EXECUTION RESULT of \[|\[\w+ for '[^\n]*'\] Result:)"
)
_NAMED_RESULT = re.compile(r"\[\w+ for .*")


def find_text_command(role: str | None, text: str | None) -> str | None:
    """Return the mark of a command in a message's text, or of its output; `None` if there is none.

    The assistant writes the command, and the output comes as a message of the user.
    """
    if text is None or role not in {"assistant", "user"}:
        return None
    match = _COMMAND.search(text) if role == "assistant" else _OUTPUT.match(text)
    return None if match is None else _NAMED_RESULT.sub("Result:", match.group(1))
