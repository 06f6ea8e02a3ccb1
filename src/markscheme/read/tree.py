"""The tree of a document: plain values, in mappings and lists that remember their lines.

What is written within one line may be plain mappings and lists: they stand where their holder does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markscheme.errors import Problem


class YamlMapping(dict[str, Any]):
    """A mapping that knows its own line and the line of each of its keys.

    The root also holds the problems that did not keep the rest from being read.
    """

    __slots__ = ("line", "lines", "problems")

    def __init__(self, line: int) -> None:
        self.line = line
        self.lines: dict[str, int] = {}
        self.problems: tuple[Problem, ...] = ()


class YamlSequence(list[Any]):
    """A sequence that knows its own line and the line of each of its entries."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        self.line = line
        self.lines: list[int] = []


def find_line(tree: YamlMapping, path: tuple[str | int, ...]) -> int:
    """Return the line of the deepest part of `path` that the tree holds."""
    line = tree.line
    node: Any = tree
    for part in path:
        if isinstance(node, YamlMapping) and part in node.lines:
            line, node = node.lines[str(part)], node[str(part)]
        elif isinstance(node, YamlSequence) and isinstance(part, int) and part < len(node):
            line, node = node.lines[part], node[part]
        else:
            break
    return line
