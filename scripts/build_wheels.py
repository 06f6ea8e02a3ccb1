"""Build the source archive and the wheels of all platforms, and say what is in them.

python scripts/build_wheels.py [--output DIR]

Installs `build` and `auditwheel` into a temporary environment. `auditwheel show` names the tag that
each wheel for Linux may have.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLATFORMS = (
    *("linux-x86_64", "linux-aarch64", "darwin-x86_64", "darwin-arm64"),
    *("windows-amd64", "windows-arm64"),
)
_BUILD_PACKAGES = ("auditwheel", "build", "hatchling>=1.27", "ziglang>=0.13")
_LIBRARY = "markscheme/read/answers/fast/_scan.so"
_FORMATS = {b"\x7fELF": "ELF", b"\xcf\xfa\xed\xfe": "Mach-O", b"MZ": "PE"}


def build_archives(python: str, output: Path) -> list[Path]:
    """Build the source archive, then a wheel for each platform from it."""
    build = [python, "-m", "build", "--no-isolation", "--outdir", str(output)]
    subprocess.run([*build, "--sdist", str(ROOT)], check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    for name in PLATFORMS:
        subprocess.run(  # noqa: S603 - our own words
            [*build, "--wheel", str(ROOT)],
            check=True,
            env={**os.environ, "MARKSCHEME_PLATFORM": name},
            stdout=subprocess.DEVNULL,
        )
    return sorted(output.glob("markscheme-*"))


def describe_library(wheel: Path) -> str:
    """Return the format and the size of the compiled library in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(_LIBRARY)
    kind = next((kind for magic, kind in _FORMATS.items() if data.startswith(magic)), "unknown")
    return f"{kind}, {len(data):,} bytes"


def main() -> None:
    """Build everything and print what was built."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("dist"))
    output = parser.parse_args().output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)  # noqa: S603
        python = str(Path(folder) / "bin" / "python")
        pip = [python, "-m", "pip", "install", "--quiet", *_BUILD_PACKAGES]
        subprocess.run(pip, check=True)  # noqa: S603 - our own words
        for path in build_archives(python, output):
            print(path.name, f"({path.stat().st_size / 1e6:.1f} MB)")
            if path.suffix == ".whl":
                print(f"  {describe_library(path)}")
            if "manylinux" in path.name:
                show = [python, "-m", "auditwheel", "show", str(path)]
                shown = subprocess.run(show, check=False, capture_output=True, text=True)  # noqa: S603
                print("\n".join(f"  {line}" for line in shown.stdout.splitlines() if line))


if __name__ == "__main__":
    main()
