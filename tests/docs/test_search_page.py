"""docs/search.md is true: its program runs as it stands, and its matches end as it says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from house_bots.search import SearchBot

from referee.game import Action
from referee.live.matches.in_process import Bot, play_in_process
from referee.match.house import HouseDecision
from referee.match.plan import match_id_for
from referee.registry import find, games, house_bot, shipped_board
from tests.cases import need_compiled_rules

PAGE = (Path(__file__).parents[2] / "docs" / "search.md").read_text()
ROWS = re.findall(r"^\| (`dogana play .*) \|$", PAGE, re.MULTILINE)
"""The rows of the table of matches."""
MATCH = re.compile(r"`dogana play (\w+) (\S+) greedy --seed (\d+)` \|")


def test_the_program_of_the_page_finds_a_row() -> None:
    [program] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {"__name__": "page"}
    exec(program, names)  # noqa: S102 our own page
    assert names["search"].rollouts == 20
    assert names["search"].run(lambda rollouts: 1.0) in names["search"].rows


def test_the_page_has_a_match_of_each_game_that_search_plays() -> None:
    plays = [name for name, game in games().items() if SearchBot.plays(game)]
    assert sorted(match[1] for match in map(MATCH.match, ROWS) if match) == plays


@pytest.mark.compiled
@pytest.mark.parametrize("row", ROWS, ids=[row.split()[2] for row in ROWS])
def test_a_match_of_the_page_ends_as_it_says(row: str) -> None:
    need_compiled_rules("play these matches")
    match = MATCH.match(row)
    assert match is not None
    game, bot, seed = match[1], match[2], int(match[3])
    compared = _Compared(game, bot, seed)
    result, steps = _outcome(game, compared.choose, seed)
    others, _ = _outcome(game, "greedy", seed)
    decides = f"in {compared.same} of {compared.decisions} decisions"
    assert row == f"{match[0]} {result} | {others} | {steps} | {decides}"


def _outcome(game: str, first: Bot, seed: int) -> tuple[str, int]:
    """Play a match against `greedy`; return its scores, and the number of its steps."""
    result = play_in_process(game, [first, "greedy"], seed=seed)
    return " to ".join(str(seat.score) for seat in result.seats), result.decisions


class _Compared:
    """A house bot in seat 0, and how often it decides like `greedy`.

    Attributes:
        decisions: the number of its decisions.
        same: the number of those in which `greedy` chooses the same row.
    """

    def __init__(self, game: str, bot: str, seed: int) -> None:
        rules = find(game)
        setup = rules.setup(2, {}, shipped_board(rules))
        terms = rules, setup, match_id_for(rules, setup, seed), 0
        self._bot, self._greedy = house_bot(bot)(*terms), house_bot("greedy")(*terms)
        self.decisions = self.same = 0

    def choose(self, decision: HouseDecision) -> Sequence[Action]:
        """Return the row of the bot."""
        row, greedys = (
            [decision.actions[answer]] if isinstance(answer, int) else list(answer)
            for answer in (self._bot.choose(decision), self._greedy.choose(decision))
        )
        self.decisions += 1
        self.same += row == greedys
        return row
