"""Write the JSON Schemas of the formats of all documents; `--check` only compares.

Run with `make schemas`. A test runs `--check`, so the shipped schemas are always current.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from markscheme.workflows.documents import build_json_schemas

FOLDER = Path(__file__).parent.parent / "src" / "markscheme" / "builtin" / "schemas"


def main() -> int:
    """Write or check both files; return the exit code."""
    stale = 0
    for name, schema in build_json_schemas().items():
        path = FOLDER / f"{name}.schema.json"
        text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            print(f"{path.name} is not what the models say; run `make schemas`")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
