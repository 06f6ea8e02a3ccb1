"""Tool calls of agents: what their arguments say, which tools belong together, what they change.

`arguments` extracts files, shell commands and short texts from a call. `families` groups tools into
memory, search, dispatch and mutation, as a rubric may redefine (`default_families` has the data);
`attempts` lists what was done with them, as `ToolAttempt`s that axes score. `tool_names` knows the
tools of agents, and `unknown_tools` judges the others by what they are handed. No log format is
known here, and no score is given.

How a command is judged: `shell` splits a script into simple commands, `wrappers` looks through
`sudo` and the like, `programs` holds the tables of programs, `special_programs` the judges of those
that need more than a table, `interpreters` finds code that a command carries, and `code` judges it.
`scripts` puts them together; `mutations` asks it about calls.
"""

from markscheme.read.tools.arguments import SHELL_PROGRAMS, CallDetails, extract_call_details
from markscheme.read.tools.attempts import (
    ToolAttempt,
    build_attempt,
    find_attempts,
    iter_calls,
)
from markscheme.read.tools.commands import iter_commands
from markscheme.read.tools.default_families import (
    DEFAULT_FAMILIES,
    DISPATCH,
    EXPLORE,
    MUTATION,
    OTHER_AGENTS,
)
from markscheme.read.tools.families import (
    ENTRY_KEYS,
    find_family_problems,
    find_first_family,
    is_in_family,
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
from markscheme.read.tools.tool_names import SHELL_TOOLS, WRITE_TOOLS
from markscheme.read.tools.unknown_tools import find_unknown_tools

__all__ = [
    "DEFAULT_FAMILIES",
    "DISPATCH",
    "ENTRY_KEYS",
    "EXPLORE",
    "MUTATION",
    "OTHER_AGENTS",
    "SHELL_PROGRAMS",
    "SHELL_TOOLS",
    "WRITE_TOOLS",
    "CallDetails",
    "Findings",
    "ToolAttempt",
    "build_attempt",
    "extract_call_details",
    "find_attempts",
    "find_changes",
    "find_family_problems",
    "find_first_family",
    "find_mutation",
    "find_unknown_programs",
    "find_unknown_tools",
    "find_unreadable_code",
    "is_in_family",
    "iter_calls",
    "iter_commands",
    "judge_script",
    "list_families",
]
