"""Measure the figures of all games, and write them to docs/games.md: `make games`, or `python -m bench.games`."""

from __future__ import annotations

import argparse
import asyncio
import platform
import random
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from house_bots.random_bot import RandomBot

from bench import rules
from bench.matches import ROOT, plan_for
from referee.commands.tally import share
from referee.game import Action, Game, Seat, Setup
from referee.kit.chance import FastChance
from referee.live.matches.play import House, play_match
from referee.live.messages.codec import codec
from referee.match.house import HouseBot, HouseDecision
from referee.match.result import Result
from referee.options import Option
from referee.registry import find, games, house_bots, shipped_board
from referee.sandbox.system import processors

PAGE = ROOT / "docs" / "games.md"


VARIED = 0.1
"""The probability that a greedy seat plays a random legal action instead of its own choice.

Without it, deterministic bots repeat the same few matches in a game with little chance (Yunnan), and an interval over copies
is meaningless.
"""


class VariedGreedy(HouseBot):
    """The house bot `greedy` with some random actions, which are determined by the match and the seat."""

    def __init__(self, game: Game, setup: Setup, match_id: str, seat: Seat, **options: Any) -> None:
        self._greedy = house_bots()["greedy"](game, setup, match_id, seat)
        self._draw = random.Random(f"{match_id}:{seat}")

    @staticmethod
    def plays(game: Game) -> bool:
        """Return True if `greedy` can play a game."""
        return house_bots()["greedy"].plays(game)

    def choose(self, decision: HouseDecision) -> int | Sequence[Action]:
        """Answer as `greedy` does, or at random."""
        if self._draw.random() < VARIED:
            return self._draw.randrange(len(decision.actions))
        return self._greedy.choose(decision)


class Figures(NamedTuple):
    """The measurements of a game with a certain number of seats."""

    decisions: float
    """The mean number of decisions in a random match."""
    choices: float
    """The mean number of decisions with more than one legal action in a random match."""
    longest: int
    """The length of the longest list of legal actions."""
    observation: float
    """The mean size of an observation, in bytes."""
    firsts: tuple[tuple[float, ...], ...]
    """Each seat's share of the first place, in each match of greedy bots against one another; empty without a greedy bot."""
    wins: tuple[float, ...]
    """A greedy bot's share of the first place among random bots, in each match."""
    different: int
    """The number of different matches behind `firsts`."""


def measure(game_name: str, seats: int, matches: int) -> Figures:
    """Play matches of one game with one number of seats, and return the measurements."""
    game = find(game_name)
    decisions, choices, longest, sizes = _random_play(game, seats, matches)
    if not house_bots()["greedy"].plays(game):
        return Figures(decisions, choices, longest, mean(sizes), (), (), 0)
    firsts: dict[str, tuple[float, ...]] = {}
    wins: dict[str, float] = {}
    for seed in range(matches):
        result = _play(game, [VariedGreedy] * seats, seed)
        # Matches are counted by digest, because a match that repeats another one is not further evidence.
        firsts[result.digest] = _shares(result)
        place = seed % seats
        result = _play(game, [VariedGreedy if seat == place else RandomBot for seat in range(seats)], seed)
        wins[f"{place} {result.digest}"] = _shares(result)[place]
    return Figures(decisions, choices, longest, mean(sizes), tuple(firsts.values()), tuple(wins.values()), len(firsts))


def _random_play(game: Game, seats: int, matches: int) -> tuple[float, float, int, list[int]]:
    setup = game.setup(seats, {}, shipped_board(game))
    decisions = choices = longest = 0
    sizes = []
    for seed in range(matches):
        chance = FastChance(seed)
        state = game.start(setup, chance)
        while not state.is_over():
            seat = state.seats_to_act()[0]
            legal = state.legal_actions(seat)
            if decisions % 20 == 0:
                sizes.append(len(codec(game).observation_bytes(state.observation(seat))))
            decisions += 1
            choices += len(legal) > 1
            longest = max(longest, len(legal))
            state.apply(seat, legal[chance.below(len(legal))], chance)
    return decisions / matches, choices / matches, longest, sizes


def _play(game: Game, bots: Sequence[type[HouseBot]], seed: int) -> Result:
    return asyncio.run(play_match(plan_for(game, len(bots), seed), list(map(House, bots)))).result


def _shares(result: Result) -> tuple[float, ...]:
    ranks = [seat.rank for seat in result.seats]
    return tuple((rank == 1) / ranks.count(1) for rank in ranks)


