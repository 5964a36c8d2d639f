"""`dogana tournament run`: play a tournament, or continue it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from referee.commands.bot_terms import check_travels, play_matches
from referee.commands.options import MatchWorkersOption, RayOption
from referee.commands.output import err, out, print_json, target
from referee.commands.plan_file import running
from referee.commands.tournament.folder import TournamentFolder
from referee.commands.tournament.forecast import forecast
from referee.commands.tournament.players import bot_hashes, check_versions, players, terms_of
from referee.commands.tournament.tables import result_document, standings_table
from referee.live.matches.fixture_matches import FixtureMatches, first_matches
from referee.live.matches.play import Player
from referee.live.matches.series import FinishedMatch
from referee.match.result import Outcome, Result
from referee.records.record import read_lines
from referee.tournament.course import TournamentRound, course
from referee.tournament.plan import TournamentError, TournamentPlan
from referee.tournament.standings import final_table, verdict_sentence

FolderArgument = Annotated[Path, typer.Argument(help="The folder of the tournament.", metavar="FOLDER", parser=target)]


def run(
    folder: FolderArgument,
    workers: MatchWorkersOption = None,
    ray: RayOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each event.")] = False,
) -> None:
    """Play a tournament to its end.

    After Ctrl-C, a kill or a power failure, the same command continues, here or on a cluster: no match is lost or
    counted twice, and the table is the same. Existing records are verified first.

    The exit status is 0 if all matches have been played, and 1 if the tournament cannot go on. If a bot does not start
    in its first match, the tournament stops; if it does not start in a later match, it loses that match under the rule
    for faults.

    Examples:

      dogana tournament run cup

      dogana tournament run cup --workers 4 --json

      dogana tournament run cup --ray auto
    """
    place = TournamentFolder(folder)
    place.plan()  # without it, there is no folder to lock
    with place.alone():
        if removed := place.removed():
            raise TournamentError(f"{removed[0]}, or remove {place.result} to play it again")
        is_over = False
        # The loop runs again whenever somebody has joined in the meantime.
        while not is_over:
            plan = place.plan()
            try:
                results = _play_all(place, plan, workers, ray, as_json=as_json)
            except KeyboardInterrupt:
                where = [] if ray is None else ["--ray", ray]
                err.print(f"to go on: {running(folder, *where)}", soft_wrap=True)
                raise
            with place.changing():  # from here on, nobody joins
                is_over = place.plan().entrants == plan.entrants
                if is_over:
                    _finish(place, plan, results, as_json=as_json)


def _play_all(
    place: TournamentFolder, plan: TournamentPlan, workers: int | None, ray: str | None, *, as_json: bool
) -> dict[str, Result]:
    """Play the remaining matches; return the results of all matches."""
    directory = place.directory(plan)
    with players(place, plan, directory, ray) as seated:
        hashes = bot_hashes(plan, directory, place.own)
        place.check(plan, hashes)
        check_versions(plan, hashes)
        if ray is not None:
            check_travels(seated, isolate=plan.isolation.isolate, remedy=f"write isolate = true into {place.file}")
        place.fix(plan, hashes)
        _tell({"event": "begin", "forecast": forecast(plan)}, f"{place.file}: {forecast(plan)}", as_json=as_json)
        return _play(place, plan, seated, workers, ray, as_json=as_json)


def _play(
    place: TournamentFolder,
    plan: TournamentPlan,
    seated: Sequence[Player],
    workers: int | None,
    ray: str | None,
    *,
    as_json: bool,
) -> dict[str, Result]:
    """Play round after round; return the results of all matches."""
    # No result is taken from an earlier record before the record is verified.
    results: dict[str, Result] = {}
    while (found := course(plan, results).next_round(results)) is not None:
        known = course(plan, results).fixtures
        matches = FixtureMatches(plan, found.fixtures, seated, place.records, first_matches(known))
        there = {path.stem for path in place.recorded()}
        all_there = there.issuperset(one.name for one in found.fixtures)  # no cluster is needed to verify
        played = play_matches(matches, terms_of(plan), workers, None if all_there else ray, without=place.own)
        with closing(played) as finished:
            for match in finished:
                results[match.name] = match.result
                if not match.is_earlier:
                    _tell_match(found, match, as_json=as_json)
        _tell({"event": "round", "round": found.number}, f"round {found.number} is over", as_json=as_json)
    return results


def _finish(place: TournamentFolder, plan: TournamentPlan, results: dict[str, Result], *, as_json: bool) -> None:
    """Write and print the final table."""
    known = course(plan, results)
    table = final_table(plan, known, results)
    hashes = {path.stem: read_lines(path)[-1].hash for path in place.recorded()}
    document = result_document(plan, known, results, table, hashes)
    place.write_result(document)
    if as_json:
        print_json({"event": "end", "verdict": document["verdict"], "table": document["table"]})
        return
    out.print(standings_table(plan, table))
    out.print(verdict_sentence(plan, table), soft_wrap=True)


def _tell(document: dict[str, Any], text: str, *, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        out.print(text, soft_wrap=True)


def _tell_match(found: TournamentRound, match: FinishedMatch, *, as_json: bool) -> None:
    seats = sorted(match.result.seats, key=lambda seat: (seat.rank, seat.seat))
    places = ", ".join(
        f"{seat.rank} {seat.bot}" + ("" if seat.outcome is Outcome.PLAYED else f" (out: {seat.outcome.value})")
        for seat in seats
    )
    document = {
        "event": "match",
        "match": match.name,
        "round": found.number,
        "seats": [
            {"seat": one.seat, "entrant": one.bot, "rank": one.rank, "score": one.score, "outcome": one.outcome.value}
            for one in match.result.seats
        ],
    }
    _tell(document, f"{match.number + 1} of {len(found.fixtures)}  {match.name}: {places}", as_json=as_json)
