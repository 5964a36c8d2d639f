"""`dogana verify-log`: check the audit log of a ladder, without the ladder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from referee.commands.options import KeyOption
from referee.commands.output import out, print_json, styled
from referee.records.audit_book import ValidLog
from referee.records.audit_log import AuditError, check, compare
from referee.records.signature import read_key
from referee.terminal import counted

MAX_NAMED = 20
"""The maximum number of unfinished blocks, and of entries dated before an earlier one, to name; `--json` names all."""


def verify_log(
    file: Annotated[Path, typer.Argument(help="An audit log.", metavar="FILE")],
    key: KeyOption,
    previous: Annotated[
        Path | None,
        typer.Option(help="An earlier copy of the log: check that nothing in it was changed.", metavar="FILE"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check that an audit log is whole and signed.

    Each result in it must have been scheduled before. Each block commits to its seed before its first match; a revealed
    seed must match its commitment. Blocks that are scheduled and not finished are named: the ladder owes their
    results. Only an earlier log can show whether anything was changed or dropped since: keep one.

    The exit status is 1 if the log does not hold; the first wrong entry is named.

    Examples:

      dogana verify-log audit-log.jsonl --key key.pub

      dogana verify-log monday.jsonl --key key.pub --previous sunday.jsonl
    """
    trusted = read_key(key)
    try:
        found = check(file, trusted)
        added = None
        if previous is not None:
            # The log is checked with its own key, perhaps an earlier one; the comparison ties it to the trusted log.
            check(previous, None)
            added = compare(previous, file)
    except AuditError as error:
        if as_json:
            print_json({"file": error.log, "holds": False, "reason": str(error)})
        else:
            out.print(styled(("broken", "red"), f" {error}"), soft_wrap=True)
        raise typer.Exit(1) from error
    if as_json:
        print_json(_document(file, found, added))
    else:
        _print(file, found, added, previous)


def _document(file: Path, found: ValidLog, added: int | None) -> dict[str, object]:
    return {
        "file": str(file),
        "holds": True,
        "signed_by": found.keys[-1].text,
        "fingerprint": found.keys[-1].fingerprint,
        "at": found.at,
        "entries": found.entries,
        "added": added,
        "results": found.results,
        "voids": found.voids,
        "given_up": found.given_up,
        "seeds": found.seeds,
        "unfinished": found.unfinished,
        "earlier": found.earlier,
    }


def _print(file: Path, found: ValidLog, added: int | None, previous: Path | None) -> None:
    signed = f"signed by ladder {found.keys[-1].fingerprint} at {found.at}"
    out.print(
        styled(("holds", "green"), f"  {file}: {counted(found.entries, 'entry', 'entries')}, {signed}"), soft_wrap=True
    )
    if added is not None:
        out.print(
            f"       {previous} is a beginning of it; added: {counted(added, 'entry', 'entries')}", soft_wrap=True
        )
    out.print(
        f"       {counted(found.results, 'result')}, {counted(found.voids, 'void attempt')}, {counted(found.given_up, 'match', 'matches')} given up,"
        f" {counted(found.seeds, 'seed')} as committed to",
        soft_wrap=True,
    )
    _name("unfinished", found.unfinished, "blocks")
    _name("time", found.earlier, "entries")


def _name(what: str, lines: Sequence[str], more: str) -> None:
    for line in lines[:MAX_NAMED]:
        out.print(f"       {what}: {line}", style="yellow", soft_wrap=True)
    if len(lines) > MAX_NAMED:
        out.print(f"       and {len(lines) - MAX_NAMED:,} more {more}", style="yellow")
