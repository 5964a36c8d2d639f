"""Read forms, which have a few fields and perhaps a file; the file is passed on in chunks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from ladder.http.requests.visit import BadQuestion, Gone, TooSlow
from referee.errors import DoganaError

MAX_FORM_BYTES = 16 * 1024
"""The maximum size of a form in bytes, not counting its file."""
MAX_FIELDS = 100
DRAIN_SECONDS = 60.0
"""The time allowed for reading the rest of a refused form, in seconds."""
_NO_FORM = "that is not what the form sends"


async def read_fields(request: Request, seconds: float) -> dict[str, str]:
    """Read a form without a file, within a time limit; the last value of a repeated field counts.

    Raises:
        BadQuestion: if the body is not a form, or is too long.
        TooSlow: if it does not arrive in time.
        Gone: if the connection is lost meanwhile.
    """
    data = await read_body(request, seconds)
    try:
        return dict(parse_qsl(data.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FIELDS))
    except ValueError:
        raise BadQuestion(_NO_FORM) from None


async def read_body(request: Request, seconds: float) -> bytes:
    """Read the body of a request without a file, within a time limit.

    Raises:
        BadQuestion: if it is too long.
        TooSlow: if it does not arrive in time.
        Gone: if the connection is lost meanwhile.
    """
    data = b""
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                data += chunk
                if len(data) > MAX_FORM_BYTES:
                    raise BadQuestion("that is more than the form has room for")
    except TimeoutError:
        raise TooSlow(f"the form did not arrive within {seconds:g} s; send it again") from None
    except ClientDisconnect:
        raise Gone("the connection was lost") from None
    return data


@dataclass(slots=True)
class Part:
    """A field of a form with a file; the rest of its data may still have to arrive.

    Attributes:
        name: the name of the field.
        file: the name of the file in the browser; None for a field without a file.
        data: the bytes that have arrived since the part was last yielded.
    """

    name: str = ""
    file: str | None = None
    data: bytearray = field(default_factory=bytearray)


class Multipart:
    """Parses a form with a file (RFC 7578)."""

    def __init__(self, content_type: str) -> None:
        """Prepare to read a form.

        Raises:
            BadQuestion: if a form of this type cannot contain a file.
        """
        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary", b"")
        if kind != b"multipart/form-data" or not boundary:
            raise BadQuestion(_NO_FORM)
        self._parts: list[Part] = []
        self._heads = 0
        self._header = [bytearray(), bytearray()]
        self._is_over = False
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin,
                    "on_part_data": lambda data, start, end: self._parts[-1].data.extend(data[start:end]),
                    "on_header_field": lambda data, start, end: self._header[0].extend(data[start:end]),
                    "on_header_value": lambda data, start, end: self._header[1].extend(data[start:end]),
                    "on_header_end": self._end_header,
                    "on_end": self._end,
                },
                max_header_count=8,
                max_header_size=2048,
            )
        except FormParserError:
            raise BadQuestion(_NO_FORM) from None

    def take(self, data: bytes) -> Iterator[Part]:
        """Parse the next bytes of the form; yield the parts to which they belong, with their new data.

        Raises:
            BadQuestion: if the bytes are not a form.
        """
        try:
            self._parser.write(data)
        except FormParserError:
            raise BadQuestion(_NO_FORM) from None
        for part in self._parts:
            yield part
            part.data.clear()
        del self._parts[:-1]  # the last one may continue in the next chunk

    def finish(self) -> None:
        """Check that the form is complete.

        Raises:
            BadQuestion: if something is missing.
        """
        if not self._is_over:
            raise BadQuestion("the form did not arrive as it was sent; send it again")

    def _begin(self) -> None:
        self._heads += 1
        if self._heads > MAX_FIELDS:
            raise BadQuestion(_NO_FORM)
        self._parts.append(Part())

    def _end_header(self) -> None:
        name, value = (bytes(text) for text in self._header)
        self._header = [bytearray(), bytearray()]
        if name.lower() == b"content-disposition":
            _, options = parse_options_header(value)
            self._parts[-1].name = options.get(b"name", b"").decode(errors="replace")
            if b"filename" in options:
                self._parts[-1].file = options[b"filename"].decode(errors="replace")

    def _end(self) -> None:
        self._is_over = True


async def drained(stream: AsyncIterator[bytes]) -> None:
    """Read and discard the rest of a request, because browsers show an answer only after they have sent everything."""
    with contextlib.suppress(DoganaError, TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in stream:
                pass
