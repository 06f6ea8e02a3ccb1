"""Install markscheme under each Python from 3.11 to 3.14 that is here, and run a whole demo.

python scripts/try_pythons.py [3.11 3.12 …]

A version that is not installed is named and left out. Each gets an environment of its own, with the
core package only; the demo writes its report, and the report must have its charts.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14")


def try_version(python: str, folder: Path) -> str:
    """Return what the demo under a Python came to."""
    environment = folder / "environment"
    subprocess.run([python, "-m", "venv", str(environment)], check=True)  # noqa: S603 - ours
    own = environment / "bin"
    pip = [str(own / "python"), "-m", "pip", "install", "--quiet", str(ROOT)]
    subprocess.run(pip, check=True)  # noqa: S603 - our own words
    command = [str(own / "markscheme"), "demo", "--no-store", "--report", "report.html"]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)  # noqa: S603
    report = folder / "report.html"
    charts = report.read_text(encoding="utf-8").count("<svg") if report.exists() else 0
    verdict = "passed" if done.returncode == 0 and charts else "FAILED"
    return f"{verdict}: exit code {done.returncode}, {charts} charts\n{done.stderr}".rstrip()


def main() -> int:
    """Try each version; return 1 if any failed."""
    failed = False
    for version in sys.argv[1:] or VERSIONS:
        python = shutil.which(f"python{version}")
        if python is None:
            print(f"{version}: not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            told = try_version(python, Path(folder))
        failed = failed or not told.startswith("passed")
        print(f"{version}: {told}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
