"""Parse the statements of JavaScript that models write.

The kinds of nodes, beside those of expressions: `block`, `declare` (of `assign`), `expression`,
`branch` (a condition, then parts that may be left out), `loop`, `each` (target, values, body),
`try`, `leave` (a value) and `import`. Classes, decorators and the like are a `ScriptError`.
"""

from __future__ import annotations

from collections.abc import Callable

from markscheme.read.transcripts.code_mode.expressions import (
    NOTHING,
    ExpressionParser,
    Node,
)
from markscheme.read.transcripts.code_mode.tokens import END, NAME, SIGN, STRING, ScriptError

_DECLARATIONS = frozenset({"const", "let", "var"})


def parse_script(script: str) -> Node:
    """Parse a script into a `block`.

    Raises:
        ScriptError: a part of it is not understood.
        RecursionError: it is nested too deeply.
    """
    return _Parser(script).parse_all()


class _Parser(ExpressionParser):
    def parse_all(self) -> Node:
        statements = []
        while self.current.kind != END:
            statements.append(self.parse_statement())
        return Node("block", parts=tuple(statements))

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
