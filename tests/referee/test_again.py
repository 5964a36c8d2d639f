"""Questions of a record are put to an agent again (`referee/live/matches/again.py`): it is sent the same bytes, and answers the same."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from house_bots.greedy import GreedyBot

from referee.live.matches.again import Reaction, ask_again
from referee.live.matches.play import Command, House, MatchReport, Player
from referee.live.seats.command import AgentProcess
from referee.match.plan import MatchPlan
from referee.records.past_decisions import PastDecision, past_decisions
from referee.registry import find, games
from tests import matches
from tests.cases import mostly_long
from tests.tables import plan_of

ROOT = Path(__file__).resolve().parents[2]
NOTING = """
import copy, hashlib, sys
from dogana import sdk
from house_bots.process import play_as

exchange = sdk._Stream.exchange

def noted(stream, answer):
    message = exchange(stream, answer)
    bare = copy.deepcopy(message)
    which = bare.WhichOneof("message")
    if which == "decide":
        bare.decide.ClearField("clock")
    elif which == "rejected":
        bare.rejected.ClearField("left_ms")
    print("sent", which, hashlib.sha256(bare.SerializeToString(deterministic=True)).hexdigest(), flush=True)
    return message

sdk._Stream.exchange = noted
"""
"""Notes in its log a hash of every message that it is sent, without times."""
GREEDY = NOTING + "play_as('greedy')\n"
SHORT = {"cargo_noir": {"last_turn": 4}}


def command(folder: Path, program: str) -> Command:
    (folder / "bot.py").write_text(program)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'agents'}"}
    return Command([sys.executable, "bot.py"], environment, folder, 60.0)


def record_of(plan: MatchPlan, seat: int, bot: Command, path: Path) -> MatchReport:
    """Play a match of a bot among house bots, and write its record."""
    players: list[Player] = [House(GreedyBot)] * plan.setup.seats
    players[seat] = bot
    return matches.play(plan, players, record=path, seconds=300)


def again(
    path: Path, seat: int, bot: Command, *, with_clock: bool = False, first: int = 1
) -> tuple[list[tuple[PastDecision, Reaction]], str]:
    """Ask a bot again; return what it did, and its last words."""
    record, decisions = past_decisions(path, find, seat)
    assert record.result is not None
    heard: list[tuple[PastDecision, Reaction]] = []

    async def ready(process: AgentProcess) -> None:
        assert process.agent is not None

    last_words = asyncio.run(
        asyncio.wait_for(
            ask_again(
                record.plan, record.result, decisions[first - 1 :], bot, with_clock=with_clock, ready=ready,
                tell=lambda decision, answer: heard.append((decision, answer)),
            ),
            300,
        )
    )  # fmt: skip
    return heard, last_words


def noted(log: str) -> list[str]:
    return [line for line in log.splitlines() if line.startswith("sent ")]


@pytest.mark.parametrize("game", mostly_long(games()))
def test_a_bot_is_sent_the_same_bytes_and_answers_the_same(game: str, tmp_path: Path) -> None:
    """At the largest table, and while the seed is not revealed."""
    plan = replace(
        plan_of(game, max(find(game).seat_counts), options=SHORT.get(game), clock="600+1/60"), reveals_seed=False
    )
    bot = command(tmp_path, GREEDY)
    report = record_of(plan, 1, bot, tmp_path / "match.jsonl")
    heard, last_words = again(tmp_path / "match.jsonl", 1, bot, with_clock=True)
    assert all(answer.is_same for _, answer in heard)
    then = noted(report.logs[1])
    assert [line.split()[1] for line in then] == ["welcome", *["decide"] * len(heard), "game_over"]
    assert noted("".join(answer.log for _, answer in heard) + last_words) == then


REFUSED = (
    NOTING
    + """
decisions = 0
def choose(decision):
    global decisions
    decisions += 1
    print("decisions", decisions, flush=True)
    if decisions in (2, 5):
        return 10_000
    return [decision.actions[-1], decision.actions[-1], decision.actions[-1]]
sdk.play(choose)
"""
)
"""Gives answers that are refused, and answers of which the rest is dropped."""


def test_refused_and_dropped_answers_are_the_same_again(tmp_path: Path) -> None:
    plan = plan_of("cargo_noir", options={"last_turn": 3, "first_player": 0})
    bot = command(tmp_path, REFUSED)
    report = record_of(plan, 0, bot, tmp_path / "match.jsonl")
    heard, last_words = again(tmp_path / "match.jsonl", 0, bot)
    assert all(answer.is_same for _, answer in heard)
    assert sum(len(decision.refused) for decision, _ in heard) == 2
    then = noted(report.logs[0])
    assert sum(line.startswith("sent rejected") for line in then) == 2
    assert noted("".join(answer.log for _, answer in heard) + last_words) == then


def test_what_a_bot_writes_is_reported_with_the_decision_that_it_wrote_it_for(tmp_path: Path) -> None:
    plan = plan_of("cargo_noir", options={"last_turn": 3, "first_player": 0})
    bot = command(tmp_path, REFUSED)
    record_of(plan, 0, bot, tmp_path / "match.jsonl")
    heard, _ = again(tmp_path / "match.jsonl", 0, bot)
    numbers = [[line for line in answer.log.splitlines() if line.startswith("decisions")] for _, answer in heard]
    flat = [line for lines in numbers for line in lines]
    assert all(numbers)
    assert flat == [f"decisions {number}" for number in range(1, len(flat) + 1)]


def test_all_that_was_written_before_an_answer_is_read_with_it(tmp_path: Path) -> None:
    program = "import time\nprint('x' * 50_000, flush=True)\nopen('written', 'w').close()\ntime.sleep(60)\n"

    async def read() -> None:
        process = await AgentProcess.start([sys.executable, "-c", program], dict(os.environ), tmp_path)
        try:
            while not (tmp_path / "written").exists():
                time.sleep(0.01)  # without a turn of the event loop, as if an answer were read first
            assert process.log.text() == ""
            process.read_on()
            assert len(process.log.text()) == 50_001
        finally:
            await process.stop()

    asyncio.run(read())


def test_without_a_clock_a_bot_has_eleven_days(tmp_path: Path) -> None:
    program = "from dogana.sdk import play\nplay(lambda d: print(d.seconds, d.bank_seconds, flush=True) or 0)\n"
    bot = command(tmp_path, program)
    record_of(plan_of("cargo_noir", options={"last_turn": 2}), 0, bot, tmp_path / "match.jsonl")
    heard, _ = again(tmp_path / "match.jsonl", 0, bot)
    assert {answer.log for _, answer in heard} == {"1000000.0 1000000.0\n"}


def test_with_the_clock_of_the_match_a_bot_has_the_time_that_it_had(tmp_path: Path) -> None:
    program = "from dogana.sdk import play\nplay(lambda d: print(d.seconds, d.bank_seconds, flush=True) or 0)\n"
    bot = command(tmp_path, program)
    report = record_of(plan_of("cargo_noir", options={"last_turn": 2}), 0, bot, tmp_path / "match.jsonl")
    heard, _ = again(tmp_path / "match.jsonl", 0, bot, with_clock=True)
    then = [float(word) for word in report.logs[0].split()]
    assert [float(word) for _, answer in heard for word in answer.log.split()] == pytest.approx(then, abs=0.001)
