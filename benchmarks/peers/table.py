"""The table of a race: its rows, their ratios, and how it is drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace

FLOOR = "floor (orjson, both layers)"
OWN = "markscheme"
RIGHT = "right"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table; where the status is not `right`, there are no figures."""

    peer: str
    version: str
    status: str
    answers: int | None = None
    cpu_s: float | None = None
    wall_s: float | None = None
    peak_mb: float | None = None
    startup_cpu_s: float | None = None
    us_per_answer: float | None = None
    times_floor: float | None = None
    times_markscheme: float | None = None
    install_mb: float | None = None
    install_s: float | None = None


def with_ratios(rows: list[Row]) -> list[Row]:
    """Return the rows with each one's CPU per answer as a multiple of the floor's and of ours."""
    cost = {row.peer: row.us_per_answer for row in rows}
    return [
        replace(
            row,
            times_floor=_ratio(row.us_per_answer, cost.get(FLOOR)),
            times_markscheme=_ratio(row.us_per_answer, cost.get(OWN)),
        )
        for row in rows
    ]


def _ratio(cost: float | None, unit: float | None) -> float | None:
    return None if cost is None or not unit else round(cost / unit, 2)


_COLUMNS = (
    ("answers", "answers", ",d"),
    ("CPU s", "cpu_s", ".3f"),
    ("wall s", "wall_s", ".2f"),
    ("peak MB", "peak_mb", ".0f"),
    ("start-up CPU s", "startup_cpu_s", ".2f"),
    ("µs/answer", "us_per_answer", ",.1f"),
    ("× floor", "times_floor", ",.1f"),
    ("× markscheme", "times_markscheme", ",.2f"),
    ("install MB", "install_mb", ",.0f"),
)
_HEADERS = ["peer", "version", *(header for header, _, _ in _COLUMNS)]


def drawn(rows: list[Row]) -> str:
    """Return the table as Markdown; a row without figures says why in their place."""
    lines = [_HEADERS, *map(_figures, rows)]
    full = [line for line in lines if len(line) == len(_HEADERS)]
    widths = [max(map(len, column)) for column in zip(*full, strict=True)]
    widths[:2] = [max(len(line[i]) for line in lines) for i in range(2)]
    rule = ["-" * widths[0], "-" * widths[1], *("-" * (width - 1) + ":" for width in widths[2:])]
    return "\n".join(_line(line, widths) for line in (lines[0], rule, *lines[1:]))


def _line(cells: list[str], widths: list[int]) -> str:
    left = [cell.ljust(width) for cell, width in zip(cells[:2], widths[:2], strict=True)]
    if len(cells) < len(widths):
        return f"| {' | '.join([*left, *cells[2:]])} " + "|" * (len(widths) - 2)
    right = [cell.rjust(width) for cell, width in zip(cells[2:], widths[2:], strict=True)]
    return f"| {' | '.join([*left, *right])} |"


def _figures(row: Row) -> list[str]:
    if row.status != RIGHT:
        return [row.peer, row.version, row.status]
    values = [(getattr(row, name), form) for _, name, form in _COLUMNS]
    return [
        row.peer,
        row.version,
        *("" if value is None else format(value, form) for value, form in values),
    ]
