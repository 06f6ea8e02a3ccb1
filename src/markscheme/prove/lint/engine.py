"""The lint engine: read the documents, run every check that applies, and sort the findings."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markscheme.mark import find_item_problems, get_expectation_key
from markscheme.mark.axes import CriteriaAxis, PatternAxis
from markscheme.prove.lint.criteria_checks import check_criteria, check_rated_axes
from markscheme.prove.lint.decision_checks import (
    check_decision_table,
    check_table_exam,
    check_verdict_rules,
)
from markscheme.prove.lint.exam_checks import check_items, check_sizes
from markscheme.prove.lint.findings import (
    FindingLocation,
    Fix,
    LintFinding,
    locate_field,
    locate_finding,
    make_finding,
    parse_field_path,
)
from markscheme.prove.lint.judge_checks import JudgeDocument, check_judge
from markscheme.prove.lint.rubric_checks import RubricDocument, check_gate_tags, check_rubric
from markscheme.prove.lint.schema_checks import check_schema_words
from markscheme.read.documents import (
    COMPARISON_KEYS,
    FieldPath,
    YamlMapping,
    find_duplicate_ids,
    is_exam_tree,
    is_judge_tree,
    parse_exam_tree,
    parse_judge_tree,
    parse_rubric_tree,
    parse_tree,
)
from markscheme.vocabulary import Axis, AxisKinds, DocumentError, Item, Problem, Rubric

_JUDGE_KEY = re.compile(rb"(?m)^(judge|panel)\s*:")
_EXAM_KEY = re.compile(rb"(?m)^(exam|items)\s*:")


@dataclass(frozen=True, slots=True, kw_only=True)
class LintSource:
    """The bytes of one document. If it is not `linted`, it only helps to judge the others.

    `folder` is where files that it names are looked for.
    """

    file: str
    data: bytes
    linted: bool = True
    folder: Path = Path()


@dataclass(frozen=True, slots=True, kw_only=True)
class LintRegistry:
    """What documents may name: axis kinds, normalisation steps, expectations, built-in exams.

    `default_axes` are the axes by which an exam is checked if no rubric is given; `judged` are the
    subjects that a judge will be asked about.
    """

    kinds: AxisKinds
    steps: Collection[str]
    expectations: Collection[str]
    default_axes: Sequence[Axis]
    exams: Collection[str]
    judged: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _ExamDocument:
    name: str
    items: Sequence[Item]
    tree: YamlMapping
    location: FindingLocation


def lint_documents(sources: Sequence[LintSource], registry: LintRegistry) -> list[LintFinding]:
    """Return the findings in the linted sources, sorted by file and line."""
    linter = _Linter(sources, registry)
    linter.read_documents()
    linter.check_documents()
    return linter.sort_findings()


class _Linter:
    """Collects the findings of one set of documents."""

    def __init__(self, sources: Sequence[LintSource], registry: LintRegistry) -> None:
        self.registry = registry
        self.sources = sources
        self.findings: list[LintFinding] = []
        self.rubrics: list[RubricDocument] = []
        self.exams: list[_ExamDocument] = []
        self.judges: list[JudgeDocument] = []
        # If a rubric cannot be read, nobody knows which axes will score the exams. Their items
        # are then not checked, because findings by other axes would be misleading.
        self.has_refused_rubric = False

    def read_documents(self) -> None:
        """Read rubrics first, then exams, which are read by the axes of the rubric."""
        exams = []
        for source in self.sources:
            try:
                tree = parse_tree(source.data, source.file)
            except DocumentError as error:
                self._add_unparsable(source, error.problems)
                continue
            if is_judge_tree(tree):
                self._read_judge(source, tree)
            elif is_exam_tree(tree):
                exams.append((source, tree))
            else:
                self._read_rubric(source, tree)
        for source, tree in exams:
            self._read_exam(source, tree)

    def check_documents(self) -> None:
        """Run the checks on every document that could be read."""
        for document in self.rubrics:
            self._check_rubric(document)
        for judge in self.judges:
            self._check_judge(judge)
        if self.has_refused_rubric:
            return
        for exam in self.exams:
            fixable = self._rubric is not None
            findings = check_items(exam.items, self._get_axes(), fixable=fixable)
            self.findings += [locate_finding(finding, exam.tree) for finding in findings]
            for axis in self._get_axes():
                if isinstance(axis, CriteriaAxis):
                    found = check_criteria(exam.items, axis)
                    self.findings += [locate_finding(finding, exam.tree) for finding in found]

    def sort_findings(self) -> list[LintFinding]:
        """Return the findings in linted files, each once, by file and line."""
        order = [source.file for source in self.sources if source.linted]
        linted = dict.fromkeys(f for f in self.findings if f.file in order)
        return sorted(linted, key=lambda f: (order.index(f.file), f.line, f.code, f.message))

    def _add_unparsable(self, source: LintSource, problems: Sequence[Problem]) -> None:
        """Add the findings for a file that is not YAML; guess what it is."""
        if _JUDGE_KEY.search(source.data):
            self.findings += [
                make_finding("J001", _locate_problem(problem), problem.message)
                for problem in problems
            ]
        elif _EXAM_KEY.search(source.data):
            self.findings += [_classify_exam_problem(problem, None, (), ()) for problem in problems]
        else:
            self.has_refused_rubric = True
            self.findings += [_classify_rubric_problem(problem, None) for problem in problems]

    def _read_rubric(self, source: LintSource, tree: YamlMapping) -> None:
        kinds, steps = self.registry.kinds, self.registry.steps
        try:
            rubric = parse_rubric_tree(tree, source.file, kinds=kinds, steps=steps)
        except DocumentError as error:
            self.has_refused_rubric = True
            self.findings += [_classify_rubric_problem(problem, tree) for problem in error.problems]
        else:
            self.rubrics.append(RubricDocument(rubric=rubric, tree=tree, file=source.file))

    def _read_exam(self, source: LintSource, tree: YamlMapping) -> None:
        axes, rubric = self._get_axes(), self._rubric
        known = {*self.registry.expectations, *filter(None, map(get_expectation_key, axes))}

        def check(item: Item) -> Iterator[Problem]:
            yield from (
                find_item_problems(rubric, item) if rubric else _find_default_problems(axes, item)
            )

        name, items, problems = parse_exam_tree(tree, source.file, sorted(known), check)
        problems += find_duplicate_ids(items)
        findings = [_classify_exam_problem(problem, tree, axes, known) for problem in problems]
        self.findings += [locate_finding(finding, tree) for finding in findings]
        location = locate_field(tree, source.file, "exam")
        self.exams.append(_ExamDocument(name=name, items=items, tree=tree, location=location))

    def _read_judge(self, source: LintSource, tree: YamlMapping) -> None:
        try:
            judge = parse_judge_tree(tree, source.file, source.folder)
        except DocumentError as error:
            self.findings += [_classify_judge_problem(found, source) for found in error.problems]
        else:
            self.judges.append(JudgeDocument(judge=judge, tree=tree, file=source.file))

    def _check_judge(self, document: JudgeDocument) -> None:
        """Check a judge; beside rubric and exam also by what it will be asked."""
        only = self.rubrics[0].rubric if len(self.rubrics) == 1 else None
        items = [item for exam in self.exams for item in exam.items]
        self.findings += check_judge(document, self.registry.judged, only, self._get_axes(), items)

    @property
    def _rubric(self) -> Rubric | None:
        """The rubric that the exams belong to: the only one with axes, if there is only one."""
        scoring = [document.rubric for document in self.rubrics if document.rubric.axes]
        return scoring[0] if len(scoring) == 1 else None

    def _get_axes(self) -> Sequence[Axis]:
        rubric = self._rubric
        return [spec.axis for spec in rubric] if rubric else self.registry.default_axes

    def _check_rubric(self, document: RubricDocument) -> None:
        rubric, tree, file = document.rubric, document.tree, document.file
        exams = {exam.name: exam.items for exam in self.exams if exam.name}
        known_exams = [*dict.fromkeys([*self.registry.exams, *exams])]
        self.findings += check_rubric(document, known_exams)
        self.findings += check_schema_words(document)
        self.findings += check_rated_axes(document)
        if rubric.verdict_rules is not None:
            self.findings += check_verdict_rules(rubric.verdict_rules, tree, file)
        if rubric.decision_table is not None:
            self.findings += check_decision_table(rubric.decision_table, tree, file)
            for items in exams.values():
                self.findings += check_table_exam(rubric.decision_table, items, tree, file)
        if rubric is self._rubric:
            self._check_rubric_with_exams(document, exams)

    def _check_rubric_with_exams(
        self, document: RubricDocument, exams: Mapping[str, Sequence[Item]]
    ) -> None:
        """Check the gates against the exams; report at the rubric if it is linted, else there."""
        linted = any(s.linted and s.file == document.file for s in self.sources)
        locations = {} if linted else {exam.name: exam.location for exam in self.exams}
        self.findings += check_sizes(document, exams, locations)
        for name, items in exams.items():
            self.findings += check_gate_tags(document, name, items)


def _find_default_problems(axes: Sequence[Axis], item: Item) -> Iterator[Problem]:
    """Yield the problems of an item's expectations, by the axes that read them by default."""
    place = item.place
    for axis in axes:
        key = get_expectation_key(axis)
        if place is None or key not in item.expectations:
            continue
        for name, message in axis.item_problems(item):
            line = place.get_line(name)
            yield Problem(
                file=place.file, line=line, field=f"{place.field}.{name}", message=message
            )


