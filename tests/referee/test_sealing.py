"""Records whose seed is revealed later: what holds until then, and how they are sealed and compressed."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from house_bots.random_bot import RandomBot

from referee.live.matches.play import House, MatchReport
from referee.live.messages import wire
from referee.match.plan import MatchPlan
from referee.match.result import seed_line
from referee.records.record import MAX_BYTES, RecordError, RecordWriter, read_lines, zipped
from referee.records.record import sealed as lines_of_sealed
from referee.records.verify import verify
from referee.registry import find
from tests import matches
from tests.commands.conftest import Dogana, dogana
from tests.referee.test_records import chained
from tests.tables import plan_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["dogana"]

SEED = 4_000_000_007


def plan() -> MatchPlan:
    return replace(plan_of(seats=3, options={"last_turn": 3}, seed=SEED), reveals_seed=False)


def play(path: Path, of: MatchPlan | None = None) -> MatchReport:
    return matches.play(of or plan(), [House(RandomBot)] * 3, record=path)


@pytest.fixture
def unsealed(tmp_path: Path) -> Path:
    play(tmp_path / "match.jsonl")
    return tmp_path / "match.jsonl"


def seal(
    path: Path,
    sealed: Path,
    seed: int,
    record_hash: str,
    sign: Callable[[str], Mapping[str, Any]] | None = None,
) -> None:
    """Put a sealed record, compressed, in the place of one that is not."""
    sealed.write_bytes(zipped(lines_of_sealed(path, path.read_bytes(), seed, record_hash, sign)))
    path.unlink()


def sealed(unsealed: Path) -> Path:
    path = unsealed.with_name("match.jsonl.zst")
    seal(unsealed, path, SEED, read_lines(unsealed)[-1].hash)
    return path


def test_a_match_that_does_not_reveal_its_seed_says_it_neither_in_game_over_nor_in_its_record(tmp_path: Path) -> None:
    report = play(tmp_path / "match.jsonl")
    assert wire.game_over(report.result).seed == ""
    assert str(SEED).encode() not in (tmp_path / "match.jsonl").read_bytes()
    assert read_lines(tmp_path / "match.jsonl")[-1].data["type"] == "result"
    open_report = play(tmp_path / "open.jsonl", replace(plan(), reveals_seed=True))
    assert wire.game_over(open_report.result).seed == str(SEED)
    assert open_report.result.digest == report.result.digest


def test_a_record_that_is_not_sealed_holds_as_far_as_it_can_be_checked(unsealed: Path) -> None:
    record = verify(unsealed, find)
    assert (record.is_sealed, record.result.seed, record.plan.seed) == (False, None, -1)
    assert record.result_hash == record.last_hash
    assert verify(unsealed, find, SEED).result == record.result


def test_chance_is_checked_against_a_seed_that_is_known_from_elsewhere(unsealed: Path, tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="not the one that was committed to"):
        verify(unsealed, find, SEED + 1)
    committed = read_lines(unsealed)[0].data["seed_commitment"]
    play(tmp_path / "other.jsonl", replace(plan(), seed=SEED + 1))
    lines = [{**line.data} for line in read_lines(tmp_path / "other.jsonl")]
    lines[0]["seed_commitment"] = committed
    forged = tmp_path / "forged.jsonl"
    forged.write_bytes(chained(lines))
    verify(forged, find)  # nobody can tell without the seed
    with pytest.raises(RecordError, match="but the seed gives"):
        verify(forged, find, SEED)


def test_a_record_that_promises_its_seed_must_reveal_it(tmp_path: Path) -> None:
    play(tmp_path / "match.jsonl", replace(plan(), reveals_seed=True))
    lines = (tmp_path / "match.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "match.jsonl").write_bytes(b"".join(lines[:-1]))
    with pytest.raises(RecordError, match="is missing"):
        verify(tmp_path / "match.jsonl", find)


def test_sealing_adds_the_seed_to_the_chain_and_compresses(unsealed: Path) -> None:
    size, result, result_hash = unsealed.stat().st_size, verify(unsealed, find).result, read_lines(unsealed)[-1].hash
    path = sealed(unsealed)
    assert not unsealed.exists()
    assert path.stat().st_size < size / 2
    assert read_lines(path)[-1].data == seed_line(SEED)
    record = verify(path, find)
    assert record.is_sealed
    assert record.result == replace(result, seed=SEED)
    assert record.result_hash == result_hash != record.last_hash


def test_sealing_what_reveals_its_seed_only_compresses(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    report = play(path, replace(plan(), reveals_seed=True))
    seal(path, tmp_path / "match.jsonl.zst", SEED, report.record_hash)
    assert verify(tmp_path / "match.jsonl.zst", find).last_hash == report.record_hash


def test_sealing_refuses_another_record_and_changes_nothing(unsealed: Path) -> None:
    before = unsealed.read_bytes()
    with pytest.raises(RecordError, match="is not the record that was written"):
        seal(unsealed, unsealed.with_name("match.jsonl.zst"), SEED, "0" * 64)
    assert unsealed.read_bytes() == before
    assert [path.name for path in unsealed.parent.iterdir()] == ["match.jsonl"]


def test_a_record_is_on_the_disk_before_it_takes_its_name_and_so_is_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each wait is noted with the names in the folder at that moment."""
    waits: list[tuple[str, list[str]]] = []
    fsync = os.fsync

    def noting(descriptor: int) -> None:
        waited_for = Path(f"/proc/self/fd/{descriptor}").readlink()
        fsync(descriptor)
        waits.append((waited_for.suffix or "folder", sorted(path.suffix for path in tmp_path.iterdir())))

    monkeypatch.setattr(os, "fsync", noting)
    play(tmp_path / "match.jsonl")
    assert waits == [(".part", [".part"]), ("folder", [".jsonl"])]


