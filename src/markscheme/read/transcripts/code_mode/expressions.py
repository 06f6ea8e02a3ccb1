"""Parse the expressions of JavaScript that models write, into a tree of `Node`s.

The tree is as small as the evaluation needs. The kinds of nodes, with their parts:

- `text`, `number`, `constant`, `name`, `regex`: no parts, the `text` only;
- `template` (expressions and `text` nodes), `array`, `object` (of `property`, `computed` and
  `spread`);
- `function` (parameters in an `array`, body), `call` and `new` (callee, arguments);
- `member` (object), `index` (object, key), `unary`, `binary`, `logical`, `conditional`,
  `assign` (target, value), `update`, `sequence`, `spread`;
- those of statements, which `syntax` parses.
"""

from __future__ import annotations

from msgspec import Struct

from markscheme.read.json_fields import split_words
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
_ASSIGNMENTS = split_words("= += -= *= /= %= **= <<= >>= >>>= &= |= ^= &&= ||= ??=")
_UNARY = frozenset({"!", "-", "+", "~", "typeof", "void", "delete"})
_CONSTANTS = frozenset({"true", "false", "null", "undefined"})
NOT_READ = frozenset({"class", "with", "debugger", "export", "enum", "super", "yield"})


class Node(Struct, frozen=True):
    """A part of a script. `at` is its position, which identifies it."""

    kind: str
    text: str = ""
    parts: tuple[Node, ...] = ()
    at: int = 0


NOTHING = Node("nothing")


