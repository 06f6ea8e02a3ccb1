"""Measure how readable the package is, beside an earlier commit and other packages.

python scripts/measure_code.py                    # this tree, and the commit before the renovation
python scripts/measure_code.py --before REVISION  # another earlier commit
python scripts/measure_code.py --packages httpx   # packages that are installed here

Every column is computed by the same code. The last two rows trace `markscheme score` of three
answers, stored as usual, in a process of its own: named functions of the package that are entered.
"""

from __future__ import annotations

import argparse
import ast
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tokenize
from collections import Counter
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent.parent
BEFORE = "5519d2c"  # the last commit before the renovation

# The first word of a function name counts as a verb if it is one of these.
VERBS = frozenset(
    """
    abort accept accumulate acquire add adjust admit advance aggregate align allocate allow
    analyse analyze annotate answer append apply arrange ask assemble assert assign attach
    audit await begin bind break bring build bump cache calculate call cancel cast catch
    categorize chain change check choose classify clean clear close coerce collapse collect
    colour combine commit compare compile complete compose compress compute concat configure
    confirm connect consume contain continue convert copy correct count cover create cut
    deal debug decide declare decode decompress decrease deduplicate define delete derive
    describe deserialize detach detect determine diff disable discard discover dispatch
    display divide do download drain draw drop dump emit enable encode end enqueue ensure
    enter enumerate erase escape estimate evaluate examine exclude execute exit expand
    expect explain export extend extract fail feed fetch fill filter find finish fix flatten
    flush fold follow force forget format forward freeze gather generate get give go grade
    grow guard guess halt handle hash have hide hold identify ignore import include increase
    increment index infer inform init initialise initialize inject insert inspect install
    interpolate interpret invalidate invert invoke iter iterate join judge keep kill label
    launch lay lint list listen load locate lock log look lookup lower make manage map mark
    mask match measure merge migrate mix mock modify mount move mutate name narrow need
    negotiate normalise normalize note notify number observe omit open order overlay
    override pack pad page pair parse pass paste patch peek perform pick place plan play
    poll pop populate post prepare preload print probe process produce prompt propagate
    propose prove provide prune publish pull purge push put query quote raise rank rate read
    rebuild recalibrate recall receive recognise recognize recompute reconnect record
    recover redirect reduce refine refresh refuse register reject release reload remember
    remove rename render repair repeat replace replay report request require rescore reserve
    reset reshape resolve respond restore resume retry return reuse revert rewind rewrite
    rollback rotate round run sample sanitize save say scale scan schedule score search seek
    select send separate serialise serialize serve set settle setup share shift shorten show
    shuffle shut sign simplify simulate skip sleep slice slow solve sort spell split squash
    stack start state stop store stream strike strip submit subscribe substitute subtract
    suggest sum summarise summarize suppress survive swap sync synthesize tag take tally
    teardown tell terminate test throttle tie tokenize touch trace track transform translate
    traverse trim truncate try tune turn twist type unescape unfold unify unlink unlock
    unpack unregister unwrap update upgrade upload use validate verify visit wait wake walk
    warn watch weigh wrap write yield zip
    """.split()  # noqa: SIM905 - a list of 400 words reads better as text
)
PREDICATES = frozenset({"is", "has", "can", "are", "should", "was", "may", "must", "needs", "does"})


