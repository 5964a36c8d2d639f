"""Payloads of pages, read as `decode.js` reads them."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from referee.pages import payload
from referee.pages.payload import Reel


def read(text: str) -> dict[str, Any]:
    """Read a payload."""
    data: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(text, validate=True)))
    for splices in data["seats"]:
        for step, change in enumerate(splices):
            splices[step] = splices[step - 1] if change is None else change
    gaps, *columns = data["clocks"]
    data["clocks"] = [list(row) for row in zip(accumulate(gaps), *columns, strict=True)]
    return data


def pictures_of(data: dict[str, Any], seat: int | None) -> Iterator[str]:
    """Yield the pictures of a payload that has been read."""
    return payload.pictures_of(Reel(data["tokens"], data["public"], data["seats"]), seat)
