"""`dogana tournament`: played, killed, resumed, verified."""

from __future__ import annotations

import fcntl
import json
import shutil
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from house_bots.random_bot import RandomBot

from referee.commands.tournament.folder import TournamentFolder
from referee.live.matches.fixture_matches import match_plan
from referee.live.matches.play import House
from referee.tournament.course import course
from referee.tournament.plan import read_plan
from tests import matches
from tests.cases import mostly_long
from tests.commands.conftest import Dogana, start
from tests.patience import patient
from tests.processes import wait_for_work

BOT = "from dogana.sdk import play\nplay(lambda decision: 0)\n"
NEW = (
    "tournament",
    "new",
    "cup",
    "greedy",
    "random",
    "bot.py",
    "--game",
    "cargo_noir",
    "-o",
    "last_turn=3",
    "--seed",
    5,
)


@pytest.fixture
def cup(dogana: Dogana, tmp_path: Path) -> Path:
    """A tournament of three entrants, two blocks, 12 matches: not yet played."""
    (tmp_path / "bot.py").write_text(BOT)
    dogana(*NEW, "--blocks", 2)
    return tmp_path / "cup"


def played(dogana: Dogana, folder: str = "cup") -> list[dict[str, Any]]:
    """Run a tournament, and return its events."""
    return [
        json.loads(line) for line in dogana("tournament", "run", folder, "--workers", 1, "--json").stdout.splitlines()
    ]


def show(dogana: Dogana) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(dogana("tournament", "show", "cup", "--json").stdout)
    return document


def test_pages_are_drawn_once_and_their_number_is_said_first(dogana: Dogana) -> None:
    dogana("tournament", "new", "cup", "greedy", "random", "--game", "cargo_noir", "-o", "last_turn=3", "--blocks", 1)
    dogana("tournament", "run", "cup", "--workers", 1)
    assert dogana("tournament", "page", "cup", "public").stderr == "2 matches to draw\n"
    assert dogana("tournament", "page", "cup", "public", "--force").stderr == ""


def test_a_tournament_is_played_shown_and_verified(dogana: Dogana, cup: Path) -> None:
    assert show(dogana)["played"] == 0
    events = played(dogana)
    assert [one["event"] for one in events] == ["begin", *["match"] * 12, "round", "end"]
    assert [row["entrant"] for row in events[-1]["table"]] == ["greedy", "bot", "random"]
    document = show(dogana)
    assert document["table"] == events[-1]["table"]
    assert document["verdict"].startswith("greedy wins; the chance that greedy is the best of these is 0.9")
    text = dogana("tournament", "show", "cup").stdout
    assert "final table" in text
    assert "row before column" in text
    assert json.loads(dogana("tournament", "verify", "cup", "--json").stdout)["verified"] == 12
    assert [one["event"] for one in played(dogana)] == ["begin", "round", "end"]  # nothing is left to play


@pytest.mark.parametrize("number", mostly_long([signal.SIGKILL, signal.SIGINT]))
def test_a_tournament_that_is_stopped_in_the_middle_ends_with_the_same_table(
    dogana: Dogana, cup: Path, tmp_path: Path, number: int
) -> None:
    shutil.copytree(cup, tmp_path / "other")
    runs = start(tmp_path, "tournament", "run", "cup", "--workers", 2)
    wait_for_work(runs, lambda: len(list((cup / "records").glob("*.jsonl"))) >= 3)
    runs.send_signal(number)
    _, err = runs.communicate(timeout=patient(60))
    before = {path: path.stat().st_mtime_ns for path in (cup / "records").glob("*.jsonl")}
    assert 3 <= len(before) <= 12
    assert number == signal.SIGKILL or "to go on: dogana tournament run cup" in err
    (cup / "records" / "round1-table1-cargo_noir-block1-rotation0.999999999").write_text("half a record")
    table = played(dogana)[-1]["table"]
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(list((cup / "records").iterdir())) == 12
    assert table == played(dogana, "other")[-1]["table"]
    dogana("tournament", "verify", "cup")


def test_two_cannot_run_a_tournament_at_once(dogana: Dogana, cup: Path, tmp_path: Path) -> None:
    (cup / ".lock").write_text("process 1 on here")
    with (cup / ".lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert (
            "cup is being run by process 1 on here; wait for its end"
            in dogana("tournament", "run", "cup", status=1).stderr
        )
        assert "run by process 1 on here" in dogana("tournament", "show", "cup").stdout


def test_a_look_at_a_tournament_never_keeps_a_run_from_starting(cup: Path) -> None:
    folder = TournamentFolder(cup)
    with folder.alone():
        assert folder.is_running()
    with (cup / ".lock").open() as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        threading.Timer(0.05, fcntl.flock, (looking, fcntl.LOCK_UN)).start()
        with folder.alone():
            assert folder.is_running()


def forged(cup: Path, name: str, **changes: Any) -> Path:
    """Put the valid record of another match into the place of one: played with other bots, or with another seed."""
    plan = read_plan((cup / "tournament.toml").read_text(), "")
    fixture = next(one for one in course(plan, {}).fixtures if one.name == name)
    path = cup / "records" / f"{name}.jsonl"
    path.unlink()
    honest = match_plan(plan, fixture)
    other = type(honest)(**{key: changes.get(key, getattr(honest, key)) for key in honest.__slots__})
    matches.play(other, [House(RandomBot)] * 2, record=path)
    return path


