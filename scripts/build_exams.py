"""Write the built-in exams from the verb table; the same table gives the same bytes.

Example:
    python scripts/build_exams.py            write the four exams
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
# What `builtin/examples/tutor.jsonl` shows to a subject, so no exam may ask it.
EXAMPLES: tuple[VerbForm, ...] = (
    ("do", Tense.PAST_SIMPLE, Person.THIRD_SINGULAR),
    ("go", Tense.PRESENT_PERFECT, Person.SECOND_SINGULAR),
    ("have", Tense.PRESENT_CONTINUOUS, Person.FIRST_PLURAL),
)
CORE_VERBS = 20
"""The first verbs of the table are the capstone's."""
SHARE = dict.fromkeys(Tense, 2) | {Tense.PRESENT_SIMPLE: 1}
"""The present simple has one person that is not the base form, so it gets half of a share."""
RELUCTANCE = 5
"""How far a tense must lag behind before a form that is part of another form helps to fill it."""
VERSION = 2
"""The version of the exams; it rises when another answer is right than before."""
HEADER = "# Made by scripts/build_exams.py from the verb table; do not edit by hand.\n"
PLAIN = re.compile(r"[^\W\d_][\w'()— ,.-]*")
NOT_TEXT = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamPlan:
    """One exam to build: its name, the form of its ids, its verbs, and the items per verb."""

    name: str
    ids: str
    verbs: tuple[str, ...]
    rounds: int
    first: tuple[VerbForm, ...] = ()
    regular_past: bool = False


@dataclass(frozen=True, slots=True)
class FormDraw:
    """The forms that are chosen so far, and the counts that keep the next choice balanced."""

    hidden: frozenset[VerbForm]
    taken: set[VerbForm]
    chosen: list[VerbForm] = field(default_factory=list)
    count: Counter[object] = field(default_factory=Counter)

    def take(self, form: VerbForm) -> None:
        """Add a form to the exam."""
        verb, tense, person = form
        self.taken.add(form)
        self.chosen.append(form)
        self.count.update([verb, tense, person, (tense, person), (verb, tense), (verb, person)])

    def rank_form(self, form: VerbForm) -> tuple[float, ...]:
        """Return the sort key of a form: the form that the exam needs most comes first."""
        verb, tense, person = form
        reluctance = RELUCTANCE if form in self.hidden else 0
        return (
            self.count[verb, tense],
            self.count[tense] / SHARE[tense] + reluctance,
            self.count[tense, person],
            self.count[person] + self.count[verb, person],
        )


def list_plans(table: VerbTable) -> tuple[ExamPlan, ...]:
    """Return the plans: core verbs, every third of the others, all verbs, and all for practice."""
    verbs = tuple(table.verbs)
    core, others = verbs[:CORE_VERBS], verbs[CORE_VERBS:]
    return (
        ExamPlan(name="capstone", ids="e-39-{:02}", verbs=core, rounds=3, first=(SEED,)),
        ExamPlan(name="capstone-extra", ids="x-39-{:02}", verbs=others[::3], rounds=1),
        ExamPlan(name="regression", ids="r-38-{:03}", verbs=verbs, rounds=3, regular_past=True),
        # Last, so that it takes what the exams of the gates leave.
        ExamPlan(name="practice", ids="p-41-{:03}", verbs=verbs, rounds=4, regular_past=True),
    )


def choose_forms(table: VerbTable) -> dict[str, list[VerbForm]]:
    """Return the forms of each exam, in order. No form is asked twice."""
    taken = set(EXAMPLES)
    return {plan.name: draw_forms(table, plan, taken) for plan in list_plans(table)}


def draw_forms(table: VerbTable, plan: ExamPlan, taken: set[VerbForm]) -> list[VerbForm]:
    """Return the forms of one exam, chosen round by round over its verbs."""
    fair = {verb: list_fair_forms(table, plan, verb) for verb in plan.verbs}
    hidden = frozenset(
        form for forms in fair.values() for form in forms if find_longer_forms(table, form)
    )
    state = FormDraw(hidden, taken)
    for form in plan.first:
        state.take(form)
    for number in range(1, plan.rounds + 1):
        for verb in plan.verbs:
            if state.count[verb] < number:
                state.take(
                    min((form for form in fair[verb] if form not in taken), key=state.rank_form)
                )
    return state.chosen


def list_fair_forms(table: VerbTable, plan: ExamPlan, verb: str) -> list[VerbForm]:
    """Return the forms of a verb that the exam may ask."""
    forms = [(verb, tense, person) for tense in Tense for person in Person]
    return [form for form in forms if is_fair(table, form, regular_past=plan.regular_past)]


def is_fair(table: VerbTable, form: VerbForm, *, regular_past: bool) -> bool:
    """Return whether a form makes a fair item.

    Unfair are: a form that is part of the prompt, the continuous of a stative verb, and a form that
    is part of another form of its verb. With `regular_past`, the past of regular verbs is allowed
    although it is part of the participle, because without it the exam would not test the -ed rule.
    """
    verb = table.verbs[form[0]]
    if is_echoed(table, form) or (verb.stative and form[1] is Tense.PRESENT_CONTINUOUS):
        return False
    excused = regular_past and verb.regular and form[1] is Tense.PAST_SIMPLE
    return excused or not find_longer_forms(table, form)


def is_echoed(table: VerbTable, form: VerbForm) -> bool:
    """Return whether the prompt itself contains the English or the Spanish form."""
    text = normalise(format_prompt(table, form))
    return any(
        normalise(part) in text
        for part in (table.get_english_form(*form), table.get_spanish_form(*form))
    )


