"""`dogana games` and `dogana play`."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from referee.games.cargo_noir.tests.table import place
from referee.registry import find, shipped_board
from tests.commands.conftest import ROOT, Dogana

QUICK = ("--option", "last_turn=3")


def matches(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def test_the_games_are_listed(dogana: Dogana) -> None:
    assert "Cargo Noir" in dogana("games").stdout
    [game] = [entry for entry in json.loads(dogana("games", "--json").stdout) if entry["game"] == "cargo_noir"]
    assert game["seats"] == [2, 3, 4, 5]
    assert "random" in game["house_bots"]
    assert {option["name"] for option in game["options"]} >= {"first_player", "last_turn"}
    assert "C7.2" in dogana("games", "cargo_noir").stdout


def test_a_match_is_shown_as_a_table(dogana: Dogana) -> None:
    shown = dogana("play", "cargo_noir", "random", "random", "--seed", 5, *QUICK).stdout
    assert "Cargo Noir, seed 5" in shown
    assert shown.count("random") == 2


def test_a_match_as_json_has_exactly_the_documented_entries(dogana: Dogana) -> None:
    [match] = matches(dogana("play", "cargo_noir", "random", "random", "--seed", 5, *QUICK, "--json").stdout)
    assert list(match) == ["game", "seed", "options", "match", "record", "digest", "decisions", "seats"]
    assert list(match["seats"][0]) == ["seat", "bot", "rank", "score", "outcome", "decisions", "think_ms"]
    assert (match["game"], match["seed"], match["options"]["last_turn"], match["record"]) == ("cargo_noir", 5, 3, None)
    assert match["decisions"] == sum(seat["decisions"] for seat in match["seats"])


def test_the_same_seed_gives_the_same_digest_in_process_and_over_the_wire(dogana: Dogana) -> None:
    outside = f"cmd:{sys.executable} -m agents.house random"
    digests = {
        matches(dogana("play", "cargo_noir", *seats, "--seed", 7, *QUICK, "--json").stdout)[0]["digest"]
        for seats in (("random", "random"), (outside, "random"), (outside, outside))
    }
    assert len(digests) == 1


def test_several_matches_count_their_seeds_up_and_go_into_a_folder(dogana: Dogana, tmp_path: Path) -> None:
    ended = dogana(
        "play", "cargo_noir", "random", "random", "--seed", 7, *QUICK, "--games", 3, "--record", "out", "--json"
    )
    played = matches(ended.stdout)
    assert [match["seed"] for match in played] == [7, 8, 9]
    assert len({match["digest"] for match in played}) == 3
    assert {tmp_path / match["record"] for match in played} == set((tmp_path / "out").iterdir())


def test_rotation_plays_every_seed_in_every_order_of_the_seats(dogana: Dogana) -> None:
    outside = f"cmd:{sys.executable} -m agents.house random"
    ended = dogana("play", "cargo_noir", "random", outside, *QUICK, "--rotate", "--seed", 1, "--json")
    assert [[seat["bot"] for seat in match["seats"]] for match in matches(ended.stdout)] == [
        ["random", outside],
        [outside, "random"],
    ]


def test_a_summary_of_several_matches_has_intervals(dogana: Dogana) -> None:
    shown = dogana("play", "cargo_noir", "random", "random", *QUICK, "--games", 4, "--rotate", "--seed", 1).stdout
    assert "8 matches, mean ± 95 %" in shown
    assert "50.0" in shown


def test_a_record_in_a_folder_never_overwrites_another(dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    for _ in range(2):
        dogana("play", "cargo_noir", "random", "random", "--seed", 7, *QUICK, "--record", "out")
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_a_corrected_board_is_played_with(dogana: Dogana, tmp_path: Path) -> None:
    text = (ROOT / "referee" / "games" / "cargo_noir" / "board.toml").read_text()
    (tmp_path / "mine.toml").write_text(text.replace("start_coins = 7", "start_coins = 8"))
    arguments = ("play", "cargo_noir", "random", "random", "--seed", 3, *QUICK, "--json")
    [usual] = matches(dogana(*arguments).stdout)
    [corrected] = matches(dogana(*arguments, "--board", "mine.toml", "--record", "match.jsonl").stdout)
    assert usual["digest"] != corrected["digest"]
    (tmp_path / "mine.toml").unlink()
    dogana("verify", "match.jsonl")


def test_a_match_can_start_from_a_position(dogana: Dogana, tmp_path: Path) -> None:
    state = place(turn=11, casino={0: 3}, cards={1: {"villa": 1}}).to_json()
    (tmp_path / "position.json").write_text(json.dumps({"game": "cargo_noir", "seats": 2, "state": state}))
    [match] = matches(
        dogana(
            "play", "cargo_noir", "random", "random", "--from", "position.json", "--record", "m.jsonl", "--json"
        ).stdout
    )
    assert match["seats"][1]["score"] >= 6
    dogana("verify", "m.jsonl")


def test_what_a_failing_bot_wrote_is_shown_to_its_author(dogana: Dogana, tmp_path: Path) -> None:
    seat = f"cmd:{sys.executable} -m agents.hostile crash"
    ended = dogana("play", "cargo_noir", seat, "random", *QUICK)
    assert "seat 0 was out (crash): exited with status 1" in ended.stdout
    assert "  | RuntimeError: I have a bug" in ended.stderr


def test_logs_can_be_kept(dogana: Dogana, tmp_path: Path) -> None:
    seat = f"cmd:{sys.executable} -m agents.hostile illegal"
    dogana("play", "cargo_noir", seat, "random", *QUICK, "--logs", "logs")
    [log] = (tmp_path / "logs").iterdir()
    assert log.name.endswith("-seat0.log")
    assert "refused as illegal" in log.read_text()


def test_a_remote_agent_joins_with_the_announced_address_and_token(tmp_path: Path) -> None:
    match = subprocess.Popen(
        [sys.executable, "-m", "ladder", "play", "cargo_noir", "remote", "random", *QUICK],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert match.stderr is not None
    line = match.stderr.readline()
    address, token = (word.split("=")[1] for word in line.split()[-2:])
    subprocess.run(
        [sys.executable, "-m", "agents.house", "random"],
        env={"PYTHONPATH": str(ROOT), "DOGANA_ADDRESS": address, "DOGANA_TOKEN": token},
        check=True,
        timeout=60,
    )
    out, _ = match.communicate(timeout=60)
    assert match.returncode == 0
    assert "played" in out


BAD = [
    (["play", "chess", "random", "random"], "there is no game 'chess'; the games are: cargo_noir"),
    (["play", "cargo_noir", "randm", "random"], "there is no house bot 'randm'; a seat is one of"),
    (["play", "cargo_noir", "random"], "cargo_noir is for 2 to 5 seats, not 1"),
    (["play", "cargo_noir", *["random"] * 6], "cargo_noir is for 2 to 5 seats, not 6"),
    (["play", "cargo_noir", "random", "cmd:"], "needs a command"),
    (["play", "cargo_noir", "random", "cmd:'"], "cannot be read as a command"),
    (["play", "cargo_noir", "random", "cmd:no-such-program"], "there is no program 'no-such-program'"),
    (["play", "cargo_noir", "random", "cmd:false"], "exited with status 1 before it joined"),
    (["play", "cargo_noir", "random", "random", "-o", "colour=red"], "has no option 'colour'; its options are:"),
    (["play", "cargo_noir", "random", "random", "-o", "last_turn=99"], "track or a number from 2 to 20, not '99'"),
    (["play", "cargo_noir", "random", "random", "-o", "last_turn"], "must be written as NAME=VALUE"),
    (["play", "cargo_noir", "random", "random", "-o", "last_turn=3", "-o", "last_turn=4"], "given twice"),
    (["play", "cargo_noir", "random", "random", "-o", "first_player=4"], "names seat 4"),
    (["play", "cargo_noir", "random", "random", "--clock", "5"], "write bank+increment/cap"),
    (["play", "cargo_noir", "random", "random", "--board", "none.toml"], "cannot read board none.toml"),
    (["play", "cargo_noir", "random", "random", "--from", "none.json"], "position none.json: cannot be read"),
    (["play", "cargo_noir", "random", "random", "--record", "no/such/folder.jsonl"], "there is no folder no/such"),
    (["play", "cargo_noir", "random", "remote", "--games", "2"], "leave out --games"),
    (["play", "cargo_noir", "random", "remote", "--wait", "0.2"], "seat 1: did not join within 0.2 s"),
    (["play", "cargo_noir", "random", "remote", "--listen", "no-such-host:1"], "cannot listen on no-such-host:1"),
    (["play", "cargo_noir", "random", "remote", "--tls-cert", "a.pem"], "needs both --tls-cert and --tls-key"),
    (["play", "cargo_noir", "random", "remote", "--tls-cert", "a.pem", "--tls-key", "b.pem"], "a.pem"),
    (["games", "chess"], "there is no game 'chess'"),
]


@pytest.mark.parametrize(("arguments", "reason"), BAD, ids=[reason for _, reason in BAD])
def test_what_cannot_be_played_is_said_in_one_line_and_nothing_is_written(
    dogana: Dogana, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    if arguments[0] == "play" and "--record" not in arguments:
        arguments = [*arguments, "--record", "match.jsonl"]
    ended = dogana(*arguments, status=1)
    lines = [line for line in ended.stderr.splitlines() if not line.startswith("seat 1 waits")]
    assert len(lines) == 1
    assert lines[0].startswith("dogana: ")
    assert reason in lines[0]
    assert ended.stdout == ""
    assert not list(tmp_path.glob("*.jsonl*"))


@pytest.mark.parametrize(
    "arguments",
    [["play"], ["play", "cargo_noir"], ["castle"], ["play", "cargo_noir", "random", "random", "--seed", "x"]],
)
def test_wrong_usage_has_status_2(dogana: Dogana, arguments: list[str]) -> None:
    assert "Usage: " in dogana(*arguments, status=2).stderr


def test_a_port_that_is_in_use_is_said_in_one_line(dogana: Dogana) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        ended = dogana("play", "cargo_noir", "random", "remote", "--listen", address, status=1)
    assert f"cannot listen on {address}" in ended.stderr


def test_a_board_with_several_mistakes_is_refused_with_all_of_them(dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("[goods]\ntokens_per_kind = -1\n")
    ended = dogana("play", "cargo_noir", "random", "random", "--board", "bad.toml", status=1)
    assert "board.goods.tokens_per_kind" in ended.stderr
    assert "board.cards is missing" in ended.stderr
    for text in ("[[[", "a = " + "[" * 5000, "a = " + "1" * 5000, "\x00"):
        (tmp_path / "bad.toml").write_text(text)
        assert (
            "bad.toml is not TOML"
            in dogana("play", "cargo_noir", "random", "random", "--board", "bad.toml", status=1).stderr
        )


def test_a_position_of_another_table_is_refused(dogana: Dogana, tmp_path: Path) -> None:
    state = place(casino={0: 3}).to_json()
    (tmp_path / "p.json").write_text(json.dumps({"game": "cargo_noir", "seats": 2, "state": state}))
    play = ("play", "cargo_noir", "random", "random")
    assert "is for 2 seats" in dogana(*play, "random", "--from", "p.json", status=1).stderr
    assert "brings its own options" in dogana(*play, "--from", "p.json", "-o", "last_turn=3", status=1).stderr


def test_interrupting_a_match_leaves_nothing_half_written(tmp_path: Path) -> None:
    match = subprocess.Popen(
        [sys.executable, "-m", "ladder", "play", "cargo_noir", f"cmd:{sys.executable} -m agents.hostile hang", "random",
         "--record", str(tmp_path / "match.jsonl")],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while not list(tmp_path.glob("*.part")) and time.monotonic() < deadline:
        time.sleep(0.05)
    match.send_signal(2)
    _, error = match.communicate(timeout=30)
    assert match.returncode == 130
    assert error == ""
    assert not list(tmp_path.iterdir())


def test_shipped_boards_are_the_ones_that_are_played_with() -> None:
    assert shipped_board(find("cargo_noir"))["family"]["start_coins"] == 7
