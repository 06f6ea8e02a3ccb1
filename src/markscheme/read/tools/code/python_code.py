"""Judge Python source: what it changes, which commands it starts, and what cannot be read.

Names are followed through imports and simple assignments. A call is harmless if its function is in
the tables of `python_names`, or is defined in the source itself, whose body is judged anyway. Calls
of anything else are doubts: the code may do what its text does not show.
"""

from __future__ import annotations

import ast
import re
import shlex
import warnings
from collections.abc import Iterator

from markscheme.read.tools.code.python_names import (
    CHANGING_FUNCTIONS,
    CHANGING_METHODS,
    OPAQUE_ATTRIBUTES,
    OPAQUE_FUNCTIONS,
    OPAQUE_NAMES,
    OPENING_FUNCTIONS,
    PLAIN_FUNCTIONS,
    PLAIN_METHODS,
    PURE_MODULES,
    STANDARD_STREAMS,
    STARTING_FUNCTIONS,
    WRITING_VERBS,
)
from markscheme.read.tools.code.sql import judge_sql
from markscheme.read.tools.findings import Findings, shorten_code

_MAX_SOURCE = 100_000
_MAX_DEPTH = 60
_MAX_NESTED_CODE = 3
_MAX_SHOWN = 20
_WRITING_MODE = re.compile(r"[rbtU]*[wax+]|.*\+", re.DOTALL)
_UNKNOWN_WORD = "python_value"
_DUMPING_FUNCTIONS = frozenset(["json.dump", "yaml.dump", "yaml.safe_dump", "toml.dump"])
_ALWAYS_CHANGING = frozenset(["save", "post", "put", "patch", "delete", "kill", "chmod", "commit"])
# The file is judged where it is opened.
_WRITING_METHODS = frozenset(["write", "writerow", "writerows", "writeheader"])
# Also with a variable for the output: `lines = !ls`.
_MAGIC = re.compile(
    r"^\s*(?:[A-Za-z_][\w, ]*=\s*(?=[!%]))?(?P<sign>%%?\w+|!)(?P<rest>.*)$", re.MULTILINE
)


def judge_python(source: str, depth: int = 0) -> Findings:
    """Return what Python source does."""
    found = Findings()
    if len(source) > _MAX_SOURCE or depth > _MAX_NESTED_CODE:
        found.doubts.append("Python code that is too long or too deeply nested to be read")
        return found
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found.doubts.append(f"Python code that cannot be parsed: {shorten_code(source)}")
        return found
    judge = _PythonJudge(found, depth)
    judge.collect_names(tree)
    judge.judge_tree(tree)
    return found


def judge_notebook_cell(source: str) -> Findings:
    """Return what a cell of IPython does: Python with `!command` and `%magic` lines."""
    scripts: list[str] = []
    written: list[str] = []

    def take_line(match: re.Match[str]) -> str:
        if match["sign"] in {"!", "%%bash", "%%sh", "%sx", "%system"}:
            rest = (
                source[match.start("rest") :] if match["sign"].startswith("%%") else match["rest"]
            )
            scripts.append(rest)
        elif match["sign"] in {"%pip", "%conda"}:
            scripts.append(f"{match['sign'][1:]}{match['rest']}")
        elif match["sign"] in {"%%writefile", "%%file", "%save"}:
            written.append(match["rest"].strip())
        return "pass"

    shell_cell = re.match(r"\s*%%(bash|sh|script)", source) is not None
    plain = _MAGIC.sub(take_line, source)
    found = Findings() if shell_cell else judge_python(plain)
    found.changes += written
    found.scripts = scripts[:1] if shell_cell else [*found.scripts, *scripts]
    return found


