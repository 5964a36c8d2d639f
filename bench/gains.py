"""The points that `search` gains in a decision: `python -m bench.gains valparaiso --seconds 1 --matches 20`.

In a share of the decisions of matches between `greedy` bots, a search finds the best candidate. Then both this candidate and the
row of `greedy` are played in fresh samples, and the recipe's policy plays on to the end. The sum of such gains over a match is
the difference that the search makes (S. Kakade and J. Langford, *Approximately Optimal Approximate Reinforcement Learning*,
2002, lemma 6.1), to the extent that the policy plays like `greedy`. This makes it possible to compare, within a few
minutes, settings of a recipe that only hours of matches would tell apart. One search serves all margins.
"""

from __future__ import annotations

import argparse
import importlib
import math
import random
import sys
import time
from collections.abc import Sequence
from statistics import mean, pvariance
from typing import NamedTuple

from house_bots.search.halving import Search, beyond_rivals
from house_bots.search.recipe import Recipe

from bench.matches import Question
from bench.strength import OPENINGS, answer, opened, read_count, read_seconds
from bench.strength_changes import Settings
from referee.game import Action, Game, Observation, Seat
from referee.kit.chance import FastChance, LiveChance
from referee.playout import END, play_row, rollout
from referee.registry import find, games, house_bots, shipped_board
from referee.verdict.student import half_width

MARGINS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
FRESH = 2**40
"""The offset that keeps the seeds of the measured samples apart from those of the searches."""


class Gain(NamedTuple):
    """The gain of the best candidate of a search."""

    errors: float
    """The candidate's mean difference from `greedy`'s row in the search, in standard errors; 0 if none is better."""
    points: float
    """The points that the candidate gains in fresh samples."""


def gain(game: Game, recipe: Recipe, seen: Observation, seat: Seat, seed: int, seconds: float, samples: int) -> Gain:
    """Search once, and measure the gain of the best candidate."""
    began = time.process_time()
    search = Search(game, recipe, seen, seat, seed)
    search.run(lambda _: (time.process_time() - began) / seconds)
    most = max(map(len, search.differences[1:]), default=0)
    if most < max(2, recipe.min_samples):
        return Gain(0.0, 0.0)
    best = max((found for found in search.differences[1:] if len(found) == most), key=mean)
    if mean(best) <= 0:
        return Gain(0.0, 0.0)
    error = math.sqrt(pvariance(best) / (most - 1))
    row = search.rows[search.differences.index(best, 1)]
    fresh = [
        points(game, recipe, seen, seat, row, seed + FRESH + number)
        - points(game, recipe, seen, seat, search.rows[0], seed + FRESH + number)
        for number in range(samples)
    ]
    return Gain(mean(best) / error if error else math.inf, mean(fresh))


def points(game: Game, recipe: Recipe, seen: Observation, seat: Seat, row: Sequence[Action], seed: int) -> float:
    """Play a row in a sample, and then the match to its end.

    Return the seat's score minus that of its rivals, as a search computes it.
    """
    state = game.sample(recipe.setup, seen, FastChance(seed), undone=recipe.has_secrets)
    chance = FastChance(seed)
    play_row(state, seat, row, chance)
    rollout(state, recipe.policy, chance, END)
    return beyond_rivals(state.scores(), seat)


def gains_of_match(
    game: Game,
    seats: int,
    changed: tuple[int | None, float | None],
    seed: int,
    share: float,
    seconds: float,
    samples: int,
) -> list[Gain]:
    """Return the gains in a share of the decisions of one seat, in a match between `greedy` bots."""
    setup = game.setup(seats, {}, shipped_board(game))
    own = importlib.import_module(f"house_bots.search.{game.name}").RECIPE(setup)
    greedy, draw, chance = house_bots()["greedy"](game, setup, "", 0), random.Random(seed), LiveChance(seed)
    state, searcher, found = opened(game, setup, seed, chance, OPENINGS.get(game.name, 0)), seed % seats, []
    while not state.is_over():
        seat = state.seats_to_act()[0]
        question = Question(state.observation(seat), state.legal_actions(seat))
        if seat == searcher and len(question.actions) > 1 and draw.random() < share:
            recipe, search_seed = Settings(own, *changed), draw.getrandbits(32)
            found.append(gain(game, recipe, question.observation, seat, search_seed, seconds, samples))
        play_row(state, seat, answer(greedy, question), chance)
    return found


def line(margin: float, matches: Sequence[Sequence[Gain]]) -> str:
    """Return a line with the mean gain of a decision at a margin, and its 95 % interval over matches."""
    by_match = [[one.points if one.errors > margin else 0.0 for one in match] for match in matches if match]
    count = sum(map(len, by_match))
    departs = sum(one.errors > margin for match in matches for one in match)
    means = [len(by_match) * math.fsum(each) / count for each in by_match]  # their mean is the mean over all decisions
    error = f" ± {half_width(len(means), pvariance(means)):.2f}" if len(means) > 1 else ""
    return f"margin {margin:g}: departs in {departs / count:.0%}, gains {mean(means):+.2f}{error} points a decision"


def main(words: Sequence[str] | None = None) -> None:
    """Print the gain for each margin."""
    parser = argparse.ArgumentParser(prog="python -m bench.gains", description=__doc__)
    parser.add_argument("game", choices=list(games()))
    parser.add_argument("--seats", type=int, choices=(2, 3, 4, 5), default=2)
    parser.add_argument("--seconds", type=read_seconds, default=1.0, help="processor seconds of a search")
    parser.add_argument("--stages", type=read_count, help="the length of rollouts; by default the recipe's")
    parser.add_argument(
        "--long-samples", type=float, help="the number of samples from which rollouts are long; by default the recipe's"
    )
    parser.add_argument("--matches", type=read_count, default=10)
    parser.add_argument("--share", type=float, default=0.2, help="the share of the decisions that are searched")
    parser.add_argument("--samples", type=read_count, default=200, help="fresh samples that measure a candidate")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the first match")
    chosen = parser.parse_args(words)
    if chosen.seats not in find(chosen.game).seat_counts:
        parser.error(f"{chosen.game} cannot be played with {chosen.seats} seats")
    if not 0 < chosen.share <= 1:
        parser.error("--share must be more than 0, and at most 1")
    changed = chosen.stages, chosen.long_samples
    found = [
        gains_of_match(find(chosen.game), chosen.seats, changed, seed, chosen.share, chosen.seconds, chosen.samples)
        for seed in range(chosen.seed, chosen.seed + chosen.matches)
    ]
    if not any(found):
        sys.exit("no decision was searched: take more matches, or a larger --share")
    print(f"{sum(map(len, found))} decisions of {chosen.matches} matches")
    for margin in MARGINS:
        print(line(margin, found))


if __name__ == "__main__":
    main()
