"""Responses that are prepared once and sent many times."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

_COMPRESSION = 6


@dataclass(frozen=True, slots=True)
class PreparedResponse:
    """A response with its compressed body and its tag."""

    body: bytes
    compressed: bytes
    """The body, compressed by gzip."""
    tag: str
    """The ETag of the response."""
    status: int
    headers: tuple[tuple[str, str], ...]

    @staticmethod
    def of(body: bytes, status: int, headers: tuple[tuple[str, str], ...] = ()) -> PreparedResponse:
        """Compress and tag an answer."""
        # The tag is weak, because the compressed answer has the same tag.
        tag = f'W/"{hashlib.sha256(body).hexdigest()[:20]}"'
        return PreparedResponse(body, gzip.compress(body, _COMPRESSION, mtime=0), tag, status, headers)

    def sent(self, request: Request, headers: Mapping[str, str], media_type: str) -> Response:
        """Return the answer to a request, with further headers; it is empty (304) if the browser already has this tag."""
        said = {**dict(self.headers), **headers}
        if "etag" in said and self.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=said)
        body = self.body
        if "gzip" in request.headers.get("accept-encoding", ""):
            said["content-encoding"] = "gzip"
            body = self.compressed
        return Response(body, self.status, said, media_type=media_type)