class ExpressionParser:
    """Reads expressions from the tokens of a script, one method for each kind."""

    def __init__(self, script: str) -> None:
        self.tokens, self.closing = split_script(script)
        self.position = 0
        # Whether `in` compares; in the head of a `for` it belongs to the loop.
        self.compares_in = True

    @property
    def current(self) -> Token:
        """Return the next token."""
        return self.tokens[self.position]

    def peek(self, distance: int = 1) -> Token:
        """Return the token after the next one."""
        return self.tokens[min(self.position + distance, len(self.tokens) - 1)]

    def take(self) -> Token:
        """Return the next token and go past it."""
        token = self.current
        if token.kind == END:
            raise ScriptError("the code ends too early")
        self.position += 1
        return token

    def is_sign(self, sign: str) -> bool:
        """Return whether a sign comes next."""
        return self.current.kind == SIGN and self.current.text == sign

    def is_word(self, word: str) -> bool:
        """Return whether a word comes next."""
        return self.current.kind == NAME and self.current.text == word

    def skip(self, text: str) -> bool:
        """Skip a sign or word if it is there; return whether it was."""
        found = self.current.kind in {SIGN, NAME} and self.current.text == text
        self.position += found
        return found

    def expect(self, text: str) -> None:
        """Go past a sign or word that must come next."""
        if not self.skip(text):
            raise ScriptError(f"`{text}` is expected before {self.current.text[:20]!r}")

    def end_statement(self) -> None:
        """Go past the end of a statement, which may be a line break."""
        if not (
            self.skip(";") or self.is_sign("}") or self.current.kind == END or self.current.breaks
        ):
            raise ScriptError(f"a statement ends before {self.current.text[:20]!r}")

    def is_function_ahead(self) -> bool:
        """Return whether `function` or `async function` comes next."""
        is_async = self.is_word("async") and self.peek().text == "function"
        return self.is_word("function") or (is_async and not self.peek().breaks)

    def parse_block(self) -> Node:
        """Parse the statements between curly brackets, such as the body of a function."""
        raise NotImplementedError

    def parse_expression(self) -> Node:
        """Parse an expression, also several with commas between them."""
        first = self.parse_assignment()
        if not self.is_sign(","):
            return first
        parts = [first]
        while self.skip(","):
            parts.append(self.parse_assignment())
        return Node("sequence", parts=tuple(parts), at=first.at)

    def parse_assignment(self, left: Node | None = None) -> Node:
        """Parse an expression without commas; `left` is its beginning if it was parsed before."""
        at = self.current.at
        if left is None and self.is_arrow_ahead():
            return self.parse_arrow()
        target = self.parse_conditional(left)
        if self.current.kind == SIGN and self.current.text in _ASSIGNMENTS:
            sign = self.take().text
            return Node("assign", sign, (target, self.parse_assignment()), at)
        return target

    def is_arrow_ahead(self) -> bool:
        """Return whether an arrow function comes next."""
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
        """Parse `(a, b) => …` and `a => …`."""
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
        """Parse the body of a function."""
        compares_in, self.compares_in = self.compares_in, True
        body = self.parse_block()
        self.compares_in = compares_in
        return body

    def parse_conditional(self, left: Node | None = None) -> Node:
        """Parse `a ? b : c`."""
        test = self.parse_binary(0, left)
        if not self.skip("?"):
            return test
        compares_in, self.compares_in = self.compares_in, True
        then = self.parse_assignment()
        self.compares_in = compares_in
        self.expect(":")
        return Node("conditional", parts=(test, then, self.parse_assignment()), at=test.at)

    def parse_binary(self, lowest: int, left: Node | None = None) -> Node:
        """Parse operators that bind more tightly than `lowest`."""
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
        """Return how tightly the next operator binds; 0 if none comes next."""
        token = self.current
        if token.kind == NAME and (token.text not in {"in", "instanceof"}):
            return 0
        if token.text == "in" and not self.compares_in:
            return 0
        return _PRECEDENCE.get(token.text, 0) if token.kind in {SIGN, NAME} else 0

    def parse_unary(self) -> Node:
        """Parse signs and words before a value, such as `!a` and `await a`."""
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
        """Parse a value with its properties and calls."""
        node = self.parse_new() if self.is_word("new") else self.parse_primary()
        while (longer := self.parse_suffix(node)) is not None:
            node = longer
        return node

    def parse_suffix(self, node: Node) -> Node | None:
        """Parse one property, index, call or template after a value; `None` if none follows."""
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
        """Parse `new A(…)`."""
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
        """Parse one element of a list."""
        at = self.current.at
        if self.skip("..."):
            return Node("spread", parts=(self.parse_assignment(),), at=at)
        return self.parse_assignment()

    def parse_primary(self) -> Node:
        """Parse a name, a literal, or something in brackets."""
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
        """Parse an array, an object, or an expression in brackets."""
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
        """Parse a name, a constant or a function."""
        if token.text in NOT_READ:
            raise ScriptError(f"`{token.text}` is not read")
        if self.is_function_ahead():
            self.skip("async")
            self.expect("function")
            name = self.take().text if self.current.kind == NAME else ""
            return self.parse_function(name, token.at)
        self.position += 1
        if token.text in _CONSTANTS:
            return Node("constant", token.text, at=token.at)
        return Node("name", token.text, at=token.at)

    def parse_function(self, name: str, at: int) -> Node:
        """Parse the parameters and the body of a function."""
        parameters = Node("array", parts=self.parse_list("(", ")"), at=at)
        return Node("function", name, (parameters, self.parse_function_body()), at)

    def parse_template(self, *, raw: bool) -> Node:
        """Parse a template; `raw` keeps its escapes."""
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
        """Parse a template with a tag; `String.raw` is followed."""
        is_raw = tag.kind == "member" and tag.text == "raw" and tag.parts[0].text == "String"
        template = self.parse_template(raw=is_raw)
        return template if is_raw else Node("call", parts=(tag, template), at=tag.at)

    def parse_object(self) -> Node:
        """Parse an object, or a pattern that looks like one."""
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
        """Parse one property of an object."""
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
        """Skip `async` before the name of a method; accessors and generators are not read."""
        following = self.peek()
        is_modifier = self.current.kind == NAME and (
            following.kind != SIGN or following.text in {"[", "*"}
        )
        if is_modifier and self.current.text in {"get", "set"}:
            raise ScriptError(f"`{self.current.text}` is not read")
        if is_modifier and self.current.text == "async":
            self.position += 1

    def parse_property_value(self, at: int) -> Node:
        """Parse the value of a property, or a method."""
        if self.is_sign("("):
            # A method: its name is no variable inside of it.
            return self.parse_function("", at)
        self.expect(":")
        return self.parse_assignment()
