"""Names of tools that are known to change nothing; other unknown tools are named in the evidence.

A tool is harmless if its whole name is known, or if its name has a verb that reads and none that
may write, as `search_code` and `browser_snapshot` have.
"""

from __future__ import annotations

import re
from functools import lru_cache

from markscheme.read.json_fields import split_words

_NAMES = split_words(
    "task agent workflow skill todowrite todoread updateplan plan think thinking "
    "sequentialthinking exitplanmode enterplanmode taskcreate taskupdate taskget tasklist "
    "taskoutput taskstop bashoutput killshell killbash askuserquestion askuser askfollowupquestion "
    "notebookread websearch webfetch toolsearch lsp lsptool spawnagent dispatchagent runsubagent "
    "newtask delegatetask viewimage listmcpresources readmcpresource wait waitagent "
    "finish submit finalanswer finalresponse structuredoutput slashcommand sendmessage "
    "closeagent resumeagent sendinput requestuserinput calculator browsernavigate browserclose "
    "browserresize browserhover browsertabs semsearch codesearch memory mem0 clock sleep attempt "
    "attemptcompletion done complete requestsget notify report compact recall "
    "resolvelibraryid getlibrarydocs"
)
_READING_WORDS = split_words(
    "read reads get list ls search find view show fetch query grep glob lookup describe inspect "
    "browse open snapshot screenshot status stat tree count check recall retrieve explain diff log "
    "logs history blame info help ping suggest summarize analyze validate lint preview watch wait "
    "think todo plan question outline overview symbols references definition diagnostics hover "
    "docs select peek scan tail head cat semsearch websearch codesearch memories delegate"
)
_WRITING_WORDS = split_words(
    "run exec execute do eval evaluate write set replace update delete create remove edit "
    "patch post put insert add apply start stop kill restart send "
    "save move rename copy merge push commit deploy install type click press fill upload drop "
    "clear reset close reopen archive unarchive assign unassign cancel publish append submit "
    "purge prune destroy truncate trash disable enable revert restore import export order pay buy "
    "book approve reject lock unlock mark pin share invite revoke grant modify change alter upsert "
    "store persist register schedule trigger toggle sync mutate overwrite wipe migrate"
)
# `open_file` reads and `git_log` too; `open_issue` and `log_work` do not.
_OPENED_THINGS = split_words("pull pr request issue ticket account order position incident case")
# What a tool may run, unless its first word says that it only reads it.
_CODE_WORDS = split_words("shell bash cmd command commands script terminal code sql")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@lru_cache(maxsize=4096)
def is_harmless_tool(name: str) -> bool:
    """Return whether a tool is known to change nothing, by its name."""
    words = _split_name(name)
    if {"".join(words), re.sub(r"[^a-z0-9]", "", name.casefold())} & _NAMES:
        return True
    if not _WRITING_WORDS.isdisjoint(words):
        return False
    if words[:2] == ["transfer", "to"]:
        return True
    if words[:1] == ["open"] and not _OPENED_THINGS.isdisjoint(words):
        return False
    if words[:1] == ["log"]:
        words = words[1:]
    reads_first = not _READING_WORDS.isdisjoint(words[:1])
    reads_at_all = not _READING_WORDS.isdisjoint(words)
    return reads_first or (reads_at_all and _CODE_WORDS.isdisjoint(words))


def is_writing_tool(name: str) -> bool:
    """Return whether the name of a tool has a verb that may write, and none that makes it known."""
    return not (_WRITING_WORDS.isdisjoint(_split_name(name)) or is_harmless_tool(name))


def _split_name(name: str) -> list[str]:
    """Return the words of the name of a tool in lower case, without those of its server."""
    return [word.casefold() for word in _WORD.findall(re.split(r"__|[./:]", name)[-1])]
