"""`ProgramRule`: which sub-commands and options of a program change something, and which only read.

A rule is a line of a table. Its sub-commands are patterns, with `/` between words (`stash/list`,
`*/delete`); the longest match decides, and `*` alone is what holds for all others. Reading options
(`--check`, `-n`) come first, then options that write, then the sub-command. What no pattern fits is
not known, and is no change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from fnmatch import translate
from functools import lru_cache

from msgspec import Struct

from markscheme.read.json_fields import split_words

_MAX_WORDS = 400
_MAX_SUBCOMMAND_DEPTH = 5
_NON_FILE_TARGET = re.compile(
    r"/dev/(null|stdout|stderr|stdin|tty|fd/\d+)|\$null|nul:?|\d+-?|-", re.IGNORECASE
)
_DRY_RUN = re.compile(
    r"--(dry-?run|help|what-?if|just-print|noop)(=(?!none$|false$).*)?|-help|/\?"
    r"|-whatif(:\$true)?",
    re.IGNORECASE,
)
# `helm upgrade app chart --version 1.2` names a version; only alone does the option ask for one.
_VERSION_OPTIONS = ("--version", "-version")
# Options with free text, which may look like an option itself: `git commit -m --help`.
_TEXT_OPTION = re.compile(r"-[A-Za-z]*m|--(message|title|body|description|comment|notes?)")
# Options of many programs that take a word of their own before a sub-command.
_VALUED_OPTIONS = split_words(
    "--context --kubeconfig --namespace --cluster --profile --region --project --account --user "
    "--prefix --cwd --dir --directory --filter --workspace --repo --host --config --file --env "
    "--subscription --resource-group --output --format --log-level --color --package --app --org "
    "--url --server --token --registry --root --manifest-path --environment --stage --team "
    "--endpoint --endpoint-url --query --scope --target --settings --env-file --project-name "
    "--chdir --cache-dir --python --store --stack --zone --api-key --database --schema"
)


class Effect(Enum):
    """What a command does, as far as the tables know."""

    CHANGE = "change"
    READ = "read"
    UNKNOWN = "unknown"


class ProgramRule(Struct, frozen=True, kw_only=True):
    """What is known of some programs; the module's docstring explains the patterns.

    - `changes`, `reads`: sub-commands that change something, or only read;
    - `changing`, `reading`: options with which the program changes something, or only prints;
    - `outputs`: options whose value is a file that is written;
    - `valued`: options with a value that may stand before the sub-command;
    - `bare`: what the program does without any sub-command;
    - `by_verb`: the first verb among the sub-commands decides, as in `gcloud compute disks delete`.
    """

    programs: str
    changes: str = ""
    reads: str = ""
    changing: str = ""
    reading: str = ""
    outputs: str = ""
    valued: str = ""
    bare: Effect = Effect.UNKNOWN
    by_verb: bool = False


def is_real_file(target: str) -> bool:
    """Return whether writing to this target changes a file; `/dev/null` and `&1` are no files."""
    return bool(target) and _NON_FILE_TARGET.fullmatch(target) is None


def is_dry_run(words: Sequence[str]) -> bool:
    """Return whether an option before `--` says that the program only shows what it would do."""
    if len(words) == 1 and words[0] in _VERSION_OPTIONS:
        return True
    before = ""
    for word in words[:_MAX_WORDS]:
        if word == "--":
            return False
        is_value = _TEXT_OPTION.fullmatch(before) is not None
        if word[:1] in "-/" and not is_value and _DRY_RUN.fullmatch(word) is not None:
            return True
        before = word
    return False


def find_option_values(words: Sequence[str], pattern: str) -> list[str]:
    """Return the values of an option, attached to it with `=` or in a word of their own."""
    values = []
    for at, word in enumerate(words[:_MAX_WORDS]):
        option = compile_options(pattern).fullmatch(word)
        if option is not None:
            following = words[at + 1] if at + 1 < len(words) else ""
            values.append(following if option["value"] is None else option["value"])
    return values


@lru_cache(maxsize=2048)
def compile_options(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of options, which may have a value after `=`."""
    return re.compile(f"(?:{pattern})(?:=(?P<value>.*))?", re.DOTALL)