# Problems of the document readers, as findings with a code and perhaps a fix

_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")
_RUBRIC_CODES = {
    ("axes", "weight"): "R003",
    ("axes", "pattern"): "R004",
    ("gates", "metric"): "R005",
    ("gates", "axis"): "R006",
}


def _classify_rubric_problem(problem: Problem, tree: YamlMapping | None) -> LintFinding:
    """Return the finding for a problem of a rubric. Without a tree, the file is not YAML."""
    if tree is None:
        return make_finding("R001", _locate_problem(problem), problem.message)
    path = parse_field_path(problem.field)
    code = _RUBRIC_CODES.get((str(path[0]), str(path[2]))) if len(path) == 3 else None  # noqa: PLR2004 - list, index, key
    if path and path[0] in COMPARISON_KEYS:
        code = "D001"
    return make_finding(
        code or "R002",
        _locate_problem(problem),
        problem.message,
        _build_problem_fix(problem, path, tree),
    )


def _classify_judge_problem(problem: Problem, source: LintSource) -> LintFinding:
    """Return the finding for a problem of a judge, or of the file of a judge in a panel."""
    if problem.file == source.file:
        return make_finding("J002", _locate_problem(problem), problem.message)
    location = FindingLocation(file=source.file, line=1, field="judges")
    return make_finding("J002", location, str(problem))


