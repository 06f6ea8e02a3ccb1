"""The state of following a script: regions, variables, and values that leave what is followed.

A region is a part that is followed as one: a branch, one round of a loop, a function. What changes
in the region where it was made, and is read nowhere else, has a known value at every time. All
else is noted as shaky.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from markscheme.read.transcripts.code_mode.tokens import ScriptError
from markscheme.read.transcripts.code_mode.values import (
    GLOBAL,
    TOOLS,
    UNKNOWN,
    Container,
    FunctionValue,
    ListValue,
    Method,
    ObjectValue,
    PartialText,
    Scope,
    ToolFunction,
    Variable,
    join_texts,
)

_LETTERS_PER_STEP = 100


class NestedCall(NamedTuple):
    """A call of a nested tool.

    `name` is `None` if it is computed. `unknown` names the arguments that are not fully known; it
    holds `*` if there may be arguments that are not listed. `repeats`: it may be made many times.
    """

    name: str | None
    arguments: Any
    unknown: frozenset[str] = frozenset()
    repeats: bool = False

    def is_known(self, key: str) -> bool:
        """Return whether an argument, or its absence, is known for certain."""
        if key in self.unknown:
            return False
        listed = isinstance(self.arguments, dict) and key in self.arguments
        return listed or "*" not in self.unknown


class EvaluationState:
    """What is known while a script is followed, and the places where that ends.

    `shaky` are the places of variables and objects that are taken as unknown from the start.
    """

    def __init__(self, shaky: frozenset[int], budget: int) -> None:
        self.calls: list[NestedCall] = []
        self.doubts: dict[str, None] = {}
        self.found_shaky = set(shaky)
        self._shaky = shaky
        self._budget = budget
        self._region = self._activation = self._last_id = 0
        self._repeating = 0
        self._scope = Scope(None, 0, is_function=True)
        self._functions: list[FunctionValue] = []
        self._active: dict[int, int] = {}
        # What the functions that are being followed return, with the region of the `return`.
        self._returned: list[list[tuple[Any, int]]] = [[]]

    def add_doubt(self, reason: str) -> None:
        """Note something that could hide a call."""
        self.doubts[reason] = None

    # Where a value is decided

    def _new_id(self) -> int:
        self._last_id += 1
        return self._last_id

    @contextmanager
    def _in_region(self, *, repeats: bool = False) -> Iterator[None]:
        """Follow a part that may be left out, or may be followed several times (`repeats`)."""
        before, self._region = self._region, self._new_id()
        self._repeating += repeats
        yield
        self._region = before
        self._repeating -= repeats

    @contextmanager
    def _in_scope(self, scope: Scope) -> Iterator[None]:
        before, self._scope = self._scope, scope
        yield
        self._scope = before

    def note_reading(self, place: Variable | Container) -> None:
        """Note that a variable or object is read, maybe by a function that runs later."""
        if place.activation != self._activation:
            place.was_read_elsewhere = True
            if place.was_changed:
                self.found_shaky.add(place.at)

    def note_change(self, place: Variable | Container) -> None:
        """Note that a variable or object changes."""
        place.was_changed = True
        decided = place.region == self._region and place.activation == self._activation
        if not decided or place.was_read_elsewhere:
            self.found_shaky.add(place.at)

    def make_list(self, items: list[Any], at: int) -> ListValue:
        """Return a new list; one that changes at uncertain times is unknown from the start."""
        made = ListValue(at, self._region, self._activation, items=items)
        self._open_shaky(made)
        return made

    def make_object(self, fields: dict[str, Any], at: int) -> ObjectValue:
        """Return a new object; one that changes at uncertain times is unknown from the start."""
        made = ObjectValue(at, self._region, self._activation, fields=fields)
        self._open_shaky(made)
        return made

    def _open_shaky(self, made: Container) -> None:
        if made.at in self._shaky:
            self.release(made)

    def release(self, value: Any, *, opens: bool = True) -> None:
        """Give a value to code that is not followed: it may call functions and change objects."""
        self._spend()
        if value is TOOLS or value is GLOBAL or isinstance(value, ToolFunction):
            self.add_doubt("tools are handed to code that is not followed")
        elif isinstance(value, Method):
            self.release(value.receiver, opens=opens)
        elif isinstance(value, FunctionValue):
            if not value.was_released:
                value.was_released = True
                with self._in_region(repeats=True):
                    result = self.call_function(value, [UNKNOWN] * len(value.node.parts[0].parts))
                    # The code that calls it gets what it returns.
                    self.release(result, opens=False)
        elif isinstance(value, Container) and not value.was_released:
            value.was_released = opens
            inner = value.list_values()
            if opens:
                value.forget_values()
            for item in list(inner):
                self.release(item, opens=opens)

    def _spend(self, steps: int = 1) -> None:
        self._budget -= steps
        if self._budget < 0:
            raise ScriptError("it takes too long to follow")

    def join_values(self, values: list[Any]) -> Any:
        """Return values written one after the other as text."""
        joined = join_texts(values)
        text = joined.text if isinstance(joined, PartialText) else joined
        self._spend(len(text) // _LETTERS_PER_STEP if isinstance(text, str) else 1)
        return joined

    def call_function(self, function: FunctionValue, arguments: list[Any]) -> Any:
        """Follow a function of the script with these arguments; return what it returns."""
        raise NotImplementedError
