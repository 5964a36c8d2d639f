"""THE contract that every game fulfils.

A game is a pure state machine. It has no clock, no files, no randomness of its own, no protobuf, and it
never prints. It is one folder below `referee/games/` and one .proto file, both of the game's name; nothing
outside of them knows a rule of it or says its name. `docs/adding_a_game.md` builds one step by step.

Words
-----
*Game*: the rules, as one object without state. *Setup*: what is agreed before a match: number of seats,
options, board. *Board*: every number printed on the physical game, read from `board.toml`. *State*: a match in
progress. *Seat*: a place at the table, an integer from 0. *Action*: one atomic decision. *Observation*: what
one seat, or a spectator, may know of a state.

What holds for every game
-------------------------
The contract suite (`referee/contract/suite.py`) checks each of these sentences, by its number, over random play.

 1. While a match is not over, `seats_to_act` names at least one seat; when it is over, none. Several seats
    are named where the rules let them decide simultaneously; the outcome then does not depend on the order in
    which they are applied, unless the rules say so (`Game.order_matters`).
 2. `legal_actions(seat)` is, for a seat to act, never empty, complete, without duplicates, within
    `Game.max_actions`, and in the order that the rules give; for any other seat it is empty. Calling it
    changes nothing. Labels (`label`) within a list are all different.
 3. `apply(seat, action, chance)` accepts exactly the actions of that list. Anything else raises
    `IllegalAction`, which says what was wrong and by which rule, and leaves the state as it was.
 4. `apply` is deterministic: equal states, actions and chance outcomes give equal states. Whatever luck it needs
    it draws from `chance`. A state holds no generator, so that nobody can read the future out of a copy.
 5. `clone` gives an equal state that shares nothing that can change.
 6. A state survives `to_json` and `Game.read_state`: the position format of tests, bug reports and people.
 7. `problems` is empty in every state that can be reached.
 8. Every match ends within `Game.max_decisions` decisions, whatever is played.
 9. `default_action(seat)` is legal at every decision. It is what the rules (not a bot) would do with a seat that
    is out of the match or out of time; it looks only at what that seat may know.
10. `observation(seat)` is written field by field from what the rules let that seat know. A field that nobody
    put there is not in it. A spectator (`None`) knows nothing that any seat does not know.
11. `Game.sample(setup, observation, chance)` gives a state in which the observing seat observes exactly that.
12. Non-interference: whatever a seat cannot see may be replaced, and its observation, its legal list in content
    and order, the labels and the size of its messages stay the same, byte for byte.
13. `is_public(seat, action)` tells, before the action is applied, whether everybody learns of it at once. If not,
    only that seat does, and no observation of any other changes but by what the rules make public. Byte for byte, the others
    and spectators are sent the same whatever a seat plans, until it has committed (`referee/contract/secrecy.py`).
14. `ranks` gives 1 to the first and shared places as 1, 1, 3; `scores` are integers. Every observation has a tuple
    `seats` whose entry for each seat has its `rank`, equal to `ranks`: nobody else writes the tie-breaks.
15. Actions and observations mirror the game's messages name by name (`referee/live/codec.py` converts).
16. Every kind of action the game has occurs in play (a game names those that cannot, see `Game.rare_actions`).
17. No position makes a game stumble: whatever a document says, `Game.read_state` and `problems` raise nothing, and
    a position in which they find nothing wrong can be observed, drawn, sampled, and played to its end with `problems` empty.

Speed matters: search bots live on `clone`, `legal_actions` and `apply`. Plain classes with slots, fields declared
once (docs/decisions/0016-state-fields.md), actions made once and reused, a hand-written `clone`, no dynamic tricks.
"""

from __future__ import annotations

import enum
import re
import types
import typing
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Protocol

from referee.errors import DoganaError
from referee.kit.document import Document

Seat = int
"""A place at the table, counted from 0."""

OptionValue = str | int | bool
"""What an option can be set to."""

JsonObject = dict[str, Any]
"""A JSON object."""


# --- chance ---------------------------------------------------------------------------------------


class Stream(Protocol):
    """One source of luck, such as a bag or a deck. `referee/kit/chance.py` has the kinds there are."""

    def below(self, n: int) -> int:
        """A uniformly random integer from 0 to n - 1 (n at least 1)."""
        ...

    def pick(self, weights: Sequence[int]) -> int:
        """A random index, each with the probability of its weight (not negative, at least one positive)."""
        ...

    def permutation(self, n: int) -> list[int]:
        """The integers from 0 to n - 1 in a uniformly random order."""
        ...