def _classify_exam_problem(
    problem: Problem, tree: YamlMapping | None, axes: Sequence[Axis], known: Collection[str]
) -> LintFinding:
    """Return the finding for a problem of an exam that these axes read.

    `known` are the expectation keys. Without a tree, the file is not YAML.
    """
    if tree is None:
        return make_finding("E001", _locate_problem(problem), problem.message)
    path = parse_field_path(problem.field)
    key = str(path[2]) if len(path) > 2 else ""  # noqa: PLR2004 - items, index, key
    code = "E002"
    if key in known:
        patterns = {axis.expectation for axis in axes if isinstance(axis, PatternAxis)}
        code = "E004" if key in patterns and _get_tree_text(tree, path) else "E003"
    return make_finding(
        code, _locate_problem(problem), problem.message, _build_problem_fix(problem, path, tree)
    )


def _locate_problem(problem: Problem) -> FindingLocation:
    return FindingLocation(file=problem.file, line=problem.line, field=problem.field)


def _get_tree_value(tree: YamlMapping, path: FieldPath) -> Any:
    node: Any = tree
    for part in path:
        exists = (isinstance(node, dict) and part in node) or (
            isinstance(node, list) and isinstance(part, int) and part < len(node)
        )
        if not exists:
            return None
        node = node[part]
    return node


def _get_tree_text(tree: YamlMapping, path: FieldPath) -> str | None:
    value = _get_tree_value(tree, path)
    return value if isinstance(value, str) else None


def _build_problem_fix(problem: Problem, path: FieldPath, tree: YamlMapping) -> Fix | None:
    """Return the fix if the reader says that only quotation marks or brackets are missing."""
    text = _get_tree_text(tree, path)
    if "put it in quotation marks" in problem.message and text is None:
        return Fix(path=path, action="quote")
    if "a number, not" in problem.message and text is not None and _NUMBER.fullmatch(text):
        return Fix(path=path, action="unquote", text=text)
    if "must be a list of texts" in problem.message and text is not None:
        return Fix(path=path, action="wrap")
    return None
