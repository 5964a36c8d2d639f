"""The house bot `greedy` in Cargo Noir: its play, and its answers in the middle of a row."""

import hashlib

import pytest
from house_bots.greedy.cargo_noir import CargoNoirPolicy, choose

from referee.game import Setup, State, label
from referee.games.cargo_noir.names import Phase
from referee.games.cargo_noir.state import CargoNoirState
from referee.kit.chance import FastChance
from referee.playout import play_row
from referee.registry import find, shipped_board

GAME = find("cargo_noir")


def setup_for(seats: int) -> Setup:
    """Return the default terms of a match."""
    return GAME.setup(seats, {}, shipped_board(GAME))


def played_at_random(seats: int, seed: int, decisions: int) -> State:
    """Return a state after random decisions, or at the end of the match."""
    chance = FastChance(seed=seed)
    state = GAME.start(setup_for(seats), chance)
    for _ in range(decisions):
        if state.is_over():
            break
        seat = state.seats_to_act()[0]
        legal = state.legal_actions(seat)
        state.apply(seat, legal[chance.stream("random").below(len(legal))], chance)
    return state


def met_on_the_way(phase: Phase) -> list[CargoNoirState]:
    """Return positions of random play in which the seat to act is in a phase."""
    found = []
    for seed in range(60):
        for decisions in range(20, 150, 9):
            state = played_at_random(2 + seed % 4, seed, decisions)
            assert isinstance(state, CargoNoirState)
            if state.phase is phase:
                found.append(state)
    return found


def rows_of_a_match(seats: int, seed: int) -> list[str]:
    """Return the labels of every row that greedy answers in a match against itself."""
    chance = FastChance(seed=seed)
    setup = setup_for(seats)
    state = GAME.start(setup, chance)
    rows = []
    while not state.is_over():
        seat = state.seats_to_act()[0]
        row = choose(setup, state.observation(seat), state.legal_actions(seat))  # type: ignore[arg-type]
        rows.append(" ".join(map(label, row)))
        play_row(state, seat, row, chance)
    return rows


@pytest.mark.parametrize(
    ("seats", "digest"),
    [(2, "a45c3b8deaf60a93"), (3, "60b1818051735160"), (4, "90a420485e26e742"), (5, "9ce9c97260f96f48")],
)
def test_greedy_plays_as_recorded(seats: int, digest: str) -> None:
    """A change of play has another digest: show that it is stronger, or undo it."""
    rows = [row for seed in range(3) for row in rows_of_a_match(seats, seed)]
    assert hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16] == digest


def test_the_policy_plays_as_greedy_does() -> None:
    for seed in range(8):
        state = played_at_random(2 + seed % 4, seed, 40)
        seat = state.seats_to_act()[0]
        row = choose(state.setup, state.observation(seat), state.legal_actions(seat))  # type: ignore[arg-type]
        assert CargoNoirPolicy(state.setup).row(state, seat, FastChance(seed=0)) == row


def test_a_position_and_a_sample_of_it_have_the_same_row() -> None:
    for seed in range(8):
        state = played_at_random(2 + seed % 4, seed, 60)
        seat = state.seats_to_act()[0]
        policy, chance = CargoNoirPolicy(state.setup), FastChance(seed=0)
        sample = GAME.sample(state.setup, state.observation(seat), chance)
        assert policy.row(state, seat, chance) == policy.row(sample, seat, chance)


def test_the_first_action_is_legal_while_goods_are_discarded() -> None:
    """A rare phase; `test_answers_everywhere.py` meets the others often."""
    positions = met_on_the_way(Phase.P2_DISCARD)
    assert positions
    for state in positions:
        row = CargoNoirPolicy(state.setup).row(state, state.seat, FastChance(seed=0))
        assert row[0] in state.legal_actions(state.seat), state.to_json()


def rests_of_rows(kind: str) -> list[tuple[list[str], list[str]]]:
    """Play matches of greedy; wherever it played the first action of a kind in a row, list the rest and its new answer."""
    found = []
    for seed in range(4):
        chance = FastChance(seed=seed)
        state = GAME.start(setup_for(2), chance)
        policy = CargoNoirPolicy(state.setup)
        while not state.is_over():
            seat = state.seats_to_act()[0]
            row = list(map(label, policy.row(state, seat, chance)))
            begun = False
            for place, action in enumerate(row):
                if action not in map(label, state.legal_actions(seat)):
                    break
                state.apply(seat, GAME.parse_action(action), chance)
                if action.startswith(kind) and not begun:
                    begun = True
                    found.append((row[place + 1 :], list(map(label, policy.row(state, seat, chance)))))
    return found


def test_a_stake_that_was_begun_is_as_high_as_planned() -> None:
    rests = rests_of_rows("send(")
    stakes = [rest[0] for rest, _ in rests if rest and rest[0].startswith("stake")]
    assert len(set(stakes)) > 3
    for rest, answer in rests:
        if rest and rest[0].startswith("stake"):
            assert answer[0] == rest[0]


def test_a_set_that_was_begun_is_finished_as_planned() -> None:
    rests = rests_of_rows("diff_start(")
    assert len(rests) > 5
    for rest, answer in rests:
        end = next(place for place, action in enumerate(rest) if action.startswith("diff_close"))
        assert answer[: end + 1] == rest[: end + 1]
