"""Axes that people answer: scales with their anchors, and notes. Nothing marks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.frozen import FrozenDict
from markscheme.read.complaints import iterate_mappings
from markscheme.read.models import RATED_MODELS, NoteModel, ScaleModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markscheme.read.complaints import ProblemCollector
    from markscheme.read.tree import YamlMapping
    from markscheme.verdicts import VerdictRules
    from markscheme.vocabulary import NoteAxis, ScaleAxis


def read_rated_axes(
    tree: YamlMapping, complaints: ProblemCollector
) -> tuple[tuple[ScaleAxis, ...], tuple[NoteAxis, ...]]:
    """Read the scales and the notes of a rubric; complain of all that is wrong with them."""
    scales: list[ScaleAxis] = []
    notes: list[NoteAxis] = []
    for index, entry in iterate_mappings(tree.get("axes")):
        model = RATED_MODELS.get(str(entry.get("kind")))
        found = complaints.validate_node(model, entry, ("axes", index)) if model else None
        if isinstance(found, ScaleModel):
            scale = _build_scale_axis(found)
            scales.append(scale)
            for told in _find_anchor_problems(scale):
                complaints.add_problem(("axes", index, "anchors"), told)
        elif isinstance(found, NoteModel):
            notes.append(_build_note_axis(found))
    return tuple(scales), tuple(notes)


def _build_note_axis(model: NoteModel) -> NoteAxis:
    from markscheme.vocabulary import NoteAxis  # noqa: PLC0415 - most rubrics have none

    return NoteAxis(name=model.name, title=model.title, question=model.question)


def _build_scale_axis(model: ScaleModel) -> ScaleAxis:
    from markscheme.vocabulary import ScaleAxis  # noqa: PLC0415 - most rubrics have none

    anchors = sorted((int(score), text) for score, text in model.anchors.items())
    return ScaleAxis(
        name=model.name, title=model.title, question=model.question, anchors=FrozenDict(anchors)
    )


def _find_anchor_problems(scale: ScaleAxis) -> Iterator[str]:
    between = range(scale.lowest, scale.highest + 1)
    missing = [str(score) for score in between if score not in scale.anchors]
    if missing:
        told = f"every whole number from {scale.lowest} to {scale.highest} needs an anchor"
        yield f"lacks {', '.join(missing)}; {told}"


def check_scales(
    scales: Sequence[ScaleAxis], rules: VerdictRules | None, complaints: ProblemCollector
) -> None:
    """Complain where the rules are made for other averages than those of the scales."""
    if not scales or rules is None:
        return
    stated = rules.scores
    for key, told, found in (
        ("axes", stated.axes, len(scales)),
        ("lowest", stated.lowest, min(scale.lowest for scale in scales)),
        ("highest", stated.highest, max(scale.highest for scale in scales)),
    ):
        if told != found:
            message = f"{told} is not what the axes of kind `scale` give, which is {found}"
            complaints.add_problem(("verdict_rules", "scores", key), message)
