"""The JSON Schemas: they agree with the models, and the built-in documents conform to them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commands import here
from marked_answers import FULL, Desk


def test_the_shipped_json_schemas_are_what_the_models_say() -> None:
    script = Path(__file__).parent.parent / "scripts" / "build_schemas.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


ROOT = Path(__file__).parent.parent / "src" / "markscheme" / "builtin"


def validator(kind: str) -> Any:
    import jsonschema_rs  # noqa: PLC0415

    return jsonschema_rs.validator_for(
        json.loads((ROOT / "schemas" / f"{kind}.schema.json").read_text())
    )


@pytest.mark.parametrize("case", ["tutor", "every-axis", "context-agent"])
def test_results_conform_to_their_schema(case: str) -> None:
    golden = Path(__file__).parent / "golden" / case / "expected.json"
    validator("result").validate(json.loads(golden.read_text(encoding="utf-8")))


def test_a_result_without_all_marks_conforms_and_a_mean_over_survivors_does_not(
    tmp_path: Path,
) -> None:
    desk, store = Desk(tmp_path), tmp_path / "s.db"
    words = desk.words(desk.write_ratings(FULL[1:]))
    result = here(*words, "--store", store, "--format", "json").json
    validator("result").validate(result)
    validator("gate").validate(here("gate", "latest", "--store", store, "--format", "json").json)
    survivors = {**result["summary"], "score": 0.8}
    assert not validator("result").is_valid({**result, "summary": survivors})
    (first, *others) = result["items"]
    del first["bounds"]
    assert not validator("result").is_valid({**result, "items": [first, *others]})


def test_the_json_schemas_admit_the_built_in_documents_and_refuse_a_typo() -> None:
    import jsonschema_rs  # noqa: PLC0415
    from ruamel.yaml import YAML  # noqa: PLC0415

    root = Path(__file__).parent.parent / "src" / "markscheme" / "builtin"
    for kind in ("rubric", "exam"):
        schema = json.loads((root / "schemas" / f"{kind}.schema.json").read_text())
        validator = jsonschema_rs.validator_for(schema)
        paths = list((root / f"{kind}s").glob("*.yaml"))
        assert paths
        for path in paths:
            document = json.loads(json.dumps(YAML(typ="safe", pure=True).load(path), default=str))
            assert validator.is_valid(document), path.name
            assert not validator.is_valid({**document, "typo": 1})
