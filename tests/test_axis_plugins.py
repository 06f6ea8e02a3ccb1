"""Axes of plugins: by a file, by an installed package, by a library argument; and their check."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click
import pytest

from commands import here, markscheme
from markscheme import Cell, Item, Response, UsageError, lint, load_rubric
from markscheme.cli.main import COMMANDS, COMMANDS_WITHOUT_RUBRIC, main
from markscheme.mark.axes import plugins
from markscheme.testing import check_axis

if TYPE_CHECKING:
    from commands import Done

PLUGIN = '''\
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import markscheme


@dataclass(frozen=True, kw_only=True)
class {name}:
    """Passes a text that begins with a letter."""

    kind: ClassVar[str] = "{kind}"
    version: ClassVar[int] = {version}
    letter: str

    def mark(self, response: markscheme.Response, item: markscheme.Item) -> markscheme.Cell:
        if response.text.startswith(self.letter):
            return markscheme.Cell.passed("starts well")
        return markscheme.Cell.missed(f"does not start with {{self.letter}}")

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        if len(self.letter) != 1:
            yield "letter", "one letter is needed"

    def item_problems(self, item: markscheme.Item) -> Iterator[tuple[str, str]]:
        yield from ()
'''
RUBRIC = """\
rubric: letters
axes: [{{name: begins, kind: {kind}, weight: 1, letter: A}}]
gates: [{{name: release, level: hard, at_least: 0.5}}]
"""
EXAM = "exam: two\nitems:\n  - {id: q1, prompt: One}\n  - {id: q2, prompt: Two}\n"
ANSWERS = '{"item": "q1", "output": "Ab"}\n{"item": "q2", "output": "Ba"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project whose rubric names a kind that a plugin file defines."""
    code = PLUGIN.format(name="BeginsWith", kind="begins_with", version=1)
    for name, text in {
        "letters.py": code,
        "rubric.yaml": RUBRIC.format(kind="begins_with"),
        "exam.yaml": EXAM,
        "answers.jsonl": ANSWERS,
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Plugins hold for a whole process; here, for one test."""
    monkeypatch.setattr(plugins, "_file_axes", {})
    yield
    for name in [name for name in sys.modules if name.startswith(plugins.FILE_MODULE_PREFIX)]:
        del sys.modules[name]
    forget_installed()


def forget_installed() -> None:
    plugins._list_entry_points.cache_clear()
    plugins._load_installed_axis.cache_clear()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Install packages with an entry point each: a folder on the path with their metadata."""

    def install(distribution: str, kind: str, *, declared: str | None = None) -> None:
        site = tmp_path / "site" / distribution
        module = f"{distribution.replace('-', '_')}_axes"
        information = site / f"{distribution.replace('-', '_')}-1.0.dist-info"
        information.mkdir(parents=True)
        information.joinpath("METADATA").write_text(f"Name: {distribution}\nVersion: 1.0\n")
        points = f"[markscheme.axes]\n{declared or kind} = {module}:Axis\n"
        information.joinpath("entry_points.txt").write_text(points)
        site.joinpath(f"{module}.py").write_text(PLUGIN.format(name="Axis", kind=kind, version=1))
        monkeypatch.syspath_prepend(str(site))
        sys.modules.pop(module, None)
        forget_installed()

    return install


def run_here(folder: Path, *words: str) -> Done:
    named = [str(folder / word) if (folder / word).exists() else word for word in words]
    return here(*named)


SCORE = ("score", "-r", "rubric.yaml", "-e", "exam.yaml", "-a", "answers.jsonl")


def test_a_plugin_file_defines_kinds_for_every_command(folder: Path) -> None:
    done = run_here(folder, *SCORE, "--plugin", "letters.py", "--format", "json")
    assert done.code == 0
    assert done.json["summary"]["score"] == 0.5
    assert run_here(folder, "lint", "rubric.yaml", "--plugin", "letters.py").code == 0
    assert run_here(folder, "gate", "latest", "--plugin", "letters.py").code == 0


def test_a_stored_run_needs_its_plugin_and_says_so(folder: Path) -> None:
    assert markscheme(*SCORE, "--plugin", "letters.py", cwd=folder).code == 0
    without = markscheme("gate", "latest", cwd=folder)
    assert without.code == 3
    assert "`begins_with` is no kind of axis" in without.err
    assert "a kind of a plugin needs its package, or --plugin FILE" in without.err
    assert markscheme("gate", "latest", "--plugin", "letters.py", cwd=folder).code == 0


def test_every_command_that_reads_rubrics_has_the_option() -> None:
    for name in set(COMMANDS) - COMMANDS_WITHOUT_RUBRIC:
        command = main.get_command(click.Context(main), name)
        inner = list(command.commands.values()) if isinstance(command, click.Group) else [command]
        for one in inner:
            assert one is not None
            assert any(parameter.name == "plugin" for parameter in one.params), name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "defines no axis"),
        ("import no_such_module\n", "line 1 cannot be loaded: ModuleNotFoundError"),
        ("x = (\n", "cannot be loaded: SyntaxError"),
        ("\n\nraise SystemExit(3)\n", "line 3 cannot be loaded: SystemExit"),
        (PLUGIN.format(name="A", kind="max_words", version=1), "which is built in"),
        (PLUGIN.format(name="A", kind="No Word", version=1), "needs a `kind`"),
        (PLUGIN.format(name="A", kind="a", version=0), "needs a `version`"),
        (PLUGIN.format(name="A", kind="a", version=1).replace("mark(", "no("), "method `mark`"),
        (PLUGIN.format(name="A", kind="a", version=1).replace("frozen=True, ", ""), "be a frozen"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_refused(folder: Path, text: str, message: str) -> None:
    (folder / "letters.py").write_text(text)
    done = run_here(folder, *SCORE, "--plugin", "letters.py", "--format", "json")
    assert done.code == 2
    assert message in done.json["error"]["message"]
    assert run_here(folder, *SCORE, "--plugin", "nowhere.py").code == 2


def test_an_installed_package_declares_axes(folder: Path, installed: Any) -> None:
    installed("letter-axes", "begins_with")
    assert run_here(folder, *SCORE).code == 0
    rubric = load_rubric(folder / "rubric.yaml")
    assert rubric.axes[0].distribution == "letter-axes"
    given = load_rubric(folder / "rubric.yaml", axes=[type(rubric.axes[0].axis)])
    assert given.fingerprint == rubric.fingerprint


def test_the_fingerprint_holds_kind_version_and_distribution(folder: Path, installed: Any) -> None:
    by_file = run_here(folder, *SCORE, "--plugin", "letters.py", "--format", "json").json
    plugins._file_axes.clear()
    installed("letter-axes", "begins_with")
    by_package = run_here(folder, *SCORE, "--format", "json").json
    assert by_file["rubric"]["fingerprint"] != by_package["rubric"]["fingerprint"]


@pytest.mark.parametrize(
    ("packages", "message"),
    [
        ([("a-b", "begins_with"), ("c-d", "begins_with")], "`a-b` and `c-d` both declare"),
        ([("a-b", "max_words", "begins_with")], "built in; choose another name"),
        ([("a-b", "ends_with", "begins_with")], "not the declared `begins_with`"),
    ],
)
def test_an_installed_axis_that_cannot_be_used_is_refused(
    folder: Path, installed: Any, packages: list[tuple[str, ...]], message: str
) -> None:
    for distribution, kind, *declared in packages:
        installed(distribution, kind, declared=declared[0] if declared else None)
    done = run_here(folder, *SCORE)
    assert done.code == 2
    assert message in done.err


def test_entry_points_are_looked_up_only_for_an_unknown_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: pytest.fail("looked up"))
    assert load_rubric("tutor-capstone").axes


