"""Changes by authors' commands: `POST /api/v1/...` with a token. Bots arrive in chunks, as the bodies of requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ladder.http.api.api import PREFIX, changes_by_path
from ladder.http.api.callers import RECEIVED, Callers
from ladder.http.api.openapi import SUBMISSIONS
from ladder.http.api.reading import read_change, read_request
from ladder.http.requests.changes import Changes, length_of, prompt_pieces
from ladder.http.requests.form import drained, read_body
from ladder.intake.upload import Upload
from ladder.operation.journal import note, of_this_call
from ladder.questions.access import check_is_author
from ladder.questions.caller import Caller
from ladder.questions.changes import SubmitAnswer, SubmitRequest
from ladder.questions.desk import Desk
from ladder.questions.question import Question, document
from referee.errors import DoganaError


class ChangesByPrograms:
    """Makes the changes that authors request with commands."""

    def __init__(self, callers: Callers, changes: Changes) -> None:
        self._callers = callers
        self._limits = callers.limits
        self._changes = changes

    def routes(self) -> list[Route]:
        """Return the routes that make changes."""
        routes = [
            Route(PREFIX + path, partial(self._answer, one.name, partial(self._change, one)), methods=["POST"])
            for path, one in changes_by_path().items()
        ]
        return [
            *routes,
            Route(f"{PREFIX}{SUBMISSIONS}", partial(self._answer, "submit", self._submit), methods=["POST"]),
        ]

    async def _answer(self, name: str, change: Callable[[Request], Awaitable[object]], request: Request) -> Response:
        with self._callers.measured(request, name):
            found = json.dumps(document(await change(request))) + "\n"
        note("change", did=name)
        return Response(found, headers={"cache-control": "no-store"}, media_type="application/json")

    async def _change(self, visit: Question, request: Request) -> object:
        caller = await self._callers.caller(request)
        wanted = read_change(await read_body(request, self._limits.form_seconds), visit.request)
        of_this_call(about=getattr(wanted, "bot", ""))
        return await self._changes.ask(Desk(self._callers.home, caller), caller.author, wanted)

    async def _submit(self, request: Request) -> SubmitAnswer:
        stream = prompt_pieces(request, self._limits.piece_seconds)
        try:
            caller = await self._callers.caller(request)
            check_is_author(caller)
            async with self._changes.uploading(caller.author) as limit:
                answer = await self._receive(request, caller, stream, limit)
        except (DoganaError, OSError):
            await drained(stream)  # a client that is still sending would not read the refusal
            raise
        of_this_call(about=f"{answer.bot} v{answer.version}", new=answer.is_new)
        return answer

    async def _receive(
        self, request: Request, caller: Caller, stream: AsyncIterator[bytes], limit: asyncio.Timeout
    ) -> SubmitAnswer:
        size, wanted = length_of(request), read_request(request, SubmitRequest)
        assert isinstance(wanted, SubmitRequest)  # noqa: S101 it is what was read
        of_this_call(about=wanted.bot)
        upload: Upload[SubmitAnswer]
        with await self._changes.threads.run(Desk(self._callers.home, caller).receive, wanted, size) as upload:
            # This comes after the check of the names, so that their refusal costs the author nothing.
            self._limits.submissions.take(caller.author)
            self._limits.uploaded.take(caller.author, size)
            async for data in stream:
                await self._changes.threads.run(upload.write, data)
                request.scope[RECEIVED] = request.scope.get(RECEIVED, 0) + len(data)
            upload.check(wanted.sha256)
            await self._callers.identified(request)  # the token may have been revoked meanwhile
            return await self._changes.take_in(upload, limit, executable=wanted.executable)
