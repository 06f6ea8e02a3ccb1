"""Read rubrics, test cases and graded answers of other tools, as our own documents.

Each module turns the bytes of one tool's file into `ImportedDocuments`: a rubric, an exam, answers
and ratings as plain data. Nothing is dropped in silence: what our documents cannot express is
refused with its file, line and field, or named in a remark. Nothing here writes a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from markscheme.read.documents import decode_document, parse_yaml_value
from markscheme.read.foreign.autorubric import parse_autorubric
from markscheme.read.foreign.healthbench import parse_healthbench
from markscheme.read.foreign.imported import ImportedDocuments
from markscheme.read.foreign.paperbench import parse_paperbench
from markscheme.read.foreign.promptfoo import is_promptfoo_config, parse_promptfoo
from markscheme.read.foreign.pydantic_evals import is_pydantic_dataset, parse_pydantic_evals

FOREIGN_PARSERS: Mapping[str, Callable[[bytes, str], ImportedDocuments]] = {
    "healthbench": parse_healthbench,
    "paperbench": parse_paperbench,
    "autorubric": parse_autorubric,
    "promptfoo": parse_promptfoo,
    "pydantic-evals": parse_pydantic_evals,
}
"""The parser of each tool's files, by the name of the tool."""


def recognise_test_cases(data: bytes, file: str) -> str | None:
    """Return the tool whose test cases a YAML or JSON document holds, or None if it is neither."""
    root, _ = parse_yaml_value(decode_document(data, file), file)
    if is_promptfoo_config(root):
        return "promptfoo"
    return "pydantic-evals" if is_pydantic_dataset(root) else None


__all__ = ["FOREIGN_PARSERS", "ImportedDocuments", "recognise_test_cases"]
