"""Answers in columns: the batches that readers yield and the batch marker takes.

polars is imported inside functions. Worker processes are forked after this module is loaded and
before polars is, because polars starts threads and a fork would copy their locks.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, compress
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct, field, structs

from markscheme.vocabulary import Mark, RowError, Transcript

if TYPE_CHECKING:
    import polars as pl

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


class ReadLimits(Struct, frozen=True, kw_only=True):
    """Bounds of a reader, which keep memory flat.

    A row longer than `row_bytes` is an error row and is never held whole. A batch ends with the
    block in which it reaches `batch_rows` rows or `batch_bytes` bytes. Blocks are small, because
    data that is still in the processor's cache is parsed faster. A part of `part_bytes` is what one
    process scores at a time.
    """

    row_bytes: int = 10_000_000
    batch_rows: int = 65_536
    batch_bytes: int = 16_777_216
    block_bytes: int = 262_144
    part_bytes: int = 6_291_456


DEFAULT_LIMITS = ReadLimits()


def get_table_schema(item: Any = None) -> dict[str, Any]:
    """Return the columns of an answer other than its output.

    `item` is the type of the item column: text by default, an enum of ids for template rows.
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
    """Return the columns measured in a session log: never scored, null if unknown."""
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
    """Copy texts into memory of their own; a slice of a polars column keeps the whole alive."""
    return texts + ""


class OutputTemplate(Struct, frozen=True, kw_only=True):
    """How a group of outputs is written: the names of its text fields and the literals around them.

    There is one literal more than there are names.
    """

    names: tuple[str, ...]
    literals: tuple[str, ...]

    @property
    def empty_output(self) -> str:
        """The output of this template in which every field is empty."""
        return "".join(self.literals)

    def render_output(self, texts: Sequence[str]) -> str:
        """Return the output with these field texts."""
        first, *rest = self.literals
        return first + "".join(chain.from_iterable(zip(texts, rest, strict=True)))

    def render_outputs(self, texts: pl.DataFrame) -> pl.Series:
        """Return one output for each row of field texts."""
        import polars as pl

        first, *rest = map(pl.lit, self.literals)
        parts = (part for pair in zip(map(pl.col, self.names), rest, strict=True) for part in pair)
        return texts.select(pl.concat_str(first, *parts).alias("output")).to_series()


class SourceLines(Struct, frozen=True, kw_only=True):
    """Lines as they stand in the file; `first_line` is the number of the first one."""

    text: bytes
    first_line: int

    def parse_outputs(self, numbers: pl.Series) -> pl.Series:
        """Return the outputs of the lines with these numbers."""
        import polars as pl

        lines = self.text.split(b"\n")
        outputs = (json.loads(lines[number - self.first_line])["output"] for number in numbers)
        return pl.Series("output", outputs, dtype=pl.String)


class TemplateRows(Struct, frozen=True, kw_only=True):
    """Answers that line templates read straight into columns, without parsing their JSON.

    `table` has the columns of `get_table_schema`. `texts` has one column for each field of the
    outputs, null if an output lacks the field. `template_indexes` says which of the
    `output_templates` each output follows. `source_lines` is set if some output cannot be rendered
    from its template, because letters in it were escaped. All texts share the memory of the scan,
    so use `copy_texts` for what outlives the batch.
    """

    table: pl.DataFrame
    texts: pl.DataFrame
    template_indexes: pl.Series
    output_templates: tuple[OutputTemplate, ...]
    source_lines: SourceLines | None = None

    def get_texts(self, name: str) -> pl.Series:
        """Return the texts of a field, null if an output lacks it."""
        import polars as pl

        if name in self.texts.columns:
            return self.texts[name]
        return pl.Series(name, [None], dtype=pl.String).new_from_index(0, self.texts.height)

    def build_outputs(self) -> pl.Series:
        """Return all outputs as they were written."""
        import polars as pl

        if self.source_lines is not None:
            return self.source_lines.parse_outputs(self.table["line"])
        positions = [
            (self.template_indexes == number).arg_true()
            for number in range(len(self.output_templates))
        ]
        outputs = [
            template.render_outputs(self.texts[at])
            for template, at in zip(self.output_templates, positions, strict=True)
        ]
        return pl.concat(outputs)[pl.concat(positions).arg_sort()]

    def build_outputs_at(self, positions: pl.Series | Sequence[int]) -> list[str]:
        """Return the outputs at a few positions."""
        if self.source_lines is not None:
            return self.source_lines.parse_outputs(self.table["line"][positions]).to_list()
        templates = [self.output_templates[n] for n in self.template_indexes[positions].to_list()]
        texts = {column.name: column[positions].to_list() for column in self.texts}
        return [
            template.render_output([texts[name][at] for name in template.names])
            for at, template in enumerate(templates)
        ]

    def drop_rows(self, positions: Collection[int]) -> TemplateRows:
        """Return the rows without those at `positions`."""
        import polars as pl

        keep = pl.Series([True]).new_from_index(0, self.table.height)
        keep = keep.scatter(sorted(positions), values=False)
        return structs.replace(
            self,
            table=self.table.filter(keep),
            texts=self.texts.filter(keep),
            template_indexes=self.template_indexes.filter(keep),
        )


