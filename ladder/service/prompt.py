"""A time limit for the arrival of a call's request; gRPC would wait for it for ever, before the caller is known."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
from typing_extensions import override


class PromptRequests(grpc.aio.ServerInterceptor):
    """Reads the only request of a call itself, within a time limit.

    On the wire, a call with one message looks like a call with many. Only a handler for many messages begins before the
    first one arrives.
    """

    def __init__(self, seconds: float) -> None:
        """Set the maximum time, in seconds, to wait for a request."""
        self._seconds = seconds

    @override
    async def intercept_service(self, continuation: Any, handler_call_details: grpc.HandlerCallDetails) -> Any:
        handler = await continuation(handler_call_details)
        if handler is None or handler.request_streaming:
            return handler
        serve = handler.unary_stream or handler.unary_unary

        async def serve_in_time(requests: AsyncIterator[Any], context: Any) -> None:
            try:
                async with asyncio.timeout(self._seconds):
                    request = await anext(requests, None)
            except TimeoutError:
                request = None
            if request is None:
                await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"no request came within {self._seconds:g} s")
            answer = await serve(request, context)
            if answer is not None:
                await context.write(answer)

        return handler._replace(
            request_streaming=True,
            response_streaming=True,
            unary_unary=None,
            unary_stream=None,
            stream_stream=serve_in_time,
        )
