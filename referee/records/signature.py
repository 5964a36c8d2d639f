"""Signatures of ladders under records and audit logs: Ed25519 (RFC 8032), checked with a public key that whoever checks has chosen to trust.

What is signed is text whose first line says what it is, so that a signature of one thing never holds for another.
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
"""All encodings of points of order 1, 2, 4 and 8, without the highest bit, which is the sign. Anybody can sign for such a key, so
whoever has one can deny everything."""
_MAX_KEY_BYTES = 1000
"""A file with a key has about 100."""


class BadKey(DoganaError):
    """What was given is not a public key; the text says where and why."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """The key that tells what a ladder has signed."""

    text: str
    """`ed25519:` and 64 hexadecimal digits."""

    @property
    def fingerprint(self) -> str:
        """A short form for people to compare: 80 bits of the SHA-256 of the text."""
        digest = hashlib.sha256(self.text.encode()).hexdigest()
        return "-".join(digest[at : at + 4] for at in range(0, 20, 4))

    def has_signed(self, text: str, signature: str) -> bool:
        """Tell whether a signature, in hexadecimal, is that of a text."""
        # Loaded here because it takes longer than all else that most commands do.
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.text.partition(":")[2]))
            key.verify(bytes.fromhex(signature), text.encode())
        except (InvalidSignature, ValueError):
            return False
        return True


def read_key(given: str) -> PublicKey:
    """Return the key that was given as its text, or as the name of a file like a ladder's `key.pub`.

    Raises:
        BadKey: if it is neither.
        OSError: if the file cannot be read, with its name.
    """
    try:
        words = [given] if given.startswith("ed25519:") else read_file(Path(given), _MAX_KEY_BYTES).decode().split()
    except UnicodeDecodeError:
        words = []
    try:
        key = parse_key(words[0] if words else "")
    except BadKey as error:
        raise BadKey(f"{visible(given, _MAX_KEY_BYTES)} {error}") from error
    if words[1:] not in ([], [key.fingerprint]):
        raise BadKey(f"{visible(given)}: the fingerprint in it is not that of its key, which is {key.fingerprint}")
    return key


def parse_key(text: Any) -> PublicKey:
    """Return the key of a text.

    Raises:
        BadKey: if it is no key.
    """
    if not isinstance(text, str) or not _KEY.fullmatch(text):
        raise BadKey("is not a public key: ed25519: and 64 hexadecimal digits, as `dogana ladder key` prints it")
    point = bytes.fromhex(text.partition(":")[2])
    if bytes([*point[:-1], point[-1] & 0x7F]).hex() in _WEAK:
        raise BadKey("is not a public key: anybody could sign for it")
    return PublicKey(text)


def is_signature(text: Any) -> bool:
    """Tell whether something has the form of a signature: 128 hexadecimal digits."""
    return isinstance(text, str) and _SIGNATURE.fullmatch(text) is not None


# --- of records ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature at the end of a record."""

    key: PublicKey
    """The key that it names."""
    signed: str
    """The hash of the line before it."""
    signature: str
    """In hexadecimal."""

    def holds(self) -> bool:
        """Tell whether it was made with that key, for that hash."""
        return self.key.has_signed(record_text(self.signed), self.signature)


def record_text(last_hash: str) -> str:
    """Return what is signed of a record whose last line has this hash."""
    return f"dogana record\n{last_hash}\n"


def signature_line(key: PublicKey, signature: str) -> dict[str, Any]:
    """Return the line with a signature."""
    return {"type": "signature", "key": key.text, "signature": signature}


def read_signature(data: Mapping[str, Any], signed: str) -> Signature:
    """Return what a line with a signature says, without checking the signature.

    Raises:
        ValueError: if it is no such line.
    """
    if data.keys() != {"type", "key", "signature"} or not is_signature(data["signature"]):
        raise ValueError("a signature has a key and 128 hexadecimal digits, and nothing else")
    try:
        return Signature(parse_key(data["key"]), signed, data["signature"])
    except BadKey as error:
        raise ValueError(f"its key {error}") from error
