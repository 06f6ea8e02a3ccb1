r"""Judge SQL, and the commands of database clients (`\copy`, `.import`, `db.users.drop()`)."""

from __future__ import annotations

import re

from markscheme.read.json_fields import split_words
from markscheme.read.tools.findings import Findings, shorten_code

_TOKEN = re.compile(
    r"(?P<comment>--[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|$)|(?<!\S)#[^\n]*)"
    r"|(?P<text>'(?:[^']|'')*(?:'|$)|\"(?:[^\"]|\"\")*(?:\"|$)|`[^`]*(?:`|$)"
    r"|\$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|$))",
    re.DOTALL,
)
_READING_WORDS = split_words(
    "select with show describe desc explain pragma values table use begin start commit end "
    "rollback savepoint release help status list fetch declare close print go exit quit match "
    "return summarize from set whenever column discard reset abort unwind profile"
)
_WRITING_WORDS = split_words(
    "insert update delete merge drop alter create truncate replace grant revoke vacuum reindex "
    "attach detach copy load call exec execute do upsert rename comment lock unlock kill flush "
    "optimize analyze refresh cluster import restore backup checkpoint install handler repair "
    "purge reassign security notify listen unload put remove shutdown change batch"
)
_WRITING_INSIDE = re.compile(
    r"\b(insert\s+into|update\s+[\w.\"`$\[\]]+\s+set|delete\s+from|merge\s+into|into\s+(outfile"
    r"|dumpfile"
    r"|table|temp|temporary|unlogged|[\w.\"#]+\s+from)|create\s+(table|index|view))\b",
    re.IGNORECASE,
)
_WRITING_FUNCTION = re.compile(
    r"\b(pg_(terminate|cancel)_backend|pg_reload_conf|pg_rotate_logfile|pg_switch_wal|setval"
    r"|nextval"
    r"|lo_(import|export|unlink|create)|dblink_exec|pg_write_file|pg_file_\w+|load_extension"
    r"|writefile|set_config|pg_promote|pg_stat_reset\w*|xp_cmdshell|query_to_file"
    r"|pg_logical_emit_message|pg_create_\w+|pg_drop_\w+|detach|apoc\.(create|refactor"
    r"|periodic)\.\w+)"
    r"\s*\(",
    re.IGNORECASE,
)
_GLOBAL_SETTING = re.compile(r"set\s+(global|persist|password|role|@@global)", re.IGNORECASE)
_PRAGMA_WRITE = re.compile(
    r"pragma\s+[\w.]+\s*=|pragma\s+(optimize|wal_checkpoint|incremental_vacuum|shrink_memory)",
    re.IGNORECASE,
)
_EXPLAINED = re.compile(
    r"explain\s+(?:analy[sz]e|\([^)]*\banaly[sz]e\b[^)]*\))\s+(?:verbose\s+)?(\w+)", re.IGNORECASE
)
_CYPHER_WRITE = re.compile(r"\b(create|merge|delete|detach|remove|set|foreach)\b", re.IGNORECASE)
_STDOUT_COPY = re.compile(r"\bto\s+stdout\b", re.IGNORECASE)
# Commands of clients, by their first word without the sign.
_READING_COMMANDS = split_words(
    "tables schema headers header mode dump indexes indices databases stats show width separator "
    "nullvalue timeout quit exit help echo print limit explain eqp timer changes fullschema lint "
    "bail conninfo pset x q ? h a t c connect encoding timing l list set unset dt d df du dn dv "
    "di dS gdesc z sf sv p r s version columns maxrows maxwidth constant vfslist auth sha3sum "
    "dbinfo scanstats vars watch html H f C T copyright errverbose gx crosstabview G nowarning W"
)
_WRITING_COMMANDS = split_words(
    "import restore backup save output once load clone log excel archive ar o out w copy e ef ev "
    "gexec password lo_import lo_unlink recover edit outfile tee filectrl"
)
_FILE_COMMANDS = split_words("read i ir include source start run open")
_SHELL_COMMANDS = split_words("shell system ! sh")
_COMMAND = re.compile(r"\s*(?P<sign>[.\\])(?P<name>!|\?|[A-Za-z]\w*)(?P<rest>[^\n]*)")
_MAX_STATEMENTS = 2000


