"""Programs that run commands or code of their own kind: redis-cli, ansible, manage.py, make, tests.

A program that may run anything stays an unknown one, unless its arguments say that it changes
something.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from markscheme.read.json_fields import split_words
from markscheme.read.tools.code import judge_code
from markscheme.read.tools.findings import Findings, shorten_code
from markscheme.read.tools.interpreters import read_printed_text
from markscheme.read.tools.programs import (
    Effect,
    find_option_values,
    is_dry_run,
    is_real_file,
    judge_program,
)
from markscheme.read.tools.shell import SimpleCommand

ProgramJudge = Callable[[list[str], SimpleCommand], Findings]
_ANSIBLE_SHELLS = split_words("shell command raw win_shell win_command expect")
_ANSIBLE_READS = split_words("ping setup debug gather_facts stat find slurp service_facts assert")
_REDIS_VALUES = split_words("-h -p -s -a -u -r -i -n -d -D -t --user --pass")
_WRITING_FLAG = re.compile(r"--fix(-\w+)?|--write|--update(-?[sS]napshots?)?|-u|-w|--in-place")
_SNAPSHOT_FLAG = re.compile(r"-u|--update(=.*)?|--update-?[sS]napshots?(=.*)?")
# Targets of `make` and scripts of packages that are named for a change; `format:check` only reads.
_CHANGING_TARGET = re.compile(
    r"(un)?install([-_].*)?|((dist|really|maintainer|mostly)?clean|mrproper|clobber|nuke|deploy|publish"
    r"|release|format|fmt|prettify|fix|autofix|migrate|seed|upload|destroy)"
    r"([-_:](?!check|dry|test|lint|notes|verify|diff|status).*)?|.*[-_:](fix|clean|deploy)"
)
_TASK_RUNNERS = ("ninja", "just", "task", "gulp", "grunt", "poe", "invoke", "inv", "doit", "mask")
_AGENTS = (
    *("claude", "codex", "gemini", "qwen", "opencode", "cursor-agent", "copilot", "amp"),
    *("droid", "aider", "crush", "cline", "auggie", "kimi", "openhands", "mini"),
)
_AGENT_READS = split_words("-v -h --list mcp config doctor auth version help models stats")
_REGENERATE_FLAG = re.compile(r"--(snapshot-update|force-regen|regen-all|update-goldens)")
_CMAKE_WRITES = re.compile(r"(dist)?clean|install|--install|-[BS].*|\.\.?/?")


def _describe(name: str, words: Sequence[str]) -> str:
    return shorten_code(" ".join([name, *words]))


def _judge_redis(words: list[str], simple: SimpleCommand) -> Findings:
    """Without a command among its words, redis-cli reads commands, one in a line."""
    if _skip_options(words) or is_dry_run(words):
        effect = judge_program("redis-cli", words)
        return Findings(changes=[_describe("redis-cli", words)] if effect is Effect.CHANGE else [])
    lines = [line for text in simple.heredocs for line in text.splitlines()]
    if not simple.heredocs and (simple.piped or simple.reads):
        source = simple.source.words if simple.source is not None and not simple.reads else []
        printed = read_printed_text(source)
        if printed is None:
            return Findings(doubts=["commands of redis-cli that the log does not show"])
        lines = printed.splitlines()
    found = Findings()
    for line in lines:
        inner = line.split()
        changing = judge_program("redis-cli", [word.lower() for word in inner]) is Effect.CHANGE
        found.changes += [_describe("redis-cli", inner)] if inner and changing else []
    return found


def _skip_options(words: Sequence[str]) -> list[str]:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _REDIS_VALUES else 1
    return list(words[at:])


def _judge_ansible(words: list[str], simple: SimpleCommand) -> Findings:
    del simple
    if is_dry_run(words) or {"--check", "-C", "--list-hosts"} & set(words):
        return Findings()
    modules = find_option_values(words, "-m|--module-name")
    module = modules[-1].rpartition(".")[2] if modules else "command"
    if module in _ANSIBLE_SHELLS:
        return Findings(scripts=find_option_values(words, "-a|--args"))
    return Findings(changes=[] if module in _ANSIBLE_READS else [_describe("ansible", words)])


def _judge_code_option(name: str, language: str, subcommand: str, option: str) -> ProgramJudge:
    """Judge a program with a sub-command that runs code: in an option, or in the next word."""

    def judge(words: list[str], simple: SimpleCommand) -> Findings:
        if words[:1] == [subcommand]:
            rest = words[1:]
            codes = find_option_values(rest, option) if option else rest[:1]
            codes = [*codes, *simple.heredocs]
            # A word without a space or a sign of code is the name of a file.
            if codes and re.search(r"[\s(]|\.\w+[!?]?$", codes[0]) and not _is_file(codes[0]):
                return judge_code(language, codes[0])
            return Findings(programs=[_describe(name, words[:2])])
        effect = judge_program(name, words)
        return Findings(
            changes=[_describe(name, words)] if effect is Effect.CHANGE else [],
            programs=[_describe(name, words[:1])] if effect is Effect.UNKNOWN else [],
        )

    return judge


def _is_file(word: str) -> bool:
    return re.fullmatch(r"[\w./-]+\.(rb|py)", word) is not None


def _judge_by_flag(name: str, pattern: re.Pattern[str]) -> ProgramJudge:
    """Judge a program that may run anything, and surely writes with one of these words."""

    def judge(words: list[str], simple: SimpleCommand) -> Findings:
        del simple
        if is_dry_run(words) or (name == "make" and {"-n", "-q", "--question"} & set(words)):
            return Findings()
        if any(map(pattern.fullmatch, words)):
            return Findings(changes=[_describe(name, words)])
        return Findings(programs=[name])

    return judge


def runs_script_that_writes(words: Sequence[str]) -> bool:
    """Return whether a script of a package changes something, by its name or by an option.

    `words` begin with the script, as in `run clean` or `run x -- --fix`.
    """
    script = [word for word in words if word[:1] != "-"][:2]
    named = script[1:] if script[:1] in (["run"], ["run-script"]) else script[:1]
    if is_dry_run(words):
        return False
    return any(map(_CHANGING_TARGET.fullmatch, named)) or any(map(_WRITING_FLAG.fullmatch, words))


def _judge_npm(words: list[str], simple: SimpleCommand) -> Findings:
    del simple
    effect = judge_program("npm", words)
    # Options before `--` are those of npm itself.
    end = words.index("--") if "--" in words else len(words)
    handed_on = [*(word for word in words[:end] if word[:1] != "-"), *words[end + 1 :]]
    if effect is Effect.CHANGE or (effect is Effect.UNKNOWN and runs_script_that_writes(handed_on)):
        return Findings(changes=[_describe("npm", words)])
    verb = next((word for word in words[:5] if word[:1] != "-"), "")
    return Findings(programs=[_describe("npm", [verb])] if effect is Effect.UNKNOWN else [])


def _judge_agent(name: str) -> ProgramJudge:
    """Judge a program that starts another agent, whose work the log does not show."""

    def judge(words: list[str], simple: SimpleCommand) -> Findings:
        is_asked = bool(words) or simple.piped or bool(simple.reads or simple.heredocs)
        if not is_asked or is_dry_run(words) or _AGENT_READS & set(words[:1]):
            return Findings(programs=[name])
        return Findings(
            doubts=[f"another agent, whose work is not shown: {_describe(name, words)}"]
        )

    return judge


def _judge_script_operands(words: list[str], simple: SimpleCommand) -> Findings:
    """Judge a program each of whose operands is a command, as `hyperfine 'rg x' 'grep x'`."""
    del simple
    return Findings(scripts=[word for word in words if word[:1] != "-"])


def _judge_second_operand(name: str, valued: str) -> ProgramJudge:
    """Judge a program whose second operand is the file that it writes, as `uniq IN OUT`."""

    def judge(words: list[str], simple: SimpleCommand) -> Findings:
        del simple
        operands, at = [], 0
        while at < len(words):
            is_option = words[at].startswith("-") and len(words[at]) > 1
            operands += [] if is_option else [words[at]]
            at += 2 if words[at] in valued.split() else 1
        writes = not is_dry_run(words) and any(map(is_real_file, operands[1:2]))
        return Findings(changes=[_describe(name, words)] if writes else [])

    return judge


RUNNER_JUDGES: dict[str, ProgramJudge] = {
    **dict.fromkeys(("redis-cli", "valkey-cli", "keydb-cli"), _judge_redis),
    "ansible": _judge_ansible,
    "manage.py": _judge_code_option("manage.py", "python", "shell", "-c|--command"),
    "django-admin": _judge_code_option("django-admin", "python", "shell", "-c|--command"),
    "rails": _judge_code_option("rails", "ruby", "runner", ""),
    "make": _judge_by_flag("make", _CHANGING_TARGET),
    "gmake": _judge_by_flag("gmake", _CHANGING_TARGET),
    **{name: _judge_by_flag(name, _CHANGING_TARGET) for name in _TASK_RUNNERS},
    "cmake": _judge_by_flag("cmake", _CMAKE_WRITES),
    "hyperfine": _judge_script_operands,
    "concurrently": _judge_script_operands,
    **{name: _judge_agent(name) for name in _AGENTS},
    "pytest": _judge_by_flag("pytest", _REGENERATE_FLAG),
    "jest": _judge_by_flag("jest", _SNAPSHOT_FLAG),
    "vitest": _judge_by_flag("vitest", _SNAPSHOT_FLAG),
    "npm": _judge_npm,
    "uniq": _judge_second_operand("uniq", "-f -s -w"),
    "xxd": _judge_second_operand("xxd", "-c -g -l -s -o -n -R"),
}
