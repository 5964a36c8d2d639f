"""Positions written by people (RULES.md, 2.1), and their problems (section 9)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from house_bots.random_bot import RandomBot

from referee.games.venezia import GAME
from referee.games.venezia.state import VeneziaState
from referee.games.venezia.tests.table import plan, setup
from referee.kit.document import Document
from referee.live.matches.play import House
from referee.records.chain import FIRST_HASH
from referee.records.record import RecordError
from referee.records.verify import verify
from referee.registry import find
from tests import matches
from tests.tables import example_position, plan_of


def read(data: dict[str, Any], seats: int = 2, **options: object) -> tuple[VeneziaState, list[str]]:
    document = Document(data, "position")
    state = GAME.read_state(setup(seats, **options), document)
    document.finish()
    assert isinstance(state, VeneziaState)
    return state, document.problems


def test_the_position_of_the_rules_page_is_sound() -> None:
    data = example_position("venezia")
    state, problems = read(data["state"], data["seats"])
    assert problems == state.problems() == []
    assert state.legal_actions(1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"home": [[], "can"]}, "position.home must have 2 places of can, cas"),
        ({"home": ["can"]}, "position.home must have 2 places"),
        ({"home": {"can": 0}}, "position.home must have 2 places"),
        ({"home": ["can", "venice"]}, "position.home must have 2 places"),
        ({"phase": "move"}, "position.phase must be one of HOME, PLAN"),
        ({"phase": "PLAN"}, "position.seat is for nobody in the phase PLAN; leave it out"),
        ({"round": 5}, "position.round must be an integer from 1 to 4, not 5"),
        ({"reserve": [12]}, "position.reserve must have 2 entries, not 1"),
        ({"piazza": {"d5": 2}}, "position.piazza.d5 must be an integer from 0 to 1, not 2"),
        ({"piazza": {"k1": 0}}, "position.piazza.k1 is not known here"),
        ({"tourists": ["a1", "a1"]}, "names a1 a second time"),
        ({"plan": [{}]}, "position.plan must have 2 entries, one for each seat, not 1"),
        ({"plan": [{"counts": [[]]}, {}]}, "must be an integer from 0"),
        ({"discard": [{"feh": 3}, {}]}, "must be an integer from 0 to 2, not 3"),
    ],
)
def test_what_cannot_be_read_is_said(change: dict[str, Any], said: str) -> None:
    state, problems = read(example_position("venezia")["state"] | change)
    assert any(said in problem for problem in problems), problems
    state.problems()  # never raises, whatever could not be read


# Sound positions, one for each part of a round; each test spoils one of them.
MOVE = {
    "round": 2,
    "first_seat": 1,
    "phase": "MOVE",
    "seat": 0,
    "home": ["can", "mar"],
    "reserve": [12, 12],
    "piazza": {"d4": 0, "d8": 1},
    "unmoved": ["d4"],
    "tourists": ["a9", "a10"],
    "hunters": ["h10"],
    "plan": [plan("piazza", ("dor", 2), on_first=0), plan("feint", ("giu", 1))],
}
MOVE["plan"][0]["counts"][0] = 1  # type: ignore[index]
CHAIN = MOVE | {"phase": "CHAIN", "piazza": {"d4": 1, "d5": 0, "d6": 1}, "unmoved": [], "chain": ["d3", "d5"]}
PLACE = MOVE | {
    "phase": "PLACE",
    "unmoved": [],
    "tourists": [],
    "hunters": [],
    "plan": [plan("piazza", ("dor", 2), on_first=3), plan("feint")],
}
HOME = {"round": 1, "phase": "HOME", "seat": 1, "home": ["can", None], "reserve": [12, 12]}
PLAN = {key: MOVE[key] for key in ("round", "first_seat", "home", "reserve", "piazza")} | {"phase": "PLAN"}
CARDS = MOVE | {"unmoved": [], "loc": {"can": [1, 2]}}


def executing(phase: str, card: str, **more: Any) -> dict[str, Any]:
    """Seat 0 executes a card, the only one."""
    plans = [plan("feint", action=card), plan("feint")]
    return CARDS | {"phase": phase, "plan": plans, "waiting": [0]} | more


FEHDE = executing("FEHDE", "feh", card_place="can")
SPLIT = executing("FROM_RESERVE", "ueb", card_place="can", card_count=2, loc={"can": [1, 0]}, nest=[2, 0])
POISON = executing("POISON", "gif", card_count=1)
GREY = executing("GREY", "wei", grey={"can": 1, "cas": 1}, grey_untouched={"can": 1}, card_count=1)
FAMILY = executing("FAMILY", "fam", nest=[1, 0])
PURGE = executing("PURGE", "sau")
RAPTOR = executing("RAPTOR", "rau")
REINFORCE = executing("REINFORCE", "rau", nest=[1, 0])
SCORED = CARDS | {"plan": [plan("feint"), plan("feint")], "majority": {"can": 1}}
RECOVER = SCORED | {
    "round": 3,
    "first_seat": 0,
    "phase": "RECOVER",
    "loc": {"can": [1, 2], "sgm": [1, 0]},
    "discard": [{"feh": 2}, {}],
}
MICHELE = SCORED | {"phase": "MICHELE", "cemetery": [1, 0]}
OVER = SCORED | {"phase": "OVER", "round": 4, "first_seat": 1}
del OVER["seat"]
SOUND = {
    "HOME": HOME,
    "PLAN": PLAN,
    "PLACE": PLACE,
    "MOVE": MOVE,
    "CHAIN": CHAIN,
    "FAMILY": FAMILY,
    "REINFORCE": REINFORCE,
    "FEHDE": FEHDE,
    "FROM_RESERVE": SPLIT,
    "POISON": POISON,
    "RAPTOR": RAPTOR,
    "PURGE": PURGE,
    "GREY": GREY,
    "RECOVER": RECOVER,
    "MICHELE": MICHELE,
    "OVER": OVER,
}


@pytest.mark.parametrize("phase", SOUND)
def test_the_positions_that_are_spoilt_below_are_sound(phase: str) -> None:
    state, problems = read(SOUND[phase])
    assert problems == state.problems() == []


NO_ACTION = {key: value for key, value in plan().items() if key != "action"}
BOTH_RAU = {"plan": [plan("feint", action="rau"), plan("feint", action="rau")]}


@pytest.mark.parametrize(
    ("phase", "change", "said"),
    [
        ("MOVE", {"supply": [28, 28]}, "I1: seat 0 has 43 pigeons, not 40"),
        ("MOVE", {"supply": [40, 24]}, "I5: seat 0 has 40 pigeons in its supply; it started with 28"),
        ("MOVE", {"reserve": [9, 12], "nest": [30, 0]}, "I5: seat 0 has 30 pigeons in its nest, but only"),
        ("MOVE", {"grey": {"sgm": 1}}, "I2: grey pigeons are on San Giorgio Maggiore only with the option"),
        ("MOVE", {"piazza": {f"b{n}": 0 for n in range(1, 10)} | {"d4": 0, "d5": 0}}, "I3: seat 0 has 11 pigeons"),
        ("MOVE", {"piazza": {"d4": 0, "f8": 1}}, "I3: f8 is blocked by the Campanile"),
        ("MOVE", {"piazza": {"d4": 0, "g9": 1}}, "I4: the pigeon on g9 is in the danger zone"),
        ("PLAN", {"nest": [1, 0]}, "I5: nests are empty until pigeons are born (Z11.3)"),
        ("MOVE", {"discard": [{"feh": 1}, {}]}, "I6: seat 0 has executed a card in round 1 (Z2.3)"),
        ("RECOVER", {"discard": [{"feh": 2, "sau": 2}, {}]}, "I6: seat 0 has executed two cards in one round"),
        ("MOVE", {"score": [4, 0]}, "I7: the score of seat 0, 4, is not a multiple of 3"),
        ("MOVE", {"score": [0, 27]}, "I7: the score of seat 1 is 27; 1 scorings give at most 24"),
        ("MOVE", {"tourists": ["a9"]}, "I8: there are 1 tourists in the phase MOVE"),
        ("PLACE", {"hunters": ["h1"]}, "I8: there are 1 hunters in the phase PLACE"),
        ("MOVE", {"tourists": ["a9", "h10"]}, "I8: a tourist and a hunter stand on one square"),
        # homes and the first player
        ("HOME", {"home": [None, "can"]}, "seat 0 has no home; homes are chosen in turn"),
        ("HOME", {"home": ["can", "mar"]}, "seat 1 has a home already"),
        ("MOVE", {"home": ["can", None]}, "seat 1 has no home"),
        ("MOVE", {"home": ["can", "can"]}, "two seats have the same home (Z1.4)"),
        ("HOME", {"reserve": [11, 12], "cemetery": [1, 0]}, "homes are chosen in round 1, with all pigeons as at the"),
        ("HOME", {"plan": [{"step": "DISTRICTS", "first": "feint"}, {}]}, "seat 0: there are no plans in the phase"),
        ("MOVE", {"first_seat": 0}, "first_seat is 1 in round 2 (Z1.3, Z11.4)"),
        # plans
        (
            "PLAN",
            {"plan": [{"step": "DISTRICTS"}, {}]},
            "seat 0: the plan is at FIRST by its choices, not at DISTRICTS",
        ),
        ("PLAN", {"plan": [{"step": "COUNT", "first": "feint", "counts": [99]}, {}]}, "seat 0: the plan cannot be"),
        ("PLAN", {"plan": [{"first_count": 1}, {}], "reserve": [11, 12]}, "slots and first_count come when all"),
        ("PLAN", {"plan": [plan("feint") | {"slots": []}, plan("feint") | {"slots": []}]}, "all plans are made"),
        ("MOVE", {"plan": [{}, plan("feint")]}, "seat 0: the plan must be made in the phase MOVE (Z2.6)"),
        ("MOVE", {"plan": [plan("feint") | {"chosen": ["can"]}, plan()]}, "slots must have the chosen places"),
        ("MOVE", {"plan": [plan("feint") | {"counts": []}, plan()]}, "seat 0: a plan has up to 3 places, and a count"),
        (
            "MOVE",
            {"plan": [plan("feint", action="feh"), plan()], "round": 1, "first_seat": 0},
            "in round 1 there is no",
        ),
        ("RECOVER", {"plan": [plan("feint", action="feh"), plan()]}, "seat 0: FEH is not in the hand (Z2.3)"),
        ("MOVE", {"plan": [NO_ACTION, plan()]}, "seat 0: action is missing: from round 2 on it is none or a card"),
        (
            "MOVE",
            {"plan": [plan("feint", on_first=1), plan()]},
            "I5: there are no pigeons on a first card in the phase",
        ),
        ("PLACE", {"plan": [plan("piazza", on_first=1), plan("feint", on_first=2)]}, "its first card has been turned"),
        ("PLACE", {"plan": [plan("piazza", on_first=10), plan()]}, "I3: 10 pigeons are on its card Piazza"),
        ("PLACE", {"plan": [plan("feint", on_first=1), plan()]}, "phase PLACE needs pigeons on the card piazza"),
        (
            "MOVE",
            {"plan": [plan("feint", ("can", 3)) | {"counts": [0, 2]}, plan()]},
            "the pigeons on its cards are not",
        ),
        ("MOVE", {"plan": [plan("piazza", ("can", 3)) | {"counts": [1, 2]}, plan()]}, "the pigeons on its cards are"),
        (
            "MOVE",
            {"plan": [plan("feint", ("can", 1)) | {"counts": [0, 2]}, plan()]},
            "the pigeons on its cards are not",
        ),
        ("OVER", {"plan": [plan("feint", ("can", 1)), plan()]}, "I5: pigeons on district cards have been moved"),
        # the Piazza
        ("PLACE", {"unmoved": ["d4"]}, "unmoved belongs to the phases MOVE and CHAIN, not to PLACE"),
        ("MOVE", {"unmoved": ["d8"]}, "unmoved names a square without a pigeon of the seat (Z5.1)"),
        ("MOVE", {"piazza": {"d8": 1}, "unmoved": []}, "seat 0 has no pigeon on the Piazza to move (Z6.4)"),
        ("MOVE", {"chain": ["d3", "d5"]}, "chain belongs to the phase CHAIN, and to no other"),
        ("CHAIN", {"chain": ["d5"]}, "chain must end where a pigeon of the seat stands that has jumped"),
        ("CHAIN", {"chain": ["d3", "d7"]}, "chain must end where a pigeon of the seat stands"),
        ("CHAIN", {"chain": ["c4", "d5"]}, "chain: c4 to d5 is not a jump (Z5.3)"),
        ("CHAIN", {"chain": ["b5", "d5"]}, "chain: b5 to d5 does not jump over one pigeon or tourist (Z5.3)"),
        ("CHAIN", {"piazza": {"d4": 1, "d5": 0, "g6": 1}}, "chain has ended: there is no further jump (Z5.4)"),
        # cards
        ("RAPTOR", BOTH_RAU, "waiting and the executed cards are not as scores and turn order have it: nobody"),
        ("RAPTOR", BOTH_RAU | {"score": [3, 0]}, "waiting and the executed cards are not as scores and turn order"),
        ("RAPTOR", {"waiting": [0, 0]}, "waiting and the executed cards are not as scores and turn order have it: 0"),
        ("RAPTOR", {"waiting": []}, "phase RAPTOR needs seat 0 to execute RAU first of those waiting (Z7.4)"),
        ("RAPTOR", {"raptor": "can"}, "raptor belongs to the seat that has executed RAU in this round (Z8.5, Z8.8)"),
        ("MICHELE", {"grey_owner": 0}, "grey_owner belongs to the seat that has executed WEI in this round"),
        ("MICHELE", {"raptor": "sgm"}, "raptor belongs to the seat that has executed RAU"),
        ("MICHELE", {"plan": [plan("feint", action="mic"), plan()]}, "MIC was played by one seat, which must have"),
        ("MOVE", {"discard": [{"feh": 2}, {}]}, "seat 0 cannot have executed FEH in this round yet (Z7.1)"),
        ("MICHELE", BOTH_RAU | {"discard": [{"rau": 2}, {"rau": 2}]}, "two seats have executed RAU in this round"),
        (
            "RAPTOR",
            {"plan": [plan("feint", action="rau"), plan("feint", action="fam")], "waiting": [1, 0]},
            "seat 1 has its family meeting first (Z7.2)",
        ),
        (
            "REINFORCE",
            {
                "plan": [plan("feint", action="rau"), plan("feint", action="mic")],
                "discard": [{}, {"mic": 2}],
                "waiting": [0],
            },
            "cards are executed after all reinforcements (Z7.4)",
        ),
        ("MOVE", {"waiting": [0]}, "waiting belongs to the execution of cards, not to MOVE"),
        ("RAPTOR", {"card_place": "can"}, "card_place belongs to the phases FEHDE and FROM_RESERVE, not to RAPTOR"),
        ("RAPTOR", {"card_count": 1}, "card_count belongs to the phases FROM_RESERVE, POISON and GREY, not to RAPTOR"),
        ("MOVE", {"slot": 1}, "slot belongs to the phase FEINT, not to MOVE"),
        ("FAMILY", {"nest": [0, 0]}, "phase FAMILY needs a pigeon in a nest (Z8.1)"),
        ("REINFORCE", {"nest": [0, 1]}, "seat 0 has no nest to reinforce from (Z7.3)"),
        ("FEHDE", {"card_place": "cas"}, "phase FEHDE needs an opposing pigeon in card_place (Z8.2)"),
        ("FEHDE", {"loc": {"sgm": [0, 1]}, "card_place": "sgm"}, "phase FEHDE needs an opposing pigeon in card_place"),
        ("FROM_RESERVE", {"loc": {"can": [1, 1]}}, "phase FROM_RESERVE needs a district in card_place, which the"),
        ("FROM_RESERVE", {"card_count": 99}, "phase FROM_RESERVE needs a card_count that reserve and nest leave a"),
        ("PURGE", {"loc": {}}, "phase PURGE needs a district to choose (Z8)"),
        ("POISON", {"card_count": 3}, "phase POISON needs a pigeon on the Piazza, and card_count below the limit"),
        ("POISON", {"piazza": {}}, "phase POISON needs a pigeon on the Piazza"),
        ("GREY", {"card_count": 3}, "card_count: all grey pigeons are added or moved (Z8.8)"),
        ("GREY", {"card_count": 0}, "card_count is 0, but 1 greys on the map are touched (Z8.8)"),
        ("GREY", {"grey_untouched": {"dor": 1}}, "grey_untouched exceeds the greys in a place (Z8.8)"),
        ("MOVE", {"grey": {"can": 1}, "grey_untouched": {"can": 1}}, "grey_untouched belongs to the phase GREY"),
        # scoring and the end
        ("RECOVER", {"loc": {"can": [1, 2]}}, "phase RECOVER needs seat 0 to have the majority on sgm, and a card to"),
        ("RECOVER", {"discard": [{}, {}]}, "phase RECOVER needs seat 0 to have the majority on sgm, and a card to"),
        ("MICHELE", {"cemetery": [1, 1]}, "phase MICHELE needs seat 0 to have the majority in the cemetery (Z10.4)"),
        ("MICHELE", {"majority": {"can": 0}}, "majority must agree with the places: this round has been scored"),
        ("HOME", {"majority": {"can": 0}}, "there are no majorities before the first scoring (Z10.2)"),
        (
            "MOVE",
            {"majority": dict.fromkeys(("can", "cas", "dor", "giu", "mar", "pol", "cro"), 0)},
            "the match is over already: majorities, points or rounds ended it (Z12.1)",
        ),
        ("RECOVER", {"round": 4, "first_seat": 1}, "the match is over already: majorities, points or rounds ended it"),
        ("OVER", {"round": 3, "first_seat": 0}, "the match is not over: nothing has ended it (Z12.1)"),
    ],
)
def test_what_is_wrong_is_said_by_its_number(phase: str, change: dict[str, Any], said: str) -> None:
    state, problems = read(SOUND[phase] | change)
    assert problems == []
    assert any(said in problem for problem in state.problems()), state.problems()


def test_z12_1_fifty_points_have_ended_a_match() -> None:
    state, _ = read(MOVE | {"round": 4, "score": [51, 0]})
    assert state.problems() == ["the match is over already: majorities, points or rounds ended it (Z12.1)"]
    state, _ = read(MOVE | {"round": 4, "score": [51, 0]}, end_rule="fixed4")
    assert state.problems() == []


def test_z7_1_a_card_that_two_play_is_executed_by_the_lower_score() -> None:
    greys = GREY | {"plan": [plan("feint", action="wei"), plan("feint", action="wei")]}
    state, _ = read(greys | {"score": [3, 6]})
    assert state.problems() == []
    state, _ = read(greys | {"score": [6, 3]})
    assert state.problems() == [
        "waiting and the executed cards are not as scores and turn order have it: 1 (Z7.1, Z7.4)"
    ]


def test_z3_3_pigeons_left_on_a_card_that_was_turned_are_wrong_since_the_next_round_would_lose_them() -> None:
    wrong, _ = read(PLACE | {"seat": 0, "plan": [plan("piazza", on_first=1), plan("feint", on_first=2)]})
    assert wrong.problems() == ["seat 1: its first card has been turned, so no pigeons are on it (Z3.2, Z3.3)"]


def test_a_record_whose_header_has_such_a_position_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    players = [House(RandomBot)] * 2
    matches.play(plan_of("venezia", position=OVER), players, record=path)
    verify(path, find)
    previous, lines = FIRST_HASH, []
    for line in map(json.loads, path.read_text().splitlines()):
        if "position" in line:
            line["position"]["home"] = [[], "can"]
        body = json.dumps({key: value for key, value in line.items() if key != "hash"}, separators=(",", ":"))
        previous = hashlib.sha256(f"{previous}{body}".encode()).hexdigest()
        lines.append(f'{body[:-1]},"hash":"{previous}"}}\n')
    path.write_text("".join(lines))
    with pytest.raises(RecordError, match=r"the position cannot be played: position\.home must have 2 places"):
        verify(path, find)
