"""`markscheme class`: the learners of a class, their codes and what they answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors, print_note
from markscheme.cli.options import format_option, store_option
from markscheme.vocabulary import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.keep import Learner

_EPILOG = """\b
Example:
  markscheme class add 7b.yaml Ana "Luis Pérez"
  markscheme serve --class 7b.yaml
  markscheme class export 7b.yaml -o reviews.csv

FILE describes the class; `class add` writes it if it is not there. Learners and their answers are
in the store."""
_file_argument = click.argument("file", metavar="FILE")


@click.group(name="class", epilog=_EPILOG)
def command() -> None:
    """Manage the learners of a class: add, codes, export, forget."""


@command.command(name="add", epilog=_EPILOG)
@_file_argument
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@store_option
@format_option
@handle_errors
def add(file: str, names: tuple[str, ...], store: str | None, format_: str) -> ExitCode:
    """Add learners; print the code that each enters with."""
    from markscheme.keep import open_store
    from markscheme.workflows.classroom import check_learner_name, create_class_file

    path = Path(file)
    checked = [check_learner_name(name) for name in names]
    if create_class_file(path):
        print_note(f"{path}: written")
    class_name = _read_name(path)
    with open_store(store, create=True) as opened, opened.transaction():
        codes = [opened.learning.add_learner(name, class_name) for name in checked]
    _print_codes(class_name, codes, format_)
    return ExitCode.OK


@command.command(name="codes", epilog=_EPILOG)
@_file_argument
@click.argument("names", nargs=-1, metavar="[NAME]...")
@store_option
@format_option
@handle_errors
def codes(file: str, names: tuple[str, ...], store: str | None, format_: str) -> ExitCode:
    """Give learners new codes, all of them without a NAME; the codes before end."""
    from markscheme.keep import open_store
    from markscheme.workflows.classroom import find_learners

    class_name = _read_name(Path(file))
    with open_store(store, create=False) as opened, opened.transaction():
        learners = find_learners(opened, class_name, names)
        renewed = [(learner, opened.learning.renew_code(learner.id)) for learner in learners]
    _print_codes(class_name, renewed, format_)
    return ExitCode.OK


@command.command(name="export", epilog=_EPILOG)
@_file_argument
@click.option(
    "--output", "-o", required=True, metavar="FILE", help="A .jsonl or .csv file of all reviews."
)
@store_option
@format_option
@handle_errors
def export(file: str, output: str, store: str | None, format_: str) -> ExitCode:
    """Write the reviews of a class, without names, which the store alone has."""
    from markscheme.keep import open_store
    from markscheme.tell.language import translate_plural
    from markscheme.workflows.classroom import write_reviews
    from markscheme.workflows.output_files import check_destination

    path = Path(check_destination(output, (file,), suffixes=(".jsonl", ".csv")))
    with open_store(store, create=False) as opened:
        learners = opened.learning.list_learners(_read_name(Path(file)))
        ids = [learner.id for learner in learners]
        reviews = opened.learning.list_reviews(ids, texts=True) if ids else []
    write_reviews(reviews, path)
    if format_ == "json":
        document = {"file": str(path), "reviews": len(reviews)}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
        return ExitCode.OK
    print_note(
        translate_plural(
            "{n} review is in {file}", "{n} reviews are in {file}", len(reviews), file=str(path)
        )
    )
    return ExitCode.OK


@command.command(name="forget", epilog=_EPILOG)
@_file_argument
@click.argument("name", metavar="NAME")
@click.option("--yes", is_flag=True, help="Do not ask whether that is meant.")
@store_option
@format_option
@handle_errors
def forget(*, file: str, name: str, yes: bool, store: str | None, format_: str) -> ExitCode:
    """Remove the name of a learner and all that was typed; keep what it was worth."""
    from markscheme.keep import open_store
    from markscheme.tell.language import translate
    from markscheme.workflows.classroom import find_learners

    class_name = _read_name(Path(file))
    with open_store(store, create=False) as opened:
        (learner,) = find_learners(opened, class_name, [name])
        question = translate(
            "Remove the name {name} and all that was typed? This cannot be undone.", name=name
        )
        if not yes and not click.confirm(question, err=True):
            raise UsageError("nothing was removed")
        opened.learning.forget_learner(learner.id)
    if format_ == "json":
        click.echo(json.dumps({"forgotten": learner.id}, indent=2))
        return ExitCode.OK
    print_note(
        translate(
            "{name} is forgotten; results stay under {id}. Files that were exported before still"
            " hold what was typed.",
            name=name,
            id=learner.id,
        )
    )
    return ExitCode.OK


def _read_name(path: Path) -> str:
    from markscheme.read.documents import read_class

    return read_class(path).name


def _print_codes(class_name: str, codes: Sequence[tuple[Learner, str]], format_: str) -> None:
    if format_ == "json":
        learners = [
            {"id": learner.id, "name": learner.name, "code": code} for learner, code in codes
        ]
        document = {"class": class_name, "learners": learners}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
        return
    from markscheme.tell.language import replace_control_characters

    width = max(len(learner.name or "") for learner, _ in codes)
    for learner, code in codes:
        click.echo(f"{replace_control_characters(learner.name or ''):<{width}}  {code}")
