"""Records: what is written can be verified, and no change of a record goes unnoticed."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from house_bots.random_bot import RandomBot

from referee.files import write_file
from referee.game import Game
from referee.live.matches.play import House
from referee.match.effects import Finish
from referee.match.plan import MatchPlan, canonical
from referee.records.chain import FIRST_HASH
from referee.records.record import MAX_BYTES, RecordError, RecordWriter, read_lines
from referee.records.verify import Replay, verify
from referee.registry import BoardFileError, find, read_board_file
from tests import matches
from tests.tables import Table, plan_of, sealed
from tests.toy.games.sealed import GAME as SEALED
from tests.toy.games.sealed import Commit, Lay


def find_any(name: str) -> Game:
    return SEALED if name == "sealed" else find(name)


def write(plan: MatchPlan, path: Path) -> Path:
    matches.play(plan, [House(RandomBot)] * plan.setup.seats, record=path)
    return path


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(plan_of(seats=3, options={"last_turn": 3}), tmp_path_factory.mktemp("records") / "match.jsonl")


def damaged(record: Path, folder: Path, change: Callable[[list[bytes]], list[bytes]]) -> Path:
    path = folder / "damaged.jsonl"
    path.write_bytes(b"".join(change(record.read_bytes().splitlines(keepends=True))))
    return path


def chained(lines: list[dict[str, Any]]) -> bytes:
    """A record whose chain is right whatever its lines say: what somebody forges who knows the format."""
    previous, whole = FIRST_HASH, b""
    for line in lines:
        body = json.dumps({key: value for key, value in line.items() if key != "hash"}, separators=(",", ":")).encode()
        previous = hashlib.sha256(previous.encode() + body).hexdigest()
        whole += body[:-1] + b',"hash":"' + previous.encode() + b'"}\n'
    return whole


def test_a_record_verifies_and_gives_the_result(record: Path) -> None:
    result = verify(record, find).result
    assert sorted(seat.seat for seat in result.seats) == [0, 1, 2]
    assert result.decisions == sum(seat.decisions for seat in result.seats)


def test_the_digest_is_the_same_for_the_same_match(record: Path, tmp_path: Path) -> None:
    again = write(plan_of(seats=3, options={"last_turn": 3}), tmp_path / "again.jsonl")
    other = write(plan_of(seats=3, options={"last_turn": 3}, seed=2), tmp_path / "other.jsonl")
    assert verify(again, find).result.digest == verify(record, find).result.digest != verify(other, find).result.digest


def test_the_digest_has_no_seed_so_equal_play_is_told_from_different_play() -> None:
    one, other = (
        Table(plan_of("yunnan", 3, seed=seed, options={"initial_order": "red+blue+green", "openings": 0}))
        for seed in (1, 2)
    )
    assert one.play_out().digest == other.play_out().digest


def test_the_digest_has_no_names_and_no_times(tmp_path: Path) -> None:
    slow, quick = (Table(plan_of(options={"last_turn": 2})) for _ in range(2))
    slow.wait(3)
    assert slow.play_out().digest == quick.play_out().digest


def test_the_digest_tells_different_actions_apart_whatever_comes_of_them() -> None:
    digests = set()
    for order in (slice(0, 2), slice(1, None, -1)):
        table = sealed()
        table.answer(0, table.open[0].actions[order])
        digests.add(table.play_out().digest)
    assert len(digests) == 2


def test_the_digest_tells_different_draws_apart_whatever_comes_of_them() -> None:
    digests = set()
    for seed in (1, 2):
        table = sealed(seed=seed)
        while not table.finished:
            table.answer(min(table.open), [Commit()])  # nobody plays for the pots
        digests.add(table.said(Finish)[0].result.digest)
    assert len(digests) == 2


def test_what_is_hashed_is_written_in_one_way_only() -> None:
    assert canonical({"b": [1, None], "a": {"d": "ü", "c": True}}) == b'{"a":{"c":true,"d":"\\u00fc"},"b":[1,null]}'


def test_every_32nd_action_comes_with_the_digest_of_the_state() -> None:
    table = Table(plan_of(seats=3))
    decisions = table.play_out().decisions
    assert decisions > 64
    assert [line["n"] for line in table.actions() if "state" in line] == list(range(32, decisions + 1, 32))


def test_every_changed_byte_of_every_line_is_noticed(record: Path, tmp_path: Path) -> None:
    data = record.read_bytes()
    for place in range(0, len(data), 61):
        path = tmp_path / "damaged.jsonl"
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(RecordError) as caught:
            verify(path, find)
        number = 1 + data.count(b"\n", 0, place)
        assert caught.value.line in (number, number + 1)


def test_every_deleted_line_is_noticed(record: Path, tmp_path: Path) -> None:
    for number in range(len(record.read_bytes().splitlines())):
        with pytest.raises(RecordError):
            verify(damaged(record, tmp_path, lambda lines: lines[:number] + lines[number + 1 :]), find)  # noqa: B023


def test_every_swap_of_two_lines_is_noticed(record: Path, tmp_path: Path) -> None:
    count = len(record.read_bytes().splitlines())
    for number in range(count - 1):
        for other in {number + 1, count - 1} - {number}:

            def swap(lines: list[bytes], one: int = number, two: int = other) -> list[bytes]:
                lines[one], lines[two] = lines[two], lines[one]
                return lines

            with pytest.raises(RecordError):
                verify(damaged(record, tmp_path, swap), find)


def test_every_truncation_is_noticed_and_says_where(record: Path, tmp_path: Path) -> None:
    lines = record.read_bytes().splitlines(keepends=True)
    for number in range(len(lines)):
        with pytest.raises(RecordError) as caught:
            verify(damaged(record, tmp_path, lambda whole: whole[:number]), find)  # noqa: B023
        assert caught.value.line in (0, number + 1)
        with pytest.raises(RecordError):
            verify(damaged(record, tmp_path, lambda whole: [*whole[:number], whole[number][:-20]]), find)  # noqa: B023


def test_a_doubled_or_added_line_is_noticed(record: Path, tmp_path: Path) -> None:
    for change in (
        lambda lines: [lines[0], *lines],
        lambda lines: [*lines, lines[-1]],
        lambda lines: [*lines, b"\n"],
        lambda lines: [*lines[:5], b"{}\n", *lines[5:]],
    ):
        with pytest.raises(RecordError):
            verify(damaged(record, tmp_path, change), find)


FORGERIES: list[tuple[str, Callable[[list[dict[str, Any]]], Any], str]] = [
    ("another action", lambda lines: lines[2].update(action="send(tanger)"), "not legal"),
    ("no action of the game", lambda lines: lines[2].update(action="castle"), "not an action"),
    ("another seat", lambda lines: lines[2].update(seat=(lines[2]["seat"] + 1) % 3), "is not to act"),
    ("a seat that is not there", lambda lines: lines[2].update(seat=7), "names seat 7"),
    ("a wrong count", lambda lines: lines[2].update(n=9), "action 1 comes here"),
    ("another decider", lambda lines: lines[2].update(by="forced"), "forced decided"),
    ("a default for a seat that is in", lambda lines: lines[2].update(by="default"), "is not out"),
    ("a time that is not a number", lambda lines: lines[2].update(ms="long"), "milliseconds"),
    ("chance that is not drawn", lambda lines: lines[2].update(chance=[["bag", 1]]), "do not draw"),
    ("another start", lambda lines: lines[1]["chance"].reverse(), "chance"),
    ("another score", lambda lines: lines[-2]["seats"][0].update(score=99), "differs in seats"),
    ("another rank", lambda lines: lines[-2]["seats"][0].update(rank=1 + lines[-2]["seats"][0]["rank"]), "differs in seats"),
    ("another digest", lambda lines: lines[-2].update(digest="0" * 64), "differs in digest"),
    ("another seed", lambda lines: lines[-1].update(seed=2), "committed to"),
    ("no seed", lambda lines: lines.pop(), "is missing"),
    ("no result", lambda lines: lines.pop(-2), "not the result"),
    ("another game", lambda lines: lines[0].update(game="chess"), "there is no game 'chess'"),
    ("another board", lambda lines: lines[0]["board"]["family"].update(start_coins=8), "state"),
    ("a broken board", lambda lines: lines[0].update(board={}), "is missing"),
    ("another state on the way", lambda lines: next(line for line in lines[2:] if "state" in line).update(state="0" * 64), "the digests differ"),
    ("another option", lambda lines: lines[0]["options"].update(last_turn=4), "not legal|not over"),
    ("a later format", lambda lines: lines[0].update(format=99), "format 99"),
    ("too many bots", lambda lines: lines[0]["bots"].append("one more"), "names for 3 seats"),
    ("a clock that is none", lambda lines: lines[0].update(clock="fast"), "clock"),
    ("nonsense for options", lambda lines: lines[0].update(options=[1]), "JSON object"),
    ("a strike without end", lambda lines: lines.insert(2, {"type": "strike", "seat": 0, "reason": "rude"}), "strike"),
    ("out without strikes", lambda lines: lines.insert(2, {"type": "out", "seat": 0, "reason": "illegal", "detail": ""}), "strike"),
    ("a line of no type", lambda lines: lines.insert(2, {"type": "joke"}), "not of type action"),
    ("something after the end", lambda lines: lines.append({"type": "seed", "seed": 1}), "comes after the end"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "reason"),
    [(change, reason) for _, change, reason in FORGERIES],
    ids=[name for name, _, _ in FORGERIES],
)
def test_a_forged_record_with_a_right_chain_is_found_out_by_playing_it_again(
    record: Path, tmp_path: Path, change: Callable[[list[dict[str, Any]]], Any], reason: str
) -> None:
    lines = [json.loads(line) for line in record.read_bytes().splitlines()]
    change(lines)
    path = tmp_path / "forged.jsonl"
    path.write_bytes(chained(lines))
    with pytest.raises(RecordError, match=reason):
        verify(path, find)


def test_chance_that_the_seed_does_not_give_is_found_out(tmp_path: Path) -> None:
    path = write(plan_of(SEALED, 2), tmp_path / "match.jsonl")
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    pot = next(line for line in lines if line["type"] == "action" and "chance" in line)
    pot["chance"][0][1] = (pot["chance"][0][1] + 1) % 6
    path.write_bytes(chained(lines))
    with pytest.raises(RecordError, match="but the seed gives"):
        verify(path, find_any)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b"hello\n", "this is another kind of file"),
        (b"{}\n", "this is another kind of file"),
        (b"\xff\xfe\x00\n", "this is another kind of file"),
        (b"\x7fELF\n\x00\x01\n\x02", "line 1: .*this is another kind of file"),
        (b"\x7fELF", "line 1: .*this is not a record"),
        (b"[" * 100_000 + b"\n", "this is another kind of file"),
        (chained([{"type": "header"}]), "format"),
        (chained([{"a": 1}]), "type header"),
    ],
)
def test_a_file_that_is_no_record_is_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "no.jsonl"
    path.write_bytes(data)
    with pytest.raises(RecordError, match=reason):
        verify(path, find)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="there is no such file"):
        verify(tmp_path / "nothing", find)


def test_a_line_of_deeply_nested_json_is_refused(tmp_path: Path) -> None:
    body = b'{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}"
    digest = hashlib.sha256(FIRST_HASH.encode() + body).hexdigest().encode()
    path = tmp_path / "deep.jsonl"
    path.write_bytes(body[:-1] + b',"hash":"' + digest + b'"}\n')
    with pytest.raises(RecordError):
        verify(path, find)


def test_a_match_with_faults_verifies(tmp_path: Path) -> None:
    table = Table(plan_of(seats=3, options={"last_turn": 3, "first_player": 0}, clock="0+10/10"))
    for _ in range(3):
        table.answer(0, 99)
    table.wait(10.1)
    table.open.pop(0, None)
    table.play_out()
    path = table.record(tmp_path / "table.jsonl")
    result = verify(path, find).result
    assert [seat.outcome.value for seat in result.seats] == ["illegal", "played", "played"]


def test_a_match_with_a_window_verifies_without_a_clock(tmp_path: Path) -> None:
    table = Table(plan_of(SEALED, 3, options={"timer": 5}, clock="99+0/99"))
    while table.match.result is None:
        table.answer(0, [*(action for action in table.open[0].actions[:1] if isinstance(action, Lay)), Commit()])
        if table.match.result is None and 0 not in table.open:
            table.wait(5.1)
    assert verify(table.record(tmp_path / "table.jsonl"), find_any).result.digest == table.match.result.digest


def test_a_corrected_board_goes_whole_into_the_record(tmp_path: Path) -> None:
    game = find("cargo_noir")
    from copy import deepcopy

    from referee.registry import shipped_board

    board = deepcopy(shipped_board(game))
    board["cards"]["yacht"]["cost"] = 9
    plan = plan_of(options={"last_turn": 3})
    corrected = MatchPlan(game, game.setup(2, {"last_turn": 3}, board), "m", 1, plan.bots, plan.control)
    path = write(corrected, tmp_path / "corrected.jsonl")
    assert json.loads(path.read_bytes().splitlines()[0])["board"]["cards"]["yacht"]["cost"] == 9
    verify(path, find)


def test_a_match_from_a_position_verifies(tmp_path: Path) -> None:
    table = Table(plan_of(options={"last_turn": 4}))
    for _ in range(12):
        table.answer(min(table.open), 0)
    plan = plan_of(options={"last_turn": 4}, position=table.match.state.to_json(), seed=5)
    path = write(plan, tmp_path / "from.jsonl")
    assert verify(path, find).result.seats


def test_an_unfinished_record_does_not_have_the_final_name(tmp_path: Path) -> None:
    writer = RecordWriter(tmp_path / "match.jsonl")
    writer.append({"type": "header"})
    [part] = tmp_path.iterdir()
    assert part.match("match.jsonl.*.part")
    assert len(read_lines(part)) == 1
    writer.discard()
    assert not list(tmp_path.iterdir())


def test_two_that_write_one_record_do_not_mix(tmp_path: Path) -> None:
    writers = [RecordWriter(tmp_path / "match.jsonl") for _ in range(2)]
    for number in range(3):
        for writer in writers:
            writer.append({"type": "header", "number": number})
    hashes = [writer.finish() for writer in writers]
    assert read_lines(tmp_path / "match.jsonl")[-1].hash == hashes[1]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_record_is_written_to_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to("match.jsonl")
    writer = RecordWriter(tmp_path / "link.jsonl")
    writer.append({"type": "header"})
    writer.finish()
    assert (tmp_path / "link.jsonl").is_symlink()
    assert len(read_lines(tmp_path / "match.jsonl")) == 1


def test_a_disk_that_takes_only_a_part_of_a_line_is_given_the_rest(tmp_path: Path) -> None:
    class Slow(io.FileIO):
        def write(self, data: Any, /) -> int:
            return super().write(data[:7])

    writer = RecordWriter(tmp_path / "match.jsonl", lambda part: Slow(part, "wb"))
    writer.append({"type": "header"})
    writer.finish()
    assert len(read_lines(tmp_path / "match.jsonl")) == 1


def test_a_full_disk_is_said_with_the_name_of_the_record(tmp_path: Path) -> None:
    def full(part: Path) -> BinaryIO:
        part.touch()
        return Path("/dev/full").open("wb", buffering=0)

    writer = RecordWriter(tmp_path / "match.jsonl", full)
    with pytest.raises(OSError, match=r"cannot be written: No space left on device.*match\.jsonl"):
        writer.append({"type": "header"})
    writer.discard()
    assert not list(tmp_path.iterdir())


def test_only_files_of_a_sensible_size_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(RecordError, match="is not a regular file"):
            read_lines(path)
        with pytest.raises(BoardFileError, match="is not a regular file"):
            read_board_file(path)
    (tmp_path / "long").touch()
    os.truncate(tmp_path / "long", MAX_BYTES + 1)
    with pytest.raises(RecordError, match=f"has more than {MAX_BYTES} bytes"):
        read_lines(tmp_path / "long")


def test_a_file_that_is_written_is_there_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "picture.svg"
    write_file(path, "old")
    (tmp_path / "link.svg").symlink_to(path)
    write_file(tmp_path / "link.svg", "new")
    assert path.read_text() == "new"
    assert (tmp_path / "link.svg").is_symlink()

    def half(file: Path, text: str, **_: Any) -> None:
        file.write_bytes(text.encode()[:2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(OSError, match=r"No space left on device: .*picture\.svg"):
        write_file(path, "newest")
    assert {file.name for file in tmp_path.iterdir()} == {"picture.svg", "link.svg"}
    assert path.read_text() == "new"


def test_a_replay_gives_the_state_after_every_action(record: Path) -> None:
    replay = Replay(record, find)
    steps = [(step.n, replay.state.is_over()) for step in replay]
    assert steps[-1] == (len(steps), True)
    assert replay.result is not None
