"""Generate recorded traffic from a seed: answers of a tutor to 500 items, one in ten flawed.

    python benchmarks/traffic.py 1000000 FOLDER

writes `exam.yaml` and `answers-1000000-varied.jsonl` (about 240 bytes a line) to FOLDER. The flaws
are the ones that real answers have: JSON in a code fence, prose instead of JSON, an object cut
off, a wrong form, no gloss, a missing or extra key, upper case, an accent typed as two code points,
rambling.
"""

from __future__ import annotations

import json
import random
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.read.verbs import Person, Tense, load_verbs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ITEMS = 500
FLAWED = 0.10
_OPENINGS = (
    "The form is",
    "Here we need",
    "English uses",
    "This takes",
    "You want",
    "It calls for",
)
_MIDDLES = (
    "the {tense} of {verb}",
    "{verb} in the {tense}",
    "the {tense}, {person}, of {verb}",
    "{verb} conjugated in the {tense}",
)
_ENDINGS = (
    "because the action is seen as {seen}",
    "so the verb changes with its {part}",
    "as the time word in the sentence shows",
    "which learners of level {level} often mix up",
)
_SEEN = ("finished", "ongoing", "general", "planned", "recent", "repeated", "certain", "remote")
_PARTS = ("subject", "auxiliary", "ending", "vowel", "participle", "stem", "tense", "number")
_RAMBLE = " and to be quite honest with you there is a lot more to say about it" * 3

Fields = dict[str, str]


def forms() -> list[tuple[str, Tense, Person, str, str]]:
    """Return 500 forms of the verb table, spread over verbs, tenses and persons."""
    table = load_verbs()
    every = [(verb, tense, person) for person in Person for tense in Tense for verb in table.verbs]
    step = len(every) / ITEMS
    chosen = (every[int(i * step)] for i in range(ITEMS))
    return [
        (v, t, p, table.get_english_form(v, t, p), table.get_spanish_form(v, t, p))
        for v, t, p in chosen
    ]


def exam_text() -> str:
    """Return the exam file."""
    lines = ["exam: traffic", "items:"]
    for i, (verb, tense, person, english, spanish) in enumerate(forms()):
        lines += [
            f"  - id: t-{i:03}",
            f"    prompt: Conjugate '{verb}' — {tense.label}, {person.label}.",
            f"    expected_contains: [{english}]",
            f"    gloss_contains: [{spanish}]",
            f"    tags: {{verb: {verb}, tense: {tense.value}, person: {person.value}}}",
        ]
    return "\n".join(lines) + "\n"


def answers(count: int, *, said: int | None = None, seed: int = 39) -> Iterator[str]:
    """Yield the lines of the answers file.

    With `said`, each item gets only that many different outputs, as from a model that repeats
    itself; without it, explanations hardly ever repeat.
    """
    rng = random.Random(seed)  # noqa: S311 - data, not secrets
    chosen = forms()
    pools = [[_output(rng, form) for _ in range(said)] for form in chosen] if said else None
    for i in range(count):
        at = i % ITEMS
        row = {
            "item": f"t-{at:03}",
            "attempt": i // ITEMS + 1,
            "output": rng.choice(pools[at]) if pools else _output(rng, chosen[at]),
            "latency_ms": round(rng.lognormvariate(5, 0.4), 1),
        }
        yield json.dumps(row, ensure_ascii=False)


def _output(rng: random.Random, form: tuple[str, Tense, Person, str, str]) -> str:
    verb, tense, person, english, spanish = form
    fields = {
        "correction": f"{english[0].upper()}{english[1:]}.",
        "spanish_gloss": f"{spanish[0].upper()}{spanish[1:]}.",
        "explanation": _explanation(rng, verb, tense, person),
    }
    return rng.choice(_FLAWS)(fields) if rng.random() < FLAWED else _clean(fields)


def _explanation(rng: random.Random, verb: str, tense: Tense, person: Person) -> str:
    middle = rng.choice(_MIDDLES).format(tense=tense.label, verb=verb, person=person.label)
    ending = rng.choice(_ENDINGS).format(
        seen=rng.choice(_SEEN), part=rng.choice(_PARTS), level=rng.randint(1, 99)
    )
    return f"{rng.choice(_OPENINGS)} {middle}, {ending}."


def _clean(fields: Fields) -> str:
    return json.dumps(fields, ensure_ascii=False)


def _changed(**changes: Callable[[str], str]) -> Callable[[Fields], str]:
    return lambda fields: _clean(
        {name: changes.get(name, str)(value) for name, value in fields.items()}
    )


_FLAWS: tuple[Callable[[Fields], str], ...] = (
    lambda fields: f"```json\n{_clean(fields)}\n```",
    lambda fields: f"{fields['correction']} In Spanish: {fields['spanish_gloss']}",
    lambda fields: _clean(fields)[:-12],
    lambda fields: _clean({k: v for k, v in fields.items() if k != "spanish_gloss"}),
    lambda fields: _clean({**fields, "confidence": "high"}),
    _changed(correction=lambda text: f"{text[:-2]}ed."),
    _changed(spanish_gloss=lambda _: ""),
    _changed(correction=str.upper, spanish_gloss=str.upper),
    _changed(spanish_gloss=lambda text: unicodedata.normalize("NFD", text)),
    _changed(explanation=lambda text: text[:-1] + _RAMBLE),
)


def write(count: int, folder: Path, *, said: int | None = None) -> tuple[Path, Path]:
    """Write the exam and `count` answers; return both paths. An existing file is kept."""
    folder.mkdir(parents=True, exist_ok=True)
    kind = f"repeated-{said}" if said else "varied"
    exam, recorded = folder / "exam.yaml", folder / f"answers-{count}-{kind}.jsonl"
    exam.write_text(exam_text(), encoding="utf-8")
    if not recorded.exists():
        partial = recorded.with_suffix(".partial")
        with partial.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in answers(count, said=said))
        partial.replace(recorded)
    return exam, recorded


if __name__ == "__main__":
    print(*write(int(sys.argv[1]), Path(sys.argv[2])), sep="\n")
