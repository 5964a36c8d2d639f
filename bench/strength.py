"""Measure the strength of `search` against `greedy`: play blocks, and store each match in docs/strength.jsonl.

`make strength`, or `python -m bench.strength --games yunnan --seats 2 --seconds 0.1 --blocks 20`. A block is one seed, with
`search` in each seat in turn. In a game without chance after the start, 4 random decisions come first. Time is processor time,
so a loaded machine gives much the same figures. A cell whose blocks are all stored is not played again.
`--change` measures a changed recipe. `--page` plays nothing: `strength_page.py` writes docs/strength.md and the plot.
`--verify` plays the stored matches again: the seed, `greedy`, and the rows in which `search` departed from it give each result.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

from house_bots.options import number
from house_bots.search import SearchBot

from bench.matches import Question
from bench.strength_changes import CHANGES
from bench.strength_page import write_page
from bench.strength_results import RESULTS, Cell, Played, blocks_of, read_matches
from referee.game import Action, Chance, Game, Seat, Setup, State
from referee.kit.chance import LiveChance
from referee.match.house import HouseBot
from referee.playout import play_row
from referee.registry import find, games, house_bots, rules_are_compiled, shipped_board

OPENINGS = {"yunnan": 4}
"""The number of random decisions before the match, in games that have no chance later and would repeat matches."""


def play(cell: Cell, seed: int, seat: int) -> Played:
    """Play one match between `search` in a seat and `greedy` in all others."""
    game = find(cell.game)
    setup = game.setup(cell.seats, {}, shipped_board(game))
    change = CHANGES[cell.change][0] if cell.change else None
    search = SearchBot(game, setup, f"strength {seed}", seat, seconds=cell.seconds, change=change)
    greedy = house_bots()["greedy"](game, setup, "", 0)
    began, chance = time.process_time(), LiveChance(seed)
    state = opened(game, setup, seed, chance, OPENINGS.get(game.name, 0))
    decisions = rollouts = 0
    departed: dict[str, list[int]] = {}
    for turn in itertools.count():
        if state.is_over():
            break
        actor = state.seats_to_act()[0]
        question = Question(state.observation(actor), state.legal_actions(actor))
        # `greedy` answers in the seat of `search`, too, so that departures from it can be noted.
        row = greedys = answer(greedy, question)
        if actor == seat:
            row = answer(search, question)
            if search.last is not None and len(question.actions) > 1:
                decisions += 1
                rollouts += search.last.rollouts
        played = play_and_note(state, actor, row, chance)
        if row != greedys:
            departed[str(turn)] = played
    first, difference = outcome(state, seat)
    return Played(
        **cell._asdict(),
        seed=seed,
        seat=seat,
        first=first,
        difference=difference,
        decisions=decisions,
        rollouts=rollouts,
        departed=departed,
        cpu=round(time.process_time() - began, 2),
    )


def replay(match: Played) -> tuple[float, float]:
    """Replay a match with the noted rows where `search` departed from `greedy`, and as `greedy` elsewhere.

    Return the `outcome` of the match.

    Raises:
        ValueError: if a noted row is no longer possible, because `greedy` or the rules have changed.
    """
    game = find(match.game)
    setup = game.setup(match.seats, {}, shipped_board(game))
    greedy = house_bots()["greedy"](game, setup, "", 0)
    chance = LiveChance(match.seed)
    state = opened(game, setup, match.seed, chance, OPENINGS.get(game.name, 0))
    left = dict(match.departed)
    for turn in itertools.count():
        if state.is_over():
            break
        actor = state.seats_to_act()[0]
        noted = left.pop(str(turn), None)
        if noted is None:
            question = Question(state.observation(actor), state.legal_actions(actor))
            play_row(state, actor, answer(greedy, question), chance)
            continue
        if actor != match.seat:
            raise ValueError(f"seat {actor} is to act in turn {turn}, which is noted for seat {match.seat}")
        for index in noted:
            actions = state.legal_actions(actor)
            if index >= len(actions):
                raise ValueError(f"there is no action {index} in turn {turn}")
            state.apply(actor, actions[index], chance)
    if left:
        raise ValueError(f"the match ends before turn {min(map(int, left))}, which is noted")
    return outcome(state, match.seat)


def play_and_note(state: State, seat: Seat, row: Sequence[Action], chance: Chance) -> list[int]:
    """Play a row as `play_row` does; return the index, among the legal actions, of each action that was played."""
    indices: list[int] = []
    for action in row:
        actions = state.legal_actions(seat)
        if indices and action not in actions:
            break
        indices.append(actions.index(action))
        state.apply(seat, action, chance)
    return indices


def outcome(state: State, seat: Seat) -> tuple[float, float]:
    """Return a seat's share of the first place, and its score minus the mean score of its rivals."""
    ranks, scores = state.ranks(), state.scores()
    first = (ranks[seat] == 1) / ranks.count(1)
    return first, round(scores[seat] - (sum(scores) - scores[seat]) / (len(scores) - 1), 3)