def test_a_forged_record_pairing_seed_or_table_is_found(dogana: Dogana, cup: Path) -> None:
    played(dogana)
    names = sorted(path.stem for path in (cup / "records").iterdir())
    result = json.loads((cup / "result.json").read_text())
    shutil.copytree(cup, cup.with_name("honest"))

    result["table"][0]["entrant"], result["table"][1]["entrant"] = "bot", "greedy"
    (cup / "result.json").write_text(json.dumps(result))
    assert (
        'result.json: table, row 1, entrant: "bot", but "greedy" follows'
        in dogana("tournament", "verify", "cup", status=1).stdout
    )

    record = cup / "records" / f"{names[0]}.jsonl"
    record.write_text(record.read_text().replace('"rank":1', '"rank":2'))
    assert f"{names[0]}.jsonl:" in dogana("tournament", "verify", "cup", status=1).stdout

    assert f"{names[0]}.jsonl:" in dogana("tournament", "page", "cup", "public", status=1).stderr
    assert not (cup.parent / "public" / "index.html").exists()

    forged(cup, names[1], bots=["ann", "bob"])
    forged(cup, names[2], seed=1)
    shutil.copy(cup / "records" / f"{names[4]}.jsonl", cup / "records" / "round9-table1.jsonl")
    said = dogana("tournament", "verify", "cup", status=1).stdout
    assert f"{names[1]}.jsonl has the bots ['ann', 'bob'], not" in said
    assert f"{names[2]}.jsonl has the seed 1, not" in said
    assert "round9-table1.jsonl belongs to no match of this tournament" in said
    assert dogana("tournament", "run", "cup", status=1).stderr.startswith("dogana: cannot resume: ")

    shutil.rmtree(cup / "records")
    shutil.copytree(cup.with_name("honest") / "records", cup / "records")
    shutil.copy(cup.with_name("honest") / "result.json", cup)
    forged(cup, names[1])  # an honest match, played again: another record than the published one
    assert f"result.json: records, {names[1]}: " in dogana("tournament", "verify", "cup", status=1).stdout


def test_what_has_changed_since_the_first_match_is_refused(dogana: Dogana, cup: Path, tmp_path: Path) -> None:
    played(dogana)
    text = (cup / "tournament.toml").read_text()
    (cup / "tournament.toml").write_text(text.replace('title = ""', 'title = "Cup"  # a title'))
    dogana("tournament", "verify", "cup")
    (cup / "tournament.toml").write_text(text.replace("blocks = 2", "blocks = 3"))
    for command in ("run", "verify"):
        said = dogana("tournament", command, "cup", status=1).stderr
        assert "blocks has changed since the first match from 2 to 3; put it back, or begin another tournament" in said
    (cup / "tournament.toml").write_text(text)
    (tmp_path / "bot.py").write_text(BOT + "#")
    assert "the files of bot have changed since the first match" in dogana("tournament", "run", "cup", status=1).stderr


def test_a_bot_that_does_not_start_stops_the_tournament_in_one_line_and_may_be_mended(
    dogana: Dogana, cup: Path, tmp_path: Path
) -> None:
    (tmp_path / "bot.py").write_text("import nosuch\n")
    text = (cup / "tournament.toml").read_text()
    (cup / "tournament.toml").write_text(
        text.replace('name = "greedy"', 'name = "a"')
        .replace('seat = "greedy"', 'seat = "./bot.py"')
        .replace('seat = "bot.py"', 'seat = "greedy"')
    )
    said = dogana("tournament", "run", "cup", status=1).stderr
    assert "(a): " in said
    assert "nosuch" in said
    (tmp_path / "bot.py").write_text(BOT)
    assert played(dogana)[-1]["event"] == "end"


def test_every_table_plays_every_game_and_three_sit_at_a_table(dogana: Dogana, tmp_path: Path) -> None:
    words = ("tournament", "new", "cup", "greedy", "random", "r2=search:seconds=0.01", "--seats", 3)
    said = dogana(*words, "--game", "cargo_noir", "--game", "venezia", "--blocks", 2).stdout
    assert "1 table, 12 matches; every two entrants share 1 table" in said


def test_a_gauntlet_places_the_challengers(dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    words = ("tournament", "new", "cup", "random", "greedy", "bot.py", "--format", "gauntlet", "--blocks", 1)
    dogana(*words, "--game", "cargo_noir", "-o", "last_turn=3", "--seed", 5)
    assert [row["entrant"] for row in played(dogana)[-1]["table"]] == ["greedy", "bot"]


@pytest.mark.parametrize("form", ["swiss", "knockout"])
def test_rounds_are_played_one_after_the_other_and_verified(dogana: Dogana, tmp_path: Path, form: str) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "bot2.py").write_text(f"{BOT}# 2\n")
    words = ("tournament", "new", "cup", "greedy", "random", "bot.py", "bot2.py", "--format", form, "--blocks", 1)
    dogana(
        *words, "--game", "cargo_noir", "-o", "last_turn=3", "--seed", 5, *(["--rounds", 2] if form == "swiss" else [])
    )
    events = played(dogana)
    assert [one["round"] for one in events if one["event"] == "round"] == [1, 2]
    assert sum(one["event"] == "match" for one in events) == (8 if form == "swiss" else 6)
    assert len(events[-1]["table"]) == 4
    dogana("tournament", "verify", "cup")
    for path in (tmp_path / "cup" / "records").glob("round1-table1-*"):
        path.unlink()  # then nothing says who meets in the second round
    assert "result.json has a record of round1-table1-" in dogana("tournament", "verify", "cup", status=1).stdout
