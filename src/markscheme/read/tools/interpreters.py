"""Find the code that a command hands to an interpreter: `python -c`, heredocs, pipes, SQL options.

A table says for each interpreter which language it reads, which options hold code, and which hold
the name of a file. `find_code` returns the code, or why it cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, field

from markscheme.read.json_fields import split_words
from markscheme.read.tools.shell import PROCESS_PIPE, SUBSTITUTED, SimpleCommand
from markscheme.read.tools.wrappers import get_program_name, unwrap_command

SHELL, SQL, MONGO, OTHER = "shell", "sql", "mongo", "other"
_DOWNLOAD = re.compile(
    r"\b(curl|wget|aria2c|fetch|iwr|invoke-webrequest|irm|lwp-request)\b", re.IGNORECASE
)
_MAX_WORDS = 400


class Interpreter(Struct, frozen=True, kw_only=True):
    """How a program is handed code.

    - `code`: a pattern of options whose value is code; their text may be attached to them;
    - `files`: a pattern of options whose value is a file of code;
    - `valued`: options with another value;
    - `outputs`: a pattern of options whose value is a file that is written;
    - `flags`: letters of options without a value that may share a word, as in `psql -Atc SQL`;
    - `position`: the index of the word that is code, for programs such as `sqlite3 FILE SQL`;
    - `subcommand`: the words that must follow the program;
    - `runs_file`: the first word that is no option is a file of code;
    - `reads_stdin`: whether code is read from standard input.
    """

    programs: str
    language: str
    code: str = r"(?!)"
    files: str = r"(?!)"
    valued: str = ""
    position: int | None = None
    outputs: str = r"(?!)"
    flags: str = ""
    subcommand: str = ""
    runs_file: bool = True
    reads_stdin: bool = True


class EmbeddedCode(Struct):
    """The code that a command carries.

    `texts` are sources in the `language`; `files` are files of code; `writes` are files that
    options name for the output; `doubts` say why code cannot be read; `downloads` says that the
    code comes from the network.
    """

    language: str
    texts: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    downloads: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the command carries no code."""
        return not (self.texts or self.files or self.doubts or self.downloads)


