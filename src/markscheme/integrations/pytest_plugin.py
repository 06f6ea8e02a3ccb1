"""Plugin of pytest: one test for each item of an exam, the run stored, and its gates at the end.

A session that uses no marker `markscheme` imports this module and nothing else of the package.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from markscheme import Breakdown, Exam, GateReport, Item, Result, Rubric  # noqa: TC004 - annotations only

_MARKER = (
    "markscheme(rubric, exam, subject=None, at_least=None, plugin=None): "
    "one test for each item of the exam, marked by the rubric"
)
_MARKER_KEYS = {"rubric", "exam", "subject", "at_least", "plugin"}
_WORKER_KEY = "markscheme_answers"
_MEASURES = ("latency_ms", "tokens_in", "tokens_out", "cost")


@dataclass(kw_only=True)
class ExamTests:
    """The answers that the tests of one function got, one test for each item of its exam."""

    rubric: Rubric
    exam: Exam
    subject: str | None
    at_least: Any
    answers: list[dict[str, Any]] = field(default_factory=list)
    items_run: set[str] = field(default_factory=set)


_TESTS = pytest.StashKey[dict[str, ExamTests]]()
_SUMMARY = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("markscheme", "markscheme: rubrics as code")
    group.addoption(
        "--markscheme-gate",
        action="store_true",
        help="apply the gates of the rubric at the end; one that is not met fails the session",
    )
    group.addoption(
        "--markscheme-store",
        metavar="FILE|URL",
        help="the store of runs; by default that of the command markscheme",
    )
    group.addoption(
        "--markscheme-no-store", action="store_true", help="do not store the run of the tests"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", _MARKER)
    config.stash[_TESTS] = {}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test for each item of the exam that the marker names."""
    marker = metafunc.definition.get_closest_marker("markscheme")
    if marker is None:
        return
    if "item" not in metafunc.fixturenames:
        raise pytest.Collector.CollectError(
            f"{metafunc.function.__name__} has the marker `markscheme`, so it needs the argument "
            "`item`, and `marks` to mark the answer"
        )
    if metafunc.config.getoption("--markscheme-gate") and "marks" not in metafunc.fixturenames:
        # Nothing would be marked, so no gate could fail.
        raise pytest.Collector.CollectError(
            f"--markscheme-gate judges {metafunc.function.__name__}, so it needs the argument "
            "`marks`"
        )
    tests = _load_tests(metafunc, marker)
    items = tests.exam.items
    metafunc.parametrize("item", items, ids=[item.id for item in items])


def _load_tests(metafunc: pytest.Metafunc, marker: pytest.Mark) -> ExamTests:
    known = metafunc.config.stash[_TESTS]
    key = _get_function_key(metafunc.definition)
    if key not in known:
        known[key] = _read_marker(marker, metafunc.definition.path.parent)
    return known[key]


def _get_function_key(node: pytest.Item) -> str:
    """Return the node id of a test function without the parameters of one test."""
    return node.nodeid.partition("[")[0]


def _read_marker(marker: pytest.Mark, folder: Path) -> ExamTests:
    from markscheme import MarkschemeError, load_exam, load_rubric  # noqa: PLC0415 - see above
    from markscheme.mark.axes import load_plugin_file  # noqa: PLC0415

    unknown = sorted(marker.kwargs.keys() - _MARKER_KEYS)
    missing = [key for key in ("rubric", "exam") if key not in marker.kwargs]
    if marker.args or unknown or missing:
        raise pytest.Collector.CollectError(
            'use @pytest.mark.markscheme(rubric="rubric.yaml", exam="exam.yaml"), '
            "with `subject`, `at_least` and `plugin` where needed"
        )
    names, plugins = (_to_list(marker.kwargs.get(key)) for key in ("exam", "plugin"))
    try:
        for plugin in plugins:
            load_plugin_file(_find_document(plugin, folder))
        rubric = load_rubric(_find_document(marker.kwargs["rubric"], folder))
        exam = load_exam(*(_find_document(name, folder) for name in names), rubric=rubric)
    except MarkschemeError as error:
        raise pytest.Collector.CollectError(str(error)) from None
    return ExamTests(
        rubric=rubric,
        exam=exam,
        subject=marker.kwargs.get("subject"),
        at_least=_read_bar(marker.kwargs.get("at_least"), rubric),
    )


