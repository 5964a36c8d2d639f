"""Build and parse the envelope messages (`proto/dogana/v1/referee.proto` describes them)."""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.any_pb2 import Any
from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Struct

from dogana.v1 import referee_pb2 as pb
from referee.game import Seat, label
from referee.live.messages.codec import Codec, CodecError
from referee.match.effects import Decision, Happened, Played, Reject, SeatNow, Timing, Withdraw
from referee.match.judging import Answer, Unreadable
from referee.match.machine import STRIKES_ALLOWED
from referee.match.plan import MatchPlan
from referee.match.result import Result, milliseconds

PROTOCOL = 1
"""The version of the protocol."""
MAX_MESSAGE_BYTES = 64 * 1024
"""The maximum size of a message from an agent."""


class MalformedMessage(ValueError):
    """The bytes are not a message of the protocol; the text says why."""


def read_agent_message(data: bytes) -> pb.AgentMessage:
    """Parse a message from an agent.

    Raises:
        MalformedMessage: if the bytes are not an `AgentMessage`, are too long, or are neither Join nor Choose.
    """
    if len(data) > MAX_MESSAGE_BYTES:
        raise MalformedMessage(f"a message of {len(data)} bytes; at most {MAX_MESSAGE_BYTES} are accepted")
    try:
        message = pb.AgentMessage.FromString(data)
    except DecodeError as error:
        raise MalformedMessage("a message that is not a dogana.v1.AgentMessage") from error
    if message.WhichOneof("message") is None:
        raise MalformedMessage("a message that is neither Join nor Choose")
    return message


def read_choice(codec: Codec, choose: pb.Choose) -> Answer:
    """Return the index or the actions of an answer, or the reason why it has neither."""
    which = choose.WhichOneof("choice")
    if which == "index":
        return choose.index
    if which is None:
        return Unreadable("the answer has neither an index nor actions")
    if choose.actions.type_url != codec.actions_url:
        # The text is cut, because a stranger's text goes into the refusal and into the record.
        return Unreadable(f"actions must be a {codec.actions_url}, not {choose.actions.type_url[:120]!r}")
    try:
        return codec.read_actions(choose.actions.value)
    except CodecError as error:
        return Unreadable(str(error))


def options_text(plan: MatchPlan) -> dict[str, str]:
    """Return all options of a match in the format of the command line."""
    return {name: str(value).lower() for name, value in plan.setup.options.items()}


def board_struct(plan: MatchPlan) -> Struct:
    """Return the board of a match: the numbers printed on the game's components."""
    board = Struct()
    board.update(dict(plan.setup.board_data))
    return board


def time_control(plan: MatchPlan) -> pb.TimeControl:
    """Return the time control of a match."""
    control = plan.control
    return pb.TimeControl(bank_ms=control.bank * 1000, increment_ms=control.increment * 1000, cap_ms=control.cap * 1000)


def welcome(plan: MatchPlan, seat: Seat, *, no_pondering: bool) -> bytes:
    """Return the message that answers a Join."""
    return pb.RefereeMessage(
        welcome=pb.Welcome(
            protocol=PROTOCOL,
            match_id=plan.match_id,
            game=plan.game.name,
            seat=seat,
            seats=plan.setup.seats,
            options=options_text(plan),
            board=board_struct(plan),
            clock=time_control(plan),
            strikes_allowed=STRIKES_ALLOWED,
            seed_commitment=plan.seed_commitment,
            max_message_bytes=MAX_MESSAGE_BYTES,
            no_pondering=no_pondering,
        )
    ).SerializeToString()


def clock(decision: Decision, now: float) -> pb.Clock:
    """Return a seat's clock at the time `now`, which is later than `decision.sent_at` if the seat has reconnected."""
    window = None if decision.window is None else max(0.0, decision.window_deadline - now)
    previous = decision.previous or Timing(0.0, 0.0, 0.0)
    return pb.Clock(
        bank_ms=max(0.0, decision.bank - (now - decision.sent_at)) * 1000,
        budget_ms=max(0.0, decision.deadline - now) * 1000,
        window_ms=None if window is None else window * 1000,
        charged_ms=previous.charged * 1000,
        wall_ms=previous.wall * 1000,
        lag_ms=previous.lag * 1000,
    )


