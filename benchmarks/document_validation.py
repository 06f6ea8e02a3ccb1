"""The figure behind docs/decisions/0023: CPU of validating a document, own models or pydantic.

python benchmarks/document_validation.py

Each row is a new process that parses the built-in exam `capstone` and validates it, with the models
of `markscheme.read.documents` or with the same models in pydantic (a dependency for development
only). The least CPU time of several processes counts.
"""

from __future__ import annotations

import os
import subprocess
import sys

ROUNDS = 15
PARSE = """
from markscheme.read.documents import BUILTIN_DIR, read_tree
tree = read_tree(BUILTIN_DIR / "exams" / "capstone.yaml", "capstone.yaml")
"""
OWN = """
from typing import Annotated
from markscheme.read.documents import Constraints, ItemModel, Model, Name, Text, validate_model
class Exam(Model):
    exam: Name
    title: Text = ""
    items: Annotated[list[ItemModel], Constraints(shortest=1)]
validate_model(Exam, tree)
"""
PYDANTIC = """
from decimal import Decimal
from typing import Annotated
from pydantic import BaseModel, ConfigDict, Field
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=200)]
Text = Annotated[str, Field(max_length=100_000)]
class Item(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    id: Name
    prompt: Annotated[Text, Field(min_length=1)]
    tags: dict[Name, str | bool | int | Decimal] = {}
class Exam(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    exam: Name
    title: Text = ""
    items: Annotated[list[Item], Field(min_length=1)]
Exam.model_validate(dict(tree))
"""


def measure_cpu(program: str) -> float:
    """Return the least CPU milliseconds of a Python process that runs a program."""
    times = []
    for _ in range(ROUNDS):
        process = subprocess.Popen([sys.executable, "-c", program])
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"a process failed with exit code {process.returncode}")
        times.append(usage.ru_utime + usage.ru_stime)
    return min(times) * 1000


def main() -> None:
    """Print the CPU time of a whole process for each way, and their ratio."""
    own, pydantic = (measure_cpu(PARSE + program) for program in (OWN, PYDANTIC))
    print(f"parse and validate an exam with our models: {own:6.1f} ms CPU")
    print(f"parse and validate it with pydantic:        {pydantic:6.1f} ms CPU")
    print(f"pydantic takes {pydantic / own:.1f} x the CPU, {pydantic - own:.0f} ms more")


if __name__ == "__main__":
    main()
