"""`dogana games` and `dogana play`."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from referee.games.cargo_noir.tests.table import place
from referee.live.matches.series import keep, unsaved
from referee.registry import find, shipped_board
from tests.commands.conftest import ROOT, Dogana, start
from tests.matches import Referee
from tests.patience import patient
from tests.processes import wait_for_work

HOSTILE = ROOT / "agents" / "hostile.py"
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
    printed = dogana("play", "cargo_noir", "random", "random", "--seed", 5, *QUICK).stdout
    assert "Cargo Noir, seed 5" in printed
    assert printed.count("random") == 2


def test_a_match_as_json_has_exactly_the_documented_entries(dogana: Dogana) -> None:
    [match] = matches(dogana("play", "cargo_noir", "random", "random", "--seed", 5, *QUICK, "--json").stdout)
    assert list(match) == ["game", "seed", "options", "match", "record", "digest", "decisions", "lag_share", "seats"]
    assert list(match["seats"][0]) == ["seat", "bot", "rank", "score", "outcome", "decisions", "think_ms"]
    assert (match["game"], match["seed"], match["options"]["last_turn"], match["record"]) == ("cargo_noir", 5, 3, None)
    assert match["decisions"] == sum(seat["decisions"] for seat in match["seats"])


def test_a_bot_that_does_not_start_later_loses_only_that_match(dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "flaky.py").write_text(
        "import sys\n"
        "from pathlib import Path\n"
        "from dogana.sdk import play\n"
        "starts = Path('starts')\n"
        "count = len(starts.read_text()) if starts.exists() else 0\n"
        "starts.write_text('x' * (count + 1))\n"
        "if count == 1: sys.exit('no')\n"
        "play(lambda decision: 0)\n"
    )
    seats = (f"cmd:{sys.executable} flaky.py", "random")
    ended = dogana("play", "cargo_noir", *seats, *QUICK, "--games", 3, "--workers", 1, "--json", status=3)
    assert [match["seats"][0]["outcome"] for match in matches(ended.stdout)] == ["played", "start", "played"]


def test_a_long_series_begins_at_once() -> None:
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "ladder",
            "play",
            "cargo_noir",
            "random",
            "random",
            *QUICK,
            "--games",
            "1000000",
            "--json",
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as series:
        assert series.stdout is not None
        ready, _, _ = select.select([series.stdout], [], [], patient(20))
        series.kill()
    assert ready


def test_a_name_in_a_folder_is_taken_by_one_match_only(dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    play = ("play", "cargo_noir", "random", "random", "--seed", 7, *QUICK, "--record", "out")
    all_at_once = [start(tmp_path, *play) for _ in range(3)]
    for one in all_at_once:
        one.communicate(timeout=patient(60))
    assert [one.returncode for one in all_at_once] == [0, 0, 0]
    records = sorted((tmp_path / "out").iterdir())
    assert len(records) == 3
    assert all(path.suffix == ".jsonl" for path in records)
    dogana("verify", *records)


def test_a_name_that_was_taken_during_the_match_is_left_alone(tmp_path: Path) -> None:
    names = []
    for process in (1, 2):
        written = tmp_path / unsaved("yunnan-1", process)
        written.write_text("a record")
        names.append(keep(written, "yunnan-1").name)
    assert names == ["yunnan-1.jsonl", "yunnan-1-2.jsonl"]


def test_a_record_replaces_nothing_without_force(dogana: Dogana, tmp_path: Path) -> None:
    arguments = ("play", "cargo_noir", "random", "random", *QUICK, "--record")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "keep.txt").write_text("keep me")
    (tmp_path / "link").symlink_to("keep.txt")
    assert "pipe: is not a regular file" in dogana(*arguments, "pipe", status=1).stderr
    for name in ("keep.txt", "link"):
        assert f"{name} is there already; --force replaces it" in dogana(*arguments, name, status=1).stderr
    assert "pipe: is not a regular file" in dogana(*arguments, "pipe", "--force", status=1).stderr
    assert (tmp_path / "keep.txt").read_text() == "keep me"
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "to_record").symlink_to("empty.jsonl")
    for _ in range(2):  # over an empty file, then over a record
        dogana(*arguments, "to_record", "--force")
        dogana("verify", "empty.jsonl")
    assert (tmp_path / "to_record").is_symlink()


def test_a_name_that_is_empty_is_refused(dogana: Dogana, tmp_path: Path) -> None:
    for option in ("--record", "--logs"):
        ended = dogana("play", "cargo_noir", "random", "random", *QUICK, option, "", status=2)
        assert "needs the name of a file or folder" in ended.stderr
    assert not list(tmp_path.iterdir())


def test_names_of_bots_are_shown_as_they_are(dogana: Dogana, bot: str) -> None:
    bot += " [/x] [bold]y :smile:"
    for several in ((), ("--rotate", "--workers", 1)):
        printed = dogana("play", "cargo_noir", "random", bot, *QUICK, *several).stdout
        assert all(word in printed for word in ("[/x]", "[bold]y", ":smile:"))


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
    seat = f"cmd:{sys.executable} {HOSTILE} crash"
    ended = dogana("play", "cargo_noir", seat, "random", *QUICK, status=3)
    assert "seat 0 was out (crash): exited with status 1" in ended.stdout
    assert "  | RuntimeError: I have a bug" in ended.stderr


def test_logs_can_be_kept(dogana: Dogana, tmp_path: Path) -> None:
    seat = f"cmd:{sys.executable} {HOSTILE} illegal"
    dogana("play", "cargo_noir", seat, "random", *QUICK, "--logs", "logs", status=3)
    [log] = (tmp_path / "logs").iterdir()
    assert log.name.endswith("-seat0.log")
    assert "refused as illegal" in log.read_text()


@pytest.mark.long
def test_every_match_of_a_rotation_has_its_own_logs(dogana: Dogana, tmp_path: Path) -> None:
    seat = f"cmd:{sys.executable} -m house_bots random"
    arguments = ("play", "cargo_noir", seat, "random", *QUICK, "--games", 2, "--rotate", "--logs")
    dogana(*arguments, "logs")
    assert len(list((tmp_path / "logs").iterdir())) == 4
    dogana(*arguments, "logs2", "--record", "out")
    logs = {path.name.rpartition("-")[0] for path in (tmp_path / "logs2").iterdir()}
    assert logs == {path.stem for path in (tmp_path / "out").glob("[!.]*")}
    assert len(logs) == 4


def test_a_remote_agent_joins_with_the_announced_address_and_token(tmp_path: Path) -> None:
    with Referee(tmp_path) as referee:
        referee.play()
        status, printed, _ = referee.ending()
    assert status == 0
    assert "played" in printed


BAD = [
    (["play", "chess", "random", "random"], "there is no game 'chess'; the games are: cargo_noir"),
    (
        ["play", "cargo_noir", "randm", "random"],
        "there is no house bot 'randm' (did you mean random?); a seat is one of",
    ),
    (["play", "cargo_noir", "random"], "cargo_noir is for 2 to 5 seats, not 1"),
    (["play", "cargo_noir", *["random"] * 6], "cargo_noir is for 2 to 5 seats, not 6"),
    (["play", "cargo_noir", "random", "cmd:"], "needs a command"),
    (["play", "cargo_noir", "random", "cmd:'"], "cannot be read as a command"),
    (["play", "cargo_noir", "random", "random", "-o", "colour=red"], "has no option 'colour'; its options are:"),
    (["play", "cargo_noir", "random", "random", "-o", "last_turn=99"], "track or a number from 2 to 20, not '99'"),
    (["play", "cargo_noir", "random", "random", "-o", "last_turn=٣"], "track or a number from 2 to 20, not '٣'"),
    (["play", "cargo_noir", "random", "random", "-o", "last_turn"], "must be written as NAME=VALUE"),
    (["play", "cargo_noir", "random", "random", "-o", "last_turn=3", "-o", "last_turn=4"], "given twice"),
    (["play", "cargo_noir", "random", "random", "-o", "first_player=4"], "names seat 4"),
    (["play", "cargo_noir", "random", "random", "--clock", "5"], "write bank+increment/cap"),
    (["play", "cargo_noir", "random", "random", "--board", "none.toml"], "cannot read board none.toml"),
    (["play", "cargo_noir", "random", "random", "--from", "none.json"], "position none.json: cannot be read"),
    (["play", "cargo_noir", "random", "random", "--record", "no/such/folder.jsonl"], "there is no folder no/such"),
    (["play", "cargo_noir", "random", "remote", "--games", "2"], "leave out --games and --rotate"),
    (["play", "cargo_noir", "random", "random", "--watch", "--rotate"], "--watch and --listen are for a single match"),
    (["play", "cargo_noir", "random", "random", "--listen", "localhost:0", "--games", "2"], "are for a single match"),
    (["play", "cargo_noir", "random", "random", "--watch", "--json"], "leave out one of them"),
    (["play", "cargo_noir", "random", "random", "--listen", ""], "an address is host:port"),
    (["play", "cargo_noir", "random", "random", "--resume", "--record", "x"], "nothing in x says which series it has"),
    (["play", "cargo_noir", "random", "remote", "--tls-cert", "a.pem"], "needs both --tls-cert and --tls-key"),
    (["play", "cargo_noir", "random", "remote", "--tls-cert", "a.pem", "--tls-key", "b.pem"], "a.pem"),
    (["games", "chess"], "there is no game 'chess'"),
]


def said_in_one_line(dogana: Dogana, folder: Path, arguments: list[str], reason: str) -> None:
    if arguments[0] == "play" and "--record" not in arguments:
        arguments = [*arguments, "--record", "match.jsonl"]
    ended = dogana(*arguments, status=1)
    lines = [line for line in ended.stderr.splitlines() if not line.startswith("seat 1 waits")]
    assert len(lines) == 1
    assert lines[0].startswith("dogana: ")
    assert reason in lines[0]
    assert ended.stdout == ""
    assert not list(folder.glob("*.jsonl*"))


@pytest.mark.parametrize(("arguments", "reason"), BAD, ids=[reason for _, reason in BAD])
def test_what_cannot_be_played_is_said_in_one_line_and_nothing_is_written(
    here: Dogana, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    said_in_one_line(here, tmp_path, arguments, reason)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["play", "cargo_noir", "random", "cmd:no-such-program"], "there is no program 'no-such-program'"),
        (["play", "cargo_noir", "random", "cmd:false"], "exited with status 1 before it joined"),
        (["play", "cargo_noir", "random", "remote", "--wait", "0.2"], "seat 1: did not join within 0.2 s"),
        (["play", "cargo_noir", "random", "remote", "--listen", "no-such-host:1"], "cannot listen on no-such-host:1"),
    ],
)
def test_what_cannot_begin_is_said_in_one_line_and_nothing_is_written(
    dogana: Dogana, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    said_in_one_line(dogana, tmp_path, arguments, reason)


@pytest.mark.parametrize(
    "arguments",
    [["play"], ["play", "cargo_noir"], ["castle"], ["play", "cargo_noir", "random", "random", "--seed", "x"]],
)
def test_wrong_usage_has_status_2(here: Dogana, arguments: list[str]) -> None:
    assert "Usage: " in here(*arguments, status=2).stderr


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupting_a_match_leaves_nothing_half_written(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    words = ("play", "cargo_noir", f"cmd:{sys.executable} {HOSTILE} hang", "random", "--record")
    match = start(ROOT, *words, tmp_path / "match.jsonl")
    wait_for_work(match, lambda: list(tmp_path.glob("*.part")))
    assert list((tmp_path / "tmp").iterdir())
    match.send_signal(number)
    if number != signal.SIGINT:
        match.send_signal(number)  # shells and systemd send several
    _, error = match.communicate(timeout=patient(30))
    assert match.returncode == 128 + number
    assert error == "the match was interrupted: it has no result and no record\n"
    assert list(tmp_path.iterdir()) == [tmp_path / "tmp"]
    assert not list((tmp_path / "tmp").iterdir())


def test_stopping_a_match_that_ctrl_c_cannot_reach(tmp_path: Path) -> None:
    """As in the background of a script: SIGINT is ignored there."""
    match = subprocess.Popen(
        ["/bin/sh", "-c", 'trap "" INT HUP; exec "$@"', "sh", sys.executable, "-m", "ladder", "play", "cargo_noir",
         f"cmd:{sys.executable} {HOSTILE} hang", "random", "--record", str(tmp_path / "match.jsonl")],
        cwd=ROOT,
    )  # fmt: skip
    wait_for_work(match, lambda: list(tmp_path.glob("*.part")))
    match.send_signal(signal.SIGHUP)  # ignored too, as under nohup
    time.sleep(0.1)
    assert match.poll() is None
    match.send_signal(signal.SIGTERM)
    assert match.wait(patient(30)) == 128 + signal.SIGTERM
    assert not list(tmp_path.iterdir())


def test_shipped_boards_are_the_ones_that_are_played_with() -> None:
    assert shipped_board(find("cargo_noir"))["family"]["start_coins"] == 7
