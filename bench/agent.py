"""The agents that are measured; the first word on the command line chooses one.

`random` plays at random, and `greedy` as the house bot does, with whole turns; both print their times. `brink` answers shortly
before its time is up; `echo` answers a bare gRPC stream.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from typing import Any

from dogana.sdk import Decision, play


def play_random() -> None:
    """Play at random; print the times of the first question and of the end of the match, and the number of questions."""
    chance = random.Random(1)
    moments: list[float] = []

    def choose(decision: Decision) -> int:
        if not moments:
            moments.append(time.monotonic())
        moments.append(0.0)  # only the number of moments counts
        return int(chance.random() * decision.action_count)

    play(choose, on_end=lambda match, over: print("moments", moments[0], time.monotonic(), len(moments) - 1))


def play_greedy() -> None:
    """Play as the house bot `greedy`; print the times of the first question and of the end."""
    from house_bots.greedy import GreedyBot  # imported here: the other agents start without the rules
    from house_bots.process import play_as

    begin = 0.0
    whole = GreedyBot.choose

    def choose(bot: GreedyBot, decision: Any) -> Any:
        nonlocal begin
        begin = begin or time.monotonic()
        return whole(bot, decision)

    # `play_as` makes the bot itself, so its class is changed.
    GreedyBot.choose = choose  # type: ignore[assignment, method-assign]
    play_as("greedy")
    print("moments", begin, time.monotonic())


def play_on_the_brink(margin_seconds: float) -> None:
    """Answer at random just before the limit.

    For each decision, print its number, the seconds that it took by the bot's own clock, and its budget.
    """
    chance = random.Random(1)

    def choose(decision: Decision) -> int:
        begin = time.monotonic() - (decision.seconds - decision.seconds_left())  # the time of the question
        time.sleep(max(0.0, decision.seconds_left() - margin_seconds))
        print("took", decision.number, time.monotonic() - begin, decision.seconds)
        return int(chance.random() * decision.action_count)

    play(choose)


async def echo(size: int) -> None:
    """Answer every message of a bare gRPC stream with `size` bytes."""
    import grpc  # imported here: only this agent needs gRPC

    answer = b"x" * size
    async with grpc.aio.insecure_channel(os.environ["DOGANA_ADDRESS"]) as channel:
        call: Any = channel.stream_stream("/bench.Echo/Play")()
        await call.write(b"ready")  # opens the stream; the other side starts its clock only then
        while isinstance(await call.read(), bytes):
            await call.write(answer)


if __name__ == "__main__":
    if sys.argv[1] == "random":
        play_random()
    elif sys.argv[1] == "greedy":
        play_greedy()
    elif sys.argv[1] == "brink":
        play_on_the_brink(float(sys.argv[2]) / 1000)
    else:
        asyncio.run(echo(int(sys.argv[2])))
