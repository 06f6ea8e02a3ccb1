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