class Chance(Protocol):
    """All luck of a match, as streams by name.

    Each stream of a live match is derived from the match's seed and the stream's name alone. So what is drawn from
    one never changes what another gives, and matches with the same seed stay comparable when seats change bots.
    """

    def stream(self, name: str) -> Stream:
        """The stream of that name. Cheap; draw from it at once rather than keep it."""
        ...


# --- actions --------------------------------------------------------------------------------------


class Action:
    """One atomic decision: a frozen dataclass with slots for each kind, after the messages of the game.

    Its fields are integers, booleans, members of an `IntEnum`, or tuples of one of these. An enum counts from 0, and its
    member n is the message's enum value n + 1.
    """

    __slots__ = ()


class IllegalAction(Exception):
    """The action is not in the list of legal actions. The state is as it was."""

    def __init__(self, reason: str, rule: str = "") -> None:
        """Says what was wrong, for the agent's author, and by which rule (`C3.4`; empty where there is none)."""
        super().__init__(f"{reason} ({rule})" if rule else reason)
        self.reason = reason
        self.rule = rule


_WORD = re.compile(r"(?<!^)(?=[A-Z])")


def kind(action_type: type[Action]) -> str:
    """The name of a kind of action in labels, records and messages: `BmSwap` is `bm_swap`."""
    return _kind(action_type.__name__)


@cache
def _kind(class_name: str) -> str:
    return _WORD.sub("_", class_name).lower()


def label(action: Action) -> str:
    """The text of an action, the same in records, positions, logs and on the wire: `bm_swap(gold,ivory)`."""
    known = _LABELS.get(action)
    if known is None:
        arguments = [_text(getattr(action, field.name)) for field in fields(action)]  # type: ignore[arg-type]
        known = f"{kind(type(action))}({','.join(arguments)})" if arguments else kind(type(action))
        if len(_LABELS) < _MAX_LABELS:
            _LABELS[action] = known
    return known


_LABELS: dict[Action, str] = {}
_MAX_LABELS = 100_000  # actions made of hostile numbers must not fill the memory


def _text(value: object) -> str:
    if isinstance(value, enum.Enum):
        return value.name.lower()
    if isinstance(value, tuple):
        return "+".join(map(_text, value))
    return str(value).lower()


# --- options --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Distinct:
    """Values of an option: some of these words, in any order, each at most once, written `red+green+blue`."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Option:
    """Something that can be agreed before a match, such as a variant of the rules."""

    name: str
    """Its name, a word in lower case with underscores."""
    values: tuple[str | bool | range | Distinct, ...]
    """What it can be: words, `True` and `False`, ranges of integers, and lists of different words."""
    default: OptionValue
    """What it is if nothing is said."""
    help: str
    """What it does, in one line."""
    rule: str
    """The number of the rule that describes it."""

    def parse(self, value: object) -> OptionValue:
        """Turns what was written on a command line or in a file into a value.

        Raises:
            ValueError: if the option cannot be that; the text says what it can be.
        """
        for choice in self.values:
            if isinstance(choice, range):
                if isinstance(value, str) and re.fullmatch(r"-?\d{1,9}", value, re.ASCII) and int(value) in choice:
                    return int(value)
                if type(value) is int and value in choice:
                    return value
            elif isinstance(choice, Distinct):
                chosen = value.split("+") if isinstance(value, str) else []
                if isinstance(value, str) and set(chosen) <= set(choice.words) and len(set(chosen)) == len(chosen):
                    return value
            elif (type(value) is type(choice) and value == choice) or value == _text(choice):
                return choice
        raise ValueError(f"option {self.name} can be {self.describe_values()}, not {value!r}")

    def describe_values(self) -> str:
        """What the option can be, for people: `random, or a number from 0 to 4`."""
        return " or ".join(map(_described, self.values))


def _described(choice: str | bool | range | Distinct) -> str:
    if isinstance(choice, range):
        return f"a number from {choice.start} to {choice.stop - 1}"
    if isinstance(choice, Distinct):
        return f"a list of {', '.join(choice.words)}, such as {'+'.join(choice.words[:3])}"
    return _text(choice)


# --- setup ----------------------------------------------------------------------------------------


class Board:
    """The numbers printed on the physical game: a frozen dataclass for each game."""

    __slots__ = ()


class SetupError(DoganaError):
    """The number of seats, an option or the board does not fit; `problems` has a line for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = list(problems)


