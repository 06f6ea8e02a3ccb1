"""Tags that stand alone beside a common one that is nearly the same: most likely typos.

E: what lint says of the items of an exam, as the axes that read them would take them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from markscheme.mark import DEFAULT_STEPS, normalise
from markscheme.mark.axes import ComparingAxis, ContainsAll, Equals, quote_excerpt
from markscheme.prove.lint.findings import Fix, locate_item_field, make_finding
from markscheme.read.verbs import Person, Tense, load_verbs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markscheme.prove.lint.findings import LintFinding
    from markscheme.vocabulary import Axis, Item

_MIN_COMMON_USES = 3  # used so often, a tag is no typo itself
_MIN_WORD_LENGTH = 4  # words below this are near each other by chance


def check_tags(items: Sequence[Item]) -> Iterator[LintFinding]:
    """Yield the tags that one item alone has, and the values that are nearly a common one."""
    tags = Counter(tag for item in items for tag in item.tags)
    values = {tag: Counter(item.tags[tag] for item in items if tag in item.tags) for tag in tags}
    for item in items:
        for tag, value in item.tags.items():
            if tags[tag] == 1 and len(items) >= _MIN_COMMON_USES:
                near = _find_near_tag(tag, tags)
                meant = f"; did you mean `{near}`?" if near else ""
                yield make_finding(
                    "E012", locate_item_field(item, "tags"), f"only this item has `{tag}`{meant}"
                )
            elif values[tag][value] == 1 and (near := _find_near_tag(value, values[tag])):
                told = f"only this item has `{tag}: {value}`; did you mean `{near}`?"
                yield make_finding("E012", locate_item_field(item, "tags"), told)


def _find_near_tag(word: str, used: Mapping[str, int]) -> str | None:
    common = (other for other, count in used.items() if count >= _MIN_COMMON_USES and other != word)
    return next((other for other in common if _is_near(word, other)), None)


def _is_near(one: str, other: str) -> bool:
    """Return whether the words are the same but for case, or for one slip of a finger."""
    one, other = one.lower(), other.lower()
    if one == other:
        return True
    if min(len(one), len(other)) < _MIN_WORD_LENGTH or abs(len(one) - len(other)) > 1:
        return False
    start = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), -1)
    if start < 0:
        return True
    swapped = one[start : start + 2] == other[start : start + 2][::-1]
    return (
        one[start + 1 :] == other[start + 1 :]
        or one[start + 1 :] == other[start:]
        or one[start:] == other[start + 1 :]
        or (swapped and one[start + 2 :] == other[start + 2 :])
    )


_MAX_NAMED_ITEMS = 3
_MAX_TRIED_ITEMS = 20  # so many other items are tried for one expectation before it is told
_MAX_EXPECTATION_LENGTH = (
    1000  # texts above this are no short expectation that another may hold by chance
)


def check_items(
    items: Sequence[Item], axes: Sequence[Axis], *, fixable: bool
) -> Iterator[LintFinding]:
    """Yield what is suspicious in the items, as these axes read them.

    A repair of an expectation is offered where all axes that there are are known.
    """
    comparing = [axis for axis in axes if isinstance(axis, ComparingAxis)]
    for axis in comparing:
        readable = [item for item in items if _is_readable(item, axis)]
        for item in readable:
            yield from _check_normalised(item, axis, comparing if fixable else ())
            if isinstance(axis, ContainsAll):
                yield from _check_redundant_entries(item, axis)
            yield from _check_prompt_echo(item, axis)
            yield from _check_verb_forms(item, axis)
        if isinstance(axis, ContainsAll):
            yield from _check_inside_others(readable, axis)
    yield from _check_duplicates(items)
    yield from check_tags(items)


def _is_readable(item: Item, axis: ComparingAxis) -> bool:
    return axis.expects in item.expectations and not any(axis.item_problems(item))


def _get_expected_texts(item: Item, axis: ComparingAxis) -> tuple[str, ...]:
    """Return the texts that the axis expects, as they are written."""
    value = item.expectations[axis.expects]
    return (value,) if isinstance(value, str) else tuple(value)


def _normalise_expected(item: Item, axis: ComparingAxis) -> tuple[str, ...]:
    return tuple(normalise(text, axis.normalise) for text in _get_expected_texts(item, axis))


def _is_passed_by(axis: ComparingAxis, item: Item, text: str) -> bool:
    return axis.judge(text, item).value == 1


def _check_normalised(
    item: Item, axis: ComparingAxis, all_axes: Sequence[ComparingAxis]
) -> Iterator[LintFinding]:
    single = isinstance(item.expectations[axis.expects], str)
    readers = [other for other in all_axes if other.expects == axis.expects]
    for place, text in enumerate(_get_expected_texts(item, axis)):
        compared = normalise(text, axis.normalise)
        if compared == text:
            continue
        path = (axis.expects,) if single else (axis.expects, place)
        told = f"{quote_excerpt(text)} is compared as {quote_excerpt(compared)}"
        trimmed = _trim_expectation(text, [axis, *readers])
        if trimmed is None:
            yield make_finding("E006", locate_item_field(item, *path), told)
        else:
            fix = _build_rewrite(item, path, trimmed) if readers else None
            yield make_finding("E005", locate_item_field(item, *path), told, fix)


def _trim_expectation(text: str, axes: Sequence[ComparingAxis]) -> str | None:
    """Return the text without what no axis that reads it sees at its ends, if there is any."""
    for shorter in (text.strip().removesuffix("."), text.strip()):
        same = all(normalise(shorter, a.normalise) == normalise(text, a.normalise) for a in axes)
        if same and shorter not in {text, ""}:
            return shorter
    return None


def _build_rewrite(item: Item, path: tuple[str | int, ...], text: str) -> Fix | None:
    if item.place is None:
        return None
    index = int(item.place.field.rpartition(".")[2])
    return Fix(path=("items", index, *path), action="rewrite", text=text)


def _check_redundant_entries(item: Item, axis: ContainsAll) -> Iterator[LintFinding]:
    """Say which entry of a list another entry of it already asks for."""
    wanted = _normalise_expected(item, axis)
    for place, entry in enumerate(wanted):
        for other_place, other in enumerate(wanted):
            again = entry == other and other_place < place
            if again or (entry != other and entry in other):
                told = f"{quote_excerpt(entry)} is part of {quote_excerpt(other)}, which is asked for too"
                yield make_finding("E016", locate_item_field(item, axis.expects, place), told)
                break


def _check_prompt_echo(item: Item, axis: ComparingAxis) -> Iterator[LintFinding]:
    if _is_passed_by(axis, item, item.prompt):
        told = _quote_texts(_get_expected_texts(item, axis))
        message = f"the prompt {quote_excerpt(item.prompt)} holds {told}: an echo would pass"
        yield make_finding("E009", locate_item_field(item, axis.expects), message)


def _check_verb_forms(item: Item, axis: ComparingAxis) -> Iterator[LintFinding]:
    """Say which other forms of the item's verb would pass, by the verb table."""
    verb, table = item.tags.get("verb", ""), load_verbs()
    if verb not in table.verbs or isinstance(axis, Equals):
        return
    right = set(_normalise_expected(item, axis))
    for language in (table.get_english_form, table.get_spanish_form):
        forms = {
            language(verb, tense, person): (tense, person) for tense in Tense for person in Person
        }
        normal = {normalise(form, axis.normalise) for form in forms}
        if not right <= normal:
            continue
        wrong = {
            form: of
            for form, of in forms.items()
            if normalise(form, axis.normalise) not in right and _is_passed_by(axis, item, form)
        }
        if wrong:
            told = _quote_texts(_get_expected_texts(item, axis))
            others = _join_first_names(
                [f"{quote_excerpt(form)} ({of[0]}, {of[1]})" for form, of in wrong.items()]
            )
            message = f"{told} is also part of {others}: a wrong form of `{verb}` would pass"
            yield make_finding("E007", locate_item_field(item, axis.expects), message)


