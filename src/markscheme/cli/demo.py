"""`markscheme demo`: the main job on what is built in."""

from __future__ import annotations

import json

import click

from markscheme.cli.exits import EXIT_OF, Exit, command_body, say_stored
from markscheme.cli.options import format_option, no_store_option, store_option

_EPILOG = """\b
Example:
  markscheme demo
  markscheme demo --flawed

The exit code is 0 when the hard gate is met and 1 when it is not."""


@click.command(name="demo", epilog=_EPILOG)
@click.option(
    "--flawed",
    is_flag=True,
    help="Examine the same tutor with realistic faults, to see what a breakdown is for.",
)
@no_store_option
@store_option
@format_option
@command_body
def command(flawed: bool, no_store: bool, store: str | None, format_: str) -> Exit:
    """Examine the bundled tutor on the capstone exam and state the gate."""
    from markscheme.engines.scoring import Scoring
    from markscheme.history.recording import recording
    from markscheme.library import answers_of_tutor, load_exam, load_rubric
    from markscheme.tell.language import say
    from markscheme.tell.patterns import PatternPage
    from markscheme.tell.terminal import Page
    from markscheme.weigh.patterns import find, pattern_record
    from markscheme.weigh.patterns.observed import observe
    from markscheme.weigh.records import gate_records

    rubric = load_rubric("tutor-capstone")
    exam = load_exam("capstone", "capstone-extra", rubric=rubric)
    with recording(rubric, exam, where=store, skip=no_store) as recorder:
        scoring = Scoring(rubric, exam, keep=recorder.keep if recorder else None)
        stretches = scoring.streamed(answers_of_tutor(exam, flawed=flawed))
        result = scoring.result(scoring.frames(stretches))
        say_stored(recorder.finish(result) if recorder else [])
    report = result.judge()
    patterns = find(rubric, exam, next(result.runs), observe(rubric, [result.frame]))
    if format_ == "json":
        document = {**result.to_dict(), "gates": gate_records(report.outcomes)}
        document["patterns"] = [*map(pattern_record, patterns)]
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        page = Page(result.rubric)
        page.run(result)
        page.gates(report.outcomes)
        PatternPage().first(patterns)
        if not flawed:
            next_ = say("Next: `markscheme demo --flawed`, then `markscheme init my-exam`.")
            click.echo(f"\n{next_}")
    return EXIT_OF[report.verdict.value]
