"""Verify records: replay each one under the rules, and check all its claims.

The match of a verified record followed the rules, given the board and the draws in the record, and its result is
correct. `trust.py` lists the claims that a replay cannot prove.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.game import Action, Game, IllegalAction, Seat, State
from referee.kit.chance import ChanceError, Draw, LiveChance, ReplayChance
from referee.kit.document import Document
from referee.match.effects import Decider
from referee.match.machine import STATE_DIGEST_EVERY
from referee.match.opening import draw_opening
from referee.match.plan import MatchDigest, MatchPlan, canonical, state_digest
from referee.match.result import Result, closing_lines, final_ranks
from referee.records.header import read_plan
from referee.records.record import FORMAT, READABLE, OtherFormat, RecordError, RecordLine, read_lines
from referee.records.seats import TIMES, Seats, Unsound
from referee.records.signature import Signature, read_signature
from referee.records.trust import Trust, note_claims, trust

_DECIDERS = {decider.value: decider for decider in Decider}
_ENTRIES = {
    "header": {
        "format",
        "dogana",
        "match",
        "game",
        "seats",
        "bots",
        "options",
        "clock",
        "seed_commitment",
        "board",
        "reveals_seed",
        "position",
    },
    "start": {"chance", "state"},
    "action": {"n", "seat", "action", "by", "chance", "state", *TIMES},
    "strike": {"seat", "reason", "detail", "rule"},
    "out": {"seat", "reason", "detail", *TIMES},
    "withdrawn": {"seat", *TIMES},
}


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """A replayed action of a record."""

    n: int
    """The number of the action in the match, from 1."""
    seat: Seat
    action: Action
    by: Decider
    seconds: float
    """The time charged to the seat, in seconds; 0 unless the action ends a decision that the seat had to make."""
    draws: list[tuple[str, Draw]]
    """The draws recorded with the action, as (stream, draw) pairs."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A strike against a seat, or the reason why a seat is out. All texts come from the record."""

    after: int
    """The number of actions before the strike, or before the seat went out."""
    seat: Seat
    reason: str
    """The kind of fault: a value of `Outcome`."""
    detail: str
    rule: str
    """The number of the broken rule; empty if there is none."""
    is_out: bool
    """True if the seat is out, False if it only had a strike."""


