"""The share of decisions in which a temperature changes the row of `greedy`, for docs/writing_a_bot.md.

`python -m bench.temperatures 0.5 2 --games valparaiso` plays two-seat matches for each temperature, which both seats
use. It counts the decisions among several actions, and those in which `greedy` without a temperature would have played
another row.
"""

from __future__ import annotations

import argparse

from bench.matches import Question
from referee.kit.chance import FastChance
from referee.playout import play_row
from referee.registry import find, games, house_bots, shipped_board


def share_of_others(game_name: str, temperature: float, matches: int) -> tuple[float, int]:
    """Return the share of decisions in which the row differs from that of `greedy`, and the number of decisions."""
    game, greedy = find(game_name), house_bots()["greedy"]
    setup = game.setup(2, {}, shipped_board(game))
    decisions = others = 0
    for seed in range(matches):
        warm = [greedy(game, setup, f"temperatures {seed}", seat, temperature=temperature) for seat in range(2)]
        cold = greedy(game, setup, "", 0)
        chance = FastChance(seed)
        state = game.start(setup, chance)
        while not state.is_over():
            seat = state.seats_to_act()[0]
            question = Question(state.observation(seat), state.legal_actions(seat))
            row = warm[seat].choose(question)
            assert not isinstance(row, int)
            if len(question.actions) > 1:
                decisions += 1
                others += row != cold.choose(question)
            play_row(state, seat, row, chance)
    return others / decisions, decisions


def main() -> None:
    """Print the share for each game and temperature."""
    parser = argparse.ArgumentParser(prog="python -m bench.temperatures", description=__doc__)
    parser.add_argument("temperatures", nargs="+", type=float, help="temperatures, in points")
    parser.add_argument("--games", nargs="*", default=list(games()))
    parser.add_argument("--matches", type=int, default=20)
    chosen = parser.parse_args()
    for game in chosen.games:
        for temperature in chosen.temperatures:
            share, decisions = share_of_others(game, temperature, chosen.matches)
            print(f"{game} at {temperature:g}: {share:.0%} of {decisions} decisions", flush=True)


if __name__ == "__main__":
    main()
