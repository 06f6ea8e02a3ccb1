"""The JSON Schemas: they agree with the models, and the built-in documents conform to them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def test_the_shipped_json_schemas_are_what_the_models_say() -> None:
    script = Path(__file__).parent.parent / "scripts" / "build_schemas.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


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
