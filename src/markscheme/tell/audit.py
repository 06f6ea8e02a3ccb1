"""Show an audit report on the terminal, and write suggested golden cases as YAML.

The page starts with the error rates; then come the failed cases, the mutants by kind and fate,
what noticed each mutant, and the survivors.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from markscheme.prove.audit import (
    AuditReport,
    AuditVerdict,
    MutantEffect,
    MutantFate,
    MutantKind,
    MutantResult,
    count_fates,
)
from markscheme.read.golden_cases import GoldenCases
from markscheme.tell.console import create_console
from markscheme.tell.language import translate, translate_stored
from markscheme.tell.words import OUTCOME_WORDS
from markscheme.vocabulary import format_decimal, format_plain, sentence

if TYPE_CHECKING:
    from rich.console import Console

_CASES_HEADER = """\
# Written by `markscheme audit`. What it expects is what the rubric says today:
# read each case, and keep it if that is what you mean.
"""


def format_golden_cases(name: str, cases: GoldenCases) -> str:
    """Return golden cases as the text of a YAML file; every value is written as JSON."""
    return _CASES_HEADER + "\n".join(_format_case_lines(name, cases)) + "\n"


def _format_case_lines(name: str, cases: GoldenCases) -> Iterator[str]:
    yield f"cases: {_format_yaml_value(name)}"
    sections: dict[str, list[dict[str, Any]]] = {
        "items": [
            {
                "id": case.item.id,
                "prompt": case.item.prompt,
                **case.item.expectations,
                "answer": case.answer,
                "cells": case.cells,
                "score": case.score,
                "because": case.because,
            }
            for case in cases.items
        ],
        "gates": [
            {
                "gate": gate.gate,
                "seen": gate.seen,
                "outcome": gate.outcome.value,
                "baseline": gate.baseline,
                "suspicious": gate.suspicious,
            }
            for gate in cases.gates
        ],
        "pass_mark": [{"seen": mark.seen, "passes": mark.passes} for mark in cases.pass_mark],
    }
    for section, entries in sections.items():
        if entries:
            yield f"{section}:"
        for fields in entries:
            bullet = "- "
            for key, value in fields.items():
                if value is not None:
                    yield f"  {bullet}{key}: {_format_yaml_value(value)}"
                    bullet = "  "


def _format_yaml_value(value: Any) -> str:
    match value:
        case Decimal():
            return format_plain(value)
        case Fraction():
            return format_plain(Decimal(value.numerator) / Decimal(value.denominator))
        case dict():
            pairs = (f"{json.dumps(key)}: {_format_yaml_value(v)}" for key, v in value.items())
            return f"{{{', '.join(pairs)}}}"
        case list() | tuple():
            return f"[{', '.join(map(_format_yaml_value, value))}]"
        case _:
            return json.dumps(value, ensure_ascii=False)


_AUDIT_ROWS_SHOWN = 10
_ERROR_EXAMPLES_SHOWN = 3
_AUDIT_VERDICTS = {
    AuditVerdict.SOUND: (
        sentence("SOUND"),
        "bold green",
        sentence("every mutant is noticed or proved equivalent"),
    ),
    AuditVerdict.WRONG: (
        sentence("WRONG"),
        "bold red",
        sentence("the rubric is wrong about answers that are known"),
    ),
    AuditVerdict.UNGUARDED: (
        sentence("UNGUARDED"),
        "bold red",
        sentence("a mutant survives: add a case that notices it"),
    ),
    AuditVerdict.UNTESTED: (
        sentence("CANNOT TELL"),
        "bold magenta",
        sentence("there was nothing to test it with"),
    ),
}
_FATE_WORDS = {
    MutantFate.KILLED: sentence("killed"),
    MutantFate.EQUIVALENT: sentence("equivalent"),
    MutantFate.SURVIVED: sentence("survived"),
}


class AuditPage:
    """Prints one audit report."""

    def __init__(self, report: AuditReport, out: Console | None = None) -> None:
        self.report = report
        self.out = out or create_console()

    def print_audit(self) -> None:
        """Print the whole audit."""
        report = self.report
        self._print_line(
            translate(
                "audit of {rubric} on {exam}: {cases:,} golden cases, {answers:,} recorded "
                "answers, {mutants:,} mutants",
                rubric=report.rubric.name,
                exam=report.exam.name,
                cases=report.cases,
                answers=report.answers,
                mutants=len(report.mutants),
            )
        )
        self._print_error_rates()
        self._print_failed_cases()
        self._print_mutant_counts()
        self._print_equivalents()
        self._print_killed()
        self._print_survivors()
        word, style, because = _AUDIT_VERDICTS[report.verdict]
        self.out.print()
        self.out.print(
            Text(translate_stored(word), style=style) + Text(f": {translate_stored(because)}"),
            highlight=False,
        )

    def _print_line(self, text: str, style: str = "") -> None:
        self.out.print(Text(text, style=style), highlight=False, soft_wrap=True)

    def _print_heading(self, text: str) -> None:
        self.out.print()
        self._print_line(text, "bold")

    def _print_error_rates(self) -> None:
        self._print_heading(translate("Answers that are known to be right or wrong, in every form"))
        table = _create_table(
            translate("axis"),
            translate("false negatives"),
            translate("rate"),
            translate("false positives"),
            translate("rate"),
        )
        for rates in self.report.rates:
            table.add_row(
                rates.axis,
                translate("{n:,} of {of:,}", n=len(rates.false_negatives), of=rates.right),
                _format_exact_rate(rates.false_negative_rate),
                translate("{n:,} of {of:,}", n=len(rates.false_positives), of=rates.wrong),
                _format_exact_rate(rates.false_positive_rate),
            )
        self.out.print(table, highlight=False)
        for rates in self.report.rates:
            for form, count in rates.forms.most_common(_AUDIT_ROWS_SHOWN):
                wrong = translate(
                    "{axis} is wrong about {n:,} in the form: {form}",
                    axis=rates.axis,
                    n=count,
                    form=translate_stored(form),
                )
                self._print_line(f"  {wrong}", "red")
            for error in rates.errors[:_ERROR_EXAMPLES_SHOWN]:
                known = error.known
                values = {"item": known.item.id, "answer": _shorten_answer(known.output)}
                line = (
                    translate("{item}: right but judged otherwise: {answer}", **values)
                    if known.right
                    else translate("{item}: wrong but judged otherwise: {answer}", **values)
                )
                self._print_line(f"    {line} ({translate_stored(error.cell.reason)})")

    def _print_failed_cases(self) -> None:
        failures = self.report.failures
        if not failures:
            return
        self._print_heading(
            translate("Golden cases that the rubric fails ({n:,})", n=len(failures))
        )
        for failure in failures:
            because = f"; {failure.because}" if failure.because else ""
            line = translate(
                "{what} expected {expected}, got {got}",
                what=failure.on,
                expected=failure.expected,
                got=failure.got,
            )
            self._print_line(f"  {failure.case}: {line}{because}", "red")

    def _print_mutant_counts(self) -> None:
        self._print_heading(translate("Mutants"))
        table = _create_table(
            translate("kind"), *(translate_stored(_FATE_WORDS[fate]) for fate in MutantFate)
        )
        for kind, fates in count_fates(self.report).items():
            table.add_row(kind, *(f"{fates[fate.value]:,}" for fate in MutantFate))
        self.out.print(table, highlight=False)

    def _print_equivalents(self) -> None:
        mutants = [result.mutant for result in self.report.of(MutantFate.EQUIVALENT)]
        if mutants:
            self._print_heading(translate("Equivalent: no answer can tell them from the rubric"))
            self._print_list(
                f"  {translate_stored(mutant.says)}: {translate_stored(mutant.equivalent)}"
                for mutant in mutants
            )

    def _print_killed(self) -> None:
        """Print what noticed which mutant, without the many mutants of expectations."""
        killed = self.report.of(MutantFate.KILLED)
        results = [r for r in killed if r.mutant.kind is not MutantKind.DROP_EXPECTATION]
        if results:
            self._print_heading(translate("Who noticed what"))
            for result in results:
                self._print_line(
                    f"  {translate_stored(result.mutant.says)}: {_describe_detection(result)}"
                )

    def _print_survivors(self) -> None:
        survivors = self.report.of(MutantFate.SURVIVED)
        if not survivors:
            return
        self._print_heading(translate("Survived: nothing notices ({n:,})", n=len(survivors)))
        mutants = [result.mutant for result in survivors]
        lines = (f"  {translate_stored(mutant.says)} ({mutant.name})" for mutant in mutants)
        self._print_list(lines, "red")
        if any(result.add is not None for result in survivors):
            self._print_heading(
                translate("Cases that would notice (--write-cases FILE writes them)")
            )
            self.out.print(
                Text(format_golden_cases(self.report.rubric.name, self.report.to_add)),
                soft_wrap=True,
            )
        if any(result.add is None for result in survivors):
            self._print_line(
                translate("For some of them no case was found; they may be equivalent.")
            )

    def _print_list(self, lines: Iterable[str], style: str = "") -> None:
        all_lines, limit = list(lines), _AUDIT_ROWS_SHOWN * 3
        for line in all_lines[:limit]:
            self._print_line(line, style)
        if len(all_lines) > limit:
            self._print_line(f"  {translate('… and {n:,} more', n=len(all_lines) - limit)}")


def _create_table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for at, column in enumerate(columns):
        table.add_column(column, justify="right" if at else "left", no_wrap=True)
    return table


def _format_exact_rate(rate: Fraction | None) -> str:
    if rate is None or rate in {0, 1}:
        return "–" if rate is None else str(rate)
    return f"{rate} = {format_decimal(rate)}"


def _describe_detection(result: MutantResult) -> str:
    """Return what noticed a mutant: golden cases, recorded answers, a known answer."""
    noticed = []
    if result.golden:
        cases = list(dict.fromkeys(failure.case for failure in result.golden))
        more = f" {translate('and {n:,} more', n=len(cases) - 1)}" if len(cases) > 1 else ""
        noticed.append(translate("golden {case}", case=cases[0]) + more)
    if result.recorded is not None and result.recorded.seen:
        noticed.append(describe_effect(result.recorded))
    if result.known is not None:
        item, form = result.known.item.id, translate_stored(result.known.form)
        noticed.append(translate("a known answer to {item} ({form})", item=item, form=form))
    return "; ".join(noticed)


def describe_effect(effect: MutantEffect) -> str:
    """Return what a change does to recorded answers: cells that fall and rise, the mean, gates."""
    lost, gained = (sum(f.answers for f in flips) for flips in (effect.falls, effect.rises))
    mean = translate(
        "mean {before} to {after}",
        before=format_decimal(effect.before),
        after=format_decimal(effect.after),
    )
    said = f"{mean}{''.join(f', {line}' for line in describe_gate_changes(effect))}"
    if effect.flips:
        return translate(
            "recorded: cells: {lost:,} fall, {gained:,} rise; {said}",
            lost=lost,
            gained=gained,
            said=said,
        )
    return translate("recorded: {said}", said=said)


def describe_gate_changes(effect: MutantEffect) -> list[str]:
    """Return a phrase for each gate whose outcome changes."""
    return [
        translate(
            "gate {gate} {before} to {after}",
            gate=change.gate,
            before=translate_stored(OUTCOME_WORDS[change.before]),
            after=translate("gone")
            if change.after is None
            else translate_stored(OUTCOME_WORDS[change.after]),
        )
        for change in effect.gates
    ]


def _shorten_answer(text: str, most: int = 80) -> str:
    line = "".join(c if c.isprintable() else " " for c in text)
    return line if len(line) <= most else f"{line[: most - 1]}…"
