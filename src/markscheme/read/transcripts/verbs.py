"""Which shell commands change something: verbs, their sub-commands, and the forms that only look.

The tables are data. A command that is not in them is taken to change nothing, unless it redirects
its output to a file.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from markscheme.read.transcripts.arguments import SHELLS, patched
from markscheme.read.transcripts.shell import Simple, real_file, simple_commands
from markscheme.read.transcripts.values import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CHANGING = table(
    "rm rmdir mv cp mkdir touch ln chmod chown chgrp dd truncate install rsync unlink "
    "shred patch apply_patch applypatch mkfifo unzip gunzip gzip zip"
)
_KEYWORDS = table("then do else elif if while until ! { } time")
_WRAPPERS = {  # the options of each that take a word of their own
    "sudo": "ugpCh",
    "doas": "uC",
    "env": "uCS",
    "command": "",
    "builtin": "",
    "exec": "a",
    "nohup": "",
    "setsid": "",
    "nice": "n",
    "ionice": "cn",
    "stdbuf": "",
    "timeout": "sk",
    "xargs": "InPLdasE",
}
_SUBCOMMANDS = {
    "npm": "install i ci add uninstall remove rm update upgrade link publish",
    "pnpm": "install i add remove rm update up upgrade link publish",
    "yarn": "install add remove upgrade up link publish",
    "bun": "install i add remove rm update link",
    "pip": "install uninstall",
    "pip3": "install uninstall",
    "uv": "add remove sync lock",
    "poetry": "install add remove update lock",
    "pipx": "install uninstall upgrade",
    "conda": "install remove update create",
    "cargo": "add remove install uninstall update",
    "go": "get install",
    "gem": "install uninstall update",
    "bundle": "install add update remove",
    "composer": "install require update remove",
    "mix": "deps.get deps.update deps.clean deps.unlock",
    "brew": "install uninstall remove upgrade",
    "apt": "install remove purge upgrade update",
    "apt-get": "install remove purge upgrade update",
    "dnf": "install remove upgrade",
    "yum": "install remove upgrade",
    "apk": "add del upgrade",
    "git": "add commit push pull checkout switch restore reset revert merge rebase cherry-pick am "
    "apply rm mv clean stash tag branch init clone config remote worktree submodule",
}
_VALUED = frozenset({"--prefix", "-C", "--cwd", "--dir", "--filter", "-F", "-w", "--workspace"})
_CHANGING_SUBCOMMANDS = {name: table(verbs) for name, verbs in _SUBCOMMANDS.items()}
_LOOKS = {  # options with which a command that changes something only prints
    "unzip": re.compile("-[a-zA-Z]*[lptvZ][a-zA-Z]*"),
    "gunzip": re.compile("-[a-z]*[clt][a-z]*|--(?:stdout|to-stdout|list|test)"),
    "gzip": re.compile("-[a-z]*[clt][a-z]*|--(?:stdout|to-stdout|list|test)"),
}
_GIT_LOOKS = {  # a sub-command of git that only looks: its options or first words
    "stash": frozenset({"list", "show"}),
    "apply": frozenset({"--check", "--stat", "--numstat", "--summary"}),
    "config": frozenset({"--get", "--get-all", "--get-regexp", "--list", "-l", "list", "get"}),
    "worktree": frozenset({"list"}),
    "submodule": frozenset({"status", "summary"}),
}
_GIT_REMOTE = table("add remove rm rename set-url set-head set-branches prune update")
_GIT_LISTS = table(
    "-l --list -a --all -r --remotes -v -vv --contains --no-contains --merged --no-merged "
    "--points-at --show-current --sort --format -n"
)
_DRY = frozenset({"--dry-run", "--help", "--version"})
_IN_PLACE = {
    "sed": re.compile(r"-[nErsuz]*i.*|--in-place(=.*)?"),
    "perl": re.compile(r"-[nEeplawst0]*i([.~_].*)?"),
}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
_HARMLESS = re.compile(r"[\d&]?>>? ?(?:/dev/null|&\d)(?=[\s;|)]|$)")
_OTHERS = table("tee sed gsed perl awk gawk curl wget find tar python")
_NAMES = (*_CHANGING, *_SUBCOMMANDS, *sorted(_OTHERS))
# What can change anything has a redirection, a name of the tables, or quotes that may hide one.
_SUSPICIOUS = re.compile(rf"[>\\]|\w['\"]+\w|\b(?:{'|'.join(map(re.escape, _NAMES))})")
_SHOWN = 200


def changes(script: str) -> Iterator[str]:
    """Yield what a shell script would change, looking closely only where anything could."""
    if _SUSPICIOUS.search(_HARMLESS.sub("", script)) is not None:
        yield from every_change(script)


def every_change(script: str) -> Iterator[str]:
    """Yield what a shell script would change: a command, or the file that it redirects to."""
    for simple in simple_commands(script):
        yield from _changes(simple)


def commands(script: str, depth: int = 0) -> Iterator[list[str]]:
    """Yield the words of each command of a script that does not just read what another prints."""
    for simple in simple_commands(script, depth):
        words = _unwrapped(simple.words)
        if not words or simple.piped:
            continue
        words[0] = _name(words[0])
        inner = _scripts(words, simple) if words[0] in SHELLS or words[0] == "eval" else []
        for one in inner:
            yield from commands(one, simple.depth + 1)
        if not inner:
            yield words


def _changes(simple: Simple) -> Iterator[str]:
    words = list(_unwrapped(simple.words))
    yield from (target for target in simple.writes if real_file(target))
    if not words:
        return
    verb = _name(words[0])
    if verb in SHELLS or verb == "eval":
        yield from _inner(words, simple)
    elif _is_change(verb, words[1:]):
        files = [path for body in simple.heredocs for path in patched(body)]
        yield ", ".join(files) if files else " ".join(words)[:_SHOWN]


def _unwrapped(given: list[str]) -> list[str]:
    """Return the command itself, without keywords, assignments and the likes of `sudo -u me`."""
    rest = given
    while rest:
        head = _name(rest[0])
        if head in _KEYWORDS or _ASSIGNMENT.fullmatch(rest[0]):
            rest = rest[1:]
        elif head == "command" and "".join(rest[1:2]) in {"-v", "-V"}:
            return []  # asks where a command is
        elif head in _WRAPPERS:
            rest = _without_options(head, rest[1:])
        else:
            break
    return rest


def _without_options(wrapper: str, words: list[str]) -> list[str]:
    valued = _WRAPPERS[wrapper]
    at = 0
    while at < len(words) and words[at].startswith("-") and len(words[at]) > 1:
        at += 2 if words[at][-1] in valued and not words[at].startswith("--") else 1
    if wrapper == "timeout":
        at += 1  # how long
    return words[at:]


def _inner(words: list[str], simple: Simple) -> Iterator[str]:
    """Yield what a script inside the script would change: `bash -c …`, `eval …`, `sh <<EOF`."""
    for script in _scripts(words, simple):
        for inner in simple_commands(script, simple.depth + 1):
            yield from _changes(inner)


def _scripts(words: list[str], simple: Simple) -> list[str]:
    """Return the scripts that a shell is given: `bash -c …`, `eval …`, `sh <<EOF`."""
    scripts = list(simple.heredocs)
    if _name(words[0]) == "eval":
        scripts.append(" ".join(words[1:]))
    for flag, script in itertools.pairwise(words):
        if re.fullmatch(r"-[a-z]*c", flag):
            scripts.append(script)
            break
    return scripts


def _is_change(verb: str, rest: list[str]) -> bool:
    if _DRY & set(rest):
        return False
    if verb in _CHANGING:
        looks = _LOOKS.get(verb)
        return looks is None or not any(map(looks.fullmatch, rest))
    if verb in {"python", "python3"} and rest[:2] == ["-m", "pip"]:
        return _is_change("pip", rest[2:])
    if verb == "git":
        return _git(rest)
    special = _SPECIAL.get(verb)
    if special is not None:
        return special(rest)
    return _first(rest) in _CHANGING_SUBCOMMANDS.get(verb, ())


def _name(word: str) -> str:
    """Return a command's name without the folder that it stands in."""
    return word.rpartition("/")[2]


