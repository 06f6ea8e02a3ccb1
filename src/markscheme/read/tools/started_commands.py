"""Commands that a program starts because an option, a setting or a variable says so.

`git -c core.pager=…`, `rg --pre …`, `man -P …` and `LESSOPEN=… less` run what they are given, so
the value is judged as a script of the shell.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Sequence

from markscheme.read.json_fields import split_words

_MAX_WORDS = 400
_COMMAND_VARIABLES = split_words(
    "GIT_EXTERNAL_DIFF GIT_PAGER GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS SSH_ASKPASS PAGER MANPAGER "
    "LESSOPEN LESSCLOSE PROMPT_COMMAND SYSTEMD_PAGER GIT_SEQUENCE_EDITOR GIT_PROXY_COMMAND "
    "RSYNC_RSH CVS_RSH MANOPT BAT_PAGER DELTA_PAGER AWS_PAGER GH_PAGER PSQL_PAGER"
)
# Words that may stand before or between variables.
_BEFORE_VARIABLES = split_words("env genv sudo doas export declare typeset -x -gx -i -E")
_VARIABLE = re.compile(r"(?P<name>[A-Z_]+)=(?P<value>.*)", re.DOTALL)
# Options whose value is a command: attached to a short option, after `=`, or the next word.
_OPTIONS = {
    "rg": ("", "--pre|--hostname-bin"),
    "ripgrep": ("", "--pre|--hostname-bin"),
    "man": ("P", "--pager"),
    "mapfile": ("C", ""),
    "readarray": ("C", ""),
    "git grep": ("O", "--open-files-in-pager"),
    "git difftool": ("x", "--extcmd"),
    "git ls-remote": ("", "--upload-pack|--exec"),
    "sort": ("", "--compress-program"),
    "bat": ("", "--pager"),
    "batcat": ("", "--pager"),
}
# Options whose value is never a word of its own.
# Programs whose name is no other word, so that they are a command also behind an unknown program.
_CHANGING_PROGRAMS = split_words("rm rmdir mv cp mkdir chmod chown shred unlink tee truncate")
_MAX_OPERANDS = 6
_ATTACHED_ONLY = frozenset(["git grep"])
_GIT_SETTING = re.compile(
    r"(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy)|pager\.[\w-]+|diff\.external"
    r"|sequence\.editor|interactive\.difffilter|credential(?:\..*)?\.helper"
    r"|(?:diff|difftool|mergetool|merge|filter|browser|man|gpg|trailer)\..*\.?(?:textconv|command"
    r"|cmd|driver|clean|smudge|process|program))=(?P<command>.*)",
    re.IGNORECASE | re.DOTALL,
)
_GIT_ALIAS = re.compile(r"alias\.[\w-]+=(?P<shell>!?)(?P<command>.*)", re.DOTALL)
_GIT_TRUTHS = frozenset(["", "true", "false"])


def find_variable_commands(words: Sequence[str]) -> list[str]:
    """Return the commands in the variables that are set before a command."""
    commands = []
    for word in words[:_MAX_WORDS]:
        match = _VARIABLE.fullmatch(word)
        if match is not None and match["name"] in _COMMAND_VARIABLES:
            commands.append(match["value"].lstrip("|-"))
        elif re.match(r"\w+=", word) is None and word not in _BEFORE_VARIABLES:
            break
    return [command for command in commands if command.strip()]


def find_option_commands(name: str, words: Sequence[str]) -> list[str]:
    """Return the commands in the options of a program, or of a sub-command such as `git grep`."""
    if name not in _OPTIONS:
        return []
    short, long = _OPTIONS[name]
    parts = [f"-{short}(?P<attached>.*)" if short else "", f"(?:{long})(?:=(?P<value>.*))?"]
    pattern = re.compile("|".join(filter(None, parts if long else parts[:1])), re.DOTALL)
    commands = []
    for word, following in itertools.zip_longest(words[:_MAX_WORDS], words[1:], fillvalue=""):
        match = pattern.fullmatch(word)
        if match is not None:
            value = next(filter(None, match.groupdict().values()), "")
            commands.append(value or ("" if name in _ATTACHED_ONLY else following))
    return [command for command in commands if command]


def find_handed_commands(words: Sequence[str], *, after_dashes: bool) -> list[str]:
    """Return the command that an unknown program is handed: `with-lock a.lock rm x`, `run -- rm x`.

    A command begins with a program that surely changes something, or, if `after_dashes` is set,
    behind `--`. The value of an option is none, and one word alone may be a name.
    """
    words = words[:_MAX_WORDS]
    if after_dashes and "--" in words:
        return [shlex.join(words[words.index("--") + 1 :])]
    before = ""
    for at, word in enumerate(words[:_MAX_OPERANDS]):
        is_program = word.rpartition("/")[2] in _CHANGING_PROGRAMS and (
            before[:1] != "-" or before == "--"
        )
        if is_program and len(words) > at + 1:
            return [shlex.join(words[at:])]
        before = word
    return []


def find_git_commands(options: Sequence[str], verb: str, rest: Sequence[str]) -> list[str]:
    """Return the commands that the settings before a verb of git, or its options, start."""
    commands = []
    for option in options[:_MAX_WORDS]:
        alias = _GIT_ALIAS.fullmatch(option)
        setting = _GIT_SETTING.fullmatch(option)
        if alias is not None:
            commands.append(f"{'' if alias['shell'] else 'git '}{alias['command']}")
        elif setting is not None and setting["command"] not in _GIT_TRUTHS:
            commands.append(setting["command"])
    if verb == "submodule" and "foreach" in rest:
        after = rest[rest.index("foreach") + 1 :]
        commands.append(" ".join(itertools.dropwhile(lambda word: word[:1] == "-", after)))
    return [*commands, *find_option_commands(f"git {verb}", rest)]
