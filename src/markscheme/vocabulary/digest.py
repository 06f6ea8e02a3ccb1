"""Content digests, and the JSON text that stored data and digests are made from."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any


def compute_digest(body: bytes) -> str:
    """Return the BLAKE2b digest of some bytes, with a prefix that names the algorithm.

    >>> compute_digest(b"")[:12]
    'b2:3345524ab'
    """
    return f"b2:{blake2b(body, digest_size=20).hexdigest()}"


def dump_json(value: Any) -> str:
    """Return plain data as JSON that both databases accept: ASCII only, and never NaN."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"))