def normalise(text: str) -> str:
    """Normalise as the tutor's rubric does: strip, lower case, without one trailing period."""
    return text.strip().lower().removesuffix(".")


def find_longer_forms(table: VerbTable, form: VerbForm) -> list[str]:
    """Return the other forms of the verb, and its wrong regular past, that contain this form."""
    verb = table.verbs[form[0]]
    others = {
        table.get_english_form(verb.base, tense, person) for tense in Tense for person in Person
    }
    others |= {verb.participle, verb.ing, verb.base + ("d" if verb.base.endswith("e") else "ed")}
    own = table.get_english_form(*form)
    return sorted(other for other in others if own in other and own != other)


def find_longer_glosses(table: VerbTable, form: VerbForm) -> list[str]:
    """Return the other Spanish forms of the verb that contain this one."""
    own = table.get_spanish_form(*form)
    others = {
        table.get_spanish_form(form[0], tense, person) for tense in Tense for person in Person
    }
    return sorted(other for other in others if own in other and own != other)


def format_prompt(table: VerbTable, form: VerbForm) -> str:
    """Return the prompt. It names the Spanish sense if more than one verb would translate it."""
    verb, tense, person = form
    sense = f" ({table.verbs[verb].spanish})" if table.verbs[verb].ambiguous else ""
    return f"Conjugate '{verb}'{sense} — {tense.label}, {person.label}."


def format_scalar(text: str) -> str:
    """Return a text as a YAML scalar that every parser reads as that text."""
    if PLAIN.fullmatch(text) and text.lower() not in NOT_TEXT:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def format_entry(forms: Sequence[str]) -> str:
    """Return one entry of an expectation: the form, or the list of forms that are all right."""
    texts = [format_scalar(form) for form in forms]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def format_item(table: VerbTable, form: VerbForm, name: str) -> str:
    """Return the text of one item of an exam file."""
    verb, tense, person = form
    return (
        f"  - id: {name}\n"
        f"    prompt: {format_scalar(format_prompt(table, form))}\n"
        f"    expected_contains: [{format_entry(table.list_english_forms(*form))}]\n"
        f"    gloss_contains: [{format_entry(table.list_spanish_forms(*form))}]\n"
        f"    tags: {{verb: {format_scalar(verb)}, tense: {tense}, person: {person}}}\n"
    )


def render_exams(table: VerbTable) -> dict[str, str]:
    """Return the text of each exam file, by file name."""
    chosen = choose_forms(table)
    texts = {}
    for plan in list_plans(table):
        items = enumerate(chosen[plan.name], start=1)
        body = "".join(format_item(table, form, plan.ids.format(number)) for number, form in items)
        texts[f"{plan.name}.yaml"] = (
            f"{HEADER}exam: {plan.name}\nversion: {VERSION}\nitems:\n{body}"
        )
    return texts


def find_differences(texts: dict[str, str], folder: Path) -> list[str]:
    """Return the first lines in which the files of a folder differ from the texts."""
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


def format_counts(table: VerbTable) -> str:
    """Return a table of how many items there are by verb, tense and person."""
    return "\n".join(
        line
        for name, forms in choose_forms(table).items()
        for line in format_exam_counts(table, name, forms)
    )


def format_exam_counts(table: VerbTable, name: str, forms: Sequence[VerbForm]) -> Iterator[str]:
    """Yield the lines of the table for one exam."""
    verbs = Counter(form[0] for form in forms)
    cells = Counter(form[1:] for form in forms)
    per_verb = "-".join(map(str, sorted({min(verbs.values()), max(verbs.values())})))
    yield f"{name}: {len(forms)} items, {len(verbs)} verbs, {per_verb} per verb"
    yield format_row("", [*Person, "all"])
    for tense in Tense:
        numbers = [cells[tense, person] for person in Person]
        yield format_row(tense, [*numbers, sum(numbers)])
    totals = [sum(cells[tense, person] for tense in Tense) for person in Person]
    yield format_row("all", [*totals, len(forms)])
    regular = sum(table.verbs[form[0]].regular for form in forms)
    yield f"  of regular verbs: {regular}"
    yield f"  English form is part of another: {format_hidden_forms(table, forms)}"
    held = sum(bool(find_longer_glosses(table, form)) for form in forms)
    yield f"  Spanish form is part of another: {held}"


def format_row(label: str, values: Iterable[object]) -> str:
    """Return one line of a table of counts."""
    return f"  {label:<20}" + "".join(f"{value!s:>5}" for value in values)


def format_hidden_forms(table: VerbTable, forms: Sequence[VerbForm]) -> str:
    """Return how many forms are part of another form of their verb, and which."""
    held = [table.get_english_form(*form) for form in forms if find_longer_forms(table, form)]
    return f"{len(held)} ({', '.join(held)})" if held else "0"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write, check or count; the exit code is 1 if the check finds a difference."""
    parser = argparse.ArgumentParser(description="Write the built-in exams from the verb table.")
    parser.add_argument("--check", action="store_true", help="write nothing; compare the files")
    parser.add_argument("--counts", action="store_true", help="write nothing; print the counts")
    parser.add_argument("--exams", type=Path, default=EXAMS, help="another folder for the files")
    options = parser.parse_args(arguments)
    table = load_verbs()
    if options.counts:
        print(format_counts(table))
        return 0
    if options.check:
        found = find_differences(render_exams(table), options.exams)
        print("\n".join(found) or "the exams are what the generator writes")
        return 1 if found else 0
    options.exams.mkdir(parents=True, exist_ok=True)
    for name, text in render_exams(table).items():
        (options.exams / name).write_bytes(text.encode("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
