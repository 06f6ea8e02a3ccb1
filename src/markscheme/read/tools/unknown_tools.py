"""Judge calls of tools that are not known, by their names and by the texts in their arguments.

What a text would change, if the tool ran it, is a change; a command that cannot be read is a doubt.
A tool that is named after a program, such as `kubectl_rollout`, is judged as that program. Text in
plain words is no command, so a question to an unknown tool stays harmless.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from markscheme.read.json_fields import split_words
from markscheme.read.tools.carried_texts import CODE_FIELDS, COMMAND_FIELDS, get_field
from markscheme.read.tools.findings import Findings
from markscheme.read.tools.harmless_tools import is_harmless_tool, is_writing_tool
from markscheme.read.tools.scripts import judge_script
from markscheme.read.tools.tool_names import ToolKind, get_tool_kind
from markscheme.vocabulary import Call

SQL = re.compile(
    r"\s*(--[^\n]*\s+)*(select\b.*\bfrom\b|select\s+[\w(]+\s*[(;]?|insert\s+into"
    r"|update\s+\S+\s+set|delete\s+from"
    r"|(create|drop|alter)\s+(table|index|view|database|schema|user|role|function|or)|truncate\b"
    r"|with\s+\w+\s+as\b|(grant|revoke)\s.*\bon\b|merge\s+into|replace\s+into|vacuum\b"
    r"|call\s+\w+\()",
    re.IGNORECASE | re.DOTALL,
)
_COMMAND_SIGN = re.compile(r"(?:^|\s)-{1,2}\w|[/|>;&]|\w\.\w")
_SENTENCE_WORDS = split_words(
    "the an to of is are was how what which where when why who please from that this these should "
    "with and or on it its be can could not does do did i you we they if there have has about"
)
_SHELL_LOOP = re.compile(r";\s*(do|then)\b")
# Programs whose names are no words of a language: a command also without a sign of one.
_PROGRAMS = split_words(
    "rm rmdir mv cp mkdir chmod chown git npm pnpm yarn pip pip3 docker podman kubectl helm "
    "terraform sudo curl wget sed dd cargo apt apt-get brew systemctl psql gh aws gcloud az ssh "
    "scp rsync"
)
# Fields whose text is a question or a label.
_WORDING_FIELDS = split_words(
    "query question q prompt topic search keyword keywords title name label description summary "
    "text content message task instruction instructions goal context pattern regex reason"
)
# Fields with the source of a program, and what shows that it calls something.
_SOURCE_FIELDS = split_words("code python python_code javascript js cell")
_CALL_SIGN = re.compile(r"\w\(")
_CODE_SIGN = re.compile(r"\(|\bimport\b|=")
_SCRIPT_SIGN = re.compile(r"require\(|=>|\bfetch\(|\bDeno\.|\bBun\.|\bfs\.\w")
# Tools that are named after a program and one of its sub-commands.
_TOOL_PROGRAMS = split_words(
    "git kubectl helm docker podman terraform tofu gh glab npm pnpm yarn pip cargo aws gcloud az "
    "systemctl brew apt hg svn jj argocd flux ansible vagrant pulumi heroku fly flyctl vercel "
    "netlify firebase supabase wrangler"
)
_SUBCOMMAND_FIELDS = split_words("subcommand sub_command action operation verb command args method")
_CHANGING_METHODS = split_words("POST PUT PATCH DELETE")
_URL_FIELDS = ("url", "uri", "endpoint")
_GRAPHQL_MUTATION = re.compile(r"\s*mutation\b[^{]*\{", re.DOTALL)
# Fields that name a tool to be called, and those that hold its arguments beside it.
_TOOL_FIELDS = split_words("tool tool_name toolname recipient_name function function_name name")
_ARGUMENT_FIELDS = split_words("arguments args input parameters params tool_input toolinput")
_TOOL_NAME = re.compile(r"[A-Za-z][\w.:/-]{0,80}")
_FILLERS = split_words("run generic command exec execute cli tool")


def judge_unknown_tool(call: Call) -> Findings:
    """Return what a call of a tool that is not known changes, as far as its arguments say."""
    request = _find_changing_request(call)
    if is_harmless_tool(call.name):
        # Its name says that it reads, but a command in it may say more.
        return Findings(changes=[*request, *_judge_command(call.command or "").changes])
    found = _judge_named_program(call)
    found.changes += request
    found.doubts += _find_inner_calls(call)
    for path, text in call.arguments.items():
        part = _judge_text(get_field(path), text)
        found.changes += part.changes
        found.doubts += part.doubts
    if call.command is not None and not found.changes:
        found.changes += _judge_code(call.command)
    return found


def find_unknown_tools(calls: Iterable[Call]) -> list[str]:
    """Return the names of the tools of which nothing is known, each once."""
    names = dict.fromkeys(call.name for call in calls)
    return [
        name
        for name in names
        if name and get_tool_kind(name) is None and not is_harmless_tool(name)
    ]


def _judge_text(field: str, text: str) -> Findings:
    if SQL.match(text) is not None:
        return Findings(changes=judge_script(text, language="sql").changes)
    if field in COMMAND_FIELDS:
        return _judge_command(text)
    if field in CODE_FIELDS:
        doubts = _find_unread_code(text) if field in _SOURCE_FIELDS else []
        return Findings(changes=_judge_code(text), doubts=doubts)
    return Findings(changes=_judge_possible_command(field, text))


def _judge_command(text: str) -> Findings:
    """Judge the text of a field for commands; it may also be code in another language."""
    found = judge_script(text)
    if found.changes or _CODE_SIGN.search(text) is None:
        return Findings(changes=list(found.changes), doubts=list(found.doubts))
    code = judge_script(text, language="python")
    # What is valid Python is no command of a shell.
    is_code = not any("cannot be parsed" in doubt for doubt in code.doubts)
    return Findings(changes=list(code.changes), doubts=[] if is_code else list(found.doubts))


def _judge_code(text: str) -> list[str]:
    changes = judge_script(text).changes or judge_script(text, language="python").changes
    if not changes and _SCRIPT_SIGN.search(text) is not None:
        changes = judge_script(text, language="javascript").changes
    return list(changes)


def _find_unread_code(text: str) -> list[str]:
    """Return why code with a call in it cannot be read; one language that reads it is enough."""
    if _CALL_SIGN.search(text) is None:
        return []
    found = [judge_script(text, language=name).doubts for name in ("python", "javascript")]
    return list(found[0]) if all(found) else []


def _judge_possible_command(field: str, text: str) -> list[str]:
    """Return what a text in any other field would change, unless it is in plain words."""
    if _is_prose(text):
        return []
    if _CODE_SIGN.search(text) is not None and "\n" in text:
        return _judge_code(text)
    if _SCRIPT_SIGN.search(text) is not None:
        return list(judge_script(text, language="javascript").changes)
    first = text.split(maxsplit=1)[:1]
    is_program = bool(first) and first[0] in _PROGRAMS and field not in _WORDING_FIELDS
    if _COMMAND_SIGN.search(text) is None and not is_program:
        return []
    return list(judge_script(text).changes)


def _is_prose(text: str) -> bool:
    """Return whether a text is a sentence, by the words that commands do not have."""
    if _SHELL_LOOP.search(text) is not None:
        return False
    return not _SENTENCE_WORDS.isdisjoint(text.casefold().split())


def _find_changing_request(call: Call) -> list[str]:
    """Return the request that a tool for the web or for GraphQL sends, if it changes something."""
    fields = {get_field(path).casefold(): text for path, text in call.arguments.items()}
    method = fields.get("method", fields.get("http_method", "")).upper()
    urls = [fields[name] for name in _URL_FIELDS if name in fields]
    if method in _CHANGING_METHODS and urls:
        return [f"{method} {urls[0]}"]
    return [text for text in call.arguments.values() if _GRAPHQL_MUTATION.match(text)]


def _find_inner_calls(call: Call) -> Iterator[str]:
    """Yield doubts about tools that this one is told to call, if their names say that they write.

    A name counts as that of a tool if arguments stand beside it.
    """
    for path, name in call.arguments.items():
        folder = path.rpartition(".")[0]
        beside = path[len(folder) :].partition("#")[0].lstrip(".")
        if beside.casefold() not in _TOOL_FIELDS or not _TOOL_NAME.fullmatch(name):
            continue
        start = f"{folder}." if folder else ""
        fields = {
            other[len(start) :].partition(".")[0].partition("#")[0]
            for other in call.arguments
            if other.startswith(start)
        }
        kind = get_tool_kind(name)
        writes = kind is ToolKind.WRITE or (kind is None and is_writing_tool(name))
        if writes and not _ARGUMENT_FIELDS.isdisjoint(fields):
            yield f"a call of another tool: {name}"


def _judge_named_program(call: Call) -> Findings:
    """Judge `kubectl_rollout` with `subCommand: restart` as `kubectl rollout restart`."""
    last = re.split(r"__|[./:]", call.name)[-1]
    words = re.findall(r"[a-z]+|[A-Z][a-z]*|\d+", last)
    words = [word.casefold() for word in words]
    if not words or words[0] not in _TOOL_PROGRAMS:
        return Findings()
    named = [
        text
        for path, text in call.arguments.items()
        if get_field(path).casefold() in _SUBCOMMAND_FIELDS and "." not in path
    ]
    verbs = [word for word in words[1:] if word not in _FILLERS]
    changes = judge_script(" ".join([words[0], *verbs, *named[:1]])).changes
    return Findings(changes=list(changes))