class Replay:
    """The replay of a record. Iterate over it: each step has been checked and applied to `state`.

    Attributes:
        path: the record.
        lines: all lines. Their chain has been checked; the iteration checks their contents.
        plan: the terms of the match, fixed before it began; the seed is -1 if it is not known.
        state: the current state of the match.
        result: the result of the match; None until the iteration has ended.
        result_hash: the hash of the line with the result; empty until the iteration has ended.
        last_hash: the hash of the last line before the signature, which identifies the whole record.
        signature: the signature at the end, unchecked; None if there is none, or if the iteration has not reached it.
        is_sealed: True if the record reveals its seed. Without it, or a seed from the caller, chance is not checked.
        dogana: the version of Dogana that wrote the record, as the record claims.
        actions_in_all: the number of actions, as the record claims.
        troubles: the strikes of the match so far, and the seats that went out.
    """

    def __init__(
        self, path: Path, find_game: Callable[[str], Game], seed: int | None = None, data: bytes | None = None
    ) -> None:
        """Read the file, check its chain of hashes, and set up the start of the match.

        Args:
            path: the record.
            find_game: a function that looks up a game by name, or raises `UnknownGame`.
            seed: the seed, if the caller knows it.
            data: the bytes of the record, if they have already been read; `path` then only names it in errors.

        Raises:
            RecordError: if the file is not a record, or its beginning is not valid.
        """
        self.path = path
        self.lines = read_lines(path, data)
        self._at = 0
        self._claims: dict[str, list[int]] = {}
        last = self.lines[-1]
        if last.data.get("type") == "signature" and len(self.lines) > 1:
            last = self.lines[-2]
        self.signature: Signature | None = None
        self.is_sealed = last.data.get("type") == "seed"
        self.actions_in_all = self.lines.how_many("action")
        self.troubles: list[Trouble] = []
        self.result_hash = ""
        self.last_hash = last.hash
        revealed = last.data.get("seed") if seed is None else seed
        self._seed = revealed if type(revealed) is int and 0 <= revealed < 1 << 63 else None
        self._chance = ReplayChance(None if self._seed is None else LiveChance(self._seed))
        # The header is read after the seed at the end, which has to match the commitment in the header.
        self.plan = self._read_header(find_game)
        self._digest = MatchDigest(self.plan)
        self._seats = Seats(self.plan.control, self.plan.setup.seats)
        self._actions = 0
        self.result: Result | None = None
        self.state = self._read_start()

    def __iter__(self) -> Iterator[ReplayStep]:
        """Replay the match step by step.

        Raises:
            RecordError: at the first invalid line.
        """
        while not self.state.is_over():
            line = self._take("action")
            kind = line.data.get("type")
            self._check_entries(line)
            if kind == "action":
                yield self._read_action(line)
            else:
                self._read_event(line)
        # Some seats may still have been thinking when other seats ended the match.
        while self._at < len(self.lines) and self.lines[self._at].data.get("type") == "withdrawn":
            line = self._take("withdrawn")
            self._check_entries(line)
            self._read_event(line)
        self._read_end()

    def seconds_left(self) -> list[float]:
        """Return the seconds left in each seat's bank."""
        return [seat.clock.bank for seat in self._seats.records]

    def seconds_used(self) -> list[float]:
        """Return the seconds charged to each seat so far."""
        return [seat.charged for seat in self._seats.records]

    def trust(self) -> Trust:
        """Return the proved facts and the unproved claims of the record; call this after the iteration."""
        return trust(self.plan, self._claims, seed_is_known=self._seed is not None)

    # lines

    def _fail(self, line: RecordLine, reason: str) -> RecordError:
        return RecordError(self.path, line.number, reason)

    def _check_entries(self, line: RecordLine) -> None:
        kind = line.data.get("type")
        # A line of an unknown kind may have any entries here, because the caller has a better reason to refuse it.
        unknown = line.data.keys() - _ENTRIES.get(str(kind), line.data.keys()) - {"type"}
        if unknown:
            raise self._fail(line, f"has entries that no line of type {kind} has: {', '.join(sorted(unknown))[:60]}")

    def _take(self, wanted: str) -> RecordLine:
        if self._at >= len(self.lines):
            raise RecordError(
                self.path,
                self._at + 1,
                f"is missing: the record is cut off (a line of type {wanted} comes here)",
            )
        line = self.lines[self._at]
        self._at += 1
        note_claims(self._claims, line)
        return line

    def _read_header(self, find_game: Callable[[str], Game]) -> MatchPlan:
        line = self._take("header")
        if line.data.get("type") != "header":
            raise self._fail(line, "a record begins with a line of type header")
        self.dogana = str(line.data.get("dogana"))
        # This comes first, because lines of another format may have other entries.
        if type(line.data.get("format")) is not int or line.data["format"] not in READABLE:
            raise OtherFormat(
                self.path,
                line.number,
                f"is in format {line.data.get('format')!r}, written by Dogana {line.data.get('dogana')!r}; "
                f"this version reads formats {READABLE[0]} to {FORMAT}: verify it with the version that wrote it",
            )
        self._check_entries(line)
        try:
            return read_plan(line.data, self._seed, find_game)
        except Unsound as error:
            raise self._fail(line, str(error)) from error

    def _read_start(self) -> State:
        line = self._take("start")
        if line.data.get("type") != "start":
            raise self._fail(line, "the second line of a record is of type start")
        self._check_entries(line)
        plan = self.plan
        self._give_draws(line)
        try:
            new = plan.position is None
            state = plan.game.start(plan.setup, self._chance) if new else self._read_position(line)
        except ChanceError as error:
            raise self._fail(line, f"the chance does not hold: {error}") from error
        self._check_draws_are_used(line)
        self._check_state(line, state)
        return state

    def _read_position(self, line: RecordLine) -> State:
        document = Document(self.plan.position, "position")
        state = self.plan.game.read_state(self.plan.setup, document)
        document.finish()
        problems = document.problems or state.problems()
        if problems:
            raise self._fail(line, f"the position cannot be played: {'; '.join(problems)}")
        return state

    def _read_action(self, line: RecordLine) -> ReplayStep:
        data = line.data
        seat, text, by = self._seat(line), data.get("action"), _DECIDERS.get(str(data.get("by")))
        if type(data.get("n")) is not int or data["n"] != self._actions + 1:
            raise self._fail(line, f"is action {data.get('n')!r}, but action {self._actions + 1} comes here")
        if not isinstance(text, str) or by is None:
            raise self._fail(line, "needs an action and its decider")
        try:
            action = self.plan.game.parse_action(text)
        except ValueError as error:
            raise self._fail(line, str(error)) from error
        opens = self._actions < self.plan.openings
        try:
            if opens != (by is Decider.OPENING):
                raise Unsound(f"the first {self.plan.openings} decisions are drawn, and no others")
            if not opens:
                self._seats.check_decider(self.state, seat, action, by)
            seconds = self._seats.charge_action(data, seat, by)
        except Unsound as error:
            raise self._fail(line, str(error)) from error
        # This is read from the state before the action, because the action may complete the larger decision.
        larger = self._seats.larger_decision(self.state, seat)
        # This comes before the opening is drawn, because the draws of the opening are among those of the line.
        draws = self._give_draws(line)
        try:
            if opens and draw_opening(self.state, self._chance) != (seat, action):
                raise self._fail(line, f"{text} of seat {seat} is not the decision that was drawn")
            self.state.apply(seat, action, self._chance)
        except IllegalAction as error:
            raise self._fail(line, f"{text} of seat {seat} is not legal: {error}") from error
        except ChanceError as error:
            raise self._fail(line, f"the chance does not hold: {error}") from error
        self._check_draws_are_used(line)
        self._actions += 1
        self._seats.note_action(self.state, seat, larger)
        self._digest.note_action(seat, action)
        if self._actions % STATE_DIGEST_EVERY == 0:
            self._check_state(line, self.state)
        return ReplayStep(self._actions, seat, action, by, seconds, draws)

    def _read_event(self, line: RecordLine) -> None:
        """Read a line about an event between actions."""
        kind = line.data.get("type")
        if kind not in ("strike", "out", "withdrawn"):
            raise self._fail(line, "is not of type action, strike, out or withdrawn, but the match is not over")
        seat = self._seat(line)
        try:
            if kind == "withdrawn":
                self._seats.withdraw(line.data, seat)
                return
            if kind == "strike":
                self._seats.strike(line.data, seat)
            else:
                self._seats.put_out(line.data, seat, has_begun=self._actions > 0)
        except Unsound as error:
            raise self._fail(line, str(error)) from error
        self._note_trouble(line, is_out=kind == "out")

    def _note_trouble(self, line: RecordLine, *, is_out: bool) -> None:
        seat, reason, detail, rule = (line.data.get(key, "") for key in ("seat", "reason", "detail", "rule"))
        self.troubles.append(Trouble(self._actions, seat, reason, str(detail), str(rule), is_out))

    def _read_end(self) -> None:
        line = self._take("result")
        if line.data.get("type") != "result":
            raise self._fail(line, "the match is over, but this is not the result")
        self.result_hash = line.hash
        # Without the seed, a record is complete only if its header says that the end does not reveal the seed.
        may_end = self._at == len(self.lines) and not self.plan.reveals_seed
        if self._seed is None and not may_end:
            raise self._fail(self._take("seed"), "the last line of a record reveals the seed")
        result = self._result(None if may_end else self._seed)
        expected = closing_lines(result, state_digest(self.state))
        # These are compared as text, because 1, 1.0 and True are equal in Python.
        if canonical(line.data) != canonical(expected[0]):
            wrong = [key for key, value in expected[0].items() if canonical(line.data.get(key)) != canonical(value)]
            wrong = wrong or ["its entries"]
            raise self._fail(line, f"the result is another one: it differs in {', '.join(wrong)}")
        if not may_end:
            line = self._take("seed")
            if canonical(line.data) != canonical(expected[1]):
                raise self._fail(line, "the last line of a record reveals the seed")
            self._read_signature(line.hash)
        if self._at < len(self.lines):
            raise self._fail(self.lines[self._at], "comes after the end of the match")
        self.result = result

    def _read_signature(self, signed: str) -> None:
        if self._at < len(self.lines) and self.lines[self._at].data.get("type") == "signature":
            line = self._take("signature")
            try:
                self.signature = read_signature(line.data, signed)
            except ValueError as error:
                raise self._fail(line, str(error)) from error

    def _result(self, seed: int | None) -> Result:
        ranks = final_ranks(self.state.ranks(), [record.out_order for record in self._seats.records])
        scores = self.state.scores()
        seats = tuple(
            self._seats.result(seat, bot, ranks[seat], scores[seat]) for seat, bot in enumerate(self.plan.bots)
        )
        return Result(seats, self._actions, self._digest.close(ranks, scores), seed)

    # parts of several kinds of lines

    def _seat(self, line: RecordLine) -> Seat:
        seat = line.data.get("seat")
        if type(seat) is not int or not 0 <= seat < self.plan.setup.seats:
            raise self._fail(line, f"names seat {seat!r}; there are {self.plan.setup.seats}")
        return seat

    def _give_draws(self, line: RecordLine) -> list[tuple[str, Draw]]:
        recorded = line.data.get("chance", [])
        if not isinstance(recorded, list):
            raise self._fail(line, "chance must be a list")
        draws: list[tuple[str, Draw]] = []
        for draw in recorded:
            if not (isinstance(draw, list) and len(draw) == 2 and isinstance(draw[0], str) and _is_draw(draw[1])):
                raise self._fail(line, "chance must have pairs of stream and draw")
            draws.append((draw[0], draw[1]))
        self._chance.draws = deque(draws)
        self._digest.note_draws(draws)
        return draws

    def _check_draws_are_used(self, line: RecordLine) -> None:
        if self._chance.draws:
            raise self._fail(line, "chance is recorded that the rules do not draw")

    def _check_state(self, line: RecordLine, state: State) -> None:
        if line.data.get("state") != state_digest(state):
            raise self._fail(line, "the state is not the recorded one (the digests differ)")