def _to_list(value: Any) -> list[Any]:
    """Return one name or several as a list; nothing as an empty one."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _find_document(name: str | Path, folder: Path) -> str | Path:
    """Return a file beside the tests if it is there, else the name as it is."""
    beside = folder / name
    return beside if beside.is_file() else name


def _read_bar(stated: Any, rubric: Rubric) -> Any:
    from fractions import Fraction  # noqa: PLC0415 - only sessions with the marker need it

    return Fraction(rubric.pass_mark if stated is None else str(stated))


@pytest.fixture
def item() -> Item:
    """Give the item of the exam that this test is about."""
    pytest.fail("`item` comes from the marker: @pytest.mark.markscheme(rubric=…, exam=…)", False)


class ItemMarks:
    """Marks the answer of one test: call it with what was answered."""

    def __init__(self, tests: ExamTests, item: Item) -> None:
        self._tests = tests
        self._item = item

    def __call__(
        self,
        output: str | Mapping[str, Any],
        *,
        latency_ms: float | None = None,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
        cost: float | None = None,
    ) -> Breakdown:
        """Mark an answer, keep it for the run, and fail the test if it is below the pass mark."""
        from markscheme import mark  # noqa: PLC0415 - a session without the marker loads nothing

        breakdown = mark(self._tests.rubric, self._item, output)
        measures = zip(_MEASURES, (latency_ms, tokens_in, tokens_out, cost), strict=True)
        row = {"item": self._item.id, "output": output} | {
            k: v for k, v in measures if v is not None
        }
        self._tests.answers.append(row)
        if breakdown.score is None or breakdown.score < self._tests.at_least:
            pytest.fail(self._explain(breakdown), pytrace=False)
        return breakdown

    def _explain(self, breakdown: Breakdown) -> str:
        from markscheme.vocabulary import format_decimal, format_short  # noqa: PLC0415

        bar = format_decimal(self._tests.at_least)
        score = "not scored" if breakdown.score is None else format_decimal(breakdown.score)
        lines = [f"{self._item.id}: score {score}, below {bar}", f"  got: {breakdown.got}"]
        for spec in self._tests.rubric:
            cell = breakdown.cells[spec.name]
            value = cell.status.value if cell.value is None else format_short(cell.value)
            lines.append(f"  {spec.name} {value} × {spec.weight}: {cell.reason}")
        return "\n".join(lines)


@pytest.fixture
def marks(request: pytest.FixtureRequest) -> ItemMarks:
    """Mark the answer to the item of this test: `marks(answer)`."""
    tests = request.config.stash[_TESTS].get(_get_function_key(request.node))
    if tests is None:
        pytest.fail("`marks` needs @pytest.mark.markscheme(rubric=…, exam=…)", pytrace=False)
    item: Item = request.getfixturevalue("item")
    tests.items_run.add(item.id)
    return ItemMarks(tests, item)


# The end of the session. With xdist, workers hand their answers to the session that started them.


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over the answers of a worker of xdist that has ended."""
    del error
    known = node.config.stash[_TESTS]
    output = json.loads(getattr(node, "workeroutput", {}).get(_WORKER_KEY, "{}"))
    for key, kept in output.items():
        if key not in known:
            known[key] = _read_sent_tests(kept)
        known[key].answers += kept["answers"]
        known[key].items_run |= set(kept["items_run"])


