"""Names of tools that write to a memory, as entries of a family.

Memory servers name their tools verb first (`save_memory`, `mcp__mem0__add_memories`), noun first
(`memory_save`), or by the verb alone behind the server (`mcp__memory__create_entities`). The memory
tool of Anthropic has one name, and the verb is its argument.
"""

from __future__ import annotations

from typing import Any

from markscheme.read.json_fields import split_words

_STEMS = ("memor", "mem0", "graphiti", "claude-mem", "claude_mem")
_VERBS = split_words(
    "add append archive capture clear commit compact create delete edit forget import ingest "
    "insert merge persist prune purge put record remember remove rename replace reset save set "
    "store str_replace update upsert write"
)
# Verbs that are nouns too: `memory_store_search` reads from a store.
_NOUNS = ("archive", "import", "put", "record", "set", "store")


def _list_name_patterns(verb: str) -> list[str]:
    verb_first = [
        f"{start}{verb}{joint}{stem}*"
        for start in ("", "*[_-]")
        for joint in ("", "[_-]")
        for stem in ("memor", "entit", "observation", "episode")
    ]
    behind_server = [f"*{stem}*__{verb}" for stem in _STEMS]
    behind_server += [f"*{stem}*__{verb}[_-]*" for stem in _STEMS]
    noun_first = [f"*{stem}*[_-]{verb}" for stem in _STEMS]
    if verb not in _NOUNS:
        noun_first += [f"*{stem}*[_-]{verb}[_-]*" for stem in _STEMS]
    return [*verb_first, *behind_server, *noun_first]


MEMORY_WRITES: tuple[Any, ...] = (
    "remember",
    *(pattern for verb in sorted(_VERBS) for pattern in _list_name_patterns(verb)),
    *(
        {"tool": "*memor*", "argument_name": "command|action|operation", "argument": verb}
        for verb in sorted(_VERBS)
    ),
    *({"tool": "skill", "argument": f"*{verb}*mem*"} for verb in ("save", "add", "write", "store")),
    {"tool": "skill", "argument": "*remember*"},
)