@dataclass(frozen=True, kw_only=True)
class EndsWith:
    """A sound axis, and the base of unsound ones."""

    kind: ClassVar[str] = "ends_with"
    version: ClassVar[int] = 1
    sign: str = "."

    def mark(self, response: Response, item: Item) -> Cell:  # noqa: ARG002
        hit = response.text.endswith(self.sign)
        return Cell.passed("it does") if hit else Cell.missed(f"no {self.sign}")

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        yield from ()

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        yield from ()


@dataclass(frozen=True, kw_only=True)
class EndsRarely(EndsWith):
    kind: ClassVar[str] = "ends_rarely"

    def mark(self, response: Response, item: Item) -> Cell:
        if not response.text:
            raise IndexError("no last sign")
        return EndsWith.mark(self, response, item)


@dataclass(frozen=True, kw_only=True)
class EndsWhenever(EndsWith):
    kind: ClassVar[str] = "ends_whenever"
    seen: ClassVar[list[str]] = []

    def mark(self, response: Response, item: Item) -> Cell:
        del item
        EndsWhenever.seen.append(response.text)
        return Cell.passed("odd") if len(EndsWhenever.seen) % 2 else Cell.missed("even")


@dataclass(frozen=True, kw_only=True)
class EndsPicky(EndsWith):
    kind: ClassVar[str] = "ends_picky"

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        yield "sign", "no sign will do"


def test_check_axis_is_content_with_a_sound_axis() -> None:
    check_axis(EndsWith(), passes=["Yes."], misses=["No"])
    check_axis(EndsWith(sign="!"), passes=["Yes!"], misses=["Yes."])


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        (EndsRarely(), "the axis failed: IndexError: no last sign"),
        (EndsWhenever(), "the second time it got another cell"),
        (EndsPicky(), "`parameter_problems` refuses its own parameters"),
        (EndsWith, "give an axis with its parameters"),
    ],
)
def test_check_axis_names_what_is_broken(axis: Any, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_axis(axis)


def test_check_axis_compares_with_what_its_author_expects() -> None:
    with pytest.raises(AssertionError, match="'No' should pass: 0, no ") as raised:
        check_axis(EndsWith(), passes=["No"], misses=["Yes."])
    assert "'Yes.' should miss: 1, it does" in str(raised.value)


def test_lint_and_load_rubric_take_axes_as_an_argument(folder: Path) -> None:
    path = folder / "rubric.yaml"
    path.write_text("rubric: r\naxes: [{name: a, kind: ends_with, weight: 1}]\n")
    assert load_rubric(path, axes=[EndsWith]).axes[0].axis == EndsWith()
    assert lint(path, axes=[EndsWith]).ok
    assert not lint(path).ok
    with pytest.raises(UsageError, match="two axes have the kind"):
        load_rubric(path, axes=[EndsWith, type("Other", (EndsWith,), {})])