_PSQL_VALUES = (
    "-h -p -U -d -v -P -F -R -T --host --port --username --dbname --set --variable --pset"
    " --field-separator --record-separator --table-attr"
)
_INTERPRETERS = (
    Interpreter(
        programs="bash sh zsh dash ksh fish ash mksh rbash csh tcsh elvish nu xonsh",
        language=SHELL,
        code=r"-[a-zA-Z]*c|--command",
        valued="-o -O +O --rcfile --init-file",
    ),
    Interpreter(
        programs="python pypy ipython py jython graalpy",
        language="python",
        code=r"-[a-zA-Z]*c",
        valued="-W -X --check-hash-based-pycs",
    ),
    Interpreter(
        programs="node nodejs tsx ts-node iojs",
        language="javascript",
        code=r"-e|--eval|-p|--print|-pe|-ep",
        valued="-r --require --import --loader -C",
    ),
    Interpreter(
        programs="bun",
        language="javascript",
        code=r"-e|--eval|-p|--print",
        runs_file=False,
        valued="--cwd --preload -r --filter",
    ),
    Interpreter(programs="deno", language="javascript", subcommand="eval", position=0),
    Interpreter(
        programs="ruby jruby truffleruby",
        language="ruby",
        code=r"-[a-zA-Z0]*e",
        valued="-I -r -E -C",
    ),
    Interpreter(programs="perl", language="perl", code=r"-[a-zA-Z0-9]*[eE]", valued="-I -M -m"),
    Interpreter(programs="php", language="php", code=r"-r|--run|-B|-R|-E", valued="-d -c -S -t"),
    Interpreter(programs="lua luajit", language="lua", code=r"-e", valued="-l"),
    Interpreter(
        programs="Rscript R r julia elixir iex scala groovy clojure clj bb guile racket ghc"
        " osascript swift raku erl escript tclsh wish gosh sbcl clisp ocaml jshell crystal octave"
        " matlab maxima gp sage coffee livescript kotlin janet fennel expect gdb"
        " lldb nickle gnuplot pry irb",
        language=OTHER,
        code=r"-[a-zA-Z]*e|--eval|--execute|-eval|-ex|-E|-c|-l|--batch-eval|-o",
    ),
    Interpreter(
        programs="powershell pwsh",
        language="powershell",
        code=r"(?i:-c(ommand)?|/c|-e(nc(odedcommand)?|c)?|/command)",
        files=r"(?i:-f(ile)?)",
        valued="-ExecutionPolicy -ep -WorkingDirectory -Version",
    ),
    Interpreter(programs="cmd", language="cmd", code=r"//?[cCkK]", runs_file=False),
    # Databases
    Interpreter(
        programs="psql pgcli",
        language=SQL,
        code=r"-c|--command",
        files=r"-f|--file",
        valued=_PSQL_VALUES,
        outputs=r"-o|--output|-L|--log-file",
        flags="aAbeEHlnqsStVwWxXz01",
        runs_file=False,
    ),
    Interpreter(
        programs="sqlite3 sqlite litecli sqlcipher libsql",
        language=SQL,
        code=r"-cmd|-e|--execute",
        files=r"-init",
        valued="-separator -newline -nullvalue",
        position=1,
        runs_file=False,
    ),
    Interpreter(
        programs="duckdb",
        language=SQL,
        code=r"-c|-s|-cmd",
        files=r"-f|-init",
        position=1,
        runs_file=False,
    ),
    Interpreter(
        programs="mysql mariadb mycli usql snowsql ysqlsh ycqlsh cqlsh",
        language=SQL,
        code=r"-[a-zA-Z]*e|--execute|-q|--query|-c|--command",
        files=r"-f|--file",
        valued="-u -h -P -D --user --host --port --database -S -k",
        runs_file=False,
    ),
    Interpreter(
        programs="clickhouse-client clickhouse clickhouse-local trino presto impala-shell"
        " hive beeline spark-sql questdb dsql tsql sqlcmd osql isql steampipe",
        language=SQL,
        code=r"-q|-Q|-e|--query|--execute",
        files=r"-i|-f|--queries-file|--file",
        valued="-h -u -p -S -U -P -d --host --user --password --database",
        runs_file=False,
    ),
    Interpreter(programs="osqueryi", language=SQL, position=0, runs_file=False),
    Interpreter(programs="sqlplus", language=SQL, runs_file=False, files=r"@.*"),
    Interpreter(programs="bq", language=SQL, subcommand="query", position=0, runs_file=False),
    Interpreter(
        programs="cockroach",
        language=SQL,
        subcommand="sql",
        code=r"-e|--execute",
        files=r"-f|--file",
        runs_file=False,
    ),
    Interpreter(
        programs="wrangler",
        language=SQL,
        subcommand="d1 execute",
        code=r"--command",
        files=r"--file",
        runs_file=False,
        reads_stdin=False,
    ),
    Interpreter(programs="turso", language=SQL, subcommand="db shell", position=1, runs_file=False),
    Interpreter(
        programs="cypher-shell",
        language=SQL,
        position=0,
        files=r"-f|--file",
        valued="-u -p -a -d",
        runs_file=False,
    ),
    Interpreter(
        programs="influx", language=SQL, code=r"-execute", runs_file=False, reads_stdin=False
    ),
    Interpreter(
        programs="mongosh mongo",
        language=MONGO,
        code=r"--eval",
        files=r"-f|--file",
        valued="--host --port -u -p --db --username --password",
        runs_file=False,
    ),
)
_BY_PROGRAM: dict[str, list[Interpreter]] = {}
for _interpreter in _INTERPRETERS:
    for _name in _interpreter.programs.split():
        _BY_PROGRAM.setdefault(_name, []).append(_interpreter)
_VERSIONED = re.compile(r"(python|pypy|ruby|perl|php|lua|node|guile|ipython|tclsh)[\d.]+t?")
_ASKS_ONLY = split_words("--version -V -v --help -h -help --list -l --check -n -lint")
# Clients of databases use `-h`, `-n` and `-v` for other things.
_CLIENT_ASKS_ONLY = split_words("--version -V --help -help --list -l -?")


def find_interpreter(program: str, words: Sequence[str]) -> Interpreter | None:
    """Return how a program is handed code; `None` if it is no interpreter."""
    match = _VERSIONED.fullmatch(program)
    for interpreter in _BY_PROGRAM.get(match[1] if match is not None else program, ()):
        wanted = interpreter.subcommand.split()
        if not wanted or [word for word in words if word[:1] != "-"][: len(wanted)] == wanted:
            return interpreter
    return None


def find_code(
    interpreter: Interpreter, words: Sequence[str], simple: SimpleCommand
) -> EmbeddedCode:
    """Return the code that a command hands to an interpreter; `words` follow its name."""
    found = EmbeddedCode(interpreter.language)
    if PROCESS_PIPE in words or any(SUBSTITUTED in word for word in words):
        found.downloads = any(map(_DOWNLOAD.search, simple.substitutions))
        if PROCESS_PIPE in words and not found.downloads:
            found.doubts.append("code from the output of another command")
    words = _split_clusters(interpreter, words[:_MAX_WORDS])
    reads_file = _scan_words(interpreter, words, found)
    if found.texts or found.files or found.doubts or reads_file:
        return found
    asks_only = _CLIENT_ASKS_ONLY if interpreter.language == SQL else _ASKS_ONLY
    if interpreter.reads_stdin and not set(words) & asks_only:
        _read_standard_input(simple, words, found)
    return found


