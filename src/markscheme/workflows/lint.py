"""`markscheme lint`: check rubrics, exams and decision tables against the built-in axis kinds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from markscheme.mark import STEPS
from markscheme.mark.axes import AXES, ContainsAll
from markscheme.prove.lint import LintRegistry, LintReport, lint_sources
from markscheme.read.documents import list_builtin_names
from markscheme.workflows.documents import BUILT_IN_EXPECTATIONS, iter_default_expectations


def lint(
    *sources: str | Path,
    rubric: str | Path | None = None,
    exams: Iterable[str | Path] = (),
    fix: bool = False,
) -> LintReport:
    """Look for mistakes in rubrics, exams and decision tables, in files or built-in ones.

    An exam is checked by the axes of the one rubric that is given with it, as a source or as
    `rubric`. `exams` are used to check the gates of a rubric and get no findings themselves. `fix`
    repairs in the files what can be repaired without changing a score.

    >>> report = lint("capstone", rubric="tutor-capstone")
    >>> report.ok, report.findings[1].code
    (True, 'E007')
    """
    context = [*([] if rubric is None else [rubric]), *exams]
    return lint_sources(sources, context, _build_registry(), fix=fix)


def _build_registry() -> LintRegistry:
    """Return what documents may name: everything that is built in."""
    by_default = [axis() for axis in AXES.values() if hasattr(axis, "expects")]
    others = [ContainsAll(expects=key) for key in BUILT_IN_EXPECTATIONS]
    return LintRegistry(
        kinds=AXES,
        steps=STEPS,
        expectations=tuple(iter_default_expectations()),
        default_axes=[*by_default, *others],
        exams=list_builtin_names("exams"),
    )
