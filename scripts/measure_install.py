"""Install markscheme into a fresh virtual environment, and print its size by package.

python scripts/measure_install.py [--extra NAME …] [--most 12]

The size is that of the files of each package, without pip's own; compiled bytecode counts, because
pip writes it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).parent.parent
_MEGABYTE = 1e6


def install_package(folder: Path, extras: list[str]) -> Path:
    """Install this repository with its extras into a new environment; return its site-packages."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)  # noqa: S603 - ours
    wanted = f"{ROOT}[{','.join(extras)}]" if extras else str(ROOT)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", wanted], check=True)  # noqa: S603 - ours
    return next((folder / "lib").glob("python*/site-packages"))


def measure_packages(site: Path) -> Counter[str]:
    """Return the bytes of every installed package but pip and setuptools."""
    sizes: Counter[str] = Counter()
    for package in distributions(path=[str(site)]):
        if package.name not in {"pip", "setuptools"}:
            paths = {Path(str(package.locate_file(file))) for file in package.files or ()}
            sizes[package.name] = sum(path.stat().st_size for path in paths if path.is_file())
    return sizes


def main() -> None:
    """Install, measure, and print the largest packages and the sum."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--extra", action="append", default=[], metavar="NAME")
    parser.add_argument("--most", type=int, default=12)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sizes = measure_packages(install_package(Path(folder) / "venv", options.extra))
    print("| package | MB |\n|---|--:|")
    for name, size in sizes.most_common(options.most):
        print(f"| {name} | {size / _MEGABYTE:.1f} |")
    print(f"| **all {len(sizes)}** | **{sum(sizes.values()) / _MEGABYTE:.1f}** |")


if __name__ == "__main__":
    main()