def _check_inside_others(items: Sequence[Item], axis: ContainsAll) -> Iterator[LintFinding]:
    """Say whose right answer would pass for another item, unless the verb table told it."""
    holders = _find_holders(items, axis)
    table = load_verbs()
    for item in items:
        own = _normalise_expected(item, axis)
        verb = item.tags.get("verb")
        others = [
            other
            for other in holders[own[0]][:_MAX_TRIED_ITEMS]
            if set(_normalise_expected(other, axis)) != set(own)
            and not (verb in table.verbs and other.tags.get("verb") == verb)
            and _is_passed_by(axis, item, " ".join(_get_expected_texts(other, axis)))
        ]
        if others:
            told = _quote_texts(_get_expected_texts(item, axis))
            named = [
                f"{_quote_texts(_get_expected_texts(other, axis))} of {other.id}"
                for other in others
            ]
            message = (
                f"{told} is part of {_join_first_names(named)}, whose answer would pass here too"
            )
            yield make_finding("E008", locate_item_field(item, axis.expects), message)


def _find_holders(items: Sequence[Item], axis: ContainsAll) -> dict[str, list[Item]]:
    """Return for each first entry of an item the items that hold it in a longer entry."""
    heads = {_normalise_expected(item, axis)[0] for item in items}
    sizes = sorted({len(head) for head in heads})
    holders: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        for text in _normalise_expected(item, axis):
            if len(text) <= _MAX_EXPECTATION_LENGTH:
                for part in _list_substrings(text, sizes) & heads:
                    holders[part].append(item)
    return holders


def _list_substrings(text: str, sizes: Sequence[int]) -> set[str]:
    return {
        text[at : at + size]
        for size in sizes
        if size < len(text)
        for at in range(len(text) - size + 1)
    }


def _check_duplicates(items: Sequence[Item]) -> Iterator[LintFinding]:
    """Say which items ask the same, and expect the same or not."""
    first: dict[str, Item] = {}
    for item in items:
        asked = normalise(item.prompt, (*DEFAULT_STEPS, "collapse_whitespace"))
        other = first.setdefault(asked, item)
        if other is item or not asked:
            continue
        if _normalise_expectations(item) == _normalise_expectations(other):
            told = f"`{item.id}` asks and expects what `{other.id}` does"
            yield make_finding("E010", locate_item_field(item), told)
        else:
            told = f"`{item.id}` asks what `{other.id}` asks, and expects something else"
            yield make_finding("E011", locate_item_field(item, "prompt"), told)


def _normalise_expectations(item: Item) -> dict[str, object]:
    return {
        key: tuple(normalise(str(text), DEFAULT_STEPS) for text in _to_tuple(value))
        for key, value in item.expectations.items()
    }


def _to_tuple(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _quote_texts(texts: Sequence[str]) -> str:
    return " and ".join(map(quote_excerpt, texts))


def _join_first_names(named: Sequence[str]) -> str:
    return ", ".join(named[:_MAX_NAMED_ITEMS]) + (
        " and others" if len(named) > _MAX_NAMED_ITEMS else ""
    )
