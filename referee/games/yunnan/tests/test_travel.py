"""Travel, displacement and building (RULES.md, Y5)."""

from __future__ import annotations

from itertools import product
from typing import Any

from referee.games.yunnan import GAME
from referee.games.yunnan.names import Phase, Province
from referee.games.yunnan.position import read
from referee.games.yunnan.routes import routes_of
from referee.games.yunnan.state import YunnanState
from referee.games.yunnan.tests.table import (
    BLUE,
    BOARD,
    GREEN,
    RED,
    VIOLET,
    do,
    legal,
    merchants,
    order,
    place,
    refused,
)
from referee.kit.document import Document


def test_y5_1_the_travel_order_is_the_reverse_of_the_auction_order() -> None:
    state = place(phase="AUCTION", acting="blue", passed=["red", "green"], auction_order=["green", "red", "blue"])
    do(state, "pass")
    assert order(state.travel_order) == "BRG"
    do(state, "done", "done")
    assert state.acting_colour == GREEN


def test_y5_2_a_travel_turn_is_any_sequence_of_journeys_and_buildings() -> None:
    state = place(m={"red": {"pue": 2, "yun": 1}}, passes={"red": 3}, struct_reserve={"red": {"post": 1}})
    assert (state.passes_left, state.unmoved) == (3, [2, 1, 0, 0, 0, 0])
    assert legal(state)[-1] == "done"
    do(state, "move(pue,yun)", "build_post(yun)", "move(pue,yun)", "done")
    assert merchants(state, RED) == {"yun": 3}
    assert state.acting_colour != RED


def test_y5_3_a_merchant_makes_one_journey_within_horse_and_border_passes() -> None:
    state = place(m={"red": {"pue": 1, "yun": 1}}, passes={"red": 3}, horse={"red": "sic"})
    assert [text for text in legal(state) if "move" in text] == [
        "move(pue,yun)",
        "move(pue,sic)",
        "move(yun,pue)",
        "move(yun,sic)",
    ]
    assert refused(state, "move(yun,qam)") == "Y5.3"
    assert refused(state, "move(sic,yun)") == "Y5.3"
    do(state, "move(pue,sic)")
    assert state.passes_left == 1
    assert refused(state, "move(sic,yun)") == "Y5.3"  # it has journeyed
    do(state, "move(yun,sic)")
    assert legal(state) == ["done"]
    state = place(m={"red": {"pue": 1}}, horse={"red": "qin"})
    assert refused(state, "move(pue,qam)") == "Y5.3"  # 3 borders, 2 passes


def test_y5_4_a_journey_keeps_its_direction_and_bridges_shorten_it() -> None:
    state = place(m={"red": {"yun": 1}}, horse={"red": "qin"}, passes={"red": 2}, bridges={"red": ["b0", "b2"]})
    assert refused(state, "move(yun,yun)") == "Y5.4"
    do(state, "move(yun,qam)")
    assert state.passes_left == 1
    board = place().board
    routes = routes_of(board.bridge_sites)
    distances = routes.distances[0b0100]  # a bridge between Sichuan and Qinghai
    assert distances[Province.SIC][Province.QIN] == distances[Province.QIN][Province.SIC] == 1
    assert distances[Province.PUE][Province.QIN] == 3
    assert distances[Province.TIB][Province.QIN] == 1
    without = routes.distances[0]
    assert all(without[a][b] == abs(a - b) for a, b in product(Province, Province))


def test_y5_5_e3_a_journey_may_displace_a_merchant_with_less_influence() -> None:
    state = place(
        5,
        influence={"red": 3, "green": 1, "yellow": 3, "violet": 2},
        passes={"red": 3},
        horse=dict.fromkeys(("red", "green", "yellow", "violet"), "qam"),
        m={
            "red": {"pue": 1},
            "blue": {"yun": 1},
            "green": {"qam": 3},
            "yellow": {"qam": 2},
            "violet": {"qam": 2},
        },
    )
    do(state, "move(pue,qam)")
    assert state.phase is Phase.DISPLACE
    assert legal(state) == ["displace(green)", "displace(violet)", "no_displace"]
    assert refused(state, "displace(yellow)") == "Y5.5"
    assert refused(state, "displace(blue)") == "Y5.5"
    assert refused(state, "done") == "Y5.2"
    do(state, "displace(violet)")
    assert merchants(state, VIOLET) == {"sic": 1, "qam": 1}
    assert (state.phase, state.acting_colour) == (Phase.TRAVEL, RED)


def test_y5_5_a_merchant_displaced_from_yunnan_is_in_puer_and_may_journey_again() -> None:
    state = place(
        travel_order=["red", "blue", "green"], influence={"red": 1}, m={"red": {"pue": 1}, "blue": {"yun": 1}}
    )
    do(state, "move(pue,yun)", "displace(blue)", "done")
    assert merchants(state, BLUE) == {"pue": 1}
    assert "move(pue,yun)" in legal(state)


def test_y5_5_nobody_is_displaced_in_puer_or_where_influence_is_equal() -> None:
    state = place(influence={"red": 1}, m={"red": {"yun": 1}, "blue": {"pue": 1}})
    do(state, "move(yun,pue)")
    assert state.phase is Phase.TRAVEL
    state = place(m={"red": {"pue": 1}, "blue": {"yun": 1}})
    do(state, "move(pue,yun)")
    assert state.phase is Phase.TRAVEL
    assert refused(state, "no_displace") == "Y5.5"


