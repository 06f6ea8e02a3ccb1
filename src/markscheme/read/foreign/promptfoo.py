"""promptfoo: the tests of a `promptfooconfig.yaml`; each `assert` becomes a criterion.

The score of an item is that of promptfoo: the mean of its assertions, weighted by their weights.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import PurePath
from typing import Any

from markscheme.read.documents import make_name
from markscheme.read.foreign.assertions import (
    ItemIds,
    build_contains,
    build_criterion,
    build_documents,
    build_equals,
    escape_pattern,
)
from markscheme.read.foreign.imported import ImportedDocuments, Row
from markscheme.read.foreign.source import (
    ForeignRecord,
    ForeignSource,
    parse_json_source,
    parse_yaml_source,
)

_CONFIG_KEYS = {"description", "prompts", "tests", "defaultTest", "$schema"}
_TEST_KEYS = {"description", "vars", "assert", "metadata"}
_ASSERT_KEYS = {"type", "value", "weight", "metric"}
_MEASUREMENTS = {"latency", "cost", "perplexity", "perplexity-score"}
_GRADED = {"llm-rubric", "g-eval", "factuality", "model-graded-closedqa", "model-graded-factuality"}
_PLACEHOLDER = re.compile(r"\{\{-?\s*([A-Za-z_][\w.]*)\s*-?\}\}")
_UNUSABLE_REGEX = re.compile(r"\(\?[=!<]|\\[1-9]")
_CODE_LIMIT = 2_000
_FILE_PREFIX = "file://"


def is_promptfoo_config(root: Any) -> bool:
    """Return whether a document is a configuration of promptfoo."""
    return isinstance(root, dict) and {"prompts", "tests"} <= root.keys()


def parse_promptfoo(data: bytes, file: str) -> ImportedDocuments:
    """Return the documents of a configuration, which messages call `file`.

    Raises:
        InputError: with every mistake of the file.
    """
    is_json = PurePath(file).suffix.lower() == ".json"
    source = parse_json_source(data, file) if is_json else parse_yaml_source(data, file)
    if not is_promptfoo_config(source.root):
        source.add_problem((), "is no configuration of promptfoo: it needs `prompts` and `tests`")
        source.raise_problems()
    config = ForeignRecord(source, (), source.root)
    name = make_name(str(config.fields.get("description") or PurePath(file).stem), "promptfoo")
    return build_documents(source, name, list(_ConfigReader(config).iter_items()))


class _ConfigReader:
    """Turns the tests of one configuration into items."""

    def __init__(self, config: ForeignRecord) -> None:
        self._source: ForeignSource = config.source
        config.check_keys(_CONFIG_KEYS | {"providers"})
        if config.has("providers"):
            config.add_remark("providers", "models are asked with `markscheme run -s`: left out")
        self._template = self._read_prompt(config)
        default = config.get_record("defaultTest") if config.has("defaultTest") else None
        self._default = default
        self._tests = config.get_records("tests")
        self._ids = ItemIds()

    def _read_prompt(self, config: ForeignRecord) -> str:
        prompts = config.get_list("prompts")
        if len(prompts) > 1:
            config.add_remark("prompts", "the exam asks the first prompt; the others are left out")
        first = prompts[0] if prompts else None
        text = first.get("raw") if isinstance(first, dict) else first
        if not isinstance(text, str) or not text.strip():
            config.add_problem("prompts", "the first prompt must be a text")
            return ""
        self._refuse_file(("prompts", 0), text)
        return text

    def _refuse_file(self, path: tuple[str | int, ...], value: Any) -> None:
        if isinstance(value, str) and value.startswith(_FILE_PREFIX):
            self._source.add_problem(path, "files are not followed; write its content here")

    def iter_items(self) -> Iterator[Row]:
        """Yield the item of each test."""
        for number, test in enumerate(self._tests, start=1):
            test.check_keys(_TEST_KEYS)
            metadata = test.fields.get("metadata")
            metadata = metadata if isinstance(metadata, dict) else {}
            criteria = [*self._iter_criteria(test)]
            if not criteria:
                test.add_problem("assert", "is empty; an item needs at least one assertion")
            candidates = (metadata.get("item"), metadata.get("id"), test.fields.get("description"))
            tags = {
                make_name(str(key), "tag"): str(value)
                for key, value in metadata.items()
                if key not in {"item", "id"} and isinstance(value, str | int | Decimal)
            }
            yield {
                "id": self._ids.choose(candidates, f"test-{number}"),
                "prompt": self._render_prompt(test),
                "criteria": criteria,
                **({"tags": tags} if tags else {}),
            }

    def _render_prompt(self, test: ForeignRecord) -> str:
        values: dict[str, Any] = {}
        for record in filter(None, (self._default, test)):
            stated = record.fields.get("vars")
            if stated is not None and not isinstance(stated, dict):
                record.add_problem("vars", "must be an object of texts")
            values |= stated if isinstance(stated, dict) else {}
        for key, value in values.items():
            self._refuse_file((*test.path, "vars", key), value)
            if isinstance(value, list | dict):
                message = "a list makes several tests; write each of them"
                self._source.add_problem((*test.path, "vars", key), message)

        def fill(match: re.Match[str]) -> str:
            if match[1] not in values:
                test.add_problem("vars", f"`{match[1]}` of the prompt has no value")
            return str(values.get(match[1], ""))

        text = _PLACEHOLDER.sub(fill, self._template)
        if "{%" in self._template or "{{" in _PLACEHOLDER.sub("", self._template):
            self._source.add_problem(("prompts", 0), "only `{{name}}` is filled in a prompt")
        return text

    def _iter_criteria(self, test: ForeignRecord) -> Iterator[Row]:
        """Yield the criteria of a test: those of `defaultTest`, then its own."""
        number = 1
        for record in filter(None, (self._default, test)):
            if not record.has("assert"):
                continue
            for assertion in record.get_records("assert"):
                for criterion in self._read_assertion(assertion, number):
                    number += 1
                    yield criterion

    def _read_assertion(self, assertion: ForeignRecord, number: int) -> Iterator[Row]:
        kind = assertion.get_text("type")
        points: int | Decimal = 1
        if assertion.has("weight"):
            weight = assertion.get_number("weight")
            points = int(weight) if weight == int(weight) else weight
        if points == 0:
            assertion.add_remark("weight", "is 0, so the assertion counts nothing: left out")
            return
        if kind == "assert-set":
            inner = [
                criterion
                for place, record in enumerate(assertion.get_records("assert"), start=1)
                for criterion in self._read_assertion(record, number * 100 + place)
            ]
            assertion.check_keys({"type", "assert", "weight", "metric"})
            yield {"group": f"set-{number}", "points": points, "criteria": inner}
            return
        if kind in _MEASUREMENTS:
            message = "is a measurement: a gate of the rubric can limit it; left out"
            assertion.add_remark("type", message)
            return
        assertion.check_keys(_ASSERT_KEYS)
        value = assertion.fields.get("value")
        self._refuse_file((*assertion.path, "value"), value)
        check = _build_check(kind, value)
        if check is None and kind not in _GRADED:
            message = f"`{kind}` is decided by no axis: people or a judge mark the criterion"
            assertion.add_remark("type", message)
        metric = assertion.fields.get("metric")
        tags = {"metric": metric} if isinstance(metric, str) else {}
        yield build_criterion(number, points, check, _describe(kind, value), tags)


def _describe(kind: str, value: Any) -> str:
    """Return an assertion in words, for those who mark it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = text[:_CODE_LIMIT]
    return text if kind in _GRADED and text.strip() else f"promptfoo `{kind}`: {text}"


def _build_check(kind: str, value: Any) -> Row | None:
    """Return the check that decides as the assertion does, or None if no axis can."""
    ignores_case = kind.startswith("icontains")
    match kind.removeprefix("i"):
        case "contains":
            return build_contains([value], ignores_case=ignores_case, needs_all=True)
        case "contains-all" | "contains-any":
            texts = value if isinstance(value, list) else []
            return build_contains(texts, ignores_case=ignores_case, needs_all=kind.endswith("all"))
    match kind:
        case "equals":
            return build_equals(value)
        case "starts-with" if isinstance(value, str) and value:
            return {"kind": "pattern", "pattern": f"^{escape_pattern(value)}"}
        case "regex" if isinstance(value, str) and not _UNUSABLE_REGEX.search(value):
            return {"kind": "pattern", "pattern": value}
        case "is-json" if isinstance(value, Mapping):
            return {"kind": "json_schema", "schema": value}
        case _:
            return None