def play_block(cell: Cell, seed: int) -> list[Played]:
    """Play the matches of one seed, with `search` in each seat in turn."""
    return [play(cell, seed, seat) for seat in range(cell.seats)]


def opened(game: Game, setup: Setup, seed: int, chance: Chance, openings: int) -> State:
    """Begin a match with a number of random decisions; return the state after them."""
    state, draw = game.start(setup, chance), random.Random(seed)
    for _ in range(openings):
        actor = state.seats_to_act()[0]
        state.apply(actor, draw.choice(state.legal_actions(actor)), chance)
    return state


def answer(bot: HouseBot, question: Question) -> list[Action]:
    """Return the actions that a bot plays."""
    row = bot.choose(question)
    return [question.actions[row]] if isinstance(row, int) else list(row)


# --- the command -----------------------------------------------------------------------------------------------


def main() -> None:
    """Play the missing blocks, then write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.strength", description=__doc__)
    names = [name for name, game in games().items() if SearchBot.plays(game)]
    parser.add_argument("--games", nargs="*", choices=names, default=names)
    parser.add_argument("--seats", nargs="*", type=int, choices=(2, 3, 4, 5), default=[2, 3, 4, 5])
    parser.add_argument("--seconds", nargs="*", type=read_seconds, default=[0.1, 1.0, 5.0])
    parser.add_argument("--blocks", type=read_count, default=20)
    parser.add_argument("--change", nargs="*", choices=sorted(CHANGES), default=[""])
    parser.add_argument("--workers", type=read_count, default=2)
    parser.add_argument("--page", action="store_true", help="play nothing: write the page from the stored matches")
    parser.add_argument(
        "--verify", action="store_true", help="play the stored matches again from their rows, and compare"
    )
    chosen = parser.parse_args()
    if chosen.verify:
        sys.exit(verify(read_matches()))
    if not chosen.page:
        if not rules_are_compiled():
            parser.error("the rules are not compiled here: make strength compiles them first")
        play_missing(
            [
                Cell(name, seats, seconds, change)
                for name in chosen.games
                for seats in chosen.seats
                for seconds in chosen.seconds
                for change in chosen.change
                if seats in find(name).seat_counts
            ],
            chosen.blocks,
            chosen.workers,
        )
    write_page(blocks_of(read_matches()))


def read_seconds(text: str) -> float:
    """Read the seconds of `search` from a command-line argument."""
    try:
        return float(SearchBot.read_options({"seconds": text})["seconds"])
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def read_count(text: str) -> int:
    """Read a positive number from a command-line argument."""
    try:
        return int(number("it", text, int, 1, 10**6))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def verify(matches: Sequence[Played]) -> int:
    """Play matches again, and print those with another result; return 1 if there are any, and 0 otherwise."""
    wrong = 0
    for match in matches:
        try:
            first, difference = replay(match)
            found = f"first {first}, difference {difference}, and not {match.first}, {match.difference}"
        except ValueError as error:
            found = str(error)
        else:
            if (first, difference) == (match.first, match.difference):
                continue
        wrong += 1
        print(f"{match.game}, {match.seats} seats, {match.seconds:g} s, seed {match.seed}, seat {match.seat}: {found}")
    print(f"{len(matches)} matches, {wrong} of them with another result")
    return min(wrong, 1)


def play_missing(cells: Sequence[Cell], blocks: int, workers: int, results: Path = RESULTS) -> None:
    """Play the missing blocks of all cells in turn, and store each complete block."""
    have = blocks_of(read_matches(results))
    # This goes seed by seed, so that all cells have about the same number of blocks if it is stopped.
    wanted = [(cell, seed) for seed in range(1, blocks + 1) for cell in cells if seed not in have.get(cell, ())]
    with ProcessPoolExecutor(workers) as pool, results.open("a") as file:
        for block in pool.map(play_block, *zip(*wanted, strict=True)) if wanted else ():
            file.write("".join(json.dumps(asdict(match)) + "\n" for match in block))
            file.flush()


if __name__ == "__main__":
    main()
