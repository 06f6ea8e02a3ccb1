"""Check with pyright, strictly, that the types of the library are complete for its users.

python scripts/check_types.py

Installs pyright and this repository into a temporary virtual environment; pyright needs Node.js.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROGRAM = ROOT / "tests" / "library_use.py"


def main() -> int:
    """Install, check the program, and return pyright's exit code."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment, project = folder / "environment", folder / "project"
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)  # noqa: S603
        pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "pyright", str(ROOT)], check=True)  # noqa: S603 - our own words
        project.mkdir()
        (project / PROGRAM.name).write_text(PROGRAM.read_text("utf-8"), encoding="utf-8")
        settings = {"typeCheckingMode": "strict", "venvPath": str(folder), "venv": "environment"}
        (project / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
        pyright = str(environment / "bin" / "pyright")
        return subprocess.run([pyright], cwd=project, check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
