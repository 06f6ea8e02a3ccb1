"""Options that several commands share."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

COMPLETION_VARIABLE = "_MARKSCHEME_COMPLETE"
"""The environment variable by which the completion script of a shell asks for completions."""

format_option = click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Text for people, or one JSON document on stdout and nothing else.",
)
rubric_option = click.option(
    "--rubric",
    "-r",
    required=True,
    metavar="FILE|NAME",
    help="A rubric file, or a built-in name such as tutor-capstone.",
)
exam_option = click.option(
    "--exam",
    "-e",
    "exams",
    required=True,
    multiple=True,
    metavar="FILE|NAME",
    help="An exam file, or a built-in name such as capstone; several merge into one.",
)
store_option = click.option(
    "--store",
    metavar="FILE|URL",
    help="The store of runs: a file, or postgresql://…. Default: MARKSCHEME_STORE, else "
    ".markscheme/markscheme.db in this folder or the nearest above.",
)
no_store_option = click.option("--no-store", is_flag=True, help="Do not store the run.")
all_rows_option = click.option(
    "--all", "every", is_flag=True, help="Show every row, not only the worst that lost points."
)
raw_csv_option = click.option(
    "--raw-csv",
    is_flag=True,
    help="Write texts to .csv as they are, also those that a spreadsheet would compute.",
)
_JUDGING_OPTIONS = (
    click.option(
        "--baseline",
        "-b",
        metavar="RUN",
        help="Compare with this run. Default: the baseline that was set for the rubric and the "
        "exam.",
    ),
    click.option(
        "--rubric",
        "-r",
        metavar="FILE|NAME",
        help="Take the gates from this rubric; its axes and weights must match the run.",
    ),
    click.option(
        "--exam",
        "-e",
        "exams",
        multiple=True,
        metavar="FILE|NAME",
        help="The exam of a result file, if it is not a built-in one.",
    ),
    click.option("--subject", metavar="NAME", help="Which subject, if a result file has several."),
)


def add_judging_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name the baseline and the documents to judge a run by."""
    for option in reversed(_JUDGING_OPTIONS):
        command = option(command)
    return command


def hold_run_tag(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of commands with `--tag`: from now on it belongs to the run that will begin."""

    @functools.wraps(command)
    def holding(*args: Any, **options: Any) -> Any:
        if options["tag"] is None or options["no_store"]:
            return command(*args, **options)
        from markscheme.keep import hold_tag

        with hold_tag(options["tag"], options["store"]):
            return command(*args, **options)

    return holding
