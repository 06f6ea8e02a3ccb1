"""Write the built-in exams from the verb table; the same table gives the same bytes.

Example:
    python scripts/build_exams.py            write the three exams
    python scripts/build_exams.py --check    exit 1 if a file is not what would be written
    python scripts/build_exams.py --counts   print how the items are spread
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.read.verbs import Person, Tense, VerbForm, VerbTable, load_verbs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

EXAMS = Path(__file__).resolve().parents[1] / "src" / "markscheme" / "builtin" / "exams"
SEED: VerbForm = ("eat", Tense.PAST_SIMPLE, Person.THIRD_SINGULAR)
CORE_VERBS = 20
"""The first verbs of the table are the capstone's."""
SHARE = dict.fromkeys(Tense, 2) | {Tense.PRESENT_SIMPLE: 1}
"""The present simple has one person that is not the base form, so it gets half of a share."""
RELUCTANCE = 5
"""How far a tense must lag behind before a form that is part of another form helps to fill it."""
HEADER = "# Made by scripts/build_exams.py from the verb table; do not edit by hand.\n"
PLAIN = re.compile(r"[^\W\d_][\w'()— ,.-]*")
NOT_TEXT = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One exam to make: its name, how its ids look, its verbs and the items of each."""

    name: str
    ids: str
    verbs: tuple[str, ...]
    rounds: int
    first: tuple[VerbForm, ...] = ()
    regular_past: bool = False


@dataclass(frozen=True, slots=True)
class Draw:
    """The forms that are taken, and the counts that keep the next choice balanced."""

    hidden: frozenset[VerbForm]
    taken: set[VerbForm]
    chosen: list[VerbForm] = field(default_factory=list)
    count: Counter[object] = field(default_factory=Counter)

    def take(self, form: VerbForm) -> None:
        """Take a form into the exam."""
        verb, tense, person = form
        self.taken.add(form)
        self.chosen.append(form)
        self.count.update([verb, tense, person, (tense, person), (verb, tense), (verb, person)])

    def burden(self, form: VerbForm) -> tuple[float, ...]:
        """How much a form would add to what the exam already has; the least is taken next."""
        verb, tense, person = form
        reluctance = RELUCTANCE if form in self.hidden else 0
        return (
            self.count[verb, tense],
            self.count[tense] / SHARE[tense] + reluctance,
            self.count[tense, person],
            self.count[person] + self.count[verb, person],
        )


def plans(table: VerbTable) -> tuple[Plan, ...]:
    """The three exams: the core verbs, every third of the others, and all verbs."""
    verbs = tuple(table.verbs)
    core, others = verbs[:CORE_VERBS], verbs[CORE_VERBS:]
    return (
        Plan(name="capstone", ids="e-39-{:02}", verbs=core, rounds=3, first=(SEED,)),
        Plan(name="capstone-extra", ids="x-39-{:02}", verbs=others[::3], rounds=1),
        Plan(name="regression", ids="r-38-{:03}", verbs=verbs, rounds=3, regular_past=True),
    )


def choose(table: VerbTable) -> dict[str, list[VerbForm]]:
    """The forms of each exam, in order; no form is asked twice."""
    taken: set[VerbForm] = set()
    return {plan.name: draw(table, plan, taken) for plan in plans(table)}


def draw(table: VerbTable, plan: Plan, taken: set[VerbForm]) -> list[VerbForm]:
    """The forms of one exam, round by round over its verbs."""
    fair = {verb: fair_forms(table, plan, verb) for verb in plan.verbs}
    hidden = frozenset(form for forms in fair.values() for form in forms if hidden_in(table, form))
    state = Draw(hidden, taken)
    for form in plan.first:
        state.take(form)
    for number in range(1, plan.rounds + 1):
        for verb in plan.verbs:
            if state.count[verb] < number:
                state.take(
                    min((form for form in fair[verb] if form not in taken), key=state.burden)
                )
    return state.chosen


def fair_forms(table: VerbTable, plan: Plan, verb: str) -> list[VerbForm]:
    """The forms of a verb that the exam may ask."""
    forms = [(verb, tense, person) for tense in Tense for person in Person]
    return [form for form in forms if may_be_asked(table, form, regular_past=plan.regular_past)]


def may_be_asked(table: VerbTable, form: VerbForm, *, regular_past: bool) -> bool:
    """Whether the form makes a fair item.

    Out: a form that echoing the prompt would answer, the continuous of a stative verb, and a form
    that is part of another form of its verb. The last is lifted for the past of regular verbs
    where the exam says so, because leaving them out would leave out the rule of -ed.
    """
    verb = table.verbs[form[0]]
    if echoes(table, form) or (verb.stative and form[1] is Tense.PRESENT_CONTINUOUS):
        return False
    excused = regular_past and verb.regular and form[1] is Tense.PAST_SIMPLE
    return excused or not hidden_in(table, form)


def echoes(table: VerbTable, form: VerbForm) -> bool:
    """Whether the prompt itself holds the English or the Spanish form."""
    text = normalise(prompt(table, form))
    return any(
        normalise(part) in text
        for part in (table.get_english_form(*form), table.get_spanish_form(*form))
    )


def normalise(text: str) -> str:
    """What the tutor's rubric compares: stripped, lower case, without one trailing period."""
    return text.strip().lower().removesuffix(".")


