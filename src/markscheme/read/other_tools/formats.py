"""Answers in the result files of promptfoo, lm-eval, deepeval, pydantic-evals, OpenAI and Inspect.

Each tool has one function that says whether a document is its own, and one that yields its answers.
Scores and verdicts of the tool are left alone: our rubric marks the answers anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from markscheme.read.answers import get_suffix
from markscheme.read.documents import make_name
from markscheme.read.json_fields import JsonObject, iter_objects, to_object, to_text
from markscheme.read.other_tools.place import ToolAnswer
from markscheme.read.other_tools.unpack import build_file_error, iter_json_lines, read_unpacked
from markscheme.vocabulary import AnswersError

_LINE_SUFFIXES = (".jsonl", ".ndjson")
_TOOLS = "promptfoo, lm-eval, deepeval, pydantic-evals, OpenAI batches or Inspect"
_ITEM_KEYS = ("item", "id", "item_id")


def is_tool_record(record: JsonObject) -> bool:
    """Return whether the first line of a file is one of a tool."""
    return _find_line_reader(record) is not None


def read_tool_answers(source: str | Path) -> Iterator[ToolAnswer]:
    """Yield the answers of a file that another tool wrote.

    Raises:
        AnswersError: the file cannot be read, or is of no tool that is known.
    """
    path = Path(source)
    if not path.is_file():
        raise build_file_error(path, "there is no such file")
    suffix = get_suffix(path)
    if suffix == ".eval":
        yield from _read_inspect_archive(path)
        return
    data = read_unpacked(path)
    if suffix in _LINE_SUFFIXES:
        records = list(_parse_lines(data, path))
        read_lines = _find_line_reader(records[0]) if records else None
        if read_lines is None:
            raise build_file_error(path, f"these are no results of {_TOOLS}")
        yield from read_lines(records)
        return
    document = _parse_document(data, path)
    for is_own, read in _DOCUMENT_READERS:
        if is_own(document):
            yield from read(document)
            return
    message = f"these are no results of {_TOOLS}; --map item=PATH --map output=PATH reads others"
    raise build_file_error(path, message)


def _parse_document(data: bytes, path: Path) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:
        raise build_file_error(path, f"not JSON: {error}", getattr(error, "lineno", 1)) from None
    except RecursionError:
        raise build_file_error(path, "nested too deep") from None


def _parse_lines(data: bytes, path: Path) -> Iterator[JsonObject]:
    for number, record in iter_json_lines(data, path):
        if not isinstance(record, dict):
            raise build_file_error(path, "each line must be an object", number)
        yield record


def to_output(value: Any) -> Any:
    """Return an output as answers hold it: text and objects as they are, other values as JSON."""
    return value if value is None or isinstance(value, str | dict) else json.dumps(value)


def find_names(*sources: Any) -> tuple[str, ...]:
    """Return the texts and whole numbers that objects hold under `item` or `id`."""
    values = [to_object(source).get(key) for source in sources for key in _ITEM_KEYS]
    return tuple(str(value) for value in values if type(value) in {str, int} and value != "")


def _to_count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _to_number(value: Any, factor: int = 1) -> float | None:
    return value * factor if type(value) in {int, float} and value >= 0 else None


# promptfoo


def _is_promptfoo(document: Any) -> bool:
    results = to_object(to_object(document).get("results"))
    return isinstance(results.get("results"), list) and "evalId" in document


def _read_promptfoo(document: JsonObject) -> Iterator[ToolAnswer]:
    return _read_promptfoo_results(document["results"]["results"])


def _is_promptfoo_line(record: JsonObject) -> bool:
    return {"promptIdx", "testIdx", "testCase", "provider"} <= record.keys()


def _read_promptfoo_results(results: Iterable[Any]) -> Iterator[ToolAnswer]:
    """Yield one answer for each result; promptfoo varies providers and prompts, so both name it."""
    records = sorted(map(to_object, results), key=_get_promptfoo_order)
    has_prompts = len({record.get("promptId") for record in records}) > 1
    for record in records:
        test, response = to_object(record.get("testCase")), to_object(record.get("response"))
        variables = to_object(record.get("vars"))
        usage = to_object(record.get("tokenUsage"))
        description = to_text(test.get("description"))
        number = record.get("testIdx")
        failed = to_text(response.get("error")) or (
            to_text(record.get("error")) if record.get("failureReason") == 2 else None  # noqa: PLR2004
        )
        output = to_output(response.get("output"))
        yield ToolAnswer(
            names=(
                *find_names(test.get("metadata"), variables),
                *([description, make_name(description, "-")] if description else []),
                *([f"test-{number + 1}"] if type(number) is int else []),
            ),
            prompt=to_text(to_object(record.get("prompt")).get("raw")) or "",
            output=output,
            refusal=f"promptfoo recorded an error: {failed}"
            if failed
            else "promptfoo recorded no output"
            if output is None
            else "",
            subject=_name_promptfoo_subject(record, has_prompts=has_prompts),
            latency_ms=_to_number(record.get("latencyMs")),
            tokens_in=_to_count(usage.get("prompt")),
            tokens_out=_to_count(usage.get("completion")),
            cost=_to_number(record.get("cost")),
        )


def _get_promptfoo_order(record: JsonObject) -> tuple[int, int]:
    """Return a key for sorting: promptfoo writes results in the order in which they ended."""
    return tuple(_to_count(record.get(key)) or 0 for key in ("testIdx", "promptIdx"))  # type: ignore[return-value]


def _name_promptfoo_subject(record: JsonObject, *, has_prompts: bool) -> str | None:
    provider = to_object(record.get("provider"))
    name = to_text(provider.get("label")) or to_text(provider.get("id"))
    prompt = to_object(record.get("prompt"))
    label = to_text(prompt.get("label")) or ""
    if not has_prompts:
        return name
    number = (_to_count(record.get("promptIdx")) or 0) + 1
    is_named = label and label != to_text(prompt.get("raw")) and "{{" not in label
    return f"{name} {label if is_named else f'prompt-{number}'}"


# lm-evaluation-harness


def _is_lm_eval_line(record: JsonObject) -> bool:
    return {"doc_id", "doc", "resps", "arguments"} <= record.keys()


def _read_lm_eval(records: list[JsonObject]) -> Iterator[ToolAnswer]:
    """Yield each generated text; repeats are attempts. Other filters hold the same responses."""
    filters = {to_text(record.get("filter")) for record in records}
    first = next(iter(sorted(filters, key=str)), None)
    for record in records:
        if to_text(record.get("filter")) != first:
            continue
        arguments = to_object(to_object(record.get("arguments")).get("gen_args_0"))
        names = (*find_names(record.get("doc")), str(record.get("doc_id")))
        prompt = to_text(arguments.get("arg_0")) or ""
        responses = record.get("resps")
        texts = responses[0] if isinstance(responses, list) and len(responses) == 1 else None
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            refusal = "lm-eval recorded likelihoods, no generated text"
            yield ToolAnswer(names=names, prompt=prompt, refusal=refusal)
            continue
        for number, text in enumerate(texts, start=1):
            yield ToolAnswer(names=names, prompt=prompt, output=text, attempt=number)


# deepeval


def _is_deepeval(document: Any) -> bool:
    document = to_object(document)
    return isinstance(document.get("testCases"), list) and "metricsScores" in document


def _read_deepeval(document: JsonObject) -> Iterator[ToolAnswer]:
    for case in iter_objects(document["testCases"]):
        name = to_text(case.get("name"))
        output = to_output(case.get("actualOutput"))
        yield ToolAnswer(
            names=(*find_names(case.get("additionalMetadata")), *([name] if name else [])),
            prompt=to_text(case.get("input")) or "",
            output=output,
            refusal="deepeval recorded no output" if output is None else "",
            latency_ms=_to_number(case.get("completionTime"), 1000),
            cost=_to_number(case.get("tokenCost")),
        )
    for case in iter_objects(document.get("conversationalTestCases")):
        name = to_text(case.get("name")) or "?"
        yield ToolAnswer(names=(name,), refusal="a conversation is no single answer")


# pydantic-evals


def _is_pydantic_report(document: Any) -> bool:
    cases = to_object(document).get("cases")
    return (
        isinstance(cases, list)
        and isinstance(document.get("failures"), list)
        and all({"inputs", "output", "assertions"} <= to_object(case).keys() for case in cases)
    )


def _read_pydantic_report(document: JsonObject) -> Iterator[ToolAnswer]:
    for case in (*iter_objects(document["cases"]), *iter_objects(document["failures"])):
        names = (case.get("source_case_name"), case.get("name"))
        metrics = to_object(case.get("metrics"))
        error = to_text(case.get("error_message"))
        output = to_output(case.get("output"))
        missing = "pydantic-evals recorded no output" if output is None else ""
        yield ToolAnswer(
            names=(*find_names(case.get("metadata")), *filter(None, map(to_text, names))),
            prompt=to_text(case.get("inputs")) or "",
            output=output,
            refusal=f"the task failed: {error}" if error else missing,
            latency_ms=_to_number(case.get("task_duration"), 1000),
            tokens_in=_to_count(metrics.get("input_tokens")),
            tokens_out=_to_count(metrics.get("output_tokens")),
            cost=_to_number(metrics.get("cost")),
        )


# OpenAI batch output


def _is_openai_batch_line(record: JsonObject) -> bool:
    return {"custom_id", "response", "error"} <= record.keys()


def _read_openai_batch(records: list[JsonObject]) -> Iterator[ToolAnswer]:
    """Yield each choice. Ids are unique in a batch, so `ITEM#2` is a second attempt at an item."""
    for record in records:
        custom_id = to_text(record.get("custom_id")) or ""
        item, mark, number = custom_id.rpartition("#")
        is_numbered = bool(mark) and number.isascii() and number.isdecimal()
        names = (item,) if is_numbered else (custom_id,)
        response = to_object(record.get("response"))
        body = to_object(response.get("body"))
        fault = _find_openai_fault(record, response, body)
        if fault:
            yield ToolAnswer(names=names, refusal=fault)
            continue
        usage = to_object(body.get("usage"))
        texts = list(_iter_openai_texts(body))
        for text in texts or [None]:
            yield ToolAnswer(
                names=names,
                output=text,
                refusal="" if text is not None else "the response holds no text",
                subject=to_text(body.get("model")),
                attempt=int(number) if is_numbered and len(texts) <= 1 else None,
                tokens_in=_to_count(usage.get("prompt_tokens", usage.get("input_tokens"))),
                tokens_out=_to_count(usage.get("completion_tokens", usage.get("output_tokens"))),
            )


def _find_openai_fault(record: JsonObject, response: JsonObject, body: JsonObject) -> str:
    error = to_object(record.get("error")) or to_object(body.get("error"))
    status = response.get("status_code")
    if not error and status in {200, None} and body:
        return ""
    said = to_text(error.get("message")) or to_text(error.get("code")) or "no response"
    return f"the request failed with status {status}: {said}" if status else f"failed: {said}"


def _iter_openai_texts(body: JsonObject) -> Iterator[str | None]:
    """Yield the text of each choice of a chat completion, or that of a response."""
    for choice in iter_objects(body.get("choices")):
        message = to_object(choice.get("message"))
        yield to_text(message.get("content")) or to_text(message.get("refusal"))
    blocks = [
        block
        for output in iter_objects(body.get("output"))
        if output.get("type") == "message"
        for block in iter_objects(output.get("content"))
    ]
    if blocks:
        said = [to_text(block.get("text")) or to_text(block.get("refusal")) for block in blocks]
        yield "".join(text for text in said if text) or None


# Inspect


def _is_inspect(document: Any) -> bool:
    document = to_object(document)
    return isinstance(document.get("eval"), dict) and isinstance(document.get("samples"), list)


def _read_inspect(document: JsonObject) -> Iterator[ToolAnswer]:
    return _read_inspect_samples(document["eval"], iter_objects(document["samples"]))


def _read_inspect_archive(path: Path) -> Iterator[ToolAnswer]:
    from markscheme.read.unpacking import ZipArchive

    def build_error(message: str) -> AnswersError:
        return build_file_error(path, message)

    with ZipArchive(path, build_error) as archive:
        header = _parse_member(archive.read_text("header.json"))
        header = header or _parse_member(archive.read_text("_journal/start.json"))
        names = [name for name in archive.names if name.startswith("samples/")]
        if not names or not header:
            raise build_error("this is no log of Inspect with samples")
        samples = []
        for name in names:
            sample = _parse_member(archive.read_text(name))
            if not sample:
                raise build_error(f"{name} cannot be read")
            samples.append(sample)
    samples.sort(key=lambda sample: (sample.get("epoch", 0), str(sample.get("id"))))
    yield from _read_inspect_samples(to_object(header.get("eval")), samples)


def _parse_member(text: str | None) -> JsonObject:
    with suppress(ValueError, RecursionError):
        return to_object(json.loads(text or "null"))
    return {}


def _read_inspect_samples(
    evaluation: JsonObject, samples: Iterable[JsonObject]
) -> Iterator[ToolAnswer]:
    """Yield the completion of each sample; an epoch is an attempt."""
    for sample in samples:
        error = to_text(to_object(sample.get("error")).get("message"))
        output = to_object(sample.get("output"))
        text = to_text(output.get("completion"))
        usage = [to_object(one) for one in to_object(sample.get("model_usage")).values()]
        prompt = sample.get("input")
        yield ToolAnswer(
            names=find_names({"id": sample.get("id")}, sample.get("metadata")),
            prompt=_get_inspect_prompt(prompt),
            output=text,
            refusal=f"the sample failed: {error}"
            if error
            else "the sample has no completion"
            if text is None or not output.get("choices")
            else "",
            subject=to_text(evaluation.get("model")),
            attempt=_to_count(sample.get("epoch")),
            latency_ms=_to_number(sample.get("working_time"), 1000),
            tokens_in=sum(_to_count(one.get("input_tokens")) or 0 for one in usage) or None,
            tokens_out=sum(_to_count(one.get("output_tokens")) or 0 for one in usage) or None,
        )


def _get_inspect_prompt(prompt: Any) -> str:
    """Return what was asked: the text, or that of the last message of the user."""
    if isinstance(prompt, str):
        return prompt
    asked = [to_text(m.get("content")) for m in iter_objects(prompt) if m.get("role") == "user"]
    return asked[-1] or "" if asked else ""


_DOCUMENT_READERS: tuple[
    tuple[Callable[[Any], bool], Callable[[JsonObject], Iterator[ToolAnswer]]], ...
] = (
    (_is_promptfoo, _read_promptfoo),
    (_is_inspect, _read_inspect),
    (_is_deepeval, _read_deepeval),
    (_is_pydantic_report, _read_pydantic_report),
)
_LINE_READERS: tuple[
    tuple[Callable[[JsonObject], bool], Callable[[list[JsonObject]], Iterator[ToolAnswer]]], ...
] = (
    (_is_promptfoo_line, _read_promptfoo_results),
    (_is_lm_eval_line, _read_lm_eval),
    (_is_openai_batch_line, _read_openai_batch),
)


def _find_line_reader(
    record: JsonObject,
) -> Callable[[list[JsonObject]], Iterator[ToolAnswer]] | None:
    return next((read for is_own, read in _LINE_READERS if is_own(record)), None)
