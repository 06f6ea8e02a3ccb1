"""autorubric: rubrics of weighted criteria (JSON or YAML), and datasets of submissions (JSON).

Each entry of a dataset becomes an item with its own criteria; its submission becomes the answer,
and its ground truth the ratings of a person. Criteria with options become `choice` axes where all
items share them. The score is that of autorubric: cut at 0 (`below_zero: cut`), and `CANNOT_ASSESS`
leaves the sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import PurePath
from typing import Any

from markscheme.read.documents import is_name, make_name
from markscheme.read.foreign.imported import (
    CRITERIA_AXIS,
    ImportedDocuments,
    Row,
    build_rubric,
    read_points,
    report_without_points,
)
from markscheme.read.foreign.source import (
    ForeignRecord,
    ForeignSource,
    check_tag_value,
    iterate_records,
    parse_json_source,
    parse_yaml_source,
)
from markscheme.vocabulary import format_value

_DEFAULT_WEIGHT = 10
_RATER = "ground-truth"
_VERDICTS: Mapping[str, int | str] = {"MET": 1, "UNMET": 0, "CANNOT_ASSESS": "n/a"}
_NOT_APPLICABLE = "n/a"
_DATASET_KEYS = {"name", "prompt", "rubric", "items", "reference_submission"}
_ITEM_KEYS = {
    *("submission", "description", "ground_truth", "rubric", "prompt", "reference_submission"),
}
_CRITERION_KEYS = {"name", "weight", "requirement", "options", "scale_type", "aggregation"}
_WRITE_PROMPT = "(Write here what is asked.)"
_MAX_OPTION_CHARACTERS = 200
_MIN_OPTIONS, _MAX_OPTIONS = 2, 50
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Option:
    """An option of a criterion; `name` is its label as our documents can hold it."""

    label: str
    name: str
    value: Decimal
    is_not_applicable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _ForeignCriterion:
    """A criterion of autorubric. Without points it counts nothing, and its id is empty."""

    id: str
    points: int | Decimal
    requirement: str
    tags: dict[str, str]
    options: tuple[_Option, ...] = ()

    def build_entry(self) -> Row:
        """Return the criterion of an item."""
        entry: dict[str, Any] = {"id": self.id, "points": self.points, "says": self.requirement}
        return entry | ({"tags": dict(self.tags)} if self.tags else {})


def parse_autorubric(data: bytes, file: str) -> ImportedDocuments:
    """Return the documents of a rubric or dataset, which messages call `file`.

    Raises:
        InputError: with every mistake of the file.
    """
    is_yaml = PurePath(file).suffix.lower() in {".yaml", ".yml"}
    source = parse_yaml_source(data, file) if is_yaml else parse_json_source(data, file)
    stem = make_name(PurePath(file).stem, "autorubric")
    builder = _AutorubricBuilder(source, stem)
    if isinstance(source.root, dict) and "items" in source.root:
        builder.read_dataset(ForeignRecord(source, (), source.root))
    else:
        builder.read_rubric_alone()
    source.raise_problems()
    return ImportedDocuments(
        rubric=build_rubric(builder.name, builder.build_axes()),
        exam={"exam": builder.name, "items": builder.items},
        answers=builder.answers,
        ratings=builder.ratings,
        remarks=source.list_remarks(),
    )


@dataclass(slots=True)
class _AutorubricBuilder:
    """Collects axes, items, answers and ratings of one file."""

    source: ForeignSource
    name: str
    items: list[Row] = field(default_factory=list)
    answers: list[Row] = field(default_factory=list)
    ratings: list[Row] = field(default_factory=list)
    shared: tuple[_ForeignCriterion, ...] | None = None

    def read_rubric_alone(self) -> None:
        """Read a file that holds a rubric and nothing that is asked."""
        self.shared = tuple(_read_criteria(self.source, (), self.source.root))
        self.source.add_remark(
            (), "a rubric without items: exam.yaml has one item, whose prompt is yours to write"
        )
        self._add_item("item-1", _WRITE_PROMPT, self.shared)

    def read_dataset(self, record: ForeignRecord) -> None:
        """Read a dataset: its rubric, and its items."""
        record.check_keys(_DATASET_KEYS)
        self.name = make_name(record.get_optional_text("name"), self.name)
        if record.has("rubric"):
            self.shared = tuple(_read_criteria(self.source, ("rubric",), record.fields["rubric"]))
        self._report_reference(record)
        prompt = record.get_optional_text("prompt")
        entries = record.get_records("items")
        if not entries and record.fields["items"] == []:
            record.add_problem("items", "is empty; at least one item is needed")
        for number, entry in enumerate(entries, start=1):
            self._read_item(entry, f"item-{number}", prompt)

    def _read_item(self, record: ForeignRecord, name: str, shared_prompt: str) -> None:
        record.check_keys(_ITEM_KEYS)
        criteria = self.shared
        if record.has("rubric"):
            path = (*record.path, "rubric")
            criteria = tuple(_read_criteria(self.source, path, record.fields["rubric"]))
            if any(criterion.options for criterion in (*criteria, *(self.shared or ()))):
                message = (
                    "options are read only where all items share them, in the dataset's rubric"
                )
                record.add_problem("rubric", message)
        if criteria is None:
            record.add_problem("rubric", "is missing, and the dataset has none; one is needed")
            criteria = ()
        prompt = record.get_optional_text("prompt") or shared_prompt
        if not prompt:
            record.add_problem("prompt", "is missing, and the dataset has none; one is needed")
        self._report_reference(record)
        self._add_item(name, prompt, criteria)
        answer = {"item": name, "output": record.get_answer("submission")}
        if description := record.get_optional_text("description"):
            answer["description"] = description
        self.answers.append(answer)
        if criteria and record.has("ground_truth"):
            self._read_ground_truth(record, name, criteria)

    def _report_reference(self, record: ForeignRecord) -> None:
        if record.has("reference_submission"):
            record.add_remark("reference_submission", "has no place in the documents: left out")

    def _add_item(self, name: str, prompt: str, criteria: Sequence[_ForeignCriterion]) -> None:
        entries = [c.build_entry() for c in criteria if c.points and not c.options]
        item: dict[str, Any] = {"id": name, "prompt": prompt}
        self.items.append(item | ({CRITERIA_AXIS: entries} if entries else {}))

    def _read_ground_truth(
        self, record: ForeignRecord, name: str, criteria: Sequence[_ForeignCriterion]
    ) -> None:
        """Keep the verdicts on an answer; they stand in the order of the criteria."""
        verdicts = record.get_list("ground_truth")
        if len(verdicts) != len(criteria):
            message = f"has {len(verdicts)} entries for {len(criteria)} criteria"
            record.add_problem("ground_truth", message)
            return
        record.add_remark(
            "ground_truth", f"ratings of a person, with the rater `{_RATER}`: the file names none"
        )
        for index, (verdict, criterion) in enumerate(zip(verdicts, criteria, strict=True)):
            path = (*record.path, "ground_truth", index)
            score = self._read_verdict(path, verdict, criterion)
            if criterion.points and score is not None:
                axis = criterion.id if criterion.options else CRITERIA_AXIS
                named = "" if criterion.options else criterion.id
                row = {"item": name, "rater": _RATER, "axis": axis, "criterion": named}
                self.ratings.append(row | {"score": score})

    def _read_verdict(
        self, path: Path, verdict: Any, criterion: _ForeignCriterion
    ) -> int | str | None:
        """Return the score that a verdict stands for, or None after reporting that it is none."""
        if criterion.options:
            return self._find_option(path, verdict, criterion)
        score = _VERDICTS.get(verdict) if isinstance(verdict, str) else None
        if score is None:
            message = f"{format_value(verdict)} is no verdict; allowed: {', '.join(_VERDICTS)}"
            self.source.add_problem(path, message)
        elif score == _NOT_APPLICABLE:
            message = "CANNOT_ASSESS becomes n/a: it leaves the sums, as autorubric's default does"
            self.source.add_remark(path[:-1], message)
        return score

    def _find_option(self, path: Path, verdict: Any, criterion: _ForeignCriterion) -> str | None:
        """Return the label of an option; autorubric compares without case and outer spaces."""
        folded = verdict.strip().lower() if isinstance(verdict, str) else None
        for option in criterion.options:
            if option.label.strip().lower() == folded:
                return _NOT_APPLICABLE if option.is_not_applicable else option.name
        allowed = ", ".join(option.label for option in criterion.options)
        message = f"{format_value(verdict)} is no option; allowed: {allowed}"
        self.source.add_problem(path, message)
        return None

    def build_axes(self) -> list[Row]:
        """Return the axes: the criteria that are met or not, and one for each with options."""
        choices = [c for c in self.shared or () if c.options and c.points]
        axis: dict[str, Any] = {"name": CRITERIA_AXIS, "kind": "criteria"}
        if not choices:
            return [axis | {"weight": 1}]
        plain = [c for c in self.shared or () if not c.options and c.points]
        axes = [_build_choice(choice) for choice in choices]
        if plain:
            positive = sum(c.points for c in plain if c.points > 0)
            below_zero = {"below_zero": "kept"} if any(c.points < 0 for c in plain) else {}
            axes.insert(0, axis | {"points": positive} | below_zero)
        return axes


def _build_choice(criterion: _ForeignCriterion) -> Row:
    """Return the axis of a criterion with options; the question holds labels that are no names."""
    options = [option for option in criterion.options if not option.is_not_applicable]
    renamed = [f"- {o.name}: {o.label}" for o in options if o.name != o.label]
    question = "\n".join([criterion.requirement, *(["", *renamed] if renamed else [])])
    axis: dict[str, Any] = {
        "name": criterion.id,
        "kind": "choice",
        "points": criterion.points,
        "question": question,
        "options": {option.name: option.value for option in options},
    }
    return axis | ({"may_not_apply": True} if len(options) < len(criterion.options) else {})


# Criteria


def _read_criteria(source: ForeignSource, path: Path, value: Any) -> list[_ForeignCriterion]:
    """Read a rubric in any of its forms: a list, sections, or an object that holds either."""
    reader = _AutorubricReader(source)
    criteria = [
        reader.read(record, section) for record, section in _iterate_entries(source, path, value)
    ]
    if not any(criterion.points for criterion in criteria):
        source.add_problem(path, "holds no criterion with a weight; at least one is needed")
    choices = [criterion for criterion in criteria if criterion.options]
    plain = [criterion for criterion in criteria if not criterion.options]
    if choices and plain:
        if all(criterion.points <= 0 for criterion in plain):
            message = "beside criteria with options, another criterion needs a positive weight"
            source.add_problem(path, message)
        elif any(criterion.points < 0 for criterion in plain):
            message = "the penalties are kept below 0; autorubric's score is score_cut, the cut one"
            source.add_remark(path, message)
    return criteria


def _iterate_entries(
    source: ForeignSource, path: Path, value: Any
) -> Iterator[tuple[ForeignRecord, str]]:
    """Yield each criterion with the name of its section, which may be empty."""
    while isinstance(value, dict):
        record = ForeignRecord(source, path, value)
        key = next((key for key in ("rubric", "sections", "criteria") if key in value), None)
        if key is None:
            source.add_problem(path, "is no rubric; `rubric`, `sections` or `criteria` is needed")
            return
        record.check_keys({key})
        path, value = (*path, key), value[key]
    if not isinstance(value, list):
        source.add_problem(path, f"is {format_value(value)}; a list of criteria is needed")
        return
    for record in iterate_records(source, path, value):
        if "criteria" not in record.fields:
            yield record, ""
            continue
        record.check_keys({"criteria", "name", "title"})
        section = record.get_optional_text("name") or record.get_optional_text("title")
        check_tag_value(source, (*record.path, "name"), section)
        for inner in record.get_records("criteria"):
            yield inner, section


class _AutorubricReader:
    """Reads the criteria of one rubric and gives them ids: their names, or numbers."""

    def __init__(self, source: ForeignSource) -> None:
        self._source = source
        self._ids: set[str] = set()
        self._number = 0

    def read(self, record: ForeignRecord, section: str) -> _ForeignCriterion:
        """Read one criterion; one of weight 0 has no points and is named in a remark."""
        record.check_keys(_CRITERION_KEYS)
        self._number += 1
        points: int | Decimal = _DEFAULT_WEIGHT
        if record.has("weight"):
            points = read_points(record, "weight")
        else:
            record.add_remark("weight", f"is missing: {_DEFAULT_WEIGHT}, as in autorubric")
        if not points:
            report_without_points(record, "weight", "criterion")
        name = record.get_optional_text("name")
        tags = {"section": section} if section else {}
        id_ = self._choose_id(name)
        if name and id_ != name:
            tags["name"] = check_tag_value(self._source, (*record.path, "name"), name)
        return _ForeignCriterion(
            id=id_,
            points=points,
            requirement=record.get_text("requirement"),
            tags=tags,
            options=self._read_options(record, points) if record.has("options") else (),
        )

    def _choose_id(self, name: str) -> str:
        """Return the name of a criterion if it can be an id and is free, else one by its number."""
        id_ = name if is_name(name) and name not in {*self._ids, CRITERIA_AXIS} else ""
        number = self._number
        while not id_ or id_ in self._ids:
            id_ = f"c{number}"
            number += 1
        self._ids.add(id_)
        return id_

    def _read_options(self, record: ForeignRecord, points: int | Decimal) -> tuple[_Option, ...]:
        if points < 0:
            message = f"is {points}; a criterion with options needs a positive weight"
            record.add_problem("weight", message)
        for key in ("scale_type", "aggregation"):
            if record.has(key):
                record.add_remark(key, "has no place in the documents: left out")
        options = tuple(self._read_option(option) for option in record.get_records("options"))
        if len({option.name.lower() for option in options}) < len(options):
            record.add_problem("options", "two options have the same label; each may occur once")
        count = sum(not option.is_not_applicable for option in options)
        if not _MIN_OPTIONS <= count <= _MAX_OPTIONS:
            message = f"{count} options have a value; {_MIN_OPTIONS} to {_MAX_OPTIONS} can be read"
            record.add_problem("options", message)
        return options

    def _read_option(self, record: ForeignRecord) -> _Option:
        record.check_keys({"label", "value", "na"})
        label = record.get_text("label", longest=_MAX_OPTION_CHARACTERS)
        check_tag_value(self._source, (*record.path, "label"), label)
        is_na = bool(record.get_flag("na")) if record.has("na") else False
        value = Decimal(0) if is_na else record.get_number("value")
        if not 0 <= value <= 1:
            record.add_problem("value", f"is {value}; allowed: 0 to 1")
        if is_na:
            record.add_remark("label", f"`{label}` means that nothing applies: its mark is n/a")
        name = make_name(label, f"option-{record.path[-1]}")
        return _Option(label=label, name=name, value=value, is_not_applicable=is_na)
