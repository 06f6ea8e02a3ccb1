"""Tags that stand alone beside a common one that is nearly the same: most likely typos."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from markscheme.prove.findings import locate_item_field, make_finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markscheme.prove.findings import LintFinding
    from markscheme.vocabulary import Item

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
