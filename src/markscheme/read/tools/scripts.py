"""Judge a shell script: what it changes, what cannot be read, and which programs are not known.

`judge_script` splits a script into simple commands, looks through wrappers such as `sudo`, and asks
the tables what each program does. Code for an interpreter is judged in its own language; commands
that such code starts are scripts again.
"""

from __future__ import annotations

import re
from functools import lru_cache

from markscheme.read.tools.arguments import find_patched_files
from markscheme.read.tools.code import judge_code
from markscheme.read.tools.findings import Findings, shorten_code
from markscheme.read.tools.interpreters import (
    MONGO,
    OTHER,
    SHELL,
    SQL,
    EmbeddedCode,
    Interpreter,
    find_code,
    find_interpreter,
)
from markscheme.read.tools.programs import Effect, is_known_program, is_real_file, judge_program
from markscheme.read.tools.shell import (
    MAX_DEPTH,
    SUBSTITUTED,
    SimpleCommand,
    parse_simple_commands,
)
from markscheme.read.tools.special_programs import (
    EDITS_IN_PLACE,
    judge_command,
    judge_python_module,
)
from markscheme.read.tools.started_commands import find_handed_commands, find_variable_commands
from markscheme.read.tools.wrappers import get_program_name, unwrap_command

_TOO_DEEP = "a command that is nested too deeply to be read"
_VARIABLE = re.compile(r"\$\{?(?P<name>[A-Za-z_]\w*)\}?")
_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)
_NAMED_SUBSTITUTION = re.compile(r"\s*(?:which|command -v|type -p)\s+(?P<name>[\w.\-/]+)\s*")
_POWERSHELL_CHANGE = re.compile(
    r"\]::(Write|Delete|Create|Move|Copy|Append|Replace|Set|Start|Open(Write)?\b)\w*\s*\("
    r"|\.(Delete|Save"
    r"|MoveTo|CopyTo|Create|SetValue|DownloadFile|Kill|WriteAllText|UploadString|UploadFile)\s*\(",
    re.IGNORECASE,
)
_POWERSHELL_DOUBT = re.compile(
    r"\b(iex|invoke-expression|frombase64string|downloadstring|add-type|scriptblock\]::create"
    r"|-enc(odedcommand)?)\b|(?:^|[;|{(\s])[&.]\s*[$(]",
    re.IGNORECASE,
)
_MAX_FINDINGS = 200
_MAX_SCRIPTS = 2000
_SCRIPT_CACHE = 512
_CODE_FILE = re.compile(r".+\.(py|js|mjs|cjs|ts|rb|pl|php|lua|sh|bash)")
_IGNORED_PROGRAMS = frozenset({".", "source"})


@lru_cache(maxsize=_SCRIPT_CACHE)
def judge_script(script: str, *, language: str = SHELL) -> Findings:
    """Return what a shell script does. `language` is the shell, or `powershell` or `cmd`."""
    judge = _ScriptJudge(is_powershell=language == "powershell")
    if language not in {SHELL, "powershell", "cmd"}:
        judge.add_code(language, [script], 0)
    else:
        judge.judge(script, 0)
    found = judge.found
    for texts in (found.changes, found.doubts, found.programs):
        texts[:] = list(dict.fromkeys(texts))[:_MAX_FINDINGS]
    return found


