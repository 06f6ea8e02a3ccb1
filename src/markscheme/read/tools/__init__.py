"""Tool calls of agents: what their arguments say, which tools belong together, what they change.

`arguments` extracts files, shell commands and short texts from a call. `families` groups tools into
memory, search, dispatch and mutation, as a rubric may redefine. `shell` splits a script into simple
commands; `mutations` decides which of them change something. A `ToolAttempt` is what axes score. No
log format is known here, and no score is given.
"""

from markscheme.read.tools.arguments import CallDetails, extract_call_details
from markscheme.read.tools.families import (
    DEFAULT_FAMILIES,
    DISPATCH,
    ENTRY_KEYS,
    MUTATION,
    ToolAttempt,
    build_attempt,
    find_attempts,
    find_family_problems,
    is_in_family,
    iter_calls,
    list_families,
)
from markscheme.read.tools.findings import Findings
from markscheme.read.tools.mutations import (
    find_changes,
    find_mutation,
    find_unknown_programs,
    find_unreadable_code,
)
from markscheme.read.tools.scripts import judge_script

__all__ = [
    "DEFAULT_FAMILIES",
    "DISPATCH",
    "ENTRY_KEYS",
    "MUTATION",
    "CallDetails",
    "Findings",
    "ToolAttempt",
    "build_attempt",
    "extract_call_details",
    "find_attempts",
    "find_changes",
    "find_family_problems",
    "find_mutation",
    "find_unknown_programs",
    "find_unreadable_code",
    "is_in_family",
    "iter_calls",
    "judge_script",
    "list_families",
]
