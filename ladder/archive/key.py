"""The key of a ladder, which signs records and the audit log. `ladder.db` contains the ladder's public key."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ladder.facts.store import Store
from ladder.operation.errors import BadHome
from ladder.operation.home import Home
from referee.files import read_file, sync_folder, write_private
from referee.records.audit_book import handover_text
from referee.records.signature import PublicKey, record_text, signature_line

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

# `cryptography` is imported inside functions, because the import takes longer than everything else that most commands do.

_MAX_BYTES = 10_000
"""The maximum size in bytes of a file with a private key; a valid one has about 120."""


@dataclass(frozen=True, slots=True)
class LadderKey:
    """A private key with its public key."""

    private: Ed25519PrivateKey
    public: PublicKey

    def sign(self, text: str) -> str:
        """Return the signature of a text, in hexadecimal."""
        return self.private.sign(text.encode()).hex()

    def sign_record(self, last_hash: str) -> dict[str, Any]:
        """Return the line that signs a record whose last line has this hash."""
        return signature_line(self.public, self.sign(record_text(last_hash)))


def ladder_key(home: Home, store: Store) -> LadderKey:
    """Return the key of a ladder; make one if it has none.

    Raises:
        BadHome: if the private key is missing, or does not match the ladder's public key.
        OSError: if it cannot be read or written; the error names it.
    """
    if not store.log.key():
        new_key(home, store, replace=False)
    # `new_key` was interrupted after the ladder had named the new key.
    if _waiting(home, PublicKey(store.log.key())).exists():
        _put_in_place(home, store)
    key = read_private_key(home)
    if key.public.text != store.log.key():
        raise BadHome(
            f"{home.key} is not the key of this ladder, which is {PublicKey(store.log.key()).fingerprint}; restore it from a"
            " backup; if it is lost, `dogana ladder key --replace` makes a new one"
        )
    return key


def new_key(home: Home, store: Store, *, replace: bool) -> None:
    """Make a key, signed by the previous key if there is one.

    A ladder that names no key adopts the one in its folder, if any. The private key is stored under a separate name
    before the ladder names the public one, so that the key that the ladder names can be found even after an
    interruption.

    Args:
        home: the folder of the ladder.
        store: the facts of the ladder.
        replace: True to replace an existing key.

    Raises:
        OSError: if the key cannot be written; the error names it.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    with store.writing():
        known = store.log.key()
        if known and not replace:
            return
        if not known and home.key.exists():
            found = read_private_key(home).public
            _write_public(home, found)
            store.log.add_key(found.text, "")
            return
        try:
            old = ladder_key(home, store) if known else None
        except (BadHome, OSError):
            # The old key is lost, so the new one is not signed.
            old = None
        private = Ed25519PrivateKey.generate()
        new = LadderKey(private, _public(private))
        pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        write_private(_waiting(home, new.public), pem)
        store.log.add_key(new.public.text, "" if old is None else old.sign(handover_text(old.public, new.public)))
    _put_in_place(home, store)


def read_private_key(home: Home) -> LadderKey:
    """Return the key in `key.pem`.

    Raises:
        BadHome: if the file is missing, or contains no private key of a ladder.
        OSError: if it cannot be read; the error names it.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        private = load_pem_private_key(read_file(home.key, _MAX_BYTES), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):  # TypeError: it is encrypted
        private = None
    except FileNotFoundError as error:
        raise BadHome(
            f"{home.key} is missing: restore it from a backup; if it is lost, `dogana ladder key --replace` makes a new one"
        ) from error
    if not isinstance(private, Ed25519PrivateKey):
        raise BadHome(f"{home.key} is not a private key of a ladder (Ed25519, PKCS 8); restore it from a backup")
    return LadderKey(private, _public(private))


def _public(private: Ed25519PrivateKey) -> PublicKey:
    return PublicKey(f"ed25519:{private.public_key().public_bytes_raw().hex()}")


def _write_public(home: Home, public: PublicKey) -> None:
    write_private(home.public_key, f"{public.text} {public.fingerprint}\n".encode())


def _waiting(home: Home, public: PublicKey) -> Path:
    """Return the temporary path of a private key that the ladder does not name yet."""
    return home.key.with_name(f"key.{public.fingerprint}.pem")


def _put_in_place(home: Home, store: Store) -> None:
    """Move the key that the ladder names to its final path.

    Only one command may do this at a time, as two could swap their keys.
    """
    with store.writing():
        public = PublicKey(store.log.key())
        waiting = _waiting(home, public)
        if waiting.exists():
            _write_public(home, public)
            waiting.replace(home.key)
            sync_folder(home.folder)
