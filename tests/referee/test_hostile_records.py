"""Records and positions that somebody made to be slow, ambiguous or misleading."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from referee.kit.chance import ChanceError, ReplayChance, commitment
from referee.kit.document import MAX_DEPTH, MAX_UNKNOWN, Document, parse_json
from referee.match.plan import canonical
from referee.match.result import Fault, Outcome
from referee.records.chain import FIRST_HASH
from referee.records.position import PositionError, read_position
from referee.records.record import MAX_LINE_BYTES, MAX_LINES, RecordError, header
from referee.records.verify import Replay, verify
from referee.registry import find
from tests.growth import grows_in_proportion
from tests.referee.test_forged_claims import played
from tests.tables import Table, plan_of

Lines = list[dict[str, Any]]


def write(path: Path, bodies: list[bytes]) -> Path:
    """A record of lines as they are, with a chain that is right."""
    previous, whole = FIRST_HASH, []
    for body in bodies:
        previous = hashlib.sha256(previous.encode() + body).hexdigest()
        whole.append(body[:-1] + b',"hash":"' + previous.encode() + b'"}\n')
    path.write_bytes(b"".join(whole))
    return path


def encoded(lines: Lines) -> list[bytes]:
    return [json.dumps(line, separators=(",", ":")).encode() for line in lines]


# --- bounded work ------------------------------------------------------------------------------------------------


def refused(path: Path, reason: str) -> None:
    with pytest.raises(RecordError, match=reason) as caught:
        verify(path, find)
    assert len(caught.value.reason) < 1000


def test_nothing_is_parsed_after_the_first_line_that_does_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small compressed file can hold many long lines."""
    lines = encoded(played(0))
    path = write(tmp_path / "long.jsonl", [*lines[:2], b'{"type":"x"}', *lines[2:]])
    bodies = []

    def parse(data: bytes) -> object:
        bodies.append(data)
        return parse_json(data)

    monkeypatch.setattr("referee.records.record.parse_json", parse)
    refused(path, "line 3: is not of type action")
    assert bodies == [lines[-1], *lines[:2], b'{"type":"x"}']  # the last one may have the seed


def test_replayed_draws_are_taken_in_time_in_proportion(tmp_path: Path) -> None:
    def take(count: int) -> None:
        chance = ReplayChance(None)
        chance.draws = deque([("bag", 1)] * count)
        stream = chance.stream("bag")
        for _ in range(count):
            stream.below(2)

    assert grows_in_proportion(take, 40_000)


def test_a_record_with_more_lines_or_a_longer_line_than_any_match_has_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parse(data: bytes) -> object:
        raise AssertionError("nothing of it is to be parsed")

    monkeypatch.setattr("referee.records.record.parse_json", parse)
    (tmp_path / "lines.jsonl").write_bytes(b"{}\n" * 600_000)
    refused(tmp_path / "lines.jsonl", f"line {MAX_LINES + 1}: comes after {MAX_LINES} lines")
    (tmp_path / "line.jsonl").write_bytes(b"x" * (MAX_LINE_BYTES + 1) + b"\n")
    refused(tmp_path / "line.jsonl", f"line 1: has more than {MAX_LINE_BYTES} bytes")


@pytest.mark.parametrize("entry", ["seat", "action", "by", "n", "type", "chance"])
def test_what_a_record_says_is_quoted_only_in_part(tmp_path: Path, entry: str) -> None:
    lines = played(0)
    lines[2][entry] = [["x" * 1_000_000, 1]] if entry == "chance" else "x" * 1_000_000
    refused(write(tmp_path / "long.jsonl", encoded(lines)), ".")


def test_a_match_id_that_is_half_a_character_is_refused(tmp_path: Path) -> None:
    lines = played(0)
    lines[0]["match"] = "\ud800"
    refused(write(tmp_path / "match.jsonl", encoded(lines)), "match has half of a surrogate pair")


def test_a_permutation_that_is_too_long_is_named_by_its_length() -> None:
    chance = ReplayChance(None)
    chance.draws = deque([("bag", list(range(300_000)))])
    with pytest.raises(ChanceError, match=r"gives a list of 300000 where a permutation of 3 is drawn$"):
        chance.stream("bag").permutation(3)


def test_unknown_entries_of_a_position_are_named_up_to_a_number_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "position.json"
    state = {f"k{number}": 0 for number in range(80_000)}
    path.write_text(json.dumps({"game": "cargo_noir", "seats": 2, "state": state}, separators=(",", ":")))
    with pytest.raises(PositionError) as caught:
        read_position(path, find)
    unknown = [problem for problem in caught.value.problems if "not known here" in problem]
    assert len(unknown) == MAX_UNKNOWN + 1
    assert unknown[-1] == f"position.state has {80_000 - MAX_UNKNOWN} more entries that are not known here"


