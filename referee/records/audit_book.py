"""The entries of an audit log, and the order in which they are allowed; `docs/audit_log.md` lists the entries.

A book processes one entry at a time. It keeps only open blocks, versions, conditions, events and keys in memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from referee.kit.chance import commitment, rotation_seed
from referee.kit.document import parse_json
from referee.match.result import Outcome
from referee.records.seats import seconds
from referee.records.signature import BadKey, PublicKey, is_signature, parse_key
from referee.terminal import visible

FORMAT = 4
"""The version of the audit log format that this version of Dogana writes and reads."""
MAX_ATTEMPTS = 3
"""The exact number of void attempts after which a match is given up. A ladder free to choose it could undo a loss."""
_MAX_TIME_CHARACTERS = 40
_MAX_SEED = 1 << 63
_MAX_TERM = 10_000
"""An upper bound on the numbers in the terms of an event; no event that can be announced reaches it."""
ENTRIES: dict[str, dict[str, type]] = {
    "begin": {"format": int, "dogana": str, "at": str},
    "key": {"at": str, "key": str, "signature": str},
    "version": {
        "at": str,
        "bot": str,
        "number": int,
        "author": str,
        "content": str,
        "run": str,
        "games": list,
        "language": str,
    },
    "condition": {"at": str, "game": str, "options": dict, "clock": str},
    "qualification": {
        "at": str,
        "version": str,
        "game": str,
        "options": dict,
        "clock": str,
        "outcome": str,
        "reason": str,
    },
    "retirement": {"at": str, "version": str, "retired": bool},
    "trial": {"at": str, "match": str, "version": str, "guilty": bool},
    "consent": {"at": str, "bot": str, "given": bool},
    "block": {
        "at": str,
        "block": int,
        "game": str,
        "options": dict,
        "clock": str,
        "guests": bool,
        "round": int,
        "schedule_seed": int,
        "due": dict,
        "matches": list,
    },
    "tournament": {
        "at": str,
        "tournament": str,
        "conditions": list,
        "format": str,
        "seats": int,
        "blocks": int,
        "rounds": int,
        "advance": int,
        "scoring": str,
        "top": int,
        "same_author": bool,
        "share": int,
        "closes": str,
        "seed_commitment": str,
    },
    "tournament_closed": {"at": str, "tournament": str, "entrants": list, "left_out": list},
    "tournament_block": {
        "at": str,
        "tournament": str,
        "block": int,
        "game": str,
        "options": dict,
        "clock": str,
        "fixture": str,
        "matches": list,
    },
    "tournament_over": {"at": str, "tournament": str, "seed": int},
    "result": {
        "at": str,
        "match": str,
        "record": str,
        "digest": str,
        "all_decisions": int,
        "ranks": list,
        "scores": list,
        "outcomes": list,
        "decisions": list,
        "think_ms": list,
        "details": list,
    },
    "void": {"at": str, "match": str, "attempt": int, "given_up": bool, "reason": str},
    "seed": {"at": str, "block": int, "seed": int},
    "lost": {"at": str, "match": str},
    "pruning": {"at": str, "records_before": str, "logs_before": str, "retained_bots": list, "one_block_of": int},
    "checkpoint": {"at": str, "entries": int, "hash": str, "signature": str},
}
"""The fields of a line of each type, except its type and hash; `docs/audit_log.md` explains them."""
OF_MATCH: dict[str, type] = {"match": str, "seed_commitment": str, "seats": list}
"""The fields of each match in the entry of a block."""
OF_CONDITION: dict[str, type] = {"game": str, "options": dict, "clock": str}
"""The fields of each condition of an event."""
OF_ENTRANT: dict[str, type] = {"version": str, "place": int}
"""The fields of each version that is entered in an event."""
OF_LEFT_OUT: dict[str, type] = {"version": str, "reason": str}
"""The fields of each version that is left out of an event."""
_OUTCOMES = [outcome.value for outcome in Outcome]
_QUALIFICATIONS = ("passed", "failed", "again")
_TIME = re.compile(r"[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}(\.[0-9]{1,6})?\+00:00", re.ASCII)
"""A time in UTC, in ISO 8601."""
_BY_SEAT: dict[str, Callable[[Any], bool]] = {
    "decisions": lambda value: type(value) is int and value >= 0,
    "think_ms": lambda value: seconds(value) is not None,
    "details": lambda value: type(value) is str,
}
"""The additional values that a result has for each seat, and the check that each value must pass."""


def checkpoint_text(entries: int, last_hash: str, at: str) -> str:
    """Return the text that a ladder signs for a log: the number of entries, the last hash, and the time in ISO 8601."""
    return f"dogana audit log\n{entries}\n{last_hash}\n{at}\n"


def handover_text(old: PublicKey, new: PublicKey) -> str:
    """Return the text that the old key of a ladder signs when a new key replaces it."""
    return f"dogana next key\n{old.text}\n{new.text}\n"


@dataclass(frozen=True, slots=True)
class MatchEntries:
    """The entries about a match in a log."""

    scheduled: int
    """The number of the entry that scheduled the match, before it was played."""
    plan: Mapping[str, Any]
    """The fields of the match and of its block in the entry that scheduled it."""
    counted: int = 0
    """The number of the entry with the result of the match; 0 if there is none."""
    result: Mapping[str, Any] = field(default_factory=dict)
    """The content of the entry with the result; empty if there is none."""


@dataclass(slots=True)
class ValidLog:
    """The content of a valid log."""

    entries: int = 0
    at: str = ""
    """The time of the signature, as the ladder claims it: ISO 8601."""
    keys: list[PublicKey] = field(default_factory=list)
    """The ladder's keys from the trusted one to the one that signed the log; each has signed the next."""
    results: int = 0
    voids: int = 0
    """The number of void attempts in the log; each left a match without a result."""
    given_up: int = 0
    """The number of matches that were given up after too many void attempts."""
    seeds: int = 0
    """The number of blocks whose seed is revealed and matches its commitments."""
    unfinished: list[str] = field(default_factory=list)
    """A line for each block that has unfinished matches or a seed that is not yet revealed."""
    earlier: list[str] = field(default_factory=list)
    """A line for each entry dated before an earlier entry, because the clock was set back or the time is false."""
    standings: dict[str, MatchEntries] = field(default_factory=dict)
    """The entries of the wanted matches, by match id."""


