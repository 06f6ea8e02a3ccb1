"""Read judges and panels: a YAML document becomes a `Judge` or a `Panel`, or every mistake in it.

A panel names the documents of its judges, by path from its own folder, or holds them itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from markscheme.read.documents.fingerprint import hash_parts
from markscheme.read.documents.models import NO_ENTRIES, Name, Number, Text
from markscheme.read.documents.sources import locate_document
from markscheme.read.documents.validation import (
    UNSET,
    Constraints,
    Converter,
    Model,
    ProblemCollector,
)
from markscheme.read.documents.yaml import FieldPath, YamlMapping, read_tree
from markscheme.vocabulary import (
    JUDGE_PROTOCOL,
    DocumentError,
    FrozenDict,
    Judge,
    JudgeExample,
    JudgeSight,
    Panel,
    Problem,
    SettleRule,
    UsageError,
    format_value,
    strip_alias,
)

_MAX_CALLS = 1_000
_CALLS_IN_WORDS = {"one": 1, "each": None}


class _Calls:
    """The value of `calls` after parsing: it may be `None`, which a converter uses to refuse."""

    def __init__(self, calls: int | None) -> None:
        self.calls = calls

    def __str__(self) -> str:
        return "one" if self.calls == 1 else str(self.calls)


def _parse_calls(value: Any) -> _Calls | None:
    if isinstance(value, str) and value in _CALLS_IN_WORDS:
        return _Calls(_CALLS_IN_WORDS[value])
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return _Calls(value) if is_number and 1 <= value <= _MAX_CALLS else None


_CALLS_SCHEMA = FrozenDict.freeze(
    {
        "anyOf": [
            {"enum": list(_CALLS_IN_WORDS)},
            {"type": "integer", "minimum": 1, "maximum": _MAX_CALLS},
        ]
    }
)
_NeededText = Annotated[Text, Constraints(shortest=1)]


class JudgeExampleModel(Model):
    """A worked example: an answer, a question about it, and the verdict that is right."""

    prompt: Text = ""
    answer: _NeededText
    question: _NeededText
    why: Text = ""
    verdict: str | bool | int | Number | None


class JudgeModel(Model):
    """A judge: the model that is asked, as in `run --subject`, and how it is asked."""

    judge: Name
    subject: _NeededText
    base_url: _NeededText = UNSET
    key_env: _NeededText = UNSET
    price: _NeededText = UNSET
    sees: Annotated[
        list[Literal["prompt", "answer", "reference"]], Constraints(shortest=1, longest=3)
    ] = ["prompt", "answer"]  # noqa: RUF012 - a default that is never changed
    calls: Annotated[_Calls, Converter(_parse_calls, "calls_type", _CALLS_SCHEMA)] = _Calls(1)
    orders: Annotated[int, Constraints(at_least=1, at_most=2)] = 1
    repeats: Annotated[int, Constraints(at_least=1, at_most=100)] = 1
    settle: Literal["lower"] = UNSET
    temperature: Annotated[Number, Constraints(at_least=0, at_most=2)] = UNSET
    max_tokens: Annotated[int, Constraints(at_least=1)] = UNSET
    instructions: Text = ""
    examples: list[JudgeExampleModel] = NO_ENTRIES


class PanelModel(Model):
    """A panel: judges, how many of them must have marked, and which mark counts."""

    panel: Name
    judges: Annotated[list[Any], Constraints(shortest=2, longest=20)]
    quorum: Annotated[int, Constraints(at_least=1)] = UNSET
    settle: Literal["median", "majority", "lower"] = "majority"


def is_judge_tree(tree: Mapping[str, Any]) -> bool:
    """Return whether a document is a judge or a panel, by the keys that only these have."""
    return bool({"judge", "panel"} & tree.keys()) and not {"rubric", "exam", "items"} & tree.keys()


def read_judge(source: str | Path) -> Judge | Panel:
    """Read a judge or a panel, by path or built-in name.

    Raises:
        DocumentError: something is wrong; the error holds every problem.
    """
    path, file = locate_document(source, "judges")
    return parse_judge_tree(read_tree(path, file), file, path.parent)


def parse_judge_tree(tree: YamlMapping, file: str, folder: Path) -> Judge | Panel:
    """Build the judge or the panel in a tree; its judges are looked for from a folder."""
    if not is_judge_tree(tree):
        message = "this is no judge; a judge begins with `judge: NAME`, several with `panel: NAME`"
        raise DocumentError([Problem(file=file, line=1, field="", message=message)])
    collector = ProblemCollector(tree, file)
    if "panel" in tree:
        found: Judge | Panel | None = _read_panel(tree, collector, folder)
    else:
        found = _read_judge_node(tree, collector, (), folder)
    if collector.problems or found is None:
        raise DocumentError(collector.problems)
    return found


def _read_judge_node(
    node: Any, collector: ProblemCollector, path: FieldPath, folder: Path
) -> Judge | None:
    """Build the judge in a part of a document; None after adding all its problems."""
    model = cast("JudgeModel | None", collector.validate_node(JudgeModel, node, path))
    if model is None:
        return None
    _check_sees(model.sees, collector, path)
    if model.settle is not UNSET and model.orders == 1:
        message = "says what counts where two orders differ; it goes with `orders: 2`"
        collector.add_problem((*path, "settle"), message)
    stated: dict[str, Any] = {
        key: value for key, value in vars(model).items() if key not in {"judge", "examples"}
    }
    stated["sees"] = tuple(sight for sight in JudgeSight if sight.value in model.sees)
    stated["calls"] = model.calls.calls
    if "settle" in stated:
        stated["settle"] = SettleRule(stated["settle"])
    examples = tuple(JudgeExample(**vars(example)) for example in model.examples)
    stated["recording"] = _find_recording(model.subject, folder)
    judge = Judge(name=model.judge, examples=examples, fingerprint="", **stated)
    return _add_fingerprint(judge)


def _find_recording(subject: str, folder: Path) -> str | None:
    """Return the file that `replay:FILE` reads, if it lies beside the document."""
    kind, _, name = strip_alias(subject).partition(":")
    beside = folder / name
    return str(beside) if kind == "replay" and name and beside.is_file() else None


def _check_sees(sees: Sequence[str], collector: ProblemCollector, path: FieldPath) -> None:
    for index, sight in enumerate(sees):
        if sight in sees[:index]:
            message = f"{format_value(sight)} is there twice; once is enough"
            collector.add_problem((*path, "sees", index), message)
    if JudgeSight.ANSWER not in sees:
        collector.add_problem((*path, "sees"), "must have `answer`: that is what a judge marks")


def _add_fingerprint(judge: Judge) -> Judge:
    """Return a judge with the hash of all that may change its verdicts.

    Names, keys, prices and where a recording lies are no part of it; neither is an alias, which is
    a name too.
    """
    from msgspec import structs

    left_out = {"name", "key_env", "price", "fingerprint", "subject", "recording"}
    parts = {name: value for name, value in structs.asdict(judge).items() if name not in left_out}
    parts |= {"subject": strip_alias(judge.subject), "sees": [sight.value for sight in judge.sees]}
    parts["examples"] = [structs.asdict(example) for example in judge.examples]
    fingerprint = hash_parts("judge", JUDGE_PROTOCOL, parts)
    return structs.replace(judge, fingerprint=fingerprint)


def _read_panel(tree: YamlMapping, collector: ProblemCollector, folder: Path) -> Panel | None:
    model = cast("PanelModel | None", collector.validate_node(PanelModel, tree))
    judges = _read_panel_judges(tree, collector, folder)
    _check_members(judges, collector)
    if model is None or collector.problems:
        return None
    quorum = len(judges) // 2 + 1 if model.quorum is UNSET else model.quorum
    if quorum > len(judges):
        message = f"{quorum} is above {len(judges)}, the number of judges; it cannot be reached"
        collector.add_problem(("quorum",), message)
    settle = SettleRule(model.settle)
    members = sorted(judge.fingerprint for judge in judges)
    return Panel(
        name=model.panel,
        judges=judges,
        quorum=quorum,
        settle=settle,
        fingerprint=hash_parts("panel", members, quorum, settle.value),
    )


def _check_members(judges: Sequence[Judge], collector: ProblemCollector) -> None:
    """Report judges with one name, and judges that would be asked the same by the same model."""
    names = [judge.name for judge in judges]
    fingerprints = [judge.fingerprint for judge in judges]
    for index, judge in enumerate(judges):
        path = ("judges", index)
        if judge.name in names[:index]:
            shown = format_value(judge.name)
            message = f"{shown} is there twice; each judge of a panel has a name of its own"
            collector.add_problem(path, message)
        elif judge.fingerprint in fingerprints[:index]:
            first = names[fingerprints.index(judge.fingerprint)]
            message = f"{format_value(judge.name)} asks the same of the same model as"
            message += f" {format_value(first)}; `repeats` asks one judge several times"
            collector.add_problem(path, message)


def _read_panel_judges(
    tree: YamlMapping, collector: ProblemCollector, folder: Path
) -> tuple[Judge, ...]:
    """Return the judges of a panel that can be read; problems of their files are collected too."""
    entries, judges = tree.get("judges"), []
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        path = ("judges", index)
        if isinstance(entry, str):
            judges.append(_read_named_judge(entry, collector, path, folder))
        elif isinstance(entry, dict):
            judges.append(_read_judge_node(entry, collector, path, folder))
        else:
            message = f"must be a file or the keys of a judge, not {format_value(entry)}"
            collector.add_problem(path, message)
    return tuple(judge for judge in judges if judge is not None)


def _read_named_judge(
    name: str, collector: ProblemCollector, path: FieldPath, folder: Path
) -> Judge | None:
    beside = folder / name
    try:
        found = read_judge(beside if beside.is_file() else name)
    except DocumentError as error:
        collector.problems += error.problems
        return None
    except (UsageError, OSError) as error:
        collector.add_problem(path, str(error))
        return None
    if isinstance(found, Panel):
        collector.add_problem(path, f"{format_value(name)} is a panel; a panel holds judges only")
        return None
    return found
