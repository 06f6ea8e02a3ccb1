"""`markscheme break`: an exercise that removes one rule of a rubric and shows the effects."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import format_option
from markscheme.vocabulary import UsageError, format_value

if TYPE_CHECKING:
    from markscheme.workflows.prove import Exercise

_EPILOG = """\b
Example:
  markscheme break
  markscheme break lower
  markscheme break --quiz --seed 7

Nothing on disk is changed. By default the bundled tutor answers the capstone exam, both written
carelessly (capitals, spaces, full stops), so that every rule has work to do. The exit code is 0; 4
when there is no answer to mark; in a quiz 1 when the answer is wrong."""


@click.command(name="break", epilog=_EPILOG)
@click.argument("step", required=False, metavar="[STEP]")
@click.option("--quiz", is_flag=True, help="Show the symptoms of a missing rule; which one is it?")
@click.option("--seed", type=int, help="Another seed is another quiz. Default: 1.")
@click.option("--answer", "guess", metavar="STEP", help="Your answer to the quiz.")
@click.option("--reveal", is_flag=True, help="Show the solution of the quiz.")
@click.option(
    "--rubric",
    "-r",
    default="tutor-capstone",
    show_default=True,
    metavar="FILE|NAME",
    help="A rubric of your own.",
)
@click.option("--exam", "-e", "exams", multiple=True, metavar="FILE|NAME", help="Your own exam.")
@click.option("--answers", "-a", metavar="FILE|-", help="Recorded answers to it.")
@format_option
@handle_errors
def command(
    step: str | None,
    *,
    quiz: bool,
    seed: int | None,
    guess: str | None,
    reveal: bool,
    rubric: str,
    exams: tuple[str, ...],
    answers: str | None,
    format_: str,
) -> ExitCode:
    """Remove one rule of the rubric and see what it does to the scores."""
    from markscheme.workflows.prove import Exercise

    if step is not None and quiz:
        raise UsageError("name a step, or ask for a quiz, not both")
    if step is not None and step.endswith((".yaml", ".yml")):
        raise UsageError(f"{format_value(step)} is no rule; a rubric is given with --rubric")
    if not quiz and (guess is not None or reveal or seed is not None):
        raise UsageError("`--seed`, `--answer` and `--reveal` are for a quiz; add `--quiz`")
    if answers is not None and not exams:
        raise UsageError("`--answers` are to an exam; name it with `--exam`")
    seed = 1 if quiz and seed is None else seed
    exercise = Exercise(rubric, exams, answers, seed=seed)
    if quiz:
        return _run_quiz(exercise, guess, reveal=reveal, as_json=format_ == "json")
    if step is None:
        _list_steps(exercise, as_json=format_ == "json")
        return ExitCode.OK
    _show_cascade(exercise, step, as_json=format_ == "json")
    if len(exercise.recorded):
        return ExitCode.OK
    click.echo(f"nothing was marked: there is no answer to {exercise.exam.name}", err=True)
    return ExitCode.UNDECIDED


def _list_steps(exercise: Exercise, *, as_json: bool) -> None:
    from markscheme.tell.exercise import build_steps_record
    from markscheme.tell.language import translate, translate_stored

    if as_json:
        _print_json({"rubric": exercise.rubric.name, "steps": build_steps_record(exercise.steps)})
        return
    click.echo(translate("Rules of {rubric} that can be removed:", rubric=exercise.rubric.name))
    for step, mutant in exercise.steps.items():
        click.echo(f"  {step:<24}{translate_stored(mutant.says)}")
    next_ = translate("Next: `markscheme break lower`, then `markscheme break --quiz`.")
    click.echo(f"\n{next_}")


def _show_cascade(exercise: Exercise, step: str, *, as_json: bool) -> None:
    from markscheme.tell.exercise import CascadePage, build_solution_record, build_symptoms_record
    from markscheme.tell.language import translate_plural, translate_stored

    cascade = exercise.remove_step(step)
    if as_json:
        symptoms = build_symptoms_record(cascade)
        _print_json({**build_solution_record(cascade), "symptoms": symptoms})
        return
    click.echo(f"{step}: {translate_stored(cascade.mutant.says)}")
    answers = translate_plural(
        "{n:,} answer to {exam}",
        "{n:,} answers to {exam}",
        len(exercise.recorded),
        exam=exercise.exam.name,
    )
    click.echo(f"{answers}\n")
    page = CascadePage(cascade, exercise.rubric, exercise.exam)
    page.print_symptoms()
    page.print_solution()


def _run_quiz(exercise: Exercise, guess: str | None, *, reveal: bool, as_json: bool) -> ExitCode:
    from markscheme.tell.exercise import (
        CascadePage,
        build_solution_record,
        build_steps_record,
        build_symptoms_record,
    )
    from markscheme.tell.language import translate, translate_stored
    from markscheme.vocabulary import sentence

    cascade = exercise.choose_quiz()
    if guess is not None and guess not in exercise.steps:
        raise UsageError(f"`{guess}` is no choice; allowed: {', '.join(exercise.steps)}")
    page = CascadePage(cascade, exercise.rubric, exercise.exam)
    question = sentence("One rule of the rubric is missing. Which one?")
    if not as_json:
        quiz = translate("quiz {seed}", seed=exercise.seed)
        click.echo(f"{translate_stored(question)} ({quiz})\n")
        page.print_symptoms()
        choices = translate("Choices: {steps}", steps=", ".join(exercise.steps))
        click.echo(f"\n{choices}")
        if guess is None and not reveal and sys.stdin.isatty():
            guess = click.prompt(
                translate("Which rule is missing"), type=click.Choice(list(exercise.steps))
            )
    right = None if guess is None else guess == cascade.step
    solved = reveal or guess is not None
    if as_json:
        document = {
            "question": question,
            "seed": exercise.seed,
            "choices": build_steps_record(exercise.steps),
            "symptoms": build_symptoms_record(cascade),
        }
        solution = {"answer": guess, "right": right, "solution": build_solution_record(cascade)}
        _print_json({**document, **(solution if solved else {})})
    elif solved:
        verdict = {
            None: "",
            True: translate("Right.") + " ",
            False: translate("Not this one.") + " ",
        }[right]
        says = translate_stored(cascade.mutant.says)
        solution_line = translate("It is `{step}`: {says}.", step=cascade.step, says=says)
        click.echo(f"\n{verdict}{solution_line}")
        page.print_solution()
    else:
        click.echo(translate("Answer with --answer STEP, or --reveal the solution."))
    return ExitCode.FAILED if right is False else ExitCode.OK


def _print_json(document: object) -> None:
    click.echo(json.dumps(document, ensure_ascii=False, indent=2))
