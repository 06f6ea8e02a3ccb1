"""Shell commands, read well enough to see what they would write: quotes, heredocs, redirections.

It splits a script into simple commands with their words and the files they redirect to. What stands
in quotes or in the body of a heredoc is text; what stands in a substitution is a command again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST = 8
_PLAIN = re.compile(r"[^\s'\"\\$`<>|&;()#]+")
_OPERATOR = re.compile(r"&>>?|>>|>\||>&|>\(|<\(|<<<|<<-?|<&|<>|[<>]")
_NOWHERE = re.compile(r"/dev/(null|stdout|stderr|stdin|tty|fd/\d+)|NUL|\d+|-")
_DELIMITER = re.compile(r"[ \t]*(?P<quote>['\"]?)(?P<word>[^\s'\"|&;()<>]*)(?P=quote)")


@dataclass(slots=True)
class Simple:
    """One simple command: its words, the files it redirects to, the heredocs it is fed.

    `piped` says that it reads what the command before it prints.
    """

    words: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    heredocs: list[str] = field(default_factory=list)
    depth: int = 0
    piped: bool = False


def simple_commands(script: str, depth: int = 0) -> Iterator[Simple]:
    """Yield the simple commands of a script, those inside substitutions too."""
    if depth < DEEPEST:
        yield from _Scanner(script, depth).run()


def real_file(target: str) -> bool:
    """Say whether writing to this target changes a file."""
    return bool(target) and _NOWHERE.fullmatch(target) is None


class _Scanner:
    """Walks over a script once."""

    def __init__(self, script: str, depth: int) -> None:
        self.script = script
        self.depth = depth
        self.at = 0
        self.current = Simple(depth=depth)
        self.done: list[Simple] = []
        self.word: list[str] | None = None
        self.redirecting = ""
        self.pending: list[tuple[str, bool, Simple]] = []

    def run(self) -> list[Simple]:
        while self.at < len(self.script):
            self._step()
        self._end_command()
        return self.done

    def _step(self) -> None:
        plain = _PLAIN.match(self.script, self.at)
        if plain is not None:
            self._add(plain.group())
            self.at = plain.end()
            return
        character = self.script[self.at]
        if character in "'\"\\$`":
            self._quoted(character)
        elif character in "<>" or self.script.startswith("&>", self.at):
            self._redirect()
        elif character == "#" and self.word is None:
            end = self.script.find("\n", self.at)
            self.at = len(self.script) if end < 0 else end
        elif character == "#":
            self._add("#")
            self.at += 1
        else:
            self._separate(character)

    def _add(self, text: str) -> None:
        if self.word is None:
            self.word = []
        self.word.append(text)

    def _quoted(self, character: str) -> None:
        if character == "\\":
            following = self.script[self.at + 1 : self.at + 2]
            if following != "\n":
                self._add(following)
            self.at += 2
        elif character == "'":
            self._add(self._until("'"))
        elif character == '"':
            self._double()
        elif character == "`":
            self._nested(self._until("`"))
        else:
            self._dollar()

    def _until(self, closing: str) -> str:
        """Return what stands before the closing character, and go past it."""
        start = self.at + 1
        end = self.script.find(closing, start)
        end = len(self.script) if end < 0 else end
        self.at = end + 1
        return self.script[start:end]

    def _double(self) -> None:
        self.at += 1
        self._add("")
        while self.at < len(self.script):
            character = self.script[self.at]
            if character == '"':
                self.at += 1
                return
            if character == "\\":
                self._add(self.script[self.at + 1 : self.at + 2])
                self.at += 2
            elif character == "`":
                self._nested(self._until("`"))
            elif character == "$":
                self._dollar()
            else:
                self._add(character)
                self.at += 1

    def _dollar(self) -> None:
        if self.script.startswith("$((", self.at):
            self._add("$")
            self._skip_arithmetic(self.at + 3)
        elif self.script.startswith("$(", self.at):
            self._nested(self._parenthesis(self.at + 2))
        else:
            self._add("$")
            self.at += 1

    def _skip_arithmetic(self, start: int) -> None:
        end = self.script.find("))", start)
        self.at = len(self.script) if end < 0 else end + 2

    def _parenthesis(self, start: int) -> str:
        """Return what stands up to the matching parenthesis, and go past it."""
        open_, quote, at = 1, "", start
        while at < len(self.script):
            character = self.script[at]
            if character == "\\" and quote != "'":
                at += 1
            elif quote:
                quote = "" if character == quote else quote
            elif character in "'\"":
                quote = character
            else:
                open_ += (character == "(") - (character == ")")
                if not open_:
                    break
            at += 1
        self.at = at + 1
        return self.script[start:at]

    def _nested(self, script: str) -> None:
        self._add("$()")
        self.done.extend(simple_commands(script, self.depth + 1))

    def _redirect(self) -> None:
        """Take an operator such as `>`, `2>>`, `&>` or `<<`; what follows it is no argument."""
        found = _OPERATOR.match(self.script, self.at)
        operator = found.group() if found is not None else ">"
        if self.current.words[:1] == ["[["]:
            self._end_word()
            self.at += 1
            return
        self.at += len(operator)
        if operator in {">(", "<("}:
            self._nested(self._parenthesis(self.at))
            return
        if self.word is not None and "".join(self.word).isdigit() and operator[0] != "&":
            self.word = None  # the number of a stream
        self._end_word()
        if operator in {"<<", "<<-"}:
            self._heredoc(operator)
        else:
            self.redirecting = operator

    def _heredoc(self, operator: str) -> None:
        found = _DELIMITER.match(self.script, self.at)
        if found is not None:
            self.at = found.end()
            delimiter = found["word"].replace("\\", "")
            self.pending.append((delimiter, operator == "<<-", self.current))

    def _separate(self, character: str) -> None:
        self.at += 1
        self._end_word()
        if character in " \t\r":
            return
        if character == "(" and self.script.startswith("(", self.at) and not self.current.words:
            self._skip_arithmetic(self.at + 1)
            return
        if self.current.words[:1] == ["[["] and character in "|&()":
            return
        if character == "&" and self.current.piped and not self.current.words:  # the rest of |&
            return
        self._end_command()
        if character == "|" and "|" not in self.script[self.at - 2 : self.at - 1] + self._next():
            self.current.piped = True
        if character == "\n":
            self._bodies()

    def _next(self) -> str:
        return self.script[self.at : self.at + 1]

    def _bodies(self) -> None:
        """Read the bodies of the heredocs that the line before has opened."""
        for delimiter, dashed, owner in self.pending:
            start = self.at
            while self.at < len(self.script):
                end = self.script.find("\n", self.at)
                end = len(self.script) if end < 0 else end
                line = self.script[self.at : end]
                if (line.lstrip("\t") if dashed else line).rstrip("\r") == delimiter:
                    owner.heredocs.append(self.script[start : self.at])
                    self.at = end + 1
                    break
                self.at = end + 1
            else:
                owner.heredocs.append(self.script[start:])
        self.pending = []

    def _end_word(self) -> None:
        if self.word is None:
            return
        word, self.word = "".join(self.word), None
        if not self.redirecting:
            self.current.words.append(word)
            if word == "]]":
                self._end_command()
            return
        if self.redirecting[0] != "<" or self.redirecting == "<>":
            self.current.writes.append(word)
        self.redirecting = ""

    def _end_command(self) -> None:
        self._end_word()
        self.redirecting = ""
        if self.current.words or self.current.writes:
            self.done.append(self.current)
        self.current = Simple(depth=self.depth)
