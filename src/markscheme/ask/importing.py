"""Functions by their name: of the present folder first, and never those of another module."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markscheme.errors import Terminated, UsageError, format_value

if TYPE_CHECKING:
    from collections.abc import Callable

# What markscheme may load only when it has something to score or to tell.
_LAZY_DEPENDENCIES = (
    *("bpe_openai", "click", "h11", "jinja2", "jsonschema_rs", "markdown_it"),
    *("markupsafe", "mdurl", "msgspec", "orjson", "polars", "psycopg", "pygments", "rich"),
    *("ruamel", "typing_extensions", "vl_convert", "zstandard"),
    *("bz2", "calendar", "colorsys", "csv", "ctypes", "email", "glob", "lzma", "mmap", "pickle"),
    *("quopri", "resource", "shutil", "sqlite3", "statistics", "sysconfig", "tempfile", "zipfile"),
    *("zlib", "zoneinfo"),
)


def import_function(named: str) -> Callable[[str], Any]:
    """Import `MODULE:FUNCTION`; modules of the present folder come first, as with `python -m`."""
    module, _, name = named.rpartition(":")
    if not module or not name:
        told = f"{format_value(f'python:{named}')} names no function"
        raise UsageError(f"{told}; write python:MODULE:FUNCTION")
    _refuse_file_path(module, name)
    here = Path.cwd()
    _refuse_shadowing_modules(here)
    if str(here) not in sys.path:
        sys.path.insert(0, str(here))
    return _load_function(module, name, here)


def _load_function(module: str, name: str, here: Path) -> Callable[[str], Any]:
    try:
        imported = import_module(module)
        _refuse_module_from_elsewhere(module.partition(".")[0], here)
        function = getattr(imported, name)
    except (KeyboardInterrupt, Terminated, UsageError):
        raise
    except BaseException as error:
        told = f"cannot import `{name}` of `{module}`: {type(error).__name__}: {error}"
        raise UsageError(told) from error
    if not callable(function):
        raise UsageError(f"`{name}` of `{module}` is not a function")
    found: Callable[[str], Any] = function
    return found


def _refuse_file_path(module: str, name: str) -> None:
    """Say how a module is named where somebody names its file."""
    parts = module.replace("\\", "/").split("/")
    if len(parts) == 1 and not module.endswith(".py"):
        return
    inner = [part for part in parts if part != "."]
    there = "" in inner or ".." in inner  # an absolute path, or one that leads out of the folder
    path = inner[-1:] if there else inner
    advice = (
        f"python:{'.'.join(path).removesuffix('.py')}:{name}{' in its folder' if there else ''}"
    )
    raise UsageError(f"{format_value(module)} is a file, and not a module; write {advice}")


def _refuse_shadowing_modules(here: Path) -> None:
    """Refuse a folder whose modules would be loaded instead of those that we need later."""
    later = (name for name in _LAZY_DEPENDENCIES if name not in sys.modules)
    shadows = [f"`{name}`" for name in later if _find_module_file(name, here)]
    if shadows:
        told = f"{', '.join(shadows)} of the present folder would be loaded"
        raise UsageError(f"{told} instead of what markscheme needs; rename them")


def _refuse_module_from_elsewhere(top: str, here: Path) -> None:
    """Refuse a module that was loaded from elsewhere before that of the present folder."""
    mine, loaded = _find_module_file(top, here), getattr(sys.modules[top], "__file__", None)
    if mine is None or (loaded and Path(loaded).exists() and mine.samefile(loaded)):
        return
    other = f"`{loaded}`" if loaded else "a part of Python"
    raise UsageError(f"`{top}` is {other}, which is loaded already, and not `{mine}`; rename yours")


def _find_module_file(module: str, here: Path) -> Path | None:
    """Return the file by which a folder has a module, if it has it."""
    files = (here / f"{module}.py", here / module / "__init__.py")
    return next(filter(Path.is_file, files), None)
