"""How much is held at once: the numbers behind flat memory.

Answers in columns: what streams from the reading room to the marking room.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from itertools import chain, compress
from typing import TYPE_CHECKING, Any, TypeAlias

from markscheme.vocabulary import RowError, Transcript

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    # Worker processes are forked before polars starts its threads: import it where it is used.
    import polars as pl  # noqa: TC004


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """Bounds of a reader. A row longer than `row_bytes` is an error row and is never held whole.

    A batch is handed on after the block with which it reaches `batch_rows` rows or `batch_bytes`
    bytes. Blocks are small on purpose: what is still in the cache is parsed faster. A part is what
    one process scores at a time.
    """

    row_bytes: int = 10_000_000
    batch_rows: int = 65_536
    batch_bytes: int = 16_777_216
    block_bytes: int = 262_144
    part_bytes: int = 6_291_456


DEFAULT_LIMITS = ReadLimits()


Number: TypeAlias = float | int
Output: TypeAlias = str | dict[str, Any]

ANSWER_FIELDS = (
    "item",
    "output",
    "subject",
    "attempt",
    "latency_ms",
    "tokens_in",
    "tokens_out",
    "cost",
)
REQUIRED_FIELDS = ("item", "output")


def get_table_schema(item: Any = None) -> dict[str, Any]:
    """Return the columns of what is known of an answer beside its output.

    Items are texts, or where lines are alike one of those that there are.
    """
    import polars as pl

    return {
        "line": pl.Int64,
        "item": item or pl.String,
        "subject": pl.String,
        "attempt": pl.Int64,
        "latency_ms": pl.Float64,
        "tokens_in": pl.Int64,
        "tokens_out": pl.Int64,
        "cost": pl.Float64,
    }


def get_measured_schema() -> dict[str, Any]:
    """Return the columns of what is measured in a log: never scored, and null where unknown."""
    import polars as pl

    return {
        "tool_calls": pl.Int64,
        "subagent_calls": pl.Int64,
        "dispatches": pl.Int64,
        "tokens": pl.Int64,
        "lower_bounds": pl.List(pl.String),
        "last_turn_latency_ms": pl.Float64,
        "log_complete": pl.Boolean,
        "file": pl.String,
    }


def copy_texts(texts: pl.Series) -> pl.Series:
    """Return the texts in memory of their own: taking some of a column keeps the whole."""
    return texts + ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTemplate:
    """How outputs are spelled: the names of their texts, and what stands around each of these."""

    names: tuple[str, ...]
    literals: tuple[str, ...]

    @property
    def empty_output(self) -> str:
        """An output that is so spelled, with nothing in its texts."""
        return "".join(self.literals)

    def render_output(self, texts: Sequence[str]) -> str:
        """Return the output with these texts."""
        first, *rest = self.literals
        return first + "".join(chain.from_iterable(zip(texts, rest, strict=True)))

    def render_outputs(self, texts: pl.DataFrame) -> pl.Series:
        """Return the outputs with these texts."""
        import polars as pl

        first, *rest = map(pl.lit, self.literals)
        parts = (part for pair in zip(map(pl.col, self.names), rest, strict=True) for part in pair)
        return texts.select(pl.concat_str(first, *parts).alias("output")).to_series()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLines:
    """Lines as they were written, of which the first has this number."""

    text: bytes
    first_line: int

    def parse_outputs(self, numbers: pl.Series) -> pl.Series:
        """Return the outputs of the lines with these numbers."""
        import polars as pl

        lines = self.text.split(b"\n")
        outputs = (json.loads(lines[number - self.first_line])["output"] for number in numbers)
        return pl.Series("output", outputs, dtype=pl.String)


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateRows:
    """Answers in columns: what is known of each, and the texts inside its output.

    `table` has the columns of `table_schema`, `texts` one for each name in the outputs, null where
    an output lacks it, and `spelled` tells which of the `spellings` an output has. Where these do
    not tell how it was written, `written` has its line. All texts share memory with all that was
    captured, so what outlives the batch must be `copied`.
    """

    table: pl.DataFrame
    texts: pl.DataFrame
    spelled: pl.Series
    output_templates: tuple[OutputTemplate, ...]
    source_lines: SourceLines | None = None

    def get_texts(self, name: str) -> pl.Series:
        """Return the texts of that name, null where an output has none."""
        import polars as pl

        if name in self.texts.columns:
            return self.texts[name]
        return pl.Series(name, [None], dtype=pl.String).new_from_index(0, self.texts.height)

    def build_outputs(self) -> pl.Series:
        """Return the outputs, put together again."""
        import polars as pl

        if self.source_lines is not None:
            return self.source_lines.parse_outputs(self.table["line"])
        places = [
            (self.spelled == number).arg_true() for number in range(len(self.output_templates))
        ]
        each = zip(self.output_templates, places, strict=True)
        parts = [spelling.render_outputs(self.texts[at]) for spelling, at in each]
        return pl.concat(parts)[pl.concat(places).arg_sort()]

    def build_outputs_at(self, positions: pl.Series) -> list[str]:
        """Return the outputs at a few positions."""
        if self.source_lines is not None:
            return self.source_lines.parse_outputs(self.table["line"][positions]).to_list()
        spelled = [self.output_templates[number] for number in self.spelled[positions].to_list()]
        texts = {column.name: column[positions].to_list() for column in self.texts}
        return [
            spelling.render_output([texts[name][at] for name in spelling.names])
            for at, spelling in enumerate(spelled)
        ]

    def drop_rows(self, positions: Collection[int]) -> TemplateRows:
        """Return the rows at other positions."""
        import polars as pl

        gone = pl.Series(sorted(positions), dtype=pl.UInt32)
        keep = ~pl.int_range(self.table.height, dtype=pl.UInt32, eager=True).is_in(gone)
        return replace(
            self,
            table=self.table.filter(keep),
            texts=self.texts.filter(keep),
            spelled=self.spelled.filter(keep),
        )


@dataclass(slots=True, kw_only=True)
class AnswerBatch:
    """A stretch of a file of answers: columns of equal length, and the rows that are no answers.

    `lines` holds the 1-based line on which each answer starts, in Parquet its row. `errors` holds
    the rows of the same stretch that could not be taken, in the order of their lines. Rows that
    are written alike stand apart, in columns of their own. Answers from logs come with their
    transcripts, and with columns of what was measured in them.
    """

    lines: list[int] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    subjects: list[str | None] = field(default_factory=list)
    attempts: list[int] = field(default_factory=list)
    latency_ms: list[Number | None] = field(default_factory=list)
    tokens_in: list[int | None] = field(default_factory=list)
    tokens_out: list[int | None] = field(default_factory=list)
    costs: list[Number | None] = field(default_factory=list)
    errors: list[RowError] = field(default_factory=list)
    alike: TemplateRows | None = None
    transcripts: list[Transcript] = field(default_factory=list)
    measured: dict[str, list[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def row_count(self) -> int:
        """How many rows of the file are in this batch, as answers or as errors."""
        alike = self.alike.table.height if self.alike else 0
        return alike + len(self.lines) + len(self.errors)

    def get_columns(self) -> tuple[list[Any], ...]:
        """Return `lines` and then the columns in the order of `FIELDS`."""
        return tuple(getattr(self, column) for column in _COLUMN_NAMES)

    def build_table(self) -> pl.DataFrame:
        """Return what is known of every answer beside its output, those written alike first."""
        import polars as pl

        lines, items, _, *known = self.get_columns()
        schema = get_table_schema(self.alike.table.schema["item"] if self.alike else None)
        columns = zip(schema.items(), (lines, items, *known), strict=True)
        table = pl.DataFrame(
            [pl.Series(name, column, dtype, strict=False) for (name, dtype), column in columns]
        )
        table = pl.concat([self.alike.table, table]) if self.alike else table
        if not self.measured:
            return table
        return table.with_columns(
            pl.Series(name, self.measured[name], dtype)
            for name, dtype in get_measured_schema().items()
        )

    def build_output_texts(self) -> pl.Series:
        """Return the output of every answer as text, in the order of `table`."""
        import polars as pl

        texts = (
            output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
            for output in self.outputs
        )
        column = pl.Series("output", texts, dtype=pl.String)
        return pl.concat([self.alike.build_outputs(), column]) if self.alike else column

    def extend(self, lines: Iterable[int], columns: Iterable[Iterable[Any]]) -> None:
        """Add answers: their lines, and their columns in the order of `FIELDS`."""
        for mine, more in zip(self.get_columns(), (lines, *columns), strict=True):
            mine.extend(more)

    def append(self, line: int, answer: Iterable[Any]) -> None:
        """Add one answer: its line, and its fields in the order of `FIELDS`."""
        self.extend((line,), zip(answer, strict=True))

    def replace_with_errors(self, positions: Collection[int], errors: Iterable[RowError]) -> None:
        """Replace the answers at `positions` by `errors`, and take in errors found elsewhere."""
        gone = set(positions)
        keep = [at not in gone for at in range(len(self))]
        for column in self.get_columns():
            column[:] = compress(column, keep)
        self.errors = sorted([*self.errors, *errors], key=lambda error: error.line)


_NON_COLUMN_FIELDS = {"errors", "alike", "transcripts", "measured"}
_COLUMN_NAMES = tuple(
    column.name for column in fields(AnswerBatch) if column.name not in _NON_COLUMN_FIELDS
)