def judge_sql(text: str) -> Findings:
    """Return what SQL and client commands do; only statements known to read are harmless."""
    found = Findings()
    rest: list[str] = []
    for line in text.split("\n"):
        command = _COMMAND.match(line)
        if command is not None and not _is_inside_statement(rest):
            _judge_client_command(command, found)
        else:
            rest.append(line)
    plain = _TOKEN.sub(lambda match: " " if match["comment"] else " '' ", "\n".join(rest))
    statements = plain.split(";")
    if len(statements) > _MAX_STATEMENTS:
        found.doubts.append("SQL with too many statements")
    for statement in statements[:_MAX_STATEMENTS]:
        _judge_statement(statement.strip(" \t\r\n("), found)
    return found


def _is_inside_statement(lines: list[str]) -> bool:
    """Return whether the lines so far end inside a statement, where a dot begins no command."""
    last = lines[-1].rstrip() if lines else ""
    return bool(last) and not last.endswith(";")


def _judge_client_command(command: re.Match[str], found: Findings) -> None:
    name, shown = command["name"], shorten_code(command[0])
    # `\dt+` and `\d table` describe; `.schema` and so on may be shortened.
    folded = name.rstrip("+")
    if folded in _SHELL_COMMANDS:
        found.scripts.append(command["rest"])
    elif folded in _WRITING_COMMANDS:
        found.changes.append(shown)
    elif folded in _FILE_COMMANDS:
        found.doubts.append(f"SQL from a file: {shown}")
    elif folded not in _READING_COMMANDS and not (
        command["sign"] == "\\" and re.fullmatch(r"d[a-zA-Z]{0,3}S?", folded)
    ):
        found.doubts.append(f"unknown client command: {shown}")


def _judge_statement(statement: str, found: Findings) -> None:
    word = re.match(r"\w+", statement)
    if not statement:
        return
    shown = shorten_code(statement)
    first = "" if word is None else word[0].casefold()
    if first in _WRITING_WORDS:
        if not (first == "copy" and _STDOUT_COPY.search(statement)):
            found.changes.append(shown)
    elif first not in _READING_WORDS:
        found.doubts.append(f"SQL that cannot be read: {shown}")
    elif _changes_although_reading(first, statement):
        found.changes.append(shown)
    elif "$" in statement and re.search(r"\$\(|^\W*\$", statement):
        found.doubts.append(f"SQL that is put together while it runs: {shown}")


def _changes_although_reading(first: str, statement: str) -> bool:
    if first == "explain":
        explained = _EXPLAINED.match(statement)
        return explained is not None and explained[1].casefold() in _WRITING_WORDS
    if first == "pragma":
        return _PRAGMA_WRITE.match(statement) is not None
    if first == "set":
        return _GLOBAL_SETTING.match(statement) is not None
    if first in {"match", "unwind"}:
        return _CYPHER_WRITE.search(statement) is not None
    if first in {"select", "with", "from", "values", "table"}:
        return bool(_WRITING_INSIDE.search(statement) or _WRITING_FUNCTION.search(statement))
    return False


_MONGO_WRITE = re.compile(
    r"\.\s*(insert\w*|update\w*|delete\w*|remove\w*|replace\w*|drop\w*|save|bulkWrite|findAndModify"
    r"|findOneAnd\w+|create\w*|rename\w*|ensureIndex|mapReduce|shutdownServer|setProfilingLevel"
    r"|killOp|grant\w+|revoke\w+|copyTo|convertToCapped|reIndex|compact|fsync\w*|addUser"
    r"|stepDown|initiate|reconfig|addShard|enableSharding|shardCollection)\s*\(|\$out\b|\$merge\b"
)
_MONGO_UNREADABLE = re.compile(
    r"\b(runCommand|adminCommand|eval|load|Function|run|require)\s*\(|\]\s*\("
)


def judge_mongo(text: str) -> Findings:
    """Return what a script of the MongoDB shell does."""
    found = Findings()
    write = _MONGO_WRITE.search(text)
    if write is not None:
        found.changes.append(shorten_code(text))
    elif _MONGO_UNREADABLE.search(text) is not None or text.startswith("$"):
        found.doubts.append(f"code of the MongoDB shell: {shorten_code(text)}")
    return found