class AnswerBatch(Struct, kw_only=True):
    """Answers of a stretch of a file in columns of equal length, and the rows that were refused.

    `lines` holds the 1-based line on which each answer starts; in Parquet, its row. `errors` holds
    the refused rows of the same stretch, sorted by line. Rows read by line templates are in
    `template_rows` instead of the lists. Answers from session logs come with their `transcripts`,
    and with columns `measured` in them. `marks` are those that people or judges gave to each answer,
    by axis; the list is empty if no answer has any.
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
    template_rows: TemplateRows | None = None
    transcripts: list[Transcript] = field(default_factory=list)
    measured: dict[str, list[Any]] = field(default_factory=dict)
    marks: list[Mapping[str, tuple[Mark, ...]]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def row_count(self) -> int:
        """How many rows of the file are in this batch, as answers or as errors."""
        in_templates = self.template_rows.table.height if self.template_rows else 0
        return in_templates + len(self.lines) + len(self.errors)

    def get_columns(self) -> tuple[list[Any], ...]:
        """Return `lines`, then the columns in the order of `ANSWER_FIELDS`."""
        return tuple(getattr(self, name) for name in _COLUMN_NAMES)

    def build_table(self) -> pl.DataFrame:
        """Return every answer without its output, template rows first."""
        import polars as pl

        lines, items, _, *others = self.get_columns()
        item_type = self.template_rows.table.schema["item"] if self.template_rows else None
        columns = zip(get_table_schema(item_type).items(), (lines, items, *others), strict=True)
        table = pl.DataFrame(
            [pl.Series(name, column, dtype, strict=False) for (name, dtype), column in columns]
        )
        if self.template_rows:
            table = pl.concat([self.template_rows.table, table])
        if not self.measured:
            return table
        return table.with_columns(
            pl.Series(name, self.measured[name], dtype)
            for name, dtype in get_measured_schema().items()
        )

    def build_output_texts(self) -> pl.Series:
        """Return the output of every answer as text, in the order of `build_table`."""
        import polars as pl

        texts = (
            output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
            for output in self.outputs
        )
        column = pl.Series("output", texts, dtype=pl.String)
        if self.template_rows:
            return pl.concat([self.template_rows.build_outputs(), column])
        return column

    def extend(self, lines: Iterable[int], columns: Iterable[Iterable[Any]]) -> None:
        """Add answers: their lines, and their columns in the order of `ANSWER_FIELDS`."""
        for column, values in zip(self.get_columns(), (lines, *columns), strict=True):
            column.extend(values)

    def append(self, line: int, answer: Iterable[Any]) -> None:
        """Add one answer: its line, and its fields in the order of `ANSWER_FIELDS`."""
        self.extend((line,), zip(answer, strict=True))

    def replace_with_errors(self, positions: Collection[int], errors: Iterable[RowError]) -> None:
        """Drop the answers at `positions` and merge `errors` into the errors of the batch."""
        dropped = set(positions)
        keep = [at not in dropped for at in range(len(self))]
        for column in (*self.get_columns(), self.marks):
            column[:] = compress(column, keep)
        self.errors = sorted([*self.errors, *errors], key=lambda error: error.line)


_NON_COLUMN_FIELDS = {"errors", "template_rows", "transcripts", "measured", "marks"}
_COLUMN_NAMES = tuple(
    name for name in AnswerBatch.__struct_fields__ if name not in _NON_COLUMN_FIELDS
)
