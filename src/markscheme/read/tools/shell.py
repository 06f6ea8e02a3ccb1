"""Split a shell script into simple commands, with their words and the files they redirect to.

This is no full shell parser: it understands quotes, heredocs, comments, substitutions and
redirections well enough to see what a script would write. Text in quotes or in a heredoc is text;
text in a substitution is a command again. Every character is read at most once for each level of
nesting, so the time is linear in the length of the script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, field

MAX_DEPTH = 8
_PLAIN_TEXT = re.compile(r"[^\s'\"\\$`<>|&;()#]+")
_REDIRECT_OPERATOR = re.compile(r"&>>?|>>|>\||>&|>\(|<\(|<<<|<<-?|<&|<>|[<>]")
_HEREDOC_DELIMITER = re.compile(r"[ \t]*(?P<quote>['\"]?)(?P<word>[^\s'\"|&;()<>]*)(?P=quote)")
_PLAIN_QUOTED_TEXT = re.compile(r"[^\"\\`$]+")
_ANSI_QUOTED_TEXT = re.compile(r"\$'((?:[^'\\]|\\.)*)(?:'|$)", re.DOTALL)
_ANSI_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_ANSI_CHARACTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "0": "\0"}
# A word after which a command, or arithmetic in `(( … ))`, may begin.
_OPENING_WORDS = frozenset(["if", "then", "elif", "else", "while", "until", "do", "!", "{", "for"])
SUBSTITUTED = "$()"
PROCESS_PIPE = "/dev/fd/63"
# `((` after more words than these is no arithmetic.
_MAX_OPENING_WORDS = 8


class SimpleCommand(Struct):
    """One simple command: its words, the files it redirects to and from, the heredocs it reads.

    `piped` says that it reads the output of the command before it, which is its `source`.
    `substitutions` are the scripts inside `$(…)` and `<(…)` among its words. `depth` is the number
    of substitutions and inner scripts around it. A command with `too_deep` stands for a script that
    was not read, because it is nested too deeply.
    """

    words: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    heredocs: list[str] = field(default_factory=list)
    substitutions: list[str] = field(default_factory=list)
    depth: int = 0
    piped: bool = False
    too_deep: bool = False
    source: SimpleCommand | None = None


def parse_simple_commands(script: str, depth: int = 0) -> Iterator[SimpleCommand]:
    """Yield the simple commands of a script, also those inside substitutions."""
    if depth < MAX_DEPTH:
        yield from _ShellScanner(script, depth).scan_script()
    elif script.strip():
        yield SimpleCommand(depth=depth, too_deep=True)


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
        # The delimiter, whether tabs before it are dropped, whether the body is plain text.
        self.pending_heredocs: list[tuple[str, bool, bool, SimpleCommand]] = []
        self.open_parentheses = 0
        # Inside `[[ … ]]` brackets and bars are signs of the test.
        self.in_test = False
        self.has_open_heredoc = False

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
            # A backslash before a line end joins the lines, also where lines end as on Windows.
            joins_lines = following == "\n" or self.script.startswith("\r\n", self.position + 1)
            if not joins_lines:
                self._add_text(following)
            self.position += 3 if joins_lines and following == "\r" else 2
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
            if self.script[self.position] == '"':
                self.position += 1
                return
            self._scan_expandable_text()

    def _scan_expandable_text(self) -> None:
        """Scan the next piece of a text in which only `$`, a backslash and backquotes count."""
        plain = _PLAIN_QUOTED_TEXT.match(self.script, self.position)
        character = self.script[self.position]
        if plain is not None:
            self._add_text(plain.group())
            self.position = plain.end()
        elif character == "\\":
            following = self.script[self.position + 1 : self.position + 2]
            if following != "\n":
                self._add_text(following if following in '$`"\\' else f"\\{following}")
            self.position += 2
        elif character == "`":
            self._add_nested_commands(self._read_until("`"))
        elif character == "$":
            self._scan_dollar(quoted=True)
        else:
            self._add_text(character)
            self.position += 1

    def find_substitutions(self) -> list[SimpleCommand]:
        """Return the commands in the substitutions of a text that is no command itself."""
        while self.position < len(self.script):
            self._scan_expandable_text()
        return self.commands

    def _scan_dollar(self, *, quoted: bool = False) -> None:
        following = self.script[self.position + 1 : self.position + 2]
        if self.script.startswith("$((", self.position):
            self._add_text("$")
            self._skip_arithmetic(self.position + 3)
        elif following == "(":
            self._add_nested_commands(self._read_parenthesis(self.position + 2))
        elif following == "{":
            self._scan_parameter()
        elif following == "'" and not quoted:
            self._scan_ansi_quotes()
        elif following == '"' and not quoted:
            # A text to translate; for us it is an ordinary quoted text.
            self.position += 1
        else:
            self._add_text("$")
            self.position += 1

    def _scan_parameter(self) -> None:
        """Scan `${name…}`; only substitutions inside it are commands."""
        start = self.position
        content = self._read_parenthesis(start + 2, "{}")
        self._add_text(self.script[start : self.position])
        if "$(" in content or "`" in content:
            self._add_substitutions(content)

    def _scan_ansi_quotes(self) -> None:
        """Scan `$'…'`, in which a backslash escapes a quote."""
        match = _ANSI_QUOTED_TEXT.match(self.script, self.position)
        if match is None:
            self._add_text(self.script[self.position + 2 :])
            self.position = len(self.script)
            return
        self._add_text(_ANSI_ESCAPE.sub(_decode_ansi_escape, match[1]))
        self.position = match.end()

    def _skip_arithmetic(self, start: int) -> None:
        """Skip `((…))`; only the substitutions inside it are commands."""
        end = self.script.find("))", start)
        end = len(self.script) if end < 0 else end
        content = self.script[start:end]
        self.position = end + 2
        if "$(" in content or "`" in content:
            self._add_substitutions(content)

    def _read_parenthesis(self, start: int, pair: str = "()") -> str:
        """Return the text before the matching parenthesis, and move past it."""
        open_count, quote, at = 1, "", start
        delimiters: list[str] = []
        while at < len(self.script):
            character = self.script[at]
            if character == "\\" and quote != "'":
                at += 1
            elif quote:
                quote = "" if character == quote else quote
            elif character in "'\"":
                quote = character
            elif character == "<" and pair == "()" and self.script.startswith("<<", at):
                at = self._note_delimiter(at, delimiters)
            elif character == "\n" and delimiters and not self.has_open_heredoc:
                at = self._skip_heredoc_body(at, delimiters.pop(0))
            else:
                open_count += (character == pair[0]) - (character == pair[1])
                if not open_count:
                    break
            at += 1
        self.position = min(at, len(self.script)) + 1
        return self.script[start:at]

    def _note_delimiter(self, at: int, delimiters: list[str]) -> int:
        """Note the delimiter of a heredoc inside parentheses; return the last position used."""
        if self.script.startswith("<<<", at):
            return at + 2
        match = _HEREDOC_DELIMITER.match(self.script, at + 2 + self.script.startswith("<<-", at))
        if match is None or not match["word"]:
            return at + 1
        delimiters.append(match["word"].replace("\\", ""))
        return match.end() - 1

    def _skip_heredoc_body(self, at: int, delimiter: str) -> int:
        """Return the position before the line that ends a heredoc; its text holds no quotes."""
        end = re.compile(rf"\n[ \t]*{re.escape(delimiter)}[ \t\r]*(?=\n|\)|$)").search(
            self.script, at
        )
        if end is None:
            # No later heredoc is looked for either, so that the time stays linear.
            self.has_open_heredoc = True
            return at
        return end.end() - 1

    def _add_nested_commands(self, script: str) -> None:
        self._add_text(SUBSTITUTED)
        self.current.substitutions.append(script)
        self.commands.extend(parse_simple_commands(script, self.depth + 1))

    def _add_substitutions(self, text: str) -> None:
        """Add the commands in the substitutions of a text, such as the body of a heredoc."""
        if self.depth + 1 < MAX_DEPTH:
            self.commands.extend(_ShellScanner(text, self.depth + 1).find_substitutions())
        else:
            self.commands.append(SimpleCommand(depth=self.depth + 1, too_deep=True))

    def _scan_redirect(self) -> None:
        """Scan an operator such as `>`, `2>>`, `&>` or `<<`; the word after it is no argument."""
        match = _REDIRECT_OPERATOR.match(self.script, self.position)
        operator = match.group() if match is not None else ">"
        # Inside `[[ … ]]` the characters compare.
        if self.in_test:
            self._end_word()
            self.position += 1
            return
        self.position += len(operator)
        if operator in {">(", "<("}:
            self._add_process_substitution(self._read_parenthesis(self.position))
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

    def _add_process_substitution(self, script: str) -> None:
        """Add the commands inside `<(…)`; the word is the name of the pipe, as in the shell."""
        self._add_text(PROCESS_PIPE)
        self.current.substitutions.append(script)
        self.commands.extend(parse_simple_commands(script, self.depth + 1))

    def _open_heredoc(self, operator: str) -> None:
        match = _HEREDOC_DELIMITER.match(self.script, self.position)
        if match is not None:
            self.position = match.end()
            delimiter = match["word"].replace("\\", "")
            plain = bool(match["quote"]) or "\\" in match["word"]
            self.pending_heredocs.append((delimiter, operator == "<<-", plain, self.current))

    def _scan_separator(self, character: str) -> None:
        if character == "(" and self._scan_array_or_function():
            return
        self.position += 1
        self._end_word()
        if character in " \t\r":
            return
        if (
            character == "("
            and self.script.startswith("(", self.position)
            and len(self.current.words) <= _MAX_OPENING_WORDS
            and _OPENING_WORDS.issuperset(self.current.words)
        ):
            self._skip_arithmetic(self.position + 1)
            return
        if self.in_test and character in "|&()":
            return
        # The second character of `|&`.
        if character == "&" and self.current.piped and not self.current.words:
            return
        self._count_parenthesis(character)
        previous = self._end_command()
        before = self.script[self.position - 2 : self.position - 1]
        after = self.script[self.position : self.position + 1]
        # A single `|` is a pipe, `||` is not.
        if character == "|" and "|" not in before + after:
            self.current.piped = True
            self.current.source = previous
        if character == "\n":
            self._read_heredoc_bodies()

    def _scan_array_or_function(self) -> bool:
        """Scan `name=(…)` and `name()`, in which the parenthesis opens no command."""
        word = "" if self.word_parts is None else "".join(self.word_parts)
        if word.endswith("=") and not self.current.words:
            content = self._read_parenthesis(self.position + 1)
            self._add_text("()")
            self._add_substitutions(content)
            return True
        if word and not self.current.words and self.script.startswith("()", self.position):
            self.word_parts = None
            self.current.words = ["function", word]
            self.position += 2
            self._end_command()
            return True
        return False

    def _count_parenthesis(self, character: str) -> None:
        if character == "(":
            self.open_parentheses += 1
        elif character == ")" and self.open_parentheses:
            self.open_parentheses -= 1
        elif character == ")":
            # It closes nothing, so it ends a pattern of `case`.
            self.current.words = []

    def _read_heredoc_bodies(self) -> None:
        """Read the bodies of the heredocs that the previous line has opened."""
        for delimiter, dashed, plain, owner in self.pending_heredocs:
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
            if not plain and ("$(" in owner.heredocs[-1] or "`" in owner.heredocs[-1]):
                self._add_substitutions(owner.heredocs[-1])
        self.pending_heredocs = []

    def _end_word(self) -> None:
        if self.word_parts is None:
            return
        word, self.word_parts = "".join(self.word_parts), None
        if not self.redirect_operator:
            self.current.words.append(word)
            self.in_test = self.in_test or word == "[["
            if word == "]]":
                self._end_command()
            return
        if self.redirect_operator[0] != "<" or self.redirect_operator == "<>":
            self.current.writes.append(word)
        elif self.redirect_operator == "<":
            self.current.reads.append(word)
        elif self.redirect_operator == "<<<":
            self.current.heredocs.append(word)
        self.redirect_operator = ""

    def _end_command(self) -> SimpleCommand:
        """Add the current command to the list if it has words or files, and return it."""
        self._end_word()
        self.redirect_operator = ""
        ended = self.current
        self.in_test = False
        if ended.words or ended.writes or ended.reads:
            self.commands.append(ended)
        self.current = SimpleCommand(depth=self.depth)
        return ended


def _decode_ansi_escape(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8))
    return _ANSI_CHARACTERS.get(code, code)
