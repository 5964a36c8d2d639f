"""Downloads of records and audit logs through the API, in chunks; at most `MAX_READS` chunks are read at a time."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ladder.http.api.callers import Callers
from ladder.http.api.reading import read_request
from ladder.http.requests.limits import name_of
from ladder.operation.limits import FILE_REQUESTS
from ladder.operation.threads import Threads
from ladder.questions.desk import Desk
from ladder.questions.question import File, Question

MAX_READS = 4
"""The maximum number of chunks read at a time."""
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}", re.ASCII)


class Files:
    """An ASGI application that sends a file as an answer, and frees the reader's place at the end."""

    def __init__(self, callers: Callers, visit: Question) -> None:
        self._callers = callers
        self._question = visit
        self._threads = Threads(MAX_READS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        if request.method == "OPTIONS":
            await self._callers.options(request)(scope, receive, send)
            return
        with self._callers.measured(request, self._question.name):
            await self._send(request, receive, send)

    async def _send(self, request: Request, receive: Receive, send: Send) -> None:
        caller = await self._callers.caller(request, FILE_REQUESTS)
        who, requests = name_of(caller, request), self._callers.limits.requests
        with self._callers.limits.files.one(who):
            wanted = read_request(request, self._question.request)
            file = await self._threads.run_charged(requests, who, Desk(self._callers.home, caller).ask, wanted)
            headers = self._callers.headers(request, is_private=True)
            # A quote in the name would end the parameter.
            if _FILE_NAME.fullmatch(file.name):
                headers["content-disposition"] = f'attachment; filename="{file.name}"'
            answer = StreamingResponse(self._pieces(file), headers=headers, media_type="application/octet-stream")
            await answer(request.scope, receive, send)

    async def _pieces(self, file: File) -> AsyncIterator[bytes]:
        while (piece := await self._threads.run(next, file.pieces, None)) is not None:
            yield piece
