"""Judge scripts of `sed`, `awk` and `ed`, which can write files and start commands."""

from __future__ import annotations

import re

from markscheme.read.tools.findings import Findings, shorten_code
from markscheme.read.tools.programs import is_real_file

_AWK_TOKEN = re.compile(
    r"(?P<text>\"(?:[^\"\\]|\\.)*(?:\"|$))|(?P<comment>\#[^\n]*)"
    r"|(?P<regex>(?<=[~(,!&|{;\n])\s*/(?:[^/\\\n]|\\.)*/|^\s*/(?:[^/\\\n]|\\.)*/)",
    re.DOTALL,
)
_AWK_MARK = "\x00"
_AWK_OUTPUT = re.compile(
    r"\b(?:print|printf)\b(?P<what>[^;{}\n|>]*)(?P<sign>>>?|\|&?)\s*(?P<target>[^;{}\n]*)"
)
_AWK_SYSTEM = re.compile(r"\bsystem\s*\(\s*(?P<what>[^)]*)\)?")
_AWK_PIPE_IN = re.compile(r"(?P<what>[^;{}\n|]*)\|&?\s*getline")
_AWK_IGNORED_PIPE = re.compile(r"\|\|")


def judge_awk(script: str) -> Findings:
    """Return the files and commands that an awk program writes to, and the commands it starts."""
    found = Findings()
    texts: list[str] = []

    def keep_text(match: re.Match[str]) -> str:
        if match["text"] is None:
            return " "
        texts.append(_unescape(match["text"][1:].removesuffix('"')))
        return f" {_AWK_MARK}{len(texts) - 1}{_AWK_MARK} "

    plain = _AWK_TOKEN.sub(keep_text, script)
    plain = _AWK_IGNORED_PIPE.sub("  ", plain)
    for match in _AWK_SYSTEM.finditer(plain):
        _add_script(match["what"], texts, found, "system")
    for match in _AWK_PIPE_IN.finditer(plain):
        _add_script(match["what"].rpartition("(")[2].rpartition("=")[2], texts, found, "getline")
    for match in _AWK_OUTPUT.finditer(plain):
        # A comparison in parentheses is no redirection: print (a > b).
        if match["what"].count("(") > match["what"].count(")"):
            continue
        _judge_awk_output(match, texts, found)
    return found


def _judge_awk_output(match: re.Match[str], texts: list[str], found: Findings) -> None:
    if match["sign"].startswith("|"):
        if not match["target"].lstrip().startswith("getline"):
            _add_script(match["target"], texts, found, "print |", "awk | ")
        return
    target = _restore(match["target"], texts)
    if target is None:
        found.changes.append("a file that awk writes")
    elif is_real_file(target):
        found.changes.append(target)


def _restore(code: str, texts: list[str]) -> str | None:
    """Return the text if the code is one quoted text, else `None`."""
    match = re.fullmatch(rf"\s*{_AWK_MARK}(\d+){_AWK_MARK}\s*", code)
    return None if match is None else texts[int(match[1])]


def _add_script(code: str, texts: list[str], found: Findings, how: str, source: str = "") -> None:
    """Add the command that awk starts; `source` is the pipe that it reads from."""
    script = _restore(code, texts)
    if script is not None:
        found.scripts.append(f"{source}{script}")
        return
    # The literal parts tell the program, as in system("rm " $1).
    literal = re.match(rf"\s*{_AWK_MARK}(\d+){_AWK_MARK}", code)
    if literal is not None and texts[int(literal[1])].strip():
        found.scripts.append(f"{source}{texts[int(literal[1])]} awk_value")
    else:
        found.doubts.append(f"a command that awk puts together ({how})")


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text)


_SED_COMMAND = re.compile(
    r"[\s;{}!]*"
    r"(?P<address>(?:(?:\d+|\$|[+~]\d+|\d+~\d+|/(?:[^/\\\n]|\\.)*/[IM]*|\\(?P<mark>[^\s\\])"
    r"(?:(?!(?P=mark)).)*(?P=mark)[IM]*)[\s,!+~]*)*)"
    r"(?P<name>[a-zA-Z=:#]|$)",
    re.DOTALL,
)


def judge_sed(script: str) -> Findings:
    """Return the files that a sed script writes, and the commands that it starts."""
    found = Findings()
    position = 0
    while position < len(script):
        match = _SED_COMMAND.match(script, position)
        if match is None or match.end() == position:
            # Not a script of sed that can be followed; without `w`, `W`, `e` it cannot write.
            if re.search(r"[wWe]", script[position:]):
                found.doubts.append(f"a sed script: {shorten_code(script)}")
            break
        position = _judge_sed_command(script, match, found)
    return found


def _judge_sed_command(script: str, match: re.Match[str], found: Findings) -> int:
    """Judge one command; return the position after it."""
    name, position = match["name"], match.end()
    line_end = script.find("\n", position)
    line_end = len(script) if line_end < 0 else line_end
    if name in {"w", "W"}:
        target = script[position:line_end].strip()
        if is_real_file(target):
            found.changes.append(target)
        return line_end
    if name == "e":
        command = script[position:line_end].strip()
        found.scripts.append(command or "sed_pattern_space")
        return line_end
    if name in {"s", "y"}:
        return _judge_substitution(script, position, line_end, found)
    if name in {"a", "i", "c"}:
        # Their text goes on after a backslash at the end of a line.
        text = re.compile(r"(?:\\.|[^\n\\])*", re.DOTALL).match(script, position)
        return len(script) if text is None else text.end()
    return line_end if name in {"r", "R", "#", ":", "v"} else position


def _judge_substitution(script: str, position: int, line_end: int, found: Findings) -> int:
    mark = script[position : position + 1]
    at = position + 1
    for _ in range(2):
        while at < len(script) and script[at] != mark:
            at += 2 if script[at] == "\\" else 1
        at += 1
    flags = re.compile(r"[gpiImM\d\s]*").match(script, min(at, len(script)))
    end = at if flags is None else flags.end()
    if script[end : end + 1] == "w":
        line_end = script.find("\n", end)
        target = script[end + 1 : len(script) if line_end < 0 else line_end].strip()
        if is_real_file(target):
            found.changes.append(target)
        return len(script) if line_end < 0 else line_end
    if script[end : end + 1] == "e":
        found.doubts.append("sed runs what it substitutes as a command")
        return end + 1
    return max(end, position + 1)


_ED_WRITE = re.compile(
    r"^\s*(?:[\d,.$%/;+-]*\s*)(?:w|wq|W|x|wq!|w!|up|update|wa|wall|wqa|xa|xit|exit|ZZ|sav|saveas"
    r"|norm.*ZZ|call\s+writefile)\b.*$|^\s*:?(?:w|wq|x|wqa|xa|wa)!?(\s|$)|\|\s*(?:w|wq|x|up)\b|ZZ",
    re.MULTILINE,
)
_ED_CODE = re.compile(r"\s*:?(lua|py|python3?|call|source|so|exe|execute|norm)\b")


def judge_editor(script: str) -> Findings:
    """Return whether a script of `ed`, `ex` or `vim` writes a file."""
    found = Findings()
    if _ED_WRITE.search(script) is not None:
        found.changes.append(shorten_code(script))
        return found
    for line in re.split(r"[\n|]", script):
        shell = re.match(r"\s*:?!(?P<command>.*)", line)
        if shell is not None:
            found.scripts.append(shell["command"])
        elif _ED_CODE.match(line) is not None:
            # Other commands edit the text in the buffer; only a write changes the file.
            found.doubts.append(f"a command of an editor: {shorten_code(line)}")
    return found
