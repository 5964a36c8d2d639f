"""The agents of the measurements, by the word on the command line.

`random` plays and tells when; `greedy` plays as the house bot; `singly` likewise, but answers one decision at a time instead of
whole turns; `brink` answers shortly before its time is up; `first` finishes its plans at once, and `dawdler` lets the sand
timer run out on its first; `echo` answers a bare echo, and `sdk-echo` does so by the SDK's call instead of gRPC's library.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import sys
import time
from typing import Any

from dogana.sdk import Decision, play
from dogana.started import Call, CallEnded


def play_random() -> None:
    """Play at random, and print the moments of the first question and of the end, and how often it was asked."""
    chance = random.Random(1)
    moments: list[float] = []

    def choose(decision: Decision) -> int:
        if not moments:
            moments.append(time.monotonic())
        moments.append(0.0)
        return int(chance.random() * decision.action_count)

    play(choose, on_end=lambda match, over: print("moments", moments[0], time.monotonic(), len(moments) - 1))


def play_greedy(*, singly: bool) -> None:
    """Play as the house bot `greedy`; print how often it was asked, and the moments of the first question and of the end."""
    from house_bots.greedy import GreedyBot
    from house_bots.process import play_as

    asked = 0
    begin = 0.0
    whole = GreedyBot.choose

    def choose(bot: GreedyBot, decision: Any) -> Any:
        nonlocal asked, begin
        begin = begin or time.monotonic()
        asked += 1
        actions = whole(bot, decision)
        return actions[:1] if singly else actions

    GreedyBot.choose = choose  # type: ignore[assignment, method-assign]
    play_as("greedy")
    print("asked", asked, begin, time.monotonic())


def play_on_the_brink(margin_seconds: float) -> None:
    """Answer at random just before the limit; print the number, own seconds and budget of each decision."""
    chance = random.Random(1)

    def choose(decision: Decision) -> int:
        begin = time.monotonic() - (decision.seconds - decision.seconds_left())  # when the question was read
        time.sleep(max(0.0, decision.seconds_left() - margin_seconds))
        print("took", decision.number, time.monotonic() - begin, decision.seconds)
        return int(chance.random() * decision.action_count)

    play(choose)


def play_first() -> None:
    """Finish every plan at once; print how long it took from the first one until the next question."""
    finished = 0.0

    def choose(decision: Decision) -> int:
        nonlocal finished
        if finished > 0:
            print("window", time.monotonic() - finished)
            finished = -1.0
        if "commit" not in decision.labels:
            return 0
        finished = finished or time.monotonic()
        return list(decision.labels).index("commit")

    play(choose, labels=True)


def play_dawdling() -> None:
    """Think about the first plan until the question is withdrawn, then play on without delay."""
    dawdled = False

    def choose(decision: Decision) -> int:
        nonlocal dawdled
        while "commit" in decision.labels and not (dawdled or decision.withdrawn):
            time.sleep(0.5)
        dawdled = dawdled or "commit" in decision.labels
        return 0

    play(choose, labels=True)


async def echo() -> None:
    """Answer every message with as many bytes as the command line says."""
    import grpc

    answer = b"x" * int(sys.argv[2])
    async with grpc.aio.insecure_channel(os.environ["DOGANA_ADDRESS"]) as channel:
        call: Any = channel.stream_stream("/bench.Echo/Play")()
        await call.write(b"ready")
        while isinstance(await call.read(), bytes):
            await call.write(answer)


def sdk_echo() -> None:
    """Do the same by the SDK's call."""
    call = Call(os.environ["DOGANA_ADDRESS"].removeprefix("unix:"), "/bench.Echo/Play")
    answer = b"x" * int(sys.argv[2])
    call.send(b"ready")
    with contextlib.suppress(CallEnded):
        while True:
            call.receive()
            call.send(answer)


if __name__ == "__main__":
    if sys.argv[1] == "random":
        play_random()
    elif sys.argv[1] == "brink":
        play_on_the_brink(float(sys.argv[2]) / 1000)
    elif sys.argv[1] == "first":
        play_first()
    elif sys.argv[1] == "dawdler":
        play_dawdling()
    elif sys.argv[1] == "echo":
        asyncio.run(echo())
    elif sys.argv[1] == "sdk-echo":
        sdk_echo()
    else:
        play_greedy(singly=sys.argv[1] == "singly")
