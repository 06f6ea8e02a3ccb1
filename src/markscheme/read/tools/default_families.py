"""The default entries of the families of tools: data, for the supported agents and common servers.

An entry is a pattern for the name of a tool, or a mapping of patterns that must all match.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markscheme.read.tools.memory_writes import MEMORY_WRITES

MEMORY, SEARCH, DISPATCH, MUTATION = "memory", "search", "dispatch", "mutation"
MEMORY_WRITE, EXPLORE, OTHER_AGENTS = "memory_write", "explore", "other_agents"
_MEMORY_FILES = (
    "*/memory/*.md",
    "*/memories/*",
    "*/memory.md",
    "memory.md",
    "memory/*.md",
    "*/.serena/memories*",
    "*/.claude/*memory*",
    ".serena/memories*",
    ".claude/*memory*",
)
_READ_TOOLS = ("read*", "view", "grep", "glob", "ls", "list*")
_READ_PROGRAMS = (
    "cat bat batcat tac head tail less more nl sed gsed awk gawk mawk ls eza exa tree find fd "
    "fdfind rg grep egrep fgrep zgrep ag ack ug ugrep jq yq strings xxd hexdump od "
    "zcat sort uniq cut paste comm diff join column fold rev wc ast-grep sg get-content gc "
    "get-childitem gci select-string sls findstr"
)
# Programs that show what is in a file, or that it is there; `echo memory.md` reads no memory.
_MEMORY_PROGRAMS = "|".join(
    [
        *_READ_PROGRAMS.split(),
        *("view", "glow", "mdcat", "type", "git grep", "git show"),
    ]
)
# Where a dispatch has the kind of its agent.
_AGENT_KEYS = "*agent*|name|type|kind|role|mode"


def _split_names(text: str) -> list[str]:
    return text.split()


_DISPATCH_TOOLS = (
    *_split_names("task agent workflow spawn_agent dispatch_agent run_subagent new_task"),
    *_split_names("delegate_task transfer_to_* delegate_to_* delegate_work_to_*"),
)
_WRITE_VERBS = _split_names(
    "add append apply approve archive assign attach cancel clear close comment commit copy create "
    "delete deploy destroy detach disable drop duplicate edit enable fork grant import insert "
    "install invite kill merge migrate modify move overwrite patch pause pay post provision "
    "publish purge push put refund register reject remove rename reopen replace reply reset "
    "resolve restart restore resume revert revoke rollback rotate save schedule send set stop "
    "store submit terminate toggle transfer trash trigger truncate unarchive unassign uninstall "
    "unlink unlock unpin unregister unsubscribe update upload upsert wipe write"
)
# Verbs with which the name of a tool of no server begins. Those of `add_numbers` and `set_mode` say
# too little.
_FIRST_VERBS = _split_names(
    "append apply approve archive assign cancel commit create delete deploy destroy disable drop "
    "edit enable grant insert install invite kill merge migrate modify move overwrite patch pay "
    "post provision publish purge push remove rename restart revert revoke rollback save schedule "
    "send terminate trash trigger truncate uninstall update upload upsert wipe write"
)
# Verbs that are hardly ever the last word of a tool that reads.
_LAST_VERBS = _split_names(
    "write create update delete remove save insert upload append edit publish send add upsert post"
)
_SERVERS = _split_names(
    "slack notion linear jira confluence gitlab github gmail airtable asana hubspot trello discord "
    "supabase stripe sentry calendar drive sheets docs outlook teams zendesk shopify figma vercel "
    "netlify cloudflare kubernetes k8s docker aws gcp azure postgres mysql mongodb redis neon "
    "prisma "
    "filesystem obsidian todoist clickup monday bitbucket telegram whatsapp twitter atlassian"
)
_MEMORY_VERBS = _split_names(
    "save update delete store write add create append remove insert set put edit rename forget "
    "clear "
    "upsert replace import"
)
_MEMORY_NOUNS = _split_names("memory memories observations entities relations nodes")


DEFAULT_FAMILIES: Mapping[str, tuple[Any, ...]] = {
    MEMORY: (
        # memory, mcp__memory__search_nodes, serena_read_memory
        "*memor*",
        "*mem0*",
        "*claude-mem*",
        "*claude_mem*",
        "mem-search",
        "mem_search",
        "*graphiti*",
        {"tool": "skill", "argument": "*mem*"},
        *({"tool": tool, "path": path} for tool in _READ_TOOLS for path in _MEMORY_FILES),
        *({"command": _MEMORY_PROGRAMS, "path": path} for path in _MEMORY_FILES),
    ),
    SEARCH: (
        # Claude Code, OpenCode, Codex, Gemini CLI, and agents with tools of the same names
        *_split_names("glob grep ls list read notebookread read_file read_files read_many_files"),
        *_split_names(
            "list_dir list_directory list_files grep_files grep_search search_file_content"
        ),
        *_split_names("file_search search_files codebase_search codesearch find_file find_files"),
        *_split_names("search_file search_dir open view lsp view_file"),
        *_split_names("semsearch search_codebase read_files"),
        *({"tool": tool, "command": "view"} for tool in ("str_replace_*", "text_editor")),
        # MCP servers for files, symbols and code hosts; OpenCode writes the names without `mcp__`
        *_split_names("mcp__*__read_* mcp__*__list_dir* mcp__*__search_files mcp__*__search_code"),
        *_split_names("mcp__*__directory_tree mcp__*__get_file_contents mcp__*__find_file"),
        *_split_names(
            "mcp__*__find_symbol mcp__*__find_referencing_* mcp__*__get_symbols_overview"
        ),
        *_split_names("mcp__*__search_for_pattern filesystem_read_* filesystem_list_*"),
        *_split_names(
            "filesystem_search_files filesystem_directory_tree serena_find_* serena_list_dir"
        ),
        *_split_names("serena_search_for_pattern serena_get_symbols_overview serena_read_file"),
        *({"command": program} for program in _split_names(_READ_PROGRAMS)),
        *({"command": f"git {verb}"} for verb in ("grep", "ls-files", "ls-tree", "show", "blame")),
    ),
    DISPATCH: _DISPATCH_TOOLS,
    # An agent explores unless it is known for something else.
    EXPLORE: _DISPATCH_TOOLS,
    OTHER_AGENTS: (
        *(
            {"argument_name": _AGENT_KEYS, "argument": kind}
            for kind in _split_names(
                "statusline-setup output-style-setup memory memory-* *:memory-* mem-search "
                "test-runner tester writer code-writer"
            )
        ),
        *_split_names("transfer_to_memory* delegate_to_memory*"),
    ),
    MEMORY_WRITE: MEMORY_WRITES,
    MUTATION: (
        # Tools of MCP servers that write; OpenCode writes the names without `mcp__`
        *(f"mcp__*__{verb}_*" for verb in _WRITE_VERBS),
        *(f"mcp__*__{verb}-*" for verb in _WRITE_VERBS),
        *(f"mcp__*__{verb}" for verb in _WRITE_VERBS),
        *(f"mcp__*__*_{verb}" for verb in _LAST_VERBS),
        *(f"{verb}_*" for verb in _FIRST_VERBS),
        *(f"{verb}-*" for verb in _FIRST_VERBS),
        *_split_names(
            "cron_create cron_delete remote_trigger reply_to_* reset_* replace_* toggle_*"
        ),
        *_split_names("reopen_* open_pull_request open_pr open_issue open_ticket transfer_funds"),
        *_split_names("transfer_money clear_history"),
        # Servers that begin each name with their own: slack_post_message
        *(f"*{server}_{verb}_*" for server in _SERVERS for verb in _WRITE_VERBS),
        *(f"*{server}-{verb}-*" for server in _SERVERS for verb in _WRITE_VERBS),
        *(f"*{server}{sign}{verb}" for server in _SERVERS for sign in "_-" for verb in _LAST_VERBS),
        *_split_names("issue_write sub_issue_write *__merge_pull_request *_apply_migration"),
        *_split_names("apply_migration deploy_* *_deploy_* send_email send_message post_message"),
        *_split_names("*_write_file *_edit_file *_create_file *_delete_file *_move_file"),
        *_split_names(
            "*_create_directory *_create_text_file *_replace_symbol_body *_insert_*_symbol"
        ),
        *_split_names(
            "github_create_* github_update_* github_push_* github_delete_* github_merge_*"
        ),
        # Memory servers, with the verb before the noun or after it
        *(f"*{noun}_{verb}*" for noun in ("memory", "memories") for verb in _MEMORY_VERBS),
        *(f"*{verb}_{noun}" for noun in _MEMORY_NOUNS for verb in _MEMORY_VERBS),
        *(
            f"{noun}{sign}{verb}"
            for noun in ("mem0", "mem")
            for sign in "_-"
            for verb in _MEMORY_VERBS
        ),
        *_split_names("remember forget remember_* *__remember *__forget *graphiti*__add_*"),
    ),
}
