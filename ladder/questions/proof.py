"""The proof of the results: the key of the ladder and its audit log."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ladder.archive.audit_log import write
from ladder.archive.key import ladder_key
from ladder.operation.errors import NotFound
from ladder.questions.question import File, Ladder, Request, Row, file_of, question
from referee.records.signature import PublicKey


class KeyAnswer(Row):
    """The ladder's key for signing records and its audit log."""

    key: str
    """The public key, as text."""
    fingerprint: str
    """The fingerprint of the key, for people to compare."""


class KeyRequest(Request[KeyAnswer]):
    """Asks for the key of the ladder."""


@question("/key", is_of_one_moment=False)
def key(ladder: Ladder, request: KeyRequest) -> KeyAnswer:
    """Show the key with which the ladder signs.

    Raises:
        NotFound: if the ladder has no key yet and the caller is not the organiser; for the organiser, a key is made.
    """
    if not ladder.facts.log.key():
        if not ladder.caller.is_organiser:
            raise NotFound("the ladder has no key yet: it has signed nothing")
        ladder_key(ladder.home, ladder.facts)
    public = PublicKey(ladder.facts.log.key())
    return KeyAnswer(key=public.text, fingerprint=public.fingerprint)


class AuditLogRequest(Request[File]):
    """Asks for the audit log."""


@question("/audit-log", is_of_one_moment=False)
def audit_log(ladder: Ladder, request: AuditLogRequest) -> File:
    """Send the audit log as of this moment; `dogana verify-log` checks it.

    Raises:
        OSError: if the temporary file with the log cannot be written.
    """
    # The log is written to a file first, because a slow reader would hold the snapshot and the lock of the log.
    with tempfile.TemporaryDirectory(prefix="dogana-log-") as scratch:
        file = Path(scratch) / "audit-log.jsonl"
        write(ladder.home, ladder.facts, file)
        return file_of(file.open("rb"), file.name)  # it needs no name now, so a crash leaves nothing of it