def _split_clusters(interpreter: Interpreter, words: Sequence[str]) -> list[str]:
    """Return the words with `-Atc SQL` and `-cSQL` as options of their own."""
    split: list[str] = []
    is_value = False
    for word in words:
        if is_value or not interpreter.flags or re.match(r"-[^-]", word) is None:
            is_value = not is_value and word in interpreter.valued.split()
            split.append(word)
            continue
        letters = word[1:].lstrip(interpreter.flags)
        split += [f"-{letter}" for letter in word[1 : len(word) - len(letters)]]
        split += [f"-{letters[0]}"] if letters else []
        split += [letters[1:]] if letters[1:] else []
        # The value of the last option is the next word, whatever it begins with.
        is_value = len(letters) == 1
    return split


def _scan_words(interpreter: Interpreter, words: Sequence[str], found: EmbeddedCode) -> bool:
    """Collect code from options and positions; return whether a file of code is run."""
    plain: list[str] = []
    at, subcommand = 0, interpreter.subcommand.split()
    while at < len(words):
        word = words[at]
        taken = _take_option(interpreter, words, at, found)
        if taken:
            if word == "-m" and interpreter.language == "python":
                return True
            at += taken
            continue
        at += 1
        if subcommand and word == subcommand[0]:
            subcommand = subcommand[1:]
        elif interpreter.runs_file and interpreter.position is None and word != "-":
            found.files += [] if found.texts else [word]
            return True
        else:
            plain.append(word)
    if interpreter.position is not None:
        found.texts += [word for word in plain[interpreter.position :] if word != "-"]
    return False


def _take_option(
    interpreter: Interpreter, words: Sequence[str], at: int, found: EmbeddedCode
) -> int:
    """Add the code or the file of an option; return how many words it takes, 0 if it is none."""
    word = words[at]
    option, equals, value = word.partition("=")
    option = option if equals else word
    if re.fullmatch(interpreter.code, option) is not None:
        return _take_code(interpreter, words, at, value if equals else None, found)
    if re.fullmatch(interpreter.files, option) is not None:
        found.files.append(value if equals else "".join(words[at + 1 : at + 2]))
        return 2
    if re.fullmatch(interpreter.outputs, option) is not None:
        found.writes.append(value if equals else "".join(words[at + 1 : at + 2]))
        return 1 if equals else 2
    if word in interpreter.valued.split():
        return 2
    return int(word[:1] in {"-", "+"} and len(word) > 1)


def _take_code(
    interpreter: Interpreter,
    words: Sequence[str],
    at: int,
    attached: str | None,
    found: EmbeddedCode,
) -> int:
    """Add the code of an option; return how many words it takes."""
    if interpreter.language in {"powershell", "cmd"}:
        if re.match(r"(?i)-e(?!x)", words[at]):
            found.doubts.append("an encoded command of PowerShell")
        else:
            found.texts.append(" ".join(words[at + 1 :]))
        return len(words)
    found.texts.append(attached if attached is not None else "".join(words[at + 1 : at + 2]))
    # The words after a script of a shell or of Python are its arguments.
    stops = interpreter.language in {SHELL, "python"}
    return len(words) if stops else (1 if attached is not None else 2)


def _read_standard_input(simple: SimpleCommand, words: Sequence[str], found: EmbeddedCode) -> None:
    if simple.heredocs:
        found.texts += simple.heredocs
    elif simple.reads and found.language == SHELL:
        found.doubts.append(f"a script that the log does not show: `{simple.reads[0]}`")
    elif simple.reads:
        found.files += simple.reads
    elif simple.piped:
        _read_pipe(simple.source, found)
    elif found.language == SHELL and "-s" in words:
        found.doubts.append("a script that the log does not show")


def _read_pipe(source: SimpleCommand | None, found: EmbeddedCode) -> None:
    """Add what the command before the pipe prints, if its words say so."""
    words = [] if source is None else unwrap_command(source.words).words
    program = get_program_name(words[0]) if words else ""
    printed = read_printed_text(words)
    if printed is not None:
        found.texts.append(printed)
    elif program == "cat" and source is not None and source.heredocs:
        found.texts += source.heredocs
    elif _DOWNLOAD.fullmatch(program):
        found.downloads = True
    else:
        found.doubts.append(f"code from the output of `{program or 'another command'}`")


def read_printed_text(words: Sequence[str]) -> str | None:
    """Return what `echo` or `printf` prints; `None` for another command."""
    program = get_program_name(words[0]) if words else ""
    arguments = list(words[1:])
    if program == "echo":
        text = " ".join(arguments[1:] if arguments[:1] in (["-e"], ["-n"], ["-E"]) else arguments)
    elif program == "printf":
        pattern = "".join(arguments[:1])
        # The pattern is used again for each further argument.
        parts = re.sub(r"%[sb]", "\x00", pattern).split("\x00")
        text = pattern if len(parts) == 1 else parts[0] + parts[-1].join(arguments[1:]) + parts[-1]
    else:
        return None
    return text.replace("\\n", "\n")
