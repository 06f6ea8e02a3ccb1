"""Show the effects of a missing rule for `markscheme break`, as tables and as JSON data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from markscheme.mark.axes import format_expected
from markscheme.prove.audit import Mutant, build_effect_record, build_failure_record
from markscheme.prove.exercise import Cascade, explain_cascade
from markscheme.tell.console import create_console
from markscheme.tell.language import translate, translate_plural, translate_stored
from markscheme.tell.words import OUTCOME_WORDS
from markscheme.vocabulary import Exam, Rubric, format_decimal, to_float

if TYPE_CHECKING:
    from rich.console import Console

_CASCADE_ROWS_SHOWN = 25
_CASES_SHOWN = 3


class CascadePage:
    """Prints the effects of a missing rule."""

    def __init__(
        self, cascade: Cascade, rubric: Rubric, exam: Exam, out: Console | None = None
    ) -> None:
        self.cascade = cascade
        self.rubric = rubric
        self.exam = exam
        self.out = out or create_console()

    def print_symptoms(self) -> None:
        """Print the symptoms: the changed cells, the mean before and after, each gate."""
        self._print_items()
        effect = self.cascade.effect
        means = {"before": format_decimal(effect.before), "after": format_decimal(effect.after)}
        self._print_line("\n" + translate("mean {before} to {after}", **means))
        after = {change.gate: change.after for change in effect.gates}
        for gate, before in self.cascade.gates.items():
            now = after.get(gate, before)
            was = translate_stored(OUTCOME_WORDS[before])
            new = translate("gone") if now is None else translate_stored(OUTCOME_WORDS[now])
            if now is before:
                self._print_line(
                    translate("gate {gate}: {before} unchanged", gate=gate, before=was)
                )
            else:
                self._print_line(
                    translate("gate {gate}: {before} to {after}", gate=gate, before=was, after=new)
                )

    def print_solution(self) -> None:
        """Print how to recognise the fault, and which golden cases notice it."""
        self._print_line("\n" + translate("How to recognise it"), "bold")
        for line in explain_cascade(self.cascade):
            self._print_line(f"  {translate_stored(line)}")
        cases = list({failure.case: failure.because for failure in self.cascade.golden}.items())
        if cases:
            head = translate("Golden cases that notice it (`markscheme audit`)")
            self._print_line(f"\n{head}", "bold")
            for case, because in cases[:_CASES_SHOWN]:
                self._print_line(f"  {case}: {because}")
            if len(cases) > _CASES_SHOWN:
                self._print_line(f"  {translate('… and {n:,} more', n=len(cases) - _CASES_SHOWN)}")
        mean = format_decimal(self.cascade.effect.before)
        back = translate("The rule is back: mean {mean}. No file was changed.", mean=mean)
        self._print_line(f"\n{back}")

    def _print_line(self, text: str, style: str = "") -> None:
        self.out.print(Text(text, style=style), highlight=False, soft_wrap=True)

    def _print_items(self) -> None:
        table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
        for column in (
            translate("item"),
            translate("axis"),
            translate("got"),
            translate("expected"),
        ):
            table.add_column(column, no_wrap=True, max_width=36, overflow="ellipsis")
        for column in (translate("cell"), translate("score before"), translate("after")):
            table.add_column(column, justify="right", no_wrap=True)
        keys = {spec.name: getattr(spec.axis, "expects", "") for spec in self.rubric}
        items = {item.id: item for item in self.exam.items}
        flips = sorted(self.cascade.effect.flips, key=lambda flip: list(items).index(flip.item))
        for flip in flips[:_CASCADE_ROWS_SHOWN]:
            table.add_row(
                flip.item,
                flip.axis,
                Text(flip.got),
                Text(_format_expectation(items[flip.item].expectations, keys[flip.axis])),
                translate(
                    "{before} to {after}",
                    before=_format_cell_value(flip.before.value),
                    after=_format_cell_value(flip.after.value),
                ),
                format_decimal(self.cascade.before[flip.item]),
                format_decimal(self.cascade.after.get(flip.item)),
            )
        self.out.print(table, highlight=False)
        if len(flips) > _CASCADE_ROWS_SHOWN:
            more = len(flips) - _CASCADE_ROWS_SHOWN
            self._print_line(
                translate_plural(
                    "… and {n:,} more cell (--format json has all)",
                    "… and {n:,} more cells (--format json has all)",
                    more,
                )
            )


def _format_cell_value(value: Any) -> str:
    return "–" if value is None else f"{value}"


def _format_expectation(expectations: Mapping[str, Any], key: str) -> str:
    value = expectations.get(key, "")
    return ", ".join(map(repr, format_expected(value))) if isinstance(value, tuple) else str(value)


def build_steps_record(steps: Mapping[str, Mutant]) -> list[dict[str, Any]]:
    """Return the rules that can be removed."""
    return [
        {"step": step, "says": mutant.says, "axes": list(mutant.axes)}
        for step, mutant in steps.items()
    ]


def build_symptoms_record(cascade: Cascade) -> dict[str, Any]:
    """Return the symptoms of a missing rule, without anything that names the rule."""
    effect = build_effect_record(cascade.effect)
    for flip in effect["flips"]:
        del flip["reason"], flip["near_miss"]
    return {
        **effect,
        "items": [
            {
                "item": item,
                "before": to_float(cascade.before[item]),
                "after": to_float(cascade.after.get(item)),
            }
            for item in cascade.items
        ],
    }


def build_solution_record(cascade: Cascade) -> dict[str, Any]:
    """Return the missing rule, how to recognise it, and the golden cases that notice it."""
    return {
        "step": cascade.step,
        "says": cascade.mutant.says,
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
            for pattern in cascade.patterns
        ],
        "recognised": list(explain_cascade(cascade)),
        "golden": [build_failure_record(failure) for failure in cascade.golden],
    }
