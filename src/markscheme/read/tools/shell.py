"""Split a shell script into simple commands, with their words and the files they redirect to.

This is no full shell parser: it understands quotes, heredocs, comments, substitutions and
redirections well enough to see what a script would write. Text in quotes or in a heredoc is text;
text in a substitution is a command again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, field

MAX_DEPTH = 8
_PLAIN_TEXT = re.compile(r"[^\s'\"\\$`<>|&;()#]+")
_REDIRECT_OPERATOR = re.compile(r"&>>?|>>|>\||>&|>\(|<\(|<<<|<<-?|<&|<>|[<>]")
_NON_FILE_TARGET = re.compile(r"/dev/(null|stdout|stderr|stdin|tty|fd/\d+)|NUL|\d+|-")
_HEREDOC_DELIMITER = re.compile(r"[ \t]*(?P<quote>['\"]?)(?P<word>[^\s'\"|&;()<>]*)(?P=quote)")


class SimpleCommand(Struct):
    """One simple command: its words, the files it redirects to, the heredocs it reads.

    `piped` says that it reads the output of the command before it. `depth` is the number of
    substitutions and inner scripts around it.
    """

    words: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    heredocs: list[str] = field(default_factory=list)
    depth: int = 0
    piped: bool = False


def parse_simple_commands(script: str, depth: int = 0) -> Iterator[SimpleCommand]:
    """Yield the simple commands of a script, also those inside substitutions."""
    if depth < MAX_DEPTH:
        yield from _ShellScanner(script, depth).scan_script()


def is_real_file(target: str) -> bool:
    """Return whether writing to this target changes a file; `/dev/null` and `&1` are no files."""
    return bool(target) and _NON_FILE_TARGET.fullmatch(target) is None


class _ShellScanner:
    """Scans a script once from left to right; `position` is the next character."""

    def __init__(self, script: str, depth: int) -> None:
        self.script = script
        self.depth = depth
        self.position = 0
        self.current = SimpleCommand(depth=depth)
        self.commands: list[SimpleCommand] = []
        self.word_parts: list[str] | None = None
        self.redirect_operator = ""
        self.pending_heredocs: list[tuple[str, bool, SimpleCommand]] = []

    def scan_script(self) -> list[SimpleCommand]:
        while self.position < len(self.script):
            self._scan_next()
        self._end_command()
        return self.commands

    def _scan_next(self) -> None:
        plain = _PLAIN_TEXT.match(self.script, self.position)
        if plain is not None:
            self._add_text(plain.group())
            self.position = plain.end()
            return
        character = self.script[self.position]
        if character in "'\"\\$`":
            self._scan_quoted(character)
        elif character in "<>" or self.script.startswith("&>", self.position):
            self._scan_redirect()
        elif character == "#" and self.word_parts is None:
            end = self.script.find("\n", self.position)
            self.position = len(self.script) if end < 0 else end
        elif character == "#":
            self._add_text("#")
            self.position += 1
        else:
            self._scan_separator(character)

    def _add_text(self, text: str) -> None:
        if self.word_parts is None:
            self.word_parts = []
        self.word_parts.append(text)

    def _scan_quoted(self, character: str) -> None:
        if character == "\\":
            following = self.script[self.position + 1 : self.position + 2]
            if following != "\n":
                self._add_text(following)
            self.position += 2
        elif character == "'":
            self._add_text(self._read_until("'"))
        elif character == '"':
            self._scan_double_quotes()
        elif character == "`":
            self._add_nested_commands(self._read_until("`"))
        else:
            self._scan_dollar()

    def _read_until(self, closing: str) -> str:
        """Return the text before the closing character, and move past it."""
        start = self.position + 1
        end = self.script.find(closing, start)
        end = len(self.script) if end < 0 else end
        self.position = end + 1
        return self.script[start:end]

    def _scan_double_quotes(self) -> None:
        self.position += 1
        self._add_text("")
        while self.position < len(self.script):
            character = self.script[self.position]
            if character == '"':
                self.position += 1
                return
            if character == "\\":
                self._add_text(self.script[self.position + 1 : self.position + 2])
                self.position += 2
            elif character == "`":
                self._add_nested_commands(self._read_until("`"))
            elif character == "$":
                self._scan_dollar()
            else:
                self._add_text(character)
                self.position += 1

    def _scan_dollar(self) -> None:
        if self.script.startswith("$((", self.position):
            self._add_text("$")
            self._skip_arithmetic(self.position + 3)
        elif self.script.startswith("$(", self.position):
            self._add_nested_commands(self._read_parenthesis(self.position + 2))
        else:
            self._add_text("$")
            self.position += 1

    def _skip_arithmetic(self, start: int) -> None:
        end = self.script.find("))", start)
        self.position = len(self.script) if end < 0 else end + 2

    def _read_parenthesis(self, start: int) -> str:
        """Return the text before the matching parenthesis, and move past it."""
        open_count, quote, at = 1, "", start
        while at < len(self.script):
            character = self.script[at]
            if character == "\\" and quote != "'":
                at += 1
            elif quote:
                quote = "" if character == quote else quote
            elif character in "'\"":
                quote = character
            else:
                open_count += (character == "(") - (character == ")")
                if not open_count:
                    break
            at += 1
        self.position = at + 1
        return self.script[start:at]

    def _add_nested_commands(self, script: str) -> None:
        self._add_text("$()")
        self.commands.extend(parse_simple_commands(script, self.depth + 1))

    def _scan_redirect(self) -> None:
        """Scan an operator such as `>`, `2>>`, `&>` or `<<`; the word after it is no argument."""
        match = _REDIRECT_OPERATOR.match(self.script, self.position)
        operator = match.group() if match is not None else ">"
        # Inside `[[ … ]]` the characters compare.
        if self.current.words[:1] == ["[["]:
            self._end_word()
            self.position += 1
            return
        self.position += len(operator)
        if operator in {">(", "<("}:
            self._add_nested_commands(self._read_parenthesis(self.position))
            return
        if (
            self.word_parts is not None
            and "".join(self.word_parts).isdigit()
            and operator[0] != "&"
        ):
            # The digits before the operator are the number of a stream, not a word.
            self.word_parts = None
        self._end_word()
        if operator in {"<<", "<<-"}:
            self._open_heredoc(operator)
        else:
            self.redirect_operator = operator

    def _open_heredoc(self, operator: str) -> None:
        match = _HEREDOC_DELIMITER.match(self.script, self.position)
        if match is not None:
            self.position = match.end()
            delimiter = match["word"].replace("\\", "")
            self.pending_heredocs.append((delimiter, operator == "<<-", self.current))

    def _scan_separator(self, character: str) -> None:
        self.position += 1
        self._end_word()
        if character in " \t\r":
            return
        if (
            character == "("
            and self.script.startswith("(", self.position)
            and not self.current.words
        ):
            self._skip_arithmetic(self.position + 1)
            return
        if self.current.words[:1] == ["[["] and character in "|&()":
            return
        # The second character of `|&`.
        if character == "&" and self.current.piped and not self.current.words:
            return
        self._end_command()
        before = self.script[self.position - 2 : self.position - 1]
        after = self.script[self.position : self.position + 1]
        # A single `|` is a pipe, `||` is not.
        if character == "|" and "|" not in before + after:
            self.current.piped = True
        if character == "\n":
            self._read_heredoc_bodies()

    def _read_heredoc_bodies(self) -> None:
        """Read the bodies of the heredocs that the previous line has opened."""
        for delimiter, dashed, owner in self.pending_heredocs:
            start = self.position
            while self.position < len(self.script):
                end = self.script.find("\n", self.position)
                end = len(self.script) if end < 0 else end
                line = self.script[self.position : end]
                if (line.lstrip("\t") if dashed else line).rstrip("\r") == delimiter:
                    owner.heredocs.append(self.script[start : self.position])
                    self.position = end + 1
                    break
                self.position = end + 1
            else:
                owner.heredocs.append(self.script[start:])
        self.pending_heredocs = []

    def _end_word(self) -> None:
        if self.word_parts is None:
            return
        word, self.word_parts = "".join(self.word_parts), None
        if not self.redirect_operator:
            self.current.words.append(word)
            if word == "]]":
                self._end_command()
            return
        if self.redirect_operator[0] != "<" or self.redirect_operator == "<>":
            self.current.writes.append(word)
        self.redirect_operator = ""

    def _end_command(self) -> None:
        self._end_word()
        self.redirect_operator = ""
        if self.current.words or self.current.writes:
            self.commands.append(self.current)
        self.current = SimpleCommand(depth=self.depth)