class _ScriptJudge:
    """Collects what the commands of one script do, those of inner scripts included."""

    def __init__(self, *, is_powershell: bool) -> None:
        self.found = Findings()
        self.is_powershell = is_powershell
        self.script_count = 0
        self.variables: dict[str, str] = {}
        self.functions: set[str] = set()
        self.aliases: dict[str, str] = {}

    def judge(self, script: str, depth: int, outer: SimpleCommand | None = None) -> None:
        """Judge a script inside so many others; its input is that of the command around it."""
        self.script_count += 1
        if depth >= MAX_DEPTH or self.script_count > _MAX_SCRIPTS:
            self.found.doubts.append(_TOO_DEEP)
            return
        if self.is_powershell:
            self._judge_powershell_signs(script)
        for simple in parse_simple_commands(script, depth):
            if outer is not None and not (simple.piped or simple.reads or simple.heredocs):
                simple.piped, simple.source = outer.piped, outer.source
                simple.reads, simple.heredocs = outer.reads, outer.heredocs
            self._judge_simple_command(simple)

    def _judge_powershell_signs(self, script: str) -> None:
        if _POWERSHELL_CHANGE.search(script) is not None:
            self.found.changes.append(shorten_code(script))
        elif _POWERSHELL_DOUBT.search(script) is not None:
            self.found.doubts.append(f"PowerShell code that cannot be read: {shorten_code(script)}")

    def _judge_simple_command(self, simple: SimpleCommand) -> None:
        if simple.too_deep:
            self.found.doubts.append(_TOO_DEEP)
            return
        if simple.words[:1] == ["function"]:
            self.functions.update(simple.words[1:2])
        unwrapped = unwrap_command(simple.words)
        writes = (*simple.writes, *unwrapped.writes)
        self.found.changes += [target for target in writes if is_real_file(target)]
        if unwrapped.too_many:
            self.found.doubts.append(_TOO_DEEP)
        for script in find_variable_commands(simple.words):
            self.judge(script, simple.depth + 1)
        for script in unwrapped.scripts:
            self.judge(script, simple.depth + 1, simple)
        if unwrapped.words:
            self._judge_words(unwrapped.words, simple)
        elif unwrapped.reads_script:
            self._judge_interpreter(_SOURCE, "ssh", [], simple)
        elif not unwrapped.is_wrapped:
            self._note_variables(simple.words)

    def _note_variables(self, words: list[str]) -> None:
        for word in words:
            match = _ASSIGNMENT.fullmatch(word)
            if match is not None:
                self.variables[match["name"]] = match["value"]

    def _judge_words(self, words: list[str], simple: SimpleCommand) -> None:
        words = self._resolve_program(words, simple)
        if words[0] in {"export", "declare", "local", "readonly", "typeset"}:
            self._note_variables(words[1:])
        if words[0] == "alias":
            pairs = (word.partition("=") for word in words[1:])
            self.aliases.update({name: value for name, _, value in pairs if value})
            return
        name = get_program_name(words[0])
        if self._is_unreadable_program(words, name):
            return
        rest = words[1:]
        interpreter = find_interpreter(name, rest)
        if name in {"eval", "iex", "Invoke-Expression"}:
            self._judge_eval(rest, simple)
        elif name in _IGNORED_PROGRAMS:
            self._judge_sourced_file(rest, simple)
        elif interpreter is not None and self._judge_interpreter(interpreter, name, rest, simple):
            return
        elif name not in self.functions:
            self._judge_program(name, rest, simple)

    def _resolve_program(self, words: list[str], simple: SimpleCommand) -> list[str]:
        """Return the words with the program that a variable, braces or `$(which …)` stand for."""
        first = words[0]
        if first in self.aliases:
            return [*(self.aliases[first].split() or [first]), *words[1:]]
        variable = _VARIABLE.fullmatch(first)
        if variable is not None and variable["name"] in self.variables:
            value = self.variables[variable["name"]].split()
            return [*value, *words[1:]] if value and "$" not in value[0] else words
        if first == SUBSTITUTED and simple.substitutions:
            named = _NAMED_SUBSTITUTION.fullmatch(simple.substitutions[0])
            return [named["name"], *words[1:]] if named is not None else words
        if first.startswith("{") and first.endswith("}") and "," in first:
            return [*first[1:-1].split(","), *words[1:]]
        return words

    def _is_unreadable_program(self, words: list[str], name: str) -> bool:
        """Note a program whose name is computed; PowerShell prints the value of a variable."""
        if "$" not in name and "`" not in name and name != "{}":
            return False
        if self.is_powershell:
            self._judge_powershell_value(words)
        else:
            self.found.doubts.append(
                f"a program named by a variable: {shorten_code(' '.join(words))}"
            )
        return True

    def _judge_powershell_value(self, words: list[str]) -> None:
        if words[1:2] == ["="] and len(words) > len("$x ="[:2]):
            inner = [word for word in words[2:] if word]
            if inner and re.match(r"[A-Za-z]", inner[0]):
                self._judge_words(inner, SimpleCommand(words=inner))

    def _judge_eval(self, rest: list[str], simple: SimpleCommand) -> None:
        script = " ".join(rest)
        if SUBSTITUTED in script:
            code = EmbeddedCode(SHELL, downloads=_mentions_download(simple))
            if not code.downloads:
                self.found.doubts.append(f"eval of computed code: {_show_inner(simple)}")
            self._judge_downloads(code, "eval")
            return
        for text in [script, *simple.heredocs]:
            self.judge(text, simple.depth + 1)

    def _judge_sourced_file(self, rest: list[str], simple: SimpleCommand) -> None:
        code = find_code(_SOURCE, rest, simple)
        self._judge_downloads(code, "source")
        self.found.doubts += code.doubts
        if not code.doubts and not code.downloads:
            self.found.programs.append(shorten_code(" ".join(["source", *rest[:1]])))

    def _judge_interpreter(
        self, interpreter: Interpreter, name: str, rest: list[str], simple: SimpleCommand
    ) -> bool:
        """Judge the code that an interpreter is handed; return whether there was any."""
        edits = EDITS_IN_PLACE.get(interpreter.language)
        if edits is not None and edits(rest):
            self.found.changes.append(shorten_code(" ".join([name, *rest])))
            return True
        if interpreter.language == "python" and "-m" in rest[:8]:
            self._judge_python_module(rest)
            return True
        code = find_code(interpreter, rest, simple)
        self.found.changes += [target for target in code.writes if is_real_file(target)]
        if not code.texts and judge_program(name, rest) is Effect.CHANGE:
            return False
        if self._judge_known_file(code, rest):
            return True
        if code.is_empty:
            return interpreter.language not in {OTHER, "javascript"} or not rest
        self._judge_downloads(code, name)
        self.found.doubts += [f"{name}: {doubt}" for doubt in code.doubts]
        self._judge_code_files(interpreter, name, code)
        if not code.downloads:
            self.add_code(code.language, code.texts, simple.depth + 1)
        return True

    def _judge_known_file(self, code: EmbeddedCode, rest: list[str]) -> bool:
        """Judge a file of code that the tables know, such as `python manage.py migrate`."""
        file = code.files[0] if code.files else ""
        name = get_program_name(file)
        if code.language in {SQL, MONGO} or file not in rest or not is_known_program(name):
            return False
        self._add(judge_command(name, rest[rest.index(file) + 1 :], SimpleCommand()), 0)
        return True

    def _judge_python_module(self, rest: list[str]) -> None:
        at = rest.index("-m")
        module = "".join(rest[at + 1 : at + 2])
        self._add(judge_python_module(module, rest[at + 2 :]), 0)

    def _judge_downloads(self, code: EmbeddedCode, name: str) -> None:
        if code.downloads:
            self.found.changes.append(f"{name} runs code from the network")

    def _judge_code_files(self, interpreter: Interpreter, name: str, code: EmbeddedCode) -> None:
        """A file of SQL is taken to change the database; another file is an unknown program."""
        for file in code.files:
            shown = shorten_code(f"{name} {get_program_name(file)}")
            if interpreter.language in {SQL, MONGO}:
                self.found.changes.append(shown)
            else:
                self.found.programs.append(shown)

    def add_code(self, language: str, texts: list[str], depth: int) -> None:
        """Judge source texts in a language; the commands that they start are scripts again."""
        for text in texts:
            if language in {SHELL, "cmd"} and not self.is_powershell:
                self.judge(text, depth)
            elif language in {SHELL, "cmd", "powershell"}:
                self._judge_other_shell(language, text, depth)
            else:
                self._add(judge_code(language, text), depth)

    def _judge_other_shell(self, language: str, text: str, depth: int) -> None:
        """Judge a script of PowerShell inside one of the shell, or the reverse."""
        if depth < MAX_DEPTH:
            inner = _ScriptJudge(is_powershell=language == "powershell")
            inner.judge(text, depth)
            self._add(inner.found, depth)
        else:
            self.found.doubts.append(_TOO_DEEP)

    def _judge_program(self, name: str, rest: list[str], simple: SimpleCommand) -> None:
        if _CODE_FILE.fullmatch(name) and not is_known_program(name):
            self.found.programs.append(shorten_code(name))
            return
        found = judge_command(name, rest, simple)
        if found.programs and not found.changes:
            found.scripts += find_handed_commands(rest, after_dashes=not is_known_program(name))
        files = [path for body in simple.heredocs for path in find_patched_files(body)]
        if files and found.changes:
            found.changes = [", ".join(files)]
        self._add(found, simple.depth + 1)

    def _add(self, found: Findings, depth: int) -> None:
        self.found.changes += found.changes
        self.found.doubts += found.doubts
        self.found.programs += found.programs
        for script in found.scripts:
            self.judge(script, depth + 1)


_SOURCE = Interpreter(programs="source", language=SHELL)


def _mentions_download(simple: SimpleCommand) -> bool:
    return any(re.search(r"\b(curl|wget)\b", script) for script in simple.substitutions)


def _show_inner(simple: SimpleCommand) -> str:
    return shorten_code("; ".join(simple.substitutions) or " ".join(simple.words))
