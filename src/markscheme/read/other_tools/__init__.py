"""Read the answers that other evaluation tools wrote, and the tests they were made from.

`formats` reads the results of each tool, `mapping` any other table whose fields the user names, and
`place` finds the item of each answer. A file is recognised by its content; one that is not
understood is refused. `test_suites` turns the tests of promptfoo and pydantic-evals into our own
documents. Nothing here judges an answer.
"""

from markscheme.read.other_tools.formats import is_tool_file, read_tool_answers
from markscheme.read.other_tools.mapping import parse_mapping, read_mapped_answers
from markscheme.read.other_tools.place import place_answers

__all__ = [
    "is_tool_file",
    "parse_mapping",
    "place_answers",
    "read_mapped_answers",
    "read_tool_answers",
]
