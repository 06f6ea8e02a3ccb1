"""Rules of the code base that no other tool checks: doors, class names, package docstrings."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"


def module_name(path: Path) -> str:
    """Return the dotted name of a file of the package; of any other file, its stem."""
    if not path.is_relative_to(SOURCE):
        return path.stem
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in sorted(SOURCE.rglob("*.py"))}
PACKAGES = {name: path for name, path in MODULES.items() if path.name == "__init__.py"}


def has_door(package: str) -> bool:
    """Whether a package lists its public names, so that others import from it alone."""
    body = ast.parse(PACKAGES[package].read_text("utf-8")).body
    return any(
        isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__" for node in body
    )


# A fast path is one function behind its door; its own tests look at the parts.
TESTED_INSIDE = {
    "markscheme.read.answers.fast.scanner",
    "markscheme.read.answers.fast.line_templates",
}
DOORS = {package for package in PACKAGES if package != "markscheme" and has_door(package)}


def is_inside(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def imports_past_a_door(path: Path) -> list[str]:
    """Return the imports of a file that reach into a package which has a door, from outside it."""
    importer = module_name(path)
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.ImportFrom) or node.module not in MODULES:
            continue
        doors = [
            door for door in DOORS if is_inside(node.module, door) and not is_inside(importer, door)
        ]
        private = all(alias.name.startswith("_") for alias in node.names)
        is_tested = node.module in TESTED_INSIDE and importer.startswith("test_")
        if doors and node.module not in doors and not private and not is_tested:
            found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.module}")
    return found


def test_packages_import_from_each_others_doors() -> None:
    assert [line for path in MODULES.values() for line in imports_past_a_door(path)] == []


@pytest.mark.parametrize("folder", ["tests", "scripts", "benchmarks"])
def test_everything_outside_the_package_imports_from_doors(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert [line for path in files for line in imports_past_a_door(path)] == []


def test_a_class_name_exists_once() -> None:
    places = defaultdict(list)
    for name, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(name)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_a_package_says_what_it_is_for(package: str) -> None:
    text = ast.get_docstring(ast.parse(PACKAGES[package].read_text("utf-8"))) or ""
    assert len(text.split()) >= 10, "one paragraph: what it is for, and what may not be in it"
    assert "TODO" not in text


def test_no_module_is_called_utils() -> None:
    riddles = {"utils", "util", "helpers", "common", "misc"}
    assert [name for name in MODULES if name.rpartition(".")[2] in riddles] == []


def test_contributing_names_what_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    package = SOURCE / "markscheme"
    spans = [span for span in re.findall(r"`([^`]+)`", text) if "/" in span and " -" not in span]
    assert len(spans) > 20
    for span in spans:
        path, _, name = span.partition(": ")
        places = [ROOT / path, *package.rglob(path.strip("/"))]
        where = [place for place in places if place.exists()]
        assert where, f"CONTRIBUTING.md names `{path}`, which does not exist"
        if name:
            defined = re.compile(rf"^(?:def |class |){name}\b", re.MULTILINE)
            assert defined.search(where[0].read_text("utf-8")), f"no `{name}` in {path}"
