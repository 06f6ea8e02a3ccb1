"""Find the tool calls of a script by following its values, without running it.

Every statement is followed once, in order, and both sides of every condition. Lists whose elements
are known are gone through; other loops are followed once with unknown values. A variable or object
that changes where this order does not decide its value (in a branch, in a loop, in a function that
may run later) is unknown everywhere. To find these, a script is followed again until none is new.

What could hand a tool to code that is not followed is a doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from markscheme.read.transcripts.code_mode.builtins import (
    CHANGING_METHODS,
    HARMLESS_NAMES,
    REVEALING_NAMES,
    call_builtin,
    call_method,
)
from markscheme.read.transcripts.code_mode.expressions import NOTHING, Node
from markscheme.read.transcripts.code_mode.state import EvaluationState, NestedCall
from markscheme.read.transcripts.code_mode.tokens import ScriptError
from markscheme.read.transcripts.code_mode.values import (
    GLOBAL,
    TOOLS,
    UNKNOWN,
    Builtin,
    Container,
    FunctionValue,
    ListValue,
    Method,
    ObjectValue,
    PartialText,
    Scope,
    ToolFunction,
    Variable,
    convert_value,
)

_MAX_ACTIVE = 3


class Evaluation(EvaluationState):
    """Follows a script once, statement by statement."""

    def __init__(self, shaky: frozenset[int], budget: int) -> None:
        super().__init__(shaky, budget)
        self._statements: dict[str, Callable[[Node], None]] = {
            "block": self._run_block,
            "declare": self._run_declaration,
            "expression": self._run_expression,
            "branch": self._run_branch,
            "loop": self._run_loop,
            "each": self._run_each,
            "try": self._run_try,
            "leave": self._run_leave,
            "import": self._run_import,
        }
        self._expressions: dict[str, Callable[[Node], Any]] = {
            "text": self._evaluate_text,
            "number": self._evaluate_number,
            "constant": self._evaluate_constant,
            "regex": self._evaluate_regex,
            "name": self._evaluate_name,
            "template": self._evaluate_template,
            "array": self._evaluate_array,
            "object": self._evaluate_object,
            "function": self._evaluate_function,
            "member": self._evaluate_member,
            "index": self._evaluate_index,
            "call": self._evaluate_call,
            "new": self._evaluate_call,
            "unary": self._evaluate_unary,
            "binary": self._evaluate_binary,
            "logical": self._evaluate_logical,
            "conditional": self._evaluate_conditional,
            "assign": self._evaluate_assign,
            "update": self._evaluate_update,
            "sequence": self._evaluate_sequence,
            "spread": self._evaluate_spread,
        }

    def follow_script(self, block: Node) -> None:
        """Follow the whole script, then the functions that it never calls."""
        self._run_statements(block.parts)
        while self._functions:
            function = self._functions.pop()
            if not function.was_called:
                self.release(function)

    # Statements

    def _run_statements(self, statements: Sequence[Node]) -> None:
        # Functions can be called before the line that declares them.
        functions = [node for node in statements if node.text == "function"]
        for node in functions:
            if node.kind == "declare":
                self._declare(node.parts[0].parts[0], self.evaluate(node.parts[0].parts[1]))
        for node in statements:
            if not (node.kind == "declare" and node.text == "function"):
                self._run(node)

    def _run(self, node: Node) -> None:
        self._spend()
        run = self._statements.get(node.kind)
        if run is not None:
            run(node)

    def _run_block(self, node: Node) -> None:
        with self._in_scope(Scope(self._scope, self._region)):
            self._run_statements(node.parts)

    def _run_declaration(self, node: Node) -> None:
        for declarator in node.parts:
            target, value = declarator.parts
            self._declare(target, self.evaluate(value), is_var=node.text == "var")

    def _run_expression(self, node: Node) -> None:
        self.evaluate(node.parts[0])

    def _run_branch(self, node: Node) -> None:
        self.evaluate(node.parts[0])
        for part in node.parts[1:]:
            with self._in_region():
                self._run(part)

    def _run_loop(self, node: Node) -> None:
        with self._in_region(repeats=True):
            for part in node.parts:
                if part.kind in self._statements:
                    self._run(part)
                else:
                    self.evaluate(part)

    def _run_each(self, node: Node) -> None:
        target, values, body = node.parts
        elements = self.evaluate(values)
        for element in self._list_elements(elements):
            repeats = element is UNKNOWN
            with self._in_region(repeats=repeats), self._in_scope(Scope(self._scope, self._region)):
                self._bind(target, element, declares=bool(node.text))
                self._run(body)

    def _list_elements(self, value: Any) -> list[Any]:
        """Return the elements to go through; what is not known is one unknown element."""
        if not isinstance(value, ListValue):
            self.release(value, opens=False)
            return [UNKNOWN]
        self.note_reading(value)
        return [*value.items, UNKNOWN] if value.is_open else list(value.items)

    def _run_try(self, node: Node) -> None:
        with self._in_scope(Scope(self._scope, self._region)):
            for part in node.parts:
                with self._in_region():
                    if part.kind == "assign":
                        self._declare(part.parts[0], UNKNOWN)
                    else:
                        self._run(part)

    def _run_leave(self, node: Node) -> None:
        value = self.evaluate(node.parts[0])
        if node.text == "return":
            self._returned[-1].append((value, self._region))
        else:
            self.release(value, opens=False)

    def _run_import(self, node: Node) -> None:
        """Bind what the first versions of code mode imported: tools, and helpers that print."""
        space = node.text.removeprefix("tools").removesuffix(".js").strip("/").replace("/", "__")
        if not node.text.startswith("tools") and node.text != "@openai/code_mode":
            self.add_doubt("an unknown module is imported")
        for imported in node.parts:
            if not node.text.startswith("tools"):
                value: Any = Builtin("text")
            elif imported.kind in {"*", "tools"} or imported.kind == imported.text == "default":
                value = TOOLS
            else:
                value = ToolFunction(f"{space}__{imported.kind}" if space else imported.kind)
            self._declare(Node("name", imported.text, at=imported.at), value)

    # Targets

    def _declare(self, target: Node, value: Any, *, is_var: bool = False) -> None:
        if target is NOTHING:
            return
        if target.kind != "name":
            self._bind(target, value, declares=True)
            return
        scope = self._scope.find_function_scope() if is_var else self._scope
        if is_var and target.text in scope.variables:
            self._assign_name(target.text, value)
            return
        if scope.region != self._region or target.at in self._shaky:
            self._make_shaky(target.at, value)
            value = UNKNOWN
        scope.variables[target.text] = Variable(target.at, self._region, self._activation, value)

    def _make_shaky(self, at: int, value: Any) -> None:
        self.found_shaky.add(at)
        self.release(value, opens=False)

    def _assign_name(self, name: str, value: Any) -> None:
        variable = self._scope.find_variable(name)
        if variable is None:
            self.release(value, opens=False)
            return
        self.note_change(variable)
        if variable.at in self._shaky:
            self.release(value, opens=False)
            return
        variable.value = value

    def _bind(self, target: Node, value: Any, *, declares: bool) -> None:
        """Give a value to a name, a property, or the names of a pattern."""
        if target.kind == "sequence" and len(target.parts) == 1:
            self._bind(target.parts[0], value, declares=declares)
        elif target.kind == "assign":
            default = self.evaluate(target.parts[1])
            self._bind(target.parts[0], self._choose(value, default), declares=declares)
        elif target.kind == "name" and declares:
            self._declare(target, value)
        elif target.kind == "name":
            self._assign_name(target.text, value)
        elif target.kind == "array":
            self._bind_elements(target, value, declares=declares)
        elif target.kind == "object":
            self._bind_properties(target, value, declares=declares)
        elif target.kind in {"member", "index"}:
            self._assign_property(target, value)
        elif target is not NOTHING:
            raise ScriptError("something is assigned in a way that is not followed")

    def _choose(self, value: Any, default: Any) -> Any:
        """Return a value, or its default where it may be missing."""
        if value is None:
            return default
        if value is UNKNOWN or isinstance(value, Method):
            self.release(default, opens=False)
        return value

    def _bind_elements(self, target: Node, value: Any, *, declares: bool) -> None:
        if isinstance(value, ListValue) and not value.is_open:
            self.note_reading(value)
            items = list(value.items)
        else:
            self.release(value, opens=False)
            items = [UNKNOWN] * len(target.parts)
        for index, part in enumerate(target.parts):
            if part.kind == "spread":
                rest = self.make_list(items[index:], part.at)
                self._bind(part.parts[0], rest, declares=declares)
            elif part is not NOTHING:
                item = items[index] if index < len(items) else None
                self._bind(part, item, declares=declares)

    def _bind_properties(self, target: Node, value: Any, *, declares: bool) -> None:
        for part in target.parts:
            if part.kind == "property":
                self._bind(part.parts[0], self._get(value, part.text), declares=declares)
            elif part.kind == "computed":
                key = self.evaluate(part.parts[0])
                self._bind(part.parts[1], self._get_item(value, key), declares=declares)
            else:
                self.release(value, opens=False)
                self._bind(part.parts[0], UNKNOWN, declares=declares)

    def _assign_property(self, target: Node, value: Any) -> None:
        owner = self.evaluate(target.parts[0])
        key: Any = target.text
        if target.kind == "index":
            key = self.evaluate(target.parts[1])
        if owner is TOOLS or owner is GLOBAL:
            self.add_doubt("the tools are changed")
        if isinstance(owner, Container):
            self.note_change(owner)
        if isinstance(owner, ObjectValue) and isinstance(key, str) and not owner.was_released:
            owner.fields[key] = value
            return
        self.release(value)
        self.release(owner)

    # Expressions

    def evaluate(self, node: Node) -> Any:
        """Return what is known about the value of an expression."""
        self._spend()
        evaluate = self._expressions.get(node.kind)
        return None if evaluate is None else evaluate(node)

    def _evaluate_text(self, node: Node) -> Any:
        return node.text

    def _evaluate_number(self, node: Node) -> Any:
        text = node.text.replace("_", "")
        return (
            int(text) if text.isascii() and text.isdigit() and len(text) < _MAX_DIGITS else UNKNOWN
        )

    def _evaluate_constant(self, node: Node) -> Any:
        return {"true": True, "false": False}.get(node.text)

    def _evaluate_regex(self, node: Node) -> Any:  # noqa: ARG002 - as the others
        return UNKNOWN

    def _evaluate_name(self, node: Node) -> Any:
        variable = self._scope.find_variable(node.text)
        if variable is None:
            return self._get_global(node.text)
        self.note_reading(variable)
        return UNKNOWN if variable.at in self._shaky else variable.value

    def _get_global(self, name: str) -> Any:
        if name in REVEALING_NAMES:
            self.add_doubt(f"`{name}` is used")
        if name == "tools":
            return TOOLS
        if name == "globalThis":
            return GLOBAL
        return Builtin(name) if name in HARMLESS_NAMES else UNKNOWN

    def _evaluate_template(self, node: Node) -> Any:
        return self.join_values([self.evaluate(part) for part in node.parts])

    def _evaluate_array(self, node: Node) -> Any:
        return self._make_spread_list(node.parts, node.at)

    def _make_spread_list(self, parts: Sequence[Node], at: int) -> ListValue:
        made = self.make_list([], at)
        is_open = made.is_open
        for part in parts:
            if part.kind != "spread":
                value = self.evaluate(part)
                made.items.append(value)
                if made.was_released:
                    self.release(value)
                continue
            for element in self._list_elements(self.evaluate(part.parts[0])):
                if element is UNKNOWN:
                    is_open = True
                else:
                    made.items.append(element)
        made.is_open = is_open
        return made

    def _evaluate_object(self, node: Node) -> Any:
        made = self.make_object({}, node.at)
        for part in node.parts:
            if part.kind == "property":
                if part.text in REVEALING_NAMES:
                    self.add_doubt(f"`{part.text}` is used")
                made.fields[part.text] = self.evaluate(part.parts[0])
            elif part.kind == "computed":
                key, value = self.evaluate(part.parts[0]), self.evaluate(part.parts[1])
                if isinstance(key, str):
                    made.fields[key] = value
                else:
                    self.release(value)
                    self._spread_unknown(made)
            else:
                self._spread_fields(made, self.evaluate(part.parts[0]))
        if made.was_released:
            for value in made.list_values():
                self.release(value)
            made.forget_values()
        return made

    def _spread_fields(self, made: ObjectValue, value: Any) -> None:
        if isinstance(value, ObjectValue):
            self.note_reading(value)
            if value.is_open:
                self._spread_unknown(made)
            made.fields.update(value.fields)
        elif value is not None:
            self.release(value, opens=False)
            self._spread_unknown(made)

    def _spread_unknown(self, made: ObjectValue) -> None:
        """Add unknown properties, which may replace those before them."""
        for value in made.list_values():
            self.release(value, opens=False)
        made.forget_values()

    def _evaluate_function(self, node: Node) -> Any:
        function = FunctionValue(node, self._scope)
        self._functions.append(function)
        return function

    def _evaluate_member(self, node: Node) -> Any:
        return self._get(self.evaluate(node.parts[0]), node.text)

    def _evaluate_index(self, node: Node) -> Any:
        owner = self.evaluate(node.parts[0])
        return self._get_item(owner, self.evaluate(node.parts[1]))

    def _get_item(self, owner: Any, key: Any) -> Any:
        if isinstance(key, str):
            return self._get(owner, key)
        if isinstance(owner, ListValue) and type(key) is int and not owner.is_open:
            self.note_reading(owner)
            return owner.items[key] if 0 <= key < len(owner.items) else None
        if owner is TOOLS:
            return ToolFunction(None)
        self.release(owner, opens=False)
        return UNKNOWN

    def _get(self, owner: Any, name: str) -> Any:
        """Return a property of a value."""
        if name in REVEALING_NAMES:
            self.add_doubt(f"`{name}` is used")
        if isinstance(owner, Container):
            self.note_reading(owner)
        if isinstance(owner, ObjectValue):
            if name in owner.fields:
                return owner.fields[name]
            return UNKNOWN if owner.is_open else None
        if owner is TOOLS:
            return ToolFunction(name)
        if owner is GLOBAL:
            return self._get_global(name)
        if isinstance(owner, Builtin):
            return Builtin(f"{owner.name}.{name}")
        if name == "length":
            is_list = isinstance(owner, ListValue) and not owner.is_open
            return len(owner.items) if is_list else UNKNOWN
        return Method(owner, name)

    def _evaluate_call(self, node: Node) -> Any:
        callee = self.evaluate(node.parts[0])
        arguments = self._make_spread_list(node.parts[1:], -node.at - 1)
        if arguments.is_open:
            arguments.items.append(UNKNOWN)
        if node.kind == "new" and isinstance(callee, Builtin):
            callee = Builtin(f"new {callee.name}")
        return self.call_value(callee, arguments.items, node.at)

    def call_value(self, callee: Any, arguments: list[Any], at: int) -> Any:
        """Follow a call of anything that can be called."""
        if isinstance(callee, ToolFunction):
            return self._record_call(callee, arguments)
        if isinstance(callee, FunctionValue):
            return self.call_function(callee, arguments)
        if isinstance(callee, Builtin):
            return call_builtin(self, callee.name, arguments, at)
        if isinstance(callee, Method):
            if isinstance(callee.receiver, Container) and callee.name in CHANGING_METHODS:
                self.note_change(callee.receiver)
            return call_method(self, callee, arguments, at)
        self.release(callee)
        for argument in arguments:
            self.release(argument)
        return UNKNOWN

    def _record_call(self, tool: ToolFunction, arguments: list[Any]) -> Any:
        value = arguments[0] if arguments else None
        if isinstance(value, Container):
            self.note_reading(value)
        for argument in arguments:
            if not isinstance(argument, Container):
                self.release(argument)
        if any(isinstance(argument, FunctionValue) for argument in arguments):
            # A tool takes none: this is `then` of a promise of the tools.
            self.add_doubt("a function is handed to a tool")
        plain, is_known = convert_value(value)
        unknown: set[str] = set()
        if isinstance(value, ObjectValue):
            unknown = {key for key, part in value.fields.items() if not convert_value(part)[1]}
            unknown |= {"*"} if value.is_open else set()
        elif not is_known:
            unknown = {"*"}
            plain = plain if isinstance(value, PartialText) else None
        self.calls.append(NestedCall(tool.name, plain, frozenset(unknown), self._repeating > 0))
        if tool.name is None:
            self.add_doubt("the name of a tool is computed")
        return UNKNOWN

    def call_later(self, function: Any) -> None:
        """Follow a function that is called once with a value that is not known."""
        if isinstance(function, FunctionValue):
            with self._in_region():
                result = self.call_function(function, [UNKNOWN] * len(function.node.parts[0].parts))
                self.release(result, opens=False)
        else:
            self.release(function)

    def call_function(self, function: FunctionValue, arguments: list[Any]) -> Any:
        """Follow a function of the script with these arguments; return what it returns."""
        function.was_called = True
        node = function.node
        active = self._active.get(node.at, 0)
        if active >= _MAX_ACTIVE:
            self.add_doubt("a function calls itself")
            return UNKNOWN
        self._active[node.at] = active + 1
        outer = self._activation
        self._activation = self._new_id()
        self._returned.append([])
        with self._in_region():
            base = self._region
            with self._in_scope(Scope(function.scope, base, is_function=True)):
                if node.text:
                    self._declare(Node("name", node.text, at=node.at), function)
                parameters = node.parts[0]
                for extra in arguments[len(parameters.parts) :]:
                    self.release(extra, opens=False)
                if parameters.parts:
                    given = ListValue(-1, base, self._activation, items=arguments)
                    self._bind_elements(parameters, given, declares=True)
                self._run(node.parts[1])
        self._activation = outer
        self._active[node.at] = active
        return self._join_returned(self._returned.pop(), base)

    def _join_returned(self, returned: list[tuple[Any, int]], base: int) -> Any:
        if len(returned) == 1 and returned[0][1] == base:
            return returned[0][0]
        for value, _ in returned:
            self.release(value, opens=False)
        return UNKNOWN if returned else None

    def _evaluate_unary(self, node: Node) -> Any:
        value = self.evaluate(node.parts[0])
        if node.text == "delete" and node.parts[0].kind in {"member", "index"}:
            owner = self.evaluate(node.parts[0].parts[0])
            if isinstance(owner, Container):
                self.note_change(owner)
            self.release(owner)
        if node.text == "-" and type(value) is int:
            return -value
        return None if node.text == "void" else UNKNOWN

    def _evaluate_binary(self, node: Node) -> Any:
        values = [self.evaluate(part) for part in node.parts]
        if node.text != "+":
            return UNKNOWN
        if not any(isinstance(value, str | PartialText) for value in values[:2]):
            # Numbers before the first text are added up, not written.
            values = [UNKNOWN, *values[2:]]
        return self.join_values(values)

    def _evaluate_logical(self, node: Node) -> Any:
        values = [self.evaluate(node.parts[0])]
        for part in node.parts[1:]:
            with self._in_region():
                values.append(self.evaluate(part))
        if node.text != "&&":
            while len(values) > 1 and values[0] is None:
                del values[0]
            if len(values) == 1 or (isinstance(values[0], str) and values[0]):
                return values[0]
        for value in values:
            self.release(value, opens=False)
        return UNKNOWN

    def _evaluate_conditional(self, node: Node) -> Any:
        self.evaluate(node.parts[0])
        values = []
        for part in node.parts[1:]:
            with self._in_region():
                values.append(self.evaluate(part))
        if values[0] == values[1]:
            return values[0]
        for value in values:
            self.release(value, opens=False)
        return UNKNOWN

    def _evaluate_assign(self, node: Node) -> Any:
        target, right = node.parts
        value = self.evaluate(right)
        if node.text == "+=":
            value = self.join_values([self.evaluate(target), value])
        elif node.text != "=":
            self.release(value, opens=False)
            self.release(self.evaluate(target), opens=False)
            value = UNKNOWN
        self._bind(target, value, declares=False)
        return value

    def _evaluate_update(self, node: Node) -> Any:
        self._bind(node.parts[0], UNKNOWN, declares=False)
        return UNKNOWN

    def _evaluate_sequence(self, node: Node) -> Any:
        value: Any = None
        for part in node.parts:
            value = self.evaluate(part)
        return value

    def _evaluate_spread(self, node: Node) -> Any:
        self.release(self.evaluate(node.parts[0]), opens=False)
        return UNKNOWN


_MAX_DIGITS = 18
