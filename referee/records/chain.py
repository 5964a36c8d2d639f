"""Lines chained by hash, in records and in audit logs: JSON objects whose last entry is `hash`.

The hash is the SHA-256 of the hash of the previous line (64 zeros for the first line) and of the line's own bytes
without its `hash` entry. So a line cannot be changed, left out, added or moved without breaking the chain.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

FIRST_HASH = "0" * 64
_encode = json.JSONEncoder(separators=(",", ":")).encode
_TAIL_BYTES = len(',"hash":""}') + 64
_TAIL = re.compile(rb',"hash":"([0-9a-f]{64})"\}$')


class ChainBroken(ValueError):
    """A line does not follow from the previous one; the message says why."""


def link(previous: str, data: Mapping[str, Any]) -> tuple[bytes, str]:
    """Return an object's line after the hash `previous`, without a line break, and the line's own hash."""
    return link_body(previous, _encode(data).encode())


def link_body(previous: str, data: bytes) -> tuple[bytes, str]:
    """Return the line and the hash, as `link` does, for an object given as JSON, such as the result of `body`."""
    own_hash = _hash(previous, data)
    return b'%s,"hash":"%s"}' % (data[:-1], own_hash.encode()), own_hash  # without the closing brace


def check_link(previous: str, line: bytes) -> str:
    """Return the hash of a line, after checking that the line follows `previous`.

    Raises:
        ChainBroken: if the line does not follow `previous`.
    """
    # Only the end is searched, however long the line is.
    tail = _TAIL.search(line, max(0, len(line) - _TAIL_BYTES))
    if tail is None:
        raise ChainBroken("does not end with its hash: the line is damaged, or this is another kind of file")
    if _hash(previous, body(line)) != tail[1].decode():
        raise ChainBroken("was changed, or does not follow the line before it (its hash does not fit)")
    return tail[1].decode()


def hash_of(line: str) -> str:
    """Return the hash at the end of a line whose chain has already been checked."""
    return line[-66:-2]


def body(line: bytes) -> bytes:
    """Return the JSON of a line without its hash; the line must end with a hash."""
    return line[:-_TAIL_BYTES] + b"}"


def _hash(previous: str, data: bytes) -> str:
    return hashlib.sha256(previous.encode() + data).hexdigest()
