"""A bot on its author's machine: its files, how it is started, and its part in one match."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dogana.v1 import ladder_pb2, referee_pb2
from ladder.service.relay import Relay
from referee.bots.files import taken_in, where_it_is
from referee.bots.manifest import own_environment
from referee.files import in_words, write_private
from referee.live.matches.play import EXIT_SECONDS
from referee.live.seats.command import GRACE_SECONDS, AgentProcess, CannotStart
from referee.live.seats.last_words import last_words
from referee.terminal import visible


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot on this machine."""

    run: tuple[str, ...]
    """The command that starts the bot."""
    folder: Path
    """The folder of the bot."""
    games: tuple[str, ...]
    content: str
    """The text that distinguishes this version from other versions of the bot."""


def look_at(path: Path, content: str) -> Bot:
    """Return the bot at a path, without copying or running anything.

    Args:
        path: a program or a folder, as for `dogana ladder submit`.
        content: the text that identifies this version; empty for the SHA-256 of its files.

    Raises:
        BadBot: if there is no bot at the path.
    """
    manifest, folder = where_it_is(path)
    if not content:
        with taken_in(path, programs=own_environment()["PATH"]) as (_, artefact):
            content = artefact.content_hash
    return Bot(manifest.run, folder, manifest.games, content)


async def play_match(
    bot: Bot, invitation: ladder_pb2.Invitation, play: Callable[[], Any], logs: Path | None, say: Callable[[str], None]
) -> None:
    """Let a bot play a match to which it is invited, and report the outcome.

    Args:
        bot: the bot.
        invitation: the invitation to the match.
        play: opens a stream of bytes to the ladder.
        logs: the folder for the bot's output; None to print only the last lines if it fails.
        say: prints a line for the user.
    """
    others = [label for seat, label in enumerate(invitation.bots) if seat != invitation.seat]
    about = f"match {visible(invitation.match, 40)}"
    say(
        f"{about}: {visible(invitation.game, 40)}, seat {invitation.seat} of {len(invitation.bots)},"
        f" against {visible(', '.join(others), 200)}"
    )
    async with Relay(play) as relay:
        try:
            process = await AgentProcess.start(bot.run, _environment(relay.address, invitation.token), bot.folder)
        except CannotStart as error:
            say(f"{about}: {error}")
            return
        ended = ""
        try:
            ended = await _until_end(process, relay, invitation.join_seconds)
        finally:
            # After the match, a bot may finish its work; if the match has not ended, there is nothing left to do.
            await process.stop(GRACE_SECONDS if relay.over is not None else 0)
            if logs is not None:
                try:
                    write_private(logs / f"{invitation.match}.log", process.log.text().encode())
                except OSError as error:  # the outcome of the match is printed all the same
                    say(f"{about}: what the bot wrote is not kept: {in_words(error)}")
        if relay.over is not None:
            say(f"{about}: {_outcome(relay.over, invitation)}")
            return
        last = last_words(process.log.text())
        why = visible(relay.refusal or ended, 300)
        say(f"{about}: {why}" + (f"; the last the bot wrote: {visible(last, 400)}" if last else ""))


def _environment(address: str, token: str) -> Mapping[str, str]:
    # The relay's socket is not encrypted; the authority is for the ladder.
    environment = {name: value for name, value in own_environment().items() if name != "DOGANA_CA"}
    return {**environment, "DOGANA_ADDRESS": address, "DOGANA_TOKEN": token}


async def _until_end(process: AgentProcess, relay: Relay, join_seconds: float) -> str:
    """Wait until the match or the bot ends.

    Returns:
        How the bot ended, or why it must be ended; empty if the match ended first.
    """
    ended = asyncio.ensure_future(process.ended())
    loop = asyncio.get_running_loop()
    join_by = loop.time() + join_seconds
    try:
        while not (ended.done() or relay.over is not None or relay.refusal):
            if not relay.has_joined and loop.time() > join_by:
                return f"the bot did not join within {join_seconds:g} s"
            await asyncio.wait([ended], timeout=EXIT_SECONDS)
        return f"the bot {ended.result()}" if ended.done() else ""
    finally:
        ended.cancel()


def _outcome(over: referee_pb2.GameOver, invitation: ladder_pb2.Invitation) -> str:
    ours: Sequence[referee_pb2.SeatResult] = [one for one in over.seats if one.seat == invitation.seat]
    if not ours:
        return "it is over"
    return f"place {ours[0].rank} of {len(over.seats)}, score {ours[0].score}"
