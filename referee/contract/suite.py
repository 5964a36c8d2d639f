"""The contract suite, which plays a game at random and checks every sentence of the contract (`referee/game.py`).

The author of a new game calls it on that game; the project's own tests call it on every game:

    from referee.contract.suite import examine_match, unplayed_actions
    played = set()
    for seed in range(20):
        played |= examine_match(game, game.setup(seats, {}, board), seed)
    assert not unplayed_actions(game, played)
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Collection
from dataclasses import replace
from enum import IntEnum

from referee.contract.secrecy import overhear
from referee.game import Action, Chance, Game, IllegalAction, Observation, Scene, Seat, Setup, State, label
from referee.kit.chance import FastChance, LiveChance
from referee.kit.document import Document
from referee.live.messages.codec import Codec, codec
from referee.records.changes import describe

DEEP_CHECKS = 40
"""The approximate number of states per match that get the costly checks, spread over the match at random."""
_SPOT = re.compile(r' data-spot="([^"]*)"')


class BrokenContract(AssertionError):
    """A game breaks a sentence of the contract; `sentence` is its number."""

    def __init__(self, sentence: int, problem: str) -> None:
        super().__init__(f"sentence {sentence} of the contract is broken: {problem}")
        self.sentence = sentence


def examine_match(game: Game, setup: Setup, seed: int, start: State | None = None) -> set[type[Action]]:
    """Play one match at random with all checks enabled.

    Args:
        game: the game.
        setup: the terms of the match.
        seed: the seed, which makes the match reproducible.
        start: the state to begin from, such as one that random play hardly ever reaches; None to begin a new match.

    Returns:
        The kinds of action that were played.

    Raises:
        BrokenContract: at the first sentence that does not hold, with the details.
    """
    return _Examination(game, setup, seed).run(start)


def unplayed_actions(game: Game, played: Collection[type[Action]]) -> list[str]:
    """Return the kinds of action that were not played although the game does not list them as rare (sentence 16)."""
    return [
        action_type.__name__
        for action_type in game.action_types
        if action_type not in played and action_type not in game.rare_actions
    ]


class _Examination:
    def __init__(self, game: Game, setup: Setup, seed: int) -> None:
        self.game = game
        self.setup = setup
        self.codec: Codec = codec(game)
        self.random = random.Random(seed)  # noqa: S311 reproducible play, no secrets
        self.chance = LiveChance(seed)
        self.everyone: list[Seat | None] = [*range(setup.seats), None]

    def run(self, start: State | None) -> set[type[Action]]:
        game = self.game
        state = game.start(self.setup, self.chance) if start is None else start.clone()
        played: set[type[Action]] = set()
        decisions = 0
        deep_share = 0.5
        while not state.is_over():
            seats = state.seats_to_act()
            lists = self.check_lists(state, seats)
            self.check(7, not state.problems(), "; ".join(state.problems()))
            if self.random.random() < deep_share:
                deep_share = max(0.02, deep_share * (1 - 3 / DEEP_CHECKS))  # from 0.5 to 0.02: by a factor of e^3.2
                self.check_copies(state)
                self.check_position(state)
                self.check_rejections(state, lists)
                self.check_places(state)
                self.check_spots(state, lists)
                self.check_simultaneous(state, seats)
                for viewer in self.everyone:
                    self.check_knowledge(state, viewer)
            seat = self.random.choice(seats)
            default = state.default_action(seat)
            self.check(9, default in lists[seat], f"default_action gives {label(default)}, which is not legal")
            action = default if self.random.random() < 0.05 else self.random.choice(lists[seat])
            self.play(state, seat, action)
            played.add(type(action))
            decisions += 1
            self.check(8, decisions <= game.max_decisions, f"more than {game.max_decisions} decisions")
        self.check_end(state)
        return played

    def check(self, sentence: int, holds: bool, problem: str) -> None:
        if not holds:
            raise BrokenContract(sentence, f"{self.game.name}, {self.setup.seats} seats: {problem}")

    def play(self, state: State, seat: Seat, action: Action) -> None:
        """Apply an action, and check that equal draws lead a copy to the same state."""
        twin = state.clone()
        before = [state.observation(viewer) for viewer in self.everyone]
        public, stage = state.is_public(seat, action), state.stage()
        to_act = state.seats_to_act()
        seed = self.random.getrandbits(62)
        try:
            state.apply(seat, action, LiveChance(seed))
        except IllegalAction as error:
            raise BrokenContract(3, f"{self.game.name} lists {label(action)}, but rejects it: {error}") from error
        twin.apply(seat, action, LiveChance(seed))
        self.check(20, state.stage() >= stage, f"{label(action)} leads from stage {stage} to {state.stage()}")
        self.check(4, _same(state, twin), f"two copies differ after {label(action)}")
        # Otherwise the rules may show that a seat is done or, if only one was left, reveal all decisions.
        if not public and len(to_act) > 1 and state.seats_to_act() == to_act:
            for viewer, seen in zip(self.everyone, before, strict=True):
                same = viewer == seat or state.observation(viewer) == seen
                self.check(13, same, f"{label(action)} is not public, but changes what {_name(viewer)} observes")

    def apply(self, state: State, seat: Seat, action: Action, chance: Chance) -> None:
        try:
            state.apply(seat, action, chance)
        except IllegalAction as error:
            raise BrokenContract(3, f"{self.game.name} lists {label(action)}, but rejects it: {error}") from error

    def play_on(self, state: State, actions: int) -> list[Action]:
        """Play up to `actions` actions at random; return all actions that were legal along the way."""
        chance = FastChance(self.random.getrandbits(30))
        listed: list[Action] = []
        for _ in range(actions):
            if not state.seats_to_act():
                break
            seat = self.random.choice(state.seats_to_act())
            legal = state.legal_actions(seat)
            listed += legal
            self.apply(state, seat, self.random.choice(legal), chance)
        return listed

    def check_lists(self, state: State, seats: tuple[Seat, ...]) -> dict[Seat, list[Action]]:
        self.check(1, bool(seats), "no seat is to act, but the match is not over")
        self.check(1, list(seats) == sorted(set(seats)), f"seats_to_act {seats} is not ascending")
        before = _text(state)
        lists = {}
        for seat in range(self.setup.seats):
            actions = lists[seat] = state.legal_actions(seat)
            self.check(
                2,
                bool(actions) == (seat in seats),
                f"seat {seat} has {len(actions)} legal actions out of turn",
            )
            self.check(2, len(set(actions)) == len(actions), f"seat {seat} has an action twice: {actions}")
            self.check(2, len({label(action) for action in actions}) == len(actions), f"equal labels in {actions}")
            self.check(2, len(actions) <= self.game.max_actions, f"{len(actions)} legal actions")
            again = state.legal_actions(seat)
            self.check(2, again == actions, f"seat {seat} has another list when asked again")
        self.check(2, _text(state) == before, "legal_actions changes the state")
        return lists

    def check_rejections(self, state: State, lists: dict[Seat, list[Action]]) -> None:
        """Check that actions outside the list are rejected and leave the state unchanged."""
        before = _text(state)
        for seat, legal in lists.items():
            rejected = []
            for action in self._candidates(state, lists):
                if action in legal:
                    continue
                try:
                    state.apply(seat, action, FastChance(0))
                except IllegalAction as error:
                    self.check(3, bool(error.reason), f"{label(action)} is rejected without a reason")
                    rejected.append(label(action))
                    continue
                raise BrokenContract(3, f"{self.game.name} accepts {label(action)} of seat {seat}, which is not listed")
            self.check(3, _text(state) == before, f"rejecting one of {rejected} of seat {seat} leaves a trace")

    def _candidates(self, state: State, lists: dict[Seat, list[Action]]) -> list[Action]:
        """Return actions similar to legal ones: those of all seats or of later states, and some with other numbers."""
        near = [action for actions in lists.values() for action in actions]
        near += self.play_on(state.clone(), 4)
        changed = []
        for action in self.random.sample(near, min(len(near), 12)):
            for name in action.__dataclass_fields__:  # type: ignore[attr-defined]
                value = getattr(action, name)
                if isinstance(value, bool) or not isinstance(value, int):
                    continue
                steps: list[int] = [value - 1, value + 1, value + 100, -1]
                if isinstance(value, IntEnum):
                    steps = list(type(value))
                changed += [replace(action, **{name: step}) for step in steps]  # type: ignore[type-var]
        return self.random.sample(near, min(len(near), 30)) + changed

    def check_copies(self, state: State) -> None:
        before = _text(state)
        copy = state.clone()
        for field in _fields(state):
            self.check(5, hasattr(copy, field), f"a clone has no {field}")
            ours, theirs = getattr(state, field), getattr(copy, field)
            self.check(5, theirs == ours, f"a clone has another {field}")
            self.check(5, not _shares(ours, theirs), f"a clone shares its {field}")
        self.check(5, _same(copy, state), "a clone differs")
        # A container that both states share is noticed only when one of them is played on.
        self.play_on(copy, 40)
        self.check(5, _text(state) == before, "playing on with a clone changes the original")

    def check_position(self, state: State) -> None:
        # The conversion to text and back turns tuples into lists, as in a file.
        data = json.loads(json.dumps(state.to_json()))
        document = Document(data, "state")
        again = self.game.read_state(self.setup, document)
        document.finish()
        self.check(6, not document.problems, "; ".join(document.problems))
        self.check(6, _same(again, state), "a state differs after to_json and read_state")
        for viewer in self.everyone:
            same = again.observation(viewer) == state.observation(viewer)
            self.check(6, same, f"{_name(viewer)} observes something else after to_json and read_state")

    def check_places(self, state: State) -> None:
        """Check that scores and ranks are well formed, and that every observation contains the same ranks."""
        ranks, scores = state.ranks(), state.scores()
        expected = [1 + sum(other < rank for other in ranks) for rank in ranks]
        self.check(14, ranks == expected, f"ranks {ranks} are not of the form 1, 1, 3")
        self.check(14, all(type(score) is int for score in scores), f"scores {scores} are not integers")
        self.check(14, len(ranks) == len(scores) == self.setup.seats, "not one rank and score for each seat")
        for viewer in self.everyone:
            seats = getattr(state.observation(viewer), "seats", ())
            seen = [getattr(seat, "rank", None) for seat in seats]
            self.check(14, seen == ranks, f"{_name(viewer)} observes the ranks {seen}, not {ranks}")
        for viewer in self.everyone:
            for problem in points_problems(self.game, self.setup, state, state.observation(viewer)):
                raise BrokenContract(18, f"{self.game.name}, {self.setup.seats} seats: {_name(viewer)}: {problem}")

    def check_spots(self, state: State, lists: dict[Seat, list[Action]]) -> None:
        """Check that each seat's picture contains the spots of its legal actions."""
        for seat, legal in lists.items():
            wanted = {spot for action in legal for spot in self.game.spots(action)}
            if wanted:
                drawing = self.game.draw(self.setup, state.observation(seat))
                missing = wanted - set(_SPOT.findall(drawing))
                self.check(19, not missing, f"the picture of seat {seat} has no spot {', '.join(sorted(missing))}")

    def check_knowledge(self, state: State, viewer: Seat | None) -> None:
        """Check the observation, codec, sample and non-interference for one seat or a spectator."""
        seen = state.observation(viewer)
        data = self.codec.observation_bytes(seen)
        self.check(15, self.codec.read_observation(data) == seen, f"the codec changes what {_name(viewer)} observes")
        self.check(15, bool(describe(seen)), f"what {_name(viewer)} observes has no words")
        legal = [] if viewer is None else state.legal_actions(viewer)
        self.check(15, self.codec.read_actions(self.codec.actions_bytes(legal)) == legal, "the codec changes actions")
        for action in legal:
            self.check(15, self.game.parse_action(label(action)) == action, f"{label(action)} cannot be read back")
        for _ in range(3):
            chance = FastChance(self.random.getrandbits(30))
            other = self.game.sample(self.setup, seen, chance)
            self.check(11, not other.problems(), f"sample breaks: {'; '.join(other.problems())}")
            self.check(11, other.observation(viewer) == seen, f"sample gives {_name(viewer)} another observation")
            self.check(20, other.stage() == state.stage(), f"sample gives {_name(viewer)} another stage")
            self.check(14, other.scores() == state.scores(), f"{_name(viewer)} does not know the scores")
            same = other.seats_to_act() == state.seats_to_act()
            self.check(14, same, f"{_name(viewer)} does not know who is to act")
            if viewer is None:
                continue
            self.check(12, other.legal_actions(viewer) == legal, f"{_name(viewer)} sees hidden things in its list")
            if legal:
                same = other.default_action(viewer) == state.default_action(viewer)
                self.check(9, same, f"the default of {_name(viewer)} looks at hidden things")
                action = self.random.choice(legal)
                same = other.is_public(viewer, action) == state.is_public(viewer, action)
                self.check(13, same, f"whether {label(action)} is public depends on hidden things")
                self._check_same_step(state, other, viewer, action)

    def _check_same_step(self, state: State, other: State, viewer: Seat, action: Action) -> None:
        """Check that an action looks the same to its seat in two states that differ only in hidden facts.

        The check applies only if the action draws nothing, the seat is still to act, and other seats are deciding as
        well.
        """
        ours, theirs = state.clone(), other.clone()
        chance, their_chance = LiveChance(1), LiveChance(1)
        self.apply(ours, viewer, action, chance)
        self.apply(theirs, viewer, action, their_chance)
        # Here the rules may reveal something, because of a draw, or because the seat has finished or decided last.
        if chance.draws or their_chance.draws or viewer not in ours.seats_to_act() or len(state.seats_to_act()) == 1:
            return
        same = ours.observation(viewer) == theirs.observation(viewer)
        self.check(12, same, f"after {label(action)}, {_name(viewer)} observes hidden things")

    def check_simultaneous(self, state: State, seats: tuple[Seat, ...]) -> None:
        """Check hidden decisions.

        Nobody else sees a seat's plan, and the order in which two seats decide does not matter.
        """
        if len(seats) < 2:
            return
        planner, *rest = self.random.sample(seats, len(seats))
        plans = [self._hidden_plan(state, planner) for _ in range(2)]
        seed = self.random.getrandbits(30)
        sent = [overhear(self.game, self.setup, state, planner, plan, seed) for plan in plans if plan is not None]
        if len(sent) == 2:
            for viewer in sent[0]:
                same = sent[0][viewer] == sent[1][viewer]
                self.check(13, same, f"{_name(viewer)} can tell two hidden plans of seat {planner} apart")
        if not self.game.order_matters(self.setup):
            other = rest[0]
            action = self.random.choice(state.legal_actions(planner))
            answer = self.random.choice(state.legal_actions(other))
            one, two = state.clone(), state.clone()
            self.apply(one, planner, action, LiveChance(2))
            self.apply(two, other, answer, LiveChance(2))
            # If one action ends the turn of the other seat, the two cannot be played in both orders.
            if other in one.seats_to_act() and planner in two.seats_to_act():
                # Each action gets fresh chance, so its draws are the same whichever action comes first.
                self.apply(one, other, answer, LiveChance(2))
                self.apply(two, planner, action, LiveChance(2))
                self.check(
                    1,
                    _same(one, two),
                    f"{label(action)} and {label(answer)} give another state in another order",
                )

    def _hidden_plan(self, state: State, planner: Seat) -> list[Action] | None:
        """Return a random plan up to the planner's next wait; None if a step is public or ends another seat's turn."""
        copy = state.clone()
        others = [seat for seat in state.seats_to_act() if seat != planner]
        plan = []
        while planner in copy.seats_to_act():
            legal = copy.legal_actions(planner)
            action = self.random.choice(legal)
            if copy.is_public(planner, action):
                return None
            self.apply(copy, planner, action, LiveChance(3))
            if len(legal) > 1:  # the referee plays forced actions without asking
                plan.append(action)
            if any(seat not in copy.seats_to_act() for seat in others):
                return None
        return plan

    def check_end(self, state: State) -> None:
        self.check(1, state.seats_to_act() == (), "a seat is to act, but the match is over")
        for seat in range(self.setup.seats):
            self.check(2, state.legal_actions(seat) == [], "a legal action after the end")
        self.check(7, not state.problems(), "; ".join(state.problems()))
        self.check_position(state)
        self.check_places(state)
        for viewer in self.everyone:
            self.check_knowledge(state, viewer)
        seen = state.observation(None)
        bots = tuple(f"bot {seat}" for seat in range(self.setup.seats))
        for scene in (None, Scene(bots), Scene(bots, 7, 9, seen, self.setup.seats - 1, None, (1.5,) * len(bots))):
            drawing = self.game.draw(self.setup, seen, scene)
            self.check(10, drawing.startswith("<svg"), "draw gives no SVG picture")


