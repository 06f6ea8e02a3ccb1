"""Cmdlets of PowerShell: their verb says what they do, as in `Remove-Item`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markscheme.read.json_fields import split_words
from markscheme.read.tools.programs.rules import Effect, is_dry_run

_CMDLET = re.compile(r"(?P<verb>[a-z]+)-(?P<noun>[a-z][a-z0-9]+)", re.IGNORECASE)
_CHANGING_VERBS = split_words(
    "add backup checkpoint clear close complete compress connect copy debug deny disable "
    "disconnect dismount edit enable enter expand export grant import initialize install invoke "
    "limit lock merge mount move new optimize protect publish push register remove rename repair "
    "request reset resize restart restore resume revoke save send set split start step stop "
    "submit suspend switch sync unblock undo uninstall unlock unprotect unpublish unregister "
    "update write"
)
_READING_VERBS = split_words(
    "get select where foreach format measure compare sort group test show find resolve search "
    "read receive confirm convert convertfrom convertto join split trace wait watch ping out "
    "assert view pop"
)
# Cmdlets whose verb would mislead: they change nothing outside the session.
_HARMLESS_CMDLETS = split_words(
    "write-host write-output write-verbose write-warning write-error write-information "
    "write-debug write-progress out-host out-null out-string out-default out-gridview "
    "set-location push-location set-strictmode set-variable new-object new-variable clear-host "
    "clear-variable remove-variable import-module import-csv import-clixml "
    "import-powershelldatafile add-member new-timespan start-sleep set-alias new-alias "
    "update-formatdata split-path remove-module invoke-pester new-guid import-localizeddata "
    "set-psdebug"
)
_HARMLESS_ALIASES = split_words(
    "gci gc sls gi gp gm gl select where ? % ft fl fw oh gps gsv gcm measure sort group foreach"
)
_WRITING_CMDLETS = frozenset(["out-file", "out-printer", "tee-object"])
_WEB_CMDLETS = frozenset(["invoke-webrequest", "invoke-restmethod", "iwr", "irm"])


def judge_cmdlet(name: str, words: Sequence[str]) -> Effect:
    """Return what a cmdlet does; a program whose name only looks like one is not known."""
    folded = name.casefold()
    if folded in _HARMLESS_CMDLETS or folded in _HARMLESS_ALIASES:
        return Effect.READ
    if folded in _WEB_CMDLETS:
        return _judge_web_request([word.casefold() for word in words])
    if folded in _WRITING_CMDLETS:
        return Effect.READ if is_dry_run(words) else Effect.CHANGE
    match = _CMDLET.fullmatch(name)
    # Programs such as `start-server` are written in lower case; cmdlets are written `Start-Server`.
    if match is None or not (name[0].isupper() or folded in _KNOWN_CMDLETS):
        return Effect.UNKNOWN
    verb = match["verb"].casefold()
    if verb in _CHANGING_VERBS:
        return Effect.READ if is_dry_run(words) else Effect.CHANGE
    return Effect.READ if verb in _READING_VERBS else Effect.UNKNOWN


_KNOWN_CMDLETS = frozenset(
    f"{verb}-{noun}"
    for verb in ("add", "clear", "copy", "get", "move", "new", "remove", "rename", "set")
    for noun in ("item", "content", "itemproperty", "childitem", "acl")
) | split_words(
    "stop-process start-process stop-service start-service restart-service restart-computer "
    "stop-computer set-executionpolicy export-csv export-clixml compress-archive expand-archive "
    "invoke-command start-job new-service remove-service set-service set-date set-clipboard "
    "start-bitstransfer get-process get-service select-string select-object where-object "
    "foreach-object measure-object sort-object format-table format-list test-path resolve-path "
    "get-location get-date get-command get-help install-module update-module uninstall-module "
    "set-itemproperty get-filehash get-eventlog get-acl compare-object"
)


def _judge_web_request(words: Sequence[str]) -> Effect:
    """A request changes something with another method than GET, a body, or an output file."""
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        method = following if word in {"-method", "-me"} else ""
        if word.startswith("-method:"):
            method = word.partition(":")[2]
        if method and method not in {"get", "head", "options"}:
            return Effect.CHANGE
        if word in {"-outfile", "-o", "-infile", "-body", "-form"}:
            return Effect.CHANGE
    return Effect.READ
