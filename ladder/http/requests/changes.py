"""Make changes for authors over HTTP, from browsers and commands. Only a few are made at a time, and files arrive in chunks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.requests import ClientDisconnect, Request

from ladder.http.requests.visit import BadQuestion
from ladder.intake.upload import Upload
from ladder.operation.limits import Limits
from ladder.operation.threads import Threads
from ladder.questions.changes import RequalifyRequest, SubmitAnswer
from ladder.questions.desk import Desk
from ladder.questions.question import Request as LadderRequest
from referee.bots.errors import BadBot
from referee.bots.files import MAX_BYTES

MAX_CHANGES = 2
"""The maximum number of changes at a time. Each waits until the others have finished changing the ladder. One of them may be the
intake of a bot, which can take minutes."""


class Changes:
    """The changes that one server makes for authors."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.threads = Threads(MAX_CHANGES, limits.thread_seconds)
        self._taking_in = asyncio.Semaphore(MAX_CHANGES - 1)

    async def ask(self, desk: Desk, author: str, request: LadderRequest[Any]) -> object:
        """Make the change that an author requests; a second chance counts as a submission.

        Raises:
            TooMuch: if the author has used up an allowance, or no thread is free in time.
            DoganaError: if the change is refused.
        """
        if isinstance(request, RequalifyRequest):
            self._limits.submissions.take(author)
        return await self.threads.run(desk.ask, request)

    @asynccontextmanager
    async def uploading(self, author: str) -> AsyncIterator[asyncio.Timeout]:
        """Count a bot that an author is sending, for the duration of this context; yield the time limit, which `take_in` lifts.

        Raises:
            TooMuch: if too many are being sent.
            BadBot: if it takes too long.
        """
        try:
            with self._limits.uploads.one(author):
                async with asyncio.timeout(self._limits.upload_seconds) as limit:
                    yield limit
        except TimeoutError:
            raise BadBot(f"it did not arrive within {self._limits.upload_seconds:g} s; send it again") from None

    async def take_in(self, upload: Upload[SubmitAnswer], limit: asyncio.Timeout, *, executable: bool) -> SubmitAnswer:
        """Submit a bot whose file has arrived, without a time limit, so that the caller need not send it again."""
        limit.reschedule(None)
        async with self._taking_in:
            return await self.threads.run(lambda: upload.take_in(executable=executable))


def length_of(request: Request, more: int = 0) -> int:
    """Return the length of a request with a file, in bytes; `more` is the allowance for the rest of the form.

    Raises:
        BadQuestion: if the length is not declared, or is too large.
    """
    length = request.headers.get("content-length", "")
    if not length.isdigit() or "transfer-encoding" in request.headers:  # with both, the length would mean nothing
        raise BadQuestion("say beforehand how long the request is (Content-Length)")
    if int(length) > MAX_BYTES + more:
        raise BadQuestion(f"a bot has at most {MAX_BYTES // 1024**2} MiB; leave out what it does not need")
    return int(length)


async def prompt_pieces(request: Request, seconds: float) -> AsyncIterator[bytes]:
    """Yield the body of a request in chunks.

    Raises:
        BadBot: if the next chunk does not arrive within `seconds`.
    """
    stream = aiter(request.stream())
    while True:
        try:
            async with asyncio.timeout(seconds):
                data = await anext(stream, None)
        except TimeoutError:
            raise BadBot(f"nothing came for {seconds:g} s; send it again") from None
        except ClientDisconnect:
            raise BadBot("the connection was lost") from None
        if data is None:
            return
        yield data
