"""`dogana tournament verify`: recompute a tournament from its file and its records."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from referee.bots.files import LIMITS
from referee.commands.output import out, print_json, styled
from referee.commands.tournament.folder import TournamentFolder
from referee.commands.tournament.players import bot_hashes
from referee.commands.tournament.run import FolderArgument
from referee.commands.tournament.tables import matches_left, result_document
from referee.live.matches.fixture_matches import match_plan
from referee.live.matches.series import differences
from referee.match.result import Result
from referee.records.record import RecordError
from referee.records.verify import verify as verify_record
from referee.registry import find
from referee.terminal import counted
from referee.tournament.course import TournamentCourse, course
from referee.tournament.fixtures import Fixture
from referee.tournament.plan import OF_ROUNDS, TournamentPlan
from referee.tournament.standings import final_table, verdict_sentence

_ROUND = re.compile(r"round(\d+)-", re.ASCII)
MAX_SAID = 80
"""The maximum number of characters of a wrong value that are printed."""


def verify(
    folder: FolderArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compute a tournament again, and say where it is wrong.

    Every record is replayed under the rules. Pairings, seats, seeds and the final table follow from the file and from
    these results, and are compared with the records and with result.json.

    It cannot prove that a bot was the one that its name claims, nor that no match was played again before its record
    was stored.

    The exit status is 0 if everything holds, even if matches are left; 1 otherwise.

    Examples:

      dogana tournament verify cup

      dogana tournament verify cup --json
    """
    place = TournamentFolder(folder)
    plan = place.plan()
    place.check(
        plan, bot_hashes(plan, place.folder / plan.directory, place.own, LIMITS)
    )  # of the bots whose files are here
    problems, results, hashes = _check_records(place, plan)
    known = course(plan, results)
    table = final_table(plan, known, results)
    problems += place.removed() or _lost(plan, place, known)
    problems += _added(plan, place, known, results)
    if not problems:
        document = result_document(plan, known, results, table, hashes)
        problems += _compare_result(place, document, is_final=table.is_final)
    verdict = verdict_sentence(plan, table)
    if as_json:
        print_json({"holds": not problems, "problems": problems, "verified": len(results), "verdict": verdict})
    else:
        for problem in problems:
            out.print(styled(("wrong", "red"), f"  {problem}"), soft_wrap=True)
        if not problems:
            left = "" if table.is_final else f"; {matches_left(table)}"
            out.print(
                styled(("holds", "green"), f"  {counted(len(results), 'match', 'matches')}{left}"), soft_wrap=True
            )
            out.print(verdict, soft_wrap=True)
    if problems:
        raise typer.Exit(1)


def _check_records(
    place: TournamentFolder, plan: TournamentPlan
) -> tuple[list[str], dict[str, Result], dict[str, str]]:
    """Verify all records, round by round, because results decide the pairings.

    Returns:
        The problems, and the results and the hashes of the records, by the names of the matches.
    """
    problems: list[str] = []
    results: dict[str, Result] = {}
    hashes: dict[str, str] = {}
    there = {path.stem: path for path in place.recorded()}
    tried: set[str] = set()
    # Each pass knows the matches of one more round.
    while new := [one for one in course(plan, results).fixtures if one.name in there and one.name not in tried]:
        for fixture in new:
            tried.add(fixture.name)
            found = _check_record(plan, fixture, there[fixture.name])
            if isinstance(found, str):
                problems.append(found)
            else:
                results[fixture.name], hashes[fixture.name] = found
    return problems, results, hashes


def _check_record(plan: TournamentPlan, fixture: Fixture, path: Path) -> tuple[Result, str] | str:
    """Return the result and hash of a record, or the problem if the record is not valid or belongs to another match."""
    try:
        found = verify_record(path, find)
    except RecordError as error:
        return str(error)
    if other := differences(found.plan, match_plan(plan, fixture)):
        return f"{path} has {other}"
    return found.result, found.last_hash


def _lost(plan: TournamentPlan, place: TournamentFolder, known: TournamentCourse) -> list[str]:
    """Return a line if a match in the last known round has no record, although later rounds have been played."""
    there = {path.stem for path in place.recorded()}
    lost = [one.name for one in known.rounds[-1].fixtures if one.name not in there]
    if not (lost and any(_is_later(plan, name, known) for name in there)):
        return []
    more = f" and {len(lost) - 1} others" if len(lost) > 1 else ""
    return [f"{place.records} has matches of later rounds, but no record of {lost[0]}{more}; put back what was removed"]


def _added(
    plan: TournamentPlan, place: TournamentFolder, known: TournamentCourse, results: Mapping[str, Result]
) -> list[str]:
    """Return a line for each record that belongs to no match.

    While a round is not over, the matches of later rounds are unknown, so records of later rounds are not listed.
    """
    scheduled = {one.name for one in known.fixtures}
    is_open = known.next_round(results) is not None
    return [
        f"{path} belongs to no match of this tournament"
        for path in place.recorded()
        if path.stem not in scheduled and not (is_open and _is_later(plan, path.stem, known))
    ]


def _is_later(plan: TournamentPlan, name: str, known: TournamentCourse) -> bool:
    """Return True if a record has the name of a match in a round that is not known yet."""
    found = _ROUND.match(name)
    return plan.format in OF_ROUNDS and found is not None and int(found[1]) > known.rounds[-1].number


def _compare_result(place: TournamentFolder, document: Mapping[str, object], *, is_final: bool) -> Iterator[str]:
    """Yield the differences between the file with the final table and the table that follows from the records."""
    stored = place.read_result()
    if stored is None:
        if is_final:
            yield f"{place.result} is missing; `dogana tournament run` writes it"
    elif not is_final:
        yield f"{place.result} is there, but matches are left; `dogana tournament run` goes on"
    elif not isinstance(stored, dict) or stored.keys() != document.keys():
        yield f"{place.result} must have the entries {', '.join(document)}, and no other"
    elif (found := _first_difference("records", stored["records"], document["records"])) is not None:
        yield f"{place.result}: {found}"  # other records give another table, so this is the cause
    else:
        for key, value in document.items():
            if (found := _first_difference(key, stored[key], value)) is not None:
                yield f"{place.result}: {found}"


def _first_difference(where: str, stored: object, follows: object) -> str | None:
    """Describe the first difference between a stored value and the one that follows from the records.

    Returns:
        The description, which names the place of the difference; None if the values are equal.
    """
    if stored == follows:
        return None
    if isinstance(stored, list) and isinstance(follows, list) and len(stored) == len(follows):
        pairs = zip([f"{where}, row {row}" for row in range(1, len(stored) + 1)], stored, follows, strict=True)
    elif isinstance(stored, dict) and isinstance(follows, dict) and stored.keys() == follows.keys():
        pairs = zip(
            [f"{where}, {key}" for key in follows], map(stored.__getitem__, follows), follows.values(), strict=True
        )
    else:
        return f"{where}: {_brief(stored)}, but {_brief(follows)} follows from the records"
    return next(found for pair in pairs if (found := _first_difference(*pair)) is not None)


def _brief(value: object) -> str:
    """Return a value as JSON, cut if it is long."""
    said = json.dumps(value)
    return said if len(said) <= MAX_SAID else f"{said[:MAX_SAID]}..."
