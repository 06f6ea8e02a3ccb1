"""Read rubrics and graded answers of other tools: HealthBench, PaperBench and autorubric.

Each module turns the bytes of one tool's file into `ImportedDocuments`: a rubric, an exam, answers
and ratings as plain data. Nothing is dropped in silence: what our documents cannot express is
refused with its file, line and field, or named in a remark. Nothing here writes a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from markscheme.read.foreign.autorubric import parse_autorubric
from markscheme.read.foreign.healthbench import parse_healthbench
from markscheme.read.foreign.imported import ImportedDocuments
from markscheme.read.foreign.paperbench import parse_paperbench

FOREIGN_PARSERS: Mapping[str, Callable[[bytes, str], ImportedDocuments]] = {
    "healthbench": parse_healthbench,
    "paperbench": parse_paperbench,
    "autorubric": parse_autorubric,
}
"""The parser of each tool's files, by the name of the tool."""

__all__ = ["FOREIGN_PARSERS", "ImportedDocuments"]
