"""`dogana play --ray`: a series on the machines of a Ray cluster comes out as it does on this one."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.live.matches import bundle
from referee.live.matches.cluster_series import play_on_cluster
from referee.live.matches.play import House
from referee.live.matches.series import FinishedMatch, Series, Setting, play_series
from referee.match.clock import TimeControl
from referee.records.verify import verify
from referee.registry import find, house_bots, shipped_board
from tests.clusters import Machines, machines
from tests.commands.conftest import Dogana, dogana
from tests.sandbox.conftest import needs_bubblewrap

__all__ = ["dogana"]

pytestmark = pytest.mark.ray


@pytest.fixture(scope="module")
def cluster() -> Iterator[Machines]:
    """Two machines with a processor each."""
    with machines(2) as found:
        yield found


def series(records: Path | None, count: int, *, resumes: bool = False) -> Series:
    game, names = find("cargo_noir"), ["greedy", "random"]
    setup = game.setup(2, {"last_turn": "2"}, shipped_board(game))
    return Series(
        settings=[Setting(game.name, dict(setup.options), setup.board_data, None, [(0, 1), (1, 0)])],
        bots=names,
        players=[House(house_bots()[name]) for name in names],
        control=TimeControl.parse("60+0.5/10"),
        first_seed=1,
        count=count,
        records=records,
        resumes=resumes,
    )


def played_alike(matches: list[FinishedMatch]) -> list[Any]:
    return [
        (one.number, one.name, one.result.digest, [(seat.bot, seat.rank, seat.score) for seat in one.result.seats])
        for one in matches
    ]


def timeless(printed: str) -> list[Any]:
    """What --json prints, without what depends on how long things took."""
    return [json.loads(re.sub(r'"(think_ms|lag_share)": [0-9.]+', r'"\1": 0', line)) for line in printed.splitlines()]


def test_a_series_comes_out_as_it_does_here(cluster: Machines, dogana: Dogana, tmp_path: Path) -> None:
    words: tuple[object, ...] = (
        "play",
        "cargo_noir",
        "greedy",
        "random",
        "--option",
        "last_turn=2",
        "--games",
        5,
        "--rotate",
        "--seed",
        3,
    )
    words += ("--record", "records", "--json")
    here = timeless(dogana(*words).stdout)
    files = {path.name for path in (tmp_path / "records").glob("[!.]*")}
    (tmp_path / "records").rename(tmp_path / "here")
    assert timeless(dogana(*words, "--ray", cluster.address).stdout) == here
    assert {path.name for path in (tmp_path / "records").glob("[!.]*")} == files
    for path in (tmp_path / "records").glob("[!.]*"):
        verify(path, find)


def test_a_house_bot_that_thinks_plays_there_without_a_sandbox(cluster: Machines, dogana: Dogana) -> None:
    words = ("play", "yunnan", "search:rollouts=2", "greedy", "--games", 2, "--seed", 3, "--json")
    assert timeless(dogana(*words, "--ray", cluster.address).stdout) == timeless(dogana(*words).stdout)


def test_what_was_played_earlier_is_not_played_again(cluster: Machines, tmp_path: Path) -> None:
    first = list(play_series(series(tmp_path, 4), 1))
    times = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    resumed = list(play_on_cluster(series(tmp_path, 8, resumes=True), cluster.address, None, print))
    assert played_alike(resumed[:4]) == played_alike(first)
    assert [one.number for one in resumed] == list(range(8))
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert len(list(tmp_path.iterdir())) == 8
    complete = list(play_on_cluster(series(tmp_path, 8, resumes=True), cluster.address, None, print))
    assert played_alike(complete) == played_alike(resumed)


def test_a_series_goes_on_when_machines_are_killed(tmp_path: Path) -> None:
    chance, expected = random.Random(3), played_alike(list(play_series(series(None, 30), 1)))
    came: list[FinishedMatch] = []
    with machines(3) as cluster:
        for one in play_on_cluster(series(tmp_path, 30), cluster.address, None, print):
            came.append(one)
            if len(came) in (5, 15):
                cluster.kill(chance)
                cluster.add()
    assert played_alike(came) == expected
    assert {path.stem for path in tmp_path.iterdir()} == {one.name for one in came}


BOT = """
import sys
from dogana.sdk import play
from helper import chosen

print("here is", sys.argv[1])
play(chosen)
"""
HELPER = "def chosen(decision): return decision.number * 7 % decision.action_count\n"


@needs_bubblewrap
def test_a_command_plays_there_with_the_files_of_this_folder(cluster: Machines, dogana: Dogana, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)  # in a sandbox, a bot is another user
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "helper.py").write_text(HELPER)
    (tmp_path / "helper.py").symlink_to("lib/helper.py")
    (tmp_path / "mybot.py").write_text(BOT)
    words = ("play", "cargo_noir", "cmd:python mybot.py A", "greedy", "--option", "last_turn=2", "--games", 3)
    words += ("--seed", 3, "--isolate", "--json", "--record", "records", "--logs", "logs")  # type: ignore[assignment]
    here = timeless(dogana(*words).stdout)
    (tmp_path / "records").rename(tmp_path / "here")
    (tmp_path / "logs").rename(tmp_path / "logs here")
    assert timeless(dogana(*words, "--ray", cluster.address).stdout) == here
    assert all("here is A" in log.read_text() for log in (tmp_path / "logs").iterdir())
    assert [log.name for log in (tmp_path / "logs").iterdir()]


@needs_bubblewrap
def test_a_folder_that_is_too_large_is_not_sent(dogana: Dogana, tmp_path: Path) -> None:
    with (tmp_path / "weights").open("wb") as file:
        file.truncate(bundle.MAX_BYTES + 1)
    words = ("play", "cargo_noir", "cmd:./mybot", "greedy", "--games", 2, "--isolate", "--ray", "local")
    ended = dogana(*words, status=1)
    assert re.search("more than .* 64 MiB, .* in a folder that has the bots alone", ended.stderr)
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("greedy", "cmd:./mybot", "--games", 2), "other machines start commands in a sandbox, .*: add --isolate"),
        (("greedy", "random"), "--ray is for a series of matches; add --games"),
        (("greedy", "remote", "--games", 2), "a remote agent joins one match"),
    ],
)
def test_what_other_machines_cannot_play_is_refused_in_one_line(
    dogana: Dogana, words: tuple[object, ...], said: str
) -> None:
    ended = dogana("play", "cargo_noir", *words, "--ray", "local", status=1)
    assert re.search(said, ended.stderr)
    assert len(ended.stderr.splitlines()) == 1