class _PythonJudge:
    """Walks a tree; `modules` maps names to what they import, `local` names functions."""

    def __init__(self, found: Findings, depth: int) -> None:
        self.found = found
        self.depth = depth
        self.modules: dict[str, str] = {}
        self.local: set[str] = set()
        self.texts: dict[str, str | None] = {}

    def collect_names(self, tree: ast.AST) -> None:
        """Note what names stand for, before any of them is used."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for name in node.names:
                    bound = name.asname or name.name.partition(".")[0]
                    self.modules[bound] = name.name if name.asname else bound
                    self._note_module(name.name)
            elif isinstance(node, ast.ImportFrom):
                module = node.module or "."
                self._note_module(module)
                for name in node.names:
                    self.modules[name.asname or name.name] = f"{module}.{name.name}"
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.local.add(node.name)
        # Aliases, as in `m = os` and `rm = os.remove`, and literal texts.
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                self._note_assignment(node)

    def _note_module(self, module: str) -> None:
        if not _is_pure(module) and not _has_entry(module):
            self.found.programs.append(f"python module {module}")

    def _note_assignment(self, node: ast.Assign) -> None:
        for target in node.targets:
            if not isinstance(target, ast.Name):
                continue
            dotted = self.resolve_name(node.value)
            if isinstance(node.value, ast.Lambda):
                self.local.add(target.id)
            elif dotted is not None and dotted.partition(".")[0] != target.id:
                self.modules.setdefault(target.id, dotted)
            # A second value makes the text unknown.
            known = target.id in self.texts
            self.texts[target.id] = None if known else _read_literal(node.value)

    def resolve_name(self, node: ast.AST) -> str | None:
        """Return the dotted name of an imported thing, such as `os.remove`."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute) and len(parts) < _MAX_DEPTH:
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id in self.modules:
            return ".".join([self.modules[node.id], *reversed(parts)])
        imported = self._resolve_dynamic_import(node)
        return None if imported is None else ".".join([imported, *reversed(parts)])

    def _resolve_dynamic_import(self, node: ast.AST) -> str | None:
        """Return the module of `__import__("os")`, or the attribute of `getattr(os, "remove")`."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return None
        literals = [_read_literal(argument) for argument in node.args]
        if node.func.id == "__import__" and literals and literals[0]:
            return literals[0]
        if node.func.id == "getattr" and len(node.args) > 1 and literals[1]:
            owner = self.resolve_name(node.args[0])
            return None if owner is None else f"{owner}.{literals[1]}"
        return None

    def judge_tree(self, tree: ast.AST) -> None:
        """Judge all nodes; an explicit stack, because hostile code may be nested deeply."""
        called = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called.add(id(node.func))
                self._judge_call(node)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                self._judge_attribute(node, is_called=id(node) in called)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._judge_name(node, is_called=id(node) in called)

    def _hands_on_module(self, node: ast.Call) -> bool:
        """Return whether a function of the source gets a module, which it then has no name for."""
        is_own = isinstance(node.func, ast.Lambda) or (
            isinstance(node.func, ast.Name) and node.func.id in self.local
        )
        values = [*node.args, *(keyword.value for keyword in node.keywords)] if is_own else []
        modules = filter(None, map(self.resolve_name, values))
        return any(map(_has_entry, modules))

    def _judge_name(self, node: ast.Name, *, is_called: bool) -> None:
        if node.id in OPAQUE_NAMES and not is_called and node.id not in self.local:
            self._doubt(node, "reaches for")
        elif not is_called and self.modules.get(node.id) in CHANGING_FUNCTIONS:
            self._change(node)

    def _judge_attribute(self, node: ast.Attribute, *, is_called: bool) -> None:
        dotted = self.resolve_name(node)
        if node.attr in OPAQUE_ATTRIBUTES or dotted in OPAQUE_FUNCTIONS:
            self._doubt(node, "reaches for")
        elif is_called:
            return
        elif dotted in CHANGING_FUNCTIONS:
            self._change(node)
        elif dotted in STARTING_FUNCTIONS:
            self._doubt(node, "hands on")
        elif dotted is None and node.attr in CHANGING_METHODS:
            self._change(node)

    def _judge_call(self, node: ast.Call) -> None:
        dotted = self.resolve_name(node.func)
        if self._hands_on_module(node):
            self._doubt(node, "hands on a module")
        if dotted == "logging.basicConfig" and any(k.arg == "filename" for k in node.keywords):
            self._change(node)
        elif dotted is not None:
            self._judge_imported_call(node, dotted)
        elif isinstance(node.func, ast.Name):
            self._judge_named_call(node, node.func.id)
        elif isinstance(node.func, ast.Attribute):
            self._judge_method_call(node, node.func)
        elif not isinstance(node.func, ast.Lambda):
            self._doubt(node, "calls a computed function")

    def _judge_imported_call(self, node: ast.Call, dotted: str) -> None:
        name = dotted.removeprefix("builtins.")
        if name in CHANGING_FUNCTIONS:
            self._change(node)
        elif name in STARTING_FUNCTIONS:
            self._judge_start(node)
        elif name in OPENING_FUNCTIONS:
            self._judge_opening(node, OPENING_FUNCTIONS[name])
        elif name in OPAQUE_FUNCTIONS:
            self._doubt(node, "calls")
        elif not self._judge_network_call(node, name):
            self._judge_module_function(node, dotted)

    def _judge_network_call(self, node: ast.Call, name: str) -> bool:
        """Judge requests and `os.open`, whose arguments decide; return whether it is one."""
        method = name.rpartition(".")[2]
        if name == "os.open":
            self._judge_os_open(node)
        elif name.startswith(("requests.", "httpx.")) and method in {"request", "stream"}:
            self._judge_request(node)
        elif name in {"urllib.request.urlopen", "urllib.request.Request"}:
            self._judge_urlopen(node)
        else:
            return False
        return True

    def _judge_module_function(self, node: ast.Call, dotted: str) -> None:
        method = dotted.rpartition(".")[2]
        writes_stream = any(dotted.startswith(f"{stream}.") for stream in STANDARD_STREAMS)
        # `json.dump(x, file)`: the file is judged where it is opened.
        if writes_stream or dotted in _DUMPING_FUNCTIONS:
            return
        if not _is_pure(dotted):
            self._judge_unknown_function(node, method)
        elif method in CHANGING_METHODS and not dotted.startswith(("os.path", "re.")):
            self._change(node)

    def _judge_unknown_function(self, node: ast.Call, name: str) -> None:
        """Judge a call into a module that is not known: its name may say that it writes."""
        words = re.split(r"_|(?<=[a-z])(?=[A-Z])", name)
        if words and words[0].lower() in WRITING_VERBS:
            self._change(node)
        else:
            self._doubt(node, "calls a module that is not known")

    def _judge_named_call(self, node: ast.Call, name: str) -> None:
        if name in self.local:
            return
        if name in {"exec", "eval", "compile"}:
            self._judge_nested_code(node)
        elif name in OPENING_FUNCTIONS:
            self._judge_opening(node, OPENING_FUNCTIONS[name])
        elif name == "getattr":
            self._judge_getattr(node)
        elif name in {"globals", "locals"} or self._resolve_dynamic_import(node) is not None:
            return
        elif name not in PLAIN_FUNCTIONS:
            self._doubt(node, "calls a function that is not known")

    def _judge_getattr(self, node: ast.Call) -> None:
        """`getattr` with a computed name on a module can reach anything."""
        literal = len(node.args) > 1 and _read_literal(node.args[1]) is not None
        if not literal and node.args and self.resolve_name(node.args[0]) is not None:
            self._doubt(node, "computes a name")
        elif literal and _read_literal(node.args[1]) in {*OPAQUE_ATTRIBUTES, *CHANGING_METHODS}:
            self._doubt(node, "reaches for")

    def _judge_nested_code(self, node: ast.Call) -> None:
        literal = self._read_text(node.args[0]) if node.args else None
        if literal is None:
            self._doubt(node, "runs computed code")
            return
        inner = judge_python(literal, self.depth + 1)
        self.found.changes += inner.changes
        self.found.doubts += inner.doubts
        self.found.programs += inner.programs
        self.found.scripts += inner.scripts

    def _judge_method_call(self, node: ast.Call, function: ast.Attribute) -> None:
        method = function.attr
        if method in CHANGING_METHODS:
            # Without arguments, `to_csv` and its like return a text.
            if node.args or node.keywords or not method.startswith(("to_", "write_")):
                self._change(node)
        elif method == "open":
            self._judge_opening(node, 0)
        elif method in {"replace", "rename"}:
            # `str.replace` has two arguments, `Path.replace` has one.
            if len(node.args) == 1 and not node.keywords:
                self._change(node)
        elif method == "execute":
            self._judge_execute(node)
        elif method in _ALWAYS_CHANGING:
            self._change(node)
        elif method == "request":
            self._judge_request(node)
        elif method not in PLAIN_METHODS | _WRITING_METHODS | self.local:
            self._doubt(node, "calls a method that is not known")

    def _judge_execute(self, node: ast.Call) -> None:
        literal = self._read_text(node.args[0]) if node.args else None
        if literal is None:
            self._doubt(node, "executes a computed statement")
            return
        inner = judge_sql(literal)
        self.found.changes += inner.changes
        self.found.doubts += inner.doubts

    def _judge_opening(self, node: ast.Call, position: int) -> None:
        mode: ast.AST | None = node.args[position] if len(node.args) > position else None
        for keyword in node.keywords:
            if keyword.arg == "mode":
                mode = keyword.value
            elif keyword.arg == "inplace":
                self._change(node)
                return
        if mode is None or position > 1:
            return
        text = self._read_text(mode)
        if text is None:
            self._doubt(node, "opens a file in a computed mode")
        elif _WRITING_MODE.match(text.partition("|")[0].partition(":")[0]):
            self._change(node)

    def _judge_os_open(self, node: ast.Call) -> None:
        flags = _show(node.args[1]) if len(node.args) > 1 else ""
        if re.search(r"O_(WRONLY|RDWR|CREAT|APPEND|TRUNC)", flags):
            self._change(node)
        elif "O_RDONLY" not in flags:
            self._doubt(node, "opens a file in a computed mode")

    def _judge_urlopen(self, node: ast.Call) -> None:
        sends = len(node.args) > 1 and not _is_none(node.args[1])
        for keyword in node.keywords:
            if keyword.arg == "data" and not _is_none(keyword.value):
                sends = True
            if keyword.arg == "method":
                sends = self._read_text(keyword.value) not in {"GET", "HEAD"}
        if sends:
            self._change(node)

    def _judge_request(self, node: ast.Call) -> None:
        method = self._read_text(node.args[0]) if node.args else None
        if method is None:
            self._doubt(node, "sends a request with a computed method")
        elif method.upper() not in {"GET", "HEAD", "OPTIONS"}:
            self._change(node)

    def _judge_start(self, node: ast.Call) -> None:
        """Add the command that a call starts, if its words can be read."""
        command = node.args[0] if node.args else None
        for keyword in node.keywords:
            if keyword.arg in {"args", "cmd"}:
                command = keyword.value
        script = None if command is None else self._read_command(command, node)
        if script is None:
            self._doubt(node, "starts a computed command")
        else:
            self.found.scripts.append(script)

    def _read_command(self, command: ast.AST, node: ast.Call) -> str | None:
        if isinstance(command, ast.List | ast.Tuple):
            words = [self._read_text(word) or _UNKNOWN_WORD for word in command.elts]
            if command.elts and self.resolve_name(command.elts[0]) == "sys.executable":
                words[0] = "python3"
            return shlex.join(words) if words and words[0] != _UNKNOWN_WORD else None
        text = self._read_text(command)
        # `os.execlp("rm", "rm", "x")` and the like list the words as arguments.
        function = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        lists = function.startswith(("execl", "spawnl", "execv", "create_subprocess_exec"))
        return f"{text} {_UNKNOWN_WORD}" if text is not None and lists else text

    def _read_text(self, node: ast.AST) -> str | None:
        """Return the text of a literal, of a name for one, or of an f-string with its gaps."""
        if isinstance(node, ast.Name):
            return self.texts.get(node.id)
        return _read_literal(node)

    def _change(self, node: ast.AST) -> None:
        if len(self.found.changes) < _MAX_SHOWN:
            self.found.changes.append(_show(node))

    def _doubt(self, node: ast.AST, what: str) -> None:
        if len(self.found.doubts) < _MAX_SHOWN:
            self.found.doubts.append(f"Python code {what}: {_show(node)}")


def _show(node: ast.AST) -> str:
    """Return the source of a node in one line; parts that are nested deeply are left out."""
    try:
        return shorten_code(ast.unparse(node))
    except (RecursionError, ValueError):
        return "…"


def _read_literal(node: ast.AST, depth: int = 0) -> str | None:
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bytes):
            return value.decode(errors="replace")
        return value if isinstance(value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = [_read_literal(part, depth + 1) or _UNKNOWN_WORD for part in node.values]
        return "".join(parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and depth < _MAX_DEPTH:
        left, right = _read_literal(node.left, depth + 1), _read_literal(node.right, depth + 1)
        return None if left is None else left + (right if right is not None else _UNKNOWN_WORD)
    return None


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _iter_prefixes(dotted: str) -> Iterator[str]:
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        yield ".".join(parts[:length])


def _is_pure(dotted: str) -> bool:
    return any(prefix in PURE_MODULES for prefix in _iter_prefixes(dotted))


def _has_entry(module: str) -> bool:
    """Return whether the tables have entries for functions of a module."""
    return any(
        name.startswith(f"{module}.")
        for name in (*CHANGING_FUNCTIONS, *STARTING_FUNCTIONS, *OPAQUE_FUNCTIONS)
    )
