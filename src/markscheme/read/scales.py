"""Axes that people answer: scales with their anchors, and notes. Nothing marks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.frozen import Frozen
from markscheme.read.complaints import iterate
from markscheme.read.models import RATED, NoteModel, ScaleModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markscheme.read.complaints import Complaints
    from markscheme.read.tree import Map
    from markscheme.verdicts import VerdictRules
    from markscheme.vocabulary import NoteAxis, ScaleAxis


def read_rated(
    tree: Map, complaints: Complaints
) -> tuple[tuple[ScaleAxis, ...], tuple[NoteAxis, ...]]:
    """Read the scales and the notes of a rubric; complain of all that is wrong with them."""
    scales: list[ScaleAxis] = []
    notes: list[NoteAxis] = []
    for index, entry in iterate(tree.get("axes")):
        model = RATED.get(str(entry.get("kind")))
        found = complaints.check(model, entry, ("axes", index)) if model else None
        if isinstance(found, ScaleModel):
            scale = _scale(found)
            scales.append(scale)
            for told in _anchor_problems(scale):
                complaints.add(("axes", index, "anchors"), told)
        elif isinstance(found, NoteModel):
            notes.append(_note(found))
    return tuple(scales), tuple(notes)


def _note(model: NoteModel) -> NoteAxis:
    from markscheme.vocabulary import NoteAxis  # noqa: PLC0415 - most rubrics have none

    return NoteAxis(name=model.name, title=model.title, question=model.question)


def _scale(model: ScaleModel) -> ScaleAxis:
    from markscheme.vocabulary import ScaleAxis  # noqa: PLC0415 - most rubrics have none

    anchors = sorted((int(score), text) for score, text in model.anchors.items())
    return ScaleAxis(
        name=model.name, title=model.title, question=model.question, anchors=Frozen(anchors)
    )


def _anchor_problems(scale: ScaleAxis) -> Iterator[str]:
    between = range(scale.lowest, scale.highest + 1)
    missing = [str(score) for score in between if score not in scale.anchors]
    if missing:
        told = f"every whole number from {scale.lowest} to {scale.highest} needs an anchor"
        yield f"lacks {', '.join(missing)}; {told}"


def check_scales(
    scales: Sequence[ScaleAxis], rules: VerdictRules | None, complaints: Complaints
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
            complaints.add(("verdict_rules", "scores", key), message)
