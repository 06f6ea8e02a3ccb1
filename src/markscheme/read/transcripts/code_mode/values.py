"""What the evaluation of a script knows about a value.

A text is a `str`, a whole number an `int`, `true` and `false` a `bool`; `null` and `undefined` are
`None`. A text with unknown parts is a `PartialText`, everything else that is not known `UNKNOWN`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from markscheme.read.transcripts.code_mode.expressions import Node

UNKNOWN_PART: Final = "${unknown}"
MAX_TEXT_LENGTH: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class Marker:
    """A value that is known by its name only."""

    name: str


UNKNOWN: Final = Marker("unknown")
# The object whose functions are the tools, and the global object, which holds it.
TOOLS: Final = Marker("tools")
GLOBAL: Final = Marker("globalThis")


@dataclass(frozen=True, slots=True)
class PartialText:
    """A text of which parts are not known; they are written as `${unknown}`."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolFunction:
    """A nested tool as a function; `None` if its name is computed."""

    name: str | None


@dataclass(frozen=True, slots=True)
class Builtin:
    """A function of the language or of the sandbox, such as `Promise.all` or `text`."""

    name: str


@dataclass(frozen=True, slots=True)
class Method:
    """A method together with the value that it belongs to."""

    receiver: Any
    name: str


@dataclass(eq=False, slots=True)
class Container:
    """A list or an object: where it was made, and whether more may be in it than is known."""

    at: int
    region: int
    activation: int
    is_open: bool = False
    was_read_elsewhere: bool = False
    was_changed: bool = False
    was_released: bool = False

    def list_values(self) -> list[Any]:
        """Return the values that are known to be in it."""
        raise NotImplementedError

    def forget_values(self) -> None:
        """Take what is in it as unknown."""
        raise NotImplementedError


@dataclass(eq=False, slots=True)
class ListValue(Container):
    """An array, or the values of a set."""

    items: list[Any] = field(default_factory=list)

    def list_values(self) -> list[Any]:
        """Return the elements."""
        return self.items

    def forget_values(self) -> None:
        """Take the elements as unknown."""
        self.items, self.is_open = [], True


@dataclass(eq=False, slots=True)
class ObjectValue(Container):
    """An object with its properties."""

    fields: dict[str, Any] = field(default_factory=dict)

    def list_values(self) -> list[Any]:
        """Return the values of the properties."""
        return list(self.fields.values())

    def forget_values(self) -> None:
        """Take the properties as unknown."""
        self.fields, self.is_open = {}, True


@dataclass(eq=False, slots=True)
class Variable:
    """A variable: where it was declared, and its value now."""

    at: int
    region: int
    activation: int
    value: Any
    was_read_elsewhere: bool = False
    was_changed: bool = False


@dataclass(eq=False, slots=True)
class Scope:
    """The variables of a block; those around it are in the parent."""

    parent: Scope | None
    region: int
    is_function: bool = False
    variables: dict[str, Variable] = field(default_factory=dict)

    def find_variable(self, name: str) -> Variable | None:
        """Return the variable that a name means here."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.variables:
                return scope.variables[name]
            scope = scope.parent
        return None

    def find_function_scope(self) -> Scope:
        """Return the scope of the function around this block, or of the whole script."""
        scope = self
        while not scope.is_function and scope.parent is not None:
            scope = scope.parent
        return scope


@dataclass(eq=False, slots=True)
class FunctionValue:
    """A function of the script with the variables around it."""

    node: Node
    scope: Scope
    was_called: bool = False
    was_released: bool = False


def join_texts(parts: list[Any]) -> Any:
    """Return the values written one after the other as text; unknown ones are left open."""
    written = [_write_value(part) for part in parts]
    if sum(len(text) for text, _ in written) > MAX_TEXT_LENGTH:
        return UNKNOWN
    text = "".join(text for text, _ in written)
    return text if all(is_known for _, is_known in written) else PartialText(text)


def _write_value(value: Any) -> tuple[str, bool]:
    if isinstance(value, str):
        return value, True
    if isinstance(value, PartialText):
        return value.text, False
    if isinstance(value, bool):
        return ("true" if value else "false"), True
    if isinstance(value, int):
        return str(value), True
    return UNKNOWN_PART, False


def convert_value(value: Any, depth: int = 0) -> tuple[Any, bool]:
    """Return a value as JSON would hold it, and whether all of it is known."""
    if value is None or isinstance(value, str | int):
        return value, True
    if isinstance(value, PartialText):
        return value.text, False
    if isinstance(value, Container) and depth < _MAX_DEPTH:
        if isinstance(value, ListValue):
            parts = [convert_value(item, depth + 1) for item in value.items]
            return [part for part, _ in parts], all(k for _, k in parts) and not value.is_open
        if isinstance(value, ObjectValue):
            pairs = {key: convert_value(item, depth + 1) for key, item in value.fields.items()}
            is_known = all(k for _, k in pairs.values()) and not value.is_open
            return {key: part for key, (part, _) in pairs.items()}, is_known
    return UNKNOWN_PART, False


_MAX_DEPTH = 8
