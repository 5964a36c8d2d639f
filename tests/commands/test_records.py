"""`dogana verify`, `dogana replay` and `dogana position`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.conftest import Dogana


@pytest.fixture
def record(dogana: Dogana, tmp_path: Path) -> Path:
    dogana("play", "cargo_noir", "random", "random", "--seed", 5, "-o", "last_turn=3", "--record", "match.jsonl")
    return tmp_path / "match.jsonl"


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


def test_replay_shows_every_step_and_the_result(dogana: Dogana, record: Path) -> None:
    shown = dogana("replay", record).stdout
    count = sum('"type":"action"' in line for line in record.read_text().splitlines())
    assert f"{count:5}  seat" in shown
    assert "seats.0.safe 7 -> " in shown or "seats.1.safe 7 -> " in shown
    assert "place 1: seat" in shown


def test_replay_as_json_has_an_object_for_each_step(dogana: Dogana, record: Path) -> None:
    steps = [json.loads(line) for line in dogana("replay", record, "--json").stdout.splitlines()]
    assert [step["n"] for step in steps] == list(range(1, len(steps) + 1))
    assert list(steps[0]) == ["n", "seat", "action", "by", "ms", "changes"]


def test_replay_draws_every_step(dogana: Dogana, record: Path) -> None:
    dogana("replay", record, "--as", 1, "--svg", "pictures")
    pictures = sorted((record.parent / "pictures").iterdir())
    assert pictures[0].name == "00000.svg"
    assert len(pictures) == 1 + len(dogana("replay", record, "--json").stdout.splitlines())
    assert all(picture.read_text().startswith("<svg") for picture in pictures)


def test_a_step_can_be_written_out_as_a_position_and_played_on(dogana: Dogana, record: Path) -> None:
    written = dogana("replay", record, "--at", 12, "--json").stdout
    (record.parent / "position.json").write_text(written)
    shown = dogana("position", "position.json").stdout
    assert "is to act:" in shown
    as_json = json.loads(dogana("position", "position.json", "--json").stdout)
    assert as_json["position"] == json.loads(written)
    assert as_json["problems"] == []
    [legal] = as_json["to_act"].values()
    assert legal
    dogana("play", "cargo_noir", "random", "random", "--from", "position.json")
    dogana("position", "position.json", "--svg", "position.svg")
    assert (record.parent / "position.svg").read_text().startswith("<svg")


def test_the_position_before_the_first_action(dogana: Dogana, record: Path) -> None:
    assert json.loads(dogana("replay", record, "--at", 0, "--json").stdout)["state"]["turn"] == 1
    assert "after 0 actions" in dogana("replay", record, "--at", 0).stdout


def test_everything_that_is_wrong_with_a_position_is_listed(dogana: Dogana, record: Path) -> None:
    position = json.loads(dogana("replay", record, "--at", 12, "--json").stdout)
    position["state"]["bank"] = 1
    position["state"]["phase"] = "P7"
    position["options"]["colour"] = "red"
    path = record.parent / "wrong.json"
    path.write_text(json.dumps(position))
    assert "wrong: cargo_noir has no option 'colour'" in dogana("position", path, status=1).stdout
    del position["options"]["colour"]
    path.write_text(json.dumps(position))
    shown = dogana("position", path, status=1).stdout
    assert "wrong: position.state.phase must be one of P1" in shown
    assert "wrong: I1: 1 coins in the bank" in shown
    assert len(json.loads(dogana("position", path, "--json", status=1).stdout)["problems"]) >= 2
    refused = dogana("play", "cargo_noir", "random", "random", "--from", path, status=1).stderr
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
def test_a_file_that_is_no_position_is_refused(dogana: Dogana, tmp_path: Path, text: str) -> None:
    (tmp_path / "p.json").write_text(text)
    assert dogana("position", "p.json", status=1).stdout.startswith("wrong: ")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--as", "7"], "there is no seat 7; the seats are 0 to 1"),
        (["--at", "99999"], "has only"),
    ],
)
def test_replay_says_what_cannot_be_shown(dogana: Dogana, record: Path, arguments: list[str], reason: str) -> None:
    assert reason in dogana("replay", record, *arguments, status=1).stderr


def test_a_truncated_record_is_shown_up_to_where_it_breaks(dogana: Dogana, record: Path) -> None:
    lines = record.read_text().splitlines(keepends=True)
    (record.parent / "cut.jsonl").write_text("".join(lines[:6]))
    ended = dogana("replay", "cut.jsonl", status=1)
    assert "    4  seat" in ended.stdout
    assert "line 7: is missing: the record is cut off" in ended.stderr