def test_y5_5_e11_two_merchants_swap_to_displace_in_both_provinces() -> None:
    state = place(
        influence={"red": 2},
        horse={"red": "sic", "blue": "sic"},
        m={"red": {"yun": 1, "sic": 1}, "blue": {"yun": 1, "sic": 1}},
    )
    do(state, "move(sic,yun)", "displace(blue)", "move(yun,sic)", "displace(blue)")
    assert legal(state) == ["done"]
    assert merchants(state, BLUE) == {"pue": 1, "yun": 1}


def test_y5_6_a_post_goes_to_any_accessible_province() -> None:
    state = place(struct_reserve={"red": {"post": 2}}, horse={"red": "sic"})
    assert legal(state) == ["build_post(pue)", "build_post(yun)", "build_post(sic)", "done"]
    assert refused(state, "build_post(qam)") == "Y5.6"
    do(state, "build_post(sic)", "build_post(sic)")
    assert state.to_json()["posts"][RED] == {"sic": 2}
    assert refused(state, "build_post(sic)") == "Y5.6"


def test_y5_7_a_bridge_needs_access_to_both_ends_and_there_is_one_for_each_colour_and_site() -> None:
    state = place(
        struct_reserve={"red": {"bridge": 2}},
        horse={"red": "tib", "blue": "qam"},
        bridges={"blue": ["b0"]},
    )
    assert legal(state) == ["build_bridge(b0)", "build_bridge(b1)", "done"]
    assert refused(state, "build_bridge(b2)") == "Y5.7"
    do(state, "build_bridge(b0)")
    assert legal(state) == ["build_bridge(b1)", "done"]
    assert refused(state, "build_bridge(b0)") == "Y5.7"
    do(state, "build_bridge(b1)")
    assert refused(state, "build_bridge(b1)") == "Y5.7"


def test_y5_7_a_second_bridge_at_any_site_is_refused() -> None:
    for number in range(4):
        site = f"b{number}"
        state = place(struct_reserve={"red": {"bridge": 1}}, horse={"red": "qin"}, bridges={"red": [site]})
        assert refused(state, f"build_bridge({site})") == "Y5.7"
        assert legal(state) == [*(f"build_bridge(b{other})" for other in range(4) if other != number), "done"]


def test_y5_8_a_province_without_a_space_for_a_teahouse_has_none() -> None:
    board = {name: dict(table) for name, table in BOARD.items()}
    board["provinces"]["sic"] = board["provinces"]["sic"] | {"teahouse": False}
    state = YunnanState.empty(GAME.setup(3, {}, board))
    before = place(struct_reserve={"red": {"teahouse": 1}}, horse={"red": "qam"})
    read(state, Document(before.to_json(), "position"))
    assert legal(state) == ["build_teahouse(yun)", "build_teahouse(qam)", "done"]
    assert refused(state, "build_teahouse(sic)") == "Y5.8"


def test_y5_8_there_is_one_teahouse_in_an_outer_province() -> None:
    state = place(struct_reserve={"red": {"teahouse": 1}}, horse={"red": "qam"}, teahouse={"yun": "blue"})
    assert legal(state) == ["build_teahouse(sic)", "build_teahouse(qam)", "done"]
    for province in ("pue", "yun", "tib"):
        assert refused(state, f"build_teahouse({province})") == "Y5.8"
    do(state, "build_teahouse(qam)")
    assert legal(state) == ["done"]
    assert refused(state, "build_teahouse(sic)") == "Y5.8"


def test_y5_9_building_is_free_and_for_the_own_travel_turn() -> None:
    state = place(struct_reserve={"red": {"post": 1}, "blue": {"post": 1}}, posts={"blue": {"yun": 1}})
    do(state, "build_post(yun)")
    assert state.money[RED] == 50
    assert "build_post(yun)" not in legal(state)
    state = place(phase="AUCTION", struct_reserve={"red": {"post": 1}})
    assert refused(state, "build_post(yun)") == "Y5.2"


def test_y5_10_e4_merchants_without_a_connected_route_go_to_puer() -> None:
    scattered: dict[str, Any] = {
        "m": {"red": {"yun": 1, "tib": 1, "qin": 1}},
        "posts": {"red": {"sic": 1}},
        "horse": {"red": "qin"},
    }
    state = do(place(bridges={"red": ["b2"]}, **scattered), "done")
    assert merchants(state, RED) == {"yun": 1, "tib": 1, "qin": 1}
    state = do(place(**scattered), "done")
    assert merchants(state, RED) == {"pue": 2, "yun": 1}
    assert state.to_json()["posts"][RED] == {"sic": 1}


def test_y5_10_a_post_connects_a_teahouse_does_not_and_puer_need_not_be_held() -> None:
    state = place(m={"red": {"sic": 1}}, horse={"red": "sic"}, posts={"red": {"yun": 1}})
    assert merchants(do(state, "done"), RED) == {"sic": 1}
    state = place(m={"red": {"sic": 1}}, horse={"red": "sic"}, teahouse={"yun": "red"})
    assert merchants(do(state, "done"), RED) == {"pue": 1}


def test_y5_10_only_provinces_with_a_merchant_or_post_are_connected() -> None:
    routes = routes_of(place().board.bridge_sites)
    yun, qam = 1 << Province.YUN, 1 << Province.QAM
    assert routes.reach(0, yun | qam).connected == 1 | yun
    assert routes.reach(0b0001, yun | qam).connected == 1 | yun | qam  # the bridge between Yunnan and Qamdo


def test_y5_11_after_the_last_travel_turn_comes_the_inspector() -> None:
    state = place(acting="blue", travel_order=["red", "green", "blue"], m={"red": {"yun": 1}})
    do(state, "done")
    assert state.phase is Phase.CONVERT
    assert (state.last_inspector, state.last_banned) == (Province.YUN, RED)
