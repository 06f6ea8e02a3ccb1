"""Compiles `scan.c` when the package is built: into the wheel, or in place for an editable install.

The compiler is a package of the registries (`ziglang`), since a machine need not have one. Without
a compiled scanner everything works, and reads large files more slowly; so a build goes on without.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "src/markscheme/read/answers/fast"
FLAGS = ("-shared", "-O3", "-fPIC", "-s", "-mcpu=baseline", "-ffreestanding", "-nostdlib")


class ScannerBuild(BuildHookInterface[Any]):
    """Puts `_scan.so`, so named everywhere, beside the module that loads it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, before the files of the package are collected."""
        del version
        folder = Path(self.root, FOLDER)
        library = folder / "_scan.so"
        library.unlink(missing_ok=True)
        try:
            _compile(folder / "scan.c", library)
        except (OSError, subprocess.CalledProcessError) as error:
            self.app.display_warning(f"the scanner was not compiled: {error}")
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data.update(pure_python=False, tag=f"py3-none-{platform}")
        build_data["artifacts"].append(f"{FOLDER}/{library.name}")


def _compile(source: Path, library: Path) -> None:
    with tempfile.TemporaryDirectory() as cache:
        caches = {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
        command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, str(source), "-o", str(library)]
        subprocess.run(command, check=True, env=os.environ | caches)  # noqa: S603 - our own words
