"""Programs whose options need more than a table: curl, wget, tar, git, sed, awk, find, editors.

Each judge returns what the program changes, starts, or hides; a program without a judge here is
looked up in the tables of `programs`.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Callable, Iterable, Sequence

from markscheme.read.json_fields import split_words
from markscheme.read.tools.code import judge_awk, judge_editor, judge_sed
from markscheme.read.tools.findings import Findings, shorten_code
from markscheme.read.tools.interpreters import read_printed_text
from markscheme.read.tools.programs import (
    Effect,
    find_option_values,
    is_dry_run,
    is_known_program,
    is_real_file,
    judge_program,
)
from markscheme.read.tools.runner_programs import RUNNER_JUDGES, runs_script_that_writes
from markscheme.read.tools.shell import SimpleCommand
from markscheme.read.tools.started_commands import find_git_commands, find_option_commands

_MAX_WORDS = 400
# HTTPie takes any word in capitals for a method, and xh the common ones in any case.
_METHOD = re.compile(r"[A-Z]+|get|head|options|post|put|patch|delete")
_HARMLESS_METHODS = split_words("GET HEAD OPTIONS TRACE PROPFIND")
_SED_IN_PLACE = re.compile(r"-[nErsuz]*i.*|--in-place(=.*)?", re.DOTALL)
_RUBY_IN_PLACE = re.compile(r"-[nplaw0-9]*i([.~_].*)?")
_PERL_IN_PLACE = re.compile(r"-[nEeplawst0-9]*i([.~_].*)?")
_CURL_OUTPUTS = (
    r"--(?:output|cookie-jar|dump-header|trace|trace-ascii|stderr|etag-save|libcurl|hsts|alt-svc)"
)
_DATA_ITEM = re.compile(r"[\w\-\[\].]+(:?=@?|@)(?!=).*", re.DOTALL)
_GIT_LIST_OPTIONS = split_words(
    "-l --list -a --all -r --remotes -v -vv --contains --no-contains --merged --no-merged "
    "--points-at --show-current --sort --format -n --verify"
)
_GIT_CONFIG_READS = split_words(
    "--get --get-all --get-regexp --get-urlmatch --list -l list get --get-color --get-colorbool"
)
_GIT_VALUES = split_words("-C -c --git-dir --work-tree --exec-path --namespace --config-env")
_APPLY_READS = split_words("--check --stat --numstat --summary")


def judge_special_program(
    name: str, words: Sequence[str], simple: SimpleCommand
) -> Findings | None:
    """Return what a program with a judge of its own does; `None` if it has none."""
    judge = _JUDGES.get(name)
    return None if judge is None else judge(list(words[:_MAX_WORDS]), simple)


def judge_command(name: str, words: Sequence[str], simple: SimpleCommand) -> Findings:
    """Return what a program does, by its own judge or by the tables."""
    special = judge_special_program(name, words, simple)
    if special is not None:
        return special
    found = Findings(scripts=find_option_commands(name, words))
    effect = judge_program(name, words)
    if effect is Effect.CHANGE:
        found.changes.append(_show(name, words))
    elif effect is Effect.UNKNOWN:
        found.programs.append(_name_program(name, words))
    return found


def _name_program(name: str, words: Sequence[str]) -> str:
    """Name an unknown program; of a known one, its sub-command is what is not known."""
    verb = next((word for word in words[:5] if word[:1] != "-"), "")
    return shorten_code(f"{name} {verb}" if verb and is_known_program(name) else name)


def _show(name: str, words: Sequence[str]) -> str:
    return shorten_code(" ".join([name, *words]))


def _change_if(name: str, words: Sequence[str], changes: object) -> Findings:
    return Findings(changes=[_show(name, words)]) if changes else Findings()


def _judge_curl(words: list[str], simple: SimpleCommand) -> Findings:
    del simple
    if is_dry_run(words):
        return Findings()
    if any(re.fullmatch(r"-[a-zA-Z]*O[a-zA-Z]*|--remote-name(-all)?", word) for word in words):
        return _change_if("curl", words, changes=True)
    files = _find_short_values(words, r"-[a-zA-Z]*?[ocD]", _CURL_OUTPUTS)
    if any(map(is_real_file, files)):
        return _change_if("curl", words, changes=True)
    if _find_short_values(words, r"-[a-zA-Z]*?K", "--config"):
        return Findings(doubts=["options of curl in a file that the log does not show"])
    methods = _find_short_values(words, r"-[a-zA-Z]*?X", "--request")
    if methods:
        return _change_if("curl", words, methods[-1].upper() not in _HARMLESS_METHODS)
    sends = any(
        re.fullmatch(
            r"-[a-zA-Z]*?[dFT].*|--(data\S*|json|form\S*|upload-file|mail-\S+"
            r"|url-query-data)(=.*)?",
            word,
            re.DOTALL,
        )
        for word in words
        if not word.startswith("-H")
    )
    as_query = any(re.fullmatch(r"-[a-zA-Z]*G[a-zA-Z]*|--get|-[a-zA-Z]*I|--head", w) for w in words)
    return _change_if("curl", words, sends and not as_query)


def _judge_wget(words: list[str], simple: SimpleCommand) -> Findings:
    del simple
    if "--spider" in words or is_dry_run(words):
        return Findings()
    if any(re.match(r"--(post|body|method=(?!GET|HEAD))", word) for word in words):
        return _change_if("wget", words, changes=True)
    outputs = _find_short_values(words, r"-[a-zA-Z]*?O", "--output-document")
    changes = any(map(is_real_file, outputs)) if outputs else bool(words)
    return _change_if("wget", words, changes)


def _find_short_values(words: Sequence[str], short: str, long: str) -> list[str]:
    """Return the values of an option, attached to it or in a word of their own."""
    values = []
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        option = re.fullmatch(f"(?:{short}|{long}=|{long}$)(.*)", word, re.DOTALL)
        if option is not None:
            values.append(option[1] or following)
    return values


def _judge_httpie(words: list[str], simple: SimpleCommand) -> Findings:
    """`http POST url`, or data items such as `name=value`, which make it a POST."""
    del simple
    plain = [word for word in words if not word.startswith("-")]
    if "--download" in words or any(map(is_real_file, find_option_values(words, "-o|--output"))):
        return _change_if("http", words, changes=True)
    if plain and re.fullmatch(_METHOD, plain[0]):
        return _change_if("http", words, plain[0].upper() not in _HARMLESS_METHODS)
    sends = any(_DATA_ITEM.fullmatch(word) and "==" not in word for word in plain[1:])
    return _change_if("http", words, sends)


def _judge_code_host(name: str) -> Callable[[list[str], SimpleCommand], Findings]:
    def judge(words: list[str], simple: SimpleCommand) -> Findings:
        del simple
        plain = [word for word in words if not word.startswith("-")]
        if plain[:1] == ["api"]:
            return _judge_api_call(name, words)
        effect = judge_program(name, words)
        if effect is Effect.UNKNOWN:
            return Findings(programs=[_name_program(name, words)])
        return _change_if(name, words, effect is Effect.CHANGE)

    return judge


def _judge_api_call(name: str, words: Sequence[str]) -> Findings:
    """Judge `gh api`: fields make it a POST; a GraphQL query reads, a GraphQL mutation does not."""
    methods = _find_short_values(words, "-X", "--method")
    fields = _find_short_values(words, "-[fF]", "--(?:raw-)?field")
    if "graphql" in words:
        text = " ".join(fields)
        return _change_if(name, words, re.search(r"\bmutation\b", text))
    if methods:
        return _change_if(name, words, methods[-1].upper() not in _HARMLESS_METHODS)
    return _change_if(name, words, fields or "--input" in words)


def _judge_tar(words: list[str], simple: SimpleCommand) -> Findings:
    del simple
    if {"--extract", "--get", "--create", "--append", "--update", "--delete"} & set(words):
        return _change_if("tar", words, changes=True)
    options = (word for at, word in enumerate(words) if not at or re.match("-[^-]", word))
    changes = any(re.fullmatch("-?[a-zA-Z]*[xcru][a-zA-Z]*", word) for word in options)
    prints = any(re.fullmatch(r"-?[a-zA-Z]*x[a-zA-Z]*O[a-zA-Z]*|--to-stdout", w) for w in words)
    creates = any(re.fullmatch(r"-?[a-zA-Z]*[xru][a-zA-Z]*", word) for word in words[:1])
    streams = not creates and _find_short_values(words, r"-?[a-zA-Z]*f", "--file")[:1] == ["-"]
    return _change_if("tar", words, changes and not prints and not streams)


def _judge_cpio(words: list[str], simple: SimpleCommand) -> Findings:
    del simple
    lists = any(re.fullmatch(r"-[a-z]*t[a-z]*|--list", word) for word in words)
    return _change_if("cpio", words, not lists)


def _judge_dd(words: list[str], simple: SimpleCommand) -> Findings:
    del simple
    outputs = [word[len("of=") :] for word in words if word.startswith("of=")]
    return _change_if("dd", words, any(map(is_real_file, outputs)))


def _judge_tee(words: list[str], simple: SimpleCommand) -> Findings:
    del simple
    files = [word for word in words if not word.startswith("-")]
    return Findings(changes=[word for word in files if is_real_file(word)])


def _judge_find(words: list[str], simple: SimpleCommand) -> Findings:
    del simple
    found = _change_if("find", words, "-delete" in words)
    at = 0
    while at < len(words):
        if words[at] in {"-exec", "-execdir", "-ok", "-okdir"}:
            # The command that `find` runs ends with a semicolon or a plus.
            after = itertools.takewhile(lambda word: word not in {";", "+"}, words[at + 1 :])
            inner = list(after)
            found.scripts.append(shlex.join(inner))
            at += len(inner)
        elif words[at] in {"-fprint", "-fprint0", "-fprintf", "-fls"}:
            target = "".join(words[at + 1 : at + 2])
            found.changes += [target] if is_real_file(target) else []
        at += 1
    return found


def _judge_fd(words: list[str], simple: SimpleCommand) -> Findings:
    del simple
    for at, word in enumerate(words):
        if word in {"-x", "--exec", "-X", "--exec-batch"}:
            return Findings(scripts=[shlex.join(words[at + 1 :])])
    return Findings()


def _judge_sed(words: list[str], simple: SimpleCommand) -> Findings:
    del simple
    if any(map(_SED_IN_PLACE.fullmatch, words)) and not is_dry_run(words):
        return _change_if("sed", words, changes=True)
    scripts = _find_short_values(words, r"-[nErsuz]*e", "--expression")
    if not scripts and not any(re.match(r"-[nErsuz]*f|--file", word) for word in words):
        scripts = [word for word in words if not word.startswith("-")][:1]
    return merge_findings(map(judge_sed, scripts))


def _judge_awk(words: list[str], simple: SimpleCommand) -> Findings:
    del simple
    if ("-i", "inplace") in itertools.pairwise(words) or "--include=inplace" in words:
        return _change_if("awk", words, changes=True)
    at = 0
    while at < len(words) and words[at].startswith("-") and len(words[at]) > 1:
        if words[at].startswith(("-f", "--file")):
            return Findings(programs=[_show("awk", words[at : at + 2])])
        if words[at] in {"-e", "--source"}:
            return judge_awk("".join(words[at + 1 : at + 2]))
        at += 2 if words[at] in {"-F", "-v", "-i", "-l", "--assign"} else 1
    return judge_awk(words[at]) if at < len(words) else Findings()


def _judge_editor_command(name: str) -> Callable[[list[str], SimpleCommand], Findings]:
    def judge(words: list[str], simple: SimpleCommand) -> Findings:
        if is_dry_run(words) or {"-R", "-M"} & set(words):
            return Findings()
        scripts = [
            *(word[1:] for word in words if word.startswith("+") and len(word) > 1),
            *_find_short_values(words, r"-[a-zA-Z]*c", "--cmd"),
            *simple.heredocs,
        ]
        if not scripts and simple.piped and simple.source is not None:
            printed = read_printed_text(simple.source.words)
            scripts = [] if printed is None else [printed]
        if not scripts or any(re.fullmatch(r"-[a-zA-Z]*S", word) for word in words):
            return _change_if(name, words, changes=True)
        return merge_findings(map(judge_editor, scripts))

    return judge


def _judge_stream_language(name: str, pattern: re.Pattern[str]) -> Callable[[list[str]], bool]:
    del name
    return lambda words: any(map(pattern.fullmatch, words))


EDITS_IN_PLACE: dict[str, Callable[[list[str]], bool]] = {
    "perl": _judge_stream_language("perl", _PERL_IN_PLACE),
    "ruby": _judge_stream_language("ruby", _RUBY_IN_PLACE),
}


def merge_findings(parts: Iterable[Findings]) -> Findings:
    """Return all findings in one."""
    found = Findings()
    for part in parts:
        found.changes += part.changes
        found.doubts += part.doubts
        found.programs += part.programs
        found.scripts += part.scripts
    return found


def _judge_git(words: list[str], simple: SimpleCommand) -> Findings:
    del simple
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _GIT_VALUES else 1
    verb, rest = "".join(words[at : at + 1]), words[at + 1 :]
    scripts = find_git_commands(words[:at], verb, rest)
    if scripts:
        return merge_findings([Findings(scripts=scripts), _judge_git_verb(words, verb, rest)])
    return _judge_git_verb(words, verb, rest)


def _judge_git_verb(words: list[str], verb: str, rest: list[str]) -> Findings:
    if is_dry_run(rest):
        return Findings()
    if verb in _GIT_SPECIAL:
        return _change_if("git", words, _GIT_SPECIAL[verb](rest))
    effect = judge_program("git", [verb, *rest] if verb else [])
    if effect is Effect.UNKNOWN:
        return Findings(programs=[_name_program("git", words)])
    outputs = find_option_values(rest, "--output|-o") if verb in {"diff", "log", "show"} else []
    return _change_if("git", words, effect is Effect.CHANGE or any(map(is_real_file, outputs)))


def _changes_refs(rest: list[str]) -> bool:
    """`git branch` and `git tag` list without a name, and with an option for lists."""
    only_lists = any(word.split("=")[0] in _GIT_LIST_OPTIONS for word in rest)
    deletes = any(re.fullmatch(r"-[a-zA-Z]*[dDmMcC]|--delete|--move|--copy", word) for word in rest)
    return bool(rest) and (deletes or not only_lists)


def _changes_config(rest: list[str]) -> bool:
    """`git config NAME` prints the value; with a second word it sets it."""
    if _GIT_CONFIG_READS & set(rest):
        return False
    plain = [word for word in rest if not word.startswith("-")]
    changing = any(re.match(r"--(unset|add|replace|remove|rename|edit)|-e$", word) for word in rest)
    return changing or len(plain) > 1


_GIT_SPECIAL: dict[str, Callable[[list[str]], bool]] = {
    "branch": _changes_refs,
    "tag": _changes_refs,
    "config": _changes_config,
    "apply": lambda rest: not _APPLY_READS & set(rest),
    "clean": lambda rest: not any(re.fullmatch("-[a-z]*n[a-z]*", word) for word in rest),
    "add": lambda rest: not any(re.fullmatch("-[a-zA-Z]*n[a-zA-Z]*", word) for word in rest),
    "rm": lambda rest: not any(re.fullmatch("-[a-z]*n[a-z]*", word) for word in rest),
    "mv": lambda rest: not any(re.fullmatch("-[a-z]*n[a-z]*", word) for word in rest),
    "push": lambda rest: "-n" not in rest,
    "archive": lambda rest: bool(find_option_values(rest, "-o|--output")),
    "format-patch": lambda rest: "--stdout" not in rest,
    "hash-object": lambda rest: "-w" in rest,
    "symbolic-ref": lambda rest: (
        len([word for word in rest if not word.startswith("-")]) > 1 or "-d" in rest
    ),
    "notes": lambda rest: bool(rest) and rest[0] not in {"list", "show"},
    "worktree": lambda rest: bool(rest) and rest[0] != "list",
    "submodule": lambda rest: bool(rest) and rest[0] not in {"status", "summary", "foreach"},
    "lfs": lambda rest: (
        bool(rest) and rest[0] not in {"ls-files", "status", "env", "logs", "version"}
    ),
    "sparse-checkout": lambda rest: bool(rest) and rest[0] != "list",
    "replace": lambda rest: bool(rest) and rest[0] not in {"-l", "--list"},
}


def _judge_package_runner(name: str) -> Callable[[list[str], SimpleCommand], Findings]:
    """`yarn prettier` runs the program `prettier` if `yarn` has no such command itself."""

    def judge(words: list[str], simple: SimpleCommand) -> Findings:
        del simple
        effect = judge_program(name, words)
        if effect is Effect.UNKNOWN and words and is_known_program(words[0]):
            return Findings(scripts=[shlex.join(words)])
        named = list(itertools.dropwhile(lambda word: word[:1] == "-", words))
        if effect is Effect.UNKNOWN and runs_script_that_writes(named):
            return _change_if(name, words, changes=True)
        if effect is Effect.UNKNOWN:
            return Findings(programs=[_name_program(name, words)])
        installs = name == "yarn" and all(word.startswith("--") for word in words)
        asks = is_dry_run(words)
        return _change_if(name, words, effect is Effect.CHANGE or (installs and not asks))

    return judge


def _judge_trap(words: list[str], simple: SimpleCommand) -> Findings:
    del simple
    plain = [word for word in words if not word.startswith("-")]
    return Findings(scripts=plain[:1] if len(plain) > 1 else [])


def _judge_json_tool(words: list[str]) -> Findings:
    files = [word for word in words if not word.startswith("-")]
    return _change_if("python -m json.tool", words, len(files) > 1)


_EDITORS = ("vi", "vim", "nvim", "gvim", "ex", "ed", "red")
_JUDGES: dict[str, Callable[[list[str], SimpleCommand], Findings]] = {
    "curl": _judge_curl,
    "wget": _judge_wget,
    "http": _judge_httpie,
    "https": _judge_httpie,
    "xh": _judge_httpie,
    "gh": _judge_code_host("gh"),
    "glab": _judge_code_host("glab"),
    "tar": _judge_tar,
    "bsdtar": _judge_tar,
    "gtar": _judge_tar,
    "cpio": _judge_cpio,
    "dd": _judge_dd,
    "tee": _judge_tee,
    "find": _judge_find,
    "gfind": _judge_find,
    "fd": _judge_fd,
    "fdfind": _judge_fd,
    "sed": _judge_sed,
    "gsed": _judge_sed,
    "awk": _judge_awk,
    "gawk": _judge_awk,
    "mawk": _judge_awk,
    "nawk": _judge_awk,
    "git": _judge_git,
    "yarn": _judge_package_runner("yarn"),
    "pnpm": _judge_package_runner("pnpm"),
    "trap": _judge_trap,
    **{name: _judge_editor_command(name) for name in _EDITORS},
    **RUNNER_JUDGES,
}

_HARMLESS_MODULES = split_words(
    "platform calendar this sysconfig site tokenize ast dis timeit inspect trace pyclbr tabnanny "
    "symtable pickletools mimetypes locale json base64 quopri uuid string textwrap"
)
_CHANGING_MODULES = split_words(
    "venv virtualenv ensurepip compileall py_compile lib2to3 2to3 build twine nbconvert "
    "easy_install"
)


def judge_python_module(module: str, words: Sequence[str]) -> Findings:
    """Return what `python -m MODULE` does."""
    if is_dry_run(words) or module in _HARMLESS_MODULES:
        return Findings()
    if module == "json.tool":
        return _judge_json_tool(list(words))
    if module in {"zipfile", "tarfile"}:
        writes = any(re.match(r"-[ec]|--(extract|create)", word) for word in words)
        return _change_if(f"python -m {module}", words, writes)
    if module in _CHANGING_MODULES:
        return _change_if(f"python -m {module}", words, changes=True)
    program = module.replace("_", "-") if is_known_program(module.replace("_", "-")) else module
    if is_known_program(program):
        return judge_command(program, words, SimpleCommand())
    return Findings(programs=[shorten_code(f"python -m {module}")])
