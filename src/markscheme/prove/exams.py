"""E: what lint says of the items of an exam, as the axes that read them would take them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from markscheme.mark.axes.base import quoted
from markscheme.mark.axes.text import ComparingAxis, ContainsAll, Equals
from markscheme.mark.normalise import DEFAULT_STEPS, normalise
from markscheme.prove.findings import Fix, finding, spot_of
from markscheme.prove.tags import check_tags
from markscheme.read.verbs import Person, Tense, load_verbs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markscheme.prove.findings import LintFinding
    from markscheme.vocabulary import Axis, Item

_NAMED = 3
_TRIED = 20  # so many other items are tried for one expectation before it is told
_LONGEST = 1000  # texts above this are no short expectation that another may hold by chance


def check_items(
    items: Sequence[Item], axes: Sequence[Axis], *, fixable: bool
) -> Iterator[LintFinding]:
    """Yield what is suspicious in the items, as these axes read them.

    A repair of an expectation is offered where all axes that there are are known.
    """
    comparing = [axis for axis in axes if isinstance(axis, ComparingAxis)]
    for axis in comparing:
        readable = [item for item in items if _readable(item, axis)]
        for item in readable:
            yield from _normalised(item, axis, comparing if fixable else ())
            if isinstance(axis, ContainsAll):
                yield from _entries(item, axis)
            yield from _echo(item, axis)
            yield from _verb_forms(item, axis)
        if isinstance(axis, ContainsAll):
            yield from _inside_others(readable, axis)
    yield from _same(items)
    yield from check_tags(items)


def _readable(item: Item, axis: ComparingAxis) -> bool:
    return axis.expects in item.expectations and not any(axis.item_problems(item))


def _texts(item: Item, axis: ComparingAxis) -> tuple[str, ...]:
    """Return the texts that the axis expects, as they are written."""
    value = item.expectations[axis.expects]
    return (value,) if isinstance(value, str) else tuple(value)


def _wanted(item: Item, axis: ComparingAxis) -> tuple[str, ...]:
    return tuple(normalise(text, axis.normalise) for text in _texts(item, axis))


def _passes(axis: ComparingAxis, item: Item, text: str) -> bool:
    return axis.judge(text, item).value == 1


def _normalised(
    item: Item, axis: ComparingAxis, all_axes: Sequence[ComparingAxis]
) -> Iterator[LintFinding]:
    single = isinstance(item.expectations[axis.expects], str)
    readers = [other for other in all_axes if other.expects == axis.expects]
    for place, text in enumerate(_texts(item, axis)):
        compared = normalise(text, axis.normalise)
        if compared == text:
            continue
        path = (axis.expects,) if single else (axis.expects, place)
        told = f"{quoted(text)} is compared as {quoted(compared)}"
        trimmed = _trimmed(text, [axis, *readers])
        if trimmed is None:
            yield finding("E006", spot_of(item, *path), told)
        else:
            fix = _fix(item, path, trimmed) if readers else None
            yield finding("E005", spot_of(item, *path), told, fix)


def _trimmed(text: str, axes: Sequence[ComparingAxis]) -> str | None:
    """Return the text without what no axis that reads it sees at its ends, if there is any."""
    for shorter in (text.strip().removesuffix("."), text.strip()):
        same = all(normalise(shorter, a.normalise) == normalise(text, a.normalise) for a in axes)
        if same and shorter not in {text, ""}:
            return shorter
    return None


def _fix(item: Item, path: tuple[str | int, ...], text: str) -> Fix | None:
    if item.place is None:
        return None
    index = int(item.place.field.rpartition(".")[2])
    return Fix(path=("items", index, *path), action="rewrite", text=text)


def _entries(item: Item, axis: ContainsAll) -> Iterator[LintFinding]:
    """Say which entry of a list another entry of it already asks for."""
    wanted = _wanted(item, axis)
    for place, entry in enumerate(wanted):
        for other_place, other in enumerate(wanted):
            again = entry == other and other_place < place
            if again or (entry != other and entry in other):
                told = f"{quoted(entry)} is part of {quoted(other)}, which is asked for too"
                yield finding("E016", spot_of(item, axis.expects, place), told)
                break


def _echo(item: Item, axis: ComparingAxis) -> Iterator[LintFinding]:
    if _passes(axis, item, item.prompt):
        told = _shown(_texts(item, axis))
        message = f"the prompt {quoted(item.prompt)} holds {told}: an echo would pass"
        yield finding("E009", spot_of(item, axis.expects), message)


def _verb_forms(item: Item, axis: ComparingAxis) -> Iterator[LintFinding]:
    """Say which other forms of the item's verb would pass, by the verb table."""
    verb, table = item.tags.get("verb", ""), load_verbs()
    if verb not in table.verbs or isinstance(axis, Equals):
        return
    right = set(_wanted(item, axis))
    for language in (table.english, table.spanish):
        forms = {
            language(verb, tense, person): (tense, person) for tense in Tense for person in Person
        }
        normal = {normalise(form, axis.normalise) for form in forms}
        if not right <= normal:
            continue
        wrong = {
            form: of
            for form, of in forms.items()
            if normalise(form, axis.normalise) not in right and _passes(axis, item, form)
        }
        if wrong:
            told = _shown(_texts(item, axis))
            others = _some([f"{quoted(form)} ({of[0]}, {of[1]})" for form, of in wrong.items()])
            message = f"{told} is also part of {others}: a wrong form of `{verb}` would pass"
            yield finding("E007", spot_of(item, axis.expects), message)