def test_unknown_entries_take_time_in_proportion() -> None:
    def finish(count: int) -> None:
        document = Document({f"key{number}": 0 for number in range(count)}, "file")
        for number in range(count // 2):
            document.raw(f"key{number}", 0)
        document.finish()

    assert grows_in_proportion(finish, 10_000)


# --- one meaning ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"a":1,"b":2,"a":1}', "the name 'a' occurs twice"),
        (b'{"a":{"b":1,"b":2}}', "the name 'b' occurs twice"),
        (b"[NaN]", "NaN is not a number"),
        (b"[-Infinity]", "-Infinity is not a number"),
        ('{"a":1}'.encode("utf-16"), "utf-8"),
        (b"\xff", "utf-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "nested too deeply"),
    ],
)
def test_json_that_has_two_meanings_or_none_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_json(data)


def test_json_of_a_depth_that_it_may_have_can_be_written_again() -> None:
    data = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert canonical(parse_json(data)) == data


@pytest.mark.parametrize("number", [0, 2, -2, -1])
def test_a_name_that_is_twice_in_a_line_of_a_record_is_refused(tmp_path: Path, number: int) -> None:
    bodies = encoded(played(0))
    bodies[number] = (
        bodies[number][:-1] + b',"type":"x","type":' + json.dumps(json.loads(bodies[number])["type"]).encode() + b"}"
    )
    refused(write(tmp_path / "twice.jsonl", bodies), "the name 'type' occurs twice in one object")


def test_a_name_that_is_twice_in_a_position_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"game":"cargo_noir","seats":2,"seats":3,"state":{}}')
    with pytest.raises(PositionError, match="the name 'seats' occurs twice"):
        read_position(tmp_path / "p.json", find)


@pytest.mark.parametrize("written_by", [0, 1, 99])
def test_a_record_of_another_format_is_recognised_by_its_format_whatever_else_is_in_it(
    tmp_path: Path, written_by: int
) -> None:
    lines = played(0)
    lines[0].update(format=written_by, dogana="9.9", novelty=1)
    refused(
        write(tmp_path / "other.jsonl", encoded(lines)),
        f"line 1: is in format {written_by}, written by Dogana '9.9'; this version reads format",
    )


# --- what is the referee's word --------------------------------------------------------------------------------------


def test_a_seat_is_out_for_start_only_before_the_first_action(tmp_path: Path) -> None:
    plan = plan_of(options={"last_turn": 3, "first_player": 0})
    absent = Table(plan, {1: Fault(Outcome.START, "did not join")})
    absent.play_out()
    lines = [header(plan), *absent.lines]
    assert verify(write(tmp_path / "absent.jsonl", encoded(lines)), find).result.seats[1].outcome is Outcome.START
    lines = played(0)
    place = next(number for number, line in enumerate(lines) if line.get("n") == 2)
    lines.insert(place, {"type": "out", "seat": 1, "reason": "start", "detail": ""})
    refused(write(tmp_path / "late.jsonl", encoded(lines)), "out for start, but the match has begun")


def test_a_record_that_holds_says_for_which_lines_there_is_only_the_referees_word(tmp_path: Path) -> None:
    plan = plan_of(options={"last_turn": 3, "first_player": 0}, clock="60+0/10")
    table = Table(plan)
    table.answer(0, 99)
    table.wait(10.5)
    table.fault(1, Fault(Outcome.CRASH, "exited with status 1"))
    table.play_out()
    lines = [header(plan), *table.lines]
    replay = Replay(write(tmp_path / "match.jsonl", encoded(lines)), find)
    list(replay)
    known = replay.trust()
    numbered = list(enumerate(lines, start=1))
    assert [known.word[claim] for claim in ("match id", "options", "clock", "names", "seed commitment")] == [[1]] * 5
    assert known.word["strike for illegal"] == [n for n, line in numbered if line.get("reason") == "illegal"] != []
    assert known.word["strike for timeout"] == [n for n, line in numbered if line.get("reason") == "timeout"] != []
    assert known.word["time was up"] == [n for n, line in numbered if line.get("by") == "clock"] != []
    assert known.word["out for crash"] == [n for n, line in numbered if line["type"] == "out"] != []
    assert set(known.word["times"]) >= {n for n, line in numbered if line.get("by") == "agent"}
    assert "chance by the seed that fits its commitment" in known.proved


def test_what_the_referee_alone_says_can_be_changed_and_the_record_still_holds(tmp_path: Path) -> None:
    """This is why `verify` names those lines."""
    plan = plan_of(options={"last_turn": 3, "first_player": 0})
    table = Table(plan)
    table.fault(1, Fault(Outcome.CRASH, "exited with status 1"))
    table.play_out()
    lines = [header(plan), *table.lines]
    lines[0].update(bots=["somebody", "else"], clock="600+0/600", match="another")
    lines[0]["seed_commitment"] = commitment("another", plan.seed)
    out = next(line for line in lines if line["type"] == "out")
    out.update(reason="disconnect", detail="")
    lines[-2]["seats"][1]["outcome"] = "disconnect"
    assert verify(write(tmp_path / "changed.jsonl", encoded(lines)), find).result.seats[1].outcome is Outcome.DISCONNECT
