"""MCP server over stdio: an assistant scores answers, lints documents and reads stored runs.

The tools do what the commands of their names do. They read files of one folder, write nothing but
the run that `score_file` stores when it is asked to, and ask no model.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from markscheme.keep import open_store, resolve_place
from markscheme.tell.lint import build_lint_document
from markscheme.version import __version__
from markscheme.vocabulary import Breakdown, ItemStatus, MarkschemeError, UsageError, to_float
from markscheme.workflows.compare import compare_runs
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.find_run import RunFinder
from markscheme.workflows.gate import gate, judge_run
from markscheme.workflows.mark import mark
from markscheme.workflows.prove import lint
from markscheme.workflows.report import build_report
from markscheme.workflows.score import score
from markscheme.workflows.stored_runs import build_run_list_record

_Parameters = ParamSpec("_Parameters")
_Tool = Callable[_Parameters, dict[str, Any]]
_INSTRUCTIONS = (
    "Score answers with rubrics. Rubrics and exams are files of this folder or built-in names "
    "(tutor-capstone, context-agent; capstone, capstone-extra, regression, context-queries). "
    "RUN is an id of list_runs, `latest`, a tag, or a result file. A score of null is unknown, "
    "not 0; a verdict `undecided` is no pass."
)
_MAX_ITEMS = 50


def serve_stdio(folder: Path, store: str | None) -> None:
    """Serve until the client closes the standard input. Files lie in `folder`, or below it."""
    build_server(folder, store).run("stdio")


def build_server(folder: Path, store: str | None) -> MCPServer[Any]:
    """Return the server with its tools."""
    server: MCPServer[Any] = MCPServer(
        "markscheme", instructions=_INSTRUCTIONS, version=__version__, log_level="ERROR"
    )
    tools = RubricTools(folder.resolve(), store)
    for tool in (
        tools.score_answer,
        tools.score_file,
        tools.lint,
        tools.gate,
        tools.failures,
        tools.compare_runs,
        tools.list_runs,
    ):
        server.tool()(tool)
    return server


def tell_errors(tool: _Tool[_Parameters]) -> _Tool[_Parameters]:
    """Decorator of tools: an expected error reaches the client as its message."""

    @functools.wraps(tool)
    def call_tool(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> dict[str, Any]:
        try:
            return tool(*arguments, **options)
        except MarkschemeError as error:
            raise ToolError(str(error)) from error

    return call_tool


class RubricTools:
    """The tools of the server; their docstrings are what a client shows."""

    def __init__(self, folder: Path, store: str | None) -> None:
        self._folder = folder
        self._store = store

    @tell_errors
    def score_answer(self, rubric: str, exam: str, item: str, output: str) -> dict[str, Any]:
        """Mark one answer to an item of an exam, with the reason for each axis."""
        loaded = load_rubric(self._find(rubric))
        found = load_exam(self._find(exam), rubric=loaded).get_item(item)
        return _describe_breakdown(mark(loaded, found, output))

    @tell_errors
    def score_file(
        self, rubric: str, exams: list[str], answers: str, *, store: bool = False
    ) -> dict[str, Any]:
        """Score a file of recorded answers; with `store`, keep the run for the other tools."""
        result = score(
            self._find(rubric),
            [self._find(exam) for exam in exams],
            self._find_file(answers),
            store=resolve_place(self._store) if store else None,
        )
        gates = [
            {"gate": found.gate.name, "outcome": found.outcome.value, "because": found.because}
            for found in result.gates
        ]
        tail = {key: value for key, value in result.tail().items() if key != "errors"}
        errors = [f"line {error.line}: {error.reason}" for error in result.errors[:_MAX_ITEMS]]
        return {**result.head(), **tail, "bad_rows": errors, "gates": gates} | {
            "runs": list(result.run_ids)
        }

    @tell_errors
    def lint(self, files: list[str], rubric: str | None = None) -> dict[str, Any]:
        """Look for mistakes in rubrics and exams; `rubric` says which axes an exam is for."""
        named = None if rubric is None else self._find(rubric)
        return build_lint_document(lint(*map(self._find, files), rubric=named))

    @tell_errors
    def gate(self, run: str, baseline: str | None = None) -> dict[str, Any]:
        """Judge a run by the gates of its rubric: pass, fail, or undecided with the reason."""
        against = None if baseline is None else self._find_run(baseline)
        report = gate(self._find_run(run), baseline=against, store=self._store)
        gates = [
            {
                "gate": found.gate.name,
                "level": found.gate.level.value,
                "outcome": found.outcome.value,
                "because": found.because,
            }
            for found in report.outcomes
        ]
        return {"verdict": report.verdict.value, "because": report.because, "gates": gates}

    @tell_errors
    def failures(self, run: str, limit: int = 20) -> dict[str, Any]:
        """List the items of a run that did not pass, the worst first, with their reasons."""
        with RunFinder(self._store) as runs:
            found = runs.find(self._find_run(run))
            report = build_report(runs, judge_run(runs, found, None), reasons=True)
        failed = [item for item in report.items if item.status is not ItemStatus.PASSED]
        failed.sort(key=lambda item: (item.score is not None, item.score or 0))
        kept = failed[: max(0, min(limit, _MAX_ITEMS))]
        items = [
            {
                "item": item.item,
                "status": item.status.value,
                "score": to_float(item.score),
                "answers": [
                    {"got": row.get("got"), "reasons": _list_reasons(row)} for row in item.answers
                ],
            }
            for item in kept
        ]
        return {"run": found.name, "failed": len(failed), "items": items}

    @tell_errors
    def compare_runs(self, runs: list[str], margin: str | None = None) -> dict[str, Any]:
        """Compare runs with the first of them: is another one worse? `margin` is in points."""
        from decimal import Decimal, InvalidOperation  # noqa: PLC0415 - of this tool alone

        try:
            allowed = None if margin is None else Decimal(margin)
        except InvalidOperation:
            raise UsageError(f"the margin must be a number such as 0.02, not `{margin}`") from None
        named = map(self._find_run, runs)
        return compare_runs(*named, margin=allowed, store=self._store).to_dict()

    @tell_errors
    def list_runs(self, limit: int = 20) -> dict[str, Any]:
        """List the stored runs, the newest first."""
        with open_store(self._store, create=False) as store:
            runs = store.list_runs(limit=max(1, min(limit, _MAX_ITEMS)))
            return build_run_list_record(runs, store.list_tags(), store.list_current_baselines())

    def _find(self, name: str) -> str:
        """Return a built-in name as it is, and a file of the folder by its path."""
        return str(self._find_file(name)) if "/" in name or "\\" in name or "." in name else name

    def _find_run(self, name: str) -> str:
        return str(self._find_file(name)) if Path(name).suffix else name

    def _find_file(self, name: str) -> Path:
        """Return the path of a file, which must lie in the folder."""
        path = (self._folder / name).resolve()
        if not path.is_relative_to(self._folder):
            raise UsageError(f"`{name}` is outside of the folder `{self._folder}`")
        return path


def _describe_breakdown(breakdown: Breakdown) -> dict[str, Any]:
    cells = {
        axis: {"status": cell.status.value, "value": to_float(cell.value), "reason": cell.reason}
        for axis, cell in breakdown.cells.items()
    }
    return {
        "item": breakdown.item,
        "score": to_float(breakdown.score),
        "got": breakdown.got,
        "expected": breakdown.expected,
        "axes": cells,
    }


def _list_reasons(row: Any) -> dict[str, str]:
    """Return the reason of each axis on which an answer lost points."""
    values, reasons = row["breakdown"], row.get("reason") or {}
    lost = [axis for axis, value in values.items() if value is None or value < 1]
    return {axis: reasons.get(axis) or "" for axis in lost}
