"""Which shell commands change something: verbs, their sub-commands, and the forms that only look.

The tables are data. A command that is not in them is taken to change nothing, unless it redirects
its output to a file.

Attempts to change something: tools that write, and shell commands that do.

The names are the defaults for the supported agents; tools of MCP servers need a list of their own.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from markscheme.read.json_fields import split_words
from markscheme.read.tools.arguments import SHELL_PROGRAMS, find_patched_files
from markscheme.read.tools.shell import SimpleCommand, is_real_file, parse_simple_commands
from markscheme.vocabulary import Mutation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from markscheme.vocabulary import Call

_CHANGING_PROGRAMS = split_words(
    "rm rmdir mv cp mkdir touch ln chmod chown chgrp dd truncate install rsync unlink "
    "shred patch apply_patch applypatch mkfifo unzip gunzip gzip zip"
)
_SHELL_KEYWORDS = split_words("then do else elif if while until ! { } time")
_WRAPPER_OPTIONS = {  # the options of each that take a word of their own
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
_OPTIONS_WITH_VALUE = frozenset(
    {"--prefix", "-C", "--cwd", "--dir", "--filter", "-F", "-w", "--workspace"}
)
_CHANGING_SUBCOMMANDS = {name: split_words(verbs) for name, verbs in _SUBCOMMANDS.items()}
_READ_ONLY_OPTIONS = {  # options with which a command that changes something only prints
    "unzip": re.compile("-[a-zA-Z]*[lptvZ][a-zA-Z]*"),
    "gunzip": re.compile("-[a-z]*[clt][a-z]*|--(?:stdout|to-stdout|list|test)"),
    "gzip": re.compile("-[a-z]*[clt][a-z]*|--(?:stdout|to-stdout|list|test)"),
}
_GIT_READ_ONLY_WORDS = {  # a sub-command of git that only looks: its options or first words
    "stash": frozenset({"list", "show"}),
    "apply": frozenset({"--check", "--stat", "--numstat", "--summary"}),
    "config": frozenset({"--get", "--get-all", "--get-regexp", "--list", "-l", "list", "get"}),
    "worktree": frozenset({"list"}),
    "submodule": frozenset({"status", "summary"}),
}
_GIT_REMOTE_CHANGES = split_words("add remove rm rename set-url set-head set-branches prune update")
_GIT_LIST_OPTIONS = split_words(
    "-l --list -a --all -r --remotes -v -vv --contains --no-contains --merged --no-merged "
    "--points-at --show-current --sort --format -n"
)
_DRY_RUN_OPTIONS = frozenset({"--dry-run", "--help", "--version"})
_IN_PLACE_OPTIONS = {
    "sed": re.compile(r"-[nErsuz]*i.*|--in-place(=.*)?"),
    "perl": re.compile(r"-[nEeplawst0]*i([.~_].*)?"),
}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
_HARMLESS_REDIRECT = re.compile(r"[\d&]?>>? ?(?:/dev/null|&\d)(?=[\s;|)]|$)")
_OTHER_PROGRAMS = split_words("tee sed gsed perl awk gawk curl wget find tar python")
_SUSPICIOUS_NAMES = (*_CHANGING_PROGRAMS, *_SUBCOMMANDS, *sorted(_OTHER_PROGRAMS))
# What can change anything has a redirection, a name of the tables, or quotes that may hide one.
_SUSPICIOUS_SCRIPT = re.compile(
    rf"[>\\]|\w['\"]+\w|\b(?:{'|'.join(map(re.escape, _SUSPICIOUS_NAMES))})"
)
_MAX_SHOWN_LENGTH = 200


def find_changes(script: str) -> Iterator[str]:
    """Yield what a shell script would change, looking closely only where anything could."""
    if _SUSPICIOUS_SCRIPT.search(_HARMLESS_REDIRECT.sub("", script)) is not None:
        yield from find_all_changes(script)


def find_all_changes(script: str) -> Iterator[str]:
    """Yield what a shell script would change: a command, or the file that it redirects to."""
    for simple in parse_simple_commands(script):
        yield from _find_command_changes(simple)


def iter_commands(script: str, depth: int = 0) -> Iterator[list[str]]:
    """Yield the words of each command of a script that does not just read what another prints."""
    for simple in parse_simple_commands(script, depth):
        words = _strip_wrappers(simple.words)
        if not words or simple.piped:
            continue
        words[0] = _get_program_name(words[0])
        inner = (
            _find_inner_scripts(words, simple)
            if words[0] in SHELL_PROGRAMS or words[0] == "eval"
            else []
        )
        for one in inner:
            yield from iter_commands(one, simple.depth + 1)
        if not inner:
            yield words


def _find_command_changes(simple: SimpleCommand) -> Iterator[str]:
    words = list(_strip_wrappers(simple.words))
    yield from (target for target in simple.writes if is_real_file(target))
    if not words:
        return
    verb = _get_program_name(words[0])
    if verb in SHELL_PROGRAMS or verb == "eval":
        yield from _find_inner_changes(words, simple)
    elif _is_change(verb, words[1:]):
        files = [path for body in simple.heredocs for path in find_patched_files(body)]
        yield ", ".join(files) if files else " ".join(words)[:_MAX_SHOWN_LENGTH]


def _strip_wrappers(given: list[str]) -> list[str]:
    """Return the command itself, without keywords, assignments and the likes of `sudo -u me`."""
    rest = given
    while rest:
        head = _get_program_name(rest[0])
        if head in _SHELL_KEYWORDS or _ASSIGNMENT.fullmatch(rest[0]):
            rest = rest[1:]
        elif head == "command" and "".join(rest[1:2]) in {"-v", "-V"}:
            return []  # asks where a command is
        elif head in _WRAPPER_OPTIONS:
            rest = _skip_wrapper_options(head, rest[1:])
        else:
            break
    return rest


def _skip_wrapper_options(wrapper: str, words: list[str]) -> list[str]:
    valued = _WRAPPER_OPTIONS[wrapper]
    at = 0
    while at < len(words) and words[at].startswith("-") and len(words[at]) > 1:
        at += 2 if words[at][-1] in valued and not words[at].startswith("--") else 1
    if wrapper == "timeout":
        at += 1  # how long
    return words[at:]


def _find_inner_changes(words: list[str], simple: SimpleCommand) -> Iterator[str]:
    """Yield what a script inside the script would change: `bash -c …`, `eval …`, `sh <<EOF`."""
    for script in _find_inner_scripts(words, simple):
        for inner in parse_simple_commands(script, simple.depth + 1):
            yield from _find_command_changes(inner)


def _find_inner_scripts(words: list[str], simple: SimpleCommand) -> list[str]:
    """Return the scripts that a shell is given: `bash -c …`, `eval …`, `sh <<EOF`."""
    scripts = list(simple.heredocs)
    if _get_program_name(words[0]) == "eval":
        scripts.append(" ".join(words[1:]))
    for flag, script in itertools.pairwise(words):
        if re.fullmatch(r"-[a-z]*c", flag):
            scripts.append(script)
            break
    return scripts


def _is_change(verb: str, rest: list[str]) -> bool:
    if _DRY_RUN_OPTIONS & set(rest):
        return False
    if verb in _CHANGING_PROGRAMS:
        looks = _READ_ONLY_OPTIONS.get(verb)
        return looks is None or not any(map(looks.fullmatch, rest))
    if verb in {"python", "python3"} and rest[:2] == ["-m", "pip"]:
        return _is_change("pip", rest[2:])
    if verb == "git":
        return _is_git_change(rest)
    special = _CHANGE_CHECKS.get(verb)
    if special is not None:
        return special(rest)
    return _find_first_argument(rest) in _CHANGING_SUBCOMMANDS.get(verb, ())


def _get_program_name(word: str) -> str:
    """Return a command's name without the folder that it stands in."""
    return word.rpartition("/")[2]