@dataclass
class Figures:
    """What is counted in one package."""

    modules: int = 0
    lines: int = 0
    comment_lines: int = 0
    docstring_lines: int = 0
    functions: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    imports: Counter[str] = field(default_factory=Counter)

    def count_module(self, path: Path) -> None:
        """Add one file."""
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        self.modules += 1
        self.lines += text.count("\n")
        self.comment_lines += count_comment_lines(text)
        for node in ast.walk(tree):
            self._count_node(node)
        self._count_imports(tree.body, "module")

    def _count_node(self, node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("__"):
                self.functions[node.name.strip("_")] += 1
        elif isinstance(node, ast.ClassDef):
            self.classes[node.name] += 1
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if ast.get_docstring(node) is not None and first is not None:
                self.docstring_lines += (first.end_lineno or first.lineno) - first.lineno + 1

    def _count_imports(self, body: list[ast.stmt], where: str) -> None:
        for node in body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self.imports[where] += 1
            elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
                self._count_imports(node.body, "type checking")
            else:
                inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                for _, value in ast.iter_fields(node):
                    if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                        self._count_imports(value, "function" if inside else where)

    def to_rows(self) -> dict[str, str]:
        """Return the figures by the name of their row."""
        functions = sum(self.functions.values())
        imports = sum(self.imports.values())
        first = Counter(word_class(name) for name in self.functions.elements())
        single = sum(count for name, count in self.functions.items() if "_" not in name)
        repeated = [name for name, count in self.classes.items() if count > 1]
        return {
            "modules": f"{self.modules:,}",
            "lines": f"{self.lines:,}",
            "functions per module": f"{functions / self.modules:.1f}",
            "function name begins with a verb": percent(first["verb"], functions),
            "function name is a single word": percent(single, functions),
            "class names that exist twice or more": str(len(repeated)),
            "docstring share of lines": percent(self.docstring_lines, self.lines),
            "whole-line comments": f"{100 * self.comment_lines / self.lines:.1f} %",
            "imports under TYPE_CHECKING": percent(self.imports["type checking"], imports),
            "imports inside functions": percent(self.imports["function"], imports),
        }


def word_class(name: str) -> str:
    """Return `verb` where the first word of a name is a verb or a predicate."""
    first = name.split("_", 1)[0].lower()
    is_predicate = first in PREDICATES and "_" in name
    return "verb" if first in VERBS or is_predicate else "other"


def percent(part: int, whole: int) -> str:
    """Return a share as a whole percentage."""
    return f"{100 * part / whole:.0f} %" if whole else "–"


def count_comment_lines(text: str) -> int:
    """Count the lines that hold a comment and nothing else."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(
        token.type == tokenize.COMMENT and token.line.lstrip().startswith("#") for token in tokens
    )


def measure_package(folder: Path) -> Figures:
    """Measure every module below a folder."""
    figures = Figures()
    for path in sorted(folder.rglob("*.py")):
        figures.count_module(path)
    return figures


# Runs in a process of its own: `sys.setprofile` sees every function that is entered.
TRACE = """
import inspect, os, sys, threading
seen, package = set(), sys.argv.pop(1)
def look(frame, event, argument):
    code = frame.f_code
    is_function = code.co_flags & inspect.CO_OPTIMIZED  # a class body is none
    has_name = not code.co_name.startswith("<")  # no lambda, no comprehension
    if event == "call" and is_function and has_name and code.co_filename.startswith(package):
        seen.add((code.co_filename, code.co_qualname, code.co_firstlineno))
import markscheme.__main__
sys.argv = ["markscheme", *sys.argv[1:]]
threading.setprofile(look)
sys.setprofile(look)
end = os._exit
def report(code):
    sys.setprofile(None)
    print(len({file for file, *_ in seen}), len(seen), file=sys.stderr, flush=True)
    end(0)
os._exit = report  # earlier versions end the process so
try:
    markscheme.__main__.main()
except SystemExit:
    pass
report(0)
"""


def trace_score(source: Path) -> dict[str, str]:
    """Count the modules and functions of the package that a score of three answers runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {"PYTHONPATH": str(source), "PATH": "", "HOME": name}
        command = [sys.executable, "-m", "markscheme", "init", str(folder / "project")]
        subprocess.run(command, check=True, capture_output=True, env=environment)  # noqa: S603 - ours
        inputs = ["-r", "rubric.yaml", "-e", "exam.yaml", "-a", "answers.jsonl"]
        command = [sys.executable, "-c", TRACE, str(source / "markscheme"), "score", *inputs]
        done = subprocess.run(  # noqa: S603 - our own code
            command,
            check=True,
            capture_output=True,
            text=True,
            env=environment,
            cwd=folder / "project",
        )
    modules, functions = done.stderr.split()[-2:]
    return {
        "modules that `score` of three answers runs": modules,
        "functions that `score` of three answers runs": functions,
    }


def measure_tree(source: Path) -> dict[str, str]:
    """Measure markscheme in a source folder."""
    return measure_package(source / "markscheme").to_rows() | trace_score(source)


def measure_revision(revision: str) -> dict[str, str]:
    """Measure markscheme as it was in an earlier commit."""
    command = ["git", "-C", str(ROOT), "archive", revision, "src"]
    archive = subprocess.run(command, check=True, capture_output=True).stdout  # noqa: S603 - git
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as file:
            file.extractall(folder, filter="data")
        source = Path(folder) / "src"
        _copy_scanner(source)
        return measure_tree(source)


def _copy_scanner(source: Path) -> None:
    """Copy the compiled scanner beside its source, so that both trees read answers the same way."""
    built = next((ROOT / "src").rglob("_scan.so"), None)
    for code in source.rglob("scan.c") if built else ():
        shutil.copy(str(built), code.with_name("_scan.so"))


def main() -> None:
    """Print a table, one column for each tree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--before", default=BEFORE, metavar="REVISION")
    parser.add_argument("--packages", nargs="*", default=["httpx", "structlog"], metavar="NAME")
    arguments = parser.parse_args()
    columns = {
        f"before ({arguments.before})": measure_revision(arguments.before),
        "this tree": measure_tree(ROOT / "src"),
    }
    for name in arguments.packages:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            print(f"{name} is not installed here; its column is left out", file=sys.stderr)
        else:
            columns[name] = measure_package(Path(spec.origin).parent).to_rows()
    names = list(columns["this tree"])
    widths = [max(map(len, names)), *(max(len(title), 8) for title in columns)]
    print("  ".join(text.ljust(width) for text, width in zip(["", *columns], widths, strict=True)))
    for name in names:
        cells = [name, *(column.get(name, "–").rjust(8) for column in columns.values())]
        print("  ".join(text.ljust(width) for text, width in zip(cells, widths, strict=True)))


if __name__ == "__main__":
    main()
