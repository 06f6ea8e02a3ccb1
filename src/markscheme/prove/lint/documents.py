"""Lint: reads documents, asks every check that applies to them, and gathers what was found."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markscheme.mark import find_item_problems, get_expectation_key
from markscheme.prove.lint.decision_checks import (
    check_decision_table,
    check_table_exam,
    check_verdict_rules,
)
from markscheme.prove.lint.exam_checks import check_items
from markscheme.prove.lint.exam_size import check_sizes
from markscheme.prove.lint.findings import (
    FindingLocation,
    LintFinding,
    locate_field,
    locate_finding,
)
from markscheme.prove.lint.refusals import classify_exam_problem, classify_rubric_problem
from markscheme.prove.lint.rubric_checks import RubricDocument, check_gate_tags, check_rubric
from markscheme.read.documents import (
    YamlMapping,
    find_duplicate_ids,
    parse_exam_tree,
    parse_rubric_tree,
    parse_tree,
)
from markscheme.vocabulary import Axis, DocumentError, Item, Problem, Rubric

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXAM_KEY = re.compile(rb"(?m)^(exam|items)\s*:")


@dataclass(frozen=True, slots=True, kw_only=True)
class LintSource:
    """A file to be linted, or one that is only there beside those."""

    file: str
    data: bytes
    linted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LintRegistry:
    """What documents may name: kinds of axes, steps, expectations, and exams that are built in.

    `usual` are the axes by which an exam is read where there is no rubric.
    """

    kinds: Mapping[str, type[Axis]]
    steps: Collection[str]
    expectations: Collection[str]
    default_axes: Sequence[Axis]
    exams: Collection[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _LintedExam:
    name: str
    items: Sequence[Item]
    tree: YamlMapping
    spot: FindingLocation


def lint_documents(sources: Sequence[LintSource], formats: LintRegistry) -> list[LintFinding]:
    """Return what was found in the sources that are linted, by file and line."""
    return _Linter(sources, formats).collect_findings()


class _Linter:
    def __init__(self, sources: Sequence[LintSource], formats: LintRegistry) -> None:
        self.formats = formats
        self.sources = sources
        self.found: list[LintFinding] = []
        self.rubrics: list[RubricDocument] = []
        self.exams: list[_LintedExam] = []
        self.has_refused_rubric = (
            False  # a rubric was: by which axes the exams are read is not known
        )

    def collect_findings(self) -> list[LintFinding]:
        self._read_all()
        for document in self.rubrics:
            self._check_rubric(document)
        for exam in self.exams if not self.has_refused_rubric else ():
            fixable = self._rubric is not None
            found = check_items(exam.items, self._get_axes(), fixable=fixable)
            self.found += [locate_finding(each, exam.tree) for each in found]
        order = [source.file for source in self.sources if source.linted]
        linted = dict.fromkeys(f for f in self.found if f.file in order)
        return sorted(linted, key=lambda f: (order.index(f.file), f.line, f.code, f.message))

    def _read_all(self) -> None:
        waiting = []
        for source in self.sources:
            try:
                tree = parse_tree(source.data, source.file)
            except DocumentError as error:
                self._add_refusals(source, error.problems, None)
                continue
            if {"exam", "items"} & tree.keys() and "rubric" not in tree:
                waiting.append((source, tree))
            else:
                self._read_rubric(source, tree)
        for source, tree in waiting:
            self._read_exam(source, tree)

    def _add_refusals(
        self, source: LintSource, problems: Sequence[Problem], tree: YamlMapping | None
    ) -> None:
        if tree is None and _EXAM_KEY.search(source.data):
            self.found += [classify_exam_problem(problem, None, (), ()) for problem in problems]
        else:
            self.has_refused_rubric = True
            self.found += [classify_rubric_problem(problem, tree) for problem in problems]

    def _read_rubric(self, source: LintSource, tree: YamlMapping) -> None:
        kinds, steps = self.formats.kinds, self.formats.steps
        try:
            rubric = parse_rubric_tree(tree, source.file, kinds=kinds, steps=steps)
        except DocumentError as error:
            self._add_refusals(source, error.problems, tree)
        else:
            self.rubrics.append(RubricDocument(rubric=rubric, tree=tree, file=source.file))

    @property
    def _rubric(self) -> Rubric | None:
        """The rubric that the exams are for: the only one with axes, if there is only one."""
        scoring = [document.rubric for document in self.rubrics if document.rubric.axes]
        return scoring[0] if len(scoring) == 1 else None

    def _get_axes(self) -> Sequence[Axis]:
        rubric = self._rubric
        return [spec.axis for spec in rubric] if rubric else self.formats.default_axes

    def _read_exam(self, source: LintSource, tree: YamlMapping) -> None:
        axes, rubric = self._get_axes(), self._rubric
        known = {*self.formats.expectations, *filter(None, map(get_expectation_key, axes))}

        def check(item: Item) -> Iterator[Problem]:
            yield from (
                find_item_problems(rubric, item) if rubric else _find_default_problems(axes, item)
            )

        name, items, problems = parse_exam_tree(tree, source.file, sorted(known), check)
        problems += find_duplicate_ids(items)
        found = [classify_exam_problem(problem, tree, axes, known) for problem in problems]
        self.found += [locate_finding(each, tree) for each in found]
        spot = locate_field(tree, source.file, "exam")
        self.exams.append(_LintedExam(name=name, items=items, tree=tree, spot=spot))

    def _check_rubric(self, document: RubricDocument) -> None:
        rubric, tree, file = document.rubric, document.tree, document.file
        exams = {exam.name: exam.items for exam in self.exams if exam.name}
        known = [*dict.fromkeys([*self.formats.exams, *exams])]
        self.found += check_rubric(document, known)
        if rubric.verdict_rules is not None:
            self.found += check_verdict_rules(rubric.verdict_rules, tree, file)
        if rubric.decision_table is not None:
            self.found += check_decision_table(rubric.decision_table, tree, file)
            for items in exams.values():
                self.found += check_table_exam(rubric.decision_table, items, tree, file)
        if rubric is self._rubric:
            self._check_rubric_with_exams(document, exams)

    def _check_rubric_with_exams(
        self, document: RubricDocument, exams: Mapping[str, Sequence[Item]]
    ) -> None:
        """Look at the rubric and the exams together; told at the rubric where that is linted."""
        linted = any(s.linted and s.file == document.file for s in self.sources)
        spots = {} if linted else {exam.name: exam.spot for exam in self.exams}
        self.found += check_sizes(document, exams, spots)
        for name, items in exams.items():
            self.found += check_gate_tags(document, name, items)


def _find_default_problems(axes: Sequence[Axis], item: Item) -> Iterator[Problem]:
    """Yield what is wrong with what an item expects, by the axes that usually read it."""
    place = item.place
    for axis in axes:
        key = get_expectation_key(axis)
        if place is None or key not in item.expectations:
            continue
        for name, message in axis.item_problems(item):
            line = place.get_line(str(key))
            yield Problem(
                file=place.file, line=line, field=f"{place.field}.{name}", message=message
            )