def test_records_are_for_their_owner_only_whatever_the_umask(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        writer = RecordWriter(tmp_path / "match.jsonl")
        [part] = tmp_path.iterdir()
        assert stat.S_IMODE(part.stat().st_mode) == 0o600
        writer.discard()
        play(tmp_path / "match.jsonl")
        assert stat.S_IMODE((tmp_path / "match.jsonl").stat().st_mode) == 0o600
    finally:
        os.umask(umask)


def test_a_compressed_record_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.jsonl.zst"
    bomb.write_bytes(zstd.compress(bytes(MAX_BYTES + 1)))
    assert bomb.stat().st_size < 10_000
    with pytest.raises(RecordError, match=f"more than {MAX_BYTES} bytes, unpacked"):
        verify(bomb, find)


def test_every_damage_to_a_compressed_record_is_noticed(unsealed: Path) -> None:
    path = sealed(unsealed)
    whole = path.read_bytes()
    for data in (whole[:-1], whole[: len(whole) // 2], whole[:9], whole + b"x", whole + whole, whole[:4]):
        path.write_bytes(data)
        with pytest.raises(RecordError):
            verify(path, find)
    for place in range(0, len(whole), 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(RecordError):
            verify(path, find)


def test_verify_tells_what_it_could_not_check_and_ends_with_another_status(dogana: Dogana, tmp_path: Path) -> None:
    play(tmp_path / "match.jsonl")
    ended = dogana("verify", "match.jsonl", status=3)
    assert "the seed of its block is not revealed yet: chance is not checked against it" in ended.stdout
    assert '"holds": true, "sealed": false' in dogana("verify", "match.jsonl", "--json", status=3).stdout
    (tmp_path / "bad.jsonl").write_text("x")
    dogana("verify", "match.jsonl", "bad.jsonl", status=1)
    sealed(tmp_path / "match.jsonl")
    assert '"holds": true, "sealed": true' in dogana("verify", "match.jsonl.zst", "--json").stdout


def test_replay_reads_compressed_records(dogana: Dogana, tmp_path: Path) -> None:
    play(tmp_path / "match.jsonl")
    plain = dogana("replay", "match.jsonl").stdout
    sealed(tmp_path / "match.jsonl")
    assert dogana("replay", "match.jsonl.zst").stdout == plain
