"""`dogana verify`, `dogana replay` and `dogana position`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from referee.live.matches.in_process import play_in_process
from referee.records.verify import Replay
from referee.records.viewpoint import Viewpoint
from referee.registry import find
from tests.cases import mostly_long
from tests.commands.conftest import ROOT, Dogana


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "match.jsonl"
    play_in_process("cargo_noir", ["random", "random"], seed=5, options={"last_turn": 3}, record=path)
    return path


def test_verify_has_status_0_only_if_all_records_hold(dogana: Dogana, record: Path) -> None:
    assert "holds" in dogana("verify", record).stdout
    lines = record.read_text().splitlines(keepends=True)
    lines[4] = lines[4].replace('"seat":', '"Seat":')
    (record.parent / "bad.jsonl").write_text("".join(lines))
    ended = dogana("verify", record, "bad.jsonl", "none.jsonl", status=1)
    assert "bad.jsonl: line 5: was changed" in ended.stdout
    assert "none.jsonl: cannot be read" in ended.stdout
    as_json = [
        json.loads(line) for line in dogana("verify", record, "bad.jsonl", "--json", status=1).stdout.splitlines()
    ]
    assert [(entry["holds"], entry.get("line")) for entry in as_json] == [(True, None), (False, 5)]


def test_verify_says_what_it_proved_and_for_which_lines_it_takes_the_referees_word(
    dogana: Dogana, tmp_path: Path
) -> None:
    seat = f"cmd:{sys.executable} {ROOT / 'agents' / 'hostile.py'} crash"
    dogana("play", "cargo_noir", seat, "random", "-o", "last_turn=3", "--record", "match.jsonl", status=3)
    holds, proved, word = dogana("verify", "match.jsonl").stdout.splitlines()
    assert holds.startswith("holds  match.jsonl: ")
    assert (
        "proved: every action by the rules on the shipped board, chance by the seed that fits its commitment, "
        in proved
    )
    lines = [json.loads(line) for line in (tmp_path / "match.jsonl").read_bytes().splitlines()]
    [out] = [number for number, line in enumerate(lines, start=1) if line["type"] == "out"]
    assert f"out for crash (line {out})" in word
    assert "word: match id, options, clock, names, seed commitment (line 1), times (" in word
    as_json = json.loads(dogana("verify", "match.jsonl", "--json").stdout)
    assert as_json["referees_word"]["out for crash"] == [out]
    assert len(as_json["proved"]) == 4
    assert as_json["board"] == []


def test_verify_names_what_a_board_has_that_is_not_the_shipped_one(dogana: Dogana, tmp_path: Path) -> None:
    shipped = (ROOT / "referee" / "games" / "cargo_noir" / "board.toml").read_text()
    (tmp_path / "board.toml").write_text(shipped.replace("tokens_per_kind = 14", "tokens_per_kind = 15"))
    play = ("play", "cargo_noir", "random", "random", "-o", "last_turn=3", "--record", "match.jsonl")
    dogana(*play, "--board", "board.toml")
    _, proved, board, word = dogana("verify", "match.jsonl").stdout.splitlines()
    assert "every action by the rules on the board in its header, " in proved
    assert board.strip() == "not the shipped board: goods.tokens_per_kind is 15, not 14"
    assert "the referee's word: board, match id, " in word
    as_json = json.loads(dogana("verify", "match.jsonl", "--json").stdout)
    assert as_json["board"] == ["goods.tokens_per_kind is 15, not 14"]
    assert as_json["referees_word"]["board"] == [1]


def test_replay_shows_every_step_and_the_result(here: Dogana, record: Path) -> None:
    printed = here("replay", record).stdout
    count = sum('"type":"action"' in line for line in record.read_text().splitlines())
    assert f"{count:5}  seat" in printed
    replay, words = Replay(record, find), []
    page = Viewpoint(replay, None)
    for step in replay:
        page.follow(step)
        words += [f"{step.n:5}  seat {step.seat}  {page.tell()[0]}", *(f"       {line}" for line in page.tell()[1:])]
    said = [line.removesuffix(" (the only legal action)") for line in printed.splitlines()]
    assert said[3 : 3 + len(words)] == words
    assert " -> " not in printed
    assert "place 1: seat" in printed


def test_replay_shows_refused_answers_and_the_end_of_a_seat_at_their_step(dogana: Dogana, tmp_path: Path) -> None:
    illegal = f"cmd:{sys.executable} {ROOT / 'agents' / 'hostile.py'} illegal"
    dogana(
        "play", "cargo_noir", illegal, "random", "-o", "last_turn=3", "--seed", 5, "--record", "match.jsonl", status=3
    )
    for viewer in ((), ("--as", 0), ("--as", 1)):
        printed = dogana("replay", "match.jsonl", *viewer).stdout.splitlines()
        [first, *_] = [number for number, line in enumerate(printed) if "struck" in line]
        assert printed[first - 1].startswith("    2  seat 0")
        reason = printed[first].removeprefix("       seat 0  is struck (illegal)")
        assert reason.startswith(": index ")
        wanted = [f"       seat 0  is {what} (illegal){reason}" for what in ("struck", "struck", "struck", "out")]
        assert printed[first : first + 4] == wanted
        assert printed[first + 4].startswith("    3  seat 0")


def test_replay_as_json_has_an_object_for_each_step(here: Dogana, record: Path) -> None:
    steps = [json.loads(line) for line in here("replay", record, "--json").stdout.splitlines()]
    assert [step["n"] for step in steps] == list(range(1, len(steps) + 1))
    assert list(steps[0]) == ["n", "seat", "action", "by", "ms", "changes"]


def test_replay_draws_every_step(dogana: Dogana, record: Path) -> None:
    dogana("replay", record, "--as", 1, "--svg", "pictures")
    pictures = sorted((record.parent / "pictures").iterdir())
    assert pictures[0].name == "00000.svg"
    assert len(pictures) == 1 + len(dogana("replay", record, "--json").stdout.splitlines())
    assert all(picture.read_text().startswith("<svg") for picture in pictures)


def test_pictures_of_a_match_name_the_bots_the_step_and_the_last_action(dogana: Dogana, record: Path) -> None:
    dogana("replay", record, "--svg", "pictures")
    steps = [json.loads(line) for line in dogana("replay", record, "--json").stdout.splitlines()]
    last = (record.parent / "pictures" / f"{len(steps):05}.svg").read_text()
    assert f"Step {len(steps)} of {len(steps)}" in last
    assert "Seat 0 is random" in last
    dogana("replay", record, "--at", 12, "--svg", "one")
    alone, in_a_row = (record.parent / folder / "00012.svg" for folder in ("one", "pictures"))
    assert alone.read_text() == in_a_row.read_text()


def test_pictures_stand_still_while_others_plan_in_secret(dogana: Dogana, tmp_path: Path) -> None:
    dogana("play", "venezia", "random", "random", "--seed", 3, "--record", "match.jsonl")
    dogana("replay", "match.jsonl", "--svg", "pictures")
    steps = [json.loads(line) for line in dogana("replay", "match.jsonl", "--json").stdout.splitlines()]
    pictures = [picture.read_text() for picture in sorted((tmp_path / "pictures").iterdir())]
    secret = [step["n"] for step in steps if step["action"] is None and not step["changes"]]
    assert len(secret) > 5
    assert all(pictures[n] == pictures[n - 1] for n in secret)
    assert len(set(pictures)) > len(steps) - len(secret)


def test_a_step_can_be_written_out_as_a_position_and_played_on(dogana: Dogana, record: Path) -> None:
    written = dogana("replay", record, "--at", 12, "--json").stdout
    (record.parent / "position.json").write_text(written)
    printed = dogana("position", "position.json").stdout
    assert "is to act:" in printed
    as_json = json.loads(dogana("position", "position.json", "--json").stdout)
    assert as_json["position"] == json.loads(written)
    assert as_json["problems"] == []
    [legal] = as_json["to_act"].values()
    assert legal
    dogana("play", "cargo_noir", "random", "random", "--from", "position.json")
    dogana("position", "position.json", "--svg", "position.svg")
    assert (record.parent / "position.svg").read_text().startswith("<svg")


def test_the_position_before_the_first_action(here: Dogana, record: Path) -> None:
    assert json.loads(here("replay", record, "--at", 0, "--json").stdout)["state"]["turn"] == 1
    assert "after 0 actions" in here("replay", record, "--at", 0).stdout


def test_everything_that_is_wrong_with_a_position_is_listed(here: Dogana, record: Path) -> None:
    position = json.loads(here("replay", record, "--at", 12, "--json").stdout)
    position["state"]["bank"] = 1
    position["state"]["phase"] = "P7"
    position["options"]["colour"] = "red"
    path = record.parent / "wrong.json"
    path.write_text(json.dumps(position))
    assert f"wrong: {path}: cargo_noir has no option 'colour'" in here("position", path, status=1).stdout
    del position["options"]["colour"]
    path.write_text(json.dumps(position))
    printed = here("position", path, status=1).stdout
    assert f"wrong: {path}: position.state.phase must be one of P1" in printed
    assert f"wrong: {path}: I1: 1 coins in the bank" in printed
    assert len(json.loads(here("position", path, "--json", status=1).stdout)["problems"]) >= 2
    refused = here("play", "cargo_noir", "random", "random", "--from", path, status=1).stderr
    assert len(refused.splitlines()) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "nonsense",
        '{"game": 3}',
        "[" * 100_000,
        '{"game": "chess", "seats": 2, "state": {}}',
        "1" * 5000,
    ],
)
def test_a_file_that_is_no_position_is_refused(here: Dogana, tmp_path: Path, text: str) -> None:
    (tmp_path / "p.json").write_text(text)
    assert here("position", "p.json", status=1).stdout.startswith("wrong: p.json: ")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--as", "7"], "there is no seat 7; the seats are 0 to 1"),
        (["--at", "99999"], "has only"),
    ],
)
def test_replay_says_what_cannot_be_shown(here: Dogana, record: Path, arguments: list[str], reason: str) -> None:
    assert reason in here("replay", record, *arguments, status=1).stderr


def test_a_truncated_record_is_shown_up_to_where_it_breaks(here: Dogana, record: Path) -> None:
    lines = record.read_text().splitlines(keepends=True)
    (record.parent / "cut.jsonl").write_text("".join(lines[:6]))
    ended = here("replay", "cut.jsonl", status=1)
    assert "    4  seat" in ended.stdout
    assert "line 7: is missing: the record is cut off" in ended.stderr


def test_what_is_no_file_is_refused_at_once(here: Dogana, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path in ("folder", "pipe", "/dev/zero"):
        assert f"broken {path}: cannot be read: is not a regular file" in here("verify", path, status=1).stdout
        assert f"wrong: {path}: cannot be read: is not a regular file" in here("position", path, status=1).stdout
        for command in (
            ["replay", path],
            ["play", "cargo_noir", "random", "random", "--from", path],
            ["play", "cargo_noir", "random", "random", "--board", path],
        ):
            [line] = here(*command, status=1).stderr.splitlines()
            assert path in line
            assert "is not a regular file" in line


def test_a_position_that_is_not_there_is_named(here: Dogana) -> None:
    assert here("position", "nope", status=1).stdout.startswith("wrong: nope: cannot be read: there is no such file")


def test_names_in_a_record_are_shown_as_they_are(dogana: Dogana, bot: str) -> None:
    dogana("play", "cargo_noir", f"{bot} [/x] :smile:", "random", "-o", "last_turn=2", "--record", "[red]m :x:.jsonl")
    assert "[/x] :smile:" in dogana("replay", "[red]m :x:.jsonl").stdout.replace("\n", " ")
    assert "[red]m :x:.jsonl" in dogana("verify", "[red]m :x:.jsonl").stdout


@pytest.mark.parametrize(
    "arguments",
    mostly_long(
        [(["games"],), (["replay", "match.jsonl", "--json"],), (["games", "--json"],), (["replay", "match.jsonl"],)], 2
    ),
)
def test_output_that_cannot_be_written_is_said_in_one_line(dogana: Dogana, record: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = dogana(*arguments, status=1, stdout=full)
    assert ended.stderr == "dogana: standard output: No space left on device\n"


def test_files_that_cannot_be_written_whole_are_not_left_behind(dogana: Dogana, record: Path) -> None:
    written = dogana("replay", record, "--at", 12, "--json").stdout
    (record.parent / "position.json").write_text(written)
    before = set(record.parent.rglob("*"))
    for arguments, name in (
        (["replay", record, "--svg", "pictures"], "pictures/00000.svg"),
        (["replay", record, "--at", 3, "--svg", "pictures"], "pictures/00003.svg"),
        (["position", "position.json", "--svg", "p.svg"], "p.svg"),
        (["play", "cargo_noir", "random", "random", "--record", "new.jsonl"], "new.jsonl"),
    ):
        [line] = dogana(*arguments, status=1, max_bytes=4096).stderr.splitlines()
        assert line.startswith("dogana: ")
        assert name in line
        assert "File too large" in line
    assert set(record.parent.rglob("*")) - before <= {record.parent / "pictures"}
