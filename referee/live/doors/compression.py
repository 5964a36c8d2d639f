"""Decompress gRPC messages (see gRPC's compression.md). A door accepts compressed messages, but does not send any."""

from __future__ import annotations

import zlib

import grpc

_WINDOW_BITS = {b"deflate": zlib.MAX_WBITS, b"gzip": zlib.MAX_WBITS | 16}
"""The window bits for zlib, by encoding."""
ENCODINGS = (b"identity", *_WINDOW_BITS)
"""The values of `grpc-encoding` that are supported."""


class CannotDecompress(Exception):
    """A message cannot be decompressed.

    Attributes:
        code: the status with which its call must end.
    """

    def __init__(self, code: grpc.StatusCode, text: str) -> None:
        super().__init__(text)
        self.code = code


def decompress(encoding: bytes, data: bytes, max_bytes: int) -> bytes:
    """Decompress a message. The output in memory never exceeds `max_bytes` by more than one byte.

    Args:
        encoding: one of `ENCODINGS`.
        data: the compressed message.
        max_bytes: the maximum size of the decompressed message.

    Raises:
        CannotDecompress: if the message is damaged or too large, or the call has no encoding.
    """
    if encoding not in _WINDOW_BITS:
        raise CannotDecompress(grpc.StatusCode.INTERNAL, "a compressed message in a call without grpc-encoding")
    reader = zlib.decompressobj(_WINDOW_BITS[encoding])
    try:
        plain = reader.decompress(data, max_bytes + 1)
    except zlib.error as error:
        raise CannotDecompress(grpc.StatusCode.INTERNAL, f"a message that is not valid {encoding.decode()}") from error
    if len(plain) > max_bytes:
        text = f"a compressed message of more than {max_bytes} bytes"
        raise CannotDecompress(grpc.StatusCode.RESOURCE_EXHAUSTED, text)
    if not reader.eof or reader.unused_data:
        raise CannotDecompress(grpc.StatusCode.INTERNAL, f"a message that is not valid {encoding.decode()}")
    return plain
