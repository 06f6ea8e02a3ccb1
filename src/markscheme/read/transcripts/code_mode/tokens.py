"""Split JavaScript into tokens: names, numbers, strings, templates, regular expressions, signs.

Every character is read once. What this does not know, such as an escape in a name, is a
`ScriptError`: the caller then says that the code could not be read.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from markscheme.read.json_fields import split_words

NAME, NUMBER, STRING, REGEX, SIGN, END = "name", "number", "string", "regex", "sign", "end"
# A template is a head, then expressions with middles between them, then a tail. Without an
# expression it is one whole.
TEMPLATE_WHOLE, TEMPLATE_HEAD = "template_whole", "template_head"
TEMPLATE_MIDDLE, TEMPLATE_TAIL = "template_middle", "template_tail"
_SPACE = re.compile(r"(?:[^\S\n\r\u2028\u2029]|\ufeff)+")
_LINE_BREAK = re.compile(r"[\n\r\u2028\u2029]")
_NAME = re.compile(r"[^\W\d][\w$\u200c\u200d]*|\$[\w$\u200c\u200d]*")
_NUMBER = re.compile(
    r"(?:0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)n?"
)
_SIGN = re.compile(
    r"\.\.\.|=>|\?\?=|\|\|=|&&=|\*\*=|>>>=|<<=|>>=|===|!==|>>>|\?\.(?!\d)|\?\?|\|\||&&|\*\*|"
    r"\+\+|--|==|!=|<=|>=|<<|>>|\+=|-=|\*=|/=|%=|&=|\|=|\^=|[-+*/%<>=!~&|^?:;,.(){}\[\]]"
)
_STRINGS = {
    quote: re.compile(
        rf"{quote}((?:[^{quote}\\\n\r]++|\\(?:\r\n|[\s\S]))*+){quote}",
    )
    for quote in "'\""
}
_REGEX = re.compile(
    r"/(?![*/])(?:[^/\\\[\n\r\u2028\u2029]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])+/[a-z]*"
)
_TEMPLATE_PART = re.compile(r"((?:[^`\\$]++|\\[\s\S]|\$(?!\{))*+)(`|\$\{)")
_ESCAPE = re.compile(
    r"\\(?:u\{([\da-fA-F]{1,6})\}|u([\da-fA-F]{4})|x([\da-fA-F]{2})|(\r\n|[\s\S]))"
)
_ESCAPED = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "0": "\0",
    "\n": "",
    "\r": "",
    "\r\n": "",
    "\u2028": "",
    "\u2029": "",
}
_MAX_CODE_POINT = 0x10FFFF
# After these words a slash begins a regular expression; after other names it divides.
_WORDS_BEFORE_REGEX = split_words(
    "return typeof case in do else delete void throw new await instanceof yield"
)
_SIGNS_BEFORE_DIVISION = frozenset({")", "]", "}", "++", "--"})
_PAIRS = {")": "(", "]": "[", "}": "{"}


class ScriptError(ValueError):
    """Code that the reader does not understand; the text says why."""


class Token(NamedTuple):
    """One token. `text` is decoded; `raw` is what a template holds before decoding."""

    kind: str
    text: str
    # Whether a line break comes before it, where JavaScript may end a statement.
    breaks: bool = False
    raw: str = ""
    at: int = 0


class TokenList(NamedTuple):
    """The tokens of a script, and the index of the closing bracket of each opening one."""

    tokens: list[Token]
    closing: dict[int, int]


def split_script(script: str) -> TokenList:
    """Split a script into tokens.

    Raises:
        ScriptError: a part is no known token, or the brackets do not fit.
    """
    return _Splitter(script).split_all()


class _Splitter:
    def __init__(self, script: str) -> None:
        self.script = script
        self.position = 0
        self.tokens: list[Token] = []
        self.closing: dict[int, int] = {}
        # The index and the sign of each open bracket; `${` for an expression in a template.
        self.open: list[tuple[int, str]] = []
        self.breaks = False

    def split_all(self) -> TokenList:
        while self._skip_space():
            self._read_token()
        if self.open:
            raise ScriptError("a bracket or template is not closed")
        self._add(END, "")
        return TokenList(self.tokens, self.closing)

    def _skip_space(self) -> bool:
        """Skip space and comments; return whether a token follows."""
        script = self.script
        while self.position < len(script):
            character = script[self.position]
            if _LINE_BREAK.match(character):
                self.breaks = True
                self.position += 1
            elif space := _SPACE.match(script, self.position):
                self.position = space.end()
            elif script.startswith("//", self.position):
                end = _LINE_BREAK.search(script, self.position)
                self.position = len(script) if end is None else end.start()
            elif script.startswith("/*", self.position):
                self._skip_block_comment()
            else:
                return True
        return False

    def _skip_block_comment(self) -> None:
        end = self.script.find("*/", self.position + 2)
        if end < 0:
            raise ScriptError("a comment is not closed")
        if _LINE_BREAK.search(self.script, self.position, end):
            self.breaks = True
        self.position = end + 2

    def _add(self, kind: str, text: str, raw: str = "") -> None:
        self.tokens.append(Token(kind, text, self.breaks, raw, self.position))
        self.breaks = False

    def _read_token(self) -> None:
        character = self.script[self.position]
        if character in _STRINGS:
            self._read_match(STRING, _STRINGS[character], "a string is not closed", decode=True)
        elif character == "`":
            self.position += 1
            self._read_template_part(TEMPLATE_HEAD, TEMPLATE_WHOLE)
        elif character.isdigit() or (
            character == "." and self.script[self.position + 1 : self.position + 2].isdigit()
        ):
            self._read_match(NUMBER, _NUMBER, "a number is not known")
        elif character == "/" and self._is_regex_expected():
            self._read_match(REGEX, _REGEX, "a regular expression is not closed")
        elif _NAME.match(self.script, self.position):
            self._read_match(NAME, _NAME, "")
        else:
            self._read_sign()

    def _read_match(
        self, kind: str, pattern: re.Pattern[str], problem: str, *, decode: bool = False
    ) -> None:
        match = pattern.match(self.script, self.position)
        if match is None:
            raise ScriptError(problem)
        self._add(kind, _decode_text(match[1]) if decode else match[0])
        self.position = match.end()

    def _is_regex_expected(self) -> bool:
        """Return whether a slash here begins a regular expression."""
        if not self.tokens:
            return True
        last = self.tokens[-1]
        if last.kind == SIGN:
            return last.text not in _SIGNS_BEFORE_DIVISION
        if last.kind == NAME:
            is_property = len(self.tokens) > 1 and self.tokens[-2].text in {".", "?."}
            return last.text in _WORDS_BEFORE_REGEX and not is_property
        return last.kind in {TEMPLATE_HEAD, TEMPLATE_MIDDLE}

    def _read_template_part(self, before_expression: str, at_end: str) -> None:
        """Read the text of a template up to its end or the next expression."""
        match = _TEMPLATE_PART.match(self.script, self.position)
        if match is None:
            raise ScriptError("a template is not closed")
        opens = match[2] == "${"
        self._add(before_expression if opens else at_end, _decode_text(match[1]), match[1])
        self.position = match.end()
        if opens:
            self.open.append((len(self.tokens) - 1, "${"))

    def _read_sign(self) -> None:
        match = _SIGN.match(self.script, self.position)
        if match is None:
            raise ScriptError(f"the character {self.script[self.position]!r} is not known here")
        sign = match[0]
        if sign in {"(", "[", "{"}:
            self.open.append((len(self.tokens), sign))
        elif sign in _PAIRS:
            index, opened = self.open.pop() if self.open else (0, "")
            if opened == "${" and sign == "}":
                self.position += 1
                self._read_template_part(TEMPLATE_MIDDLE, TEMPLATE_TAIL)
                return
            if opened != _PAIRS[sign]:
                raise ScriptError("a bracket is closed that is not open")
            self.closing[index] = len(self.tokens)
        self._add(SIGN, sign)
        self.position = match.end()


def _decode_text(text: str) -> str:
    return _ESCAPE.sub(_decode_escape, text) if "\\" in text else text


def _decode_escape(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code is None:
        return _ESCAPED.get(match[4], match[4])
    point = int(code, 16)
    if point > _MAX_CODE_POINT:
        raise ScriptError("an escape in a string is not known")
    return chr(point)
