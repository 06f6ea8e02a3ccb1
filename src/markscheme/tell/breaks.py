"""The exercise for people: what one missing rule does, item by item, and how to recognise it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from markscheme.exact import number, show
from markscheme.prove.breaking import recognised
from markscheme.prove.records import effect_record, miss_record
from markscheme.tell.language import say, told
from markscheme.tell.reports import OUTCOMES
from markscheme.tell.terminal import console

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from markscheme.prove.breaking import Cascade
    from markscheme.prove.mutants import Mutant
    from markscheme.vocabulary import Exam, Rubric

_ROWS = 25
_CASES = 3


class CascadePage:
    """Prints what a missing rule does."""

    def __init__(
        self, found: Cascade, rubric: Rubric, exam: Exam, out: Console | None = None
    ) -> None:
        self.found = found
        self.rubric = rubric
        self.exam = exam
        self.out = out or console()

    def symptoms(self) -> None:
        """Print what can be seen: items before and after, the mean, each gate."""
        self._items()
        effect = self.found.effect
        means = {"before": show(effect.before), "after": show(effect.after)}
        self._line("\n" + say("mean {before} to {after}", **means))
        after = {change.gate: change.after for change in effect.gates}
        for gate, before in self.found.gates.items():
            now = after.get(gate, before)
            was = told(OUTCOMES[before])
            new = say("gone") if now is None else told(OUTCOMES[now])
            if now is before:
                self._line(say("gate {gate}: {before} unchanged", gate=gate, before=was))
            else:
                self._line(
                    say("gate {gate}: {before} to {after}", gate=gate, before=was, after=new)
                )

    def solution(self) -> None:
        """Print how the fault is recognised, and which golden cases would have noticed it."""
        self._line("\n" + say("How to recognise it"), "bold")
        for line in recognised(self.found):
            self._line(f"  {told(line)}")
        cases = list({miss.case: miss.because for miss in self.found.golden}.items())
        if cases:
            head = say("Golden cases that notice it (`markscheme audit`)")
            self._line(f"\n{head}", "bold")
            for case, because in cases[:_CASES]:
                self._line(f"  {case}: {because}")
            if len(cases) > _CASES:
                self._line(f"  {say('… and {n:,} more', n=len(cases) - _CASES)}")
        mean = show(self.found.effect.before)
        back = say("The rule is back: mean {mean}. No file was changed.", mean=mean)
        self._line(f"\n{back}")

    def _line(self, text: str, style: str = "") -> None:
        self.out.print(Text(text, style=style), highlight=False, soft_wrap=True)

    def _items(self) -> None:
        table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
        for column in (say("item"), say("axis"), say("got"), say("expected")):
            table.add_column(column, no_wrap=True, max_width=36, overflow="ellipsis")
        for column in (say("cell"), say("score before"), say("after")):
            table.add_column(column, justify="right", no_wrap=True)
        keys = {spec.name: getattr(spec.axis, "expects", "") for spec in self.rubric}
        items = {item.id: item for item in self.exam.items}
        flips = sorted(self.found.effect.flips, key=lambda flip: list(items).index(flip.item))
        for flip in flips[:_ROWS]:
            table.add_row(
                flip.item,
                flip.axis,
                Text(flip.got),
                Text(_listed(items[flip.item].expectations, keys[flip.axis])),
                say(
                    "{before} to {after}",
                    before=_short(flip.before.value),
                    after=_short(flip.after.value),
                ),
                show(self.found.before[flip.item]),
                show(self.found.after.get(flip.item)),
            )
        self.out.print(table, highlight=False)
        if len(flips) > _ROWS:
            more = len(flips) - _ROWS
            self._line(say("… and {n:,} more cells (--format json has all)", n=more))


def _short(value: Any) -> str:
    return "–" if value is None else f"{value}"


def _listed(expectations: Mapping[str, Any], key: str) -> str:
    value = expectations.get(key, "")
    return ", ".join(map(repr, value)) if isinstance(value, tuple) else str(value)


def steps_record(steps: Mapping[str, Mutant]) -> list[dict[str, Any]]:
    """Return the rules that can be removed."""
    return [
        {"step": step, "says": mutant.says, "axes": list(mutant.axes)}
        for step, mutant in steps.items()
    ]


def symptoms_record(found: Cascade) -> dict[str, Any]:
    """Return what can be seen of a missing rule without being told which it is."""
    effect = effect_record(found.effect)
    for flip in effect["flips"]:
        del flip["reason"], flip["near_miss"]
    return {
        **effect,
        "items": [
            {
                "item": item,
                "before": number(found.before[item]),
                "after": number(found.after.get(item)),
            }
            for item in found.items
        ],
    }


def solution_record(found: Cascade) -> dict[str, Any]:
    """Return which rule is missing, how it is recognised, and the golden cases that notice."""
    return {
        "step": found.step,
        "says": found.mutant.says,
        "patterns": [
            {
                "shape": pattern.shape.value,
                "axis": pattern.axis,
                "direction": "rise" if pattern.rises else "fall",
                "tag": pattern.tag or None,
                "items": pattern.items,
                "of": pattern.of,
                "named": pattern.named,
            }
            for pattern in found.patterns
        ],
        "recognised": list(recognised(found)),
        "golden": [miss_record(miss) for miss in found.golden],
    }
