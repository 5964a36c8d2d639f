"""`dogana tournament add`: who joins plays new matches only, beside a run or not; where that cannot be, the reason is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.conftest import Dogana, start
from tests.commands.test_tournament import played, show
from tests.patience import patient
from tests.processes import wait_for_work

BOT = "from dogana.sdk import play\nplay(lambda decision: 0)\n"
GAME = ("--game", "cargo_noir", "-o", "last_turn=3", "--seed", "5")


@pytest.fixture
def bots(tmp_path: Path) -> None:
    for name in ("bot", "late", "later"):
        (tmp_path / f"{name}.py").write_text(f"{BOT}# {name}\n")


def made(dogana: Dogana, *words: object, blocks: int = 1) -> None:
    dogana("tournament", "new", "cup", *words, *GAME, "--blocks", blocks)


def records(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "cup" / "records").glob("*.jsonl")}


def interrupt(dogana: Dogana, folder: Path) -> None:
    """Play some matches, not all."""
    runs = start(folder, "tournament", "run", "cup", "--workers", 1)
    wait_for_work(runs, lambda: len(records(folder)) >= 2, 300)
    runs.kill()
    runs.communicate(timeout=patient(60))


@pytest.mark.usefixtures("bots")
def test_who_joins_a_round_robin_meets_everybody_and_nothing_else_changes(dogana: Dogana, tmp_path: Path) -> None:
    made(dogana, "greedy", "random", "bot.py", blocks=20)
    interrupt(dogana, tmp_path)
    before = records(tmp_path)
    said = dogana("tournament", "add", "cup", "late.py", "last=later.py").stdout
    assert "10 tables, 400 matches; every two entrants share 1 table" in said
    new = [line.partition(": ")[2] for line in said.splitlines() if line.startswith("table ")]
    assert new == [
        "greedy, late",
        "random, late",
        "bot, late",
        "greedy, last",
        "random, last",
        "bot, last",
        "late, last",
    ]
    text = (tmp_path / "cup" / "tournament.toml").read_text()
    assert text.count("joined = true") == 2
    assert show(dogana)["total"] == 400
    assert f"; {400 - len(before)} matches are left\n" in dogana("tournament", "verify", "cup").stdout
    assert {name: records(tmp_path)[name] for name in before} == before
    # it is refused now, as every change of those who are in
    (tmp_path / "cup" / "tournament.toml").write_text(text.replace('name = "bot"', 'name = "b"'))
    assert "entrants has changed since" in dogana("tournament", "verify", "cup", status=1).stderr


@pytest.mark.usefixtures("bots")
def test_a_run_that_is_under_way_plays_the_new_tables_after_the_others(dogana: Dogana, tmp_path: Path) -> None:
    made(dogana, "greedy", "random", "bot.py", blocks=4)
    runs = start(tmp_path, "tournament", "run", "cup", "--workers", 1, "--json")
    wait_for_work(runs, lambda: records(tmp_path), 300)
    said = dogana("tournament", "add", "cup", "late.py").stdout
    assert "the running `dogana tournament run` plays them after the others" in said
    out, _ = runs.communicate(timeout=patient(300))
    events = [json.loads(line) for line in out.splitlines()]
    names = [event["match"] for event in events if event["event"] == "match"]
    assert len(names) == len(set(names)) == 48
    assert all(name.startswith(("round1-table4-", "round1-table5-", "round1-table6-")) for name in names[24:])
    assert {row["entrant"] for row in events[-1]["table"]} == {"greedy", "random", "bot", "late"}
    assert "holds  48 matches" in dogana("tournament", "verify", "cup").stdout
    said = dogana("tournament", "add", "cup", "later.py", status=1).stderr
    assert "cup is over, and its table is published; newcomers need another tournament" in said
    newcomer = '[[entrants]]\nname = "later"\nseat = "later.py"\njoined = true\n'
    with (tmp_path / "cup" / "tournament.toml").open("a") as file:
        file.write(f"\n{newcomer}")
    for command in ("run", "verify"):
        said = dogana("tournament", command, "cup", status=1).stderr
        assert "entrants has changed since the first match" in said


@pytest.mark.usefixtures("bots")
def test_who_joins_a_gauntlet_is_a_challenger_with_the_same_hosts_and_seeds(dogana: Dogana, tmp_path: Path) -> None:
    made(dogana, "random", "greedy", "--format", "gauntlet")
    (tmp_path / "cup" / "records").mkdir()
    (tmp_path / "elsewhere").mkdir()
    played(dogana)
    (tmp_path / "cup" / "result.json").unlink()  # as if it had been killed before its end
    assert "table 2: random, bot" in dogana("tournament", "add", "cup", "bot.py").stdout
    assert [row["entrant"] for row in played(dogana)[-1]["table"]] == ["greedy", "bot"]
    assert "holds  4 matches" in dogana("tournament", "verify", "cup").stdout
    seeds = {
        path.name.partition("-cargo")[2]: json.loads(path.read_text().splitlines()[0])["seed_commitment"]
        for path in (tmp_path / "cup" / "records").iterdir()
    }
    assert len(set(seeds.values())) == 1


@pytest.mark.usefixtures("bots")
def test_before_the_first_match_everybody_may_come_in(dogana: Dogana, tmp_path: Path) -> None:
    made(dogana, "greedy", "random", "--format", "knockout")
    (tmp_path / "elsewhere").mkdir()
    assert "run it: dogana tournament run cup\n" in dogana("tournament", "add", "cup", "bot.py").stdout
    said = dogana("tournament", "new", "my cup", "greedy", "random", *GAME).stdout
    assert "run it: dogana tournament run 'my cup'\n" in said
    assert "run it: dogana tournament run 'my cup'\n" in dogana("tournament", "add", "my cup", "bot.py").stdout
    text = (tmp_path / "cup" / "tournament.toml").read_text()
    assert "joined" not in text
    assert text.endswith('[[entrants]]\nname = "bot"\nseat = "bot.py"\n')
    assert len(played(dogana)[-1]["table"]) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--format", "swiss"], "late cannot join: who meets whom in a swiss was decided with the field of its first round"),
        (["--format", "knockout"], "late cannot join: who meets whom in a knockout was decided"),
        (["--seats", "3"], "late cannot join: at tables of 3, new tables would have earlier entrants meet again"),
    ],
    ids=lambda words: "".join(words[1:]) if isinstance(words, list) else "",
)  # fmt: skip
@pytest.mark.usefixtures("bots")
def test_where_nobody_can_join_the_reason_is_named(dogana: Dogana, tmp_path: Path, words: list[str], said: str) -> None:
    made(dogana, "greedy", "random", "bot.py", *words)
    (tmp_path / "cup" / "records").mkdir()
    (tmp_path / "cup" / "records" / "round1-table1-cargo_noir-block1-rotation0.jsonl").write_text("{}")
    text = (tmp_path / "cup" / "tournament.toml").read_text()
    assert said in dogana("tournament", "add", "cup", "late.py", status=1).stderr
    assert (tmp_path / "cup" / "tournament.toml").read_text() == text


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("bot.py", "entrant bot is named twice"),
        ("b2=./bot.py", "bot and b2 are the same bot"),
        ("nosuch.py", "there is no file or folder 'nosuch.py'"),
    ],
)
@pytest.mark.usefixtures("bots")
def test_a_newcomer_that_cannot_play_is_refused_and_the_file_stays(
    dogana: Dogana, tmp_path: Path, word: str, said: str
) -> None:
    made(dogana, "greedy", "random", "bot.py")
    text = (tmp_path / "cup" / "tournament.toml").read_text()
    assert said in dogana("tournament", "add", "cup", word, status=1).stderr
    assert (tmp_path / "cup" / "tournament.toml").read_text() == text
