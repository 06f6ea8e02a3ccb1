"""Audits for people: the error rates first, then what failed, what survived, what noticed what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from markscheme.exact import show
from markscheme.prove.audit import Fate, Judged
from markscheme.prove.mutants import Kind
from markscheme.prove.records import counts
from markscheme.tell.cases import cases_text
from markscheme.tell.terminal import console

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from rich.console import Console

    from markscheme.prove.audit import AuditReport, Tried
    from markscheme.prove.recorded import Effect

_SHOWN = 10
_EXAMPLES = 3
_VERDICTS = {
    Judged.SOUND: ("SOUND", "bold green", "every mutant is noticed or proved equivalent"),
    Judged.WRONG: ("WRONG", "bold red", "the rubric is wrong about answers that are known"),
    Judged.UNGUARDED: ("UNGUARDED", "bold red", "a mutant survives: add a case that notices it"),
    Judged.UNTESTED: ("CANNOT TELL", "bold magenta", "there was nothing to test it with"),
}


class AuditPage:
    """Prints one audit."""

    def __init__(self, report: AuditReport, out: Console | None = None) -> None:
        self.report = report
        self.out = out or console()

    def print(self) -> None:
        """Print the whole audit."""
        report = self.report
        told = f"{report.cases:,} golden cases, {report.answers:,} recorded answers"
        head = f"audit of {report.rubric.name} on {report.exam.name}: {told}"
        self._line(f"{head}, {len(report.mutants):,} mutants")
        self._rates()
        self._failures()
        self._counts()
        self._equivalent()
        self._noticed()
        self._survivors()
        word, style, because = _VERDICTS[report.verdict]
        self.out.print()
        self.out.print(Text(word, style=style) + Text(f": {because}"), highlight=False)

    def _line(self, text: str, style: str = "") -> None:
        self.out.print(Text(text, style=style), highlight=False, soft_wrap=True)

    def _head(self, text: str) -> None:
        self.out.print()
        self._line(text, "bold")

    def _rates(self) -> None:
        self._head("Answers that are known to be right or wrong, in every form")
        table = _table("axis", "false negatives", "rate", "false positives", "rate")
        for rates in self.report.rates:
            table.add_row(
                rates.axis,
                f"{len(rates.false_negatives):,} of {rates.right:,}",
                _exactly(rates.false_negative_rate),
                f"{len(rates.false_positives):,} of {rates.wrong:,}",
                _exactly(rates.false_positive_rate),
            )
        self.out.print(table, highlight=False)
        for rates in self.report.rates:
            for form, count in rates.forms.most_common(_SHOWN):
                self._line(f"  {rates.axis} is wrong about {count:,} in the form: {form}", "red")
            for error in rates.errors[:_EXAMPLES]:
                known = error.known
                what = "right" if known.right else "wrong"
                told = f"{known.item.id}: {what} but judged otherwise: {_short(known.output)}"
                self._line(f"    {told} ({error.cell.reason})")

    def _failures(self) -> None:
        failures = self.report.failures
        if not failures:
            return
        self._head(f"Golden cases that the rubric fails ({len(failures):,})")
        for miss in failures:
            because = f"; {miss.because}" if miss.because else ""
            told = f"{miss.on} expected {miss.expected}, got {miss.got}{because}"
            self._line(f"  {miss.case}: {told}", "red")

    def _counts(self) -> None:
        self._head("Mutants")
        table = _table("kind", *(fate.value for fate in Fate))
        for kind, fates in counts(self.report).items():
            table.add_row(kind, *(f"{fates[fate.value]:,}" for fate in Fate))
        self.out.print(table, highlight=False)

    def _equivalent(self) -> None:
        found = self.report.of(Fate.EQUIVALENT)
        if found:
            self._head("Equivalent: no answer can tell them from the rubric")
            self._listed(f"  {tried.mutant.says}: {tried.mutant.equivalent}" for tried in found)

    def _noticed(self) -> None:
        """Print who noticed which mutant; expectations are too many to be told one by one."""
        killed = self.report.of(Fate.KILLED)
        rules = [tried for tried in killed if tried.mutant.kind is not Kind.DROP_EXPECTATION]
        if rules:
            self._head("Who noticed what")
            for tried in rules:
                self._line(f"  {tried.mutant.says}: {_noticed_by(tried)}")

    def _survivors(self) -> None:
        found = self.report.of(Fate.SURVIVED)
        if not found:
            return
        self._head(f"Survived: nothing notices ({len(found):,})")
        self._listed((f"  {tried.mutant.says} ({tried.mutant.name})" for tried in found), "red")
        if any(tried.add is not None for tried in found):
            self._head("Cases that would notice (--write-cases FILE writes them)")
            self.out.print(
                Text(cases_text(self.report.rubric.name, self.report.to_add)), soft_wrap=True
            )
        if any(tried.add is None for tried in found):
            self._line("For some of them no case was found; they may be equivalent.")

    def _listed(self, lines: Iterable[str], style: str = "") -> None:
        told = list(lines)
        for line in told[: _SHOWN * 3]:
            self._line(line, style)
        if len(told) > _SHOWN * 3:
            self._line(f"  … and {len(told) - _SHOWN * 3:,} more")


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for at, column in enumerate(columns):
        table.add_column(column, justify="right" if at else "left", no_wrap=True)
    return table


def _exactly(rate: Fraction | None) -> str:
    if rate is None or rate in {0, 1}:
        return "–" if rate is None else str(rate)
    return f"{rate} = {show(rate)}"


def _noticed_by(tried: Tried) -> str:
    told = []
    if tried.golden:
        cases = list(dict.fromkeys(miss.case for miss in tried.golden))
        more = f" and {len(cases) - 1} more" if len(cases) > 1 else ""
        told.append(f"golden {cases[0]}{more}")
    if tried.recorded is not None and tried.recorded.seen:
        told.append(moved(tried.recorded))
    if tried.known is not None:
        told.append(f"a known answer to {tried.known.item.id} ({tried.known.form})")
    return "; ".join(told)


def moved(effect: Effect) -> str:
    """Say what recorded answers show of a change: cells by direction, the mean, gates."""
    lost, gained = (sum(f.answers for f in flips) for flips in (effect.falls, effect.rises))
    cells = f"cells: {lost:,} fall, {gained:,} rise; " if effect.flips else ""
    mean = f"mean {show(effect.before)} to {show(effect.after)}"
    return f"recorded: {cells}{mean}{''.join(f', {told}' for told in gate_changes(effect))}"


def gate_changes(effect: Effect) -> list[str]:
    """Say which gates say something else."""
    return [
        f"gate {change.gate} {change.before.value} to "
        f"{'gone' if change.after is None else change.after.value}"
        for change in effect.gates
    ]


def _short(text: str, most: int = 80) -> str:
    line = "".join(c if c.isprintable() else " " for c in text)
    return line if len(line) <= most else f"{line[: most - 1]}…"