def hidden_in(table: VerbTable, form: VerbForm) -> list[str]:
    """The other forms of the verb, made-up regular past included, that hold this English form."""
    verb = table.verbs[form[0]]
    others = {
        table.get_english_form(verb.base, tense, person) for tense in Tense for person in Person
    }
    others |= {verb.participle, verb.ing, verb.base + ("d" if verb.base.endswith("e") else "ed")}
    own = table.get_english_form(*form)
    return sorted(other for other in others if own in other and own != other)


def gloss_hidden_in(table: VerbTable, form: VerbForm) -> list[str]:
    """The other Spanish forms of the verb that hold this one."""
    own = table.get_spanish_form(*form)
    others = {
        table.get_spanish_form(form[0], tense, person) for tense in Tense for person in Person
    }
    return sorted(other for other in others if own in other and own != other)


def prompt(table: VerbTable, form: VerbForm) -> str:
    """The question; it names the Spanish sense where more than one verb would translate it."""
    verb, tense, person = form
    sense = f" ({table.verbs[verb].spanish})" if table.verbs[verb].ambiguous else ""
    return f"Conjugate '{verb}'{sense} — {tense.label}, {person.label}."


def scalar(text: str) -> str:
    """The text as a YAML scalar that every parser reads as that text."""
    if PLAIN.fullmatch(text) and text.lower() not in NOT_TEXT:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def item(table: VerbTable, form: VerbForm, name: str) -> str:
    """One item of an exam file."""
    verb, tense, person = form
    return (
        f"  - id: {name}\n"
        f"    prompt: {scalar(prompt(table, form))}\n"
        f"    expected_contains: [{scalar(table.get_english_form(*form))}]\n"
        f"    gloss_contains: [{scalar(table.get_spanish_form(*form))}]\n"
        f"    tags: {{verb: {scalar(verb)}, tense: {tense}, person: {person}}}\n"
    )


def render(table: VerbTable) -> dict[str, str]:
    """The text of each exam file, by file name."""
    chosen = choose(table)
    texts = {}
    for plan in plans(table):
        items = enumerate(chosen[plan.name], start=1)
        body = "".join(item(table, form, plan.ids.format(number)) for number, form in items)
        texts[f"{plan.name}.yaml"] = f"{HEADER}exam: {plan.name}\nitems:\n{body}"
    return texts


def differences(texts: dict[str, str], folder: Path) -> list[str]:
    """The first lines in which the files of a folder are not the texts."""
    lines: list[str] = []
    for name, text in texts.items():
        path = folder / name
        there = path.read_bytes().decode("utf-8", "replace") if path.exists() else ""
        diff = difflib.unified_diff(
            there.splitlines(),
            text.splitlines(),
            f"{name} on disk",
            f"{name} as made",
            "",
            "",
            0,
            "",
        )
        lines += list(diff)[:12] or ([f"{name}: line endings differ"] if there != text else [])
    return lines


def counts(table: VerbTable) -> str:
    """How the items are spread over verbs, tenses and persons, and what stays ambiguous."""
    return "\n".join(
        line for name, forms in choose(table).items() for line in exam_counts(table, name, forms)
    )


def exam_counts(table: VerbTable, name: str, forms: Sequence[VerbForm]) -> Iterator[str]:
    """The lines of one exam."""
    verbs = Counter(form[0] for form in forms)
    cells = Counter(form[1:] for form in forms)
    per_verb = "-".join(map(str, sorted({min(verbs.values()), max(verbs.values())})))
    yield f"{name}: {len(forms)} items, {len(verbs)} verbs, {per_verb} per verb"
    yield row("", [*Person, "all"])
    for tense in Tense:
        numbers = [cells[tense, person] for person in Person]
        yield row(tense, [*numbers, sum(numbers)])
    totals = [sum(cells[tense, person] for tense in Tense) for person in Person]
    yield row("all", [*totals, len(forms)])
    regular = sum(table.verbs[form[0]].regular for form in forms)
    yield f"  of regular verbs: {regular}"
    yield f"  English form is part of another: {listed(table, forms)}"
    held = sum(bool(gloss_hidden_in(table, form)) for form in forms)
    yield f"  Spanish form is part of another: {held}"


def row(label: str, values: Iterable[object]) -> str:
    """One line of a table of counts."""
    return f"  {label:<20}" + "".join(f"{value!s:>5}" for value in values)


def listed(table: VerbTable, forms: Sequence[VerbForm]) -> str:
    """How many forms are part of another form of their verb, and which."""
    held = [table.get_english_form(*form) for form in forms if hidden_in(table, form)]
    return f"{len(held)} ({', '.join(held)})" if held else "0"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write, check or count; the exit code is 1 where the check finds a difference."""
    parser = argparse.ArgumentParser(description="Write the built-in exams from the verb table.")
    parser.add_argument("--check", action="store_true", help="write nothing; compare the files")
    parser.add_argument("--counts", action="store_true", help="write nothing; print the counts")
    parser.add_argument("--exams", type=Path, default=EXAMS, help="another folder for the files")
    options = parser.parse_args(arguments)
    table = load_verbs()
    if options.counts:
        print(counts(table))
        return 0
    if options.check:
        found = differences(render(table), options.exams)
        print("\n".join(found) or "the exams are what the generator writes")
        return 1 if found else 0
    options.exams.mkdir(parents=True, exist_ok=True)
    for name, text in render(table).items():
        (options.exams / name).write_bytes(text.encode("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