def _find_first_argument(words: list[str]) -> str:
    """Return the first word that is no option, and no value of one."""
    before = ["", *words]
    pairs = zip(before, words, strict=False)
    return next((w for b, w in pairs if not w.startswith("-") and b not in _OPTIONS_WITH_VALUE), "")


def _is_git_change(rest: list[str]) -> bool:
    at = 0
    while at < len(rest) and rest[at].startswith("-"):
        at += 2 if rest[at] in {"-C", "-c", "--git-dir", "--work-tree"} else 1
    verb, words = "".join(rest[at : at + 1]), rest[at + 1 :]
    if verb not in _CHANGING_SUBCOMMANDS["git"]:
        return False
    if verb in {"branch", "tag"}:
        lists = any(word.split("=")[0] in _GIT_LIST_OPTIONS for word in words)
        return bool(words) and not lists
    if verb == "remote":
        return _find_first_argument(words) in _GIT_REMOTE_CHANGES
    if verb == "config" and len(words) == 1:
        return False
    if verb in {"clean", "add", "rm", "mv"} and any(
        re.fullmatch("-[a-z]*n[a-z]*", w) for w in words
    ):
        return False
    return not _GIT_READ_ONLY_WORDS.get(verb, frozenset()) & set(words)


def _is_tee_change(rest: list[str]) -> bool:
    return any(is_real_file(word) for word in rest if not word.startswith("-"))


