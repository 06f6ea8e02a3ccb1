"""Parse the statements and expressions of JavaScript that models write.

The tree is as small as the evaluation needs: a `Node` has a kind, a text and parts. Classes,
decorators and the like are no part of it; they are a `ScriptError`, and so a doubt.

The kinds of nodes, with their parts:

- `text`, `number`, `constant`, `name`, `regex`: no parts, the `text` only;
- `template` (expressions and `text` nodes), `array`, `object` (of `property`, `computed`, `spread`);
- `function` (parameters in an `array`, body), `call` and `new` (callee, arguments);
- `member` (object), `index` (object, key), `unary`, `binary`, `logical`, `conditional`,
  `assign` (target, value), `update`, `sequence`, `spread`;
- `block`, `declare` (of `assign`), `expression`, `branch`, `loop`, `each`, `try`, `leave`, `import`.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from markscheme.read.transcripts.code_mode.tokens import (
    END,
    NAME,
    NUMBER,
    REGEX,
    SIGN,
    STRING,
    TEMPLATE_HEAD,
    TEMPLATE_TAIL,
    TEMPLATE_WHOLE,
    ScriptError,
    Token,
    split_script,
)

_PRECEDENCE = {
    sign: level
    for level, signs in enumerate(
        (
            "??",
            "||",
            "&&",
            "|",
            "^",
            "&",
            "== != === !==",
            "< > <= >= instanceof in",
            "<< >> >>>",
            "+ -",
            "* / %",
            "**",
        ),
        start=1,
    )
    for sign in signs.split()
}
_LOGICAL = frozenset({"??", "||", "&&"})
_ASSIGNMENTS = frozenset(["=", "+=", "-=", "*=", "/=", "%=", "**=", "<<=", ">>=", ">>>=", "&=", "|=", "^=", "&&=", "||=", "??="])
_UNARY = frozenset({"!", "-", "+", "~", "typeof", "void", "delete"})
_CONSTANTS = frozenset({"true", "false", "null", "undefined"})
_DECLARATIONS = frozenset({"const", "let", "var"})
_NOT_READ = frozenset({"class", "with", "debugger", "export", "enum", "super"})


class Node(Struct, frozen=True):
    """A part of a script. `at` is its position, which identifies it."""

    kind: str
    text: str = ""
    parts: tuple[Node, ...] = ()
    at: int = 0


NOTHING = Node("nothing")


def parse_script(script: str) -> Node:
    """Parse a script into a `block`.

    Raises:
        ScriptError: a part of it is not understood.
        RecursionError: it is nested too deeply.
    """
    return _Parser(script).parse_all()


class _Parser:
    def __init__(self, script: str) -> None:
        self.tokens, self.closing = split_script(script)
        self.position = 0
        # Whether `in` compares; in the head of a `for` it belongs to the loop.
        self.compares_in = True

    def parse_all(self) -> Node:
        statements = []
        while self.current.kind != END:
            statements.append(self.parse_statement())
        return Node("block", parts=tuple(statements))

    @property
    def current(self) -> Token:
        return self.tokens[self.position]

    def peek(self, distance: int = 1) -> Token:
        return self.tokens[min(self.position + distance, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.current
        if token.kind == END:
            raise ScriptError("the code ends too early")
        self.position += 1
        return token

    def is_sign(self, sign: str) -> bool:
        return self.current.kind == SIGN and self.current.text == sign

    def is_word(self, word: str) -> bool:
        return self.current.kind == NAME and self.current.text == word

    def skip(self, text: str) -> bool:
        """Skip a sign or word if it is there; return whether it was."""
        found = self.current.kind in {SIGN, NAME} and self.current.text == text
        self.position += found
        return found

    def expect(self, text: str) -> None:
        if not self.skip(text):
            raise ScriptError(f"`{text}` is expected before {self.current.text[:20]!r}")

    def end_statement(self) -> None:
        if not (
            self.skip(";") or self.is_sign("}") or self.current.kind == END or self.current.breaks
        ):
            raise ScriptError(f"a statement ends before {self.current.text[:20]!r}")

    # Statements

    def parse_statement(self) -> Node:
        token = self.current
        if token.kind == SIGN and token.text in {"{", ";"}:
            return self.parse_block() if token.text == "{" else self.skip_empty()
        if token.kind == NAME:
            parse = _STATEMENTS.get(token.text)
            if parse is not None and self.is_statement_word(token.text):
                self.position += 1
                return parse(self)
            if token.text in _DECLARATIONS:
                return self.parse_declaration()
            if self.is_function_ahead():
                function = self.parse_primary()
                return Node("declare", "function", (_assign_function(function),), token.at)
            if self.peek().kind == SIGN and self.peek().text == ":":
                # A label: what it marks may be left early.
                self.position += 2
                return Node("branch", parts=(NOTHING, self.parse_statement()), at=token.at)
        expression = self.parse_expression()
        self.end_statement()
        return Node("expression", parts=(expression,), at=token.at)

    def is_statement_word(self, word: str) -> bool:
        """Return whether a word begins a statement here: `import(…)` and `import.meta` do not."""
        following = self.peek()
        return not (word == "import" and following.kind == SIGN and following.text in {"(", "."})

    def skip_empty(self) -> Node:
        self.position += 1
        return NOTHING

    def is_function_ahead(self) -> bool:
        is_async = self.is_word("async") and self.peek().text == "function"
        return self.is_word("function") or (is_async and not self.peek().breaks)

    def parse_block(self) -> Node:
        at = self.current.at
        self.expect("{")
        statements = []
        while not self.skip("}"):
            statements.append(self.parse_statement())
        return Node("block", parts=tuple(statements), at=at)

    def parse_declaration(self) -> Node:
        word = self.take()
        parts = [self.parse_declarator()]
        while self.skip(","):
            parts.append(self.parse_declarator())
        self.end_statement()
        return Node("declare", word.text, tuple(parts), word.at)

    def parse_declarator(self) -> Node:
        at = self.current.at
        target = self.parse_primary()
        value = self.parse_assignment() if self.skip("=") else NOTHING
        return Node("assign", "=", (target, value), at)

    def parse_if(self) -> Node:
        at = self.current.at
        test = self.parse_condition()
        parts = [test, self.parse_statement()]
        if self.skip("else"):
            parts.append(self.parse_statement())
        return Node("branch", parts=tuple(parts), at=at)

    def parse_condition(self) -> Node:
        self.expect("(")
        condition = self.parse_expression()
        self.expect(")")
        return condition

    def parse_while(self) -> Node:
        at = self.current.at
        return Node("loop", parts=(self.parse_condition(), self.parse_statement()), at=at)

    def parse_do(self) -> Node:
        at = self.current.at
        body = self.parse_statement()
        self.expect("while")
        test = self.parse_condition()
        self.skip(";")
        return Node("loop", parts=(body, test), at=at)

    def parse_for(self) -> Node:
        at = self.current.at
        self.skip("await")
        self.expect("(")
        self.compares_in = False
        word = self.take().text if self.current.text in _DECLARATIONS else ""
        first = NOTHING if self.is_sign(";") else self.parse_for_target(declares=bool(word))
        if self.is_word("of") or self.is_word("in"):
            kind = self.take().text
            self.compares_in = True
            values = self.parse_expression()
            self.expect(")")
            if kind == "in":
                # The keys are not followed.
                values = Node("spread", parts=(values,), at=at)
            return Node("each", word, (first, values, self.parse_statement()), at)
        first = self.parse_for_start(first, word)
        self.compares_in = True
        self.expect(";")
        test = NOTHING if self.is_sign(";") else self.parse_expression()
        self.expect(";")
        step = NOTHING if self.is_sign(")") else self.parse_expression()
        self.expect(")")
        loop = Node("loop", parts=(test, self.parse_statement(), step), at=at)
        return Node("block", parts=(first, loop), at=at)

    def parse_for_target(self, *, declares: bool) -> Node:
        return self.parse_primary() if declares else self.parse_postfix()

    def parse_for_start(self, first: Node, word: str) -> Node:
        """Parse the rest of the first part of `for (a; b; c)`."""
        if first is NOTHING:
            return first
        if not word:
            start = self.parse_assignment(first)
            while self.skip(","):
                start = Node("sequence", parts=(start, self.parse_assignment()), at=first.at)
            return Node("expression", parts=(start,), at=first.at)
        value = self.parse_assignment() if self.skip("=") else NOTHING
        parts = [Node("assign", "=", (first, value), first.at)]
        while self.skip(","):
            parts.append(self.parse_declarator())
        return Node("declare", word, tuple(parts), first.at)

    def parse_try(self) -> Node:
        at = self.current.at
        parts = [self.parse_block()]
        if self.skip("catch"):
            caught = NOTHING
            if self.skip("("):
                caught = self.parse_primary()
                self.expect(")")
            parts += [Node("assign", "=", (caught, NOTHING), at), self.parse_block()]
        if self.skip("finally"):
            parts.append(self.parse_block())
        return Node("try", parts=tuple(parts), at=at)

    def parse_switch(self) -> Node:
        at = self.current.at
        parts = [self.parse_condition()]
        self.expect("{")
        while not self.skip("}"):
            if self.skip("case"):
                parts.append(Node("expression", parts=(self.parse_expression(),), at=at))
                self.expect(":")
            elif self.skip("default"):
                self.expect(":")
            else:
                parts.append(self.parse_statement())
        return Node("branch", parts=(parts[0], Node("block", parts=tuple(parts[1:]), at=at)), at=at)

    def parse_return(self) -> Node:
        return self.parse_leaving("return")

    def parse_throw(self) -> Node:
        return self.parse_leaving("throw")

    def parse_leaving(self, word: str) -> Node:
        at = self.current.at
        ends = self.current.breaks or self.current.kind == END or self.current.text in {";", "}"}
        is_text = self.current.kind == STRING and not self.current.breaks
        value = NOTHING if ends and not is_text else self.parse_expression()
        self.end_statement()
        return Node("leave", word, (value,), at)

    def parse_jump(self) -> Node:
        if self.current.kind == NAME and not self.current.breaks:
            self.position += 1
        self.end_statement()
        return NOTHING

    def parse_import(self) -> Node:
        at = self.current.at
        targets: list[Node] = []
        if self.current.kind != STRING:
            targets = self.parse_imported_names()
            self.expect("from")
        source = self.take()
        if source.kind != STRING:
            raise ScriptError("an import is not read")
        self.end_statement()
        return Node("import", source.text, tuple(targets), at)

    def parse_imported_names(self) -> list[Node]:
        """Parse `{a, b as c}`, `* as a` and `a`: nodes with the local name and the one imported."""
        names: list[Node] = []
        while not self.is_word("from"):
            token = self.take()
            if token.kind == SIGN and token.text in "{},":
                continue
            local = token
            if self.skip("as"):
                local = self.take()
            if local.kind != NAME:
                raise ScriptError("an import is not read")
            names.append(Node(token.text, local.text, at=token.at))
        return names

    # Expressions

    def parse_expression(self) -> Node:
        first = self.parse_assignment()
        if not self.is_sign(","):
            return first
        parts = [first]
        while self.skip(","):
            parts.append(self.parse_assignment())
        return Node("sequence", parts=tuple(parts), at=first.at)

    def parse_assignment(self, left: Node | None = None) -> Node:
        at = self.current.at
        if left is None and self.is_arrow_ahead():
            return self.parse_arrow()
        if left is None and self.is_word("yield"):
            self.position += 1
            self.skip("*")
            return self.parse_assignment()
        target = self.parse_conditional(left)
        if self.current.kind == SIGN and self.current.text in _ASSIGNMENTS:
            sign = self.take().text
            return Node("assign", sign, (target, self.parse_assignment()), at)
        return target

    def is_arrow_ahead(self) -> bool:
        position = self.position
        if self.is_word("async") and not self.peek().breaks and self.peek().kind in {NAME, SIGN}:
            position += self.peek().text != "=>"
        token = self.tokens[position]
        if token.kind == NAME:
            after = position + 1
        elif token.kind == SIGN and token.text == "(":
            after = self.closing[position] + 1
        else:
            return False
        return self.tokens[after].kind == SIGN and self.tokens[after].text == "=>"

    def parse_arrow(self) -> Node:
        at = self.current.at
        if self.peek().text != "=>" and self.is_word("async"):
            self.position += 1
        if self.is_sign("("):
            parameters = self.parse_list("(", ")")
        else:
            name = self.take()
            parameters = (Node("name", name.text, at=name.at),)
        self.expect("=>")
        if self.is_sign("{"):
            body = self.parse_function_body()
        else:
            value = self.parse_assignment()
            body = Node("block", parts=(Node("leave", "return", (value,), value.at),), at=value.at)
        return Node("function", "", (Node("array", parts=parameters, at=at), body), at)

    def parse_function_body(self) -> Node:
        compares_in, self.compares_in = self.compares_in, True
        body = self.parse_block()
        self.compares_in = compares_in
        return body

    def parse_conditional(self, left: Node | None = None) -> Node:
        test = self.parse_binary(0, left)
        if not self.skip("?"):
            return test
        compares_in, self.compares_in = self.compares_in, True
        then = self.parse_assignment()
        self.compares_in = compares_in
        self.expect(":")
        return Node("conditional", parts=(test, then, self.parse_assignment()), at=test.at)

    def parse_binary(self, lowest: int, left: Node | None = None) -> Node:
        left = self.parse_unary() if left is None else left
        while (level := self.get_precedence()) > lowest:
            sign = self.current.text
            operands = [left]
            # A chain of one operator is one node, so that long chains are not nested deeply.
            while self.get_precedence() == level and self.current.text == sign:
                self.position += 1
                operands.append(self.parse_binary(level - (sign == "**")))
            kind = "logical" if sign in _LOGICAL else "binary"
            left = Node(kind, sign, tuple(operands), left.at)
        return left

    def get_precedence(self) -> int:
        token = self.current
        if token.kind == NAME and (token.text not in {"in", "instanceof"}):
            return 0
        if token.text == "in" and not self.compares_in:
            return 0
        return _PRECEDENCE.get(token.text, 0) if token.kind in {SIGN, NAME} else 0

    def parse_unary(self) -> Node:
        token = self.current
        if token.kind in {SIGN, NAME} and token.text in _UNARY:
            self.position += 1
            return Node("unary", token.text, (self.parse_unary(),), token.at)
        if token.kind == SIGN and token.text in {"++", "--"}:
            self.position += 1
            return Node("update", token.text, (self.parse_unary(),), token.at)
        if token.kind == NAME and token.text == "await":
            self.position += 1
            return self.parse_unary()
        return self.parse_postfix()

    def parse_postfix(self) -> Node:
        node = self.parse_new() if self.is_word("new") else self.parse_primary()
        while (longer := self.parse_suffix(node)) is not None:
            node = longer
        return node

    def parse_suffix(self, node: Node) -> Node | None:
        token = self.current
        if token.kind in {TEMPLATE_WHOLE, TEMPLATE_HEAD}:
            return self.parse_tagged_template(node)
        if token.kind != SIGN:
            return None
        if token.text in {".", "?."}:
            self.position += 1
            if token.text == "?." and self.current.text in {"(", "["}:
                return self.parse_suffix(node)
            name = self.take()
            if name.kind != NAME:
                raise ScriptError("a property is not read")
            return Node("member", name.text, (node,), name.at)
        if token.text == "[":
            self.position += 1
            compares_in, self.compares_in = self.compares_in, True
            key = self.parse_expression()
            self.compares_in = compares_in
            self.expect("]")
            return Node("index", parts=(node, key), at=token.at)
        if token.text == "(":
            return Node("call", parts=(node, *self.parse_list("(", ")")), at=token.at)
        if token.text in {"++", "--"} and not token.breaks:
            self.position += 1
            return Node("update", token.text, (node,), token.at)
        return None

    def parse_new(self) -> Node:
        at = self.take().at
        node = self.parse_new() if self.is_word("new") else self.parse_primary()
        while self.current.kind == SIGN and self.current.text in {".", "["}:
            longer = self.parse_suffix(node)
            node = node if longer is None else longer
        arguments = self.parse_list("(", ")") if self.is_sign("(") else ()
        return Node("new", parts=(node, *arguments), at=at)

    def parse_list(self, opening: str, closing: str) -> tuple[Node, ...]:
        """Parse values between brackets, separated by commas; a hole is `NOTHING`."""
        self.expect(opening)
        compares_in, self.compares_in = self.compares_in, True
        parts: list[Node] = []
        while not self.skip(closing):
            if self.skip(","):
                parts.append(NOTHING)
                continue
            parts.append(self.parse_element())
            if not self.is_sign(closing):
                self.expect(",")
        self.compares_in = compares_in
        return tuple(parts)

    def parse_element(self) -> Node:
        at = self.current.at
        if self.skip("..."):
            return Node("spread", parts=(self.parse_assignment(),), at=at)
        return self.parse_assignment()

    def parse_primary(self) -> Node:
        token = self.current
        if token.kind in {TEMPLATE_WHOLE, TEMPLATE_HEAD}:
            return self.parse_template(raw=False)
        if token.kind == SIGN:
            return self.parse_bracketed(token)
        if token.kind == NAME:
            return self.parse_word(token)
        self.take()
        kinds = {STRING: "text", NUMBER: "number", REGEX: "regex"}
        if token.kind not in kinds:
            raise ScriptError("an expression is expected")
        return Node(kinds[token.kind], token.text, at=token.at)

    def parse_bracketed(self, token: Token) -> Node:
        if token.text == "[":
            return Node("array", parts=self.parse_list("[", "]"), at=token.at)
        if token.text == "{":
            return self.parse_object()
        if token.text == "(":
            self.position += 1
            compares_in, self.compares_in = self.compares_in, True
            node = self.parse_expression()
            self.compares_in = compares_in
            self.expect(")")
            # Its own node, so that `(a + b) + c` keeps its brackets.
            return Node("sequence", parts=(node,), at=token.at)
        raise ScriptError(f"an expression begins with `{token.text}`")

    def parse_word(self, token: Token) -> Node:
        if token.text in _NOT_READ:
            raise ScriptError(f"`{token.text}` is not read")
        if self.is_function_ahead():
            self.skip("async")
            self.expect("function")
            self.skip("*")
            name = self.take().text if self.current.kind == NAME else ""
            return self.parse_function(name, token.at)
        self.position += 1
        if token.text in _CONSTANTS:
            return Node("constant", token.text, at=token.at)
        return Node("name", token.text, at=token.at)

    def parse_function(self, name: str, at: int) -> Node:
        parameters = Node("array", parts=self.parse_list("(", ")"), at=at)
        return Node("function", name, (parameters, self.parse_function_body()), at)

    def parse_template(self, *, raw: bool) -> Node:
        at = self.current.at
        parts: list[Node] = []
        while True:
            token = self.take()
            parts.append(Node("text", token.raw if raw else token.text, at=token.at))
            if token.kind in {TEMPLATE_WHOLE, TEMPLATE_TAIL}:
                return Node("template", parts=tuple(parts), at=at)
            compares_in, self.compares_in = self.compares_in, True
            parts.append(self.parse_expression())
            self.compares_in = compares_in

    def parse_tagged_template(self, tag: Node) -> Node:
        is_raw = tag.kind == "member" and tag.text == "raw" and tag.parts[0].text == "String"
        template = self.parse_template(raw=is_raw)
        return template if is_raw else Node("call", parts=(tag, template), at=tag.at)

    def parse_object(self) -> Node:
        at = self.current.at
        self.expect("{")
        compares_in, self.compares_in = self.compares_in, True
        parts: list[Node] = []
        while not self.skip("}"):
            parts.append(self.parse_property())
            if not self.is_sign("}"):
                self.expect(",")
        self.compares_in = compares_in
        return Node("object", parts=tuple(parts), at=at)

    def parse_property(self) -> Node:
        at = self.current.at
        if self.skip("..."):
            return Node("spread", parts=(self.parse_assignment(),), at=at)
        self.skip_modifiers()
        if self.skip("["):
            key = self.parse_assignment()
            self.expect("]")
            return Node("computed", parts=(key, self.parse_property_value(at)), at=at)
        token = self.take()
        if token.kind not in {NAME, STRING, NUMBER}:
            raise ScriptError("a property is not read")
        if token.kind == NAME and (self.is_sign(",") or self.is_sign("}") or self.is_sign("=")):
            value = Node("name", token.text, at=token.at)
            if self.skip("="):
                # A default value in a pattern such as `{a = 1}`.
                value = Node("assign", "=", (value, self.parse_assignment()), at)
            return Node("property", token.text, (value,), at)
        return Node("property", token.text, (self.parse_property_value(at),), at)

    def skip_modifiers(self) -> None:
        """Skip `async`, `get`, `set` and `*` before the name of a method."""
        if self.current.text in {"async", "get", "set"} and self.current.kind == NAME:
            following = self.peek()
            if following.kind != SIGN or following.text in {"[", "*"}:
                self.position += 1
        self.skip("*")

    def parse_property_value(self, at: int) -> Node:
        if self.is_sign("("):
            # A method: its name is no variable inside of it.
            return self.parse_function("", at)
        self.expect(":")
        return self.parse_assignment()


_STATEMENTS: dict[str, Callable[[_Parser], Node]] = {
    "if": _Parser.parse_if,
    "while": _Parser.parse_while,
    "do": _Parser.parse_do,
    "for": _Parser.parse_for,
    "try": _Parser.parse_try,
    "switch": _Parser.parse_switch,
    "return": _Parser.parse_return,
    "throw": _Parser.parse_throw,
    "break": _Parser.parse_jump,
    "continue": _Parser.parse_jump,
    "import": _Parser.parse_import,
}


def _assign_function(function: Node) -> Node:
    name = Node("name", function.text, at=function.at)
    return Node("assign", "=", (name, function), function.at)
