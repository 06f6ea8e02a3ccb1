"""What to do about YAML that cannot be read: the parser says what it met, not what was meant."""

from __future__ import annotations

_COLON_ADVICE = "a value with a colon and a space in it must stand in quotation marks"
_ADVICE_BY_ERROR = {  # part of what the parser says: what to do
    "mapping values are not allowed": _COLON_ADVICE,
    "unexpected end of stream": "a quotation mark is never closed",
    "',' or ']'": "a comma is missing in a list, or `[` is never closed",
    "',' or '}'": "a comma is missing in a mapping, or `{` is never closed",
    "expected '-' indicator": "keys of one entry must begin in the same column",
    "expected key": "keys that belong together must begin in the same column",
    "could not find expected ':'": "a key must be followed by a colon and a space",
}


def suggest_yaml_fix(problem: str, line: str, column: int) -> str:
    """Return what to do about a problem of syntax at a column of a line, or nothing.

    >>> suggest_yaml_fix("found character that cannot start any token", "prompt: @who", 8)
    'a value that begins with `@` must stand in quotation marks'
    """
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return "indent with spaces; YAML takes no tabs"
    if "cannot start any token" in problem and line[column : column + 1].strip():
        return f"a value that begins with `{line[column]}` must stand in quotation marks"
    return next((told for said, told in _ADVICE_BY_ERROR.items() if said in problem), "")
