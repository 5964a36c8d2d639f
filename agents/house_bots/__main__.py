"""Run a house bot as a separate process: `python -m house_bots random`."""

from __future__ import annotations

import sys

from dogana import sdk
from house_bots.random_bot import RandomBot


def main() -> None:
    """Play one match as the bot named on the command line."""
    if sys.argv[1:] == ["random"]:
        _play_random()
    elif len(sys.argv) == 2:
        from house_bots.process import play_as

        play_as(sys.argv[1])
    else:
        sys.exit("usage: python -m house_bots NAME (a house bot, such as random or greedy)")


def _play_random() -> None:
    """Play as `random`, which needs no game and therefore starts without the rules."""
    bots: list[RandomBot] = []
    sdk.play(
        lambda decision: bots[0].pick(decision.action_count),
        on_start=lambda match: bots.append(RandomBot(None, None, match.match_id, match.seat)),
    )


if __name__ == "__main__":
    main()
