"""Axis kinds of plugins: given by a caller of the library, in a file, or by installed packages.

A rubric names a kind and never holds or imports code. Installed packages declare their axes as
entry points of the group `markscheme.axes`, each under its kind. They are looked up only for a kind
that is not known otherwise, so a rubric of built-in kinds costs nothing more.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markscheme.mark.axes.registry import AXES
from markscheme.vocabulary import Axis, UsageError, format_value

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from types import ModuleType

ENTRY_POINT_GROUP = "markscheme.axes"
FILE_MODULE_PREFIX = "markscheme_plugin_"
_KIND_PATTERN = re.compile(r"[a-z][a-z0-9_]*")
_RESERVED_KINDS = {*AXES, "note"}
_METHODS = ("mark", "parameter_problems", "item_problems")

_file_axes: dict[str, type[Axis]] = {}
"""The axes of plugin files, by kind. The files hold for the whole process, as imports do."""


def find_axis_problem(axis: Any) -> str | None:
    """Return what keeps an object from being an axis of a plugin, or None if it can be one."""
    if not isinstance(axis, type):
        return f"{format_value(axis)} is no class; an axis is a frozen dataclass"
    name, kind = f"`{axis.__name__}`", getattr(axis, "kind", None)
    if not isinstance(kind, str) or not _KIND_PATTERN.fullmatch(kind):
        return f"{name} needs a `kind`: a word of a-z, 0-9 and _ that begins with a letter"
    if kind in _RESERVED_KINDS:
        return f"{name} has the kind `{kind}`, which is built in; choose another name"
    version: Any = getattr(axis, "version", None)
    if type(version) is not int or version < 1:
        return f"{name} needs a `version`: a whole number, 1 or more"
    if not dataclasses.is_dataclass(axis) or not axis.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return f"{name} must be a frozen dataclass: @dataclass(frozen=True, kw_only=True)"
    missing = [method for method in _METHODS if not callable(getattr(axis, method, None))]
    if missing:
        return f"{name} lacks the method `{missing[0]}`"
    return None


class AxisRegistry(Mapping[str, type[Axis]]):
    """The axis kinds that a rubric may name: built in, given by the caller, or of plugins."""

    def __init__(self, given: Iterable[type[Axis]] = ()) -> None:
        self._given = _collect_axes(given, "`axes`")

    def __getitem__(self, kind: str) -> type[Axis]:
        axis = AXES.get(kind) or self._given.get(kind) or _file_axes.get(kind)
        axis = axis or _load_installed_axis(kind)
        if axis is None:
            raise KeyError(kind)
        return axis

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys([*AXES, *self._given, *_file_axes, *_list_entry_points()])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def get_distribution(self, kind: str) -> str:
        """Return the name of the installed package that declares a kind, else an empty text.

        The same class has the same distribution, whichever way it was found.
        """
        if kind in AXES:
            return ""
        axis = self[kind]
        declared = f"{axis.__module__}:{axis.__qualname__}"
        names = [
            _get_distribution_name(point)
            for point in _list_entry_points().get(kind, ())
            if point.value.replace(" ", "") == declared or point.load() is axis
        ]
        return names[0] if names else ""


def load_plugin_file(source: str | Path) -> list[type[Axis]]:
    """Run a Python file and register the axes that it defines, for every rubric read after it.

    Raises:
        UsageError: the file cannot be read or run, or defines no axis, or one that cannot be used.
    """
    path = Path(source)
    if not path.is_file():
        raise UsageError(f"the plugin `{source}` is not there; name a Python file")
    name = FILE_MODULE_PREFIX + re.sub(r"\W", "_", path.stem)
    known = sys.modules.get(name)
    if known is not None and known.__file__ != str(path.resolve()):
        raise UsageError(f"the plugins `{known.__file__}` and `{source}` have the same file name")
    module = known or _run_plugin_file(path.resolve(), name)
    defined = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == name and "kind" in vars(value)
    ]
    if not defined:
        raise UsageError(f"the plugin `{source}` defines no axis; it needs a class with a `kind`")
    axes = _collect_axes(defined, f"the plugin `{source}`")
    for kind, axis in axes.items():
        if _file_axes.setdefault(kind, axis) is not axis:
            raise UsageError(f"two plugins define the kind `{kind}`; `{source}` is the second")
    return list(axes.values())


def _run_plugin_file(path: Path, name: str) -> ModuleType:
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"the plugin `{path}` is no Python file; its name must end in .py")
    module = module_from_spec(spec)
    # Dataclasses look up their module there.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        line = _find_failing_line(error, str(path))
        message = f"the plugin `{path}`{line} cannot be loaded: {type(error).__name__}: {error}"
        raise UsageError(message) from error
    return module


def _find_failing_line(error: BaseException, file: str) -> str:
    """Return `, line N` for the deepest line of the file in a traceback, if it has any."""
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}" if error.filename == file else ""
    line, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = f", line {trace.tb_lineno}"
        trace = trace.tb_next
    return line


def _collect_axes(axes: Iterable[type[Axis]], source: str) -> dict[str, type[Axis]]:
    """Return axes by kind; refuse what is no axis, and a kind that occurs twice."""
    collected: dict[str, type[Axis]] = {}
    for axis in axes:
        problem = find_axis_problem(axis)
        if problem is not None:
            raise UsageError(f"{source}: {problem}")
        if collected.setdefault(axis.kind, axis) is not axis:
            raise UsageError(f"{source}: two axes have the kind `{axis.kind}`")
    return collected


@cache
def _list_entry_points() -> Mapping[str, tuple[EntryPoint, ...]]:
    """Return the entry points of installed packages by kind; this reads the installed metadata."""
    from importlib.metadata import entry_points

    by_kind: dict[str, tuple[EntryPoint, ...]] = {}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        by_kind[point.name] = (*by_kind.get(point.name, ()), point)
    return by_kind


@cache
def _load_installed_axis(kind: str) -> type[Axis] | None:
    """Import the axis of an installed package, or return None if no package declares the kind."""
    points = _list_entry_points().get(kind, ())
    if not points:
        return None
    names = sorted({_get_distribution_name(point) for point in points})
    if len(names) > 1:
        packages = " and ".join(f"`{name}`" for name in names)
        raise UsageError(f"the packages {packages} both declare the kind `{kind}`; remove one")
    source = f"the axis `{kind}` of the package `{names[0]}`"
    try:
        axis: Any = points[0].load()
    except Exception as error:
        message = f"{source} cannot be loaded: {type(error).__name__}: {error}"
        raise UsageError(message) from error
    problem = find_axis_problem(axis)
    if problem is None and axis.kind != kind:
        problem = f"`{axis.__name__}` has the kind `{axis.kind}`, not the declared `{kind}`"
    if problem is not None:
        raise UsageError(f"{source} cannot be used: {problem}")
    return axis  # type: ignore[no-any-return]


def _get_distribution_name(point: EntryPoint) -> str:
    """Return the normalised name of the package that declares an entry point."""
    name = point.dist.name if point.dist else ""
    return re.sub(r"[-_.]+", "-", name).lower()
