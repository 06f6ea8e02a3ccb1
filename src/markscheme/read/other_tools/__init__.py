"""Read the answers that other evaluation tools wrote.

`formats` reads the results of each tool, `mapping` any other table whose fields the user names, and
`place` finds the item of each answer. `read.tool_files` recognises a file by its content; one that
is not understood is refused. Nothing here judges an answer.
"""

from markscheme.read.other_tools.formats import is_tool_record, read_tool_answers
from markscheme.read.other_tools.mapping import parse_mapping, read_mapped_answers
from markscheme.read.other_tools.place import place_answers

__all__ = [
    "is_tool_record",
    "parse_mapping",
    "place_answers",
    "read_mapped_answers",
    "read_tool_answers",
]
