"""The contract that every game fulfils.

A game is a pure state machine: no clock, no files, no randomness of its own, no protobuf, no output. It is one folder below
`referee/games/` and one .proto file, both named after the game. Nothing outside them knows its rules or mentions its name.
`docs/adding_a_game.md` builds a game step by step.

Words
-----
*Game*: the rules, as one object without state. *Setup*: the terms of a match: number of seats, options, board.
*Board*: every number printed on the physical game, read from `board.toml`. *State*: a match in progress. *Seat*: a
place at the table, an integer from 0. *Action*: one atomic decision. *Observation*: the part of a state that one seat
or a spectator may know.

Rules for every game
--------------------
The contract suite (`referee/contract/`) checks each of these sentences, by its number, in random play.

 1. While a match is not over, `seats_to_act` names at least one seat; once it is over, none. It names several seats
    where the rules let them decide simultaneously. The state that results does not depend on the order in which their
    actions are applied, unless the rules say so (`Game.order_matters`).
 2. For a seat that is to act, `legal_actions(seat)` is complete, never empty, without duplicates, within
    `Game.max_actions`, and in the order that the rules give; for any other seat it is empty. Calling it changes
    nothing. Labels (`label`) within a list are all different.
 3. `apply(seat, action, chance)` accepts exactly the actions of that list. Anything else raises `IllegalAction`, which
    says what was wrong and by which rule, and leaves the state as it was.
 4. `apply` is deterministic: equal states, actions and draws give equal states. It draws all the chance that it needs from
    `chance`. A state holds no generator, so nobody can read the future from a copy.
 5. `clone` returns an equal state with every field. It shares no list, dictionary or set with the original.
 6. A state survives `to_json` and `Game.read_state`. Tests, bug reports and people write positions in that format.
 7. `problems` is empty in every state that can be reached.
 8. Every match ends within `Game.max_decisions` decisions, whatever the agents play.
 9. `default_action(seat)` is legal at every decision. The rules (not a bot) play it for a seat that is out of the match
    or out of time. It depends only on what that seat may know.
 10. `observation(seat)` contains, field by field, what the rules let that seat know, and nothing else. A spectator
     (`None`) knows nothing that any seat does not know.
 11. `Game.sample(setup, observation, chance)` returns a state in which the observing seat observes exactly that.
 12. Non-interference: if anything that a seat cannot see changes, its observation, its legal list (content and order),
     the labels and the size of its messages stay the same, byte for byte.
 13. `is_public(seat, action)` says, before the action is applied, whether everybody learns of it at once. If not, only
     that seat does, and the observations of the others change only by what the rules make public. Whatever a seat
     plans, the others and spectators receive the same bytes until it has committed (`referee/contract/secrecy.py`).
 14. `ranks` gives 1 to the first and shared places as 1, 1, 3; `scores` are integers. Every observation has a tuple
     `seats` whose entries carry each seat's `rank`, equal to `ranks`, so no observer needs to apply tie-breaks.
     Spectators, too, know the scores and the seats to act.
 15. Actions and observations mirror the game's messages name by name (`referee/live/messages/codec.py` converts).
 16. Every kind of action occurs in random play, except those in `Game.rare_actions`.
 17. No position makes a game raise: whatever a document contains, `Game.read_state` and `problems` raise nothing. A
     position without problems can be observed, drawn, sampled, and played to its end with `problems` empty.
 18. `Game.breakdown` lists the sources of each seat's points in an observation: the same sources in the same order for
     all seats, and their points add up to `scores`. `Game.criteria` lists the criteria for the places, most important
     first; `ranks` follow from them.
 19. Every spot that `Game.spots` names for a legal action is in the picture of its seat's observation.
 20. `stage` never falls while a match goes on. Every sample has the stage of the state that was observed.

Speed matters: search bots depend on `clone`, `legal_actions` and `apply`. So use plain classes with slots, declare
fields once (docs/decisions/0016-state-fields.md), make each action once and reuse it, write `clone` by hand, and avoid
dynamic tricks. Such classes can be compiled (docs/decisions/0032-compiled-rules.md). `mypyc_attr` marks the exceptions:
compiled classes that interpreted ones may inherit from, and classes that stay interpreted because they are pickled or
their speed does not matter.
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
from typing import Any, ClassVar, NamedTuple, Protocol

from mypy_extensions import mypyc_attr

from referee.errors import DoganaError
from referee.kit.document import Document
from referee.options import Option, OptionValue

Seat = int
"""A place at the table, counted from 0."""

JsonObject = dict[str, Any]
"""A JSON object."""


# --- chance ---------------------------------------------------------------------------------------


class Stream(Protocol):
    """One source of chance, such as a bag or a deck. `referee/kit/chance.py` implements several kinds."""

    def below(self, n: int) -> int:
        """Draw an integer from 0 to n - 1 uniformly (n at least 1)."""
        ...

    def pick(self, weights: Sequence[int]) -> int:
        """Draw an index with probability proportional to its weight. No weight is negative, and not all are 0."""
        ...

    def permutation(self, n: int) -> list[int]:
        """Draw a permutation of the integers from 0 to n - 1 uniformly."""
        ...


class Chance(Protocol):
    """All chance in a match, as named streams.

    Each stream of a live match is derived from the match's seed and the stream's name alone. So a draw from one stream
    never changes the draws of another, and matches with the same seed stay comparable when the bots change seats.
    """

    def stream(self, name: str) -> Stream:
        """Return the stream with this name. This is cheap, so draw from the stream at once, and do not keep it."""
        ...


# --- actions --------------------------------------------------------------------------------------


@mypyc_attr(allow_interpreted_subclasses=True)
class Action:
    """One atomic decision. Each kind is a frozen dataclass with slots that mirrors the game's message.

    Its fields are integers, booleans, members of an `IntEnum`, or tuples of values of one of these types. An enum
    counts from 0, and its member n is the message's enum value n + 1.
    """

    __slots__ = ()


@mypyc_attr(native_class=False)
class IllegalAction(Exception):
    """Raised for an action that is not in the list of legal actions. The state is unchanged.

    Attributes:
        reason: an explanation for the agent's author.
        rule: the number of the rule that was broken, such as `C3.4`; empty if there is no such rule.
    """

    def __init__(self, reason: str, rule: str = "") -> None:
        super().__init__(f"{reason} ({rule})" if rule else reason)
        self.reason = reason
        self.rule = rule


_WORD = re.compile(r"(?<!^)(?=[A-Z])")


def kind(action_type: type[Action]) -> str:
    """Return the name of a kind of action in labels, records and messages, such as `bm_swap` for `BmSwap`."""
    return _kind(action_type.__name__)


@cache
def _kind(class_name: str) -> str:
    return _WORD.sub("_", class_name).lower()


def label(action: Action) -> str:
    """Return the text of an action for records, positions, logs and messages, such as `bm_swap(gold,ivory)`."""
    known = _LABELS.get(action)
    if known is None:
        arguments = [_text(getattr(action, field.name)) for field in fields(action)]  # type: ignore[arg-type]
        known = f"{kind(type(action))}({','.join(arguments)})" if arguments else kind(type(action))
        if len(_LABELS) < _MAX_LABELS and len(known) <= _MAX_KEPT_CHARACTERS:
            _LABELS[action] = known
    return known


_LABELS: dict[Action, str] = {}
# Actions made of hostile numbers must not fill the memory.
_MAX_LABELS = 100_000
_MAX_KEPT_CHARACTERS = 200


def _text(value: object) -> str:
    if isinstance(value, enum.Enum):
        return value.name.lower()
    if isinstance(value, tuple):
        return "+".join(map(_text, value))
    return str(value).lower()


# --- setup ----------------------------------------------------------------------------------------


@mypyc_attr(allow_interpreted_subclasses=True)
class Board:
    """The numbers printed on the physical game. Each game defines a frozen dataclass."""

    __slots__ = ()

    def __reduce__(self) -> tuple[type[Board], tuple[object, ...]]:
        """Return the class and the field values, so that a board is pickled and copied alike, compiled or not."""
        return type(self), tuple([getattr(self, field.name) for field in fields(self)])  # type: ignore[arg-type]


class SetupError(DoganaError):
    """Raised if the number of seats, an option or the board is wrong; `problems` contains a line for each mistake."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = list(problems)