def decide(codec: Codec, decision: Decision, labels: bool, now: float) -> bytes:
    """Return the message that asks for a decision at the time `now`.

    This time is later than `decision.sent_at` if the seat has reconnected.
    """
    return pb.RefereeMessage(
        decide=pb.Decide(
            decision=decision.number,
            observation=Any(type_url=codec.observation_url, value=codec.observation_bytes(decision.observation)),
            actions=Any(type_url=codec.actions_url, value=codec.actions_bytes(decision.actions)),
            action_count=len(decision.actions),
            labels=map(label, decision.actions) if labels else (),
            played=played(codec, decision.played, labels),
            clock=clock(decision, now),
            dropped=decision.dropped,
        )
    ).SerializeToString()


def played(codec: Codec, actions: Sequence[Played], labels: bool) -> pb.Played:
    """Return the message that lists played actions with their seats."""
    return pb.Played(
        seats=[entry.seat for entry in actions],
        actions=Any(type_url=codec.actions_url, value=codec.actions_bytes([entry.action for entry in actions])),
        labels=[label(entry.action) for entry in actions] if labels else (),
    )


def rejected(reject: Reject) -> bytes:
    """Return the message that refuses an answer."""
    return pb.RefereeMessage(
        rejected=pb.Rejected(
            decision=reject.number,
            reason=f"REASON_{reject.refusal.name}",
            rule=reject.rule,
            message=reject.message,
            strikes=reject.strikes,
            left_ms=reject.left * 1000,
        )
    ).SerializeToString()


def withdrawn(withdraw: Withdraw) -> bytes:
    """Return the message that withdraws a decision."""
    message = pb.Withdrawn(decision=withdraw.number, reason=f"REASON_{withdraw.reason.name}")
    return pb.RefereeMessage(withdrawn=message).SerializeToString()


def new_deadline(decision: Decision, now: float) -> bytes:
    """Return the message that gives an open decision a new deadline."""
    message = pb.NewDeadline(decision=decision.number, clock=clock(decision, now))
    return pb.RefereeMessage(new_deadline=message).SerializeToString()


def game_over(result: Result) -> pb.GameOver:
    """Return the message that contains the result of a match."""
    return pb.GameOver(
        seats=[
            pb.SeatResult(
                seat=seat.seat,
                rank=seat.rank,
                score=seat.score,
                outcome=f"OUTCOME_{seat.outcome.name}",
            )
            for seat in result.seats
        ],
        seed="" if result.seed is None else str(result.seed),
        digest=result.digest,
    )


def happened(plan: MatchPlan, codec: Codec, now: Happened, labels: bool) -> pb.Happened:
    """Return the message that tells spectators the latest events."""
    return pb.Happened(
        match_id=plan.match_id,
        game=plan.game.name,
        seats=plan.setup.seats,
        played=played(codec, now.played, labels),
        observation=Any(type_url=codec.observation_url, value=codec.observation_bytes(now.seen)),
        game_over=None if now.result is None else game_over(now.result),
        seats_now=[
            pb.SeatNow(
                rank=seat.rank,
                score=seat.score,
                deciding=seat.deciding,
                thought_ms=milliseconds(seat.thought),
                out=seat.out,
            )
            for seat in now.seats
        ],
        step=now.step,
    )


def first_happened(plan: MatchPlan, codec: Codec, now: Happened, labels: bool) -> pb.Happened:
    """Return the first message for a new spectator: the state of the match, with its options, board and clock."""
    message = happened(plan, codec, now, labels)
    message.options.update(options_text(plan))
    message.board.CopyFrom(board_struct(plan))
    message.clock.CopyFrom(time_control(plan))
    return message


def read_happened(codec: Codec, message: pb.Happened) -> Happened:
    """Read a referee's message to spectators, without the result.

    Raises:
        CodecError: if the message is not a valid message of this game.
    """
    actions = codec.read_actions(message.played.actions.value)
    seats = message.played.seats
    if len(actions) != len(seats) or any(seat >= message.seats for seat in seats):
        raise CodecError(f"{len(actions)} actions of {len(seats)} seats")
    if len(message.seats_now) != message.seats:
        raise CodecError(f"{len(message.seats_now)} of {message.seats} seats")
    return Happened(
        [Played(seat, action) for seat, action in zip(seats, actions, strict=True)],
        codec.read_observation(message.observation.value),
        [SeatNow(seat.rank, seat.score, seat.deciding, seat.thought_ms / 1000, seat.out) for seat in message.seats_now],
        None,
        message.step,
    )
