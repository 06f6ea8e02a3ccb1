"""Read the axes that are rated: scales, choices and notes, with or without a weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

from msgspec import Struct, structs

from markscheme.read.documents.models import (
    RATED_MODELS,
    ChoiceModel,
    NoteModel,
    ScaleModel,
    is_rated,
)
from markscheme.read.documents.validation import ProblemCollector, iterate_mappings
from markscheme.read.documents.yaml import YamlMapping
from markscheme.vocabulary import (
    ChoiceAxis,
    FrozenDict,
    NoteAxis,
    ScaleAxis,
    VerdictRules,
    format_plain,
)

RatedEntry = ScaleAxis | ChoiceAxis | NoteAxis


class RatedEntries(Struct, frozen=True, kw_only=True):
    """The rated axes of a rubric by their index in `axes`, and which of them have a weight."""

    by_index: dict[int, RatedEntry]
    weighted: frozenset[int]

    @property
    def scales(self) -> tuple[ScaleAxis, ...]:
        """All scales, with or without a weight."""
        return tuple(axis for axis in self.by_index.values() if isinstance(axis, ScaleAxis))

    @property
    def choices(self) -> tuple[ChoiceAxis, ...]:
        """All choices, with or without a weight."""
        return tuple(axis for axis in self.by_index.values() if isinstance(axis, ChoiceAxis))

    @property
    def notes(self) -> tuple[NoteAxis, ...]:
        """All notes."""
        return tuple(axis for axis in self.by_index.values() if isinstance(axis, NoteAxis))

    def iterate_hashed(self) -> Iterator[RatedEntry]:
        """Yield the scales, notes and choices that the fingerprint holds beside the scored axes.

        Titles of scales and notes are in it, because they have been since version 1.
        """
        unweighted = [axis for at, axis in self.by_index.items() if at not in self.weighted]
        yield from (axis for axis in unweighted if isinstance(axis, ScaleAxis))
        yield from self.notes
        choices = (axis for axis in unweighted if isinstance(axis, ChoiceAxis))
        yield from (structs.replace(choice, title="") for choice in choices)


def read_rated_axes(tree: YamlMapping, collector: ProblemCollector) -> RatedEntries:
    """Return the scales, choices and notes of a rubric."""
    by_index: dict[int, RatedEntry] = {}
    weighted = set()
    for index, entry in iterate_mappings(tree.get("axes")):
        model_class = RATED_MODELS.get(str(entry.get("kind")))
        if model_class is None:
            continue
        if not is_rated(entry):
            weighted.add(index)
        model = collector.validate_node(model_class, entry, ("axes", index))
        match model:
            case ScaleModel():
                scale = _build_scale(model)
                by_index[index] = scale
                for key, message in _find_scale_problems(scale, model.step):
                    collector.add_problem(("axes", index, key), message)
            case ChoiceModel():
                by_index[index] = _build_choice(model)
            case NoteModel():
                note = NoteAxis(name=model.name, title=model.title, question=model.question)
                by_index[index] = note
    return RatedEntries(by_index=by_index, weighted=frozenset(weighted))


def _build_scale(model: ScaleModel) -> ScaleAxis:
    return ScaleAxis(
        name=model.name,
        title=model.title,
        question=model.question,
        anchors=FrozenDict(sorted((int(score), text) for score, text in model.anchors.items())),
        step=Fraction(model.step),
        may_not_apply=model.may_not_apply,
    )


def _build_choice(model: ChoiceModel) -> ChoiceAxis:
    return ChoiceAxis(
        name=model.name,
        title=model.title,
        question=model.question,
        options=FrozenDict({name: Fraction(value) for name, value in model.options.items()}),
        may_not_apply=model.may_not_apply,
    )


def _find_scale_problems(scale: ScaleAxis, step: Decimal) -> Iterator[tuple[str, str]]:
    scores = range(scale.lowest, scale.highest + 1)
    missing = [str(score) for score in scores if score not in scale.anchors]
    if missing:
        rule = f"every whole number from {scale.lowest} to {scale.highest} needs an anchor"
        yield "anchors", f"lacks {', '.join(missing)}; {rule}"
    if (1 / scale.step).denominator != 1:
        message = f"{format_plain(step)} does not divide 1; allowed: 1, 0.5, 0.25, 0.2, 0.1 …"
        yield "step", message


def check_scales(
    scales: Sequence[ScaleAxis], rules: VerdictRules | None, collector: ProblemCollector
) -> None:
    """Report verdict rules that state another range of scores than the scales have."""
    if not scales or rules is None:
        return
    for key, stated, actual in (
        ("axes", rules.scores.axes, len(scales)),
        ("lowest", rules.scores.lowest, min(scale.lowest for scale in scales)),
        ("highest", rules.scores.highest, max(scale.highest for scale in scales)),
    ):
        if stated != actual:
            message = f"{stated} is not what the axes of kind `scale` give, which is {actual}"
            collector.add_problem(("verdict_rules", "scores", key), message)
