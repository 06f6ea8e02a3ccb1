"""Score the same answers as tables of pandas, pyarrow, DuckDB and datasets, and compare.

python scripts/try_tables.py FOLDER

Installs the four libraries and this repository into an environment in FOLDER, which a second call
uses again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
_PROGRAM = """\
import datasets, duckdb, pandas, pyarrow
import markscheme

rows = [
    {"item": "e-39-01", "output": "He ate. Comió.", "latency_ms": 2.5},
    {"item": "e-39-02", "output": "no", "latency_ms": None},
]
rubric = markscheme.load_rubric("tutor-capstone")
exam = markscheme.load_exam("capstone", rubric=rubric)
expected = markscheme.score(rubric, exam, rows).to_dict()
frame = pandas.DataFrame(rows)
tables = {
    "pandas": frame,
    "pandas, categories": frame.astype({"item": "category"}),
    "pyarrow": pyarrow.Table.from_pylist(rows),
    "duckdb": duckdb.sql("SELECT * FROM frame").to_arrow_table(),
    "datasets": datasets.Dataset.from_list(rows),
}
failed = False
for name, table in tables.items():
    same = markscheme.score(rubric, exam, table).to_dict() == expected
    failed |= not same
    print(f"{name}: {'the same' if same else 'ANOTHER RESULT'}")
# pandas does not hand over its index.
refused = {"renamed": frame.rename(columns={"item": "id"}), "index": frame.set_index("item")}
for name, table in refused.items():
    try:
        markscheme.score(rubric, exam, table)
        failed = True
    except markscheme.UsageError as error:
        print(f"{name}: {error}")
raise SystemExit(failed)
"""


def main() -> int:
    """Install, score, and return 1 if any result differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / "environment" / "bin" / "python"
    if not python.exists():
        environment = str(folder / "environment")
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)  # noqa: S603
    libraries = ["pandas", "pyarrow", "duckdb", "datasets", str(ROOT)]
    pip = [str(python), "-m", "pip", "install", "--quiet", *libraries]
    subprocess.run(pip, check=True)  # noqa: S603 - our own words
    return subprocess.run([str(python), "-c", _PROGRAM], cwd=folder, check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
