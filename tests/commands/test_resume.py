"""`dogana play --resume`: what a folder of records says is enough to go on."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.commands.plan_file import SERIES
from tests.cases import mostly_long
from tests.commands.conftest import ROOT, Dogana, start
from tests.commands.test_series import PLAY, QUICK, matches
from tests.patience import patient, wait_until
from tests.processes import wait_for_work

SLOW = "import time\nfrom dogana.sdk import play\nplay(lambda decision: time.sleep(0.05) or 0)\n"


def records(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def cut_short(tmp_path: Path, *arguments: object, number: int = signal.SIGINT) -> str:
    """Play a series into `my matches` until a record is there; return what it says at its end."""
    series = start(tmp_path, *arguments, "--record", "my matches")
    wait_for_work(series, lambda: records(tmp_path / "my matches"))
    series.send_signal(number)
    assert series.communicate(timeout=patient(120))[0] is not None
    assert series.returncode == (-number if number == signal.SIGKILL else 128 + number)
    return said(tmp_path)


def said(tmp_path: Path) -> str:
    return (tmp_path / "my matches" / SERIES).read_text()


@pytest.fixture
def slow(tmp_path: Path) -> str:
    """A seat whose matches take a while."""
    (tmp_path / "slow.py").write_text(SLOW)
    return f"cmd:{sys.executable} slow.py"


@pytest.mark.parametrize("number", mostly_long([signal.SIGINT, signal.SIGTERM]))
def test_a_series_that_is_interrupted_prints_a_line_that_goes_on_with_the_same_matches(
    dogana: Dogana, tmp_path: Path, slow: str, number: int
) -> None:
    words = (
        "play",
        "cargo_noir",
        slow,
        "greedy",
        *QUICK,
        "--games",
        2,
        "--rotate",
        "--clock",
        "30+1/9",
        "--workers",
        1,
    )
    series = start(tmp_path, *words, "--record", "my matches", "--json")
    wait_for_work(series, lambda: records(tmp_path / "my matches"))
    series.send_signal(number)
    _, err = series.communicate(timeout=patient(120))
    assert series.returncode == 128 + number
    plan = json.loads(said(tmp_path))
    [line] = [line for line in err.splitlines() if line.startswith("to go on: ")]
    assert err.splitlines()[-1] == line
    assert shlex.split(line.removeprefix("to go on: ")) == [
        *("dogana", "play", "--resume", "my matches", "--workers", "1", "--json")
    ]
    ended = dogana(*shlex.split(line)[4:])
    assert f"seed {plan['seed']}, clock 30+1/9" in ended.stderr
    expected = matches(dogana(*words, "--seed", plan["seed"], "--json").stdout)
    assert [one["digest"] for one in matches(ended.stdout)] == [one["digest"] for one in expected]
    assert len(records(tmp_path / "my matches")) == 4


@pytest.mark.long
def test_a_series_without_a_seed_is_resumed_by_the_whole_command_and_by_the_folder(
    dogana: Dogana, tmp_path: Path
) -> None:
    words = (*PLAY, *QUICK, "--games", 4, "--record", "matches")
    first = matches(dogana(*words, "--json").stdout)
    for again in ((*words, "--resume"), ("play", "--resume", "matches"), ("play", "--resume", "--record", "matches")):
        assert matches(dogana(*again, "--json").stdout) == first
        assert len(records(tmp_path / "matches")) == 4
    longer = matches(dogana("play", "--resume", "matches", "--games", 6, "--json").stdout)
    assert longer[:4] == first
    assert len(records(tmp_path / "matches")) == len(longer) == 6


@pytest.mark.long
def test_a_series_on_a_board_and_from_a_position_of_its_own_goes_on_without_their_files(
    dogana: Dogana, tmp_path: Path
) -> None:
    shipped = (ROOT / "referee" / "games" / "cargo_noir" / "board.toml").read_text()
    (tmp_path / "board.toml").write_text(shipped.replace("tokens_per_kind = 14", "tokens_per_kind = 15"))
    dogana(*PLAY, *QUICK, "--board", "board.toml", "--record", "one.jsonl")
    position = dogana("replay", "one.jsonl", "--at", 5, "--json").stdout
    (tmp_path / "position.json").write_text(position)
    for name, words in {"boards": (*QUICK, "--board", "board.toml"), "positions": ("--from", "position.json")}.items():
        whole = (*PLAY, *words, "--games", 3, "--record", name)
        first = matches(dogana(*whole, "--json").stdout)
        records(tmp_path / name)[0].unlink()
        dogana(*whole, "--resume")
        records(tmp_path / name)[0].unlink()
        for file in ("board.toml", "position.json"):
            (tmp_path / file).rename(tmp_path / f"{file}.away")
        assert matches(dogana("play", "--resume", name, "--json").stdout) == first
        for file in ("board.toml", "position.json"):
            (tmp_path / f"{file}.away").rename(tmp_path / file)


@pytest.mark.long
def test_a_series_that_was_killed_goes_on_and_what_it_left_in_the_middle_is_removed(
    dogana: Dogana, tmp_path: Path, slow: str
) -> None:
    cut_short(tmp_path, "play", "cargo_noir", slow, "random", *QUICK, "--games", 3, number=signal.SIGKILL)
    folder = tmp_path / "my matches"
    (folder / "cargo_noir-0123456789abcdef.4194999.01234567.part").write_text("{")
    (folder / "cargo_noir-0123456789abcdef.1").write_text("of a process that is there")
    (folder / "notes.part").write_text("mine")
    wait_until(lambda: not any(".part" in one.name for one in folder.iterdir() if _is_of_a_worker(one)))
    assert len(matches(dogana("play", "--resume", "my matches", "--json").stdout)) == 3
    left = {one.name for one in folder.iterdir() if one.suffix != ".jsonl"}
    assert left == {SERIES, "notes.part", "cargo_noir-0123456789abcdef.1"}
    dogana("verify", *records(folder))


def _is_of_a_worker(path: Path) -> bool:
    """Whether a process that is still there writes it: the workers of a series that is killed end a moment later."""
    pid = path.name.split(".")[1] if path.name.count(".") > 1 else ""
    return pid.isdigit() and Path(f"/proc/{pid}").exists()


def test_two_series_are_not_played_into_one_folder_at_the_same_time(here: Dogana, tmp_path: Path) -> None:
    seat = f"cmd:sh -c 'echo $$ > {tmp_path}/pid; exec sleep 1000'"
    words = ("play", "cargo_noir", seat, "random", "--games", 2, "--wait", patient(60), "--record", "matches")
    series = start(tmp_path, *words)
    wait_for_work(series, (tmp_path / "pid").exists)
    for second in (words, ("play", "--resume", "matches"), (*words, "--resume")):
        line = "dogana: another series is being played into matches; wait for its end, or use another folder\n"
        assert line == here(*second, status=1).stderr
    series.send_signal(signal.SIGTERM)
    _, err = series.communicate(timeout=patient(120))
    assert err.strip() == "to go on: dogana play --resume matches"


def test_a_new_series_does_not_take_the_place_of_one_that_is_not_complete(
    dogana: Dogana, here: Dogana, tmp_path: Path, slow: str
) -> None:
    words = ("play", "cargo_noir", slow, "random", *QUICK, "--games", 40)
    plan = json.loads(cut_short(tmp_path, *words))
    refused = here(*words, "--record", "my matches", status=1).stderr
    assert f"(seed {plan['seed']}): go on with `dogana play --resume 'my matches'`, use another folder" in refused
    (tmp_path / "my matches" / SERIES).unlink()
    dogana(*PLAY, *QUICK, "--games", 2, "--workers", 1, "--record", "my matches")  # what the line offers


@pytest.mark.long
def test_a_new_series_does_not_take_the_place_of_a_finished_one(dogana: Dogana, here: Dogana, tmp_path: Path) -> None:
    words = (*PLAY, *QUICK, "--record", "matches", "--games")
    dogana(*words, 2, "--seed", 5, "--workers", 1)
    plan = (tmp_path / "matches" / SERIES).read_text()
    refused = here(*words, 3, status=1).stderr
    assert "matches has a finished series of cargo_noir (--games 2, seed 5)" in refused
    assert (
        "`dogana play --resume matches --games NUMBER`, use another folder, or remove matches/.series.json" in refused
    )
    assert (tmp_path / "matches" / SERIES).read_text() == plan
    assert len(records(tmp_path / "matches")) == 2
    longer = dogana("play", "--resume", "matches", "--games", 3, "--workers", 1)  # what the line offers
    assert "played already" not in longer.stderr
    assert "3 matches" in longer.stdout


@pytest.mark.long
def test_a_finished_series_that_is_resumed_says_that_nothing_was_played(dogana: Dogana, tmp_path: Path) -> None:
    dogana(*PLAY, *QUICK, "--games", 2, "--workers", 1, "--record", "matches")
    again = dogana("play", "--resume", "matches", "--workers", 1)
    assert "all 2 matches had been played already, and none was played now" in again.stderr
    assert "mean rank" in again.stdout
    records(tmp_path / "matches")[0].unlink()
    assert "played already" not in dogana("play", "--resume", "matches", "--workers", 1).stderr


def test_a_series_whose_bots_do_not_start_leaves_no_plan(dogana: Dogana, tmp_path: Path) -> None:
    dogana("play", "cargo_noir", "cmd:false", "random", "--games", 2, "--record", "matches", status=1)
    assert not list((tmp_path / "matches").iterdir())


CONTRADICTIONS = {
    "game": (["venezia", "random", "greedy"], "game cargo_noir, not venezia"),
    "seats": (["cargo_noir", "random", "random"], "seats random greedy, not random random"),
    "clock": ([*PLAY[1:], "--clock", "1+1/1"], "clock 60+0.5/10, not 1+1/1"),
    "seed": ([*PLAY[1:], "--seed", "4"], "seed 3, not 4"),
    "option": ([*PLAY[1:], "--option", "last_turn=4"], "option last_turn 3, not 4"),
    "games": ([*PLAY[1:], "--games", "1"], "--games 2, not 1"),
    "rotate": ([*PLAY[1:], "--rotate"], "no --rotate"),
    "two": ([*PLAY[1:], "--seed", "4", "--games", "1"], "seed 3, not 4; --games 2, not 1"),
}


def test_what_was_typed_and_contradicts_the_folder_is_said_in_one_line(dogana: Dogana, here: Dogana) -> None:
    dogana(*PLAY, *QUICK, "--games", 2, "--seed", 3, "--workers", 1, "--record", "matches")
    for typed, reason in CONTRADICTIONS.values():
        refused = here("play", *typed, "--record", "matches", "--resume", status=1).stderr
        assert (
            refused == f"dogana: cannot resume: matches has {reason}; leave out what differs, or use another folder\n"
        )


@pytest.mark.long
def test_commands_run_where_they_ran_before(dogana: Dogana, here: Dogana, tmp_path: Path, slow: str) -> None:
    cut_short(tmp_path, "play", "cargo_noir", slow, "random", *QUICK, "--games", 2)
    path = tmp_path / "my matches" / SERIES
    path.write_text(json.dumps(json.loads(path.read_text()) | {"directory": "/nowhere\x1b[2J"}))
    refused = here("play", "--resume", "my matches", status=1).stderr
    assert r"was begun in /nowhere\x1b[2J, where cmd:" in refused
    assert "go there, or give game and seats, too" in refused
    dogana("play", "cargo_noir", slow, "random", "--record", "my matches", "--resume")


def broken(**changed: Any) -> str:
    whole: dict[str, Any] = {
        "game": "cargo_noir",
        "seats": ["random", "random"],
        "options": {},
        "board": {},
        "position": None,
        "clock": "60+0.5/10",
        "seed": 1,
        "games": 2,
        "rotate": False,
        "wait": None,
        "isolate": False,
        "memory": None,
        "tasks": None,
        "cpus": None,
        "no_pondering": False,
        "runtime": None,
        "logs": None,
        "directory": "/",
        "complete": False,
    }
    return json.dumps(whole | changed)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "is not a JSON object"),
        ('{"title": "Friends"}', "has other entries than a plan"),
        (broken(**{"\x1b[2J": 1}), r"\x1b[2J"),
        (broken(games="2"), "has an entry of another type than a plan: Expected `int`, got `str` - at `$.games`"),
        (broken(seats=[1, 2]), "another type than a plan: Expected `str`, got `int` - at `$.seats[0]`"),
        (broken(games="\ud800"), "another type than a plan: 'utf-8' codec can't encode"),
        (broken(rotate=1), "another type than a plan: Expected `bool`, got `int` - at `$.rotate`"),
        (broken(seed=-1), "that no series has"),
        (broken(games=0), "that no series has"),
        (broken(seats=[]), "that no series has"),
        (broken(game="\x1b[2J"), r"there is no game '\x1b[2J'"),
        (broken(clock="now"), "write bank+increment/cap"),
        (broken(seed=2**62, games=1_000_000, clock="now"), "write bank+increment/cap"),
        (broken(), "board"),
        (broken(seats=["nobody", "random"]), "was begun in /, where nobody runs"),
        (broken(position={"x": 1}), "board"),
    ],
)
def test_a_folder_with_a_foreign_or_damaged_plan_is_said_in_one_line(
    here: Dogana, tmp_path: Path, written: str, reason: str
) -> None:
    (tmp_path / "matches").mkdir()
    (tmp_path / "matches" / SERIES).write_text(written)
    refused = here("play", "--resume", "matches", status=1).stderr
    assert len(refused.splitlines()) == 1
    assert reason in refused
    assert "\x1b" not in refused
    assert (tmp_path / "matches" / SERIES).read_text() == written


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--resume"], "--resume needs the folder of a series: `dogana play --resume FOLDER`"),
        (["--resume", "nowhere"], "cannot resume: there is no folder nowhere"),
        (["--resume", "empty"], "nothing in empty says which series it has; give the whole command"),
        ([*PLAY[1:], "--games", "4", "--record", "empty", "--resume"], "and the --seed of the records"),
    ],
)
def test_a_folder_that_does_not_say_what_is_played_there_is_refused(
    here: Dogana, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    (tmp_path / "empty").mkdir()
    refused = here("play", *arguments, status=1).stderr
    assert len(refused.splitlines()) == 1
    assert reason in refused
    assert not list((tmp_path / "empty").iterdir())


def test_a_command_without_seats_says_what_is_missing(here: Dogana) -> None:
    for words in ((), ("cargo_noir",)):
        assert "name a game, and a player for each seat" in here("play", *words, status=2).stderr
