"""Bound the work of checking an object by a JSON Schema before it is begun.

A schema that refers to itself in several alternatives is checked once for each alternative at every
level, so a small object that is nested 60 deep would take 2^60 checks. The same happens without any
object where definitions refer to each other in a long chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MAX_CHECKS = 1_000_000
REFERENCE_KEYS = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_ANCHOR_KEYS = ("$anchor", "$dynamicAnchor", "$id")
_MAX_VISITS = 100_000
_ALTERNATIVES = frozenset({"anyOf", "oneOf", "allOf", "if", "then", "else", "not"})


class SchemaSize:
    """The number of checks that a schema takes, and how fast it grows with nesting.

    `checks` counts the subschemas that are reached, references followed; a reference to a schema
    that is being followed already counts as one. `branching` is the largest number of such
    references in the alternatives of one definition; it is 0 where none leads back.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._root = schema
        self._sizes: dict[int, tuple[int, int]] = {}
        self._open: set[int] = set()
        self._visits = 0
        nodes = list(_iter_mappings(schema))
        self._has_alternatives = any(not _ALTERNATIVES.isdisjoint(node) for node in nodes)
        self._anchors = {
            f"#{node[key]}": node for node in nodes for key in _ANCHOR_KEYS if key in node
        }
        try:
            self.checks, self.branching = self._measure(schema)
        except RecursionError:
            self.checks, self.branching = MAX_CHECKS + 1, 0

    @property
    def max_depth(self) -> int | None:
        """How deep an object may be nested, or `None` where it may be nested at will."""
        if self.branching <= 1 or not self._has_alternatives:
            return None
        depth, checks = 0, self.branching
        while checks <= MAX_CHECKS:
            depth, checks = depth + 1, checks * self.branching
        return depth

    def _measure(self, node: Any) -> tuple[int, int]:
        """Return the checks of a schema and the references in it that lead back."""
        self._visits += 1
        if self._visits > _MAX_VISITS:
            return MAX_CHECKS + 1, 0
        if id(node) in self._open:
            return 1, 1
        if id(node) in self._sizes:
            return self._sizes[id(node)]
        self._open.add(id(node))
        checks, references = 1, 0
        for inner in self._iter_inner(node):
            more_checks, more_references = self._measure(inner)
            # Both are only compared with the limit, so they need not grow without end.
            checks = min(checks + more_checks, MAX_CHECKS + 1)
            references = min(references + more_references, MAX_CHECKS)
        self._open.discard(id(node))
        # A schema inside a cycle has another size from outside, so only whole ones are kept.
        if not references:
            self._sizes[id(node)] = checks, references
        return checks, references

    def _iter_inner(self, node: Any) -> Iterator[Any]:
        if isinstance(node, Mapping):
            for key, inner in node.items():
                if key in REFERENCE_KEYS and isinstance(inner, str):
                    yield from self._resolve(inner)
                elif key not in {"$defs", "definitions", "enum", "const", "default", "examples"}:
                    yield inner
        elif isinstance(node, Sequence) and not isinstance(node, str):
            yield from node

    def _resolve(self, reference: str) -> Iterator[Any]:
        """Yield the schema that a reference within the document leads to, if there is one."""
        if reference in self._anchors:
            yield self._anchors[reference]
            return
        node: Any = self._root
        for part in reference.removeprefix("#").split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping) and key in node:
                node = node[key]
            elif isinstance(node, Sequence) and key.isdigit() and int(key) < len(node):
                node = node[int(key)]
            else:
                return
        yield node


def measure_depth(value: Any) -> int:
    """Return how deep lists and mappings are nested in a value."""
    depth, level = 0, [value]
    while level := [
        inner
        for node in level
        if isinstance(node, (dict, list))
        for inner in (node.values() if isinstance(node, dict) else node)
    ]:
        depth += 1
    return depth


def _iter_mappings(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every mapping inside a schema, itself included."""
    pending = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, Mapping):
            yield node
            pending.extend(node.values())
        elif isinstance(node, Sequence) and not isinstance(node, str):
            pending.extend(node)
