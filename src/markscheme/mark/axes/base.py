"""Base classes of axes: defaults, and reading one text from a response."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from markscheme.vocabulary import Cell, Item, Response, format_value, sentence

if TYPE_CHECKING:
    import polars as pl

    from markscheme.mark.normalise import NormalisationStep

EXCERPT_LENGTH = 60
ALTERNATIVE_BAR = " | "
_LIST_TYPES = (list, tuple)


def quote_excerpt(text: str) -> str:
    """Return the text in quotation marks on one line, shortened if it is long.

    >>> quote_excerpt("Ate.")
    '"Ate."'
    """
    line = text if len(text) <= EXCERPT_LENGTH else f"{text[: EXCERPT_LENGTH - 1]}…"
    if not line.isprintable():
        line = "".join(c if c.isprintable() else " " for c in line)
    return f'"{line}"'


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseAxis:
    """An axis without problems to report; subclasses override what they need."""

    kind: ClassVar[str]
    version: ClassVar[int] = 1

    @property
    def expectation(self) -> str | None:
        """The key of the item that the axis reads, if it reads one."""
        return getattr(self, "expects", None)

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Yield nothing: every value of the right type is allowed."""
        yield from ()

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """Yield nothing: the axis needs nothing of the item."""
        return iter(())


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAxis(BaseAxis):
    """An axis that judges a text: the field `reads` of the response, or the whole of it.

    Its judgement depends on that text and the item alone, so equal texts share a cell.
    """

    accepts: ClassVar[tuple[type, ...]] = (str,)
    reads: str | None = None

    def mark(self, response: Response, item: Item) -> Cell:
        """Judge the text that the axis reads; the reason says so if its field was missing."""
        cell = self.judge(response.text_of(self.reads), item)
        name = self.reads
        if name is None or response.document is None or name not in response.lacking:
            return cell
        if name in response.document:
            reason = sentence(
                "{reason} (the field `{field}` is not text, so the whole text was read)",
                reason=cell.reason,
                field=name,
            )
        else:
            reason = sentence(
                "{reason} (the field `{field}` is missing, so the whole text was read)",
                reason=cell.reason,
                field=name,
            )
        return Cell(status=cell.status, value=cell.value, reason=reason, near_miss=cell.near_miss)

    def judge(self, text: str, item: Item) -> Cell:
        """Judge one text as the answer to one item."""
        raise NotImplementedError

    def column_keys(self, texts: pl.Series, items: pl.Series) -> pl.DataFrame:
        """Return the columns that each cell depends on: rows with equal keys get equal cells.

        A text is null if a response lacks the field; its key must then be null too.
        """
        import polars as pl

        return pl.DataFrame([texts.alias("text"), items.alias("item")])


def compute_cell_keys(axis: TextAxis, texts: pl.Series, items: pl.Series) -> pl.DataFrame:
    """Return the `column_keys` of an axis, unless they were written for another `judge`.

    A subclass that overrides `judge` but not `column_keys` must not share cells by the keys of its
    parent: its judgement may depend on more.
    """
    for kind in type(axis).__mro__:
        if "column_keys" in vars(kind):
            return axis.column_keys(texts, items)
        if "judge" in vars(kind):
            break
    return TextAxis.column_keys(axis, texts, items)


def check_expected_text(name: str, value: Any) -> list[tuple[str, str]]:
    """Return the problems of an expectation that must be one text."""
    if value is None:
        return [(name, "is missing; the axis needs a text here")]
    if not isinstance(value, str):
        return [(name, f"must be a text, not {format_value(value)}; put it in quotation marks")]
    return []


def list_alternatives(entry: Any) -> tuple[Any, ...]:
    """Return the texts of which one is enough: those of a list, or the one text.

    >>> list_alternatives(["travelled", "traveled"]), list_alternatives("ate")
    (('travelled', 'traveled'), ('ate',))
    """
    return tuple(entry) if isinstance(entry, _LIST_TYPES) else (entry,)


def iterate_texts(entries: Iterable[Any]) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield each text of a list whose entries may be alternatives, with its path in the list."""
    for index, entry in enumerate(entries):
        if isinstance(entry, _LIST_TYPES):
            yield from (((index, position), text) for position, text in enumerate(entry))
        else:
            yield (index,), entry


def format_expected(expected: Any) -> list[str]:
    """Return what an item expects as texts; alternatives are one text, with bars between them.

    >>> format_expected([["travelled", "traveled"], "home"])
    ['travelled | traveled', 'home']
    """
    return [
        ALTERNATIVE_BAR.join(map(str, list_alternatives(entry)))
        for entry in list_alternatives(expected)
    ]


def check_alternatives(name: str, value: Any) -> list[tuple[str, str]]:
    """Return the problems of a list whose entries are texts or lists of alternative texts."""
    if not isinstance(value, _LIST_TYPES) or not value:
        return check_expected_texts(name, value)
    problems: list[tuple[str, str]] = []
    for index, entry in enumerate(value):
        field = f"{name}.{index}"
        is_list = isinstance(entry, _LIST_TYPES)
        problems += check_expected_texts(field, entry) if is_list else _check_entry(field, entry)
    return problems


def check_expected_texts(name: str, value: Any) -> list[tuple[str, str]]:
    """Return the problems of an expectation that must be a list of texts."""
    if value is None:
        return [(name, "is missing; the axis needs a list of texts here, for example [ate]")]
    if not isinstance(value, _LIST_TYPES):
        return [(name, f"must be a list of texts, not {format_value(value)}; for example [ate]")]
    if not value:
        message = "is an empty list, so it tells no answers apart; at least one text is needed"
        return [(name, message)]
    problems: list[tuple[str, str]] = []
    for index, entry in enumerate(value):
        problems += _check_entry(f"{name}.{index}", entry)
    return problems


def _check_entry(name: str, entry: Any) -> list[tuple[str, str]]:
    if isinstance(entry, str):
        return []
    return [(name, f"must be a text, not {format_value(entry)}; put it in quotation marks")]


def describe_near_miss(reason: str, step: NormalisationStep) -> str:
    """Add to a reason which further step would have let the answer pass."""
    return sentence(
        "{reason}; it would pass if {condition}", reason=reason, condition=step.would_pass_if
    )