def page(figures: dict[tuple[str, int], Figures], speeds: dict[str, float], matches: int) -> str:
    """Return the page, in Markdown."""
    lines = [
        "# The games in figures",
        "",
        "Written by `make games`; do not edit. "
        f"Measured with Python {platform.python_version()} on {processors()} cores. For each number of seats: {matches} matches of uniformly random play",
        "(*decisions* are all decisions of a match, *asked* those with more than one legal action),",
        f"{matches} of `greedy` against itself, and {matches} of one `greedy`, in each seat in turn, among `random`. All have default options.",
        f"Each `greedy` plays a random legal action in {VARIED:.0%} of its decisions: without these, deterministic bots repeat",
        "the same few matches in a game with little chance. *Different* is the number of different matches of `greedy` against itself;",
        "only different matches count in shares and intervals.",
        "A shared first place counts in parts. Brackets contain Wilson's 95 % interval. The speeds were measured on this machine.",
        "",
        "| game | seats | decisions | asked | longest legal list | observation, bytes | different | greedy against itself: seat 0 is first | and each seat, % | greedy against random: first | measured on |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        *(row(name, seats, found) for (name, seats), found in figures.items()),
    ]
    lines += ["", "| game | random playouts at the largest table, decisions per second |", "|---|---|"]
    lines += [f"| {find(name).title} | {round(speed, -3):,.0f} |" for name, speed in speeds.items()]
    for name in dict.fromkeys(name for name, _ in figures):
        lines += [
            "",
            f"## Options of {find(name).title} (`{name}`)",
            "",
            "| option | values | default | meaning | rule |",
        ]
        lines += ["|---|---|---|---|---|", *map(_option, find(name).options)]
    return "\n".join(lines) + "\n"


def row(name: str, seats: int, found: Figures) -> str:
    """Return the row for one table, with the day of its measurement."""
    return (
        f"| {find(name).title} | {seats} | {found.decisions:.0f} | {found.choices:.0f} | {found.longest} | {found.observation:.0f} "
        f"| {found.different} | {_advantage(found.firsts)} | {share(found.wins) if found.wins else '-'} | {datetime.now(UTC):%Y-%m-%d} |"
    )


def with_rows(page: str, figures: dict[tuple[str, int], Figures]) -> str:
    """Return a page with the rows of the given tables replaced."""
    new = {f"| {find(name).title} | {seats} |": row(name, seats, found) for (name, seats), found in figures.items()}
    lines = page.split("\n")
    return "\n".join(next((new[start] for start in new if line.startswith(start)), line) for line in lines)


def _advantage(firsts: Sequence[Sequence[float]]) -> str:
    if not firsts:
        return "- | -"
    seats = list(zip(*firsts, strict=True))
    return f"{share(seats[0])} | {' '.join(f'{mean(seat):.0%}'.rstrip('%') for seat in seats)}"


def _option(option: Option) -> str:
    default = str(option.default).lower()
    return f"| `{option.name}` | {option.describe_values()} | {default} | {option.help} | {option.rule} |"


def main() -> None:
    """Measure all games and write the page."""
    parser = argparse.ArgumentParser(description="Measure all games and write docs/games.md.")
    parser.add_argument("--matches", type=int, default=50, help="matches of each kind for each number of seats")
    parser.add_argument("--page", type=Path, default=PAGE, help="the file of the page")
    parser.add_argument(
        "--games", nargs="*", default=list(games()), help="measure only these; the page keeps its other rows"
    )
    parser.add_argument("--seats", nargs="*", type=int, default=[2, 3, 4, 5])
    chosen = parser.parse_args()
    every = [(game.name, seats) for game in games().values() for seats in game.seat_counts]
    tables = [(name, seats) for name, seats in every if name in chosen.games and seats in chosen.seats]
    if not tables:
        parser.error("there is no such table")
    speeds = (
        {game.name: rules.playouts(game) for game in games().values()} if tables == every else {}
    )  # before the cores are busy
    with ProcessPoolExecutor(processors()) as pool:
        names, counts = zip(*tables, strict=True)
        found = pool.map(measure, names, counts, [chosen.matches] * len(tables))
        figures = dict(zip(tables, found, strict=True))
    if tables == every:
        text = page(figures, speeds, chosen.matches)
    else:
        text = with_rows(chosen.page.read_text(encoding="utf-8"), figures)
    chosen.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
