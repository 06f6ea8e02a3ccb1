"""Options that several commands share."""

from __future__ import annotations

import click

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