@dataclass(frozen=True, slots=True)
class Setup:
    """The terms of a match. `Game.setup` makes them, all states share them, and nothing changes them."""

    seats: int
    """The number of seats."""
    options: Mapping[str, OptionValue]
    """Every option of the game, by name."""
    board: Board
    """The numbers printed on the components of the game."""
    board_data: Mapping[str, Any]
    """The numbers of `board`, as the tables of `board.toml`; the record contains all of them."""


# --- state ----------------------------------------------------------------------------------------


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class Window:
    """A period of real time in which several seats decide, such as that of a sand timer (`State.window`)."""

    name: str
    """The name that identifies the window within the match, such as `planning 3`."""
    seconds: float
    """The time for which the window stays open, in seconds, counted from the first state in which it is open."""


class Observation(Protocol):
    """The part of a state that a seat or a spectator may know.

    Each game defines a named tuple that mirrors its message. Fields are integers, booleans, strings, members of an
    `IntEnum`, named tuples (nested messages), tuples of these, or `None` where the message's field is optional.
    """

    @property
    def seats(self) -> tuple[Any, ...]:
        """An entry for each seat, with the seat's `rank`."""
        ...


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class CountedBy:
    """The names for the indices of a tuple in an observation: `goods: Annotated[tuple[int, ...], CountedBy(Kind)]`.

    With this annotation, a replay can show `goods.gold`. The tuple may be shorter than the enum.
    """

    names: type[enum.IntEnum] | None
    """An enum, or None if the indices are seats."""