def points_problems(game: Game, setup: Setup, state: State, seen: Observation) -> list[str]:
    """Return the problems of a game's breakdown and criteria for one observation of a state (sentence 18)."""
    found = []
    breakdown, criteria, seats = game.breakdown(setup, seen), game.criteria(setup, seen), range(setup.seats)
    totals = [sum(part.points for part in parts) for parts in breakdown]
    if totals != state.scores():
        found.append(f"the breakdown adds up to {totals}, but the scores are {state.scores()}")
    if len({tuple(part.source for part in parts) for parts in breakdown}) > 1:
        found.append("the breakdown has different sources for different seats")
    if any(len(criterion.values) != setup.seats for criterion in criteria):
        found.append("a criterion does not have one value for each seat")
        return found
    results = [[criterion.values[seat] for criterion in criteria] for seat in seats]
    places = [1 + sum(other > own for other in results) for own in results]
    if places != state.ranks():
        found.append(f"the criteria lead to the places {places}, but the ranks are {state.ranks()}")
    return found


def _fields(state: State) -> list[str]:
    """Return the names of all fields of a state, including fields that have a slot but no annotation."""
    declared = [vars(base) for base in type(state).__mro__]
    return [
        name
        for base in declared
        for name in {**base.get("__annotations__", {}), **dict.fromkeys(base.get("__slots__", ()))}
    ]


def _shares(one: object, other: object) -> bool:
    """Return whether two equal values have a list, dictionary or set in common."""
    if one is other and isinstance(one, list | dict | set | bytearray):
        return True
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return any(map(_shares, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return any(_shares(value, other[key]) for key, value in one.items())
    return False


def _text(state: State) -> str:
    return json.dumps(state.to_json(), sort_keys=True)


def _same(one: State, other: State) -> bool:
    return (
        _text(one) == _text(other)
        and one.seats_to_act() == other.seats_to_act()
        and all(one.legal_actions(seat) == other.legal_actions(seat) for seat in one.seats_to_act())
    )


def _name(viewer: Seat | None) -> str:
    return "a spectator" if viewer is None else f"seat {viewer}"
