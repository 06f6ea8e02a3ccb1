"""`markscheme learn --terminal`: practise line by line, as over SSH."""

from __future__ import annotations

import secrets
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from markscheme.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from markscheme.keep import Store
    from markscheme.learn import CardChoice
    from markscheme.workflows.practice import PracticeSettings


def practise(settings: PracticeSettings, place: str | None) -> ExitCode:
    """Ask cards until none is left today, or until the input ends."""
    from markscheme.keep import open_store
    from markscheme.learn import choose_card
    from markscheme.tell.language import translate, translate_plural
    from markscheme.workflows.practice import load_deck_state

    done = 0
    with open_store(place, create=True) as store:
        learner = store.learning.ensure_own_learner()
        click.echo(translate("An empty line is “I do not know”; Ctrl-D ends."))
        while True:
            state = load_deck_state(store, settings, learner, datetime.now(UTC))
            choice = choose_card(settings.items, state, settings.limits)
            if choice is None:
                click.echo(translate("Done for today"))
                break
            if not _ask_card(store, settings, learner, choice):
                break
            done += 1
    click.echo(translate_plural("{n} answer today.", "{n} answers today.", done))
    return ExitCode.OK


def _ask_card(store: Store, settings: PracticeSettings, learner: str, choice: CardChoice) -> bool:
    """Ask one card, store the answer and print the feedback; return False at the end of input."""
    from markscheme.learn import explain_answer, explain_schedule, list_answer_fields
    from markscheme.mark import read_response
    from markscheme.tell.language import translate, translate_stored
    from markscheme.workflows.practice import CardAnswer, grade_card, load_progress

    click.echo(f"\n{choice.item.prompt}  ({translate_stored(choice.because)})")
    fields: dict[str, str] = {}
    for field in (field for field in list_answer_fields(settings.rubric) if field.leads):
        click.echo(f"  {translate(field.title)}: ", nl=False)
        line = sys.stdin.readline()
        if not line:
            click.echo()
            return False
        fields[field.name] = line.rstrip("\r\n").replace("\0", "")
    # Only whole lines arrive here, so the time to the first key is not known.
    answer = CardAnswer(id=secrets.token_hex(12), item=choice.item.id, fields=fields)
    graded = grade_card(settings, learner, answer, datetime.now(UTC))
    store.learning.add_review(graded.review)
    output = graded.review.output or ""
    response = read_response(output, settings.rubric.fields)
    told = explain_answer(settings.rubric, choice.item, response, graded.graded.breakdown)
    for axis in told:
        mark = "✗" if axis.lost else "✓"
        click.echo(f"  {mark} {translate(axis.title)}: {translate_stored(axis.text)}")
    progress = load_progress(store, settings, graded.review)
    if progress is not None:
        review = graded.review
        when = explain_schedule(
            progress.kind, progress.before, progress.after, review.day, review.quality
        )
        click.echo(f"  {translate_stored(when)}")
    return True