@dataclass(frozen=True, slots=True)
class Setup:
    """What is agreed before a match: made by `Game.setup`, shared by all its states, never changed."""

    seats: int
    """The number of seats."""
    options: Mapping[str, OptionValue]
    """Every option of the game, by name."""
    board: Board
    """The printed numbers."""
    board_data: Mapping[str, Any]
    """The same as it was read from `board.toml`; goes whole into the record."""


# --- state ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of real time in which several seats decide, such as a sand timer (`State.window`)."""

    name: str
    """Tells one window of a match from the next, such as `planning 3`."""
    seconds: float
    """How long it is open from the moment that a state first has it."""


class Observation:
    """What a seat, or a spectator, may know of a state: a frozen dataclass for each game, after its messages.

    Fields are integers, booleans, strings, members of an `IntEnum`, named tuples (messages inside), tuples of these, or `None`
    where the message's field is optional.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class CountedBy:
    """Annotates a tuple in an observation with what its index stands for.

    With `goods: Annotated[tuple[int, ...], CountedBy(Kind)]` a replay can say `goods.gold`.
    """

    names: type[enum.IntEnum] | None
    """An enum; None for the seats."""


class State(ABC):
    """A match in progress. Changed by `apply` only."""

    __slots__ = ("setup",)

    setup: Setup
    """What the match is played with."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup

    @abstractmethod
    def seats_to_act(self) -> tuple[Seat, ...]:
        """The seats that owe a decision now, ascending; empty only when the match is over."""

    @abstractmethod
    def legal_actions(self, seat: Seat) -> list[Action]:
        """Every legal action of a seat, in the order of the rules; empty if the seat is not to act."""

    @abstractmethod
    def apply(self, seat: Seat, action: Action, chance: Chance) -> None:
        """Plays an action, and everything that follows from it without a decision.

        Raises:
            IllegalAction: if the action is not legal for the seat now; nothing has changed then.
        """

    @abstractmethod
    def default_action(self, seat: Seat) -> Action:
        """What the rules do with a seat to act that is out of the match or out of time."""

    def part_of(self, seat: Seat) -> str:
        """Name the larger decision that the next decision of a seat belongs to; empty if it stands alone.

        Some decisions are one to the rules, but are taken in several steps: a secret plan, for example. All steps of one
        plan have the same name, and no two plans of a match share a name (`plan 3`). When the time for a step runs out,
        the referee plays the default for it and for all the steps that are left of the same plan.
        """
        return ""

    @abstractmethod
    def observation(self, viewer: Seat | None) -> Observation:
        """What a seat, or a spectator (`None`), may know now."""

    def is_public(self, seat: Seat, action: Action) -> bool:
        """Whether everybody learns at once that the seat plays this action. Closed unless a game says so."""
        return False

    def window(self) -> Window | None:
        """The window that is open now for all seats to act, if the rules measure real time."""
        return None

    @abstractmethod
    def is_over(self) -> bool:
        """Whether the match has ended."""

    @abstractmethod
    def scores(self) -> list[int]:
        """The score of each seat, so far or finally."""

    @abstractmethod
    def ranks(self) -> list[int]:
        """The place of each seat by the rules' tie-breaks: 1 is first, shared places as 1, 1, 3."""

    @abstractmethod
    def clone(self) -> State:
        """An equal state that shares nothing that can change."""

    @abstractmethod
    def to_json(self) -> JsonObject:
        """The state with the names of the rules, as `Game.read_state` reads it back."""

    @abstractmethod
    def problems(self) -> list[str]:
        """Every broken invariant, a line each; empty for every state that can be reached."""


# --- game -----------------------------------------------------------------------------------------


