"""Compiles `scan.c` when the package is built: into the wheel, or in place for an editable install.

The compiler is a package of the registries (`ziglang`), since a machine need not have one, and it
compiles for every platform: `MARKSCHEME_PLATFORM=windows-amd64` builds the wheel of another one
(`scripts/build_wheels.py` builds all). The library uses no C library, so one for Linux runs on
glibc and on musl. Without a compiler everything works, and reads large files more slowly; so a
build goes on without.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "src/markscheme/read/answers/fast"
PLATFORM_VARIABLE = "MARKSCHEME_PLATFORM"
FLAGS = ("-shared", "-O3", "-s", "-mcpu=baseline", "-ffreestanding", "-nostdlib")
# Windows code has no separate form for shared libraries, and a DLL needs no entry point here.
WINDOWS_FLAGS = ("-Wl,--no-entry",)
OTHER_FLAGS = ("-fPIC",)


class Platform(NamedTuple):
    """What the compiler calls a platform, and what the tag of a wheel calls it."""

    target: str
    tag: str


PLATFORMS = {
    "linux-x86_64": Platform(
        "x86_64-linux-gnu", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"
    ),
    "linux-aarch64": Platform(
        "aarch64-linux-gnu", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"
    ),
    "darwin-x86_64": Platform("x86_64-macos.13.0", "macosx_13_0_x86_64"),
    "darwin-arm64": Platform("aarch64-macos.13.0", "macosx_13_0_arm64"),
    "windows-amd64": Platform("x86_64-windows-gnu", "win_amd64"),
    "windows-arm64": Platform("aarch64-windows-gnu", "win_arm64"),
}
"""The platforms with a wheel, by the names that Python gives to a system and its machine."""


class ScannerBuild(BuildHookInterface[Any]):
    """Puts `_scan.so`, so named everywhere, beside the module that loads it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, before the files of the package are collected."""
        del version
        chosen = _choose_platform()
        folder = Path(self.root, FOLDER)
        library = folder / "_scan.so"
        if PLATFORM_VARIABLE in os.environ:
            # The library in place stays that of this machine.
            self._temporary = tempfile.TemporaryDirectory()
            library = Path(self._temporary.name, library.name)
        library.unlink(missing_ok=True)
        try:
            _compile(folder / "scan.c", library, chosen)
        except (OSError, subprocess.CalledProcessError) as error:
            if PLATFORM_VARIABLE in os.environ:
                raise
            self.app.display_warning(f"the scanner was not compiled: {error}")
            return
        tag = chosen.tag if chosen else sysconfig.get_platform()
        tag = tag.replace("-", "_") if chosen else tag.replace("-", "_").replace(".", "_")
        build_data.update(pure_python=False, tag=f"py3-none-{tag}")
        packed = f"{FOLDER.removeprefix('src/')}/{library.name}"
        build_data["force_include"][str(library)] = packed


def _choose_platform() -> Platform | None:
    """Return the platform that is asked for, or that of this machine, which may have no wheel."""
    stated = os.environ.get(PLATFORM_VARIABLE)
    if stated is not None and stated not in PLATFORMS:
        raise ValueError(f"{PLATFORM_VARIABLE} is one of {', '.join(PLATFORMS)}, not {stated}")
    return PLATFORMS.get(stated or f"{platform.system()}-{platform.machine()}".lower())


def _compile(source: Path, library: Path, chosen: Platform | None) -> None:
    target = ("-target", chosen.target) if chosen else ()
    is_windows = "windows" in chosen.target if chosen else sys.platform == "win32"
    flags = (*FLAGS, *(WINDOWS_FLAGS if is_windows else OTHER_FLAGS), *target)
    with tempfile.TemporaryDirectory() as cache:
        caches = {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
        command = [sys.executable, "-m", "ziglang", "cc", *flags, str(source), "-o", str(library)]
        subprocess.run(command, check=True, env=os.environ | caches)  # noqa: S603 - our own words
    # The linker for Windows leaves an import library, and debug symbols, beside the library.
    for suffix in (".lib", ".pdb"):
        library.with_suffix(suffix).unlink(missing_ok=True)
