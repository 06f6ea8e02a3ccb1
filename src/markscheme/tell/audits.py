"""Audits for people: the error rates first, then what failed, what survived, what noticed what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from markscheme.exact import show
from markscheme.prove.audit import Fate, Judged
from markscheme.prove.mutants import Kind
from markscheme.prove.records import counts
from markscheme.sentences import sentence
from markscheme.tell.cases import cases_text
from markscheme.tell.language import say, told
from markscheme.tell.reports import OUTCOMES
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
    Judged.SOUND: (
        sentence("SOUND"),
        "bold green",
        sentence("every mutant is noticed or proved equivalent"),
    ),
    Judged.WRONG: (
        sentence("WRONG"),
        "bold red",
        sentence("the rubric is wrong about answers that are known"),
    ),
    Judged.UNGUARDED: (
        sentence("UNGUARDED"),
        "bold red",
        sentence("a mutant survives: add a case that notices it"),
    ),
    Judged.UNTESTED: (
        sentence("CANNOT TELL"),
        "bold magenta",
        sentence("there was nothing to test it with"),
    ),
}
_FATES = {
    Fate.KILLED: sentence("killed"),
    Fate.EQUIVALENT: sentence("equivalent"),
    Fate.SURVIVED: sentence("survived"),
}


class AuditPage:
    """Prints one audit."""

    def __init__(self, report: AuditReport, out: Console | None = None) -> None:
        self.report = report
        self.out = out or console()

    def print(self) -> None:
        """Print the whole audit."""
        report = self.report
        self._line(
            say(
                "audit of {rubric} on {exam}: {cases:,} golden cases, {answers:,} recorded "
                "answers, {mutants:,} mutants",
                rubric=report.rubric.name,
                exam=report.exam.name,
                cases=report.cases,
                answers=report.answers,
                mutants=len(report.mutants),
            )
        )
        self._rates()
        self._failures()
        self._counts()
        self._equivalent()
        self._noticed()
        self._survivors()
        word, style, because = _VERDICTS[report.verdict]
        self.out.print()
        self.out.print(Text(told(word), style=style) + Text(f": {told(because)}"), highlight=False)

    def _line(self, text: str, style: str = "") -> None:
        self.out.print(Text(text, style=style), highlight=False, soft_wrap=True)

    def _head(self, text: str) -> None:
        self.out.print()
        self._line(text, "bold")

    def _rates(self) -> None:
        self._head(say("Answers that are known to be right or wrong, in every form"))
        table = _table(
            say("axis"), say("false negatives"), say("rate"), say("false positives"), say("rate")
        )
        for rates in self.report.rates:
            table.add_row(
                rates.axis,
                say("{n:,} of {of:,}", n=len(rates.false_negatives), of=rates.right),
                _exactly(rates.false_negative_rate),
                say("{n:,} of {of:,}", n=len(rates.false_positives), of=rates.wrong),
                _exactly(rates.false_positive_rate),
            )
        self.out.print(table, highlight=False)
        for rates in self.report.rates:
            for form, count in rates.forms.most_common(_SHOWN):
                wrong = say(
                    "{axis} is wrong about {n:,} in the form: {form}",
                    axis=rates.axis,
                    n=count,
                    form=told(form),
                )
                self._line(f"  {wrong}", "red")
            for error in rates.errors[:_EXAMPLES]:
                known = error.known
                what = {"item": known.item.id, "answer": _short(known.output)}
                line = (
                    say("{item}: right but judged otherwise: {answer}", **what)
                    if known.right
                    else say("{item}: wrong but judged otherwise: {answer}", **what)
                )
                self._line(f"    {line} ({told(error.cell.reason)})")

    def _failures(self) -> None:
        failures = self.report.failures
        if not failures:
            return
        self._head(say("Golden cases that the rubric fails ({n:,})", n=len(failures)))
        for miss in failures:
            because = f"; {miss.because}" if miss.because else ""
            line = say(
                "{what} expected {expected}, got {got}",
                what=miss.on,
                expected=miss.expected,
                got=miss.got,
            )
            self._line(f"  {miss.case}: {line}{because}", "red")

    def _counts(self) -> None:
        self._head(say("Mutants"))
        table = _table(say("kind"), *(told(_FATES[fate]) for fate in Fate))
        for kind, fates in counts(self.report).items():
            table.add_row(kind, *(f"{fates[fate.value]:,}" for fate in Fate))
        self.out.print(table, highlight=False)

    def _equivalent(self) -> None:
        found = self.report.of(Fate.EQUIVALENT)
        if found:
            self._head(say("Equivalent: no answer can tell them from the rubric"))
            self._listed(
                f"  {told(tried.mutant.says)}: {told(tried.mutant.equivalent)}" for tried in found
            )

    def _noticed(self) -> None:
        """Print who noticed which mutant; expectations are too many to be told one by one."""
        killed = self.report.of(Fate.KILLED)
        rules = [tried for tried in killed if tried.mutant.kind is not Kind.DROP_EXPECTATION]
        if rules:
            self._head(say("Who noticed what"))
            for tried in rules:
                self._line(f"  {told(tried.mutant.says)}: {_noticed_by(tried)}")

    def _survivors(self) -> None:
        found = self.report.of(Fate.SURVIVED)
        if not found:
            return
        self._head(say("Survived: nothing notices ({n:,})", n=len(found)))
        self._listed(
            (f"  {told(tried.mutant.says)} ({tried.mutant.name})" for tried in found), "red"
        )
        if any(tried.add is not None for tried in found):
            self._head(say("Cases that would notice (--write-cases FILE writes them)"))
            self.out.print(
                Text(cases_text(self.report.rubric.name, self.report.to_add)), soft_wrap=True
            )
        if any(tried.add is None for tried in found):
            self._line(say("For some of them no case was found; they may be equivalent."))

    def _listed(self, lines: Iterable[str], style: str = "") -> None:
        every = list(lines)
        for line in every[: _SHOWN * 3]:
            self._line(line, style)
        if len(every) > _SHOWN * 3:
            self._line(f"  {say('… and {n:,} more', n=len(every) - _SHOWN * 3)}")


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
    noticed = []
    if tried.golden:
        cases = list(dict.fromkeys(miss.case for miss in tried.golden))
        more = f" {say('and {n:,} more', n=len(cases) - 1)}" if len(cases) > 1 else ""
        noticed.append(say("golden {case}", case=cases[0]) + more)
    if tried.recorded is not None and tried.recorded.seen:
        noticed.append(moved(tried.recorded))
    if tried.known is not None:
        item, form = tried.known.item.id, told(tried.known.form)
        noticed.append(say("a known answer to {item} ({form})", item=item, form=form))
    return "; ".join(noticed)


def moved(effect: Effect) -> str:
    """Say what recorded answers show of a change: cells by direction, the mean, gates."""
    lost, gained = (sum(f.answers for f in flips) for flips in (effect.falls, effect.rises))
    mean = say("mean {before} to {after}", before=show(effect.before), after=show(effect.after))
    said = f"{mean}{''.join(f', {line}' for line in gate_changes(effect))}"
    if effect.flips:
        return say(
            "recorded: cells: {lost:,} fall, {gained:,} rise; {said}",
            lost=lost,
            gained=gained,
            said=said,
        )
    return say("recorded: {said}", said=said)


def gate_changes(effect: Effect) -> list[str]:
    """Say which gates say something else."""
    return [
        say(
            "gate {gate} {before} to {after}",
            gate=change.gate,
            before=told(OUTCOMES[change.before]),
            after=say("gone") if change.after is None else told(OUTCOMES[change.after]),
        )
        for change in effect.gates
    ]


def _short(text: str, most: int = 80) -> str:
    line = "".join(c if c.isprintable() else " " for c in text)
    return line if len(line) <= most else f"{line[: most - 1]}…"