def _build_in_place_check(verb: str) -> Callable[[list[str]], bool]:
    return lambda rest: any(map(_IN_PLACE_OPTIONS[verb].fullmatch, rest))


def _is_awk_change(rest: list[str]) -> bool:
    return ("-i", "inplace") in itertools.pairwise(rest) or "--include=inplace" in rest


def _is_curl_change(rest: list[str]) -> bool:
    if any(re.fullmatch("-[a-zA-Z]*O[a-zA-Z]*|--remote-name(-all)?", word) for word in rest):
        return True
    return any(map(is_real_file, _find_option_values(rest, "-[a-zA-Z]*?o", "--output")))


def _is_wget_change(rest: list[str]) -> bool:
    if "--spider" in rest:
        return False
    outputs = _find_option_values(rest, "-[a-zA-Z]*?O", "--output-document")
    return any(map(is_real_file, outputs)) if outputs else True


def _find_option_values(rest: list[str], short: str, long: str) -> list[str]:
    """Return the values of an option, attached to it or in a word of their own."""
    found = []
    for word, following in zip(rest, [*rest[1:], ""], strict=True):
        option = re.fullmatch(f"(?:{short}|{long}=|{long}$)(.*)", word, re.DOTALL)
        if option is not None:
            found.append(option[1] or following)
    return found


def _is_find_change(rest: list[str]) -> bool:
    if "-delete" in rest:
        return True
    runs = (at for at, word in enumerate(rest) if word in {"-exec", "-execdir", "-ok", "-okdir"})
    return any(
        any(_find_command_changes(SimpleCommand(words=_take_find_command(rest[at + 1 :]))))
        for at in runs
    )


def _take_find_command(words: list[str]) -> list[str]:
    """Return the words of a command that `find` runs, which ends with a semicolon or a plus."""
    return list(itertools.takewhile(lambda word: word not in {";", "+"}, words))


def _is_tar_change(rest: list[str]) -> bool:
    if {"--extract", "--get", "--create"} & set(rest):
        return True
    options = (word for at, word in enumerate(rest) if not at or re.match("-[^-]", word))
    return any(re.fullmatch("-?[a-zA-Z]*[xc][a-zA-Z]*", word) for word in options)


def _is_yarn_change(rest: list[str]) -> bool:
    return not rest or _find_first_argument(rest) in _CHANGING_SUBCOMMANDS["yarn"]


def _is_uv_change(rest: list[str]) -> bool:
    if rest[:1] == ["pip"]:
        return _find_first_argument(rest[1:]) in {"install", "uninstall", "sync"}
    return _find_first_argument(rest) in _CHANGING_SUBCOMMANDS["uv"]


def _is_go_change(rest: list[str]) -> bool:
    return _find_first_argument(rest) in _CHANGING_SUBCOMMANDS["go"] or rest[:2] == ["mod", "tidy"]


_CHANGE_CHECKS = {
    "tee": _is_tee_change,
    "sed": _build_in_place_check("sed"),
    "gsed": _build_in_place_check("sed"),
    "perl": _build_in_place_check("perl"),
    "awk": _is_awk_change,
    "gawk": _is_awk_change,
    "curl": _is_curl_change,
    "wget": _is_wget_change,
    "find": _is_find_change,
    "tar": _is_tar_change,
    "yarn": _is_yarn_change,
    "uv": _is_uv_change,
    "go": _is_go_change,
}


WRITE_TOOLS = split_words(
    "write edit multiedit notebookedit apply_patch patch write_file create_file edit_file "
    "replace insert file_change update_file delete_file"
)
EDITOR_TOOLS = frozenset({"str_replace_editor", "str_replace_based_edit_tool", "text_editor"})
EDITOR_CHANGES = frozenset(
    {"create", "str_replace", "insert", "delete", "write", "append", "undo_edit"}
)
SHELL_TOOLS = split_words(
    "bash shell exec_command local_shell local_shell_call run_shell_command "
    "command_execution execute_command run_command run_terminal_cmd terminal "
    "container.exec unified_exec"
)


def find_mutation(call: Call) -> Mutation | None:
    """Return the attempt to change something that a call is, if it is one."""
    name = call.name.lower()
    target = ", ".join(call.paths) or None
    if name in WRITE_TOOLS or (
        name in EDITOR_TOOLS and call.arguments.get("command") in EDITOR_CHANGES
    ):
        return Mutation(name=call.name, target=target, status=call.status, call=call.index)
    if name in SHELL_TOOLS and call.command is not None:
        found = next(find_changes(call.command), None)
        if found is not None:
            return Mutation(name=call.name, target=found, status=call.status, call=call.index)
    return None