@lru_cache(maxsize=4096)
def _compile_word(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


class _Patterns:
    """The sub-commands of one list: exact ones in a set, those with `*` in a list."""

    def __init__(self, text: str) -> None:
        paths = [tuple(pattern.split("/")) for pattern in text.split()]
        self.exact = {path for path in paths if not any("*" in word for word in path)}
        self.open = [path for path in paths if path not in self.exact and path != ("*",)]
        self.fits_all = ("*",) in paths

    def measure_match(self, words: Sequence[str]) -> int:
        """Return how closely a pattern fits: 0 for the one that fits all, -1 for none."""
        best = 0 if self.fits_all else -1
        for length in range(min(len(words), _MAX_SUBCOMMAND_DEPTH), 0, -1):
            if tuple(words[:length]) in self.exact:
                best = max(best, 2 * length)
                break
        for path in self.open:
            if 2 * len(path) - 1 > best and len(path) <= len(words) and _fits(path, words):
                best = 2 * len(path) - 1
        return best

    def holds_word(self, word: str) -> bool:
        """Return whether a sub-command of the list begins with this word."""
        return any(path[0] == word for path in self.exact) or any(
            path[0] != "*" and _compile_word(path[0]).fullmatch(word) for path in self.open
        )


def _fits(path: tuple[str, ...], words: Sequence[str]) -> bool:
    return all(
        _compile_word(pattern).fullmatch(word) for pattern, word in zip(path, words, strict=False)
    )


@lru_cache(maxsize=1024)
def _build_patterns(text: str) -> _Patterns:
    return _Patterns(text)


def judge_by_rule(rule: ProgramRule, words: Sequence[str]) -> Effect:
    """Return what a program does with these arguments."""
    words = words[:_MAX_WORDS]
    if is_dry_run(words) or _has_option(rule.reading, words):
        return Effect.READ
    if _has_option(rule.changing, words):
        return Effect.CHANGE
    if rule.outputs and any(map(is_real_file, find_option_values(words, rule.outputs))):
        return Effect.CHANGE
    subcommand = _find_subcommand(rule, words)
    if not subcommand:
        return _judge_bare(rule, words)
    if rule.by_verb:
        return _judge_verbs(rule, subcommand)
    changes = _build_patterns(rule.changes).measure_match(subcommand)
    reads = _build_patterns(rule.reads).measure_match(subcommand)
    if changes < 0 and reads < 0:
        return Effect.UNKNOWN
    return Effect.CHANGE if changes > reads else Effect.READ


def _has_option(pattern: str, words: Sequence[str]) -> bool:
    return bool(pattern) and any(map(compile_options(pattern).fullmatch, words))


def _judge_bare(rule: ProgramRule, words: Sequence[str]) -> Effect:
    """Judge a program without a sub-command: with a table of reads it prints its help."""
    if rule.bare is not Effect.UNKNOWN and not words:
        return rule.bare
    if rule.changes == "*" and not rule.reads:
        return Effect.CHANGE
    return Effect.READ


def _judge_verbs(rule: ProgramRule, subcommand: Sequence[str]) -> Effect:
    """Let the last exact verb decide, then the first verb that a pattern with `*` fits."""
    words = [part for word in subcommand[:_MAX_SUBCOMMAND_DEPTH] for part in word.split(":")]
    changes, reads = _build_patterns(rule.changes), _build_patterns(rule.reads)
    for word in reversed(words):
        if (word,) in changes.exact:
            return Effect.CHANGE
        if (word,) in reads.exact:
            return Effect.READ
    for word in words:
        if any(_compile_word(path[0]).fullmatch(word) for path in changes.open):
            return Effect.CHANGE
        if any(_compile_word(path[0]).fullmatch(word) for path in reads.open):
            return Effect.READ
    return Effect.UNKNOWN


def _find_subcommand(rule: ProgramRule, words: Sequence[str]) -> list[str]:
    """Return the words that are neither options nor values of options that stand before them."""
    valued = _VALUED_OPTIONS.union(rule.valued.split())
    found: list[str] = []
    at = 0
    while at < len(words) and len(found) < _MAX_SUBCOMMAND_DEPTH:
        word = words[at]
        if word == "--" and found:
            break
        if word[:1] in {"-", "+"} and len(word) > 1:
            at += 2 if word in valued else 1
        else:
            found.append(word)
            at += 1
    return _skip_unknown_value(rule, found, words)


def _skip_unknown_value(rule: ProgramRule, found: list[str], words: Sequence[str]) -> list[str]:
    """Drop a first word that follows an option and begins no sub-command, as in `-x value verb`."""
    if len(found) > 1 and words[0][:1] == "-" and not rule.by_verb:
        changes, reads = _build_patterns(rule.changes), _build_patterns(rule.reads)
        known = [changes.holds_word(word) or reads.holds_word(word) for word in found[:2]]
        if known == [False, True]:
            return found[1:]
    return found
