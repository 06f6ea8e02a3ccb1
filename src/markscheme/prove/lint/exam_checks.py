"""Checks E005 to E016: the items of an exam as its axes read them, and the size of the exam."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from markscheme.mark import DEFAULT_STEPS, normalise
from markscheme.mark.axes import (
    ComparingAxis,
    ContainsAll,
    Equals,
    list_alternatives,
    quote_excerpt,
)
from markscheme.prove.lint.expectation_checks import (
    check_expectation_texts,
    check_table_forms,
    iterate_expected_texts,
)
from markscheme.prove.lint.findings import (
    FindingLocation,
    Fix,
    LintFinding,
    locate_item_field,
    make_finding,
)
from markscheme.prove.lint.rubric_checks import RubricDocument, compute_smallest_step
from markscheme.read.documents import FieldPath
from markscheme.read.verbs import Person, Tense, load_verbs
from markscheme.vocabulary import Allowance, Axis, Gate, Item, format_decimal, format_plain
from markscheme.weigh.gates import Evidence, evaluate_non_inferiority

_MAX_NAMED_ITEMS = 3
# For one expectation, at most so many other items are tried.
_MAX_TRIED_ITEMS = 20
# Longer expectations are not searched for shorter ones: they would hold many by chance.
_MAX_EXPECTATION_LENGTH = 1000
Form = tuple[str, str, str]
"""Verb, tense and person."""
# A tag that is used so often is not a typo itself.
_MIN_COMMON_USES = 3
# Shorter words are similar by chance.
_MIN_WORD_LENGTH = 4


def check_items(
    items: Sequence[Item], axes: Sequence[Axis], *, fixable: bool
) -> Iterator[LintFinding]:
    """Yield the findings in the items, as these axes read them.

    `fixable` says that these are all the axes. Only then can an expectation be rewritten without
    changing a score.
    """
    comparing = [axis for axis in axes if isinstance(axis, ComparingAxis)]
    asked = _list_asked_forms(items)
    for axis in comparing:
        readable = [
            item
            for item in items
            if axis.expects in item.expectations and not any(axis.item_problems(item))
        ]
        for item in readable:
            yield from _check_normalised(item, axis, comparing if fixable else ())
            if isinstance(axis, ContainsAll):
                yield from _check_redundant_entries(item, axis)
            if _is_passed_by(axis, item, item.prompt):
                expected = _quote_texts(_get_expected_texts(item, axis))
                prompt = quote_excerpt(item.prompt)
                message = f"the prompt {prompt} holds {expected}: an echo would pass"
                yield make_finding("E009", locate_item_field(item, axis.expects), message)
            yield from _check_verb_forms(item, axis, asked)
            yield from check_expectation_texts(item, axis)
        yield from check_table_forms(readable, axis)
        if isinstance(axis, ContainsAll):
            yield from _check_inside_others(readable, axis)
    yield from _check_duplicates(items)
    yield from _check_tags(items)


def _get_expected_texts(item: Item, axis: ComparingAxis) -> tuple[str, ...]:
    """Return the texts that the axis expects, as they are written; of alternatives, the first."""
    entries = list_alternatives(item.expectations[axis.expects])
    return tuple(list_alternatives(entry)[0] for entry in entries)


def _normalise_groups(item: Item, axis: ComparingAxis) -> tuple[tuple[str, ...], ...]:
    """Return the alternatives of each entry as they are compared."""
    return tuple(
        tuple(normalise(text, axis.normalise) for text in list_alternatives(entry))
        for entry in list_alternatives(item.expectations[axis.expects])
    )


def _normalise_expected(item: Item, axis: ComparingAxis) -> tuple[str, ...]:
    return tuple(text for group in _normalise_groups(item, axis) for text in group)


def _is_passed_by(axis: ComparingAxis, item: Item, text: str) -> bool:
    return axis.judge(text, item).value == 1


def _check_normalised(
    item: Item, axis: ComparingAxis, all_axes: Sequence[ComparingAxis]
) -> Iterator[LintFinding]:
    """Report expectations that normalisation changes; offer a fix for their ends."""
    readers = [other for other in all_axes if other.expects == axis.expects]
    for path, text in iterate_expected_texts(item, axis):
        compared = normalise(text, axis.normalise)
        if compared == text:
            continue
        message = f"{quote_excerpt(text)} is compared as {quote_excerpt(compared)}"
        trimmed = _trim_expectation(text, [axis, *readers])
        if trimmed is None:
            yield make_finding("E006", locate_item_field(item, *path), message)
        else:
            fix = _build_rewrite(item, path, trimmed) if readers else None
            yield make_finding("E005", locate_item_field(item, *path), message, fix)


def _trim_expectation(text: str, axes: Sequence[ComparingAxis]) -> str | None:
    """Return the text without the spaces and full stop at its ends that no axis sees, or None."""
    for shorter in (text.strip().removesuffix("."), text.strip()):
        same = all(normalise(shorter, a.normalise) == normalise(text, a.normalise) for a in axes)
        if same and shorter not in {text, ""}:
            return shorter
    return None


def _build_rewrite(item: Item, path: FieldPath, text: str) -> Fix | None:
    if item.place is None:
        return None
    index = int(item.place.field.rpartition(".")[2])
    return Fix(path=("items", index, *path), action="rewrite", text=text)


def _check_redundant_entries(item: Item, axis: ContainsAll) -> Iterator[LintFinding]:
    """Report an entry that is part of another entry of the same list."""
    entries = _normalise_groups(item, axis)
    for index, entry in enumerate(entries):
        for other_index, other in enumerate(entries):
            repeated = entry == other and other_index < index
            implied = all(any(text in held for text in entry) for held in other)
            if repeated or (entry != other and implied):
                part = f"{_quote_alternatives(entry)} is part of {_quote_alternatives(other)}"
                location = locate_item_field(item, axis.expects, index)
                yield make_finding("E016", location, f"{part}, which is asked for too")
                break


def _check_verb_forms(
    item: Item, axis: ComparingAxis, asked: Mapping[Form, str]
) -> Iterator[LintFinding]:
    """Report other forms of the item's verb that would pass, according to the verb table.

    `asked` maps verb, tense and person to the id of the item that asks for them.
    """
    verb, table = item.tags.get("verb", ""), load_verbs()
    if verb not in table.verbs or isinstance(axis, Equals):
        return
    right = set(_normalise_expected(item, axis))
    for list_forms in (table.list_english_forms, table.list_spanish_forms):
        forms = {
            (tense, person): list_forms(verb, tense, person) for tense in Tense for person in Person
        }
        known = {normalise(form, axis.normalise) for same in forms.values() for form in same}
        if not right <= known:
            # The expectation is not a form in this language.
            continue
        # Persons often share a form, which is named once: by the person that an item asks for.
        others: dict[str, tuple[Tense, Person]] = {}
        for key, same in forms.items():
            if same[0] not in others or (verb, *key) in asked:
                others[same[0]] = key
        wrong = [
            f"{quote_excerpt(form)} ({', '.join([*key, *_name_asker(asked, (verb, *key), item)])})"
            for form, key in others.items()
            if normalise(form, axis.normalise) not in right and _is_passed_by(axis, item, form)
        ]
        if wrong:
            expected = _quote_texts(_get_expected_texts(item, axis))
            names = _join_first_names(wrong)
            message = f"{expected} is also part of {names}: a wrong form of `{verb}` would pass"
            yield make_finding("E007", locate_item_field(item, axis.expects), message)


def _name_asker(asked: Mapping[Form, str], form: Form, item: Item) -> Iterator[str]:
    """Yield which other item asks for a form."""
    name = asked.get(form)
    if name and name != item.id:
        yield f"asked by {name}"


def _list_asked_forms(items: Sequence[Item]) -> dict[Form, str]:
    names = ("verb", "tense", "person")
    return {
        (item.tags["verb"], item.tags["tense"], item.tags["person"]): item.id
        for item in items
        if set(names) <= item.tags.keys()
    }


def _check_inside_others(items: Sequence[Item], axis: ContainsAll) -> Iterator[LintFinding]:
    """Report items for which the right answer to another item would pass.

    Forms of one verb are left out: `_check_verb_forms` reports those.
    """
    holders = _find_holders(items, axis)
    table = load_verbs()
    for item in items:
        own = _normalise_expected(item, axis)
        verb = item.tags.get("verb")
        near = dict.fromkeys(n for text in _normalise_groups(item, axis)[0] for n in holders[text])
        others = [
            other
            for other in [items[number] for number in near][:_MAX_TRIED_ITEMS]
            if set(_normalise_expected(other, axis)) != set(own)
            and not (verb in table.verbs and other.tags.get("verb") == verb)
            and _is_passed_by(axis, item, " ".join(_get_expected_texts(other, axis)))
        ]
        if others:
            expected = _quote_texts(_get_expected_texts(item, axis))
            names = _join_first_names(
                [
                    f"{_quote_texts(_get_expected_texts(other, axis))} of {other.id}"
                    for other in others
                ]
            )
            message = f"{expected} is part of {names}, whose answer would pass here too"
            yield make_finding("E008", locate_item_field(item, axis.expects), message)


def _find_holders(items: Sequence[Item], axis: ContainsAll) -> dict[str, list[int]]:
    """Map the first entry of each item to the numbers of the items that hold it in a longer one.

    Substrings are looked up in a set, so the time grows with the text and not with the square of
    the number of items.
    """
    first_entries = {text for item in items for text in _normalise_groups(item, axis)[0]}
    sizes = sorted({len(entry) for entry in first_entries})
    holders: dict[str, list[int]] = defaultdict(list)
    for number, item in enumerate(items):
        for text in _normalise_expected(item, axis):
            if len(text) <= _MAX_EXPECTATION_LENGTH:
                parts = {
                    text[at : at + size]
                    for size in sizes
                    if size < len(text)
                    for at in range(len(text) - size + 1)
                }
                for part in parts & first_entries:
                    holders[part].append(number)
    return holders


def _check_duplicates(items: Sequence[Item]) -> Iterator[LintFinding]:
    """Report items with the same prompt, with the same or with other expectations."""
    first: dict[str, Item] = {}
    for item in items:
        prompt = normalise(item.prompt, (*DEFAULT_STEPS, "collapse_whitespace"))
        other = first.setdefault(prompt, item)
        if other is item or not prompt:
            continue
        if _normalise_expectations(item) == _normalise_expectations(other):
            message = f"`{item.id}` asks and expects what `{other.id}` does"
            yield make_finding("E010", locate_item_field(item), message)
        else:
            message = f"`{item.id}` asks what `{other.id}` asks, and expects something else"
            yield make_finding("E011", locate_item_field(item, "prompt"), message)


def _normalise_expectations(item: Item) -> dict[str, object]:
    texts = {
        key: value if isinstance(value, tuple) else (value,)
        for key, value in item.expectations.items()
    }
    return {
        key: tuple(normalise(str(text), DEFAULT_STEPS) for text in values)
        for key, values in texts.items()
    }


def _quote_alternatives(texts: Sequence[str]) -> str:
    return " or ".join(map(quote_excerpt, texts))


def _quote_texts(texts: Sequence[str]) -> str:
    return " and ".join(map(quote_excerpt, texts))


def _join_first_names(names: Sequence[str]) -> str:
    more = " and others" if len(names) > _MAX_NAMED_ITEMS else ""
    return ", ".join(names[:_MAX_NAMED_ITEMS]) + more


def _check_tags(items: Sequence[Item]) -> Iterator[LintFinding]:
    """Report tags that only one item has, and values that look like a typo of a common one."""
    tags = Counter(tag for item in items for tag in item.tags)
    values = {tag: Counter(item.tags[tag] for item in items if tag in item.tags) for tag in tags}
    for item in items:
        for tag, value in item.tags.items():
            if tags[tag] == 1 and len(items) >= _MIN_COMMON_USES:
                near = _find_near_tag(tag, tags)
                suggestion = f"; did you mean `{near}`?" if near else ""
                message = f"only this item has `{tag}`{suggestion}"
                yield make_finding("E012", locate_item_field(item, "tags"), message)
            elif values[tag][value] == 1 and (near := _find_near_tag(value, values[tag])):
                message = f"only this item has `{tag}: {value}`; did you mean `{near}`?"
                yield make_finding("E012", locate_item_field(item, "tags"), message)


def _find_near_tag(word: str, counts: Mapping[str, int]) -> str | None:
    """Return a common word of which `word` may be a typo, or None."""
    common = (other for other, n in counts.items() if n >= _MIN_COMMON_USES and other != word)
    return next((other for other in common if _is_one_edit_apart(word, other)), None)


def _is_one_edit_apart(word: str, other: str) -> bool:
    """Return whether two words differ only in case or by one typing error.

    That is one character replaced, added or left out, or two neighbours swapped.
    """
    word, other = word.lower(), other.lower()
    if word == other:
        return True
    if min(len(word), len(other)) < _MIN_WORD_LENGTH or abs(len(word) - len(other)) > 1:
        return False
    start = next((n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), -1)
    if start < 0:
        return True
    swapped = word[start : start + 2] == other[start : start + 2][::-1]
    return (
        word[start + 1 :] == other[start + 1 :]
        or word[start + 1 :] == other[start:]
        or word[start:] == other[start + 1 :]
        or (swapped and word[start + 2 :] == other[start + 2 :])
    )


# Size: whether an exam has enough items for the gates on it (E013 to E015)


def check_sizes(
    document: RubricDocument,
    exams: Mapping[str, Sequence[Item]],
    locations: Mapping[str, FindingLocation],
) -> Iterator[LintFinding]:
    """Yield a finding for each gate for which an exam has too few items.

    It is located at the exam if `locations` has its name, else at the gate. If a gate names
    several exams, their items are counted together; if it names none, each exam is checked alone.
    """
    for index, gate in enumerate(document.rubric.gates):
        for name, items in _select_exams(gate, exams).items():
            tags = gate.tags.items()
            count = sum(tags <= item.tags.items() for item in items)
            location = locations.get(name) or document.locate("gates", index)
            if count:
                yield from _check_exam_size(document, gate, name, count, location)


def _select_exams(gate: Gate, exams: Mapping[str, Sequence[Item]]) -> dict[str, list[Item]]:
    if not gate.exams:
        return {name: list(items) for name, items in exams.items()}
    names = [name for name in gate.exams if name in exams]
    items = [item for name in names for item in exams[name]]
    return {"+".join(names): items} if names else {}


def _check_exam_size(
    document: RubricDocument, gate: Gate, exam: str, count: int, location: FindingLocation
) -> Iterator[LintFinding]:
    on_scores = gate.metric in {"score", "baseline"}
    item_step = compute_smallest_step(document.rubric) if on_scores else Fraction(1)
    mean_step = item_step / count
    margin = _compute_margin(gate)
    if margin is not None and mean_step > margin > 0:
        step = f"the mean moves in steps of {format_decimal(mean_step)} or more"
        rest = f"`{gate.name}` leaves {format_decimal(margin)}, so the least loss fails"
        message = f"with {_format_item_count(count)} of `{exam}`, {step}; {rest}"
        yield make_finding("E013", location, message)
    if gate.baseline is None or gate.baseline.max_drop.amount == 0:
        return
    needed = _compute_items_needed(gate.baseline.max_drop, count)
    if needed is not None:
        drop = format_plain(gate.baseline.max_drop.amount * 100)
        message = (
            f"with {_format_item_count(count)} of `{exam}`, `{gate.name}` is inconclusive even if "
            f"nothing moves; at least {needed:,} items can show a drop of at most {drop} %"
        )
        yield make_finding("E015" if gate.baseline.evidence_required else "E014", location, message)


def _compute_margin(gate: Gate) -> Fraction | None:
    """Return how far the mean of a perfect run may fall before the gate fails."""
    if gate.baseline is not None:
        return gate.baseline.max_drop.points(Fraction(1))
    if gate.metric in {"score", "axis", "passed"} and gate.at_least is not None:
        return 1 - Fraction(gate.at_least)
    return None


def _compute_items_needed(limit: Allowance, count: int) -> int | None:
    """Return how many items the evidence needs if every score stays at 1, or None if enough."""
    pairs = [(Fraction(1), Fraction(1))] * max(count, 2)
    evidence = evaluate_non_inferiority(pairs, limit)
    enough = count > 1 and evidence.outcome is not Evidence.INCONCLUSIVE
    return None if enough else evidence.items_needed or count + 1


def _format_item_count(count: int) -> str:
    return "1 item" if count == 1 else f"{count:,} items"