@dataclass(slots=True)
class _Block:
    """A block whose seed has not been revealed yet."""

    entry: int
    at: str
    commitments: dict[str, str]
    """The commitment of each match, by match id."""
    seats: int
    open: dict[str, int]
    """The number of void attempts of each unfinished match, by match id."""


@dataclass(slots=True)
class _Tournament:
    """An event that is not over."""

    entry: int
    announcement: Mapping[str, Any]
    entrants: frozenset[str] | None = None
    """The versions that are entered; None until the entry that closes the event to further versions."""
    blocks: set[int] = field(default_factory=set)
    """The numbers of the event's blocks, finished or not."""


def unfit(seed: int, commitments: Mapping[str, str]) -> str:
    """Return the first match whose commitment matches neither the block's seed nor a seed derived from it.

    Return an empty string if all match.

    Args:
        seed: the seed of the block.
        commitments: the commitment of each match, by match id.
    """
    # A bot at home can remember earlier matches, so each match of a block with such a bot has its own seed.
    own = {match_id: rotation_seed(seed, number) for number, match_id in enumerate(commitments)}
    if commitments == {match_id: commitment(match_id, seed) for match_id, seed in own.items()}:
        return ""
    wrong = (match_id for match_id, committed in commitments.items() if commitment(match_id, seed) != committed)
    return next(wrong, "")


class Wrong(Exception):
    """An entry is not valid; the text says why."""


def parsed(data: bytes, kinds: tuple[str, ...]) -> dict[str, Any]:
    """Parse a line's JSON object, which must be of one of these types and have exactly the fields of that type."""
    try:
        found = parse_json(data)
    except ValueError as error:
        raise Wrong(f"is not JSON: {error}") from error
    kind = found.get("type") if isinstance(found, dict) else None
    if kind not in kinds:
        raise Wrong(f"is of type {kind!r}; an entry is of type {', '.join(kinds)}")
    assert isinstance(found, dict)  # noqa: S101 or it had no type
    _check_form({key: value for key, value in found.items() if key != "type"}, ENTRIES[kind], kind)
    return found


