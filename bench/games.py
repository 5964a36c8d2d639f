"""The figures of all games, measured and written to docs/games.md: `make games`, or `python -m bench.games`."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from bench import rules
from bench.matches import ROOT, plan_for
from referee.commands.tally import share
from referee.game import Game, Option
from referee.kit.chance import FastChance
from referee.live.codec import codec
from referee.live.play import House, play_match
from referee.registry import find, games, house_bots, shipped_board

PAGE = ROOT / "docs" / "games.md"


class Figures(NamedTuple):
    """What was measured of a game at a table of so many seats."""

    decisions: float
    """Decisions of a random match."""
    asked: float
    """Those of them that have more than one legal action."""
    longest: int
    """The longest legal list of all."""
    observation: float
    """Bytes of an observation."""
    firsts: tuple[tuple[float, ...], ...]
    """Each seat's share of the first place, in each match of greedy bots against one another; empty without a greedy bot."""
    wins: tuple[float, ...]
    """The share of the first place of one greedy bot among random ones, in each match."""


def measure(game_name: str, seats: int, matches: int) -> Figures:
    """Plays matches of one game at one table."""
    game = find(game_name)
    decisions, asked, longest, sizes = _random_play(game, seats, matches)
    if not house_bots()["greedy"].plays(game):
        return Figures(decisions, asked, longest, mean(sizes), (), ())
    firsts, wins = [], []
    for seed in range(matches):
        firsts.append(_shares(game, ["greedy"] * seats, seed))
        place = seed % seats
        wins.append(_shares(game, ["greedy" if seat == place else "random" for seat in range(seats)], seed)[place])
    return Figures(decisions, asked, longest, mean(sizes), tuple(firsts), tuple(wins))


def _random_play(game: Game, seats: int, matches: int) -> tuple[float, float, int, list[int]]:
    setup = game.setup(seats, {}, shipped_board(game))
    decisions = asked = longest = 0
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
            asked += len(legal) > 1
            longest = max(longest, len(legal))
            state.apply(seat, legal[chance.below(len(legal))], chance)
    return decisions / matches, asked / matches, longest, sizes


def _shares(game: Game, bots: Sequence[str], seed: int) -> tuple[float, ...]:
    """Each seat's share of the first place in a match of house bots."""
    players = [House(house_bots()[bot]) for bot in bots]
    ranks = [seat.rank for seat in asyncio.run(play_match(plan_for(game, len(bots), seed), players)).result.seats]
    return tuple((rank == 1) / ranks.count(1) for rank in ranks)


def page(figures: dict[tuple[str, int], Figures], speeds: dict[str, float], matches: int) -> str:
    """The page, in Markdown."""
    lines = [
        "# The games in figures",
        "",
        "Written by `make games`; do not edit. "
        f"Measured on {datetime.now(UTC):%Y-%m-%d} with Python {platform.python_version()} on {os.cpu_count()} cores: "
        f"{matches} matches of uniformly random play for each number of seats (*decisions* are all decisions of a match, *asked* those",
        "with more than one legal action), as many of `greedy` against itself, and as many of one `greedy` among `random`, seats in turn. All with default",
        "options. A shared first place counts in parts. In brackets: the 95 % interval by Wilson. The speed is that of this machine.",
        "",
        "| game | seats | decisions | asked | longest legal list | observation, bytes | greedy against itself: seat 0 is first | and each seat, % | greedy against random: first |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (name, seats), found in figures.items():
        lines.append(
            f"| {find(name).title} | {seats} | {found.decisions:.0f} | {found.asked:.0f} | {found.longest} | {found.observation:.0f} "
            f"| {_advantage(found.firsts)} | {share(found.wins) if found.wins else '-'} |"
        )
    lines += ["", "| game | random playouts at the largest table, decisions per second |", "|---|---|"]
    lines += [f"| {find(name).title} | {round(speed, -3):,.0f} |" for name, speed in speeds.items()]
    for name in dict.fromkeys(name for name, _ in figures):
        lines += [
            "",
            f"## Options of {find(name).title} (`{name}`)",
            "",
            "| option | values | default | what it says | rule |",
        ]
        lines += ["|---|---|---|---|---|", *map(_option, find(name).options)]
    return "\n".join(lines) + "\n"


def _advantage(firsts: Sequence[Sequence[float]]) -> str:
    if not firsts:
        return "- | -"
    seats = list(zip(*firsts, strict=True))
    return f"{share(seats[0])} | {' '.join(f'{mean(seat):.0%}'.rstrip('%') for seat in seats)}"


def _option(option: Option) -> str:
    default = str(option.default).lower()
    return f"| `{option.name}` | {option.describe_values()} | {default} | {option.help} | {option.rule} |"


def main() -> None:
    """Measures all games and writes the page."""
    parser = argparse.ArgumentParser(description="Measure all games and write docs/games.md.")
    parser.add_argument("--matches", type=int, default=50, help="matches of each kind for each number of seats")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the page goes")
    chosen = parser.parse_args()
    tables = [(game.name, seats) for game in games().values() for seats in game.seat_counts]
    speeds = {game.name: rules.playouts(game) for game in games().values()}  # before the cores are busy
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        names, counts = zip(*tables, strict=True)
        found = pool.map(measure, names, counts, [chosen.matches] * len(tables))
        figures = dict(zip(tables, found, strict=True))
    chosen.page.write_text(page(figures, speeds, chosen.matches), encoding="utf-8")


if __name__ == "__main__":
    main()