def _is_draw(value: Any) -> bool:
    return type(value) is int or (isinstance(value, list) and all(type(entry) is int for entry in value))


@dataclass(frozen=True, slots=True)
class Verified:
    """The content of a valid record."""

    plan: MatchPlan
    """The terms of the match, fixed before it began; the seed is -1 if it is not known."""
    result: Result
    result_hash: str
    """The hash of the line with the result, which identifies the record up to that line."""
    last_hash: str
    """The hash of the last line before the signature: that of the seed if it is revealed, or else of the result."""
    is_sealed: bool
    """True if the record reveals its seed. If it does not and the caller gave no seed, chance was not checked."""
    dogana: str
    """The version of Dogana that wrote the record, as the record claims."""


def verify(
    path: Path, find_game: Callable[[str], Game], seed: int | None = None, data: bytes | None = None
) -> Verified:
    """Replay a record, check all its claims, and return its content.

    Args:
        path: the record.
        find_game: looks up a game by name; raises `UnknownGame`.
        seed: the seed, if the caller knows it; a record that reveals another seed is not valid.
        data: the bytes of the record, if they have already been read; `path` then only names it in errors.

    Raises:
        RecordError: at the first invalid line, with the reason.
    """
    replay = Replay(path, find_game, seed, data)
    for _ in replay:
        pass
    assert replay.result is not None  # noqa: S101 the iteration came to its end
    return Verified(replay.plan, replay.result, replay.result_hash, replay.last_hash, replay.is_sealed, replay.dogana)