def _first(words: list[str]) -> str:
    """Return the first word that is no option, and no value of one."""
    before = ["", *words]
    pairs = zip(before, words, strict=False)
    return next((w for b, w in pairs if not w.startswith("-") and b not in _VALUED), "")


def _git(rest: list[str]) -> bool:
    at = 0
    while at < len(rest) and rest[at].startswith("-"):
        at += 2 if rest[at] in {"-C", "-c", "--git-dir", "--work-tree"} else 1
    verb, words = "".join(rest[at : at + 1]), rest[at + 1 :]
    if verb not in _CHANGING_SUBCOMMANDS["git"]:
        return False
    if verb in {"branch", "tag"}:
        lists = any(word.split("=")[0] in _GIT_LISTS for word in words)
        return bool(words) and not lists
    if verb == "remote":
        return _first(words) in _GIT_REMOTE
    if verb == "config" and len(words) == 1:
        return False
    if verb in {"clean", "add", "rm", "mv"} and any(
        re.fullmatch("-[a-z]*n[a-z]*", w) for w in words
    ):
        return False
    return not _GIT_LOOKS.get(verb, frozenset()) & set(words)


def _tee(rest: list[str]) -> bool:
    return any(real_file(word) for word in rest if not word.startswith("-"))


def _in_place(verb: str) -> Callable[[list[str]], bool]:
    return lambda rest: any(map(_IN_PLACE[verb].fullmatch, rest))