class Points(NamedTuple):
    """The points that a seat has from one source (`Game.breakdown`)."""

    source: str
    """The source, in words for people, such as `houses in villages`."""
    points: int
    """The number of points; negative where the rules take points away."""


class Criterion(NamedTuple):
    """One of the comparisons that decide the places (`Game.criteria`)."""

    name: str
    """The quantity compared, in words for people, such as `pesos left`."""
    values: tuple[int, ...]
    """The value of each seat; a larger one is better."""


@mypyc_attr(allow_interpreted_subclasses=True)
class State(ABC):
    """A match in progress. Only `apply` changes it."""

    __slots__ = ("setup",)

    setup: Setup
    """The terms of the match."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup

    @abstractmethod
    def seats_to_act(self) -> tuple[Seat, ...]:
        """Return the seats that owe a decision now, in ascending order; empty only when the match is over."""

    @abstractmethod
    def legal_actions(self, seat: Seat) -> list[Action]:
        """Return every legal action of a seat, in the order of the rules; an empty list if the seat is not to act."""

    @abstractmethod
    def apply(self, seat: Seat, action: Action, chance: Chance) -> None:
        """Play an action and all its consequences that need no decision.

        Raises:
            IllegalAction: if the action is not legal for the seat now; the state is then unchanged.
        """

    @abstractmethod
    def default_action(self, seat: Seat) -> Action:
        """Return the action that the rules play for a seat that is to act but is out of the match or out of time."""

    def part_of(self, seat: Seat) -> str:
        """Return the name of the larger decision to which a seat's next decision belongs; empty if there is none.

        Some decisions are single decisions in the rules but are taken in several steps, for example a secret plan. All
        steps of one plan have the same name, and no two plans of a match share a name (`plan 3`). When the time for a
        step runs out, the referee plays the default for it and for all remaining steps of the same plan.
        """
        return ""

    @abstractmethod
    def observation(self, viewer: Seat | None) -> Observation:
        """Return the observation of a seat, or of a spectator (`None`)."""

    def is_public(self, seat: Seat, action: Action) -> bool:
        """Return whether everybody learns at once that the seat plays this action. By default, nobody else learns of it."""
        return False

    def window(self) -> Window | None:
        """Return the window that is now open for every seat that is to act; None if there is none."""
        return None

    @abstractmethod
    def stage(self) -> int:
        """Return the number of the current turn or round, as the rules count it. Searches use it as their horizon.

        It never falls, not even at the end of a match.
        """

    @abstractmethod
    def is_over(self) -> bool:
        """Return whether the match has ended."""

    @abstractmethod
    def scores(self) -> list[int]:
        """Return the score of each seat, so far or final."""

    @abstractmethod
    def ranks(self) -> list[int]:
        """Return the place of each seat after tie-breaks: 1 is first; tied seats share a place, as in 1, 1, 3."""

    @abstractmethod
    def clone(self) -> State:
        """Return an equal state that shares no mutable object with this one."""

    @abstractmethod
    def to_json(self) -> JsonObject:
        """Return the state as JSON, with the names that the rules use; `Game.read_state` reads it back."""

    @abstractmethod
    def problems(self) -> list[str]:
        """Return every broken invariant, one per line. A state that can be reached has none."""


@mypyc_attr(allow_interpreted_subclasses=True)
class RolloutPolicy(ABC):
    """A policy that plays for all seats in a rollout (`referee/playout.py`). It belongs to the setup of one match."""

    __slots__ = ()

    @abstractmethod
    def row(self, state: State, seat: Seat, chance: Chance) -> Sequence[Action]:
        """Return one or more actions for a seat that is to act, to be played in order; the first of them is legal.

        The policy answers in every position, even in the middle of a plan that it did not begin. It uses only what the
        seat may know, and changes nothing. A policy that plays at random draws from `chance`.
        """


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class Scene:
    """The context of an observation in a picture of a match. The observer may know everything in it."""

    bots: tuple[str, ...]
    """The name of the bot in each seat, as its author wrote it."""
    step: int = 0
    """The number of actions played when the viewer last learnt of one."""
    steps: int | None = None
    """The number of actions in the whole match; None if unknown, for example while the match is being played."""
    before: Observation | None = None
    """The viewer's observation before the last action that the viewer learnt of; None at the beginning."""
    seat: Seat | None = None
    """The seat that played the last action that the viewer learnt of; None at the beginning."""
    action: Action | None = None
    """The last action itself; None at the beginning, or if the viewer knows only that one was played."""
    clocks: tuple[float, ...] | None = None
    """The time left on each seat's clock after the last action, in seconds; None if unknown."""