def _read_sent_tests(kept: Mapping[str, Any]) -> ExamTests:
    """Load the documents in the session that started the workers: it collects nothing itself."""
    mark = pytest.mark.markscheme(**kept["marker"]).mark
    return _read_marker(mark, Path(kept["folder"]))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remember how the marker was written, so that a worker can tell it to its session."""
    for node in items:
        tests = config.stash[_TESTS].get(_get_function_key(node))
        marker = node.get_closest_marker("markscheme")
        if tests is not None and marker is not None and hasattr(config, "workerinput"):
            kept = _get_sent(config).setdefault(_get_function_key(node), {})
            kept["marker"] = {key: _to_plain(value) for key, value in marker.kwargs.items()}
            kept["folder"] = str(node.path.parent)


_SENT = pytest.StashKey[dict[str, dict[str, Any]]]()


def _get_sent(config: pytest.Config) -> dict[str, dict[str, Any]]:
    return config.stash.setdefault(_SENT, {})


def _to_plain(value: Any) -> Any:
    """Return an argument of the marker as JSON can hold it: paths and numbers as text."""
    if isinstance(value, list | tuple):
        return [_to_plain(entry) for entry in value]
    return value if value is None else str(value)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Score and store the answers of each test function; judge them if gates were asked for."""
    config = session.config
    used = {key: tests for key, tests in config.stash[_TESTS].items() if tests.items_run}
    if hasattr(config, "workerinput"):
        sent = _get_sent(config)
        for key, tests in used.items():
            sent[key] |= {"answers": tests.answers, "items_run": sorted(tests.items_run)}
        finished = {key: kept for key, kept in sent.items() if "answers" in kept}
        config.workeroutput[_WORKER_KEY] = json.dumps(finished, default=str)  # type: ignore[attr-defined]
        return
    summary = config.stash[_SUMMARY] = []
    for key, tests in sorted(used.items()):
        passed = _finish_tests(key, tests, config, summary)
        if not passed and session.exitstatus in {
            pytest.ExitCode.OK,
            pytest.ExitCode.NO_TESTS_COLLECTED,
        }:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _finish_tests(key: str, tests: ExamTests, config: pytest.Config, summary: list[str]) -> bool:
    """Score the answers of one function; return whether its gates let the session pass."""
    from markscheme import MarkschemeError  # noqa: PLC0415 - a session without the marker

    try:
        result, stored = _score_answers(tests, config)
        summary.append(f"{key}: {result!r}; {stored}")
        if not config.getoption("--markscheme-gate"):
            return True
        return _apply_gates(_judge(result, config), summary)
    except MarkschemeError as error:
        summary.append(f"{key}: {error}")
        return False


def _score_answers(tests: ExamTests, config: pytest.Config) -> tuple[Result, str]:
    """Score all answers; store the run unless some items were left out, as by `-k`."""
    from markscheme import score  # noqa: PLC0415 - a session without the marker
    from markscheme.keep import resolve_place  # noqa: PLC0415

    rows = list(_number_attempts(tests))
    left_out = len(tests.exam.items) - len(tests.items_run)
    if config.getoption("--markscheme-no-store"):
        return score(tests.rubric, tests.exam, rows), "not stored"
    if left_out:
        items = "1 item was" if left_out == 1 else f"{left_out} items were"
        reason = f"not stored, because {items} not run"
        return score(tests.rubric, tests.exam, rows), reason
    place = str(resolve_place(config.getoption("--markscheme-store")))
    result = score(tests.rubric, tests.exam, rows, store=place)
    return result, f"stored as run {', '.join(result.run_ids)}"


def _number_attempts(tests: ExamTests) -> Iterator[dict[str, Any]]:
    """Yield the answers in the order of the exam, whichever worker got them, with attempts."""
    order = {item.id: place for place, item in enumerate(tests.exam.items)}
    attempts: Counter[str] = Counter()
    by_item = sorted(
        tests.answers, key=lambda row: (order[row["item"]], json.dumps(row["output"], default=str))
    )
    for row in by_item:
        attempts[row["item"]] += 1
        subject = {} if tests.subject is None else {"subject": tests.subject}
        yield {**row, "attempt": attempts[row["item"]], **subject}


def _judge(result: Result, config: pytest.Config) -> GateReport:
    from markscheme import gate  # noqa: PLC0415 - a session without the marker

    if result.run_ids:
        return gate(result.run_ids[0], store=config.getoption("--markscheme-store"))
    return result.judge()


def _apply_gates(report: GateReport, summary: list[str]) -> bool:
    """Tell the outcome of each gate; only a verdict `pass` lets the session pass."""
    summary += [
        f"  {found.gate.level} gate {found.gate.name}: {found.outcome} ({found.because})"
        for found in report.outcomes
    ]
    passed = report.verdict.value == "pass"
    summary.append(f"  verdict: {report.verdict}{'' if passed else f' ({report.because})'}")
    return passed


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the scores, and the gates if they were asked for."""
    lines = config.stash.get(_SUMMARY, [])
    if lines:
        terminalreporter.section("markscheme")
        for line in lines:
            terminalreporter.write_line(line)