def _awk(rest: list[str]) -> bool:
    return ("-i", "inplace") in itertools.pairwise(rest) or "--include=inplace" in rest


def _curl(rest: list[str]) -> bool:
    if any(re.fullmatch("-[a-zA-Z]*O[a-zA-Z]*|--remote-name(-all)?", word) for word in rest):
        return True
    return any(map(real_file, _named(rest, "-[a-zA-Z]*?o", "--output")))


def _wget(rest: list[str]) -> bool:
    if "--spider" in rest:
        return False
    outputs = _named(rest, "-[a-zA-Z]*?O", "--output-document")
    return any(map(real_file, outputs)) if outputs else True


def _named(rest: list[str], short: str, long: str) -> list[str]:
    """Return the values of an option, attached to it or in a word of their own."""
    found = []
    for word, following in zip(rest, [*rest[1:], ""], strict=True):
        option = re.fullmatch(f"(?:{short}|{long}=|{long}$)(.*)", word, re.DOTALL)
        if option is not None:
            found.append(option[1] or following)
    return found


def _find(rest: list[str]) -> bool:
    if "-delete" in rest:
        return True
    runs = (at for at, word in enumerate(rest) if word in {"-exec", "-execdir", "-ok", "-okdir"})
    return any(any(_changes(Simple(words=_up_to_the_end(rest[at + 1 :])))) for at in runs)


def _up_to_the_end(words: list[str]) -> list[str]:
    """Return the words of a command that `find` runs, which ends with a semicolon or a plus."""
    return list(itertools.takewhile(lambda word: word not in {";", "+"}, words))


def _tar(rest: list[str]) -> bool:
    if {"--extract", "--get", "--create"} & set(rest):
        return True
    options = (word for at, word in enumerate(rest) if not at or re.match("-[^-]", word))
    return any(re.fullmatch("-?[a-zA-Z]*[xc][a-zA-Z]*", word) for word in options)


def _yarn(rest: list[str]) -> bool:
    return not rest or _first(rest) in _CHANGING_SUBCOMMANDS["yarn"]


def _uv(rest: list[str]) -> bool:
    if rest[:1] == ["pip"]:
        return _first(rest[1:]) in {"install", "uninstall", "sync"}
    return _first(rest) in _CHANGING_SUBCOMMANDS["uv"]


def _go(rest: list[str]) -> bool:
    return _first(rest) in _CHANGING_SUBCOMMANDS["go"] or rest[:2] == ["mod", "tidy"]


_SPECIAL = {
    "tee": _tee,
    "sed": _in_place("sed"),
    "gsed": _in_place("sed"),
    "perl": _in_place("perl"),
    "awk": _awk,
    "gawk": _awk,
    "curl": _curl,
    "wget": _wget,
    "find": _find,
    "tar": _tar,
    "yarn": _yarn,
    "uv": _uv,
    "go": _go,
}
