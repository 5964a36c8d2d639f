"""A client of HTTP/2 that does no more than it is told to: it sends half of a call, or reads nothing of the answer."""

from __future__ import annotations

import socket
import struct
from typing import Self

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _RST_STREAM, _SETTINGS = 0, 1, 3, 4
_END_STREAM, _END_HEADERS, _ACK = 1, 4, 1
_INITIAL_WINDOW_SIZE = 4


class RawClient:
    """A connection by which a server can send nothing that belongs to a message: its window is 0. Use it as a context manager."""

    def __init__(self, address: str) -> None:
        """Connect to `host:port`, and say what every client says first."""
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), 60)
        self._left = b""
        self._stream = -1
        self.socket.sendall(PREFACE)
        self._send(_SETTINGS, 0, 0, struct.pack(">HI", _INITIAL_WINDOW_SIZE, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def call(self, method: str, message: bytes | None, token: str = "") -> None:
        """Begin a call, and send its message, if there is one; do not end what is sent."""
        self._stream += 2
        headers = {
            ":method": "POST",
            ":scheme": "http",
            ":path": method,
            ":authority": "localhost",
            "te": "trailers",
            "content-type": "application/grpc",
        }
        if token:
            headers["authorization"] = f"Bearer {token}"
        fields = (b"\0" + _text(name) + _text(value) for name, value in headers.items())
        self._send(_HEADERS, _END_HEADERS, self._stream, b"".join(fields))
        if message is not None:
            data = struct.pack(">BI", 0, len(message)) + message
            self._send(_DATA, _END_STREAM, self._stream, data)

    def read_end(self) -> str:
        """Read on until a call or the connection ends; return which of them, and how."""
        while True:
            head = self._take(9)
            if not head:
                return "closed"
            length, kind, flags = int.from_bytes(head[:3]), head[3], head[4]
            self._take(length)
            if kind == _RST_STREAM:
                return "reset"
            if kind == _HEADERS and flags & _END_STREAM:
                return "status"
            if kind == _SETTINGS and not flags & _ACK:
                self._send(_SETTINGS, _ACK, 0, b"")

    def _take(self, count: int) -> bytes:
        while len(self._left) < count:
            data = self.socket.recv(65536)
            if not data:
                return b""
            self._left += data
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def _send(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        head = struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream)
        self.socket.sendall(head + payload)


def _text(text: str) -> bytes:
    return bytes([len(text)]) + text.encode()  # HPACK, without Huffman; shorter than 127 bytes