def _check_form(found: Any, form: dict[str, type], what: str) -> None:
    # The check uses `type`, because `isinstance` would accept True as an integer.
    if not isinstance(found, dict) or {key: type(value) for key, value in found.items()} != form:
        wanted = ", ".join(f"{key} ({_JSON[value]})" for key, value in form.items())
        raise Wrong(f"does not have what belongs to {what}: {wanted}")


def _time(text: str) -> datetime:
    """Return the time of an entry; raise `Wrong` if the text is not a time in UTC."""
    try:
        # `fromisoformat` alone accepts many other forms, and other zones.
        if _TIME.fullmatch(text):
            return datetime.fromisoformat(text)
    except ValueError:  # for example, 30 February
        pass
    raise Wrong(
        f"its time is {visible(text, _MAX_TIME_CHARACTERS)!r}, which is not a time in UTC such as 2026-01-31T12:00:00.000+00:00"
    )


def _condition_of(entry: Mapping[str, Any]) -> str:
    """Return the condition of an entry as JSON."""
    return json.dumps([entry["game"], entry["options"], entry["clock"]], sort_keys=True)


_JSON = {int: "integer", str: "text", bool: "true or false", dict: "object", list: "list"}


class Book:
    """The state of a ladder after the entries so far."""

    def __init__(self, wanted: Collection[str]) -> None:
        self.found = ValidLog()
        self._wanted = wanted
        self._versions: set[str] = set()
        self._conditions: set[str] = set()
        """The game, options and clock of each condition, as JSON."""
        self._bots: dict[str, tuple[str, int]] = {}
        """The author of each bot, and the number of its newest version."""
        self._blocks: dict[int, _Block] = {}
        self._block_of: dict[str, int] = {}
        """For each match in `_blocks`, the number of its block."""
        self._last_block = 0
        self._tournaments: dict[str, _Tournament | None] = {}
        """Every event by its name; None for one that is over."""
        self._latest = datetime.min.replace(tzinfo=UTC)
        """The latest time of an entry so far."""
        self._keys: list[tuple[PublicKey, bool]] = []
        """Each key, with True if the previous key has signed it."""

    @property
    def commitments(self) -> dict[int, Mapping[str, str]]:
        """The commitments of the matches in each block whose seed is not revealed, by block and match id."""
        return {number: block.commitments for number, block in self._blocks.items()}

    def take(self, number: int, entry: dict[str, Any]) -> None:
        """Apply an entry.

        Raises:
            Wrong: if the entry is not allowed at this point in the log.
        """
        if (entry["type"] == "begin") != (number == 1):
            raise Wrong("a log has one entry of type begin, and it is the first")
        self._note_time(number, entry["at"])
        self.found.entries = number
        match entry["type"]:
            case "begin":
                self._begin(entry)
            case "key":
                self._key(entry)
            case "version":
                self._version(entry)
            case "condition":
                self._condition(entry)
            case "qualification":
                self._qualification(entry)
            case "retirement" | "trial":
                self._check_known([entry["version"]])
            case "consent":
                self._check_bot(entry["bot"])
            case "block":
                self._block(number, entry)
            case "result":
                self._result(number, entry)
            case "void":
                self._void(entry)
            case "seed":
                self._seed(entry)
            case "tournament":
                self._tournament(number, entry)
            case "tournament_closed":
                self._tournament_closed(entry)
            case "tournament_block":
                self._tournament_block(number, entry)
            case "tournament_over":
                self._tournament_over(entry)
            case "pruning":
                self._pruning(entry)

    def _note_time(self, number: int, text: str) -> None:
        """Read the time of an entry, and note it if an earlier entry has a later time."""
        at = _time(text)
        # This is not a reason to refuse the log: somebody may have corrected the clock.
        if at < self._latest:
            seconds = (self._latest - at).total_seconds()
            self.found.earlier.append(f"entry {number}, at {text}, is {seconds:,.3f} s earlier than one before it")
        self._latest = max(self._latest, at)

    def _begin(self, entry: dict[str, Any]) -> None:
        if entry["format"] != FORMAT:
            older = entry["format"] < FORMAT
            hint = "from before its first release, which no release reads" if older else "update this one"
            raise Wrong(f"is in format {entry['format']}, written by Dogana {entry['dogana']}; {hint}")

    def _key(self, entry: dict[str, Any]) -> None:
        try:
            key = parse_key(entry["key"])
        except BadKey as error:
            raise Wrong(f"its key {error}") from error
        handed_over = bool(entry["signature"])
        if handed_over:
            old = self._keys[-1][0] if self._keys else key
            text = handover_text(old, key)
            # No earlier key could have signed the first key, so its `old` is the key itself.
            if old == key or not is_signature(entry["signature"]) or not old.has_signed(text, entry["signature"]):
                raise Wrong("the key before it has not signed it")
        self._keys.append((key, handed_over))

    def _version(self, entry: dict[str, Any]) -> None:
        bot, number = entry["bot"], entry["number"]
        label = f"{bot} v{number}"
        if label in self._versions:
            raise Wrong(f"{label} is taken in a second time")
        author, newest = self._bots.get(bot, (entry["author"], 0))
        if number != newest + 1:
            raise Wrong(f"{label} is taken in, but v{newest + 1} of that bot comes next")
        if author != entry["author"]:
            raise Wrong(f"{label} is of author {entry['author']!r}, but the versions before it are of {author!r}")
        self._bots[bot] = (author, number)
        self._versions.add(label)

    def _check_known(self, versions: Iterable[object]) -> None:
        # The type is checked first, because JSON may have a list here, which cannot be looked up in a set.
        strangers = [label for label in versions if not isinstance(label, str) or label not in self._versions]
        if strangers:
            raise Wrong(f"it has {strangers[0]!r}, which was never taken in")

    def _check_bot(self, bot: object) -> None:
        if not isinstance(bot, str) or bot not in self._bots:
            raise Wrong(f"it has bot {bot!r}, which was never taken in")

    def _condition(self, entry: dict[str, Any]) -> None:
        key = _condition_of(entry)
        if key in self._conditions:
            raise Wrong(f"the condition {key} is added a second time")
        self._conditions.add(key)

    def _check_condition(self, entry: dict[str, Any]) -> None:
        key = _condition_of(entry)
        if key not in self._conditions:
            raise Wrong(f"the condition {key} was never added")

    def _qualification(self, entry: dict[str, Any]) -> None:
        self._check_known([entry["version"]])
        self._check_condition(entry)
        if entry["outcome"] not in _QUALIFICATIONS:
            raise Wrong(f"its outcome is {entry['outcome']!r}, not one of {', '.join(_QUALIFICATIONS)}")

    def _pruning(self, entry: dict[str, Any]) -> None:
        for bot in entry["retained_bots"]:
            self._check_bot(bot)
        for name in ("records_before", "logs_before"):
            if entry[name]:
                _time(entry[name])

    def _block(self, number: int, entry: dict[str, Any]) -> None:
        self._check_known(entry["due"])
        if not all(type(moment) is int for moment in entry["due"].values()):
            raise Wrong(f"block {entry['block']} has a version that is due at no number")
        self._schedule(number, entry)

    def _schedule(self, number: int, entry: dict[str, Any]) -> None:
        """Apply the part of an entry that ladder blocks and event blocks have in common."""
        if entry["block"] <= self._last_block:
            raise Wrong(f"block {entry['block']} is scheduled, but the last one was {self._last_block}")
        self._last_block = entry["block"]
        self._check_condition(entry)
        commitments = {}
        seats = 0
        for match in entry["matches"]:
            _check_form(match, OF_MATCH, "a match")
            strangers = [seat for seat in match["seats"] if not isinstance(seat, str) or seat not in self._versions]
            if strangers:
                raise Wrong(f"match {match['match']} has {strangers[0]!r}, which was never taken in")
            seats = seats or len(match["seats"])
            # Half of a surrogate pair would be an id without bytes to commit to.
            is_odd = match["match"] in self._block_of or not match["match"].isprintable()
            if is_odd or not seats or len(match["seats"]) != seats:
                raise Wrong(f"match {match['match']} is scheduled twice, by an odd id, or not with its block's seats")
            self._block_of[match["match"]] = entry["block"]
            commitments[match["match"]] = match["seed_commitment"]
            # Finished blocks are forgotten, but a wanted match must not be scheduled again after its block.
            if match["match"] in self.found.standings:
                raise Wrong(f"match {match['match']} is scheduled a second time")
            if match["match"] in self._wanted:
                self.found.standings[match["match"]] = MatchEntries(number, {**entry, **match})
        self._blocks[entry["block"]] = _Block(number, entry["at"], commitments, seats, dict.fromkeys(commitments, 0))

    def _tournament(self, number: int, entry: dict[str, Any]) -> None:
        if entry["tournament"] in self._tournaments or not entry["tournament"].isprintable():
            raise Wrong(f"event {entry['tournament']} is announced a second time, or by an odd id")
        if _time(entry["closes"]) <= _time(entry["at"]):
            raise Wrong(f"event {entry['tournament']} is announced after its close")
        if not all(1 <= entry[term] <= _MAX_TERM for term in ("seats", "blocks", "rounds", "advance", "top", "share")):
            raise Wrong(f"event {entry['tournament']} has a number of something that is not from 1 to {_MAX_TERM}")
        for condition in entry["conditions"]:
            _check_form(condition, OF_CONDITION, "a condition")
            self._check_condition(condition)
        games = {condition["game"] for condition in entry["conditions"]}
        if not games or len(games) < len(entry["conditions"]):
            raise Wrong(f"event {entry['tournament']} has no game, or one twice")
        self._tournaments[entry["tournament"]] = _Tournament(number, entry)

    def _open_tournament(self, entry: dict[str, Any]) -> _Tournament:
        found = self._tournaments.get(entry["tournament"])
        if found is None:
            raise Wrong(f"event {entry['tournament']} was not announced before, or is over")
        return found

    def _tournament_closed(self, entry: dict[str, Any]) -> None:
        event = self._open_tournament(entry)
        for one in entry["entrants"]:
            _check_form(one, OF_ENTRANT, "an entrant")
        for one in entry["left_out"]:
            _check_form(one, OF_LEFT_OUT, "a version that is left out")
        versions = [one["version"] for one in entry["entrants"]]
        self._check_known([*versions, *(one["version"] for one in entry["left_out"])])
        if event.entrants is not None or _time(entry["at"]) < _time(event.announcement["closes"]):
            raise Wrong(f"event {entry['tournament']} closes a second time, or before the announced time")
        if len(set(versions)) < len(versions) or len(versions) > event.announcement["top"]:
            raise Wrong(f"event {entry['tournament']} has a version twice, or more than {event.announcement['top']}")
        event.entrants = frozenset(versions)

    def _tournament_block(self, number: int, entry: dict[str, Any]) -> None:
        event = self._open_tournament(entry)
        if event.entrants is None:
            raise Wrong(f"event {entry['tournament']} has a block before its close")
        if _condition_of(entry) not in map(_condition_of, event.announcement["conditions"]):
            raise Wrong(f"event {entry['tournament']} has a block under another condition")
        self._schedule(number, entry)
        if not event.entrants.issuperset(label for match in entry["matches"] for label in match["seats"]):
            raise Wrong(f"event {entry['tournament']} has a block with a version that is not entered")
        event.blocks.add(entry["block"])

    def _tournament_over(self, entry: dict[str, Any]) -> None:
        event = self._open_tournament(entry)
        # `_blocks` contains the blocks whose seed is not revealed.
        if open_blocks := event.blocks & self._blocks.keys():
            raise Wrong(f"event {entry['tournament']} ends while block {min(open_blocks)} is not over")
        if commitment(entry["tournament"], entry["seed"]) != event.announcement["seed_commitment"]:
            raise Wrong(f"is not the seed that entry {event.entry} committed to for event {entry['tournament']}")
        self._tournaments[entry["tournament"]] = None

    def _open_block(self, match_id: str) -> _Block:
        block = self._blocks.get(self._block_of.get(match_id, 0))
        if block is None or match_id not in block.open:
            raise Wrong(f"match {match_id} was not scheduled before, or is over")
        return block

    def _result(self, number: int, entry: dict[str, Any]) -> None:
        block = self._open_block(entry["match"])
        ranks = entry["ranks"]
        needed = f"match {entry['match']} has {block.seats} seats, and each needs"
        if len(ranks) != block.seats or not all(type(rank) is int and 1 <= rank <= block.seats for rank in ranks):
            raise Wrong(f"{needed} a rank")
        if ranks != [1 + sum(other < rank for other in ranks) for rank in ranks]:
            raise Wrong(f"match {entry['match']} has ranks that no match can have: {ranks}")
        if [type(score) for score in entry["scores"]] != [int] * block.seats:
            raise Wrong(f"{needed} a score")
        if len(entry["outcomes"]) != block.seats or not all(outcome in _OUTCOMES for outcome in entry["outcomes"]):
            raise Wrong(f"{needed} an outcome: {', '.join(_OUTCOMES)}")
        stayed = [
            rank for rank, outcome in zip(ranks, entry["outcomes"], strict=True) if outcome == Outcome.PLAYED.value
        ]
        # Seats that played to the end have the first ranks, so none of these ranks exceeds the number of such seats.
        if stayed and max(stayed) > len(stayed):
            raise Wrong(f"match {entry['match']} ranks a seat that was out before one that played to the end")
        for name, is_value in _BY_SEAT.items():
            if len(entry[name]) != block.seats or not all(map(is_value, entry[name])):
                raise Wrong(f"{needed} a value in {name}")
        del block.open[entry["match"]]
        self.found.results += 1
        known = self.found.standings.get(entry["match"])
        if known is not None:
            self.found.standings[entry["match"]] = replace(known, counted=number, result=entry)

    def _void(self, entry: dict[str, Any]) -> None:
        block = self._open_block(entry["match"])
        block.open[entry["match"]] += 1
        if entry["attempt"] != block.open[entry["match"]]:
            raise Wrong(f"is attempt {entry['attempt']}, but attempt {block.open[entry['match']]} comes here")
        if entry["given_up"] != (entry["attempt"] >= MAX_ATTEMPTS):
            raise Wrong(
                f"match {entry['match']} is given up after {MAX_ATTEMPTS} attempts that were void, no sooner and no later"
            )
        self.found.voids += 1
        if entry["given_up"]:
            del block.open[entry["match"]]
            self.found.given_up += 1

    def _seed(self, entry: dict[str, Any]) -> None:
        block = self._blocks.get(entry["block"])
        if block is None:
            raise Wrong(f"reveals the seed of block {entry['block']}, which was not scheduled, or has revealed it")
        if block.open:
            raise Wrong(f"reveals the seed of block {entry['block']} while match {next(iter(block.open))} is not over")
        if not 0 <= entry["seed"] < _MAX_SEED:
            raise Wrong("is not a seed")
        if match_id := unfit(entry["seed"], block.commitments):
            raise Wrong(f"is not the seed that entry {block.entry} committed to for match {match_id}")
        for match_id in block.commitments:  # so that memory grows only with open blocks
            del self._block_of[match_id]
        del self._blocks[entry["block"]]
        self.found.seeds += 1

    def close(self, checkpoint: dict[str, Any], trusted: PublicKey | None) -> None:
        """Check the signature of the log, and list unfinished blocks.

        Raises:
            Wrong: if the log is signed neither by the trusted key nor by one of its successors.
        """
        if not self._keys:
            raise Wrong("the log names no key that could have signed it")
        last = self._keys[-1][0]
        signed = checkpoint_text(checkpoint["entries"], checkpoint["hash"], checkpoint["at"])
        if not is_signature(checkpoint["signature"]) or not last.has_signed(signed, checkpoint["signature"]):
            raise Wrong(f"ladder {last.fingerprint}, whose log it claims to be, has not signed it")
        chain: list[PublicKey] = []
        for key, handed_over in self._keys:
            # A key that its predecessor has not signed begins a new chain, as after a loss. Trust does not carry over.
            if chain and handed_over:
                chain.append(key)
            else:
                chain = [key] if key == (trusted or last) else []
        if not chain:
            assert trusted is not None  # noqa: S101 the last key is in the log
            raise Wrong(f"is signed by ladder {last.fingerprint}, not by {trusted.fingerprint}")
        self.found.keys = chain
        self._note_time(checkpoint["entries"] + 1, checkpoint["at"])
        self.found.at = visible(checkpoint["at"], _MAX_TIME_CHARACTERS)
        for number, block in self._blocks.items():
            at = visible(block.at, _MAX_TIME_CHARACTERS)
            if block.open:
                text = f"{len(block.open)} of {len(block.commitments)} matches have neither a result nor been given up"
            else:
                text = "all matches are over, but its seed is not revealed"
            self.found.unfinished.append(f"block {number}, scheduled at {at} (entry {block.entry}): {text}")
