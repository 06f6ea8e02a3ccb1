"""Defaults of a project: the table `[tool.markscheme]` of the nearest `pyproject.toml`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from markscheme.vocabulary import DocumentError, Problem, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator

_TABLE_MARK = b"[tool.markscheme]"
_PARAMETERS = {"rubric": "rubric", "exam": "exams", "store": "store", "lang": "lang"}
_REQUIRED_ONLY = {"rubric", "exam"}
_LANGUAGES = ("en", "es")


def apply_project_settings(command: click.Command) -> None:
    """Set the defaults of a command, or of each command of a group, to those of the project.

    Raises:
        DocumentError: the table holds what is not allowed.
    """
    path = find_settings_file()
    if path is None:
        return
    settings = read_settings(path)
    commands = command.commands.values() if isinstance(command, click.Group) else [command]
    for inner in commands:
        for parameter in inner.params:
            _set_default(parameter, settings)


def _set_default(parameter: click.Parameter, settings: dict[str, Any]) -> None:
    for key, name in _PARAMETERS.items():
        if parameter.name != name or key not in settings:
            continue
        # Where a rubric or an exam is optional, it changes what a command does.
        if key in _REQUIRED_ONLY and not parameter.required:
            continue
        parameter.default = settings[key]
        parameter.required = False


def find_settings_file() -> Path | None:
    """Return the nearest `pyproject.toml` with our table, in this folder or above."""
    try:
        folder = Path.cwd()
    except OSError:
        return None
    for place in (folder, *folder.parents):
        path = place / "pyproject.toml"
        try:
            if _TABLE_MARK in path.read_bytes():
                return path
        except OSError:
            continue
    return None


def read_settings(path: Path) -> dict[str, Any]:
    """Return the settings of a file, with paths relative to it; raise with every mistake."""
    import tomllib

    try:
        table = (
            tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {}).get("markscheme", {})
        )
    except ValueError as error:
        problem = Problem(file=str(path), line=1, field="", message=f"not TOML: {error}")
        raise DocumentError([problem]) from None
    problems = [
        Problem(file=str(path), line=1, field=f"tool.markscheme.{key}", message=message)
        for key, message in _find_problems(table)
    ]
    if problems:
        raise DocumentError(problems)
    return {key: _resolve(key, value, path.parent) for key, value in table.items()}


def _find_problems(table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if key not in _PARAMETERS:
            yield key, f"unknown key; allowed: {', '.join(_PARAMETERS)}"
        elif key == "exam":
            if not _is_text(value) and not (value and all(map(_is_text, _to_list(value)))):
                yield key, f"must be a text or a list of texts, not {format_value(value)}"
        elif not _is_text(value):
            yield key, f"must be a text, not {format_value(value)}"
        elif key == "lang" and value not in _LANGUAGES:
            yield key, f"must be one of {', '.join(_LANGUAGES)}, not {format_value(value)}"
        elif key == "store" and "://" in value:
            yield key, "must be a file; a URL belongs in the variable MARKSCHEME_STORE"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _to_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [None]


def _resolve(key: str, value: Any, folder: Path) -> Any:
    """Return a value with paths relative to this folder; built-in names stay as they are."""
    match key:
        case "lang":
            return value
        case "store":
            return None if os.environ.get("MARKSCHEME_STORE") else str(folder / value)
        case "exam":
            names = [value] if isinstance(value, str) else value
            return tuple(_resolve_name(name, folder) for name in names)
        case _:
            return _resolve_name(value, folder)


def _resolve_name(name: str, folder: Path) -> str:
    path = folder / name
    return os.path.relpath(path) if path.is_file() else name
