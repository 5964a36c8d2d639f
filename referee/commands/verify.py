"""`dogana verify`: replay records to verify them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from referee.commands.options import BadOption
from referee.commands.output import out, print_json, styled
from referee.match.plan import MatchPlan, canonical
from referee.match.result import Result, milliseconds
from referee.records.audit_book import ValidLog
from referee.records.audit_log import check
from referee.records.record import RecordError, read_lines
from referee.records.signature import PublicKey, read_key
from referee.records.verify import Replay
from referee.registry import find
from referee.terminal import counted

MAX_NAMED_LINES = 20
"""The maximum number of lines to name one by one; `--json` names all."""
MAX_NAMED_ENTRIES = 3
"""The maximum number of changed entries of a board to name; `--json` names all."""
_STATUS_UNSEALED = 3
_UNSEALED = "; the seed of its block is not revealed yet: chance is not checked against it"


def verify(
    files: Annotated[list[Path], typer.Argument(help="Records.", metavar="FILE")],
    key: Annotated[
        str | None,
        typer.Option(
            help="The public key of the ladder that must have signed each record (`dogana ladder key`), or a file with it.",
            metavar="KEY|FILE",
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(
            "--audit-log", help="Each record must be in this audit log of the ladder; needs --key.", metavar="FILE"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each file.")] = False,
) -> None:
    """Replay records under the rules, and say where one is wrong.

    For a record that holds, it says what that proves, whether the board is the shipped one, and for which lines there
    is only the referee's word: the setup of the match, times, and the reasons for which a seat had a strike or was put
    out.

    With --key it also says whether the ladder has signed the record, and with --audit-log it gives the number of the
    entry with the record's result in the ladder's audit log.

    The exit status is 0 only if all records hold; 1 if one is broken, or is not what --key and --audit-log ask for; 3
    if none is broken, but the seed of one is not revealed yet: the matches of a ladder's block share a seed, which is
    added to their records when all are over.

    Examples:

      dogana verify match.jsonl

      dogana verify records/*.jsonl

      dogana verify 3f09.jsonl.zst --key key.pub --audit-log audit-log.jsonl
    """
    if log is not None and key is None:
        raise BadOption("--audit-log needs --key: a log is worth as much as the signature under it")
    trusted = None if key is None else read_key(key)
    book = None if log is None else check(log, trusted, _match_ids(files))
    broken = unsealed = 0
    for path in files:
        try:
            replay = Replay(path, find)
            decisions = sum(1 for _ in replay)
        except RecordError as error:
            broken += 1
            if as_json:
                print_json({"file": str(path), "holds": False, "line": error.line, "reason": error.reason})
            else:
                out.print(styled(("broken", "red"), f" {error}"), soft_wrap=True)
            continue
        assert replay.result is not None  # noqa: S101 the iteration came to its end
        known = replay.trust()
        not_signed = "" if trusted is None else _not_signed(replay, [trusted] if book is None else book.keys)
        problem = not_signed or ("" if book is None else _not_in_log(replay, book))
        place = None if book is None or problem else book.standings[replay.plan.match_id].counted
        broken += bool(problem)
        if as_json:
            print_json(
                {
                    "file": str(path),
                    "holds": True,
                    "sealed": replay.is_sealed,
                    "digest": replay.result.digest,
                    "decisions": decisions,
                    "proved": known.proved,
                    "board": known.board,
                    "referees_word": known.word,
                    "claims_key": None if replay.signature is None else replay.signature.key.text,
                    "signed": None if trusted is None else not not_signed,
                    "entry": place,
                    "problem": problem,
                }
            )
        else:
            if problem:
                out.print(styled(("not proved", "red"), f" {path}: it holds, but {problem}"), soft_wrap=True)
                continue
            note = "" if replay.is_sealed else _UNSEALED
            out.print(styled(("holds", "green"), f"  {path}: {counted(decisions, 'decision')}{note}"), soft_wrap=True)
            if trusted is not None and replay.signature is not None:
                where = "" if place is None else f"; its result is entry {place} of {log}"
                out.print(f"       signed by ladder {replay.signature.key.fingerprint}{where}", soft_wrap=True)
            elif replay.signature is not None:
                claimed = replay.signature.key.fingerprint
                out.print(
                    f"       claims to be signed by ladder {claimed}: check it with --key", style="dim", soft_wrap=True
                )
            out.print(f"       proved: {', '.join(known.proved)}", soft_wrap=True)
            if known.board:
                out.print(f"       not the shipped board: {_first(known.board)}", style="yellow", soft_wrap=True)
            out.print(f"       the referee's word: {_claims(known.word)}", style="dim", soft_wrap=True)
        unsealed += not replay.is_sealed
    if broken or unsealed:
        raise typer.Exit(1 if broken else _STATUS_UNSEALED)


def _match_ids(files: Sequence[Path]) -> set[str]:
    found = set()
    for path in files:
        with contextlib.suppress(RecordError):  # the verification reports it
            found.add(str(read_lines(path)[0].data.get("match")))
    return found


def _not_signed(replay: Replay, keys: Sequence[PublicKey]) -> str:
    """Return the reason why a record is not signed with one of these keys; empty if it is."""
    ladder = f"ladder {keys[-1].fingerprint}"
    if replay.signature is None:
        return f"it is not signed by {ladder}, nor by any other"
    if replay.signature.key not in keys:
        return f"it claims to be signed by ladder {replay.signature.key.fingerprint}, not by {ladder}"
    if not replay.signature.holds():
        return (
            f"ladder {replay.signature.key.fingerprint} has not signed it: it was altered, or its signature was made up"
        )
    return ""


def _not_in_log(replay: Replay, book: ValidLog) -> str:
    """Return the first contradiction between a record and a log; empty if there is none."""
    plan, standing = replay.plan, book.standings.get(replay.plan.match_id)
    if standing is None:
        return f"match {plan.match_id} was never scheduled by the log"
    if not standing.counted:
        return f"match {plan.match_id}, scheduled by entry {standing.scheduled} of the log, has no result there"
    # The hash of the result, which sealing does not change; or the hash of the seed's line, if the end of the match revealed the seed.
    if standing.result["record"] not in (replay.result_hash, replay.last_hash):
        return f"entry {standing.counted} of the log has another record of match {plan.match_id}"
    other = [what for what, value in _planned(plan).items() if not _same(value, standing.plan[what])]
    if other:
        return (
            f"entry {standing.scheduled} of the log says something else about match {plan.match_id}: {', '.join(other)}"
        )
    assert replay.result is not None  # noqa: S101 it was played to its end
    other = [what for what, value in _came_out(replay.result).items() if not _same(value, standing.result[what])]
    if other:
        return (
            f"entry {standing.counted} of the log says something else about match {plan.match_id}: {', '.join(other)}"
        )
    return ""


def _planned(plan: MatchPlan) -> dict[str, Any]:
    """Return the fields that the log's entry for the scheduled match must have."""
    defaults = {option.name: option.default for option in plan.game.options}
    return {
        "game": plan.game.name,
        "options": {name: value for name, value in plan.setup.options.items() if value != defaults[name]},
        "clock": str(plan.control),
        "seats": list(plan.bots),
        "seed_commitment": plan.seed_commitment,
    }


def _came_out(result: Result) -> dict[str, Any]:
    """Return the fields that the log's entry for the counted match must have."""
    return {
        "digest": result.digest,
        "all_decisions": result.decisions,
        "ranks": [seat.rank for seat in result.seats],
        "scores": [seat.score for seat in result.seats],
        "outcomes": [seat.outcome.value for seat in result.seats],
        "decisions": [seat.decisions for seat in result.seats],
        "think_ms": [milliseconds(seat.think_seconds) for seat in result.seats],
        "details": [seat.detail for seat in result.seats],
    }


def _same(one: Any, other: Any) -> bool:
    """Return True for values that are equal as JSON: true is not 1, and the order of names does not matter."""
    return canonical(one) == canonical(other)


def _first(texts: Sequence[str]) -> str:
    """Join the first texts, and count the rest."""
    more = len(texts) - MAX_NAMED_ENTRIES
    return "; ".join([*texts[:MAX_NAMED_ENTRIES], *([f"{more} more"] if more > 0 else [])])


def _claims(word: Mapping[str, Sequence[int]]) -> str:
    """Describe claims and the lines that make them; claims with the same lines form one group."""
    by_lines: dict[tuple[int, ...], list[str]] = {}
    for claim, lines in word.items():
        by_lines.setdefault(tuple(lines), []).append(claim)
    return ", ".join(f"{', '.join(claims)} ({_numbered(lines)})" for lines, claims in by_lines.items())


def _numbered(lines: Sequence[int]) -> str:
    """Name lines by their numbers; if there are many, only count them."""
    if len(lines) > MAX_NAMED_LINES:
        return f"{len(lines)} lines"
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"
