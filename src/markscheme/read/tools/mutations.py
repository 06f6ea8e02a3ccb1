"""Find attempts to change something: tools that write, and shell commands that do.

The tables are data: changing programs, their sub-commands, and the options with which a command
only reads. A command that is not in them is taken to change nothing, unless it redirects its output
to a file. The tool names are those of the supported agents; a rubric names tools of MCP servers.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

from markscheme.read.json_fields import split_words
from markscheme.read.tools.arguments import SHELL_PROGRAMS, find_patched_files
from markscheme.read.tools.shell import SimpleCommand, is_real_file, parse_simple_commands
from markscheme.vocabulary import Call, Mutation

WRITE_TOOLS = split_words(
    "write edit multiedit notebookedit apply_patch patch write_file create_file edit_file "
    "replace insert file_change update_file delete_file create append undo_edit writefile editfile "
    "write_to_file replace_in_file apply_diff insert_content search_and_replace search_replace "
    "editor new_rule generate_image generateimage delete developer__write developer__edit"
)
EDITOR_TOOLS = split_words(
    "str_replace_editor str_replace_based_edit_tool text_editor file_editor planning_file_editor "
    "developer__text_editor text_editor_code_execution"
)
EDITOR_CHANGES = frozenset(
    {"create", "str_replace", "insert", "delete", "write", "append", "undo_edit"}
)
SHELL_TOOLS = split_words(
    "bash shell exec_command local_shell local_shell_call run_shell_command "
    "command_execution execute_command run_command run_terminal_cmd terminal "
    "container.exec unified_exec shell_command write_stdin execute_bash run run_ipython "
    "execute_ipython_cell bash_command run_commands attempt_completion write_bash powershell "
    "developer__shell"
)
_CHANGING_PROGRAMS = split_words(
    "rm rmdir mv cp mkdir touch ln chmod chown chgrp dd truncate install rsync unlink "
    "shred patch apply_patch applypatch mkfifo unzip gunzip gzip zip"
)
_SHELL_KEYWORDS = split_words("then do else elif if while until ! { } time")
# Programs that run another command, with their options that take a word of their own.
_WRAPPER_OPTIONS = {
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
# Options with which a changing program only prints.
_READ_ONLY_OPTIONS = {
    "unzip": re.compile("-[a-zA-Z]*[lptvZ][a-zA-Z]*"),
    "gunzip": re.compile("-[a-z]*[clt][a-z]*|--(?:stdout|to-stdout|list|test)"),
    "gzip": re.compile("-[a-z]*[clt][a-z]*|--(?:stdout|to-stdout|list|test)"),
}
# Options and words with which a changing sub-command of git only reads.
_GIT_READ_ONLY_WORDS = {
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
_SED_IN_PLACE = re.compile(r"-[nErsuz]*i.*|--in-place(=.*)?")
_PERL_IN_PLACE = re.compile(r"-[nEeplawst0]*i([.~_].*)?")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
_HARMLESS_REDIRECT = re.compile(r"[\d&]?>>? ?(?:/dev/null|&\d)(?=[\s;|)]|$)")
_OTHER_PROGRAMS = split_words("tee sed gsed perl awk gawk curl wget find tar python")
_SUSPICIOUS_NAMES = (*_CHANGING_PROGRAMS, *_SUBCOMMANDS, *sorted(_OTHER_PROGRAMS))
# A script that changes something has a redirection, a name of the tables, or quotes that hide one.
# This search is much faster than parsing the script, and most scripts only read.
_SUSPICIOUS_SCRIPT = re.compile(
    rf"[>\\]|\w['\"]+\w|\b(?:{'|'.join(map(re.escape, _SUSPICIOUS_NAMES))})"
)
_MAX_SHOWN_LENGTH = 200


def find_mutation(call: Call) -> Mutation | None:
    """Return the mutation that a call attempts; `None` if it changes nothing."""
    name = call.name.lower()
    target = ", ".join(call.paths) or None
    if name in WRITE_TOOLS or (
        name in EDITOR_TOOLS and call.arguments.get("command") in EDITOR_CHANGES
    ):
        return Mutation(name=call.name, target=target, status=call.status, call=call.index)
    if name in SHELL_TOOLS and call.command is not None:
        change = next(find_changes(call.command), None)
        if change is not None:
            return Mutation(name=call.name, target=change, status=call.status, call=call.index)
    return None


def find_changes(script: str) -> Iterator[str]:
    """Yield what a shell script would change; parse it only if a quick search finds a suspect."""
    if _SUSPICIOUS_SCRIPT.search(_HARMLESS_REDIRECT.sub("", script)) is not None:
        yield from find_all_changes(script)


def find_all_changes(script: str) -> Iterator[str]:
    """Yield what a shell script would change: the changing command, or the file redirected to."""
    for simple in parse_simple_commands(script):
        yield from _find_command_changes(simple)


def _find_command_changes(simple: SimpleCommand) -> Iterator[str]:
    words = _strip_wrappers(simple.words)
    yield from (target for target in simple.writes if is_real_file(target))
    if not words:
        return
    verb = _get_program_name(words[0])
    if verb in SHELL_PROGRAMS or verb == "eval":
        for script in _find_inner_scripts(words, simple):
            for inner in parse_simple_commands(script, simple.depth + 1):
                yield from _find_command_changes(inner)
    elif _is_change(verb, words[1:]):
        files = [path for body in simple.heredocs for path in find_patched_files(body)]
        yield ", ".join(files) if files else " ".join(words)[:_MAX_SHOWN_LENGTH]


def _find_inner_scripts(words: list[str], simple: SimpleCommand) -> list[str]:
    """Return the scripts that a shell runs: `bash -c …`, `eval …`, `sh <<EOF`."""
    scripts = list(simple.heredocs)
    if _get_program_name(words[0]) == "eval":
        scripts.append(" ".join(words[1:]))
    for flag, script in itertools.pairwise(words):
        if re.fullmatch(r"-[a-z]*c", flag):
            scripts.append(script)
            break
    return scripts


def iter_commands(script: str, depth: int = 0) -> Iterator[list[str]]:
    """Yield the words of each command of a script, without those that only read from a pipe."""
    for simple in parse_simple_commands(script, depth):
        words = _strip_wrappers(simple.words)
        if not words or simple.piped:
            continue
        words[0] = _get_program_name(words[0])
        runs_scripts = words[0] in SHELL_PROGRAMS or words[0] == "eval"
        inner_scripts = _find_inner_scripts(words, simple) if runs_scripts else []
        for inner in inner_scripts:
            yield from iter_commands(inner, simple.depth + 1)
        if not inner_scripts:
            yield words


def _strip_wrappers(words: list[str]) -> list[str]:
    """Return the command itself, without keywords, assignments and wrappers as `sudo -u me`."""
    rest = list(words)
    while rest:
        head = _get_program_name(rest[0])
        if head in _SHELL_KEYWORDS or _ASSIGNMENT.fullmatch(rest[0]):
            rest = rest[1:]
        elif head == "command" and "".join(rest[1:2]) in {"-v", "-V"}:
            # It only asks where a command is.
            return []
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
    # The first argument of `timeout` is the duration.
    if wrapper == "timeout":
        at += 1
    return words[at:]


def _get_program_name(word: str) -> str:
    """Return the name of a program without its folder."""
    return word.rpartition("/")[2]


def _is_change(verb: str, rest: list[str]) -> bool:
    if _DRY_RUN_OPTIONS & set(rest):
        return False
    if verb in _CHANGING_PROGRAMS:
        read_only = _READ_ONLY_OPTIONS.get(verb)
        return read_only is None or not any(map(read_only.fullmatch, rest))
    if verb in {"python", "python3"} and rest[:2] == ["-m", "pip"]:
        return _is_change("pip", rest[2:])
    if verb == "git":
        return _is_git_change(rest)
    check = _CHANGE_CHECKS.get(verb)
    return _has_changing_subcommand(verb, rest) if check is None else check(rest)


def _has_changing_subcommand(verb: str, rest: list[str]) -> bool:
    return _find_first_argument(rest) in _CHANGING_SUBCOMMANDS.get(verb, ())


def _find_first_argument(words: list[str]) -> str:
    """Return the first word that is neither an option nor the value of one."""
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
        only_lists = any(word.split("=")[0] in _GIT_LIST_OPTIONS for word in words)
        return bool(words) and not only_lists
    if verb == "remote":
        return _find_first_argument(words) in _GIT_REMOTE_CHANGES
    # `git config NAME` prints the value.
    if verb == "config" and len(words) == 1:
        return False
    if verb in {"clean", "add", "rm", "mv"} and any(
        re.fullmatch("-[a-z]*n[a-z]*", w) for w in words
    ):
        return False
    return not _GIT_READ_ONLY_WORDS.get(verb, frozenset()) & set(words)


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
    values = []
    for word, following in zip(rest, [*rest[1:], ""], strict=True):
        option = re.fullmatch(f"(?:{short}|{long}=|{long}$)(.*)", word, re.DOTALL)
        if option is not None:
            values.append(option[1] or following)
    return values


def _is_find_change(rest: list[str]) -> bool:
    if "-delete" in rest:
        return True
    for at, word in enumerate(rest):
        if word in {"-exec", "-execdir", "-ok", "-okdir"}:
            # The command that `find` runs ends with a semicolon or a plus.
            words = itertools.takewhile(lambda word: word not in {";", "+"}, rest[at + 1 :])
            if any(_find_command_changes(SimpleCommand(words=list(words)))):
                return True
    return False


def _is_tar_change(rest: list[str]) -> bool:
    if {"--extract", "--get", "--create"} & set(rest):
        return True
    options = (word for at, word in enumerate(rest) if not at or re.match("-[^-]", word))
    return any(re.fullmatch("-?[a-zA-Z]*[xc][a-zA-Z]*", word) for word in options)


def _is_uv_change(rest: list[str]) -> bool:
    if rest[:1] == ["pip"]:
        return _find_first_argument(rest[1:]) in {"install", "uninstall", "sync"}
    return _has_changing_subcommand("uv", rest)


_CHANGE_CHECKS: dict[str, Callable[[list[str]], bool]] = {
    "tee": lambda rest: any(is_real_file(word) for word in rest if not word.startswith("-")),
    "sed": lambda rest: any(map(_SED_IN_PLACE.fullmatch, rest)),
    "gsed": lambda rest: any(map(_SED_IN_PLACE.fullmatch, rest)),
    "perl": lambda rest: any(map(_PERL_IN_PLACE.fullmatch, rest)),
    "awk": _is_awk_change,
    "gawk": _is_awk_change,
    "curl": _is_curl_change,
    "wget": _is_wget_change,
    "find": _is_find_change,
    "tar": _is_tar_change,
    "yarn": lambda rest: not rest or _has_changing_subcommand("yarn", rest),
    "uv": _is_uv_change,
    "go": lambda rest: rest[:2] == ["mod", "tidy"] or _has_changing_subcommand("go", rest),
}