def _inside_others(items: Sequence[Item], axis: ContainsAll) -> Iterator[LintFinding]:
    """Say whose right answer would pass for another item, unless the verb table told it."""
    holders = _holders(items, axis)
    table = load_verbs()
    for item in items:
        own = _wanted(item, axis)
        verb = item.tags.get("verb")
        others = [
            other
            for other in holders[own[0]][:_TRIED]
            if set(_wanted(other, axis)) != set(own)
            and not (verb in table.verbs and other.tags.get("verb") == verb)
            and _passes(axis, item, " ".join(_texts(other, axis)))
        ]
        if others:
            told = _shown(_texts(item, axis))
            named = [f"{_shown(_texts(other, axis))} of {other.id}" for other in others]
            message = f"{told} is part of {_some(named)}, whose answer would pass here too"
            yield finding("E008", spot_of(item, axis.expects), message)


def _holders(items: Sequence[Item], axis: ContainsAll) -> dict[str, list[Item]]:
    """Return for each first entry of an item the items that hold it in a longer entry."""
    heads = {_wanted(item, axis)[0] for item in items}
    sizes = sorted({len(head) for head in heads})
    holders: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        for text in _wanted(item, axis):
            if len(text) <= _LONGEST:
                for part in _parts(text, sizes) & heads:
                    holders[part].append(item)
    return holders


def _parts(text: str, sizes: Sequence[int]) -> set[str]:
    return {
        text[at : at + size]
        for size in sizes
        if size < len(text)
        for at in range(len(text) - size + 1)
    }


def _same(items: Sequence[Item]) -> Iterator[LintFinding]:
    """Say which items ask the same, and expect the same or not."""
    first: dict[str, Item] = {}
    for item in items:
        asked = normalise(item.prompt, (*DEFAULT_STEPS, "collapse_whitespace"))
        other = first.setdefault(asked, item)
        if other is item or not asked:
            continue
        if _meant(item) == _meant(other):
            told = f"`{item.id}` asks and expects what `{other.id}` does"
            yield finding("E010", spot_of(item), told)
        else:
            told = f"`{item.id}` asks what `{other.id}` asks, and expects something else"
            yield finding("E011", spot_of(item, "prompt"), told)


def _meant(item: Item) -> dict[str, object]:
    return {
        key: tuple(normalise(str(text), DEFAULT_STEPS) for text in _as_list(value))
        for key, value in item.expectations.items()
    }


def _as_list(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _shown(texts: Sequence[str]) -> str:
    return " and ".join(map(quoted, texts))


def _some(named: Sequence[str]) -> str:
    return ", ".join(named[:_NAMED]) + (" and others" if len(named) > _NAMED else "")
