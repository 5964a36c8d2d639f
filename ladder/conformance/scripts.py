"""All conformance steps as data: for each step, the expectation, the advice for a bot that fails, and the script that tries it.

A script is read from left to right. It contains messages of the referee and the answers expected of the bot (`instructions.py`).
`docs/check.md` lists the steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from grpc import StatusCode

from dogana.v1 import referee_pb2 as pb
from ladder.conformance import instructions as do
from ladder.conformance import matches
from ladder.conformance.rehearsal import Instruction, Step, When
from referee.game import Game
from referee.live.messages.wire import PROTOCOL
from referee.match.clock import TimeControl
from referee.terminal import counted

_PROTOCOL = "docs/protocol.md"
_WRITING = "docs/writing_a_bot.md"
_RUNNING = "docs/running_a_ladder.md"

_REJECTED_REASON = (_PROTOCOL, "enum `Rejected.Reason`")
_WITHDRAWN_REASON = (_PROTOCOL, "enum `Withdrawn.Reason`")
_CHOOSE = (_PROTOCOL, "message `Choose`")
_DECIDE = (_PROTOCOL, "message `Decide`")
_GAME_OVER = (_PROTOCOL, "message `GameOver`")
_JOIN = (_PROTOCOL, "message `Join`")
_NEW_DEADLINE = (_PROTOCOL, "message `NewDeadline`")
_REJECTED = (_PROTOCOL, "message `Rejected`")
_WELCOME = (_PROTOCOL, "message `Welcome`")
_WITHDRAWN = (_PROTOCOL, "message `Withdrawn`")
_PLAY = (_PROTOCOL, "service `Referee`")
_BOTS_AND_VERSIONS = (_RUNNING, "Bots and versions")
_SANDBOX = (_RUNNING, "Sandbox")
_FAULTS = (_WRITING, "Faults")
_ELSEWHERE = (_WRITING, "Joining from elsewhere")
_OTHER_LANGUAGES = (_WRITING, "Other languages")
_TIME = (_WRITING, "Time")

_ILLEGAL, _MALFORMED = pb.Rejected.REASON_ILLEGAL, pb.Rejected.REASON_MALFORMED
_TIMEOUT, _OVERTAKEN = pb.Withdrawn.REASON_TIMEOUT, pb.Withdrawn.REASON_OVERTAKEN
_SHORT = TimeControl(60.0, 0.5, 0.05)  # the cap is the limit
_POOR = TimeControl(0.0, 0.1, 10.0)  # the bank is the limit
_UNKNOWN = bytes([0xA2, 0x7D, 7]) + b"unknown" + bytes([0xA8, 0x7D, 42])
"""Two fields that no message defines: number 2004, a text, and number 2005, an integer."""
_UNKNOWN_VALUE: pb.Withdrawn.Reason = 99  # type: ignore[assignment]  # not a value of this protocol


def _unknown_in_welcome(message: pb.RefereeMessage) -> None:
    message.welcome.MergeFromString(_UNKNOWN)


def _unknown_in_decide(message: pb.RefereeMessage) -> None:
    message.decide.MergeFromString(_UNKNOWN)


def _unknown_in_observation(message: pb.RefereeMessage) -> None:
    # An encoded message with further fields appended is a valid message.
    message.decide.observation.value += _UNKNOWN


def _newer_protocol(message: pb.RefereeMessage) -> None:
    message.welcome.protocol += 1


def _under(heading: str, *steps: Step) -> tuple[Step, ...]:
    return tuple(replace(step, heading=heading) for step in steps)


def _step(
    name: str,
    expects: str,
    fix: str,
    see: tuple[str, str],
    *script: Instruction,
    when: When = When.SIDE_BY_SIDE,
) -> Step:
    return Step(name, "", expects, script, fix, see, when)


def _info(name: str, expects: str, *script: Instruction, when: When = When.SIDE_BY_SIDE) -> Step:
    return Step(name, "", expects, script, when=when)


STEPS = (
    *_under(
        "package",
        _step("files", "its files are taken in: no strange names, links or sizes",
              "correct the named fault; a ladder refuses the bot with the same words", _BOTS_AND_VERSIONS),
        _step("bot-toml", "bot.toml can be read, and names existing games",
              "write run = [...] and games = [...] as texts", _BOTS_AND_VERSIONS),
        _step("program", "the program is there and can be started",
              "correct the named fault; a bot is a program called bot, or what run in bot.toml starts", _BOTS_AND_VERSIONS),
        _step("architecture", "a compiled program is for this kind of processor",
              "build it for Linux on the ladder's processor", _BOTS_AND_VERSIONS),
        _info("size", "how many files it has, and how large they are"),
        _info("games", "which games it says it plays"),
    ),
    *_under(
        "start",
        _step("runs", "the program runs in the sandbox: its interpreter is found there",
              "bring what it needs in its folder, or name a usual program", _BOTS_AND_VERSIONS,
              do.runs, when=When.ALONE),
        _step("joins", "it joins within 10 s",
              "connect to DOGANA_ADDRESS, call Play and send Join at once; load and warm up less before", _OTHER_LANGUAGES,
              do.joins_in_time),
        _step("join-first", "its first message is Join",
              "send Join before anything else", _JOIN,
              do.expect(lambda r: r.first.HasField("join"), "its first message is a Choose")),
        _step("protocol-number", "it speaks protocol 1",
              "set Join.protocol to 1", _JOIN,
              do.expect(lambda r: r.join.protocol == PROTOCOL, "it speaks protocol {r.join.protocol}; the referee speaks " + str(PROTOCOL))),
        _step("token", "it shows the token that it was given",
              "set Join.token to the environment variable DOGANA_TOKEN, unchanged", _JOIN,
              do.expect(lambda r: r.join.token, "it showed no token"),
              do.expect(lambda r: r.join.token == r.bot.token, "it showed another token than DOGANA_TOKEN")),
        _step("silent-before-welcome", "it sends nothing more before Welcome",
              "after Join, read until Welcome comes", _PLAY,
              do.quiet),
        _step("one-stream", "it opens one stream",
              "call Play once, and keep the stream for the whole match", _PLAY,
              do.expect(lambda r: r.bot.streams == 1, "it opened {r.bot.streams} streams", flaw=True)),
        _info("labels", "whether it asks for labels",
              do.inform(lambda r: "it asks for them" if r.join.labels else "it does not ask for them")),
        _info("slow-start", "how long it takes to join with half a processor",
              do.start_slowly, do.without_fault(do.join, do.inform(lambda r: f"it joins after {r.bot.first_seconds:.1f} s")), when=When.ALONE),
    ),
    *_under(
        "answers",
        _step("answers", "it answers its first decision",
              "send a Choose for each Decide", _CHOOSE,
              do.welcome, do.ask, do.hear_choose),
        _step("its-number", "the answer has the number of the decision",
              "copy Decide.decision into Choose.decision", _CHOOSE,
              do.expect(lambda r: r.choose.decision == r.table.number,
                        "it answered decision {r.choose.decision}; number {r.table.number} was asked")),
        _step("legal", "the answer is a legal action: an index in the list, or actions of the game",
              "choose from Decide.actions; an index counts from 0", _CHOOSE,
              do.is_legal, do.play_answer),
        _step("once", "it sends one Choose for each Decide",
              "answer when Decide or Rejected comes, and at no other message", _CHOOSE,
              do.quiet),
        _step("goes-on", "it answers the decisions that follow",
              "read on after each answer, until GameOver", _OTHER_LANGUAGES,
              do.play_on(decisions=5)),
        _step("single-action-{game}", "it answers where only one action is legal",
              "expect a list of any length; 0 is the only index then", _DECIDE,
              do.at_place("single_action", "legal action"), do.begin, do.ask_with(asks_forced=True), do.play),
        _step("largest-list-{game}", "it answers where the most actions are legal",
              "set no limit to the list, and decide in time", _DECIDE,
              do.at_place("largest_list", "legal actions"), do.begin, do.turn),
        _step("largest-observation-{game}", "it reads the largest observation",
              "set grpc.max_receive_message_length to -1, and no limits of your own", _DECIDE,
              do.at_place("largest_observation", "bytes"), do.begin, do.turn),
        _step("again-after-illegal-{game}", "it answers every kind of decision again that was refused as illegal",
              "at Rejected with REASON_ILLEGAL the decision stays open: send another Choose with its number", _REJECTED,
              do.begin, do.refuse_each_kind),
        _step("otherwise-after-illegal", "it answers after each refusal, best with another action",
              "after a refusal choose another action, at random if need be: the third strike puts the seat out", _FAULTS,
              do.at_place("largest_list"), do.begin, do.ask, do.answer, do.refuse(_ILLEGAL), do.answer, do.refuse(_ILLEGAL), do.answer,
              do.has_chosen_otherwise),
        _step("again-after-malformed", "it answers again after REASON_MALFORMED",
              "the decision stays open: send another Choose with its number", _REJECTED,
              do.begin, do.ask, do.answer, do.refuse(_MALFORMED), do.play),
        _step("stale", "it sends no other answer to a decision that was refused as stale, and goes on",
              "at REASON_STALE send nothing, and wait for the next Decide", _REJECTED_REASON,
              do.ask, do.answer, do.withdraw(_TIMEOUT), do.refuse_as_stale, do.play_default, do.quiet, do.turn),
        _step("withdrawn-timeout", "it sends no answer after a Withdrawn because of a timeout, and goes on",
              "at Withdrawn drop the decision, and wait for the next Decide", _WITHDRAWN,
              do.begin, do.ask, do.withdraw(_TIMEOUT), do.late_answer, do.play_default, do.turn),
        _step("withdrawn-overtaken", "it sends no answer after a Withdrawn because of other seats, and goes on",
              "at Withdrawn drop the decision, and wait for the next Decide", _WITHDRAWN_REASON,
              do.ask, do.withdraw(_OVERTAKEN), do.late_answer, do.turn),
        _step("two-decisions", "asked twice in a row, it answers the later decision",
              "read all that has come in; answer each Decide with its own number", _WITHDRAWN,
              do.ask, do.withdraw(_OVERTAKEN), do.ask, do.play),
        _step("new-deadline", "it answers once, whatever NewDeadline says meanwhile",
              "NewDeadline changes the time of the open decision, and is not a question", _NEW_DEADLINE,
              do.ask, do.announce_deadline, do.play, do.quiet, do.turn),
        _step("dropped", "it goes on after the rest of a whole turn was dropped",
              "play on from the new Decide; do not count on the rest of your list", _DECIDE,
              do.begin, do.drop_the_rest, do.ask_with(dropped="the rest was dropped to see what follows"), do.play),
    ),
    *_under(
        "time",
        _step("small-budget", "it answers within 50 ms where the cap says so",
              "look at Decide.clock.budget_ms before thinking, and leave some of it", _TIME,
              do.on_clock(_SHORT), do.begin, do.answers_in_time, when=When.ALONE),
        _step("low-bank", "it answers within 0.1 s where its bank has no more",
              "look at Decide.clock.budget_ms, not at the cap of the match", _TIME,
              do.on_clock(_POOR), do.begin, do.answers_in_time, when=When.ALONE),
        _step("tight-clock", "it plays a match on a clock of 5+0.1/1 without running out of time",
              "think less where the bank is low", _TIME,
              matches.plays_in_time, when=When.ALONE),
    ),
    *_under(
        "compatibility",
        _step("unknown-message", "it ignores a message that it does not know",
              "skip a RefereeMessage with none of the known fields", _OTHER_LANGUAGES,
              do.begin, do.turn, do.say(_UNKNOWN), do.turn, do.turn),
        _step("unknown-in-welcome", "it ignores unknown fields of Welcome",
              "skip fields by their wire type, as generated code does", _WELCOME,
              do.join, do.welcome_with(_unknown_in_welcome), do.turn),
        _step("unknown-in-decide", "it ignores unknown fields of Decide",
              "skip fields by their wire type, as generated code does", _DECIDE,
              do.begin, do.turn, do.ask_with(_unknown_in_decide), do.play, do.turn),
        _step("unknown-in-observation", "it ignores unknown fields of the observation",
              "skip fields by their wire type, as generated code does", _DECIDE,
              do.begin, do.turn, do.ask_with(_unknown_in_observation), do.play, do.turn),
        _step("unknown-value", "it tolerates an enum value that it does not know",
              "treat an unknown reason as an unspecified one", _WITHDRAWN_REASON,
              do.begin, do.turn, do.withdraw(_UNKNOWN_VALUE), do.turn, do.turn),
        _info("newer-protocol", "what it does if the referee speaks protocol 2",
              do.join, do.welcome_with(_newer_protocol), do.without_fault(do.turn, otherwise="it plays on")),
    ),
    *_under(
        "end",
        _step("exits", "it exits with status 0 within 2 s of GameOver",
              "end the process when GameOver has come", _OTHER_LANGUAGES,
              do.over(), do.has_left_well("after GameOver")),
        _step("no-seed", "it tolerates a GameOver that does not reveal the seed",
              "GameOver.seed may be empty: do not read it as a number then", _GAME_OVER,
              do.begin, do.turn, do.over(reveals_seed=False), do.has_left_well("later")),
        _step("stream-ends", "it exits if the stream ends without GameOver",
              "end the process when the stream has ended, whatever its status", _PLAY,
              do.begin, do.turn, do.end_stream(StatusCode.OK, ""), do.exits),
        _step("void", "it exits if the match is void (ABORTED)",
              "end the process when the stream has ended, whatever its status", _PLAY,
              do.begin, do.turn, do.end_stream(StatusCode.ABORTED, "the match was voided: this is a check"), do.exits),
        _step("unavailable", "it exits if the referee is not available (UNAVAILABLE)",
              "do not try again at a unix: address: a started bot ends with its referee", _PLAY,
              do.begin, do.turn, do.end_stream(StatusCode.UNAVAILABLE, "the referee goes"), do.exits),
        _step("socket-vanishes", "it exits if its connection breaks",
              "do not wait for more when the connection is lost: a started bot ends with its referee", _FAULTS,
              do.begin, do.turn, do.cut_off, do.exits),
        _step("refused", "it exits if its token is refused (UNAUTHENTICATED)",
              "do not try again with a token that was refused", _PLAY,
              do.join, do.end_stream(StatusCode.UNAUTHENTICATED, "the token is unknown or was used up; this is a check"), do.exits),
        _info("sigterm", "what it does at SIGTERM",
              do.begin, do.turn, do.terminate),
    ),
    *_under(
        "matches",
        _step("plays-{game}-{seats}", "it plays a match for {seats} to its end, and the record holds",
              "read the fault and what the bot wrote", _FAULTS,
              matches.plays),
        _step("options-{game}", "it plays a match with other options",
              "read Welcome.options and Welcome.board instead of assuming them", _WELCOME,
              matches.plays_with_other_options),
        _step("long-match-{game}", "it plays the longest kind of match",
              "if other matches succeed, free what belongs to past decisions; look for what grows", _FAULTS,
              matches.plays_long),
        _step("side-by-side", "three of its matches go on at the same time, from one folder",
              "if other matches succeed, share nothing between processes: no fixed names in /tmp, no ports", _SANDBOX,
              matches.plays_side_by_side),
        _info("same-digest", "whether it plays the same if all chance is the same",
              matches.same_digest),
        _step("no-strikes", "it gets no strike in any of these matches",
              "answer legally and in time: at the third strike the seat is out", _FAULTS,
              matches.got_no_strikes, when=When.LAST),
    ),
    *_under(
        "manners",
        _step("token-stays", "its token is not in its output",
              "do not print DOGANA_TOKEN, nor the environment", _SANDBOX,
              do.expect(lambda r: r.bot.token not in r.bot.process.log.text(), "DOGANA_TOKEN is in what it wrote", flaw=True)),
        _step("no-leftovers", "it leaves no processes to themselves",
              "wait for the processes that the bot starts, and start none in the background", _SANDBOX,
              do.has_no_orphans),
        _step("idle", "it waits for 35 s, and then answers",
              "set no deadline on the call; ping every 10 s at most", _ELSEWHERE,
              do.begin, do.turn, do.leave_alone, do.turn, when=When.WAITING),
        _info("messages", "how many messages it sends in a match",
              do.over(), do.inform(lambda r: f"{r.received} for {counted(r.table.number, 'decision')} and {counted(r.refusals, 'refusal')}")),
        _info("output", "how much it writes, and whether the log has all of it",
              do.count_output),
        _info("memory", "the most memory that it used",
              matches.used_memory, when=When.LAST),
        _info("processor", "the processor time that it used in a match",
              matches.used_processor),
    ),
)  # fmt: skip
"""All steps, in the order in which they are listed; those with `{game}` in their name are tried for each game."""

TOGETHER = (
    (
        "runs", "joins", "join-first", "protocol-number", "token", "silent-before-welcome", "labels",
        "answers", "its-number", "legal", "once", "goes-on", "one-stream", "exits",
    ),
    ("again-after-illegal-{game}", "no-leftovers", "messages", "token-stays", "output"),
    ("again-after-malformed", "stale"),
    ("withdrawn-timeout", "withdrawn-overtaken", "two-decisions", "new-deadline"),
    ("side-by-side", "same-digest"),
    ("memory", "processor"),
)  # fmt: skip
"""Groups of steps that are tried one after another while the bot runs. For every other step, the bot is started anew."""


def variants(step: Step, games: Sequence[Game]) -> Iterator[tuple[Step, Game, int]]:
    """Yield a step once for each of its games and numbers of seats; a step that names no game is tried for the first game."""
    for game in games if "{game}" in step.name else games[:1]:
        for seats in game.seat_counts if "{seats}" in step.name else game.seat_counts[:1]:
            name, expects = (text.format(game=game.name, seats=seats) for text in (step.name, step.expects))
            yield replace(step, name=name, expects=expects), game, seats


def steps_for(games: Sequence[Game]) -> list[Step]:
    """Return the steps for a bot that plays these games, in the order of the list."""
    return [variant for step in STEPS for variant, _, _ in variants(step, games)]