class Game(ABC):
    """The rules of one game. Its folder's `__init__.py` makes the one object: `GAME = ...`."""

    name: ClassVar[str]
    """The name of its folder and proto package, on the command line, in records and pages."""
    title: ClassVar[str]
    """Its name for people."""
    seat_counts: ClassVar[range]
    """How many seats can play."""
    options: ClassVar[tuple[Option, ...]]
    """What can be agreed before a match."""
    action_types: ClassVar[tuple[type[Action], ...]]
    """Every kind of action, in the order of the legal lists."""
    rare_actions: ClassVar[frozenset[type[Action]]] = frozenset()
    """Kinds that random play does not reach, each with the reason in a comment."""
    observation_type: ClassVar[type[Observation]]
    """The dataclass that `State.observation` gives."""
    max_actions: ClassVar[int]
    """No legal list is longer (with the shipped board); derived in a comment."""
    max_decisions: ClassVar[int]
    """No match has more decisions (with the shipped board); derived in a comment."""

    @abstractmethod
    def read_board(self, document: Document) -> Board:
        """Reads `board.toml`, noting in `document` everything that contradicts itself or the rules."""

    @abstractmethod
    def start(self, setup: Setup, chance: Chance) -> State:
        """A new match."""

    @abstractmethod
    def read_state(self, setup: Setup, document: Document) -> State:
        """Reads a position, noting in `document` everything that cannot be read (`State.problems` says the rest).

        The result is meaningless if `document` has problems afterwards; reading never raises for the data it is given.
        """

    @abstractmethod
    def sample(self, setup: Setup, observation: Observation, chance: Chance) -> State:
        """A state that is consistent with an observation, for search bots.

        What the observer cannot know is drawn from `chance`, each possible state with a positive probability.
        """

    @abstractmethod
    def draw(self, setup: Setup, observation: Observation) -> str:
        """An SVG picture of an observation; what is not in the observation is not in the picture."""

    def order_matters(self, setup: Setup) -> bool:
        """Whether the rules look at who of several seats decides first, as in a race to finish a plan."""
        return False

    def check_options(self, seats: int, options: Mapping[str, OptionValue]) -> list[str]:
        """What is wrong with options that are possible each but do not fit together, or not with the seats."""
        return []

    def setup(self, seats: int, options: Mapping[str, object], board_data: Mapping[str, Any]) -> Setup:
        """Checks everything that is agreed before a match.

        Args:
            seats: the number of seats.
            options: the options that are not left at their defaults, as values or as text.
            board_data: the tables of a `board.toml`.

        Raises:
            SetupError: if anything does not fit.
        """
        problems = []
        if seats not in self.seat_counts:
            low, high = self.seat_counts.start, self.seat_counts.stop - 1
            problems.append(f"{self.name} is for {low} to {high} seats, not {seats}")
        known = {option.name: option for option in self.options}
        chosen = {option.name: option.default for option in self.options}
        for name, value in options.items():
            if name not in known:
                listed = ", ".join(known) or "none"
                problems.append(f"{self.name} has no option {name!r}; its options are: {listed}")
                continue
            try:
                chosen[name] = known[name].parse(value)
            except ValueError as error:
                problems.append(str(error))
        if not problems:
            problems += self.check_options(seats, chosen)
        document = Document(board_data, "board")
        board = self.read_board(document)
        document.finish()
        problems += document.problems
        if problems:
            raise SetupError(problems)
        return Setup(seats, types.MappingProxyType(chosen), board, board_data)

    def parse_action(self, text: str) -> Action:
        """Reads what `label` writes. Whether the action is legal is for `State.apply` to say.

        Raises:
            ValueError: if the text is not an action of this game.
        """
        known = _PARSED.get((type(self), text))
        if known is None:
            known = self._parse_action(text)
            if len(_PARSED) < _MAX_LABELS:
                _PARSED[type(self), text] = known
        return known

    def _parse_action(self, text: str) -> Action:
        kinds = {kind(action_type): action_type for action_type in self.action_types}
        match = re.fullmatch(r"([a-z][a-z0-9_]*)(?:\(([a-z0-9_,+-]*)\))?", text, re.ASCII)
        if match is None or match[1] not in kinds:
            raise ValueError(f"{text[:80]!r} is not an action of {self.name}; it has: {', '.join(kinds)}")
        action_type = kinds[match[1]]
        words = match[2].split(",") if match[2] is not None else []
        hints = typing.get_type_hints(action_type)
        names = [field.name for field in fields(action_type)]  # type: ignore[arg-type]
        if len(words) != len(names):
            raise ValueError(f"{text[:80]!r} needs {len(names)} arguments: {', '.join(names) or 'none'}")
        return action_type(*(_value(word, hints[name]) for word, name in zip(words, names, strict=True)))


_PARSED: dict[tuple[type[Game], str], Action] = {}


def _value(word: str, hint: Any) -> object:
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)[0]
        return tuple(_value(part, inner) for part in word.split("+")) if word else ()
    if isinstance(hint, enum.EnumMeta):
        members: dict[str, Any] = {name.lower(): hint[name] for name in hint.__members__}
        if word not in members:
            raise ValueError(f"{word[:80]!r} is none of {', '.join(members)}")
        return members[word]
    if hint is bool and word in ("true", "false"):
        return word == "true"
    if hint is int and re.fullmatch(r"-?\d{1,9}", word, re.ASCII):
        return int(word)
    raise ValueError(f"{word[:80]!r} is not {'a number' if hint is int else 'true or false'}")
