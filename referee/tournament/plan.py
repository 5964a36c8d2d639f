"""The plan of a tournament: its file `tournament.toml`, read and checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from math import comb
from typing import Any

from referee.errors import DoganaError
from referee.kit.document import Document, parse_toml
from referee.match.clock import TimeControl
from referee.registry import did_you_mean

MAX_ENTRANTS, MAX_BLOCKS, MAX_NAME = 1000, 10_000, 40
MAX_MATCHES = 1_000_000
"""The maximum number of matches in a tournament, so that a typing error in `blocks` cannot fill the memory."""
MIN_SEATS, MAX_SEATS = 2, 5
MAX_SECONDS = 86_400
MAX_ROUNDS = 1000
NAME_RULE = f"1 to {MAX_NAME} characters that can be printed, and no space at its ends"
"""The rule for the name of an entrant, in words."""


class TournamentError(DoganaError):
    """A tournament cannot be read, played or verified; the text says why and what to do."""


class Format(Enum):
    """The formats of a tournament, each with its own way to pair entrants."""

    ROUND_ROBIN = "round-robin"
    GAUNTLET = "gauntlet"
    SWISS = "swiss"
    KNOCKOUT = "knockout"


OF_ROUNDS = (Format.SWISS, Format.KNOCKOUT)
"""The formats in which the results of a round decide the pairings of the next."""


class Scoring(Enum):
    """The ways to award points for a match."""

    WINS = "wins"
    PLACES = "places"
    SCORE = "score"


class TieBreak(Enum):
    """The numbers that separate entrants with the same points."""

    HEAD_TO_HEAD = "head-to-head"
    OPPONENTS = "opponents"
    SCORE_DIFFERENCE = "score-difference"
    LAST_SEAT_WINS = "last-seat-wins"
    LOTS = "lots"


class Preliminary(Enum):
    """The ways to determine the seeding of a knockout."""

    NONE = "none"
    ROUND_ROBIN = "round-robin"
    SWISS = "swiss"


class FaultRule(Enum):
    """The possible consequences for an entrant that was out in a match."""

    FORFEIT = "forfeit"
    STRIKE_OUT = "strike-out"


class Balance(Enum):
    """The kinds of round robins at tables of three or more."""

    EXACT = "exact"
    NEAR = "near"


DEFAULT_TIE_BREAKS = (TieBreak.HEAD_TO_HEAD, TieBreak.SCORE_DIFFERENCE, TieBreak.LAST_SEAT_WINS, TieBreak.LOTS)
SWISS_TIE_BREAKS = (TieBreak.OPPONENTS, *DEFAULT_TIE_BREAKS)
OF_ONE_FORMAT = {
    "balance": Format.ROUND_ROBIN,
    "rounds": Format.SWISS,
    "advance": Format.KNOCKOUT,
    "preliminary": Format.KNOCKOUT,
    "qualify": Format.KNOCKOUT,
}
"""The keys of `tournament.toml` that only one format allows, each with that format."""
MAY_CHANGE = ("title", "wait", "directory")
"""The keys of `tournament.toml` that may be changed after the first match."""


@dataclass(frozen=True, slots=True)
class GameTerms:
    """A game of a tournament."""

    label: str
    """The game's label in the names of records: its name, with a number if the tournament contains the game twice."""
    name: str
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot that takes part."""

    name: str
    seat: str
    """The word for the bot, as on the command line of `dogana play`."""
    is_host: bool
    """True for the opponents in a gauntlet."""
    has_joined: bool = False
    """True if the entrant joined after the first match."""


@dataclass(frozen=True, slots=True)
class EntrantLimits:
    """The settings of the bots' sandbox, and the bots' limits; None stands for the default."""

    isolate: bool
    memory: int | None
    tasks: int | None
    cpus: float | None
    pondering: bool
    runtimes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TournamentPlan:
    """A tournament, as its file describes it."""

    title: str
    format: Format
    seats: int
    """The number of seats at a table."""
    seed: int
    blocks: int
    """The number of blocks for each table and game; a block plays one seed in every rotation of the seats."""
    scoring: Scoring
    tie_breaks: tuple[TieBreak, ...]
    faults: FaultRule
    balance: Balance
    rounds: int
    """The number of rounds of a Swiss tournament."""
    advance: int
    """The number of entrants who go on from each table of a knockout."""
    preliminary: Preliminary
    """The rounds before a knockout, which decide its seeding."""
    qualify: int
    """The number of entrants who go on from the preliminary rounds to the knockout; 0 for all."""
    clock: TimeControl
    wait: float | None
    """The time allowed for a bot to join, in seconds; None for the default."""
    directory: str
    """The folder that entrants' paths are relative to and their commands run in, relative to the file's folder."""
    games: tuple[GameTerms, ...]
    entrants: tuple[Entrant, ...]
    isolation: EntrantLimits

    @property
    def names(self) -> list[str]:
        """The names of the entrants."""
        return [entrant.name for entrant in self.entrants]

    @property
    def beginners(self) -> list[int]:
        """The entrants with whom the tournament began."""
        return [number for number, entrant in enumerate(self.entrants) if not entrant.has_joined]

    @property
    def competitors(self) -> list[int]:
        """The entrants that get a place: all except the hosts of a gauntlet."""
        return [number for number, entrant in enumerate(self.entrants) if not entrant.is_host]


_KEYS = [one.name for one in fields(TournamentPlan)]
_GAME_KEYS = ("game", "options")
_ENTRANT_KEYS = ("name", "seat", "host", "joined")
_ISOLATION_KEYS = [one.name for one in fields(EntrantLimits)]


def read_plan(text: str, where: str) -> TournamentPlan:
    """Read the file of a tournament. Games, their options and seats are not looked up.

    Args:
        text: the file.
        where: the name of the file in errors.

    Raises:
        TournamentError: if the plan is not valid; the text names the first problem.
    """
    try:
        data = parse_toml(text)
    except ValueError as error:
        raise TournamentError(f"{where} is not TOML: {error}") from error
    document = Document(data, where)
    _check_keys(document, _KEYS)
    plan = _read(document)
    if document.problems:
        raise TournamentError(document.problems[0])
    for key, owner in OF_ONE_FORMAT.items():
        is_of_preliminary = key in ("balance", "rounds") and plan.preliminary.value == owner.value
        if key in data and plan.format is not owner and not is_of_preliminary:
            raise TournamentError(f"{where}: {key} is for format {owner.value}, not {plan.format.value}; leave it out")
    if problem := _problem(plan):
        raise TournamentError(f"{where}: {problem}")
    return plan


def is_name(text: str) -> bool:
    """Return whether a text can be the name of an entrant; see `NAME_RULE`."""
    return 0 < len(text) <= MAX_NAME and text.isprintable() and text == text.strip()


def facts(plan: TournamentPlan) -> dict[str, Any]:
    """Return all entries that decide a tournament (those not in `MAY_CHANGE`) as JSON values, by their names in the file."""
    limits = plan.isolation
    return {
        "format": plan.format.value,
        "seats": plan.seats,
        "seed": plan.seed,
        "blocks": plan.blocks,
        "scoring": plan.scoring.value,
        "tie_breaks": [one.value for one in plan.tie_breaks],
        "faults": plan.faults.value,
        "balance": plan.balance.value,
        "rounds": plan.rounds,
        "advance": plan.advance,
        "preliminary": plan.preliminary.value,
        "qualify": plan.qualify,
        "clock": str(plan.clock),
        "games": [[terms.name, dict(terms.options)] for terms in plan.games],
        "entrants": [[one.name, one.seat, one.is_host, one.has_joined] for one in plan.entrants],
        "isolation": [limits.isolate, limits.memory, limits.tasks, limits.cpus, limits.pondering, [*limits.runtimes]],
    }


def _check_keys(document: Document, known: Collection[str]) -> None:
    for key in document.keys():  # noqa: SIM118 it is not a mapping
        if key not in known:
            # A stranger's key may be as long as the file, and the search for similar words takes longer for long keys.
            said = key[:MAX_NAME]
            document.note("", f"has no entry {said!r}{did_you_mean(said, known)}; its entries are: {', '.join(known)}")


def _tables(document: Document, key: str) -> list[Document]:
    if isinstance(document.raw(key, []), Mapping):
        document.note(key, f"is a single table: write [[{key}]] above each of its tables")
        return []
    return document.tables(key)


def _read(document: Document) -> TournamentPlan:
    return TournamentPlan(
        title=document.text("title", ""),
        format=document.choice("format", _words(Format)),
        seats=document.integer("seats", MIN_SEATS, MAX_SEATS),
        seed=document.integer("seed", 0, 2**62),
        blocks=document.integer("blocks", 1, MAX_BLOCKS),
        scoring=document.choice("scoring", _words(Scoring), Scoring.WINS),
        tie_breaks=tuple(document.choices("tie_breaks", _words(TieBreak), DEFAULT_TIE_BREAKS)),
        faults=document.choice("faults", _words(FaultRule), FaultRule.FORFEIT),
        balance=document.choice("balance", _words(Balance), Balance.EXACT),
        rounds=document.integer("rounds", 1, MAX_ROUNDS, 5),
        advance=document.integer("advance", 1, MAX_SEATS, 1),
        preliminary=document.choice("preliminary", _words(Preliminary), Preliminary.NONE),
        qualify=document.integer("qualify", 0, MAX_ENTRANTS, 0),
        clock=_clock(document),
        wait=_number(document, "wait", 0.1, MAX_SECONDS),
        directory=document.text("directory", "."),
        games=_games(document),
        entrants=_entrants(document),
        isolation=_isolation(document),
    )


def _words(kind: Any) -> dict[str, Any]:
    return {one.value: one for one in kind}


def _clock(document: Document) -> TimeControl:
    try:
        return TimeControl.parse(document.text("clock"))
    except ValueError as error:
        document.note("clock", f"cannot be read: {error}")
        return TimeControl(60, 0, 60)  # a stand-in, like those of `Document`, so that one reading finds all problems


def _number(document: Document, key: str, low: float, high: float) -> float | None:
    value = document.raw(key, None)
    # The check uses `type`, because `isinstance` would accept `True` as an `int`; a NaN compares false.
    if value is None or (type(value) in (int, float) and low <= value <= high):  # type: ignore[operator]
        return value  # type: ignore[return-value]
    document.note(key, f"must be a number from {low:g} to {high:g}")
    return None


def _games(document: Document) -> tuple[GameTerms, ...]:
    found, counts = [], Counter[str]()
    for inner in _tables(document, "games"):
        _check_keys(inner, _GAME_KEYS)
        name, options = inner.text("game"), inner.raw("options", {})
        if not isinstance(options, Mapping):
            inner.note("options", "must be a table, such as { last_turn = 3 }")
            options = {}
        counts[name] += 1
        label = name if counts[name] == 1 else f"{name}-{counts[name]}"
        found.append(GameTerms(label, name, dict(options)))
    return tuple(found)


def _entrants(document: Document) -> tuple[Entrant, ...]:
    found = []
    for inner in _tables(document, "entrants"):
        _check_keys(inner, _ENTRANT_KEYS)
        name = inner.text("name")
        if not is_name(name):
            inner.note("name", f"must have {NAME_RULE}, not {name[: MAX_NAME + 1]!r}")
        seat, is_host, has_joined = inner.text("seat"), inner.boolean("host", False), inner.boolean("joined", False)
        found.append(Entrant(name, seat, is_host, has_joined))
    return tuple(found)


def _isolation(document: Document) -> EntrantLimits:
    inner = document.table("isolation") if document.has("isolation") else Document({}, "isolation")
    _check_keys(inner, _ISOLATION_KEYS)
    memory, tasks = _number(inner, "memory", 32, 2**22), _number(inner, "tasks", 8, 2**22)
    return EntrantLimits(
        isolate=inner.boolean("isolate", False),
        memory=None if memory is None else int(memory),
        tasks=None if tasks is None else int(tasks),
        cpus=_number(inner, "cpus", 0.1, 1024),
        pondering=inner.boolean("pondering", True),
        runtimes=tuple(inner.texts("runtimes", [])),
    )


def _least_matches(plan: TournamentPlan) -> int:
    """Return a lower bound on the number of matches.

    A round robin counts the tables of a design in which every two entrants meet once, a Swiss tournament and a gauntlet
    all tables, and a knockout the tables of its first round and of the preliminary rounds.
    """
    entrants, seats = len(plan.entrants), plan.seats
    # This uses the numbers alone, because the tables themselves could fill the memory.
    pairs_met_once = -(-entrants * (entrants - 1) // (seats * (seats - 1)))  # rounded up
    swiss = plan.rounds * (entrants // seats)
    match plan.format:
        case Format.ROUND_ROBIN:
            tables = pairs_met_once
        case Format.SWISS:
            tables = swiss
        case Format.GAUNTLET:
            hosts = entrants - len(plan.competitors)
            tables = len(plan.competitors) * comb(hosts, seats - 1)
        case Format.KNOCKOUT:
            before = {Preliminary.NONE: 0, Preliminary.SWISS: swiss, Preliminary.ROUND_ROBIN: pairs_met_once}
            tables = before[plan.preliminary] + (plan.qualify or entrants) // seats
    return tables * seats * plan.blocks * len(plan.games)


def size_problem(plan: TournamentPlan, limit: int = MAX_MATCHES) -> str:
    """Return the reason why a tournament is too large; empty if it is not."""
    if (least := _least_matches(plan)) <= limit:
        return ""
    return f"a tournament has at most {limit:,} matches, and this one at least {least:,}: lower blocks, or leave out entrants"


def _problem(plan: TournamentPlan) -> str:
    """Return the first contradiction between the entries of a plan; empty if there is none."""
    names = Counter(plan.names)
    if twice := [name for name, count in names.items() if count > 1]:
        seats = " and ".join(one.seat for one in plan.entrants if one.name == twice[0])
        return f"entrant {twice[0]} is named twice, for {seats}; give each a name of its own, in a command as NAME=PATH"
    if len(plan.entrants) > MAX_ENTRANTS:
        return f"there are {len(plan.entrants)} entrants; a tournament has at most {MAX_ENTRANTS}"
    if not plan.games:
        return 'there is no game; write [[games]] and game = "NAME" below it'
    terms = [(one.name, one.options) for one in plan.games]
    if any(terms.count(one) > 1 for one in terms):
        return "has a game twice with the same options"
    if plan.scoring is Scoring.SCORE and len({one.name for one in plan.games}) > 1:
        return 'scoring = "score" adds up points of different games; use wins or places'
    if len(set(plan.tie_breaks)) < len(plan.tie_breaks):
        return "tie_breaks has a word twice"
    return _field_problem(plan) or _joining_problem(plan) or size_problem(plan)


def _field_problem(plan: TournamentPlan) -> str:
    """Return the reason why the field of entrants does not fit the format; empty if it fits."""
    hosts = len(plan.entrants) - len(plan.competitors)
    if plan.format is Format.GAUNTLET:
        if hosts < plan.seats - 1:
            return f"a gauntlet at tables of {plan.seats} needs {plan.seats - 1} hosts, and {hosts} have host = true"
        return "" if plan.competitors else "a gauntlet needs a challenger: an entrant without host = true"
    if hosts:
        return f"host = true is for format gauntlet, not {plan.format.value}"
    if plan.format is Format.KNOCKOUT and 2 * plan.advance > plan.seats:
        return f"advance = {plan.advance}: at most half of a table of {plan.seats} can go on"
    if plan.format is Format.KNOCKOUT and TieBreak.LOTS not in plan.tie_breaks:
        return "a knockout needs a decision at every table: add lots to tie_breaks"
    if problem := _preliminary_problem(plan):
        return problem
    if plan.format is Format.SWISS and plan.scoring is Scoring.SCORE:
        return "a Swiss tournament has byes, which have no score: use scoring wins or places"
    if len(plan.entrants) < plan.seats:
        return f"tables of {plan.seats} need {plan.seats} entrants, and the tournament has {len(plan.entrants)}"
    return ""


def _preliminary_problem(plan: TournamentPlan) -> str:
    """Return the contradiction in the settings for the rounds before a knockout; empty if there is none."""
    if plan.preliminary is Preliminary.NONE:
        return "qualify is for a knockout with a preliminary" if plan.qualify else ""
    if plan.preliminary is Preliminary.SWISS and plan.scoring is Scoring.SCORE:
        return "a Swiss preliminary has byes, which have no score: use scoring wins or places"
    if plan.qualify and not 2 <= plan.qualify <= len(plan.entrants):
        return f"qualify = {plan.qualify}: from 2 to all {len(plan.entrants)} entrants can go on to the knockout"
    return ""


def _joining_problem(plan: TournamentPlan) -> str:
    """Return the reason why entrants cannot join after the first match; empty if they can, or if none have joined."""
    names = [entrant.name for entrant in plan.entrants if entrant.has_joined]
    if not names:
        return ""
    if plan.format in OF_ROUNDS:
        return f"{names[0]} cannot join: who meets whom in a {plan.format.value} was decided with the field of its first round"
    if plan.format is Format.ROUND_ROBIN and plan.seats > 2:
        return (
            f"{names[0]} cannot join: at tables of {plan.seats}, new tables would have earlier entrants meet again,"
            " some more often than others; begin another tournament, or use tables of 2 or a gauntlet"
        )
    if hosts := [entrant.name for entrant in plan.entrants if entrant.has_joined and entrant.is_host]:
        return f"{hosts[0]} cannot join as a host: the challengers are compared by the same hosts"
    if plan.beginners != list(range(len(plan.beginners))):
        return "entrants with joined = true must stand after all others"
    needed = plan.seats if plan.format is Format.GAUNTLET else 2
    if len(plan.beginners) < needed:
        return f"joined = true is for those who come after the first match, and it needs {needed} entrants without it"
    return ""
