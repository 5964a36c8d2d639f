"""Signatures under records: what they prove, and what somebody could put in their place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from referee.match.result import seed_line
from referee.records.record import RecordError, read_lines
from referee.records.signature import BadKey, PublicKey, parse_key, read_key, record_text, signature_line
from referee.records.verify import Replay, verify
from referee.registry import find
from tests.commands.conftest import Dogana, dogana
from tests.referee.test_records import chained
from tests.referee.test_sealing import SEED, play, seal

__all__ = ["dogana"]

PRIVATE, OTHER = (Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number in (1, 2))


def public(private: Ed25519PrivateKey) -> PublicKey:
    return PublicKey(f"ed25519:{private.public_key().public_bytes_raw().hex()}")


def signed(last_hash: str, private: Ed25519PrivateKey = PRIVATE) -> dict[str, Any]:
    return signature_line(public(private), private.sign(record_text(last_hash).encode()).hex())


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A sealed and signed record."""
    play(tmp_path / "match.jsonl")
    path = tmp_path / "match.jsonl.zst"
    seal(tmp_path / "match.jsonl", path, SEED, read_lines(tmp_path / "match.jsonl")[-1].hash, signed)
    return path


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [{**line.data} for line in read_lines(path)]


def replayed(path: Path) -> Replay:
    replay = Replay(path, find)
    for _ in replay:
        pass
    return replay


def test_the_fingerprint_of_a_key_is_written_as_people_have_noted_it() -> None:
    """Five groups of four digits; who has compared it once must see the same in every later release."""
    key = "ed25519:3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"
    assert parse_key(key).fingerprint == "a478-54ac-cb06-d9dd-c14a"


def test_a_record_that_is_signed_holds_without_a_key_and_stands_for_the_same(record: Path) -> None:
    lines = read_lines(record)
    found = verify(record, find)
    assert found.is_sealed
    assert found.last_hash == lines[-2].hash
    assert lines[-2].data == seed_line(SEED)
    signature = replayed(record).signature
    assert signature is not None
    assert signature.key == public(PRIVATE)
    assert signature.holds()


def test_a_record_of_the_format_before_holds_and_is_not_signed(tmp_path: Path) -> None:
    play(tmp_path / "match.jsonl")
    lines = lines_of(tmp_path / "match.jsonl")
    lines[0]["format"] = 2
    (tmp_path / "old.jsonl").write_bytes(chained([*lines, seed_line(SEED)]))
    replay = replayed(tmp_path / "old.jsonl")
    assert (replay.is_sealed, replay.signature) == (True, None)


@pytest.mark.parametrize("change", ["rank", "bot", "seed commitment"])
def test_whatever_is_changed_the_signature_holds_no_more(record: Path, tmp_path: Path, change: str) -> None:
    lines = lines_of(record)
    if change == "bot":
        lines[0]["bots"][0] = "somebody"
    elif change == "rank":
        lines[-3]["seats"][0]["rank"] = 9
    else:
        lines[0]["seed_commitment"] = "0" * 64
    path = tmp_path / "changed.jsonl"
    path.write_bytes(chained(lines))
    if change == "bot":  # it is the referee's word, so nothing else shows it
        signature = replayed(path).signature
        assert signature is not None
        assert not signature.holds()
    else:
        with pytest.raises(RecordError):
            verify(path, find)


def test_the_signature_of_another_record_does_not_hold(record: Path, tmp_path: Path) -> None:
    play(tmp_path / "second.jsonl")
    lines = [*lines_of(tmp_path / "second.jsonl"), seed_line(SEED), lines_of(record)[-1]]
    (tmp_path / "moved.jsonl").write_bytes(chained(lines))
    signature = replayed(tmp_path / "moved.jsonl").signature
    assert signature is not None
    assert not signature.holds()


