"""The same job by every contestant: recorded answers, four axes, every breakdown, the mean.

    python benchmarks/peers/run.py --answers 10000 --work FOLDER

makes the peers' environments below FOLDER (by package name, in the versions below), writes the
data from its seed, and runs every contestant twice with ten answers (its start-up) and once with
all. A result that differs from the oracle in any cell is reported as wrong, and its time does not
count. CPU is user and system time of the whole process tree; nothing is subtracted.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from environments import (
    AUTORUBRIC,
    DEEPEVAL,
    INSPECT_AI,
    LM_EVAL,
    PROMPTFOO,
    PYDANTIC_EVALS,
    Environment,
    Installed,
    NotInstalledError,
    installed,
    silent_home,
)
from measure import FailedError, Oracle, Usage, floor, oracle, used
from ruamel.yaml import YAML
from table import FLOOR, OWN, Row, drawn, with_ratios

import markscheme

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

import documents  # noqa: E402 - beside the other benchmarks

FEW = 10

_BY_SCRIPT = ("{python}", "{script}", "{way}", "{exam}", "{answers}", "{folder}")
_BY_COMMAND = (
    *("{python}", "-m", "markscheme", "score", "--rubric", "tutor-capstone"),
    *("--exam", "{exam_yaml}", "--answers", "{answers}"),
    *("--output", "{folder}/breakdown.parquet"),
)


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """Who does the job, in which way, and where; without an environment, in this one."""

    name: str
    script: str
    way: str = ""
    environment: Environment | None = None
    command: tuple[str, ...] = _BY_SCRIPT
    accepted: tuple[int, ...] = (0,)

    @property
    def title(self) -> str:
        """Return the name with the way, where there is one to tell apart."""
        return f"{self.name} ({self.way})" if self.way else self.name

    @property
    def version(self) -> str:
        """Return the version that is measured."""
        if self.environment is None:
            return markscheme.__version__ if self.name == OWN else platform.python_version()
        return self.environment.version


CONTESTANTS = (
    Contestant(name=OWN, script="with_markscheme.py", command=_BY_COMMAND, accepted=(0, 4)),
    Contestant(name="plain Python", script="with_plain_python.py", way="loop"),
    Contestant(
        name="pydantic-evals",
        script="with_pydantic_evals.py",
        way="evaluate",
        environment=PYDANTIC_EVALS,
    ),
    Contestant(name="lm-eval", script="with_lm_eval.py", way="evaluate", environment=LM_EVAL),
    Contestant(name="autorubric", script="with_autorubric.py", way="grade", environment=AUTORUBRIC),
    Contestant(
        name="autorubric", script="with_autorubric.py", way="evaluate", environment=AUTORUBRIC
    ),
    Contestant(name="deepeval", script="with_deepeval.py", way="evaluate", environment=DEEPEVAL),
    Contestant(name="promptfoo", script="with_promptfoo.py", way="eval", environment=PROMPTFOO),
    Contestant(name="inspect_ai", script="with_inspect_ai.py", way="score", environment=INSPECT_AI),
    Contestant(name="inspect_ai", script="with_inspect_ai.py", way="eval", environment=INSPECT_AI),
)


@dataclass(frozen=True, kw_only=True)
class Job:
    """The exam in two notations and so many answers, with what must come out."""

    exam_yaml: Path
    exam: Path
    answers: Path
    count: int
    oracle: Oracle


def job(count: int, work: Path) -> Job:
    """Write the data of so many answers, the exam also as JSON, and judge it for the oracle."""
    folder = work / "data"
    command = [sys.executable, str(HERE.parent / "traffic.py"), str(count), str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    exam_yaml, exam = folder / "exam.yaml", folder / "exam.json"
    document = YAML(typ="safe").load(exam_yaml)
    exam.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    answers = folder / f"answers-{count}-varied.jsonl"
    return Job(
        exam_yaml=exam_yaml,
        exam=exam,
        answers=answers,
        count=count,
        oracle=oracle(exam, answers),
    )


def done(contestant: Contestant, python: Path, task: Job, work: Path, patience: float) -> Usage:
    """Let a contestant do a job in an empty folder; return what it used if its result is right.

    Raises:
        FailedError: it did not finish, or its result is wrong.
    """
    folder = work / "results" / f"{contestant.title} {task.count}".replace(" ", "-")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    script, environment = (
        str(HERE / contestant.script),
        silent_home(work, foreign=contestant.environment is not None),
    )
    command = [
        part.format(
            python=python,
            script=script,
            way=contestant.way,
            exam=task.exam,
            exam_yaml=task.exam_yaml,
            answers=task.answers,
            folder=folder,
        )
        for part in contestant.command
    ]
    usage = used(command, folder, environment, patience, contestant.accepted)
    file = folder.parent / f"{folder.name}.json"
    reader = folder / "reader"
    reader.mkdir()
    used([str(python), script, "result", str(folder), str(file)], reader, environment, patience)
    task.oracle.check(file)
    return usage


def row(contestant: Contestant, few: Job, many: Job, work: Path, patience: float) -> Row:
    """Install and run a contestant; whatever goes wrong becomes the status of its row."""
    try:
        place = Installed(python=Path(sys.executable))
        if contestant.environment is not None:
            place = installed(contestant.environment, work)
        starts = [done(contestant, place.python, few, work, patience) for _ in range(2)]
        usage = done(contestant, place.python, many, work, patience)
    except NotInstalledError as error:
        return _without_figures(contestant, f"not installed: {error}")
    except FailedError as error:
        return _without_figures(contestant, str(error))
    return Row(
        peer=contestant.title,
        version=contestant.version,
        status="right",
        answers=many.count,
        cpu_s=round(usage.cpu, 3),
        wall_s=round(usage.wall, 3),
        peak_mb=round(usage.peak_mb),
        startup_cpu_s=round(min(start.cpu for start in starts), 3),
        us_per_answer=round(usage.cpu / many.count * 1e6, 1),
        install_mb=place.megabytes or None,
        install_s=place.seconds or None,
    )


def _without_figures(contestant: Contestant, status: str) -> Row:
    return Row(peer=contestant.title, version=contestant.version, status=status)


def floor_row(task: Job) -> Row:
    """Return the floor as a line of the table."""
    seconds = floor(task.answers)
    return Row(
        peer=FLOOR,
        version=version("orjson"),
        status="right",
        answers=task.count,
        cpu_s=round(seconds, 4),
        us_per_answer=seconds / task.count * 1e6,
    )


def table(arguments: argparse.Namespace) -> list[Row]:
    """Run everybody who was asked for, markscheme always; tell who is at work on stderr."""
    work = arguments.work.resolve()
    few = job(FEW, work)
    many = job(arguments.answers, work)
    rows = [floor_row(many)]
    for contestant in CONTESTANTS:
        if arguments.only and contestant.name not in {*arguments.only, OWN}:
            continue
        print(f"{contestant.title} …", file=sys.stderr, flush=True)
        count = dict(arguments.fewer).get(contestant.name)
        task = job(count, work) if count else many
        rows.append(row(contestant, few, task, work, arguments.timeout))
    return with_ratios(rows)


def _fewer(text: str) -> tuple[str, int]:
    name, _, count = text.partition("=")
    return name, int(count)


def parsed() -> argparse.Namespace:
    """Return the arguments of the command line."""
    names = sorted({contestant.name for contestant in CONTESTANTS})
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--answers", type=int, default=10_000, help="how many (default 10000)")
    parser.add_argument("--work", type=Path, required=True, help="folder for all that is made")
    parser.add_argument("--only", action="append", choices=names, help="this peer; repeatable")
    parser.add_argument(
        "--fewer",
        action="append",
        type=_fewer,
        default=[],
        metavar="NAME=COUNT",
        help="so many answers for a slow peer; repeatable",
    )
    parser.add_argument("--timeout", type=float, default=300, help="seconds each (default 300)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows as JSON")
    parser.add_argument("--document", type=Path, help="write the table between its marks there")
    return parser.parse_args()


if __name__ == "__main__":
    given = parsed()
    finished = table(given)
    print(drawn(finished))
    if given.json:
        text = json.dumps([asdict(entry) for entry in finished], indent=2, ensure_ascii=False)
        given.json.write_text(text + "\n", encoding="utf-8")
    if given.document:
        documents.write(given.document, "peers", drawn(finished))
