"""Digests: names of what is kept and of what is asked, and how plain data are written for them."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any


def compute_digest(body: bytes) -> str:
    """Return the name of these bytes; the prefix names the algorithm."""
    return f"b2:{blake2b(body, digest_size=20).hexdigest()}"


def dump_json(value: Any) -> str:
    """Return plain data as text that both databases take: ASCII only, and never NaN."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"))
