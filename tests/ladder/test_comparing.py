"""How versions stand to each other, against what follows from the list of all matches."""

from __future__ import annotations

import json
from itertools import combinations, pairwise, permutations
from pathlib import Path
from statistics import fmean

import pytest

from ladder.archive.archive import USAGE
from ladder.facts.history import PlayedMatch, PlayedSeat
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.rating import APART, Rating, expected_share
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.play.running import count
from ladder.questions.bots import MeanUsage, ShowRequest
from ladder.questions.caller import ANYBODY, Caller
from ladder.questions.comparing import CROSSED, CompareRequest, CrosstableRequest, HeadToHead, likely_share
from ladder.questions.desk import Desk
from ladder.questions.match import MatchRequest
from ladder.questions.matches import MatchesAnswer, MatchesRequest
from ladder.questions.rows import TREND_BLOCKS
from ladder.questions.standings import TopRequest
from referee.match.result import share_beaten
from tests.ladder.archived import put_logs
from tests.ladder.made import CONDITION, GAME, ladder, next_matches, result_of
from tests.ladder.real_ladder import FAULTY, played_ladder

PLAYED = 48


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A ladder that no test changes."""
    return played_ladder(tmp_path_factory.mktemp("shared") / "home", PLAYED)


@pytest.fixture(scope="module")
def matches(home: Home) -> list[PlayedMatch]:
    with Store(home.database, create=False) as store:
        return list(store.history.all_played())


@pytest.fixture(scope="module")
def desk(home: Home) -> Desk:
    return Desk(home, ANYBODY)


def seat_of(match: PlayedMatch, bot: str) -> PlayedSeat | None:
    return next((seat for seat in match.seats if seat.version.bot == bot), None)


def together(matches: list[PlayedMatch], one: str, other: str) -> list[tuple[PlayedMatch, PlayedSeat, PlayedSeat]]:
    """The matches in which both sat, and their seats."""
    found = [(match, seat_of(match, one), seat_of(match, other)) for match in matches]
    return [(match, own, theirs) for match, own, theirs in found if own is not None and theirs is not None]


def test_two_that_are_compared_have_fared_as_their_matches_say(desk: Desk, matches: list[PlayedMatch]) -> None:
    [found] = desk.ask(CompareRequest(one="best", other="good")).comparisons
    both = together(matches, "best", "good")
    ahead, tied = sum(own.rank < other.rank for _, own, other in both), sum(o.rank == t.rank for _, o, t in both)
    assert (found.met.matches, found.met.ahead, found.met.tied) == (len(both), ahead, tied)
    assert found.met.behind == len(both) - ahead - tied
    assert found.met.share == pytest.approx((ahead + tied / 2) / len(both))
    assert found.met.low is not None
    assert found.met.share is not None
    assert found.met.high is not None
    assert 0 <= found.met.low < found.met.share < found.met.high <= 1
    assert [match.match for match in found.matches] == [match.match_id for match, _, _ in reversed(both)][:10]
    assert sum(seat.met.matches for seat in found.seats) == len(both)
    for entry in found.seats:
        there = [(o, t) for m, o, t in both if (len(m.seats), o.seat) == (entry.seats, entry.seat)]
        assert entry.met.matches == len(there) > 0
        assert entry.met.ahead == sum(own.rank < theirs.rank for own, theirs in there)


def test_what_is_ahead_from_one_side_is_behind_from_the_other(desk: Desk) -> None:
    [one] = desk.ask(CompareRequest(one="best", other="good")).comparisons
    [other] = desk.ask(CompareRequest(one="good", other="best")).comparisons
    assert (one.met.ahead, one.met.tied, one.met.behind) == (other.met.behind, other.met.tied, other.met.ahead)
    assert one.better is not None
    assert other.better == pytest.approx(1 - one.better)
    assert one.one.strength is not None
    assert one.other.strength is not None
    assert (one.better > 0.5) == (one.one.strength > one.other.strength)


def test_a_crosstable_has_every_two_of_the_best_as_comparing_them_has(desk: Desk) -> None:
    [table] = desk.ask(CrosstableRequest(game=GAME.name)).tables
    [standings] = desk.ask(TopRequest(game=GAME.name)).tables
    assert [one.bot for one in table.versions] == [one.bot for one in standings.versions][:CROSSED]
    bots = [one.bot for one in table.versions]
    for (row, one), (column, other) in permutations(enumerate(bots), 2):
        [found] = desk.ask(CompareRequest(one=one, other=other)).comparisons
        assert table.rows[row].met[column] == found.met
    assert all(table.rows[place].met[place] == HeadToHead() for place in range(len(bots)))


def test_a_bot_that_is_compared_is_its_newest_version_that_has_played(home: Home, tmp_path: Path) -> None:
    home = played_ladder(tmp_path / "home", 6)
    with Store(home.database, create=False) as store:
        store.roster.add_version("best", "eve", "another hash", ["./bot"], [GAME.name])
    folder_desk = Desk(home)
    assert folder_desk.ask(CompareRequest(one="best", other="good")).one.version == 1
    newer = folder_desk.ask(CompareRequest(one="best v2", other="best"))
    assert (newer.one.version, newer.other.version, list(newer.comparisons)) == (2, 1, [])


@pytest.mark.parametrize("other", ["best", "best v1"])
def test_nothing_is_compared_with_itself(desk: Desk, other: str) -> None:
    with pytest.raises(LadderError, match="cannot be compared with itself"):
        desk.ask(CompareRequest(one="best", other=other))


@pytest.mark.parametrize(
    ("share", "matches", "low", "high"), [(0.5, 10, 0.2366, 0.7634), (0.0, 10, 0.0, 0.2775), (0.9, 10, 0.5958, 0.9821)]
)
def test_between_which_shares_it_is_in_the_long_run(share: float, matches: int, low: float, high: float) -> None:
    """Newcombe, "Two-sided confidence intervals for the single proportion" (1998), gives the same by method 3."""
    assert likely_share(share, matches) == pytest.approx((low, high), abs=1e-4)


# --- standings ----------------------------------------------------------------------------------------------


def test_standings_are_in_the_order_of_the_lower_ends_and_name_the_places_that_are_open(desk: Desk) -> None:
    [table] = desk.ask(TopRequest(game=GAME.name)).tables
    rated = [one for one in table.versions if one.place is not None]
    assert [one.place for one in rated] == list(range(1, len(rated) + 1))
    assert [one.low for one in rated] == sorted((one.low for one in rated if one.low is not None), reverse=True)
    for one in rated:
        assert one.best is not None
        assert one.worst is not None
        assert one.place is not None
        assert 1 <= one.best <= one.place <= one.worst <= len(rated)
    assert any(one.best != one.worst for one in rated)
    assert rated[-1].best == len(rated)  # the one that was always put out


def test_two_that_are_not_told_apart_share_open_places(desk: Desk) -> None:
    [table] = desk.ask(TopRequest(game=GAME.name)).tables
    told_apart = set()
    for one, other in combinations([one for one in table.versions if one.best is not None], 2):
        [found] = desk.ask(CompareRequest(one=one.bot, other=other.bot)).comparisons
        assert found.better is not None
        assert one.worst is not None
        assert other.best is not None
        told_apart.add(found.better > APART)
        assert (found.better > APART) or other.best <= one.worst
    assert told_apart == {True, False}


def test_the_trend_in_a_table_is_the_end_of_the_history_of_the_bot(desk: Desk) -> None:
    [table] = desk.ask(TopRequest(game=GAME.name)).tables
    for one in table.versions:
        [fared] = desk.ask(ShowRequest(bot=one.bot)).fared
        assert list(one.trend) == list(fared.blocks)[-TREND_BLOCKS:] == list(fared.history)[-TREND_BLOCKS:]
    assert len(fared.blocks) < TREND_BLOCKS < len(desk.ask(ShowRequest(bot="best")).fared[0].blocks)


def test_a_version_is_new_in_its_first_blocks_as_long_as_it_is_scheduled(tmp_path: Path) -> None:
    home = played_ladder(tmp_path / "home", 2)
    [table] = Desk(home).ask(TopRequest(game=GAME.name)).tables
    assert {one.bot: one.is_new for one in table.versions}["best"]
    with Store(home.database, create=False) as store:
        store.roster.add_version("untried", "fay", "its hash", ["./bot"], [GAME.name])
        for number in range(12):
            for match in next_matches(store, number):
                count(store, match, result_of(match, range(1, len(match.seats) + 1)), "hash")
    [table] = Desk(home).ask(TopRequest(game=GAME.name)).tables
    assert not any(one.is_new for one in table.versions)


# --- a bot --------------------------------------------------------------------------------------------------


def test_a_bot_is_shown_by_seat_and_with_its_times(desk: Desk, matches: list[PlayedMatch]) -> None:
    [fared] = desk.ask(ShowRequest(bot=FAULTY)).fared
    own = [(match, seat) for match in matches if (seat := seat_of(match, FAULTY)) is not None]
    assert sum(tally.matches for tally in fared.seats) == len(own)
    for tally in fared.seats:
        ranks = [(s.rank, s.outcome.value) for m, s in own if (len(m.seats), s.seat) == (tally.seats, tally.seat)]
        assert tally.matches == len(ranks)
        assert tally.mean_rank == pytest.approx(fmean(rank for rank, _ in ranks))
        assert tally.out == sum(outcome != "played" for _, outcome in ranks)
        assert tally.wins == sum(rank == 1 for rank, _ in ranks)
    decisions = sum(seat.decisions for _, seat in own)
    assert fared.thinking is not None
    assert fared.thinking.decisions == decisions
    assert fared.thinking.mean_ms == pytest.approx(sum(seat.think_ms for _, seat in own) / decisions)
    most = max(seat.think_ms for _, seat in own)
    assert fared.thinking.most_ms == most
    assert fared.thinking.most_in in {match.match_id for match, seat in own if seat.think_ms == most}


def test_a_bot_is_shown_with_what_it_used_as_far_as_that_is_known(tmp_path: Path) -> None:
    home = played_ladder(tmp_path / "home", 12)

    def used() -> MeanUsage | None:
        [fared] = Desk(home).ask(ShowRequest(bot="best")).fared
        return fared.used if fared.used is not None else None

    assert used() is None
    with Store(home.database, create=False) as store:
        seats = store.history.last_seats(store.roster.find_versions("best")[0], CONDITION, 10)
    for number, (match_id, seat) in enumerate(seats[:3]):
        usage = {"memory_peak": 1000 + number, "memory_kills": 0, "tasks_peak": 1, "cpu_seconds": float(number)}
        put_logs(home, match_id, {USAGE: json.dumps({str(seat): usage}).encode()})
    put_logs(home, seats[-1][0], {USAGE: b'{"0": 3, "x": ['})  # somebody has changed it
    assert used() == MeanUsage(matches=3, memory_peak=1002, memory_in=seats[2][0], cpu_seconds=1.0)


def test_the_history_of_a_bot_goes_on_with_its_next_version(tmp_path: Path) -> None:
    home = played_ladder(tmp_path / "home", 10)
    with Store(home.database, create=False) as store:
        newer, _ = store.roster.add_version("best", "eve", "another hash", ["./bot"], [GAME.name])
        store.admission.qualify(newer.id, CONDITION, passed=True, reason="")
        for number in range(8):
            for match in next_matches(store, number):
                count(store, match, result_of(match, range(1, len(match.seats) + 1)), "hash")
    [fared] = Desk(home).ask(ShowRequest(bot="best")).fared
    assert {rating.version for rating in fared.blocks} == {2}
    assert {rating.version for rating in fared.history} == {1, 2}
    blocks = [rating.block for rating in fared.history]
    assert blocks == sorted(blocks)
    assert [rating for rating in fared.history if rating.version == 2] == list(fared.blocks)


def test_whoever_asks_for_their_own_bot_sees_that_it_is_theirs(home: Home) -> None:
    own = [Desk(home, caller).ask(ShowRequest(bot="best")).is_own for caller in (Caller("eve"), Caller("dan"), ANYBODY)]
    assert own == [True, False, False]


# --- matches ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", [{}, {"bot": "best"}, {"bot": "best", "lost": True}, {"out": True}], ids=str)
def test_matches_are_paged_forwards_as_backwards(desk: Desk, wanted: dict[str, object]) -> None:
    def page(**place: str) -> MatchesAnswer:
        return desk.ask(MatchesRequest(limit=3, **wanted, **place))  # type: ignore[arg-type]

    pages = [page()]
    while pages[-1].before is not None:
        pages.append(page(before=pages[-1].before))
    assert len(pages) > 2
    assert pages[0].after is None
    for newer, older in pairwise(pages):
        assert older.after == older.matches[0].match
        assert page(after=older.after).matches == newer.matches or len(newer.matches) < 3
    back = [page(after=pages[-1].matches[0].match)]
    while back[-1].after is not None:
        back.append(page(after=back[-1].after))
    listed = [match.match for one in reversed(back) for match in one.matches]
    assert listed == [match.match for one in pages[:-1] for match in one.matches]


def test_matches_are_not_listed_before_one_and_after_another(desk: Desk, matches: list[PlayedMatch]) -> None:
    with pytest.raises(LadderError, match="leave out one"):
        desk.ask(MatchesRequest(before=matches[3].match_id, after=matches[1].match_id))


def test_a_match_tells_by_how_much_estimates_changed_in_its_block(desk: Desk) -> None:
    listed = desk.ask(MatchesRequest(limit=PLAYED)).matches
    histories = {
        bot: {rating.block: rating.mu for rating in desk.ask(ShowRequest(bot=bot)).fared[0].blocks}
        for bot in ("best", "good", FAULTY)
    }
    changed = 0
    for match in listed:
        for seat in match.seats:
            if (history := histories.get(seat.bot)) is None:
                continue
            before = [mu for block, mu in history.items() if block < match.block]
            if before:
                assert seat.block_change == pytest.approx(history[match.block] - before[-1])
                changed += 1
            else:
                assert seat.block_change is None
    assert changed > 10


def test_a_match_says_why_ratings_changed_in_its_block(home: Home, matches: list[PlayedMatch]) -> None:
    desk, explained = Desk(home), 0
    for played in matches:
        found = desk.ask(MatchRequest(match=played.match_id))
        if not found.reasons:
            continue
        explained += 1
        own = next(match for match in found.block if match.match == found.match)
        assert [reason.seat for reason in found.reasons] == [seat.seat for seat in own.seats]
        # Whoever beats a rival is one whom a rival does not beat.
        assert sum(reason.beaten for reason in found.reasons) == pytest.approx(len(own.seats) / 2)
        assert sum(reason.expected for reason in found.reasons) == pytest.approx(len(own.seats) / 2)
        if len(own.seats) == 2 and all(reason.matches == 1 for reason in found.reasons):
            for reason, seat in zip(found.reasons, own.seats, strict=True):
                assert seat.block_change is not None
                assert (seat.block_change > 0) == (reason.beaten > reason.expected)
    assert explained > 5


def test_a_rating_promises_more_against_weaker_rivals() -> None:
    strong, weak = Rating(30.0, 1.0), Rating(20.0, 1.0)
    assert expected_share(strong, [weak]) > 0.9
    assert expected_share(strong, [weak, strong]) == pytest.approx((expected_share(strong, [weak]) + 0.5) / 2)
    assert share_beaten([1, 2, 2], 0) == 1
    assert share_beaten([1, 2, 2], 1) == 0.25


def test_a_block_that_was_not_rated_has_changed_nothing(tmp_path: Path) -> None:
    with ladder(tmp_path, bots=2) as store:
        for number in range(8):
            for match in next_matches(store, number):
                count(store, match, result_of(match, [1, 2], digest=str(min(number, 2))), "hash")
    listed = Desk(Home(tmp_path)).ask(MatchesRequest(limit=1000)).matches
    changed = {match.block for match in listed for seat in match.seats if seat.block_change is not None}
    unrated = {match.block for match in listed if not match.rated} - {match.block for match in listed if match.rated}
    assert unrated
    assert not changed & unrated


# --- conditions ---------------------------------------------------------------------------------------------


def test_every_condition_has_an_address_of_its_own() -> None:

    made = [
        Condition(1, "x", {}, "60+0.5/10"),
        Condition(2, "x", {"last_turn": 2}, "60+0.5/10"),
        Condition(3, "x", {"map": "a/b?c#d e"}, "60+0.5/10"),
    ]
    slugs = [one.slug for one in made]
    assert slugs[:2] == ["60+0.5-10", "60+0.5-10_last_turn=2"]
    assert len(set(slugs)) == 3
    assert not set("/?# ") & set("".join(slugs))
