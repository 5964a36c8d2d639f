"""The course of a tournament: the rounds that its plan and the results so far determine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from referee.kit.chance import LiveChance
from referee.tournament.designs import Blocks, balance_of, exact_design, near_design
from referee.tournament.fixtures import Company, Fixture, PlayedFixture, Results, company, fixtures
from referee.tournament.knockout import knockout_tables, sizes
from referee.tournament.plan import Balance, Format, Preliminary, TournamentError, TournamentPlan
from referee.tournament.scoring import Numbers, SharedPlace, counted, in_order, means, struck_out, table_points
from referee.tournament.swiss import tables_and_byes


@dataclass(frozen=True, slots=True)
class TournamentRound:
    """A round, whose matches can be played in any order."""

    number: int
    companies: Sequence[Company]
    fixtures: Sequence[Fixture]
    byes: Sequence[int] = ()
    """The entrants who do not play in this round, but go on."""
    is_preliminary: bool = False
    """True if the round comes before a knockout and decides its seeding."""


@dataclass(frozen=True, slots=True)
class TournamentCourse:
    """The rounds that are known so far."""

    rounds: Sequence[TournamentRound]
    fallen: Sequence[Sequence[SharedPlace]] = ()
    """In a knockout, for each round that is over, the entrants who did not go on, best first."""

    @property
    def fixtures(self) -> list[Fixture]:
        """The matches of all rounds."""
        return [fixture for one in self.rounds for fixture in one.fixtures]

    def played(self, results: Results) -> list[PlayedFixture]:
        """Return the matches with results.

        Raises:
            TournamentError: if a result has a different number of seats from its match.
        """
        played = [PlayedFixture(one, results[one.name]) for one in self.fixtures if one.name in results]
        for one in played:
            if len(one.result.seats) != len(one.fixture.seats):
                raise TournamentError(
                    f"the record {one.fixture.name} has {len(one.result.seats)} seats, and its match"
                    f" {len(one.fixture.seats)}; put the right one back, or remove it"
                )
        return played

    def next_round(self, results: Results) -> TournamentRound | None:
        """Return the first round with matches to play; None if the tournament is over."""
        return next((one for one in self.rounds if any(each.name not in results for each in one.fixtures)), None)


def course(plan: TournamentPlan, results: Results) -> TournamentCourse:
    """Return the course of a tournament as far as the results determine it."""
    if plan.format is Format.SWISS:
        return _swiss(plan, results)
    if plan.format is Format.KNOCKOUT:
        return _knockout(plan, results)
    companies = _gauntlet(plan) if plan.format is Format.GAUNTLET else _round_robin(plan)
    return TournamentCourse([TournamentRound(1, companies, fixtures(plan, companies))])


def swiss_points(plan: TournamentPlan, rounds: Sequence[TournamentRound], results: Results) -> dict[int, Fraction]:
    """Return the points per round of all entrants of a Swiss tournament; a bye gives the mean points of a table."""
    played = counted(plan, TournamentCourse(rounds).played(results))
    totals = dict.fromkeys(range(len(plan.entrants)), Fraction(0))
    counts = Counter[int]()
    for one in rounds:
        here = means(plan.scoring, [each for each in played if each.fixture.company.round == one.number])
        here.update(dict.fromkeys(one.byes, table_points(plan.scoring, plan.seats)))
        for entrant, points in here.items():
            totals[entrant] += points
            # Rounds are counted, not matches, because a bye has no matches but weighs as much as a table.
            counts[entrant] += 1
    return {entrant: total / counts[entrant] for entrant, total in totals.items() if counts[entrant]}


def _swiss(plan: TournamentPlan, results: Results) -> TournamentCourse:
    """Pair one round after another, as long as all earlier rounds are over."""
    rounds: list[TournamentRound] = []
    met, byes = Counter[tuple[int, int]](), Counter[int]()
    while len(rounds) < plan.rounds and TournamentCourse(rounds).next_round(results) is None:
        struck = struck_out(plan, TournamentCourse(rounds).played(results))
        points = swiss_points(plan, rounds, results)
        field = [(entrant, points.get(entrant, Fraction(0))) for entrant in plan.competitors if entrant not in struck]
        # Too many entrants were struck out: the tournament ends with fewer rounds.
        if len(field) < plan.seats:
            break
        number = len(rounds) + 1
        tables, out = tables_and_byes(plan.seed, number, plan.seats, field, met, byes)
        met.update(pair for table in tables for pair in combinations(sorted(table), 2))
        byes.update(out)
        companies = [company(number, table, entrants) for table, entrants in enumerate(tables, start=1)]
        rounds.append(TournamentRound(number, companies, fixtures(plan, companies), out))
    return TournamentCourse(rounds)


def _knockout(plan: TournamentPlan, results: Results) -> TournamentCourse:
    """Let the best of each table go on, as long as all earlier rounds are over."""
    rounds = _preliminary(plan, results)
    if TournamentCourse(rounds).next_round(results) is not None:
        return TournamentCourse(rounds)
    order = _seeding(plan, rounds, results)
    going_on = plan.qualify or len(plan.competitors)
    left = [entrant for group in order for entrant in group.entrants][:going_on]
    fallen: list[Sequence[SharedPlace]] = [order[going_on:]] if order[going_on:] else []  # lots make groups of one
    while True:
        number = len(rounds) + 1
        tables = knockout_tables(left, plan.seats)
        is_final = len(tables) == 1
        byes = [] if is_final else [one for table in tables if len(table) <= plan.advance for one in table]
        playing = [table for table in tables if is_final or len(table) > plan.advance]
        companies = [company(number, table, entrants) for table, entrants in enumerate(playing, start=1)]
        rounds.append(TournamentRound(number, companies, fixtures(plan, companies), byes))
        if TournamentCourse(rounds).next_round(results) is not None:
            return TournamentCourse(rounds, fallen)
        played = TournamentCourse(rounds[-1:]).played(results)
        orders = [table_order(plan, played, one) for one in companies]
        if is_final:
            return TournamentCourse(rounds, [*fallen, orders[0]])
        going = {one for order in orders for group in order[: plan.advance] for one in group.entrants}
        places = range(plan.advance, max(map(len, orders)))
        fallen.append(
            [
                # Tables may differ in size by one, so not every table has a group at every place: hence the slice.
                SharedPlace([one for order in orders for group in order[at : at + 1] for one in group.entrants])
                for at in places
            ]
        )
        # The order is still that of the seeding, in which the next tables are dealt.
        left = [entrant for entrant in left if entrant in going or entrant in byes]


def _preliminary(plan: TournamentPlan, results: Results) -> list[TournamentRound]:
    """Return the rounds before a knockout, as far as they are known."""
    if plan.preliminary is Preliminary.NONE:
        return []
    if plan.preliminary is Preliminary.SWISS:
        rounds = _swiss(plan, results).rounds
    else:
        companies = _round_robin(plan)
        rounds = [TournamentRound(1, companies, fixtures(plan, companies))]
    return [replace(one, is_preliminary=True) for one in rounds]


def _seeding(plan: TournamentPlan, rounds: Sequence[TournamentRound], results: Results) -> list[SharedPlace]:
    """Order the entrants of a knockout as in the file, or by the preliminary rounds; struck-out entrants come last."""
    if plan.preliminary is Preliminary.NONE:
        return [SharedPlace([entrant]) for entrant in plan.competitors]
    played = TournamentCourse(rounds).played(results)
    is_swiss = plan.preliminary is Preliminary.SWISS
    return _ordered(plan, played, plan.competitors, swiss_points(plan, rounds, results) if is_swiss else None)


def table_order(plan: TournamentPlan, played: Sequence[PlayedFixture], one: Company) -> list[SharedPlace]:
    """Order the entrants of a table by points and tie-breaks; struck-out entrants come last."""
    return _ordered(plan, [each for each in played if each.fixture.company == one], one.entrants)


def _ordered(
    plan: TournamentPlan, played: Sequence[PlayedFixture], entrants: Sequence[int], points: Numbers | None = None
) -> list[SharedPlace]:
    """Order entrants by `points` or, if that is None, by their mean points; struck-out entrants come last."""
    struck, valid = struck_out(plan, played), counted(plan, played)
    placed = [entrant for entrant in entrants if entrant not in struck]
    groups = in_order(plan, valid, means(plan.scoring, valid) if points is None else points, placed)
    return groups + [SharedPlace([entrant]) for entrant in sorted(struck)]


def table_sizes(plan: TournamentPlan) -> set[int]:
    """Return the sizes of all tables that can be played."""
    if plan.format is not Format.KNOCKOUT:
        return {plan.seats}
    rounds = sizes(plan.qualify or len(plan.entrants), plan.seats, plan.advance)
    before = set() if plan.preliminary is Preliminary.NONE else {plan.seats}
    return before.union(*rounds)


def evenness(plan: TournamentPlan) -> tuple[int, int]:
    """Return the minimum and the maximum number of tables that two entrants of a round robin share."""
    return balance_of(len(plan.entrants), [one.entrants for one in _round_robin(plan)])


def _design(plan: TournamentPlan) -> Blocks:
    points = len(plan.beginners)
    exact = exact_design(points, plan.seats) if plan.balance is Balance.EXACT else None
    return near_design(points, plan.seats) if exact is None else exact


def _round_robin(plan: TournamentPlan) -> list[Company]:
    """Let all entrants meet equally often. Each table has its own luck, because different seeds give more evidence.

    An entrant that joined later meets all earlier entrants at additional tables, so that no earlier match changes.
    """
    beginners = plan.beginners
    # Places are drawn by lot: the order of the file must not decide which pairs meet more often in a near design.
    place = LiveChance(plan.seed).stream("places in the design").permutation(len(beginners))
    tables = [[place[point] for point in block] for block in _design(plan)]
    tables += [[other, one] for one in range(len(beginners), len(plan.entrants)) for other in range(one)]
    return [company(1, number, table) for number, table in enumerate(tables, start=1)]


def _gauntlet(plan: TournamentPlan) -> list[Company]:
    """Let each challenger play with every company of hosts.

    Challengers never meet. They are compared under equal conditions: all play with the same hosts, in the same seats,
    with the same seeds. The tables of newcomers come last, so that no earlier match changes.
    """
    hosts = [number for number, entrant in enumerate(plan.entrants) if entrant.is_host]
    began = [one for one in plan.competitors if not plan.entrants[one].has_joined]
    tables = [
        ((challenger, *chosen), ", ".join(plan.entrants[host].name for host in chosen))
        for together in [began, *([one] for one in plan.competitors if one not in began)]
        for chosen in combinations(hosts, plan.seats - 1)
        for challenger in together
    ]
    return [company(1, number, table, f"hosts {luck}") for number, (table, luck) in enumerate(tables, start=1)]


def matches_to_come(plan: TournamentPlan, course: TournamentCourse) -> int:
    """Return the number of matches in later rounds, assuming that no entrant is struck out."""
    last = course.rounds[-1]
    seated = 0
    if plan.format is Format.SWISS or (last.is_preliminary and plan.preliminary is Preliminary.SWISS):
        here = sum(len(one.entrants) for one in last.companies)
        seated = (plan.rounds - last.number) * here
    if plan.format is Format.KNOCKOUT:
        seated += sum(map(sum, sizes(_entrants_left(plan, last), plan.seats, plan.advance)))
    return seated * plan.blocks * len(plan.games)  # a table of n has n rotations


def _entrants_left(plan: TournamentPlan, last: TournamentRound) -> int:
    """Return the number of entrants who go on in a knockout after a round; 0 after the final."""
    if last.is_preliminary:
        return plan.qualify or len(plan.competitors)
    if len(last.companies) == 1 and not last.byes:
        return 0
    return len(last.byes) + plan.advance * len(last.companies)