GOOD = signed("0" * 64)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"type": "signature"}, "a signature has a key and 128 hexadecimal digits"),
        ({**GOOD, "more": 1}, "a signature has a key and 128 hexadecimal digits"),
        ({**GOOD, "signature": 7}, "a signature has a key and 128 hexadecimal digits"),
        ({**GOOD, "signature": "0" * 127 + "\N{FULLWIDTH DIGIT ONE}"}, "a signature has a key and 128"),
        ({**GOOD, "signature": "0" * 200_000}, "a signature has a key and 128 hexadecimal digits"),
        ({**GOOD, "key": 7}, "is not a public key"),
        ({**GOOD, "key": "ed25519:00"}, "is not a public key"),
        ({**GOOD, "key": "ed25519:" + "g" * 64}, "is not a public key"),
        ({**GOOD, "key": GOOD["key"] + "\n"}, "is not a public key"),
        ({**GOOD, "type": "sealed"}, "the last line of a record reveals the seed"),
    ],
)
def test_a_line_that_is_no_signature_is_refused(
    record: Path, tmp_path: Path, line: dict[str, Any], reason: str
) -> None:
    path = tmp_path / "hostile.jsonl"
    path.write_bytes(chained([*lines_of(record)[:-1], line]))
    with pytest.raises(RecordError, match=reason) as caught:
        verify(path, find)
    assert len(caught.value.reason) <= 500


def test_there_is_one_signature_at_the_end_after_the_seed(record: Path, tmp_path: Path) -> None:
    *lines, seed, signature = lines_of(record)
    for number, wrong in enumerate(
        ([*lines, seed, signature, signature], [*lines, signature, seed], [*lines, signature], [signature])
    ):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(chained(wrong))
        with pytest.raises(RecordError):
            verify(path, find)


@pytest.mark.parametrize("key", ["00" * 32, "00" * 31 + "80", "01" + "00" * 31, "ee" + "ff" * 31])
def test_a_key_for_which_anybody_can_sign_is_refused(key: str) -> None:
    text = f"ed25519:{key}"
    with pytest.raises(BadKey, match="anybody could sign for it"):
        parse_key(text)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not a public key"),
        (b"\xff\xfe", "is not a public key"),
        (b"ed25519:00 x", "is not a public key"),
        (f"{public(PRIVATE).text} {public(OTHER).fingerprint}\n".encode(), "the fingerprint in it is not that of its key"),
        (b"x" * 2000, "has more than 1000 bytes"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_public_key_is_reported_with_its_name(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "key.pub"
    path.write_bytes(content)
    with pytest.raises((BadKey, OSError)) as caught:
        read_key(str(path))
    assert reason in str(caught.value)
    assert str(path) in str(caught.value)


def test_verify_says_who_has_signed_and_fails_in_one_line_if_it_was_not_that_ladder(
    dogana: Dogana, record: Path, tmp_path: Path
) -> None:
    (tmp_path / "key.pub").write_text(f"{public(PRIVATE).text} {public(PRIVATE).fingerprint}\n")
    said = dogana("verify", record, "--key", "key.pub").stdout
    assert f"signed by ladder {public(PRIVATE).fingerprint}" in said
    assert "claims to be signed by" in dogana("verify", record).stdout
    lines = lines_of(record)
    (tmp_path / "unsigned.jsonl").write_bytes(chained(lines[:-1]))
    lines[0]["bots"][0] = "\x1b[2Jsomebody"
    (tmp_path / "altered.jsonl").write_bytes(chained(lines))
    ended = dogana("verify", record, "unsigned.jsonl", "altered.jsonl", "--key", public(OTHER).text, status=1)
    foreign, unsigned, altered = ended.stdout.splitlines()
    assert (
        f"claims to be signed by ladder {public(PRIVATE).fingerprint}, not by ladder {public(OTHER).fingerprint}"
        in foreign
    )
    assert "it is not signed" in unsigned
    [altered] = dogana("verify", "altered.jsonl", "--key", "key.pub", status=1).stdout.splitlines()
    assert "has not signed it: it was altered" in altered
