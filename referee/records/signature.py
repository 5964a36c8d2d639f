"""Ladders' signatures on records and audit logs: Ed25519 (RFC 8032), checked with a public key the verifier trusts.

The first line of a signed text names its kind, so that a signature of one kind is never valid for another.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.errors import DoganaError
from referee.files import read_file
from referee.terminal import visible

_KEY = re.compile(r"ed25519:([0-9a-f]{64})", re.ASCII)
_SIGNATURE = re.compile(r"[0-9a-f]{128}", re.ASCII)
_WEAK = {
    "00" * 32,
    "01" + "00" * 31,
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ec" + "ff" * 30 + "7f",
    "ed" + "ff" * 30 + "7f",
    "ee" + "ff" * 30 + "7f",
}
"""All encodings of points of order 1, 2, 4 and 8, without the highest bit, which is the sign.

Anybody can forge signatures for such a key, so its owner could deny all of them.
"""
_MAX_KEY_BYTES = 1000
"""The maximum size of a key file, in bytes; key files usually have about 100."""


class BadKey(DoganaError):
    """A text or file is not a public key; the message names the text or file and gives the reason."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A ladder's public key, which verifies its signatures."""

    text: str
    """The key as text: `ed25519:` and 64 hexadecimal digits."""

    @property
    def fingerprint(self) -> str:
        """A short form for people to compare: the first 80 bits of the SHA-256 of the key's text."""
        digest = hashlib.sha256(self.text.encode()).hexdigest()
        return "-".join(digest[at : at + 4] for at in range(0, 20, 4))

    def has_signed(self, text: str, signature: str) -> bool:
        """Return True if a signature, in hexadecimal, was made for a text with this key."""
        # This is imported here because the import takes longer than everything else in most commands.
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.text.partition(":")[2]))
            key.verify(bytes.fromhex(signature), text.encode())
        except (InvalidSignature, ValueError):
            return False
        return True


def read_key(given: str) -> PublicKey:
    """Return a key from its text, or from a file like a ladder's `key.pub`.

    Raises:
        BadKey: if `given` is neither.
        OSError: if the file cannot be read; the error contains its name.
    """
    try:
        words = [given] if given.startswith("ed25519:") else read_file(Path(given), _MAX_KEY_BYTES).decode().split()
    except UnicodeDecodeError:
        words = []
    try:
        key = parse_key(words[0] if words else "")
    except BadKey as error:
        raise BadKey(f"{visible(given, _MAX_KEY_BYTES)} {error}") from error
    # In a file, the key is followed by its fingerprint, which people compare; a wrong one would mislead them.
    if words[1:] not in ([], [key.fingerprint]):
        raise BadKey(f"{visible(given)}: the fingerprint in it is not that of its key, which is {key.fingerprint}")
    return key


def parse_key(text: Any) -> PublicKey:
    """Return the key that a text contains.

    Raises:
        BadKey: if the text is not a key.
    """
    if not isinstance(text, str) or not _KEY.fullmatch(text):
        raise BadKey("is not a public key: ed25519: and 64 hexadecimal digits, as `dogana ladder key` prints it")
    point = bytes.fromhex(text.partition(":")[2])
    if bytes([*point[:-1], point[-1] & 0x7F]).hex() in _WEAK:
        raise BadKey("is not a public key: anybody could sign for it")
    return PublicKey(text)


def is_signature(text: Any) -> bool:
    """Return whether a text has the form of a signature: 128 hexadecimal digits."""
    return isinstance(text, str) and _SIGNATURE.fullmatch(text) is not None


# --- of records ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature at the end of a record."""

    key: PublicKey
    """The key that the signature names."""
    signed: str
    """The hash of the line before the signature."""
    signature: str
    """The signature, in hexadecimal."""

    def holds(self) -> bool:
        """Return True if the signature was made with `key` for the hash `signed`."""
        return self.key.has_signed(record_text(self.signed), self.signature)


def record_text(last_hash: str) -> str:
    """Return the text that a ladder signs for a record whose last line has this hash."""
    return f"dogana record\n{last_hash}\n"


def signature_line(key: PublicKey, signature: str) -> dict[str, Any]:
    """Return the line of a record that contains a signature."""
    return {"type": "signature", "key": key.text, "signature": signature}


def read_signature(data: Mapping[str, Any], signed: str) -> Signature:
    """Parse a line with a signature, without checking the signature.

    Raises:
        ValueError: if `data` is not such a line.
    """
    if data.keys() != {"type", "key", "signature"} or not is_signature(data["signature"]):
        raise ValueError("a signature has a key and 128 hexadecimal digits, and nothing else")
    try:
        return Signature(parse_key(data["key"]), signed, data["signature"])
    except BadKey as error:
        raise ValueError(f"its key {error}") from error
