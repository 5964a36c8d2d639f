"""House bots: in the referee's process and in one of their own they play the same."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from house_bots.random_bot import RandomBot

from referee.game import Game
from referee.live.matches.driver import MatchVoid
from referee.live.matches.play import Command, House, Player, house_player
from referee.match.result import Outcome, Result
from referee.records.position import read_position
from referee.registry import find, games, house_bot, house_bots
from tests import matches
from tests.cases import mostly_long
from tests.patience import patient
from tests.tables import plan_of

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
PAIRS = [
    (f"{name}:rollouts=2" if bot.thinks else name, game)
    for game in games().values()
    for name, bot in house_bots().items()
    if bot.plays(game)
] + [("greedy:temperature=1", find("yunnan"))]


def play(game: Game, *players: Player, seed: int = 4) -> Result:
    report = matches.play(plan_of(game, len(players), seed=seed, clock="600+5/60"), players)
    assert {seat.outcome for seat in report.result.seats} == {Outcome.PLAYED}, report.logs
    return report.result


@pytest.mark.parametrize(("name", "game"), mostly_long(PAIRS, 2), ids=[f"{name}-{game.name}" for name, game in PAIRS])
def test_the_same_match_in_process_over_the_wire_and_mixed(name: str, game: Game) -> None:
    inside = House(house_bot(name))
    outside = Command([sys.executable, "-m", "house_bots", name], ENVIRONMENT, join_seconds=patient(30))
    seats = 2 if ":" in name else game.seat_counts.stop - 1
    digests = {
        play(game, *[inside] * seats).digest,
        play(game, *[outside] * seats).digest,
        play(game, outside, *[inside] * (seats - 1)).digest,
    }
    assert len(digests) == 1


@pytest.mark.parametrize(("name", "game"), mostly_long(PAIRS, 2), ids=[f"{name}-{game.name}" for name, game in PAIRS])
def test_every_seat_count_is_played_to_the_end(name: str, game: Game) -> None:
    for seats in game.seat_counts[: 1 if ":" in name else None]:
        play(game, *[House(house_bot(name))] * seats)


def test_another_seed_is_another_match() -> None:
    [game, *_] = games().values()
    random_bot = House(RandomBot)
    assert play(game, random_bot, random_bot).digest != play(game, random_bot, random_bot, seed=5).digest


@pytest.mark.parametrize(("name", "message"), [("nobody", "there is no house bot 'nobody'"), ("", "usage")])
def test_an_unknown_house_bot_is_refused(name: str, message: str) -> None:
    command = [sys.executable, "-m", "house_bots", *([name] if name else [])]
    ended = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=patient(60))
    assert ended.returncode == 1
    assert message in ended.stderr


def test_a_house_bot_that_thinks_is_started_with_the_python_of_the_machine_that_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = pickle.dumps(house_player("search:rollouts=2", patient(30)))
    assert sys.executable.encode() not in sent
    there = tmp_path / "python"
    there.write_text(f'#!/bin/sh\ntouch {tmp_path}/started\nexec {sys.executable} "$@"\n')
    there.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(there))
    play(find("yunnan"), pickle.loads(sent), House(RandomBot))  # noqa: S301 we pickled it
    assert (tmp_path / "started").exists()


def test_a_file_in_the_current_folder_does_not_replace_a_module_of_a_house_bot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "random.py").write_text("raise SystemExit('the wrong random')")
    monkeypatch.chdir(tmp_path)
    play(find("yunnan"), house_player("search:rollouts=2", patient(30)), House(RandomBot))


def test_a_house_bot_that_cannot_begin_gives_the_reason_in_one_line(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "agents" / "house_bots", tmp_path / "house_bots")
    (tmp_path / "house_bots" / "search" / "venezia.toml").unlink()
    environment = {**ENVIRONMENT, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    search = Command([sys.executable, "-m", "house_bots", "search"], environment, join_seconds=patient(30))
    report = matches.play(plan_of("venezia", 2), [search, House(RandomBot)])
    assert report.result.seats[0].outcome is Outcome.CRASH
    [line] = report.logs[0].splitlines()
    assert line.startswith(f"search cannot use its values in {tmp_path}/house_bots/search/venezia.toml: No such file")
    assert line.endswith("make values")


class Stopped(RandomBot):
    """Its first decision takes longer than its clock allows: as if the referee's process were stopped and went on later."""

    stopped = False

    def pick(self, count: int) -> int:
        if not self.stopped:
            self.stopped = True
            time.sleep(0.5)
        return super().pick(count)


def test_a_house_bot_is_not_at_fault_if_the_referee_is_stopped_while_it_thinks() -> None:
    [game, *_] = games().values()
    result = matches.play(plan_of(game, 2, clock="0+0.1/0.1"), [House(Stopped), House(RandomBot)]).result
    assert [seat.outcome for seat in result.seats] == [Outcome.PLAYED] * 2
    assert sum(seat.decisions for seat in result.seats) > 10


class Failing(RandomBot):
    """Raises at its third decision."""

    decision_count = 0

    def pick(self, count: int) -> int:
        self.decision_count += 1
        if self.decision_count == 3:
            raise ValueError("max() of\nnothing")
        return super().pick(count)


class Illegal(RandomBot):
    """Answers with an index that is not in the list."""

    def pick(self, count: int) -> int:
        return count


@pytest.mark.parametrize(
    ("bot", "said"),
    [
        (Failing, "failed at its decision 3: ValueError: max() of nothing;"),
        (Illegal, "failed at its decision 1: index"),
    ],
)
def test_a_house_bot_that_fails_voids_the_match_with_one_line_that_leads_to_the_position(
    bot: type[RandomBot], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    plan = plan_of("valparaiso", 2)
    with pytest.raises(MatchVoid) as caught:
        matches.play(plan, [House(RandomBot), House(bot)])
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith("house bot bot1 in seat 1 of match test " + said)
    command, _, path = line.rpartition(" ")
    assert command.endswith("; to see the position: dogana position")
    assert list(tmp_path.iterdir()) == [Path(path)]
    assert Path(path).stat().st_mode & 0o077 == 0
    assert 1 in read_position(Path(path), find).state.seats_to_act()


def test_a_missing_folder_does_not_hide_why_a_house_bot_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(
        MatchVoid, match=r"failed at its decision 1: index .*; the position cannot be written: No such file"
    ):
        matches.play(plan_of("valparaiso", 2), [House(Illegal), House(RandomBot)])


@pytest.mark.parametrize("name", ["greedy", "search"])
def test_a_process_of_a_house_bot_has_loaded_the_rules_before_it_joins_a_match(name: str) -> None:
    program = (
        "import sys\n"
        "from house_bots.process import play_as\n"
        "try:\n"
        f"    play_as({name!r})\n"
        "except SystemExit as error:\n"
        "    print(error, file=sys.stderr)\n"
        "    print(sorted(name for name in sys.modules if name.count('.') == 2 and name.startswith('referee.games.')))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert "DOGANA_ADDRESS" in done.stderr
    assert done.stdout == f"{sorted(f'referee.games.{game}' for game in games())}\n"
