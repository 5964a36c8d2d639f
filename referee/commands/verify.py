"""`dogana verify`: play records again and say whether they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from referee.commands.output import out, print_json, styled
from referee.records.record import RecordError
from referee.records.verify import Replay
from referee.registry import find

MAX_NAMED_LINES = 20
"""How many lines are named one by one; `--json` names all."""
MAX_NAMED_ENTRIES = 3
"""How many entries of a board that is not the shipped one are named; `--json` names all."""
_STATUS_UNSEALED = 3
_UNSEALED = "; the seed of its block is not revealed yet: chance is not checked against it"


def verify(
    files: Annotated[list[Path], typer.Argument(help="Records.", metavar="FILE...")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each file.")] = False,
) -> None:
    """Play records again by the rules, and say where a file is wrong.

    Of a record that holds it says what that proves, whether the board is the shipped one, and for which lines there is only
    the referee's word: how the match was set up, times, and why a seat was struck or out.

    The exit status is 0 only if all of them hold; 1 if one is broken; 3 if none is broken, but the seed of one is not
    revealed yet: the matches of a ladder's block share a seed, which is added to their records when all are over.

    Examples:

      dogana verify match.jsonl

      dogana verify records/*.jsonl
    """
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
                }
            )
        else:
            note = "" if replay.is_sealed else _UNSEALED
            out.print(styled(("holds", "green"), f"  {path}: {decisions} decisions{note}"), soft_wrap=True)
            out.print(f"       proved: {', '.join(known.proved)}", soft_wrap=True)
            if known.board:
                out.print(f"       not the shipped board: {_first(known.board)}", style="yellow", soft_wrap=True)
            out.print(f"       the referee's word: {_claims(known.word)}", style="dim", soft_wrap=True)
        unsealed += not replay.is_sealed
    if broken or unsealed:
        raise typer.Exit(1 if broken else _STATUS_UNSEALED)


def _first(texts: Sequence[str]) -> str:
    """Name a few, and count the rest."""
    more = len(texts) - MAX_NAMED_ENTRIES
    return "; ".join([*texts[:MAX_NAMED_ENTRIES], *([f"{more} more"] if more > 0 else [])])


def _claims(word: Mapping[str, Sequence[int]]) -> str:
    """Write claims with their lines, those of the same lines together."""
    by_lines: dict[tuple[int, ...], list[str]] = {}
    for claim, lines in word.items():
        by_lines.setdefault(tuple(lines), []).append(claim)
    return ", ".join(f"{', '.join(claims)} ({_numbered(lines)})" for lines, claims in by_lines.items())


def _numbered(lines: Sequence[int]) -> str:
    """Name a few lines by their numbers, and count more."""
    if len(lines) > MAX_NAMED_LINES:
        return f"{len(lines)} lines"
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"