# --- game -----------------------------------------------------------------------------------------


@mypyc_attr(native_class=False)
class Game(ABC):
    """The rules of one game. The `__init__.py` of its folder makes the only instance: `GAME = ...`."""

    name: ClassVar[str]
    """The name of the game in code, on the command line and in records, and of its folder and proto package."""
    title: ClassVar[str]
    """The name of the game for people."""
    seat_counts: ClassVar[range]
    """The possible numbers of seats."""
    options: ClassVar[tuple[Option, ...]]
    """The settings that are agreed before a match."""
    action_types: ClassVar[tuple[type[Action], ...]]
    """Every kind of action, in the order of the legal lists."""
    rare_actions: ClassVar[frozenset[type[Action]]] = frozenset()
    """Kinds of action that random play does not reach; a comment gives the reason for each."""
    closing_actions: ClassVar[frozenset[type[Action]]] = frozenset()
    """Kinds of action that end a seat's phase or turn while it could still act. Pages ask people to confirm them."""
    observation_type: ClassVar[type[Observation]]
    """The named tuple that `State.observation` returns."""
    max_actions: ClassVar[int]
    """An upper bound on the length of a legal list with the shipped board; a comment derives it."""
    max_decisions: ClassVar[int]
    """An upper bound on the number of decisions in a match with the shipped board; a comment derives it."""

    @abstractmethod
    def read_board(self, document: Document) -> Board:
        """Read `board.toml`. Note in `document` all contradictions within the file or with the rules."""

    @abstractmethod
    def start(self, setup: Setup, chance: Chance) -> State:
        """Return the state at the beginning of a match."""

    @abstractmethod
    def read_state(self, setup: Setup, document: Document) -> State:
        """Read a position. Note in `document` everything that cannot be read; `State.problems` finds the rest.

        This never raises, whatever the data. If `document` has problems afterwards, the returned state is meaningless,
        but its `problems` can still be read.
        """

    @abstractmethod
    def sample(
        self,
        setup: Setup,
        observation: Observation,
        chance: Chance,
        policy: RolloutPolicy | None = None,
        *,
        undone: bool = False,
    ) -> State:
        """Return a state that is consistent with an observation, for search bots.

        Draw everything that the observer cannot know from `chance`. Without a policy, every possible state has a positive
        probability.

        Args:
            setup: the terms of the match.
            observation: the observation of a seat, or of a spectator.
            chance: the source of the draws.
            policy: the policy that makes the secret plans of the other seats, as far as its plans agree with the
                observation; None to draw plans at random.
            undone: whether to leave out the secret plans that other seats are making, so that a rollout makes them. The
                state then agrees with the observation except for the seats that have committed.
        """

    @abstractmethod
    def breakdown(self, setup: Setup, observation: Observation) -> tuple[tuple[Points, ...], ...]:
        """Return the sources of each seat's points: the same sources for each seat, in the same order."""

    @abstractmethod
    def criteria(self, setup: Setup, observation: Observation) -> tuple[Criterion, ...]:
        """Return the criteria that would decide the places now, usually the score and then the tie-breaks."""

    @abstractmethod
    def draw(self, setup: Setup, observation: Observation, scene: Scene | None = None) -> str:
        """Return an SVG picture of an observation, with its context in a match if a scene is given.

        It shows only what is in the observation or the scene. `referee/kit/scene.py` draws the parts that the pictures
        of all games share.
        """

    def tell(self, setup: Setup, observation: Observation, scene: Scene) -> list[str]:
        """Describe the last action in words that follow a bot's name (`bids 7 in the Horse Market`), then the gains.

        It says only what is in the observation or the scene. By default it returns the action's label.
        """
        return ["acts" if scene.action is None else label(scene.action)]

    def spots(self, action: Action) -> tuple[str, ...]:
        """Return the spots of an action in the picture in the order of clicking, such as a piece, then its destination.

        Each is the name of a spot, which `draw` marks with the attribute `data-spot`. An action that concerns nothing in
        the picture has none.
        """
        return ()

    def order_matters(self, setup: Setup) -> bool:
        """Return whether the rules depend on which of several seats decides first, as in a race to finish a plan."""
        return False

    def check_options(self, seats: int, options: Mapping[str, OptionValue]) -> list[str]:
        """Return the problems with options that are each valid alone, but not together or with this number of seats."""
        return []

    def setup(self, seats: int, options: Mapping[str, object], board_data: Mapping[str, Any]) -> Setup:
        """Check the terms of a match.

        Args:
            seats: the number of seats.
            options: the values of options by name, typed or as text; options that are not named get their defaults.
            board_data: the tables of a `board.toml`.

        Raises:
            SetupError: if anything is wrong; it lists every problem.
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
        # `check_options` may rely on each option being valid by itself.
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
        """Parse an action from the text that `label` writes. `State.apply` decides whether the action is legal.

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
            raise ValueError(f"{word[:80]!r} is not one of {', '.join(members)}")
        return members[word]
    if hint is bool and word in ("true", "false"):
        return word == "true"
    if hint is int and re.fullmatch(r"-?\d{1,9}", word, re.ASCII):
        return int(word)
    raise ValueError(f"{word[:80]!r} is not {'a number' if hint is int else 'true or false'}")
